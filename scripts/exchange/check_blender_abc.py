"""Compares the Alembic archive, as read by Blender, with the run. Arguments: RUN ARCHIVE."""

import pathlib
import struct
import sys

import bpy
import numpy as np

from frames import Run


class Archive:
    """A minimal Ogawa reader that finds an array of an object; Blender reads no integer attributes."""

    def __init__(self, path):
        self.bytes = pathlib.Path(path).read_bytes()
        assert self.bytes[:6] == b"Ogawa\xff", "not a finished archive"
        self.root = self.children(self.number(8))

    def number(self, at):
        return struct.unpack_from("<Q", self.bytes, at)[0]

    def children(self, at):
        return [self.number(at + 8 + 8 * k) for k in range(self.number(at))] if at else []

    def data(self, place):
        at = place & ~(1 << 63)
        return self.bytes[at + 8 : at + 8 + self.number(at)] if at else b""

    def property(self, compound, name):
        """The group of the named property of a compound property."""
        *groups, headers = self.children(compound)
        text = self.data(headers)
        places = {n: text.find(bytes([len(n)]) + n) for n in KNOWN}
        names = sorted((n for n in KNOWN if places[n] >= 0), key=places.get)
        assert len(names) == len(groups), (names, len(groups))
        return groups[names.index(name)]

    def array(self, compound, name, kind):
        samples = self.children(self.property(compound, name))[::2]
        return [np.frombuffer(self.data(s)[16:], kind) for s in samples]


KNOWN = [b".geom", b".selfBnds", b"P", b".faceIndices", b".faceCounts", b".velocities", b".arbGeomParams", b"drop", b"solid"]


def ids(path):
    """Drop ids of the first object, by frame."""
    archive = Archive(path)
    liquid = archive.children(archive.root[2])[1]
    geometry = archive.property(archive.children(liquid)[0], b".geom")
    return archive.array(archive.property(geometry, b".arbGeomParams"), b"drop", "<i4")


def main():
    run, path = Run(sys.argv[1]), sys.argv[2]
    interval = run.measures[1]["time"] - run.measures[0]["time"]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    # Seconds of the archive are those of the video, at 30 frames per second.
    scene.render.fps, scene.render.fps_base = 30, 1.0
    bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    liquid = bpy.data.objects["liquid"]
    turn = np.array(liquid.matrix_world.to_3x3())
    for number, frame in run:
        scene.frame_set(number)
        mesh = liquid.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        points = points.reshape(-1, 3)
        triangles = np.array([p.vertices for p in mesh.polygons], np.int32).reshape(-1, 3)
        expected = np.stack([frame.points[:, 0], -frame.points[:, 2], frame.points[:, 1]], 1)
        assert points.shape == expected.shape, f"frame {number}: {points.shape}"
        error = np.abs(points @ turn.T - expected).max() if len(points) else 0.0
        assert error < 1e-6, f"frame {number}: points off by {error} m"
        # Equal triangles up to a rotation of their corners.
        first = lambda t: np.take_along_axis(t, (np.argmin(t, 1)[:, None] + np.arange(3)) % 3, 1)
        assert np.array_equal(first(triangles), first(frame.triangles)), f"frame {number}: other triangles"
        velocity = np.empty(3 * len(points), np.float32)
        mesh.attributes["velocity"].data.foreach_get("vector", velocity)
        v = frame.velocities * interval * 30
        v = np.stack([v[:, 0], -v[:, 2], v[:, 1]], 1)
        error = np.abs(velocity.reshape(-1, 3) - v).max() if len(points) else 0.0
        largest = max(np.abs(v).max() if len(points) else 0.0, 1e-9)
        assert error < 1e-5 * largest or error < 1e-6, f"frame {number}: velocities off by {error}, largest {largest}"
    found = ids(path)
    for (number, frame), drops in zip(run, found, strict=True):
        assert np.array_equal(drops, frame.drops), f"frame {number}: other drops"
    solids = [o for o in bpy.data.objects if o.type == "MESH" and o is not liquid]
    assert all(len(o.data.vertices) for o in solids) and solids, solids
    assert all(o.data.uv_layers for o in solids), "solids without texture coordinates"
    print(f"blender: abc reads back, {len(run.numbers)} frames equal, {len(solids)} solids")


main()
