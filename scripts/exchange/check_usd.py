"""Validates the USD layer and compares all arrays with the run. Arguments: RUN LAYER."""

import pathlib
import sys

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdUtils

from frames import Run, same


def validate(path):
    """Runs all validators of usd-core."""
    try:
        from pxr import UsdValidation

        registry = UsdValidation.ValidationRegistry()
        validators = registry.GetOrLoadAllValidators()
        stage = Usd.Stage.Open(path)
        context = UsdValidation.ValidationContext(validators)
        errors = context.Validate(stage)
        seen = [f"{e.GetName()}: {e.GetMessage()}" for e in errors]
        assert len(validators) > 10, f"only {len(validators)} validators"
    except ImportError:
        checker = UsdUtils.ComplianceChecker()
        checker.CheckCompliance(path)
        seen = checker.GetErrors() + checker.GetFailedChecks()
        validators = "the compliance checker's"
    assert not seen, "\n".join(str(s) for s in seen)
    return len(validators) if not isinstance(validators, str) else validators


def check_points(stage, run):
    """The drops as points have the ids, places and sizes of the measures."""
    points = UsdGeom.Points(stage.GetPrimAtPath("/World/Drops"))
    assert points.GetPurposeAttr().Get() == "guide" and points.GetWidthsInterpolation() == "vertex"
    for number in run.numbers:
        drops = run.measures[number]["drops"]
        same(f"ids {number}", np.array(points.GetIdsAttr().Get(number)), [d["id"] for d in drops])
        if not drops:
            continue
        same(f"centroids {number}", np.array(points.GetPointsAttr().Get(number)), [d["centroid"] for d in drops], 1e-7)
        volumes = np.pi / 6 * np.array(points.GetWidthsAttr().Get(number), np.float64) ** 3
        same(f"sizes {number}", volumes / [d["volume"] for d in drops], np.ones(len(drops)), 1e-5)
        normals = np.array(points.GetNormalsAttr().Get(number))
        same(f"normals {number}", np.linalg.norm(normals, axis=1), np.ones(len(drops)), 1e-5)
        extent = np.array(points.GetExtentAttr().Get(number))
        expected = UsdGeom.Points.ComputeExtent(points.GetPointsAttr().Get(number), points.GetWidthsAttr().Get(number))
        same(f"extent of drops {number}", extent, np.array(expected), 1e-7)


def main():
    run, path = Run(sys.argv[1]), sys.argv[2]
    rules = validate(path)
    stage = Usd.Stage.Open(path)
    assert stage.GetDefaultPrim().GetPath() == "/World"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0 and UsdGeom.GetStageUpAxis(stage) == "Y"
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (run.numbers[0], run.numbers[-1])
    interval = run.measures[1]["time"] - run.measures[0]["time"]
    assert abs(stage.GetTimeCodesPerSecond() * interval - 1) < 1e-9, stage.GetTimeCodesPerSecond()
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Liquid"))
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert len(mesh.GetPointsAttr().GetTimeSamples()) == len(run.numbers)
    drops = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("drop")
    assert drops.GetInterpolation() == "vertex"
    for number, frame in run:
        points = np.array(mesh.GetPointsAttr().Get(number)).reshape(-1, 3)
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get(number))
        indices = np.array(mesh.GetFaceVertexIndicesAttr().Get(number))
        same(f"points {number}", points, frame.points)
        same(f"velocities {number}", np.array(mesh.GetVelocitiesAttr().Get(number)).reshape(-1, 3), frame.velocities)
        same(f"indices {number}", indices.reshape(-1, 3), frame.triangles)
        same(f"drops {number}", np.array(drops.Get(number)), frame.drops)
        valid, why = UsdGeom.Mesh.ValidateTopology(mesh.GetFaceVertexIndicesAttr().Get(number), mesh.GetFaceVertexCountsAttr().Get(number), len(points))
        assert valid, f"frame {number}: {why}"
        assert (counts == 3).all()
        extent = np.array(mesh.GetExtentAttr().Get(number))
        expected = np.array(UsdGeom.PointBased.ComputeExtent(mesh.GetPointsAttr().Get(number)))
        if len(points):
            same(f"extent {number}", extent, expected)
    check_points(stage, run)
    material, _ = UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial()
    shader = material.ComputeSurfaceSource()[0]
    assert shader.GetIdAttr().Get() == "UsdPreviewSurface"
    ior = shader.GetInput("ior").Get()
    assert 1.2 < ior < 1.6, ior
    over = Usd.Stage.Open(str(pathlib.Path(path + ".files") / "materialx.usda"))
    assert UsdShade.Material(over.GetPrimAtPath("/World/Looks/Water")).GetSurfaceOutput("mtlx").HasConnectedSource()
    assert UsdGeom.Mesh(over.GetPrimAtPath("/World/Liquid")).GetPointsAttr().GetNumTimeSamples() == len(run.numbers)
    wet, images = 0, 0
    for prim in stage.GetPrimAtPath("/World/Solids").GetChildren():
        solid = UsdGeom.Mesh(prim)
        st = UsdGeom.PrimvarsAPI(solid).GetPrimvar("st")
        assert st and len(st.Get()) == len(solid.GetFaceVertexIndicesAttr().Get()), prim
        bound, _ = UsdShade.MaterialBindingAPI(solid).ComputeBoundMaterial()
        assert bound, f"{prim.GetPath()} has no material"
        for child in bound.GetPrim().GetChildren():
            file = UsdShade.Shader(child).GetInput("file")
            if file:
                for time in file.GetAttr().GetTimeSamples() or [Usd.TimeCode.Default()]:
                    asset = file.Get(time)
                    assert asset.resolvedPath, f"{asset.path} is missing"
                    images += 1
                wet += child.GetName() == "Wetness"
    expected = len(list((run.path / "wet").glob("*"))) if (run.path / "wet").is_dir() else 0
    assert wet == expected, f"{wet} solids with wet maps, {expected} expected"
    camera = UsdGeom.Camera(stage.GetPrimAtPath("/World/Camera")).GetCamera(run.numbers[0])
    frustum = camera.frustum
    box = Gf.Range3d(*[Gf.Vec3d(*map(float, p)) for p in (run.frame(run.numbers[0]).points.min(0), run.frame(run.numbers[0]).points.max(0))])
    assert frustum.Intersects(Gf.BBox3d(box)), "the camera does not see the drops"
    size = sum(len(f.triangles) for _, f in run)
    print(f"usd: {len(run.numbers)} frames, {size} triangles equal; {rules} validators, no error; {wet} wet maps, {images} images")


main()
