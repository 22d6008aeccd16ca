"""What must not go wrong: a full disk, an unwritable folder, a killed simulation, a solid that passes through itself or
changes its faces, a missing image. Argument: FOLDER for the files."""

import os
import shutil
import signal
import subprocess
import sys

import bpy

import shot

FIRST, LAST = 1001, 1040


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    scene = shot.fresh(os.path.join(folder, "faults.blend"), FIRST, LAST, slow_motion=20.0, model="surface", resolution=0.0003)
    bpy.ops.mesh.primitive_cube_add(size=0.02, location=(0, 0, -0.01))
    shot.solid(bpy.context.object, "Table")
    shot.drop((0, 0, 0.0012))
    killed(scene)
    full_disk(scene, folder)
    print("blender: unwritable:", unwritable(scene))
    passing_through_itself(folder)
    missing_image(folder)
    changing_faces(folder)


def killed(scene):
    """A simulation that is killed is reported; the next bake continues from its checkpoint or begins anew."""
    message = shot.interfere(
        scene, 3, lambda job: job._process.send_signal(signal.SIGKILL), lambda: shot.refused("simulation failed", "resumes")
    )
    assert scene.sessile.status == "Failed", scene.sessile.status
    run = shot.bake()
    assert len(run) == LAST - FIRST + 1
    print("blender: killed:", message, "- and baked again")


def full_disk(scene, folder):
    """On a full disk the message says so; with room again the bake resumes."""
    small = os.path.join(folder, "small")
    os.makedirs(small, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", small], capture_output=True)
    if mounted.returncode != 0:
        print("blender: no disk of 300 kilobytes can be mounted here")
        return
    try:
        scene.sessile.folder = small
        message = shot.refused("space")
        done = len(os.listdir(os.path.join(small, "run", "frames")))
        assert done > 0, "nothing is left"
        subprocess.run(["mount", "-o", "remount,size=200m", small], check=True)
        run = shot.bake()
        assert len(run) == LAST - FIRST + 1
        print(f"blender: full disk after {done} frames: {message}; with room again it is done ({run.info['resumes']} resumed)")
        assert len(shot.shown(scene, FIRST + 2)[0]) == len(run.frame(2).vertices)
    finally:
        scene.sessile.folder = ""
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        subprocess.run(["umount", "-l", small])


def sheet_with_drop(folder, name):
    scene = shot.fresh(os.path.join(folder, f"{name}.blend"), FIRST, FIRST + 12, model="droplet")
    sheet = shot.grid("Sheet")
    shot.drop((0, 0, 0.00095))
    return scene, sheet


def passing_through_itself(folder):
    """One half of a sheet folds through the other: a warning with the frame, in the estimate and in the bake."""
    scene, sheet = sheet_with_drop(folder, "folded")
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Folded")
    for point in key.data:
        if point.co.x > 0.001:
            point.co.x, point.co.z = 0.002 - point.co.x, 0.5 * (point.co.x - 0.009)
    for frame, value in ((FIRST, 0.0), (FIRST + 6, 0.0), (FIRST + 12, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    assert bpy.ops.sessile.estimate() == {"FINISHED"}
    (warning,) = [line for line in scene.sessile.warnings.splitlines() if "intersects itself" in line]
    frame = int(warning.split("in frame ")[1].split()[0])
    assert "`Sheet`" in warning and FIRST + 6 < frame <= FIRST + 12, warning
    scene.sessile.warnings = ""
    run = shot.bake()
    assert len(run) == 13 and warning in scene.sessile.warnings.splitlines(), scene.sessile.warnings
    print("blender: passes through itself:", warning)


def missing_image(folder):
    """A material of a solid whose image file is gone: a warning, and the bake continues."""
    scene, sheet = sheet_with_drop(folder, "imageless")
    file = os.path.join(folder, "oak.png")
    image = bpy.data.images.new("oak", 4, 4)
    image.filepath_raw, image.file_format = file, "PNG"
    image.save()
    bpy.data.images.remove(image)
    material = bpy.data.materials.new("Oak")
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    material.node_tree.nodes.new("ShaderNodeTexImage").image = bpy.data.images.load(file)
    sheet.data.materials.append(material)
    assert bpy.ops.sessile.estimate() == {"FINISHED"}
    assert "oak" not in scene.sessile.warnings, scene.sessile.warnings
    os.remove(file)
    assert len(shot.bake()) == 13
    (warning,) = [line for line in scene.sessile.warnings.splitlines() if "oak.png was not found" in line]
    print("blender: missing image:", warning.replace(folder, "..."))


def changing_faces(folder):
    """Refused with the frame; the bake before it stays."""
    scene, sheet = sheet_with_drop(folder, "building")
    shot.bake()
    kept = os.path.join(shot.part("setup").folder_of(scene), "run", "run.json")
    build = sheet.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = FIRST - 4, 12
    message = shot.refused("topology", str(FIRST + 1))
    assert os.path.exists(kept), "the last bake is gone"
    print("blender: changing faces:", message)


def unwritable(scene):
    """A cache folder that is a file."""
    del scene
    shot.enable()
    here = shot.fresh("plain.blend", FIRST, LAST)
    shot.grid("Sheet")
    shot.drop((0, 0, 0.00095))
    with open("taken", "w", encoding="ascii") as file:
        file.write("a file")
    here.sessile.folder = os.path.abspath("taken")
    message = shot.refused("Cannot write", "taken")
    shutil.rmtree("plain_sessile", ignore_errors=True)
    return message


main()
