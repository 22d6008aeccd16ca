"""Exports 100 frames of 50 000 triangles to USD in less than 10 s, with memory independent of the number of frames.

Arguments: SESSILE RUN SCRATCH; the scene of RUN is used.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy as np

from frames import FACE, VERTEX


def make(like, folder, frames, side=158):
    """A torus of side x side x 2 triangles, with a different mesh in every second frame."""
    (folder / "frames").mkdir(parents=True)
    scene = re.sub(r"duration = .*", f'duration = "{20 * (frames - 1)} ms"', (like / "scene.toml").read_text())
    (folder / "scene.toml").write_text(re.sub(r"\nframe = .*", '\nframe = "20 ms"', scene))
    (folder / "run.json").write_text(json.dumps({**json.loads((like / "run.json").read_text()), "frames": frames}))
    (folder / "measure.jsonl").write_text("")
    i, j = (a.ravel() for a in np.meshgrid(np.arange(side), np.arange(side), indexing="ij"))
    at = lambda i, j: (i % side) * side + j % side
    triangles = np.concatenate([np.stack([at(i, j), at(i + 1, j), at(i + 1, j + 1)], 1), np.stack([at(i, j), at(i + 1, j + 1), at(i, j + 1)], 1)])
    random = np.random.default_rng(1)
    names = ["x", "y", "z", "vx", "vy", "vz"]
    for k in range(frames):
        a, b = 2 * np.pi * i / side, 2 * np.pi * j / side
        r = 0.003 + 0.0005 * np.sin(3 * a + 0.1 * k)
        vertices = np.zeros(side * side, VERTEX)
        vertices["p"] = np.stack([(0.01 + r * np.cos(b)) * np.cos(a), 0.02 + r * np.sin(b), (0.01 + r * np.cos(b)) * np.sin(a)], 1)
        vertices["v"], vertices["drop"] = random.normal(size=(side * side, 3)), 1
        faces = np.zeros(len(triangles), FACE)
        faces["n"], faces["solid"] = 3, -1
        faces["t"] = triangles[random.permutation(len(triangles))] if k % 2 else triangles
        head = f"ply\nformat binary_little_endian 1.0\ncomment frame {k}\ncomment time {0.02 * k} s\nelement vertex {side * side}\n"
        head += "".join(f"property float {n}\n" for n in names) + f"property int drop\nelement face {len(triangles)}\nproperty list uchar int vertex_indices\nproperty int solid\nend_header\n"
        (folder / "frames" / f"{k:05}.ply").write_bytes(head.encode() + vertices.tobytes() + faces.tobytes())
    return len(triangles)


def export(sessile, run, to, frames):
    begun = time.perf_counter()
    child = subprocess.Popen([sessile, "export", run, "--to", "usd", to, "--frames", f"0..{frames - 1}"])
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    sessile, like, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    run = scratch / "heavy"
    triangles = make(like, run, 100)
    _, _, few = export(sessile, run, scratch / "few.usdc", 10)
    wall, cpu, many = export(sessile, run, scratch / "many.usdc", 100)
    shutil.rmtree(run)
    assert wall < 10, f"{wall:.1f} s"
    assert many < few + 16, f"{few:.0f} MB for 10 frames, {many:.0f} MB for 100"
    print(f"speed: 100 frames of {triangles} triangles to USD in {wall:.2f} s ({cpu:.2f} s of CPU), {many:.0f} MB ({few:.0f} MB for 10 frames)")


main()
