"""Compares the meshes and the animation of a .glb file, as read by trimesh, with the run.

Arguments: RUN FILE KIND (frame, morph or switch).
"""

import json
import pathlib
import struct
import sys

import numpy as np

from frames import Run, same


class Glb:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        length = struct.unpack_from("<I", data, 12)[0]
        self.json = json.loads(data[20 : 20 + length])
        self.binary = data[28 + length :]

    def array(self, index):
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        values = np.frombuffer(self.binary, kind, accessor["count"] * width, view["byteOffset"])
        return values.reshape(-1, width) if width > 1 else values


def main():
    run, path, kind = Run(sys.argv[1]), sys.argv[2], sys.argv[3]
    glb = Glb(path)
    document = glb.json
    water = document["materials"][0]["extensions"]
    assert {"KHR_materials_transmission", "KHR_materials_ior", "KHR_materials_volume"} <= set(water), water
    liquid = [m for m in document["meshes"] if m["name"].startswith("liquid")]
    shown = 0
    if kind == "morph":
        assert len(liquid) == 1 and "targets" in liquid[0]["primitives"][0]
        primitive = liquid[0]["primitives"][0]
        base = glb.array(primitive["attributes"]["POSITION"])
        channel = next(c for c in document["animations"][0]["channels"] if c["target"]["path"] == "weights")
        sampler = document["animations"][0]["samplers"][channel["sampler"]]
        targets = [glb.array(t["POSITION"]) for t in primitive["targets"]]
        weights = glb.array(sampler["output"]).reshape(-1, len(targets))
        for (number, frame), weight in zip(run, weights, strict=True):
            points = base + sum((w * t for w, t in zip(weight, targets) if w), np.zeros_like(base))
            same(f"points {number}", points, frame.points, 1e-8)
            shown += 1
    else:
        numbers = run.numbers if kind == "switch" else run.numbers[-1:]
        by_name = {m["name"]: m for m in liquid}
        for number in numbers:
            frame = run.frame(number)
            if len(frame.triangles) == 0:
                continue
            primitive = by_name[f"liquid {number:05}"]["primitives"][0]
            same(f"points {number}", glb.array(primitive["attributes"]["POSITION"]), frame.points)
            same(f"triangles {number}", glb.array(primitive["indices"]).reshape(-1, 3), frame.triangles)
            same(f"drops {number}", glb.array(primitive["attributes"]["_DROP"]), frame.drops)
            shown += 1
        if kind == "switch":
            # At the time of each frame exactly one mesh has a nonzero scale.
            tracks = []
            for channel in document["animations"][0]["channels"]:
                node = document["nodes"][channel["target"]["node"]]
                if channel["target"]["path"] == "scale" and node["name"].startswith("liquid"):
                    sampler = document["animations"][0]["samplers"][channel["sampler"]]
                    tracks.append((node["name"], glb.array(sampler["input"]), glb.array(sampler["output"])))
            for k, number in enumerate(run.numbers):
                time = np.float32(k / 30)
                visible = [name for name, times, scales in tracks if scales[max(np.searchsorted(times, time, "right") - 1, 0)][0] == 1]
                expected = [f"liquid {number:05}"] if len(run.frame(number).triangles) else []
                assert visible == expected, f"frame {number}: {visible}"
    import trimesh

    scene = trimesh.load(path)
    assert len(scene.geometry) >= 1 and scene.extents.max() > 0
    print(f"gltf: {kind}, {shown} frames equal, trimesh reads {len(scene.geometry)} meshes")


main()
