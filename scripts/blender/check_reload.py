"""Opens the baked file in a process without the extension and renders it. Argument: BLEND."""

import os
import sys

import bpy


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
    for data in bpy.data.cache_files:
        assert data.filepath.startswith("//"), data.filepath
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 4
    scene.render.resolution_x, scene.render.resolution_y = 64, 36
    scene.render.filepath = os.path.abspath("frame.png")
    bpy.ops.render.render(write_still=True)
    assert os.path.getsize("frame.png") > 500
    print(f"blender: the file opens without the extension; {len(counts)} topologies; it renders")


main()
