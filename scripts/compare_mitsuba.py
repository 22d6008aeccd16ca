"""Renders the drop on a checkerboard with Mitsuba 3 and compares it with our image: OURS.exr SIZE SAMPLES [FOLDER].

Differences of single pixels are mostly Mitsuba's noise, so 4 x 4 pixels are averaged. Exits with 1 above 2 %.
"""

import math
import sys

import mitsuba as mi
import numpy as np

mi.set_variant("scalar_rgb")
LIMIT = 0.02
RINGS, COLUMNS, SUNK = 36, 72, 0.02


def cap():
    """A hemisphere with exact normals, and a wall that extends below the plane."""
    mesh_points = [(0.0, 1.0, 0.0)]
    normals = [(0.0, 1.0, 0.0)]
    for i in range(1, RINGS + 2):
        polar = 0.5 * math.pi * min(i, RINGS) / RINGS
        for j in range(COLUMNS):
            turn = 2.0 * math.pi * j / COLUMNS
            x, z = math.sin(polar) * math.sin(turn), math.sin(polar) * math.cos(turn)
            y = -SUNK if i > RINGS else (0.0 if i == RINGS else math.cos(polar))
            mesh_points.append((x, y, z))
            normals.append((x, max(y, 0.0), z))
    vertex = lambda i, j: 1 + (i - 1) * COLUMNS + j % COLUMNS
    faces = []
    for j in range(COLUMNS):
        faces.append((0, vertex(1, j), vertex(1, j + 1)))
        for i in range(1, RINGS + 1):
            a, b, c, d = vertex(i, j), vertex(i, j + 1), vertex(i + 1, j + 1), vertex(i + 1, j)
            faces += [(a, d, c), (a, c, b)]
    properties = mi.Properties()
    properties["bsdf"] = mi.load_dict({"type": "dielectric", "int_ior": 1.33, "ext_ior": 1.0})
    mesh = mi.Mesh("cap", len(mesh_points), len(faces), has_vertex_normals=True, props=properties)
    parameters = mi.traverse(mesh)
    parameters["vertex_positions"] = np.ravel(np.array(mesh_points, np.float32))
    parameters["vertex_normals"] = np.ravel(np.array(normals, np.float32))
    parameters["faces"] = np.ravel(np.array(faces, np.uint32))
    parameters.update()
    return mesh


def light_axes(normal):
    """Two sides of the area light, as crates/appearance/src/lights.rs turns it."""
    x, y, z = normal
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([1.0 + sign * x * x * a, sign * b, -sign * x]), np.array([b, sign + y * y * a, -y])


def scene(size):
    transform = mi.ScalarTransform4f
    center = np.array([3.0, 5.0, -2.0])
    normal = -center / np.linalg.norm(center)
    side, other = light_axes(normal)
    placed = np.eye(4)
    placed[:3, 0], placed[:3, 1], placed[:3, 2], placed[:3, 3] = 0.25 * side, 0.25 * other, normal, center
    color = lambda r, g, b: {"type": "rgb", "value": [r, g, b]}
    return mi.load_dict({
        "type": "scene",
        "integrator": {"type": "path", "max_depth": 12},
        "sensor": {
            "type": "perspective",
            "fov": 35.0,
            "to_world": transform().look_at([0.0, 3.2, 5.5], [0.0, 0.3, -0.1], [0.0, 1.0, 0.0]),
            "film": {"type": "hdrfilm", "width": size, "height": size, "rfilter": {"type": "box"}},
            "sampler": {"type": "independent"},
        },
        "sky": {"type": "constant", "radiance": color(0.35, 0.42, 0.5)},
        "light": {
            "type": "rectangle",
            "to_world": transform(placed),
            "emitter": {"type": "area", "radiance": color(60.0, 60.0, 60.0)},
        },
        "table": {
            "type": "rectangle",
            "to_world": transform().rotate([1, 0, 0], -90).scale([8.0, 8.0, 1.0]),
            "bsdf": {
                "type": "diffuse",
                "reflectance": {
                    "type": "checkerboard",
                    "color0": color(0.55, 0.5, 0.42),
                    "color1": color(0.25, 0.3, 0.36),
                    "to_uv": transform().scale([20.0, 20.0, 1.0]),
                },
            },
        },
        "drop": cap(),
    })


def blocks(picture, side=4):
    height, width = (n - n % side for n in picture.shape[:2])
    cut = picture[:height, :width]
    return cut.reshape(height // side, side, width // side, side, 3).mean(axis=(1, 3))


def main():
    ours_path, size, samples = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    layers = mi.Bitmap(ours_path)
    names = [field.name for field in layers.struct_()]
    ours = np.array(layers, np.float32)[..., [names.index(name) for name in "RGB"]]
    theirs = np.array(mi.render(scene(size), spp=samples))[..., :3]
    if len(sys.argv) > 4 and sys.argv[4]:
        for name, picture in [("ours", ours), ("mitsuba", theirs)]:
            mi.util.write_bitmap(f"{sys.argv[4]}/{name}.png", picture)
            np.save(f"{sys.argv[4]}/{name}.npy", picture)
    a, b = blocks(ours), blocks(theirs)
    relative = np.abs(a - b) / b
    whole = ours.mean() / theirs.mean() - 1.0
    print(f"whole picture: {100 * whole:+.3f} %")
    print(f"mean relative difference of 4 x 4 pixels: {100 * relative.mean():.3f} % (median {100 * np.median(relative):.3f} %)")
    if relative.mean() > LIMIT or abs(whole) > LIMIT:
        sys.exit(f"above {100 * LIMIT} %")


if __name__ == "__main__":
    main()
