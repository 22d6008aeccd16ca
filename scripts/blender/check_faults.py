"""What must not go wrong: a full disk, an unwritable folder, a killed simulation. Argument: FOLDER for the files."""

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
