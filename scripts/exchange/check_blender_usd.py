"""Compares the USD layer, as read by Blender, with the run. Arguments: RUN LAYER."""

import sys

import bpy
import numpy as np

from frames import Run


def evaluated(obj):
    """The object's points and triangles at the scene's current frame."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3), len(mesh.polygons), mesh


def main():
    run, path = Run(sys.argv[1]), sys.argv[2]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.usd_import(filepath=path)
    liquid = next(obj for obj in bpy.data.objects if obj.type == "MESH" and obj.name.startswith("Liquid"))
    assert any(m.type == "MESH_SEQUENCE_CACHE" for m in liquid.modifiers), "no animated mesh"
    assert any(obj.type == "CAMERA" for obj in bpy.data.objects), "no camera"
    assert liquid.active_material, "no material"
    changed, before = 0, None
    for number, frame in run:
        bpy.context.scene.frame_set(number)
        points, faces, mesh = evaluated(liquid)
        assert len(points) == len(frame.points) and faces == len(frame.triangles), f"frame {number}: {len(points)} points, {faces} faces"
        # Blender's z is up: (x, y, z) becomes (x, -z, y), in object coordinates or by the object's matrix.
        world = points @ np.array(liquid.matrix_world.to_3x3()).T
        turned = np.stack([frame.points[:, 0], -frame.points[:, 2], frame.points[:, 1]], 1)
        error = np.abs(world - turned).max() if len(points) else 0.0
        assert error < 1e-6, f"frame {number}: points off by {error} m"
        names = mesh.attributes.keys()
        assert "drop" in names and "velocity" in names, names
        changed += before is not None and (before.shape != points.shape or not np.array_equal(before, points))
        before = points
    assert changed > 0, "the mesh never changes"
    print(f"blender: usd opens, {len(run.numbers)} frames equal, the mesh changes {changed} times")


main()
