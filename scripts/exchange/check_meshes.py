"""Compares PLY, OBJ and STL files, as read by trimesh, with the run.

Arguments: RUN PLY OBJ STL SPLIT: folders of frames, the last one of single drops as PLY.
"""

import pathlib
import sys

import numpy as np
import trimesh

from frames import Run, same


def main():
    run = Run(sys.argv[1])
    ply, obj, stl, split = map(pathlib.Path, sys.argv[2:6])
    for number, frame in run:
        if len(frame.triangles) == 0:
            continue
        read = trimesh.load(ply / f"{number:05}.ply", process=False)
        same(f"ply {number}", read.vertices, frame.points)
        same(f"ply {number}", read.faces, frame.triangles)
        same(f"ply drops {number}", read.metadata["_ply_raw"]["vertex"]["data"]["drop"].ravel(), frame.drops)
        soup = frame.points[frame.triangles]
        read = trimesh.load(stl / f"{number:05}.stl", process=False)
        same(f"stl {number}", read.triangles, soup)
        path = obj / f"{number:05}.obj"
        ids = np.unique(frame.drops[frame.triangles[:, 0]])
        names = [int(line.split("-")[1]) for line in path.read_text().splitlines() if line.startswith("o ")]
        assert names == list(ids), f"obj {number}: {len(names)} objects for {len(ids)} drops"
        volume = trimesh.load(path, process=False, force="mesh").volume
        whole = trimesh.Trimesh(frame.points, frame.triangles, process=False).volume
        assert abs(volume / whole - 1) < 1e-4, f"obj {number}: volume {volume}, {whole} expected"
        files = sorted((split / f"{number:05}").glob("*.ply"))
        assert [int(f.stem.split("-")[1]) for f in files] == list(ids), f"split {number}"
        volumes = 0.0
        for f in files:
            drop = trimesh.load(f, process=False)
            assert drop.is_watertight, f"{f} is open"
            volumes += drop.volume
        assert abs(volumes / whole - 1) < 1e-4, f"split {number}: {volumes}, {whole} expected"
    solids = list((obj / "solids").glob("*.obj"))
    assert solids
    for path in solids:
        read = trimesh.load(path, process=False)
        other = trimesh.load(ply / "solids" / f"{path.stem}.ply", process=False)
        assert len(read.faces) == len(other.faces) > 0, path
        assert np.allclose(read.bounds, other.bounds, atol=1e-7), path
    print(f"meshes: ply, obj, stl of {len(run.numbers)} frames equal; {len(solids)} solids")


main()
