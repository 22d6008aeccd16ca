"""Renders a frame with POV-Ray with and without its drops; only pixels with drops may change noticeably.

With `blob`, drops must be blobs, not meshes. Arguments: RUN FOLDER FRAME SCRATCH [blob].
"""

import pathlib
import re
import subprocess
import sys

import numpy as np
from PIL import Image

from frames import Run

WIDTH, HEIGHT = 240, 180


def render(folder, scene, picture):
    command = ["povray", f"+I{scene}", f"+O{picture}", f"+W{WIDTH}", f"+H{HEIGHT}", "-D", "-A", "+WT1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return np.asarray(Image.open(picture).convert("RGB"), np.float64) / 255


def number_list(text):
    return [float(x) for x in text.split(",")]


def main():
    run, folder, number, scratch = Run(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    text = (folder / f"{number:05}.pov").read_text()
    blobs = "blob {" in text
    assert blobs == (len(sys.argv) > 5), f"blobs: {blobs}"
    # The liquid comes last in the file.
    start = text.index("\n// drop") if blobs else text.rindex("\nobject {")
    (folder / "dry.pov").write_text(text[:start])
    wet, dry = (render(folder, s, scratch / f"{s}.png") for s in (f"{number:05}.pov", "dry.pov"))
    (folder / "dry.pov").unlink()
    change = np.abs(wet - dry).mean(2)
    camera = {key: number_list(re.search(rf"{key} <([^>]*)>", text).group(1)) for key in ("location", "look_at")}
    across = np.radians(float(re.search(r"angle ([0-9.]+)", text).group(1)))
    eye, target = (np.array(camera[k]) * 1e-5 for k in ("location", "look_at"))
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, [0, 1, 0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    p = run.frame(number).points - eye
    depth = p @ forward
    half = np.tan(across / 2)
    x = (0.5 + 0.5 * (p @ right) / depth / half) * WIDTH
    y = (0.5 - 0.5 * (p @ up) / depth / (half * HEIGHT / WIDTH)) * HEIGHT
    seen = (depth > 0) & (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
    assert seen.any(), "no drop is in the image"
    inside = np.zeros((HEIGHT, WIDTH), bool)
    inside[y[seen].astype(int), x[seen].astype(int)] = True
    near, far = change[inside].mean(), np.median(change[~inside])
    assert near > 3 * far + 0.005, f"drops change their pixels by {near}, others change by {far}"
    # The animation renders every exported frame.
    done = subprocess.run(["povray", "animation.ini", "+W48", "+H36", "-D", "-A", "+WT1"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    scenes, pictures = len(list(folder.glob("[0-9]*.pov"))), len(list(folder.glob("picture*.png")))
    assert scenes == pictures > 0, f"{pictures} images of {scenes} frames"
    print(f"povray: renders {'blobs' if blobs else 'a mesh'}; drops change their pixels by {near:.3f}, others by {far:.3f}")


main()
