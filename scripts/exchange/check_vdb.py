"""Compares the VDB grids, as read by OpenVDB, with the VTK export of the same run.

Arguments: RUN FOLDER DUMP, where DUMP has .npz files with the cells of the VTK export.
"""

import pathlib
import sys

import numpy as np

try:
    import openvdb as vdb
except ImportError:
    import pyopenvdb as vdb


def main():
    run, folder, dump = map(pathlib.Path, sys.argv[1:4])
    files = sorted(folder.glob("*.vdb"))
    assert len(files) == len(list((run / "fields").glob("*.grid"))) > 0
    for path in files:
        grids = {g.name: g for g in vdb.readAll(str(path))[0]}
        assert set(grids) == {"surface", "velocity", "pressure"}, grids
        cells = np.load(dump / f"{path.stem}.npz")
        size = cells["size"]
        h, origin = float(cells["h"]), cells["origin"]
        surface = grids["surface"]
        assert surface.gridClass == "level set" and grids["velocity"].gridClass == "staggered"
        assert np.allclose(surface.transform.voxelSize(), h)
        # The transform gives the center of voxel (0, 0, 0); the corner of VTK's first cell is at the origin.
        first = np.round(np.array(surface.transform.worldToIndex(tuple(origin + 0.5 * h)))).astype(int)
        assert np.allclose(surface.transform.indexToWorld(tuple(int(c) for c in first)), origin + 0.5 * h, atol=1e-9 * h + 1e-12)
        active = cells["active"].reshape(size[::-1]).transpose(2, 1, 0).astype(bool)
        for name, field in [("surface", "phi"), ("pressure", "pressure")]:
            found = np.full(tuple(size), np.nan, np.float32)
            grids[name].copyToArray(found, ijk=tuple(int(c) for c in first))
            expected = cells[field].reshape(size[::-1]).transpose(2, 1, 0)
            assert np.array_equal(found[active], expected[active]), f"{path.name}: {name} differs by {np.abs(found - expected)[active].max()}"
            assert grids[name].activeVoxelCount() == active.sum(), (grids[name].activeVoxelCount(), active.sum())
        faces = np.zeros(tuple(size) + (3,), np.float32)
        grids["velocity"].copyToArray(faces, ijk=tuple(int(c) for c in first))
        # The mean of the faces is VTK's value at the center, wherever the neighboring cell is stored.
        centers = cells["velocity"].reshape(tuple(size[::-1]) + (3,)).transpose(2, 1, 0, 3)
        for axis in range(3):
            if size[axis] == 1:
                continue
            near = [slice(None)] * 3
            far = [slice(None)] * 3
            near[axis], far[axis] = slice(None, -1), slice(1, None)
            both = active[tuple(near)] & active[tuple(far)]
            mean = 0.5 * (faces[tuple(near)][..., axis] + faces[tuple(far)][..., axis])
            error = np.abs(mean - centers[tuple(near)][..., axis])[both].max()
            assert error < 1e-6, f"{path.name}: velocity off by {error}"
    print(f"vdb: {len(files)} files, level set, velocity and pressure equal")


main()
