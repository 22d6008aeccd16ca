"""Wetting of an object, or of its material slots: slots of other wetting become images of contact angles."""

import math
import struct
import zlib

import numpy as np

from .meshes import SetupError

SIZE = 512
"""Width and height of the images, in pixels."""

GROWTH = 4
"""Pixels by which a slot extends beyond its faces, so that no gap is between slots."""


def wetting(obj, shape, description, files, notices):
    """Name of the material of a solid; adds it to the description where it is not a preset."""
    own = _angles_of(obj.sessile, obj.name)
    slots = [own]
    for slot in obj.material_slots:
        settings = slot.material.sessile if slot.material else None
        slots.append(_angles_of(settings, slot.material.name) if settings and settings.own else own)
    used = shape.slots + 1 if obj.material_slots else np.zeros_like(shape.slots)
    used = np.minimum(used, len(slots) - 1)
    kinds = {slots[i] for i in np.unique(used)}
    if len(kinds) == 1:
        kind = kinds.pop()
        return kind if isinstance(kind, str) else _add(description, obj.name, _uniform(kind))
    if shape.uvs is None:
        raise SetupError(f"{obj.name} has slots of different wetting: it needs a UV map, to which they are written")
    angles = np.array([_numbers(slot) for slot in slots])
    slot_of_pixel = _slot_image(shape, used)
    material = {}
    for column, key in enumerate(("advancing", "receding", "wet_advancing")):
        low, high = angles[used, column].min(), angles[used, column].max()
        if key == "wet_advancing" and np.array_equal(angles[used, 0], angles[used, 2]):
            continue
        if high - low < 1e-6:
            material[key] = f"{high:.4f} deg"
            continue
        gray = np.round(255 * (angles[slot_of_pixel, column] - low) / (high - low)).astype(np.uint8)
        name = files.add(f"{obj.name} {key}", "png", _png(gray))
        material[key] = {"image": name, "black": f"{low:.4f} deg", "white": f"{high:.4f} deg"}
    if any(isinstance(kind, str) for kind in kinds):
        notices.append(f"{obj.name}: only the contact angles of its slots are used, not their roughness")
    return _add(description, obj.name, material)


def _add(description, name, material):
    title = f"{name} wetting"
    description["materials"][title] = material
    return title


def _angles_of(settings, name):
    """The name of a preset, or angles in degrees."""
    if not settings.custom:
        return settings.material
    if settings.receding > settings.advancing:
        raise SetupError(f"{name}: the receding angle must not exceed the advancing angle")
    return math.degrees(settings.advancing), math.degrees(settings.receding)


def _uniform(angles):
    return {"advancing": f"{angles[0]:.4f} deg", "receding": f"{angles[1]:.4f} deg"}


def _numbers(kind):
    """Advancing, receding and wet advancing angle, in degrees."""
    if not isinstance(kind, str):
        return kind[0], kind[1], kind[0]
    from sessile import wetting as sources

    preset = sources.materials()[kind]
    return preset.advancing, preset.receding, preset.wet_advancing or preset.advancing


def _slot_image(shape, used):
    """The slot of each pixel over the texture coordinates, top row first."""
    image = np.full((SIZE, SIZE), -1, np.int32)
    corners = shape.uvs[shape.loops.reshape(-1, 3)].astype(np.float64) * SIZE
    for (a, b, c), slot in zip(corners, used):
        low = np.clip(np.floor(np.min([a, b, c], axis=0)).astype(int), 0, SIZE - 1)
        high = np.clip(np.ceil(np.max([a, b, c], axis=0)).astype(int), 0, SIZE - 1)
        x, y = np.meshgrid(np.arange(low[0], high[0] + 1) + 0.5, np.arange(low[1], high[1] + 1) + 0.5)
        sides = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) for p, q in ((a, b), (b, c), (c, a))]
        inside = np.all(np.array(sides) >= 0, axis=0) | np.all(np.array(sides) <= 0, axis=0)
        image[low[1] : high[1] + 1, low[0] : high[0] + 1][inside] = slot
    for _ in range(GROWTH):
        for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
            near = np.roll(image, step, axis)
            image = np.where(image < 0, near, image)
    image[image < 0] = np.bincount(used).argmax()
    return image[::-1]


def _png(gray):
    """A PNG file of 8 bits."""
    height, width = gray.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.concatenate([np.zeros((height, 1), np.uint8), gray], axis=1).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
