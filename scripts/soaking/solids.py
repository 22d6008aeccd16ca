"""Signed distances of a scene's solids, written independently of the program under test."""

import math

from .motion import key_weights, mixed
from .text import si


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def scaled(a, factor):
    return [x * factor for x in a]


def length(a):
    return math.sqrt(dot(a, a))


def unit(a):
    return scaled(a, 1.0 / length(a))


def rotation_xyz(angles):
    """Rows of the rotation about x, then y, then z."""
    (sx, sy, sz), (cx, cy, cz) = [math.sin(a) for a in angles], [math.cos(a) for a in angles]
    return [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ]


def apply(rows, v):
    return [dot(row, v) for row in rows]


def apply_transposed(rows, v):
    return [sum(rows[i][j] * v[i] for i in range(3)) for j in range(3)]


def box_distance(point, half):
    """Signed distance to an axis-aligned box around the origin."""
    beyond = [abs(x) - h for x, h in zip(point, half)]
    return length([max(x, 0.0) for x in beyond]) + min(max(beyond), 0.0)


def cylinder_distance(radial, along, radius, bore, half_length):
    side = radial - radius if bore is None else max(radial - radius, bore - radial)
    end = abs(along) - half_length
    return math.hypot(max(side, 0.0), max(end, 0.0)) + min(max(side, end), 0.0)


def leaf_distance(across, up, half_angle):
    """Signed distance to the body below two half-planes that meet in a valley."""
    sin, cos = math.sin(half_angle), math.cos(half_angle)
    across = abs(across)
    if across * sin + up * cos >= 0.0:
        return up * sin - across * cos
    return math.copysign(math.hypot(across, up), -cos)


class Solid:
    """One entry of `solids`, as a distance at any time; `mesh` (in the rest pose, see `meshes`) for mesh files."""

    def __init__(self, entry, mesh=None):
        self.entry, self.mesh = entry, mesh
        self.name = entry.get("name", "")
        self.shape = entry.get("shape", "plane")
        get = lambda key, default: si(entry[key]) if key in entry else default
        zero = [0.0, 0.0, 0.0]
        self.smooth = entry.get("interpolation", "linear") == "smooth"
        self.turn, self.shift = rotation_xyz(get("rotate", zero)), get("move", zero)
        self.keys = [
            (si(key["at"]), si(key["move"]) if "move" in key else zero, si(key["rotate"]) if "rotate" in key else zero)
            for key in entry.get("motion", [])
        ]
        self.center, self.local = self.local_distance(get, zero)
        # A plane and a leaf have no end, and neither has the solid around a sphere's inside.
        self.origin = add(self.center, self.shift)
        self.size = get("size", None)

    def local_distance(self, get, zero):
        """The point about which the shape turns, and its distance as a function of the offset from there."""
        entry = self.entry
        if self.shape == "plane":
            normal = unit(entry.get("normal", [0, 1, 0]))
            return get("point", zero), lambda p: dot(p, normal)
        if self.shape == "box":
            low, high = get("min", zero), get("max", zero)
            half = scaled(sub(high, low), 0.5)
            return scaled(add(low, high), 0.5), lambda p: box_distance(p, half)
        if self.shape == "sphere":
            radius, sign = get("radius", 0.0), -1.0 if entry.get("inside", False) else 1.0
            return get("center", zero), lambda p: sign * (length(p) - radius)
        if self.shape == "cylinder":
            start, end = get("from", zero), get("to", zero)
            axis, half = unit(sub(end, start)), length(sub(end, start)) / 2
            radius, wall = get("radius", 0.0), get("wall", None)
            bore = None if wall is None else radius - wall

            def distance(p):
                along = dot(p, axis)
                return cylinder_distance(length(sub(p, scaled(axis, along))), along, radius, bore, half)

            return scaled(add(start, end), 0.5), distance
        if self.shape == "leaf":
            axis, half = unit(entry.get("axis", [1, 0, 0])), get("angle", math.radians(120)) / 2
            up = sub([0, 1, 0], scaled(axis, axis[1]))
            up = unit(up if length(up) > 1e-6 else sub([0, 0, 1], scaled(axis, axis[2])))
            return get("point", zero), lambda p: leaf_distance(dot(p, cross(axis, up)), dot(p, up), half)
        return zero, None

    def pose(self, time):
        """Rotation about the origin and its position at `time`."""
        if not self.keys:
            return None, self.origin
        weights = key_weights([key[0] for key in self.keys], time, self.smooth)
        move, turn = (mixed(weights, [key[part] for key in self.keys]) for part in (1, 2))
        return rotation_xyz(turn), add(self.origin, move)

    def to_rest(self, point, time):
        """A point of the world as an offset from the origin in the rest pose."""
        rows, origin = self.pose(time)
        offset = sub(point, origin)
        return apply_transposed(rows, offset) if rows else offset

    def distance(self, point, time):
        """Signed distance at a point of the world; negative inside the solid."""
        offset = self.to_rest(point, time)
        if self.local:
            return self.local(apply_transposed(self.turn, offset))
        if self.mesh:
            return self.mesh.at(time).distance(add(offset, self.origin))
        return math.inf

    def covers(self, point, time, margin):
        """Whether a point is above or below the meshed part of a plane or leaf, `margin` inside its rim.

        True for other shapes.
        """
        if self.shape not in ("plane", "leaf") or self.size is None:
            return True
        across, along = (size - 2 * margin for size in self.size)
        p = apply_transposed(self.turn, self.to_rest(point, time))
        if self.shape == "plane":
            normal = unit(self.entry.get("normal", [0, 1, 0]))
            v = sub([0, 1, 0], scaled(normal, normal[1]))
            v = unit(v if length(v) > 1e-6 else sub([0, 0, -1], scaled(normal, -normal[2])))
            return abs(dot(p, cross(v, normal))) < across / 2 and abs(dot(p, v)) < along / 2
        axis = unit(self.entry.get("axis", [1, 0, 0]))
        up = sub(p, scaled(axis, dot(p, axis)))
        return abs(dot(p, axis)) < across / 2 and length(up) < along / 2

    def speed(self):
        """Largest speed of its motion at 20 mm from its origin."""
        fastest, times = 0.0, [key[0] for key in self.keys]
        parts = 16 if self.smooth else 1
        for start, end in zip(times, times[1:]):
            step = (end - start) / parts
            for part in range(parts):
                # The later end of a segment belongs to it also where another begins.
                ends = [key_weights(times, start + (part + i * (1 - 1e-9)) * step, self.smooth) for i in (0, 1)]
                (m0, r0), (m1, r1) = ([mixed(w, [key[i] for key in self.keys]) for i in (1, 2)] for w in ends)
                fastest = max(fastest, (length(sub(m1, m0)) + 0.02 * length(sub(r1, r0))) / step)
        return fastest


def solid_angle(a, b, c):
    """Solid angle of a triangle seen from the origin, with sign."""
    la, lb, lc = length(a), length(b), length(c)
    return 2.0 * math.atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)


def segment_distance(p, a, b):
    along = sub(b, a)
    part = dot(sub(p, a), along) / max(dot(along, along), 1e-300)
    return length(sub(p, add(a, scaled(along, min(1.0, max(0.0, part))))))


def triangle_distance(p, a, b, c):
    normal = cross(sub(b, a), sub(c, a))
    size = length(normal)
    if size > 0.0:
        inside = all(dot(cross(sub(v, u), sub(p, u)), normal) >= 0.0 for u, v in ((a, b), (b, c), (c, a)))
        if inside:
            return abs(dot(sub(p, a), normal)) / size
    return min(segment_distance(p, a, b), segment_distance(p, b, c), segment_distance(p, c, a))


class ClosedMesh:
    """Depth below the surface of a closed mesh."""

    def __init__(self, positions, triangles):
        self.positions, self.triangles = positions, triangles
        self.low = [min(p[axis] for p in positions) for axis in range(3)]
        self.high = [max(p[axis] for p in positions) for axis in range(3)]

    def at(self, time):
        """The mesh at a time."""
        return self

    def distance(self, p):
        """Signed distance inside the mesh, infinite outside: only depths are asked for."""
        if not all(low < x < high for low, x, high in zip(self.low, p, self.high)):
            return math.inf
        corners = [[self.positions[i] for i in triangle] for triangle in self.triangles]
        winding = sum(solid_angle(*(sub(q, p) for q in triangle)) for triangle in corners) / (4 * math.pi)
        if abs(winding) < 0.5:
            return math.inf
        return -min(triangle_distance(p, *triangle) for triangle in corners)


class DeformingMesh:
    """A closed mesh whose vertices move on cubic curves between samples, in the rest pose."""

    def __init__(self, times, samples, triangles):
        self.times, self.samples, self.triangles = times, samples, triangles
        self.time, self.now = None, None

    def at(self, time):
        """The mesh at a time."""
        if time != self.time:
            weights = key_weights(self.times, time, smooth=True)
            count = len(self.samples[0])
            positions = [mixed(weights, [sample[vertex] for sample in self.samples]) for vertex in range(count)]
            self.time, self.now = time, ClosedMesh(positions, self.triangles)
        return self.now
