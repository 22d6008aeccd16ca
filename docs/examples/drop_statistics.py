"""Statistics of drops in a folder of masks: coverage, number and diameters. Needs NumPy and Pillow.

    python drop_statistics.py FOLDER       masks (white: drops), or the folder of a dataset of `sessile dataset`

Of a dataset it takes the pixels of coverage.png that drops cover by more than half.
"""

import pathlib
import sys

import numpy
from PIL import Image


def regions(mask):
    """Areas of the connected regions of a mask, in pixels; neighbors share an edge."""
    parent, area, above = [], [], []

    def root(region):
        while parent[region] != region:
            parent[region] = parent[parent[region]]
            region = parent[region]
        return region

    for row in mask:
        edges = numpy.flatnonzero(numpy.diff(numpy.concatenate(([0], row, [0]))))
        runs = []
        for start, end in zip(edges[::2], edges[1::2]):
            region = len(parent)
            parent.append(region)
            area.append(end - start)
            for other_start, other_end, other in above:
                if other_start < end and start < other_end and (found := root(other)) != (own := root(region)):
                    parent[found] = own
                    area[own] += area[found]
            runs.append((start, end, region))
        above = runs
    return [size for region, size in enumerate(area) if parent[region] == region]


def main():
    folder = pathlib.Path(sys.argv[1])
    files = sorted(folder.glob("samples/*/coverage.png")) or sorted(folder.rglob("*.png"))
    coverage, number, diameters = [], [], []
    for file in files:
        mask = (numpy.asarray(Image.open(file).convert("L")) > 127).astype(numpy.int8)
        sizes = regions(mask)
        coverage.append(mask.mean())
        number.append(len(sizes))
        diameters += [2 * (size / numpy.pi) ** 0.5 / mask.shape[0] for size in sizes if size >= 4]
    print(f"{len(files)} masks")
    print(f"coverage: mean {100 * numpy.mean(coverage):.1f} %, quartiles "
          + ", ".join(f"{100 * q:.1f} %" for q in numpy.quantile(coverage, [0.25, 0.5, 0.75])))
    print(f"regions per mask: mean {numpy.mean(number):.0f}")
    print("diameters, in % of the image's height, at 5, 25, 50, 75, 95 %: "
          + ", ".join(f"{100 * q:.1f}" for q in numpy.quantile(diameters, [0.05, 0.25, 0.5, 0.75, 0.95])))


if __name__ == "__main__":
    main()
