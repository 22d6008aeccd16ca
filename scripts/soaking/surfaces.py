"""Reads the surfaces of a frame and computes what each drop encloses."""

import math
import struct


class BadFrame(Exception):
    """A frame file that breaks its own format."""


def read_header(data):
    """Numbers of vertices and faces, their property lists, and where the body begins."""
    end = data.find(b"end_header\n")
    if not data.startswith(b"ply\n") or end < 0:
        raise BadFrame("no PLY header")
    counts, properties, element = {}, {}, None
    for line in data[:end].decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["element"]:
            element = words[1]
            counts[element], properties[element] = int(words[2]), []
        elif words[:1] == ["property"]:
            properties[element].append(" ".join(words[1:]))
    return counts, properties, end + len(b"end_header\n")


def read_frame(data):
    """Vertices (x, y, z, vx, vy, vz, drop) and faces (a, b, c, solid) of frames/N.ply."""
    counts, properties, start = read_header(data)
    if properties.get("vertex") != ["float x", "float y", "float z", "float vx", "float vy", "float vz", "int drop"]:
        raise BadFrame(f"vertex properties {properties.get('vertex')}")
    if properties.get("face") != ["list uchar int vertex_indices", "int solid"]:
        raise BadFrame(f"face properties {properties.get('face')}")
    middle = start + 28 * counts["vertex"]
    if len(data) != middle + 17 * counts["face"]:
        raise BadFrame(f"{len(data)} bytes for {counts}")
    vertices = list(struct.iter_unpack("<6fi", data[start:middle]))
    faces = [face[1:] for face in struct.iter_unpack("<B4i", data[middle:])]
    return vertices, faces


def read_mesh(data):
    """Positions and triangles of solids/NAME.ply (binary little-endian)."""
    sizes = {"float": 4, "double": 8, "int": 4, "uint": 4, "uchar": 1}
    codes = {"float": "f", "double": "d", "int": "i", "uint": "I", "uchar": "B"}
    counts, properties, at = read_header(data)
    code = "<" + "".join(codes[p.split()[0]] for p in properties["vertex"])
    size = struct.calcsize(code)
    positions = [list(v[:3]) for v in struct.iter_unpack(code, data[at : at + size * counts["vertex"]])]
    at += size * counts["vertex"]
    triangles = []
    for _ in range(counts["face"]):
        for words in (p.split() for p in properties["face"]):
            if words[0] == "list":
                count = struct.unpack_from("<" + codes[words[1]], data, at)[0]
                at += sizes[words[1]]
                if words[3] in ("vertex_indices", "vertex_index"):
                    triangles.append(struct.unpack_from(f"<{count}{codes[words[2]]}", data, at))
                at += count * sizes[words[2]]
            else:
                at += sizes[words[0]]
    return positions, [t[:3] for t in triangles]


class Body:
    """What a frame shows of one drop."""

    def __init__(self):
        self.volume = 0.0
        self.faces = 0
        self.edges = {}
        self.vertices = set()

    def open_edges(self):
        """Number of directed edges that are used more than once, or without their opposite."""
        return sum(1 for (a, b), count in self.edges.items() if count != 1 or self.edges.get((b, a)) != 1)


def bodies(vertices, faces):
    """The bodies by drop id: enclosed volume (m³), edges and vertices."""
    found, origins = {}, {}
    for a, b, c, _ in faces:
        drop = vertices[a][6]
        body = found.get(drop)
        if body is None:
            body = found[drop] = Body()
            origins[drop] = vertices[a][:3]
        ox, oy, oz = origins[drop]
        ax, ay, az, bx, by, bz = *vertices[a][:3], *vertices[b][:3]
        cx, cy, cz = vertices[c][:3]
        ax, bx, cx, ay, by, cy, az, bz, cz = ax - ox, bx - ox, cx - ox, ay - oy, by - oy, cy - oy, az - oz, bz - oz, cz - oz
        body.volume += (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) / 6
        body.faces += 1
        for edge in ((a, b), (b, c), (c, a)):
            body.edges[edge] = body.edges.get(edge, 0) + 1
        body.vertices.update((a, b, c))
    return found


def all_finite(vertices):
    return all(math.isfinite(value) for vertex in vertices for value in vertex[:6])


def thickness(vertices):
    """Extent along z: of a planar run, the width of the slab."""
    depths = [vertex[2] for vertex in vertices]
    return max(depths) - min(depths) if depths else 0.0
