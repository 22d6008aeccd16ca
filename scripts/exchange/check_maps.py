"""Compares height and normal maps of a window at the origin, facing +z, with the drops of the run. Arguments: RUN FOLDER."""

import json
import pathlib
import sys

import numpy as np
from PIL import Image

from frames import Run


def main():
    run, folder = Run(sys.argv[1]), pathlib.Path(sys.argv[2])
    description = json.loads((folder / "maps.json").read_text())
    (pane,) = description["panes"]
    assert (description["first_frame"], description["last_frame"]) == (run.numbers[0], run.numbers[-1])
    (width, height), size = pane["texels"], np.array(pane["size_m"])
    checked, texel = 0, size[0] / width
    for number, frame in run:
        heights = np.array(Image.open(folder / (pane["height"] % number))).astype(np.float64)
        heights *= pane["height_of_white_m"] / 65535
        normals = np.array(Image.open(folder / (pane["normal"] % number))).astype(np.float64) / 127.5 - 1
        assert heights.shape == (height, width) and normals.shape == (height, width, 3)
        assert np.abs(np.linalg.norm(normals, axis=2) - 1).max() < 0.02
        # Drops on the window; those that fly towards it are not in the maps.
        drops = [d for d in run.measures[number]["drops"] if d["on"] == "window"]
        expected = sum(d["volume"] for d in drops)
        reach = {d["id"]: np.abs(frame.points[frame.drops == d["id"], :2]).max(axis=0, initial=0) for d in drops}
        inside = sum(d["volume"] for d in drops if np.all(reach[d["id"]] <= size / 2))
        found = heights.sum() * size.prod() / heights.size
        # Drops that overlap before they merge are counted once, those that reach over the rim in part.
        volumes = f"frame {number}: {found * 1e9:.2f} uL, not {inside * 1e9:.2f} to {expected * 1e9:.2f}"
        assert 0.94 * inside <= found <= 1.02 * expected, volumes
        for drop in drops:
            points = frame.points[frame.drops == drop["id"]]
            top = points[points[:, 2].argmax()]
            column, row = np.floor((0.5 + top[:2] * [1, -1] / size) * [width, height]).astype(int)
            if not (0 <= column < width and 0 <= row < height):
                continue
            around = heights[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
            # A higher drop may be beside it, and the top between two texels.
            off = np.abs(around - top[2]).min()
            assert off < 0.05 * top[2] + 0.2 * texel, f"drop {drop['id']} of frame {number}: {off} m off {top[2]} m"
            checked += 1
        # Rims are lower than the step of the heights.
        tilted = np.abs(normals[heights == 0] - [0, 0, 1]).max(axis=1, initial=0) > 0.01
        assert tilted.mean() < 0.005, f"frame {number}: {tilted.mean()} of the dry texels are tilted"
        # On the upper side of a drop the normal points up the pane (v, green), on its right to the right (u, red).
        rows, columns = np.nonzero(heights > 0)
        if len(rows):
            down = np.gradient(heights, axis=0)[rows, columns]
            right = np.gradient(heights, axis=1)[rows, columns]
            assert np.corrcoef(down, normals[rows, columns, 1])[0, 1] > 0.5
            assert np.corrcoef(right, normals[rows, columns, 0])[0, 1] < -0.5
        if pane["wetness"]:
            assert Image.open(folder / (pane["wetness"] % number)).mode == "L"
    print(f"maps: {len(run.numbers)} frames of {width} x {height}, {checked} drops have their heights and volumes")


main()
