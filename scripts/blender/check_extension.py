"""Installs the extension, bakes a falling drop on a moving plate, cancels and resumes. Arguments: ZIP BLEND."""

import os
import sys
import threading
import time

import bpy


def main():
    archive, blend = map(os.path.abspath, sys.argv[1:3])
    bpy.ops.extensions.package_install_files(
        filepath=archive, repo="user_default", enable_on_install=True, overwrite=True
    )
    module = sys.modules["bl_ext.user_default.sessile"]
    operators = sys.modules["bl_ext.user_default.sessile.operators"]

    bpy.ops.mesh.primitive_cube_add(size=0.02, location=(0, 0, -0.01))
    table = bpy.context.object
    table.name = "Table"
    table.sessile.role, table.sessile.material = "SOLID", "wax"
    table.keyframe_insert("location", frame=1001)
    table.location.x = 0.001
    table.keyframe_insert("location", frame=1011)
    empty = bpy.data.objects.new("Drop", None)
    empty.location = (0, 0, 0.0012)
    empty.sessile.role, empty.sessile.radius = "DROP", 0.001
    scene = bpy.context.scene
    scene.collection.objects.link(empty)
    scene.frame_start, scene.frame_end, scene.render.fps = 1001, 1011, 25
    settings = scene.sessile
    settings.model, settings.resolution, settings.slow_motion = "surface", 0.0003, 10.0
    objects = {o.name for o in bpy.data.objects}

    # Without a file there is no place for the cache; the message says so.
    try:
        bpy.ops.sessile.bake()
        raise AssertionError("an unsaved file was baked")
    except RuntimeError as error:
        assert "Save the file first" in str(error), error
    bpy.ops.wm.save_as_mainfile(filepath=blend)

    # Cancel: a thread waits for the job, as the user would.
    def cancel():
        while operators.current(scene) is None:
            time.sleep(0.01)
        operators.current(scene).cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    bpy.ops.sessile.bake()
    canceller.join()
    assert settings.status.startswith(("Stopped", "Done")), settings.status
    stopped = settings.status

    assert bpy.ops.sessile.bake() == {"FINISHED"} and settings.status == "Done", settings.status
    assert objects <= {o.name for o in bpy.data.objects}, "an object of the file is gone"
    liquid = bpy.data.objects["Sessile Liquid"]
    import sessile

    folder = sys.modules["bl_ext.user_default.sessile.setup"].folder_of(scene)
    run = sessile.Run(os.path.join(folder, "run"))
    assert len(run) == 11 and run.scene.start_frame == 1001
    check_frames(scene, liquid, run)
    # The plate moves by 1 mm and stays level.
    assert any(solid["motion"] for solid in scene_of(run)), "the plate is at rest"
    bpy.ops.wm.save_mainfile()
    check_deforming(scene)
    module.unregister()
    module.register()
    print(f"blender: the extension installs, bakes 11 frames, cancels ({stopped!r}), resumes")


def check_deforming(scene):
    """A sheet with a shape key rises by 4 mm: the drop on it rises too; changing topology is refused."""
    import numpy as np
    import sessile

    setup = sys.modules["bl_ext.user_default.sessile.setup"]
    for obj in scene.objects:
        if hasattr(obj, "sessile"):
            obj.sessile.role = "NONE"
    bpy.ops.mesh.primitive_grid_add(size=0.03, x_subdivisions=8, y_subdivisions=8, location=(0.1, 0, 0))
    sheet = bpy.context.object
    sheet.name = "Sheet"
    sheet.sessile.role, sheet.sessile.material = "SOLID", "wax"
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.004
    key.value = 0.0
    key.keyframe_insert("value", frame=1001)
    key.value = 1.0
    key.keyframe_insert("value", frame=1011)
    empty = bpy.data.objects.new("On sheet", None)
    empty.location = (0.1, 0, 0.0012)
    empty.sessile.role, empty.sessile.radius = "DROP", 0.001
    scene.collection.objects.link(empty)
    scene.sessile.model, scene.sessile.slow_motion = "droplet", 1.0
    scene.sessile.folder = "//deforming"
    assert bpy.ops.sessile.bake() == {"FINISHED"} and scene.sessile.status == "Done", scene.sessile.status
    run = sessile.Run(os.path.join(setup.folder_of(scene), "run"))
    (solid,) = scene_of(run)
    assert len(solid["deform"]) == 11 and not solid.get("motion"), solid
    low, high = (np.asarray(run.frame(k).vertices)[:, 1].min() for k in (2, 10))
    assert 0.0025 < high - low < 0.0045, f"the drop rises by {1e3 * (high - low):.2f} mm"
    sheet.shape_key_clear()
    build = sheet.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = 1001, 8
    sheet.hide_render = False
    try:
        bpy.ops.sessile.bake()
        raise AssertionError("a changing topology was baked")
    except RuntimeError as error:
        assert "topology" in str(error) or "no faces" in str(error), error
    sheet.modifiers.clear()
    scene.sessile.folder = ""
    print(f"blender: a drop rises by {1e3 * (high - low):.2f} mm on a sheet that deforms by 4 mm")


def scene_of(run):
    import tomllib

    return tomllib.loads(run.scene.to_toml())["solids"]


def check_frames(scene, liquid, run):
    import numpy as np

    for frame in run:
        scene.frame_set(scene.frame_start + frame.number)
        evaluated = liquid.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = evaluated.data
        assert len(mesh.vertices) == len(frame.vertices), (frame.number, len(mesh.vertices), len(frame.vertices))
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        world = np.array(evaluated.matrix_world)
        points = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
        expected = frame.vertices[:, [0, 2, 1]] * [1, -1, 1]
        assert np.abs(points - expected).max() < 1e-6, f"frame {frame.number}: {np.abs(points - expected).max()} m off"
        speed = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.attributes["velocity"].data.foreach_get("vector", speed)
        fastest = np.linalg.norm(speed.reshape(-1, 3), axis=1).max()
        wanted = np.linalg.norm(frame.velocities, axis=1).max() / scene.sessile.slow_motion
        assert abs(fastest - wanted) <= 1e-3 * wanted, (frame.number, fastest, wanted)


main()
