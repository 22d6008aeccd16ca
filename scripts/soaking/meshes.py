"""Small closed meshes and images that generated scenes refer to; coordinates in mm."""

import math
import struct
import zlib

BOX_FACES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def box(low, high):
    positions = [[(low, high)[(i >> axis) & 1][axis] for axis in range(3)] for i in range(8)]
    triangles = [t for a, b, c, d in BOX_FACES for t in ((a, b, c), (a, c, d))]
    return positions, triangles


def grid_surface(point, around, along, caps):
    """Closed surface of `point(u, v)`: u is periodic; v is periodic too, or ends in two points."""
    positions, triangles = [], []
    rows = along if not caps else along - 1
    for j in range(rows):
        v = j / along if not caps else (j + 1) / along
        positions += [point(i / around, v) for i in range(around)]
    for j in range(rows if not caps else rows - 1):
        for i in range(around):
            a, b = j * around + i, j * around + (i + 1) % around
            c, d = (j + 1) % rows * around + i, (j + 1) % rows * around + (i + 1) % around
            triangles += [(a, b, d), (a, d, c)]
    if caps:
        low, high = len(positions), len(positions) + 1
        positions += [point(0.0, 0.0), point(0.0, 1.0)]
        last = (rows - 1) * around
        for i in range(around):
            triangles += [(low, (i + 1) % around, i), (high, last + i, last + (i + 1) % around)]
    return positions, triangles


def torus(ring, tube):
    def point(u, v):
        r = ring + tube * math.cos(math.tau * u)
        return [r * math.cos(math.tau * v), tube * math.sin(math.tau * u), r * math.sin(math.tau * v)]

    return grid_surface(point, 16, 28, caps=False)


def bumpy_ball(radius, bumps, height, flat):
    """A ball with bumps, its y extent multiplied by `flat`: from a pebble to a thin disc."""

    def point(u, v):
        polar, turn = math.pi * v, math.tau * u
        r = radius * (1 + height * math.sin(bumps * turn) * math.sin(polar) ** 2)
        return [r * math.sin(polar) * math.cos(turn), -flat * r * math.cos(polar), -r * math.sin(polar) * math.sin(turn)]

    return grid_surface(point, 24, 14, caps=True)


def signed_volume(mesh):
    positions, triangles = mesh
    total = 0.0
    for a, b, c in triangles:
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = positions[a], positions[b], positions[c]
        total += ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6


def random_mesh(rng):
    """A name and a closed mesh, with normals out of the body."""
    kind = rng.pick(["plate", "block", "torus", "pebble", "disc"])
    if kind == "plate":
        half = [rng.between(4, 10), rng.between(0.05, 0.8), rng.between(4, 10)]
        mesh = box([-h for h in half], half)
    elif kind == "block":
        half = [rng.between(1, 8) for _ in range(3)]
        mesh = box([-h for h in half], half)
    elif kind == "torus":
        ring = rng.between(3, 8)
        mesh = torus(ring, ring * rng.between(0.15, 0.6))
    else:
        flat = rng.between(0.05, 0.2) if kind == "disc" else rng.between(0.5, 1.2)
        mesh = bumpy_ball(rng.between(2, 9), rng.integer(2, 6), rng.between(0, 0.2), flat)
    if signed_volume(mesh) < 0:
        mesh = (mesh[0], [(a, c, b) for a, b, c in mesh[1]])
    return kind, mesh


def obj_text(mesh):
    positions, triangles = mesh
    lines = [f"v {x:.6g} {y:.6g} {z:.6g}" for x, y, z in positions]
    return "\n".join(lines + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]) + "\n"


def stl_text(mesh):
    positions, triangles = mesh
    lines = ["solid mesh"]
    for triangle in triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex " + " ".join(f"{x:.6g}" for x in positions[i]) for i in triangle]
        lines += ["endloop", "endfacet"]
    return "\n".join(lines + ["endsolid mesh"]) + "\n"


def ply_text(mesh):
    positions, triangles = mesh
    lines = ["ply", "format ascii 1.0", f"element vertex {len(positions)}", "property float x", "property float y",
             "property float z", f"element face {len(triangles)}", "property list uchar int vertex_indices", "end_header"]
    lines += [" ".join(f"{x:.6g}" for x in p) for p in positions]
    return "\n".join(lines + [f"3 {a} {b} {c}" for a, b, c in triangles]) + "\n"


def read_text_mesh(path):
    """Positions and triangles of a mesh file as the writers here write them; of an STL file every corner is a vertex."""
    suffix = path.suffix[1:]
    words = [line.split() for line in path.read_text().splitlines()]
    if suffix == "obj":
        faces = [line[1:] for line in words if line[:1] == ["f"]]
        positions = [[float(x) for x in line[1:4]] for line in words if line[:1] == ["v"]]
        return positions, [tuple(int(corner.split("/")[0]) - 1 for corner in face) for face in faces]
    if suffix == "stl":
        positions = [[float(x) for x in line[1:4]] for line in words if line[:1] == ["vertex"]]
        return positions, [(i, i + 1, i + 2) for i in range(0, len(positions), 3)]
    if suffix == "ply" and words[1][:2] == ["format", "ascii"]:
        vertices = next(int(line[2]) for line in words if line[:2] == ["element", "vertex"])
        body = words[words.index(["end_header"]) + 1 :]
        positions = [[float(x) for x in line[:3]] for line in body[:vertices]]
        return positions, [tuple(int(i) for i in line[1:4]) for line in body[vertices:]]
    raise ValueError(f"{path}: not read by the checker")


MESH_WRITERS = {"obj": obj_text, "stl": stl_text, "ply": ply_text}


def gray_png(rows):
    """An 8-bit gray PNG of rows of values from 0 to 255."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
