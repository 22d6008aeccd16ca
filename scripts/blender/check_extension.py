"""Installs the extension, bakes a falling drop on a moving plate, cancels, resumes, undoes. Arguments: ZIP BLEND."""

import os
import sys
import time
import types

import bpy
import numpy as np

import shot

FIRST, LAST = 1001, 1048


def main():
    archive, blend = map(os.path.abspath, sys.argv[1:3])
    bpy.ops.extensions.package_install_files(
        filepath=archive, repo="user_default", enable_on_install=True, overwrite=True
    )
    bpy.ops.wm.save_userpref()
    module = shot.enable()
    bpy.ops.mesh.primitive_cube_add(size=0.02, location=(0, 0, -0.01))
    table = shot.solid(bpy.context.object, "Table")
    table.keyframe_insert("location", frame=FIRST)
    table.location.x = 0.001
    table.keyframe_insert("location", frame=LAST)
    shot.drop((0, 0, 0.0012))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = FIRST, LAST, 24
    settings = scene.sessile
    settings.model, settings.resolution, settings.slow_motion = "surface", 0.00012, 10.0
    objects = {o.name for o in bpy.data.objects}

    # Without a file there is no place for the cache; the message says so.
    shot.refused("Save the file first")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    assert bpy.ops.sessile.estimate() == {"FINISHED"} and "memory" in settings.estimate, settings.estimate
    estimate = settings.estimate

    draw_panels()
    stopped = cancel_after(scene, 5)
    draw_panels()
    bake_modally(scene)
    assert objects <= {o.name for o in bpy.data.objects}, "an object of the file is gone"
    import sessile

    run = sessile.Run(os.path.join(shot.part("setup").folder_of(scene), "run"))
    assert run.info["resumes"] == 1, run.info["resumes"]
    assert len(run) == LAST - FIRST + 1 and run.scene.start_frame == FIRST
    check_frames(scene, run)
    # The plate moves by 1 mm and stays level.
    assert any(solid["motion"] for solid in shot.solids_of(run)), "the plate is at rest"
    for key in ("drop", "solid", "velocity"):
        mesh = shot.liquid_of(scene).evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        assert key in mesh.attributes, key
    check_contact(scene)
    check_again_and_undo(scene, run)
    # Undo has replaced the data.
    place_camera(bpy.context.scene)
    bpy.ops.wm.save_mainfile()
    module.unregister()
    module.register()
    print(f"blender: installs; {len(run)} frames from {FIRST}; estimated {estimate!r}; {stopped!r}, resumed")


class Layout:
    """Takes what a panel draws: properties and operators that do not exist are errors."""

    def __init__(self):
        self.drawn = []

    def prop(self, data, name, **_):
        self.drawn.append((name, getattr(data, name)))

    def operator(self, name, **_):
        group, operator = name.split(".")
        assert getattr(bpy.ops, group).__getattr__(operator).get_rna_type(), name

    def box(self):
        return self

    def label(self, **_):
        pass

    def progress(self, *, factor, text):
        assert 0.0 <= factor <= 1.0 and text, (factor, text)


def draw_panels():
    """Both panels draw, for every role."""
    panel = shot.part("panel")
    panels = [types.SimpleNamespace(layout=Layout()) for _ in range(2)]
    panel.SESSILE_PT_scene.draw(panels[0], bpy.context)
    assert len(panels[0].layout.drawn) >= 5
    obj = bpy.data.objects["Table"]
    context = types.SimpleNamespace(object=obj)
    material = bpy.data.materials.get("Slot") or bpy.data.materials.new("Slot")
    role, kept = obj.sessile.role, list(obj.data.materials)
    obj.data.materials.append(material)
    for name in ("NONE", "SOLID", "DROP", "DRIP", "PARTICLES", "RAIN"):
        obj.sessile.role = name
        for material.sessile.own in (False, True):
            panel.SESSILE_PT_object.draw(panels[1], context)
    obj.sessile.role = role
    obj.data.materials.clear()
    for one in kept:
        obj.data.materials.append(one)


def bake_modally(scene):
    """The operator as a window drives it, by timer events: the bake runs in the background to its end."""
    operators = shot.part("operators")
    kind = operators.SESSILE_OT_bake

    class Operator:
        reports = []
        begin, poll_job, finish, modal = kind.begin, kind.poll_job, kind.finish, kind.modal
        _notices, _scene = kind._notices, kind._scene

        def report(self, level, text):
            self.reports.append(text)

    class Windows:
        def event_timer_remove(self, timer):
            assert timer == "timer"

    operator, seen = Operator(), []
    context = types.SimpleNamespace(
        scene=scene, view_layer=bpy.context.view_layer, screen=None, window_manager=Windows(),
        evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
    )  # fmt: skip
    operator.begin(context)
    operator._timer = "timer"
    assert not kind.poll(context), "two bakes of one scene"
    outcome = {"PASS_THROUGH"}
    while outcome == {"PASS_THROUGH"}:
        draw_panels()
        seen.append(scene.sessile.progress)
        time.sleep(0.05)
        assert operator.modal(context, types.SimpleNamespace(type="MOUSEMOVE")) == {"PASS_THROUGH"}
        outcome = operator.modal(context, types.SimpleNamespace(type="TIMER"))
    assert outcome == {"FINISHED"} and scene.sessile.status == "Done" and operator.reports[-1] == "Done"
    assert seen == sorted(seen) and len(set(seen)) > 2, seen


def cancel_after(scene, frame):
    """Cancel as the user would, when a frame is done; return the status."""
    shot.interfere(scene, frame, lambda job: job.cancel(), bpy.ops.sessile.bake)
    status = scene.sessile.status
    assert status.startswith("Stopped at frame"), status
    return status


def check_frames(scene, run):
    for frame in run:
        points, velocities = shot.shown(scene, scene.frame_start + frame.number)
        assert len(points) == len(frame.vertices), (frame.number, len(points), len(frame.vertices))
        expected = frame.vertices[:, [0, 2, 1]] * [1, -1, 1]
        assert np.abs(points - expected).max() < 1e-6, f"frame {frame.number}: {np.abs(points - expected).max()} m off"
        fastest = np.linalg.norm(velocities, axis=1).max()
        wanted = np.linalg.norm(frame.velocities, axis=1).max() / scene.sessile.slow_motion
        assert abs(fastest - wanted) <= 1e-3 * wanted, (frame.number, fastest, wanted)


def check_contact(scene):
    """The faces of the drops on an opaque solid are left out; on a clear one they stay."""

    def on_solids():
        scene.frame_set(LAST)
        mesh = shot.liquid_of(scene).evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        solids = np.empty(len(mesh.polygons), np.int32)
        mesh.attributes["solid"].data.foreach_get("value", solids)
        return int((solids >= 0).sum()), len(solids)

    opaque, free = on_solids()
    glass = bpy.data.materials.new("Glass")
    if bpy.app.version < (5, 0, 0):
        glass.use_nodes = True
    glass.node_tree.nodes["Principled BSDF"].inputs["Transmission Weight"].default_value = 1.0
    table = bpy.data.objects["Table"]
    table.data.materials.append(glass)
    assert bpy.ops.sessile.bake() == {"FINISHED"}
    clear, whole = on_solids()
    table.data.materials.clear()
    assert bpy.ops.sessile.bake() == {"FINISHED"}
    assert opaque == 0 and clear > 10 and whole == free + clear, (opaque, free, clear, whole)
    assert on_solids() == (0, free)


def check_again_and_undo(scene, run):
    """A second bake adds nothing and computes nothing; undo and redo keep the file whole."""
    before = {o.name for o in bpy.data.objects}, {m.name for m in bpy.data.materials}, len(bpy.data.cache_files)
    steps = run.info["steps"]["count"]
    assert bpy.ops.sessile.bake() == {"FINISHED"}
    after = {o.name for o in bpy.data.objects}, {m.name for m in bpy.data.materials}, len(bpy.data.cache_files)
    assert before == after and run.info["steps"]["count"] == steps, (before, after)
    if not bpy.ops.ed.undo_push.poll():
        print("blender: undo is not available without a window")
        return
    bpy.ops.ed.undo_push(message="Baked")
    bpy.data.objects["Table"].location.y = 5.0
    bpy.data.objects.remove(shot.liquid_of(scene))
    bpy.ops.ed.undo_push(message="Removed")
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    assert len(shot.shown(scene, FIRST + 3)[0]) == len(run.frame(3).vertices), "undo does not bring the drops back"
    bpy.ops.ed.redo()
    assert bpy.ops.sessile.bake() == {"FINISHED"}
    assert len(shot.shown(bpy.context.scene, FIRST + 3)[0]) == len(run.frame(3).vertices)
    bpy.data.objects["Table"].location.y = 0.0


def place_camera(scene):
    """What a picture needs."""
    import mathutils

    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location = (0.012, -0.016, 0.009)
    camera.data.clip_start = 1e-4
    camera.rotation_euler = (mathutils.Vector((0, 0, 0)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.camera = camera
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "AREA"))
    light.data.size, light.data.energy = 0.02, 0.02
    light.location = (0.0, 0.01, 0.03)
    scene.collection.objects.link(light)
    scene.world = bpy.data.worlds.new("World")


main()
