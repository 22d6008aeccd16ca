"""Objects that change their shape: shape keys, armatures and modifiers carry drops in `droplet` and `surface`.

Argument: FOLDER for the files.
"""

import math
import os
import sys

import bpy
import numpy as np

import shot

FIRST, LAST = 1001, 1013
RISE = 0.003


def by_shape_key(sheet):
    """It rises by a shape key."""
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += RISE
    for frame, value in ((FIRST, 0.0), (LAST, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def by_armature(sheet):
    """One bone holds all of it and is raised; the object itself rests."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 0.01)
    bpy.ops.object.mode_set(mode="OBJECT")
    sheet.vertex_groups.new(name="Bone").add(range(len(sheet.data.vertices)), 1.0, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    # The bone's y axis points up.
    for frame, height in ((FIRST, 0.0), (LAST, RISE)):
        rig.pose.bones["Bone"].location = (0, height, 0)
        rig.pose.bones["Bone"].keyframe_insert("location", frame=frame)


def by_modifier(sheet):
    """A hook displaces it; nothing of the mesh itself is animated."""
    displace = sheet.modifiers.new("Displace", "DISPLACE")
    displace.direction, displace.mid_level = "Z", 0.0
    for frame, strength in ((FIRST, 0.0), (LAST, RISE)):
        displace.strength = strength
        displace.keyframe_insert("strength", frame=frame)


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    for model in ("droplet", "surface"):
        for deform in (by_shape_key, by_armature, by_modifier):
            rise = carried(folder, model, deform)
            print(f"blender: {model}: a drop rises by {1e3 * rise:.2f} mm on a sheet that does so {deform.__name__}")
    bent(folder)
    between_keys(folder)
    refusals(folder)


def carried(folder, model, deform):
    """A drop on a sheet that rises: it stays on the sheet. Returns how far it rose."""
    name = f"{model}-{deform.__name__}"
    scene = shot.fresh(os.path.join(folder, f"{name}.blend"), FIRST, LAST, slow_motion=2.0, model=model, resolution=0.0004)
    sheet = shot.grid("Sheet")
    deform(sheet)
    shot.drop((0.0, 0.0, 0.00095))
    run = shot.bake()
    (solid,) = shot.solids_of(run)
    assert len(solid["deform"]) == LAST - FIRST + 1 and not solid.get("motion"), solid
    lows = []
    for frame in (FIRST, FIRST + 6, LAST):
        points, _ = shot.shown(scene, frame)
        height = shot.surface(sheet, frame)[:, 2].mean()
        lows.append(points[:, 2].min())
        off = points[:, 2].min() - height
        assert abs(off) < 1.5e-4, f"{name}, frame {frame}: the drop is {1e3 * off:.3f} mm off the sheet"
    volumes = [drop["volume"] for frame in run for drop in frame.measures["drops"]]
    assert np.ptp(volumes) < 1e-3 * volumes[0], f"{name}: the volume varies"
    return lows[-1] - lows[0]


def bent(folder):
    """A sheet that bends until it is steep: its drop slides down."""
    scene = shot.fresh(os.path.join(folder, "bent.blend"), FIRST, LAST, fps=25, model="droplet")
    sheet = shot.grid("Sheet", size=0.06, cells=24, material="glass")
    bend = sheet.modifiers.new("Bend", "SIMPLE_DEFORM")
    bend.deform_method, bend.deform_axis = "BEND", "Y"
    for frame, angle in ((FIRST, 0.0), (LAST, math.radians(120))):
        bend.angle = angle
        bend.keyframe_insert("angle", frame=frame)
    shot.drop((0.018, 0.0, 0.0027), radius=0.0028)
    run = shot.bake()
    first, last = (np.array(run.frame(k).measures["drops"][0]["centroid"]) for k in (0, -1))
    assert np.linalg.norm(last - first) > 2e-3, f"it moves by {1e3 * np.linalg.norm(last - first):.2f} mm"
    print(f"blender: on a sheet that bends, a drop moves by {1e3 * np.linalg.norm(last - first):.1f} mm")
    del scene


def between_keys(folder):
    """A shape that differs only between the first, the middle and the last frame is noticed."""
    scene = shot.fresh(os.path.join(folder, "between.blend"), FIRST, LAST, model="droplet")
    sheet = shot.grid("Sheet")
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.0005
    middle = (FIRST + LAST) // 2
    for frame in (FIRST, middle, LAST):
        key.value = 0.0
        key.keyframe_insert("value", frame=frame)
        key.value = 1.0
        key.keyframe_insert("value", frame=frame + 2)
    shot.drop((0.0, 0.0, 0.00095))
    (solid,) = shot.solids_of(shot.bake())
    assert len(solid["deform"]) == LAST - FIRST + 1, "the motion between the keys is lost"
    del scene


def refusals(folder):
    """Changing topology, volumes, and a sheet that passes through itself: a message or a run, never a crash."""
    scene = shot.fresh(os.path.join(folder, "refused.blend"), FIRST, LAST, model="droplet")
    sheet = shot.grid("Sheet")
    shot.drop((0.0, 0.0, 0.00095))
    build = sheet.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = FIRST - 4, 12
    print("blender: refused:", shot.refused("topology", str(FIRST + 1)))
    sheet.modifiers.clear()
    scene.sessile.model = "volume"
    by_shape_key(sheet)
    print("blender: refused:", shot.refused("volume model", "droplet"))
    scene.sessile.model = "droplet"
    # Each half folds through the other.
    for key_block in sheet.data.shape_keys.key_blocks[1:]:
        for point in key_block.data:
            point.co.x, point.co.z = -point.co.x, point.co.z + 0.5 * point.co.x
    try:
        run = shot.bake()
        print(f"blender: a sheet that passes through itself is simulated ({run.status})")
    except (RuntimeError, AssertionError) as error:
        print("blender: a sheet that passes through itself:", str(error).strip().splitlines()[0])


main()
