"""Compares every file listed in the .pvd, as read by VTK, with the run. Arguments: RUN COLLECTION."""

import pathlib
import sys
import xml.etree.ElementTree as tree

import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

from frames import Run, same


def read(path):
    kind = {".vtp": vtk.vtkXMLPolyDataReader, ".vti": vtk.vtkXMLImageDataReader}[path.suffix]
    reader = kind()
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0, path
    return reader.GetOutput()


def main():
    run, collection = Run(sys.argv[1]), pathlib.Path(sys.argv[2])
    entries = [e.attrib for e in tree.parse(collection).getroot().iter("DataSet")]
    assert entries
    grids, solids = 0, 0
    times = {m["frame"]: m["time"] for m in run.measures}
    for entry in entries:
        path = collection.parent / entry["file"]
        data = read(path)
        number = int(path.stem) if path.stem.isdigit() else None
        if entry["name"] == "liquid":
            frame = run.frame(number)
            assert abs(float(entry["timestep"]) - times[number]) < 1e-12
            if len(frame.points) == 0:
                continue
            same(f"points {number}", vtk_to_numpy(data.GetPoints().GetData()), frame.points)
            same(f"velocity {number}", vtk_to_numpy(data.GetPointData().GetArray("velocity")), frame.velocities)
            same(f"drop {number}", vtk_to_numpy(data.GetPointData().GetArray("drop")), frame.drops)
            same(f"solid {number}", vtk_to_numpy(data.GetCellData().GetArray("solid")), frame.solids)
            polys = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
            same(f"triangles {number}", polys, frame.triangles)
        elif entry["name"] == "grid":
            grids += 1
            cells = data.GetCellData()
            phi, active = vtk_to_numpy(cells.GetArray("phi")), vtk_to_numpy(cells.GetArray("active"))
            velocity, pressure = vtk_to_numpy(cells.GetArray("velocity")), vtk_to_numpy(cells.GetArray("pressure"))
            assert np.isfinite(phi).all() and np.isfinite(velocity).all() and np.isfinite(pressure).all()
            assert velocity.shape == (len(phi), 3) and active.any()
            # Compare the liquid's volume in the grid with the measures; cells at the surface are weighted by their distance.
            # Phi is extended into the floor at y = 0, where it encodes the contact angle; there is no liquid.
            h = data.GetSpacing()[0]
            size = np.array(data.GetDimensions()) - 1
            y = data.GetOrigin()[1] + h * (np.arange(size[1]) + 0.5)
            above = np.broadcast_to((y > 0)[None, :, None], size[::-1]).ravel()
            share = np.clip(0.5 - phi / h, 0.0, 1.0)[(active == 1) & above].sum() * h**3
            measured = run.measures[number]["total_volume"]
            assert abs(share / measured - 1) < 0.1, f"grid {number}: {share} m3 of liquid, measured {measured}"
            # Phi must be close to zero at the vertices of the surface.
            probe = vtk.vtkProbeFilter()
            points = vtk.vtkPolyData()
            frame = run.frame(number)
            free = np.unique(frame.triangles[frame.solids < 0])
            coordinates = vtk.vtkPoints()
            for p in frame.points[free][::7]:
                coordinates.InsertNextPoint(*map(float, p))
            points.SetPoints(coordinates)
            centerd = vtk.vtkCellDataToPointData()
            centerd.SetInputData(data)
            probe.SetInputData(points)
            probe.SetSourceConnection(centerd.GetOutputPort())
            probe.Update()
            values = vtk_to_numpy(probe.GetOutput().GetPointData().GetArray("phi"))
            valid = vtk_to_numpy(probe.GetOutput().GetPointData().GetArray(probe.GetValidPointMaskArrayName())) == 1
            assert np.median(np.abs(values[valid])) < 0.5 * h, f"grid {number}: phi is {np.median(np.abs(values[valid])) / h} cells on the surface"
        else:
            solids += 1
            assert data.GetNumberOfPoints() > 0 and data.GetNumberOfPolys() > 0, path
    expected = len(list((run.path / "fields").glob("*.grid"))) if (run.path / "fields").is_dir() else 0
    assert grids == expected, f"{grids} grids, {expected} expected"
    print(f"vtk: {len(run.numbers)} frames equal, {solids} solids, {grids} grids")


main()
