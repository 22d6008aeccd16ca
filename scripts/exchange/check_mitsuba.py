"""Renders the export with Mitsuba and compares the image with ours.

Both are linear and in the same radiometric unit, without any scaling. Single pixels differ by noise, so blocks of 8 x 8
pixels are averaged. Arguments: SCENE.xml OURS.exr SAMPLES [FOLDER for both images].
"""

import sys

import mitsuba as mi
import numpy as np

mi.set_variant("scalar_rgb")
# Tolerances of the whole image and of the mean over blocks: noise at few samples, and slightly different coat models.
WHOLE, BLOCKS = 0.02, 0.06


def blocks(picture, side=8):
    height, width = (n - n % side for n in picture.shape[:2])
    cut = picture[:height, :width]
    return cut.reshape(height // side, side, width // side, side, 3).mean(axis=(1, 3))


def main():
    scene, ours_path, samples = sys.argv[1], sys.argv[2], int(sys.argv[3])
    layers = mi.Bitmap(ours_path)
    names = [field.name for field in layers.struct_()]
    ours = np.array(layers, np.float32)[..., [names.index(name) for name in "RGB"]]
    theirs = np.array(mi.render(mi.load_file(scene), spp=samples))[..., :3]
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    if len(sys.argv) > 4:
        for name, picture in [("ours", ours), ("mitsuba", theirs)]:
            mi.util.write_bitmap(f"{sys.argv[4]}/{name}.png", picture)
    a, b = blocks(ours), blocks(theirs)
    relative = np.abs(a - b) / (b + 0.02)
    whole = ours.mean() / theirs.mean() - 1.0
    assert abs(whole) < WHOLE, f"the whole image differs by {100 * whole:.2f} %"
    assert relative.mean() < BLOCKS, f"blocks differ by {100 * relative.mean():.2f} %"
    print(f"mitsuba: renders; the whole image differs by {100 * whole:+.2f} %, blocks by {100 * relative.mean():.2f} % (median {100 * np.median(relative):.2f} %)")


main()
