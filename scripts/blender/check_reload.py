"""Opens the baked file elsewhere, in a process without the extension, as a render farm does. Arguments: BLEND PICTURE."""

import os
import sys

import bpy
import numpy as np


def main():
    bpy.ops.wm.open_mainfile(filepath=os.path.abspath(sys.argv[1]))
    scene = bpy.context.scene
    assert not hasattr(bpy.types.Scene, "sessile"), "the extension is on"
    liquid = bpy.data.objects["Sessile Liquid"]
    counts, heights = set(), []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        mesh = liquid.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        counts.add(len(mesh.vertices))
        heights.append(max((liquid.matrix_world @ v.co).z for v in mesh.vertices))
    assert max(heights) - min(heights) > 1e-4, f"the drop does not move: {heights}"
    for data in [*bpy.data.cache_files, *(image for image in bpy.data.images if image.source == "SEQUENCE")]:
        assert data.filepath.startswith("//"), data.filepath
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 48, True
    scene.render.resolution_x, scene.render.resolution_y = 320, 180
    scene.render.resolution_percentage = 100
    scene.frame_set(scene.frame_end)
    seen = render(scene, os.path.abspath(sys.argv[2]))
    liquid.hide_render = True
    change = np.abs(seen - render(scene, os.path.abspath("dry.png"))).mean(2)
    assert (change > 0.02).mean() > 0.01, f"the drop is not in the picture: {change.max()}"
    without_cache(sys.argv[1])
    print(f"blender: opened without the extension; {len(counts)} topologies; the drop covers {100 * (change > 0.02).mean():.0f} %")


def without_cache(blend):
    """Without the folder the file opens, plays and renders; the drops are missing."""
    blend = os.path.abspath(blend)
    folder = os.path.splitext(blend)[0] + "_sessile"
    os.rename(folder, folder + "-gone")
    bpy.ops.wm.open_mainfile(filepath=blend)
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x, scene.render.resolution_y = 32, 18
    for frame in (scene.frame_start, scene.frame_end):
        scene.frame_set(frame)
    render(scene, os.path.abspath("without.png"))
    os.rename(folder + "-gone", folder)


def render(scene, path):
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(path)
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    return pixels.reshape(image.size[1], image.size[0], -1)[::-1, :, :3]


main()
