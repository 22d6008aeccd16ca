"""Converts the cells of .vti files to .npz, for a Python without VTK. Arguments: FOLDER OUT."""

import pathlib
import sys

import numpy as np
import vtk
from vtk.util.numpy_support import vtk_to_numpy

folder, out = map(pathlib.Path, sys.argv[1:3])
out.mkdir(parents=True, exist_ok=True)
for path in sorted(folder.glob("*.vti")):
    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    size = np.array(data.GetDimensions()) - 1
    fields = {name: vtk_to_numpy(data.GetCellData().GetArray(name)) for name in ["phi", "velocity", "pressure", "active"]}
    np.savez(out / f"{path.stem}.npz", size=size, h=data.GetSpacing()[0], origin=np.array(data.GetOrigin()), **fields)
