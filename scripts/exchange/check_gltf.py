"""Compares the liquid of a .glb file, as its animation shows it, with the run; writes what is shown when.

At the time of each frame one mesh of the liquid is shown. Its vertices are those of the run within the step of the
quantization; where the file is coarser than the run, they are near some of them, and drops keep their volume.
Arguments: RUN FILE SHOWN.json.
"""

import json
import pathlib
import struct
import sys
import tomllib

import numpy as np

from frames import Run, same

LARGEST = 300_000
"""Bytes of a frame, with up to 150 drops."""


class Glb:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        length = struct.unpack_from("<I", data, 12)[0]
        self.size = len(data)
        self.json = json.loads(data[20 : 20 + length])
        self.binary = data[28 + length :]

    def array(self, index):
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = np.dtype({5120: "i1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[accessor["componentType"]])
        stride = view.get("byteStride", width * kind.itemsize)
        shape, strides = (accessor["count"], width), (stride, kind.itemsize)
        values = np.ndarray(shape, kind, self.binary, view["byteOffset"], strides).copy()
        return values if width > 1 else values[:, 0]

    def tracks(self):
        """Translations and scales over time by node."""
        found = {}
        for animation in self.json.get("animations", []):
            for channel in animation["channels"]:
                sampler = animation["samplers"][channel["sampler"]]
                if sampler["interpolation"] == "STEP":
                    key = channel["target"]["node"], channel["target"]["path"]
                    found[key] = self.array(sampler["input"]), self.array(sampler["output"])
        return found

    def placement(self, node, tracks, time):
        """Translation and scale of a node at a time."""
        values = []
        for path, default in (("translation", [0, 0, 0]), ("scale", [1, 1, 1])):
            if (node, path) in tracks:
                times, outputs = tracks[node, path]
                values.append(outputs[max(np.searchsorted(times, np.float32(time), "right") - 1, 0)])
            else:
                values.append(np.array(self.json["nodes"][node].get(path, default), np.float64))
        return values


def check_frame(number, glb, mesh, translation, scale, frame):
    """Compares a mesh with a frame; returns the largest error and whether it is coarser."""
    primitive = mesh["primitives"][0]
    points = translation.astype(np.float64) + scale[0] * glb.array(primitive["attributes"]["POSITION"]).astype(np.float64)
    drops = glb.array(primitive["attributes"]["_DROP"])
    triangles = glb.array(primitive["indices"]).reshape(-1, 3)
    normals = glb.array(primitive["attributes"]["NORMAL"])
    assert np.abs(np.linalg.norm(normals / 127.0, axis=1) - 1).max() < 0.02, f"normals {number}"
    assert set(drops) == set(frame.drops), f"drops {number}"
    # Half a step along each axis, and the single precision of the node.
    bound = scale[0] + 1e-6 * np.abs(frame.points).max()
    if len(points) == len(frame.points):
        same(f"points {number}", points, frame.points, bound)
        same(f"triangles {number}", triangles, frame.triangles)
        same(f"drops {number}", drops, frame.drops)
        return False
    for drop in np.unique(frame.drops):
        mine, theirs = points[drops == drop], frame.points[frame.drops == drop].astype(np.float64)
        nearest = np.sqrt(((mine[:, None] - theirs[None]) ** 2).sum(2)).min(1)
        size = np.ptp(theirs, axis=0).max()
        off = nearest.max() / size, nearest.mean() / size
        # From the run's vertices, not from its surface.
        assert off[0] < 0.15 and off[1] < 0.05, f"drop {drop} of frame {number}: {off} of its size off"
        found = volume(points, triangles[drops[triangles[:, 0]] == drop])
        expected = volume(frame.points.astype(np.float64), frame.triangles[frame.drops[frame.triangles[:, 0]] == drop])
        assert abs(found / expected - 1) < 0.1, f"drop {drop} of frame {number}: volume {found:.3g}, not {expected:.3g} m^3"
    found, expected = volume(points, triangles), volume(frame.points.astype(np.float64), frame.triangles)
    assert abs(found / expected - 1) < 0.02, f"frame {number}: volume {found:.3g}, not {expected:.3g} m^3"
    return True


def volume(points, triangles):
    a, b, c = (points[triangles[:, k]] - points.mean(0) for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def main():
    run, glb = Run(sys.argv[1]), Glb(sys.argv[2])
    document = glb.json
    assert document["extensionsRequired"] == ["KHR_mesh_quantization"]
    water = document["materials"][0]["extensions"]
    assert {"KHR_materials_transmission", "KHR_materials_ior", "KHR_materials_volume"} <= set(water), water
    fps = tomllib.loads((run.path / "scene.toml").read_text())["render"]["fps"]
    tracks = glb.tracks()
    numbers = run.numbers if len(tracks) else run.numbers[-1:]
    liquids = [k for k, node in enumerate(document["nodes"]) if node["name"].startswith("liquid")]
    solids = [k for k, node in enumerate(document["nodes"]) if "mesh" in node and k not in liquids]
    parents = {child: k for k, node in enumerate(document["nodes"]) for child in node.get("children", [])}
    coarse, wet, shown = 0, set(), []

    def triangles(node):
        primitive = document["meshes"][document["nodes"][node]["mesh"]]["primitives"][0]
        accessor = primitive.get("indices", primitive["attributes"]["POSITION"])
        return document["accessors"][accessor]["count"] // 3

    for k, number in enumerate(numbers):
        time, frame = (k + 0.25) / fps, run.frame(number)
        placed = {node: glb.placement(node, tracks, time) for node in liquids}
        visible = [node for node, (_, scale) in placed.items() if scale[0] > 0]
        assert len(visible) == (len(frame.triangles) > 0), f"frame {number} shows {visible}"
        hidden = [place for place, scale in placed.values() if scale[0] == 0]
        assert not tracks or all(place[1] < -1e5 for place in hidden), f"frame {number}: hidden meshes are in view"
        for node in visible:
            mesh = document["meshes"][document["nodes"][node]["mesh"]]
            coarse += check_frame(number, glb, mesh, *placed[node], frame)
        # Of a solid with states of wetness one is shown.
        states = [node for node in solids if glb.placement(parents.get(node, node), tracks, time)[1][0] > 0]
        names = [document["nodes"][node]["name"] for node in states]
        assert len(names) == len(set(names)) and set(names) == {document["nodes"][n]["name"] for n in solids}, names
        for node in states:
            material = document["materials"][document["meshes"][document["nodes"][node]["mesh"]]["primitives"][0]["material"]]
            if "metallicRoughnessTexture" in material["pbrMetallicRoughness"]:
                wet.add(material["name"])
        shown.append({"time": time, "triangles": sum(map(triangles, visible + states))})
    drops = max(len(set(run.frame(number).drops)) for number in numbers)
    per_frame = glb.size / len(numbers)
    if len(numbers) > 10:
        assert per_frame < max(LARGEST, LARGEST * drops / 150), f"{per_frame:.0f} bytes per frame for {drops} drops"
    pathlib.Path(sys.argv[3]).write_text(json.dumps(shown))
    import trimesh

    scene = trimesh.load(sys.argv[2])
    assert len(scene.geometry) >= 1 and scene.extents.max() > 0
    print(
        f"gltf: {len(numbers)} frames equal ({coarse} coarser), up to {drops} drops, {per_frame / 1e3:.0f} kB per frame, "
        f"{len(wet)} states of wetness, trimesh reads {len(scene.geometry)} meshes"
    )


main()
