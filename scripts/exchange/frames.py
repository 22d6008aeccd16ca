"""Reads a run folder: the reference for all other readers."""

import json
import pathlib

import numpy as np

VERTEX = np.dtype([("p", "<f4", 3), ("v", "<f4", 3), ("drop", "<i4")])
FACE = np.dtype([("n", "u1"), ("t", "<i4", 3), ("solid", "<i4")])


class Frame:
    """One frame of a run: points, velocities, drop ids, triangles, solids of faces."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        end = data.index(b"end_header\n") + len(b"end_header\n")
        counts = {}
        for line in data[:end].decode("ascii").splitlines():
            words = line.split()
            if words[0] == "element":
                counts[words[1]] = int(words[2])
        vertices = np.frombuffer(data, VERTEX, counts["vertex"], end)
        faces = np.frombuffer(data, FACE, counts["face"], end + vertices.nbytes)
        self.points, self.velocities, self.drops = vertices["p"], vertices["v"], vertices["drop"]
        self.triangles, self.solids = faces["t"], faces["solid"]


class Run:
    """A run folder."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.numbers = sorted(int(p.stem) for p in (self.path / "frames").glob("*.ply"))
        self.measures = [json.loads(line) for line in (self.path / "measure.jsonl").read_text().splitlines()]

    def frame(self, number):
        return Frame(self.path / "frames" / f"{number:05}.ply")

    def __iter__(self):
        return ((number, self.frame(number)) for number in self.numbers)


def same(what, found, expected, tolerance=0.0):
    """Fails unless two arrays agree; the message gives the difference."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"{what}: {found.shape} instead of {expected.shape}"
    if found.size:
        error = np.abs(found.astype(np.float64) - expected.astype(np.float64)).max()
        assert error <= tolerance, f"{what}: off by {error}, {tolerance} allowed"
