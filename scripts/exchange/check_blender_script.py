"""Runs the exported Blender script and renders one frame.

The liquid must be animated and visible in the image. Arguments: RUN SCRIPT IMAGE [SAMPLES].
"""

import runpy
import sys
import warnings

import bpy
import numpy as np

from frames import Run


def pixels(path):
    image = bpy.data.images.load(path)
    values = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(values)
    return values.reshape(image.size[1], image.size[0], -1)[::-1, :, :3]


def render(scene, path):
    scene.render.filepath = path
    scene.render.image_settings.file_format = "PNG"
    bpy.ops.render.render(write_still=True)
    return pixels(path)


def check_saved_file(script, blend, settings):
    """In a saved file a collection is added, and nothing else changes."""
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    scene = bpy.context.scene

    def state():
        render = scene.render
        return (
            scene.camera, scene.world, scene.frame_start, scene.frame_end, render.fps, render.resolution_x, render.engine,
            scene.view_settings.view_transform, scene.view_settings.exposure,
        )  # fmt: skip

    before, objects, scenes = state(), {o.name for o in scene.objects}, len(bpy.data.scenes)
    runpy.run_path(script, run_name="__main__")
    assert state() == before and len(bpy.data.scenes) == scenes, (before, state())
    added = {o.name for o in scene.objects} - objects
    assert objects <= {o.name for o in scene.objects} and any(name.startswith("Liquid") for name in added), added
    assert any(c.name.startswith(settings["title"][:40]) for c in scene.collection.children)
    lights = [c for c in scene.collection.children_recursive if c.name.split(".")[0].endswith(" lights")]
    assert lights and all(c.hide_render for c in lights), "the lights of the run are on"


def main():
    run, script, picture = Run(sys.argv[1]), sys.argv[2], sys.argv[3]
    warnings.simplefilter("error", DeprecationWarning)
    before = {o.name for o in bpy.data.objects}
    settings = runpy.run_path(script, run_name="__main__")["SETTINGS"]
    scene = bpy.context.scene
    assert before and before <= {o.name for o in bpy.data.objects}, "the open file has lost objects"
    assert not before & {o.name for o in scene.objects}, "the startup objects are in the picture"
    assert scene.collection.children[0].name.startswith(settings["title"][:40])
    assert scene.render.engine == "CYCLES" and scene.camera and scene.render.use_motion_blur
    assert (scene.frame_start, scene.frame_end) == (run.numbers[0], run.numbers[-1])
    liquid = next(o for o in bpy.data.objects if o.name.startswith("Liquid") and o.type == "MESH")
    water = liquid.data.materials[0].node_tree.nodes["Principled BSDF"]
    assert water.inputs["Transmission Weight"].default_value == 1.0 and 1.2 < water.inputs["IOR"].default_value < 1.6
    for number in (run.numbers[0], run.numbers[-1]):
        scene.frame_set(number)
        mesh = liquid.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        frame = run.frame(number)
        assert len(mesh.vertices) == len(frame.points), f"frame {number}"
        # Motion blur is as long as the way between two frames of the film.
        velocities = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.attributes["velocity"].data.foreach_get("vector", velocities)
        fastest = np.linalg.norm(velocities.reshape(-1, 3), axis=1).max(initial=0.0)
        expected = np.linalg.norm(frame.velocities, axis=1).max(initial=0.0)
        expected *= settings["seconds_per_frame"] * settings["fps"]
        assert abs(fastest - expected) <= 1e-4 * expected, f"frame {number}: {fastest} m/s of film, not {expected}"
    scene.cycles.samples = int(sys.argv[4]) if len(sys.argv) > 4 else 16
    scene.cycles.use_denoising = False
    scene.render.resolution_percentage = 50
    with_drops = render(scene, picture)
    liquid.hide_render = True
    without = render(scene, picture.replace(".png", "-dry.png"))
    # Pixels with drops must change when the drops are removed: project the points of the drops to the image.
    from bpy_extras.object_utils import world_to_camera_view
    import mathutils

    height, width, _ = with_drops.shape
    change = np.abs(with_drops - without).mean(2)
    inside = np.zeros((height, width), bool)
    for p in run.frame(run.numbers[-1]).points:
        place = world_to_camera_view(scene, scene.camera, mathutils.Vector((p[0], -p[2], p[1])))
        x, y = int(place.x * width), int((1 - place.y) * height)
        if 0 <= x < width and 0 <= y < height:
            inside[y, x] = True
    assert inside.any(), "no drop is in the image"
    near, far = change[inside].mean(), np.median(change[~inside])
    assert near > 2 * far + 0.002, f"drops change their pixels by {near}, others change by {far}"
    check_saved_file(script, picture.replace(".png", ".blend"), settings)
    print(f"blender: the script runs and renders; drops change their pixels by {near:.3f}, others by {far:.3f}")


main()
