"""Turns the objects of a Blender scene into a scene of sessile, with meshes beside it.

Lengths are in meters. Blender's z axis is up, the run's y axis: (x, y, z) becomes (x, z, -y).
"""

import math
import os
import re

import bpy
import mathutils

from . import meshes, particles, slots
from .meshes import SetupError

STILL = 1e-6
"""Changes below this, in m and rad, are rest."""

LEAST_FRAMES = 1
"""Frames after the first."""


def folder_of(scene):
    """The cache folder: beside the file, one per scene."""
    chosen = scene.sessile.folder
    if chosen:
        return os.path.realpath(bpy.path.abspath(chosen))
    if not bpy.data.filepath:
        raise SetupError("Save the file first, or choose a cache folder: drops are kept beside the file")
    stem = os.path.splitext(os.path.basename(bpy.data.filepath))[0]
    return os.path.join(os.path.dirname(bpy.data.filepath), f"{stem}_sessile", bpy.path.clean_name(scene.name))


class Setup:
    """A scene of sessile in the cache folder."""

    def __init__(self, path, inner, solids, notices):
        self.path = path
        """The scene file."""
        self.solids = solids
        """Names of the objects that are solids, in the scene's order."""
        self.notices = notices
        """What the user should know."""
        self._inner = inner

    @property
    def text(self):
        """The scene, complete."""
        return self._inner.to_toml()

    def check(self):
        """Warnings about the solids, such as one that intersects itself, in terms of Blender's scene."""
        return [in_blender(line, bpy.context.scene) for line in self._inner.check()]

    def estimate(self):
        """Expected time, memory and disk space in words."""
        cost = self._inner.estimate()
        return f"about {_duration(cost['seconds'])}, {_size(cost['memory'])} memory, {_size(cost['disk'])} on disk"


def write(context):
    """Write `scene.toml` and the meshes to the cache folder.

    Files that are there stay until all of the new ones are complete.
    """
    folder = folder_of(context.scene)
    try:
        return _write(context, folder)
    except OSError as error:
        raise SetupError(f"Cannot write to the cache folder: {error.strerror}: {error.filename or folder}") from error


def _write(context, folder):
    import sessile

    scene = context.scene
    files = meshes.Files(folder)
    notices = []
    current = scene.frame_current
    try:
        description = _describe(context, files, notices)
    finally:
        scene.frame_set(current)
    inner = sessile.Scene(description, folder=folder)
    path = os.path.join(folder, "scene.toml")
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(inner.to_toml())
    os.replace(path + ".part", path)
    files.forget_others()
    solids = [obj.name for obj in _taking_part(context, []) if obj.sessile.role == "SOLID"]
    return Setup(path, sessile.Scene(path), solids, notices)


def _describe(context, files, notices):
    scene = context.scene
    settings = scene.sessile
    fps = scene.render.fps / scene.render.fps_base
    frames = scene.frame_end - scene.frame_start
    if frames < LEAST_FRAMES:
        raise SetupError("The frame range of the scene has one frame: an animation needs two or more")
    if scene.frame_start < 0:
        raise SetupError("The frame range of the scene starts before frame 0: files are numbered from 0")
    unit = scene.unit_settings.scale_length
    gravity = _y_up(scene.gravity) if scene.use_gravity else mathutils.Vector((0, 0, 0))
    description = {
        "title": scene.name,
        "model": settings.model,
        "seed": settings.seed,
        "time": {"frames": frames, "fps": fps * settings.slow_motion, "start_frame": scene.frame_start},
        "render": {"fps": min(max(fps, 0.1), 1000.0)},
        "liquid": {"preset": settings.liquid},
        "world": {"gravity": _vector(gravity, "m/s^2")},
        "resolution": {"cell" if settings.model == "volume" else "edge": f"{settings.resolution!r} m"},
        "materials": {},
        "solids": [],
        "drops": [],
        "emitters": [],
    }
    taking_part = _taking_part(context, notices)
    by_role = {role: [o for o in taking_part if o.sessile.role == role] for role in ("SOLID", "PARTICLES")}
    names = _names(by_role["SOLID"])
    _add_solids(description, context, by_role["SOLID"], names, files, unit, notices)
    _missing_images(by_role["SOLID"], notices)
    births = particles.drops(context, by_role["PARTICLES"], unit, settings.slow_motion) if by_role["PARTICLES"] else {}
    for obj in taking_part:
        if obj.sessile.role == "PARTICLES":
            _add_particles(description, obj, births[obj.name])
        elif obj.sessile.role in _ADD:
            _ADD[obj.sessile.role](description, context, obj, names, files, unit)
    if not description["solids"] and not description["drops"] and not description["emitters"]:
        raise SetupError("No object takes part: set the role of an object to Solid or Drop in the Sessile tab")
    if not description["drops"] and not description["emitters"]:
        raise SetupError("There is no liquid: set the role of an object to Drop, Drip, Particles or Rain")
    return {key: value for key, value in description.items() if value not in ({}, [])}


def _taking_part(context, notices):
    """Objects with a role that renders show."""
    found = []
    for obj in context.scene.objects:
        if obj.sessile.role == "NONE" or obj.hide_render:
            continue
        if obj.name not in context.view_layer.objects:
            notices.append(f"{obj.name} is left out: it is not in the view layer")
            continue
        found.append(obj)
    return found


def _names(objects):
    """Names of solids by those of objects: of characters that a scene file admits."""
    names = {}
    for obj in objects:
        stem = "".join(c if c.isalnum() or c in " _-." else "_" for c in obj.name).strip()[:60] or "solid"
        name, number = stem, 2
        while name in names.values():
            name, number = f"{stem[:56]}-{number}", number + 1
        names[obj.name] = name
    return names


def _add_solids(description, context, objects, names, files, unit, notices):
    for obj in objects:
        if obj.type not in {"MESH", "CURVE", "SURFACE", "META", "FONT"}:
            raise SetupError(f"{obj.name} cannot be a solid: it has no surface")
    shapes = meshes.shapes(context, objects, unit)
    deforming = [obj for obj in objects if not shapes[obj.name].is_rigid]
    if deforming and description["model"] == "volume":
        raise SetupError(
            f"{deforming[0].name} changes its shape or size, which the volume model does not simulate: choose the "
            "droplet or surface model"
        )
    samples = meshes.samples(context, deforming, shapes, files)
    rate = description["time"]["fps"]
    for obj in objects:
        shape = shapes[obj.name]
        solid = {
            "name": names[obj.name],
            "material": slots.wetting(obj, shape, description, files, notices),
            "shape": "mesh",
            "file": files.add(obj.name, "obj", shape.obj()),
            "scale": 1,
            "move": _vector(shape.origin, "m"),
        }
        if obj in deforming:
            solid["deform"] = [{"at": f"{k / rate!r} s", "file": file} for k, file in enumerate(samples[obj.name])]
        else:
            motion = _keys(shape.poses, mathutils.Vector(shape.origin), rate)
            if motion:
                solid["motion"], solid["interpolation"] = motion, "smooth"
        if shape.uvs is None:
            notices.append(f"{obj.name} has no UV map: it has no wet map in Blender")
        description["solids"].append(solid)


def _add_drop(description, context, obj, names, files, unit):
    del names
    pose = meshes.pose_of(obj, unit)
    if obj.type == "MESH":
        with meshes.evaluated(context, obj) as mesh:
            shape = meshes.Shape(obj, mesh, pose)
        file = files.add(obj.name, "obj", shape.obj())
        description["drops"].append({"shape": "mesh", "file": file, "scale": 1, "move": _vector(shape.origin, "m")})
    else:
        sphere = {"shape": "sphere", "center": _vector(pose.translation, "m"), "radius": f"{obj.sessile.radius!r} m"}
        description["drops"].append(sphere)


def _add_drip(description, context, obj, names, files, unit):
    del context, names, files
    settings = obj.sessile
    description["emitters"].append(
        {
            "kind": "drip",
            "at": _vector(meshes.pose_of(obj, unit).translation, "m"),
            "radius": f"{settings.radius!r} m",
            "every": f"{settings.every!r} s",
        }
    )


def _add_particles(description, obj, births):
    if not obj.particle_systems:
        raise SetupError(f"{obj.name} has no particle system: add one, or choose another role")
    rate = description["time"]["fps"]
    for frames, place, velocity, factor in births:
        radius = f"{max(factor * obj.sessile.radius, 1e-6)!r} m"
        place, velocity = _vector(_y_up(place), "m"), _vector(_y_up(velocity), "m/s")
        if frames <= 0.0:
            description["drops"].append({"shape": "sphere", "center": place, "radius": radius, "velocity": velocity})
            continue
        start = frames / rate
        drip = {"kind": "drip", "at": place, "radius": radius, "velocity": velocity, "every": "1000 s"}
        description["emitters"].append({**drip, "start": f"{start!r} s", "stop": f"{start + 0.5 / rate!r} s"})


def _add_rain(description, context, obj, names, files, unit):
    del context, files, unit
    target = obj.sessile.over
    if target is None or target.name not in names:
        raise SetupError(f"{obj.name}: choose the solid that it rains on")
    rain = {"kind": "rain", "over": names[target.name], "rate": f"{obj.sessile.rate!r} mm/h"}
    description["emitters"].append(rain)


_ADD = {"DROP": _add_drop, "DRIP": _add_drip, "RAIN": _add_rain}


def _keys(poses, origin, rate):
    """Keys of a rigid motion, one per frame where it moves; none at rest."""
    first = poses[0].inverted_safe()
    keys, before, moves = [], mathutils.Euler((0, 0, 0)), False
    for frame, pose in enumerate(poses):
        moved = pose @ first
        angles = moved.to_3x3().to_euler("XYZ", before)
        shift = moved @ origin - origin
        moves = moves or shift.length > STILL or max(abs(angle) for angle in angles) > STILL
        before = angles
        degrees = [round(math.degrees(angle), 6) for angle in angles]
        keys.append(
            {
                "at": f"{frame / rate!r} s",
                "move": _vector(shift, "m"),
                "rotate": f"{degrees[0]!r} {degrees[1]!r} {degrees[2]!r} deg",
            }
        )
    return keys if moves else []


def _missing_images(objects, notices):
    """Images of solids' materials whose files are not there."""
    materials = {slot.material for obj in objects for slot in obj.material_slots if slot.material}
    for material in sorted(materials, key=lambda one: one.name):
        for node in material.node_tree.nodes if material.node_tree else ():
            image = node.image if node.type == "TEX_IMAGE" else None
            if image is None or image.source != "FILE" or image.packed_file or not image.filepath:
                continue
            path = bpy.path.abspath(image.filepath, library=image.library)
            if not os.path.exists(path):
                notices.append(f"{material.name}: the image {path} was not found: renders show it in pink")


def in_blender(line, scene):
    """A message of the simulation with frames instead of times, with z up, and without the names of mesh files."""
    line = re.sub(r"mesh .*?[\\/]meshes[\\/][^\\/]*\.obj", "its mesh", line)
    rate = scene.render.fps / scene.render.fps_base * scene.sessile.slow_motion
    line = re.sub(r"at t = (\S+) s\b", lambda m: f"in frame {scene.frame_start + round(float(m[1]) * rate)}", line)
    return re.sub(r"near (\S+) (\S+) (\S+) mm", lambda m: f"near ({m[1]}, {-float(m[3]):g}, {m[2]}) mm", line)


def _duration(seconds):
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"


def _size(size):
    for factor, unit in ((1e9, "GB"), (1e6, "MB")):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size / 1e3:.0f} kB"


def _y_up(v):
    return mathutils.Vector((v[0], v[2], -v[1]))


def _vector(v, unit):
    return f"{v[0]:.9g} {v[1]:.9g} {v[2]:.9g} {unit}"
