"""Evaluated objects over the frames of a scene: poses, shapes, and the mesh files of a simulation.

Positions in files are in meters, y up, relative to the place of the object's origin in the first frame.
"""

import hashlib
import os

import mathutils
import numpy as np

TURN = mathutils.Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))
"""From z up to y up."""

SAME = 1e-5
"""Changes of a shape below this part of its size are rest."""


class SetupError(Exception):
    """The user must change something first."""


class Shape:
    """A solid in the first frame, and in those after it."""

    def __init__(self, obj, mesh, pose):
        self.name = obj.name
        mesh.calc_loop_triangles()
        count = len(mesh.loop_triangles)
        if count == 0:
            raise SetupError(f"{obj.name} has no faces")
        self.triangles = np.empty(3 * count, np.int32)
        mesh.loop_triangles.foreach_get("vertices", self.triangles)
        self.loops = np.empty(3 * count, np.int32)
        mesh.loop_triangles.foreach_get("loops", self.loops)
        polygons = np.empty(count, np.int32)
        mesh.loop_triangles.foreach_get("polygon_index", polygons)
        slots = np.empty(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("material_index", slots)
        self.slots = slots[polygons]
        self.uvs = None
        if mesh.uv_layers.active:
            uvs = np.empty(2 * len(mesh.loops), np.float32)
            mesh.uv_layers.active.data.foreach_get("uv", uvs)
            self.uvs = uvs.reshape(-1, 2)
        self.points = coordinates(mesh)
        self.topology = topology(mesh)
        self.origin = np.array(pose.translation)
        self.poses = [pose]
        self.deforms = False

    def follow(self, mesh, pose, frame):
        """Take another frame."""
        self.check(mesh, frame)
        self.poses.append(pose)
        if not self.deforms:
            size = np.ptp(self.points, axis=0).max() or 1.0
            self.deforms = bool(np.abs(coordinates(mesh) - self.points).max() > SAME * size)

    def check(self, mesh, frame):
        """A solid has the same faces in all frames."""
        now = topology(mesh)
        if now[0] != self.topology[0] or not all(map(np.array_equal, now[1:], self.topology[1:])):
            raise SetupError(
                f"{self.name} changes its topology in frame {frame} ({now[0]} vertices, {self.topology[0]} in the first): "
                "a solid needs the same faces in all frames; disable modifiers that add or remove faces over time"
            )

    @property
    def is_rigid(self):
        """Whether it only turns and moves."""
        first = np.array(self.poses[0].inverted_safe())
        turns = [(np.array(pose) @ first)[:3, :3] for pose in self.poses]
        return not self.deforms and all(np.abs(turn @ turn.T - np.eye(3)).max() <= 1e-4 for turn in turns)

    def placed(self, points, pose):
        """Points in the files' coordinates."""
        matrix = np.array(pose)
        return points @ matrix[:3, :3].T + matrix[:3, 3] - self.origin

    def _corners(self):
        corners, loops = self.triangles.reshape(-1, 3), self.loops.reshape(-1, 3)
        # A mirrored object keeps its outer side.
        return (corners[:, ::-1], loops[:, ::-1]) if self.poses[0].determinant() < 0 else (corners, loops)

    def obj(self):
        """The first frame as an OBJ file, with texture coordinates."""
        corners, loops = self._corners()
        lines = ["v %.9g %.9g %.9g" % tuple(p) for p in self.placed(self.points, self.poses[0]).tolist()]
        if self.uvs is None:
            lines += ["f %d %d %d" % tuple(c) for c in (corners + 1).tolist()]
        else:
            lines += ["vt %.9g %.9g" % tuple(uv) for uv in self.uvs.tolist()]
            pairs = np.stack([corners + 1, loops + 1], axis=2).reshape(-1, 6)
            lines += ["f %d/%d %d/%d %d/%d" % tuple(pair) for pair in pairs.tolist()]
        return ("\n".join(lines) + "\n").encode("ascii")

    def ply(self, points, pose):
        """Another frame as a PLY file with the same vertices and triangles."""
        corners, _ = self._corners()
        header = (
            f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\nproperty double x\n"
            f"property double y\nproperty double z\nelement face {len(corners)}\n"
            "property list uchar int vertex_indices\nend_header\n"
        )
        faces = np.empty(len(corners), [("count", "u1"), ("corners", "<i4", 3)])
        faces["count"], faces["corners"] = 3, corners
        return header.encode("ascii") + self.placed(points, pose).astype("<f8").tobytes() + faces.tobytes()


class Files:
    """Mesh and image files of a setup, named by their contents, so that another shape is another scene."""

    FOLDER = "meshes"

    def __init__(self, folder):
        self._folder = folder
        self.names = set()
        os.makedirs(os.path.join(folder, self.FOLDER), exist_ok=True)

    def add(self, stem, ending, data):
        """Write a file; return its name relative to the setup."""
        stem = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)[:40]
        name = f"{stem}-{hashlib.sha256(data).hexdigest()[:12]}.{ending}"
        path = os.path.join(self._folder, self.FOLDER, name)
        self.names.add(name)
        if not (os.path.exists(path) and os.path.getsize(path) == len(data)):
            with open(path + ".part", "wb") as file:
                file.write(data)
            os.replace(path + ".part", path)
        return f"{self.FOLDER}/{name}"

    def forget_others(self):
        """Remove the files of earlier setups."""
        for name in os.listdir(os.path.join(self._folder, self.FOLDER)):
            if name not in self.names:
                os.remove(os.path.join(self._folder, self.FOLDER, name))


def coordinates(mesh):
    """Vertices, n x 3."""
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3).astype(np.float64)


def topology(mesh):
    """Number of vertices, and the polygons' corners."""
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    sizes = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    return len(mesh.vertices), corners, sizes


class evaluated:
    """The mesh of an object as it is displayed in the present frame."""

    def __init__(self, context, obj):
        self._object = obj.evaluated_get(context.evaluated_depsgraph_get())

    def __enter__(self):
        return self._object.to_mesh()

    def __exit__(self, *error):
        self._object.to_mesh_clear()


def pose_of(obj, unit):
    """World matrix in meters, y up."""
    return TURN @ mathutils.Matrix.Scale(unit, 4) @ obj.matrix_world


def shapes(context, objects, unit):
    """The shapes of solids over all frames, by name; the scene is in its first frame afterwards."""
    scene = context.scene
    found = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for obj in objects:
            with evaluated(context, obj) as mesh:
                if obj.name in found:
                    found[obj.name].follow(mesh, pose_of(obj, unit), frame)
                else:
                    found[obj.name] = Shape(obj, mesh, pose_of(obj, unit))
    scene.frame_set(scene.frame_start)
    return found


def samples(context, objects, shapes_of, files):
    """Write the shapes of deforming solids in every frame; return lists of file names by object."""
    scene = context.scene
    names = {obj.name: [] for obj in objects}
    if not objects:
        return names
    for k, frame in enumerate(range(scene.frame_start, scene.frame_end + 1)):
        scene.frame_set(frame)
        for obj in objects:
            shape = shapes_of[obj.name]
            with evaluated(context, obj) as mesh:
                data = shape.ply(coordinates(mesh), shape.poses[k])
            names[obj.name].append(files.add(obj.name, "ply", data))
    scene.frame_set(scene.frame_start)
    return names
