"""Normal maps on their way in and out: a plane with domes and a dent, lit from the left.

Blender exports the plane as glTF, USD and OBJ; each import is rendered by us, and each export of that run is rendered by
Blender (glTF, USD and the Blender script) or Mitsuba. In every image the domes are bright on their left and the dent is
bright on its right, and the image is like that of Blender's own plane.

Arguments: SESSILE FOLDER MITSUBA_PYTHON.
"""

import math
import pathlib
import subprocess
import sys

import bpy
import numpy as np
from mathutils import Vector

SIZE, WIDTH, HEIGHT = 256, 320, 240
# Center, radius and sign of height, over the plane from 0 to 1: the arrangement has no symmetry.
BUMPS = ((0.25, 0.7, 0.14, 1), (0.7, 0.75, 0.1, 1), (0.62, 0.3, 0.18, 1), (0.2, 0.25, 0.12, -1))
SUN = Vector((-1.0, 0.25, 0.5)).normalized()
ENERGY = 3.0
# Of diffuse light: other programs have other highlights and another filter of the map.
LIKE = 0.97

# Blender does not read our layers.
READ_OURS = """
import sys, numpy as np, mitsuba as mi
mi.set_variant("scalar_rgb")
layers = mi.Bitmap(sys.argv[1])
names = [field.name for field in layers.struct_()]
np.save(sys.argv[2], np.array(layers)[..., [names.index(name) for name in "RGB"]])
"""
RENDER_MITSUBA = """
import sys, numpy as np, mitsuba as mi
mi.set_variant("scalar_rgb")
np.save(sys.argv[2], np.array(mi.render(mi.load_file(sys.argv[1]), spp=32))[..., :3])
"""


def normals():
    """Components along u, v (up) and out of the plane, bottom row first."""
    at = (np.arange(SIZE) + 0.5) / SIZE
    u, v = np.meshgrid(at, at)
    found = np.zeros((SIZE, SIZE, 3))
    found[..., 2] = 1.0
    for x, y, radius, sign in BUMPS:
        du, dv = (u - x) / radius, (v - y) / radius
        inside = du**2 + dv**2 < 1
        # A sphere's cap of 50 deg.
        slope = sign * math.sin(math.radians(50))
        found[inside, 0], found[inside, 1] = slope * du[inside], slope * dv[inside]
    found[..., 2] = np.sqrt(1 - found[..., 0] ** 2 - found[..., 1] ** 2)
    return found


def stage():
    """Sun, camera and settings of an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    dress(scene)
    return scene


def dress(scene):
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.data.angle = ENERGY, math.radians(0.53)
    sun.rotation_euler = SUN.to_track_quat("Z", "Y").to_euler()
    eye = bpy.data.objects.new("Eye", bpy.data.cameras.new("Eye"))
    eye.location = (0, -0.02, 0.12)
    eye.rotation_euler = (Vector((0, 0, 0)) - eye.location).to_track_quat("-Z", "Y").to_euler()
    for made in (sun, eye):
        scene.collection.objects.link(made)
    scene.camera = eye
    render = scene.render
    render.resolution_x, render.resolution_y, render.engine = WIDTH, HEIGHT, "CYCLES"
    render.image_settings.file_format = "OPEN_EXR"
    scene.cycles.samples, scene.cycles.use_denoising = 16, False
    scene.world = bpy.data.worlds.new("Black")
    if bpy.app.version < (5, 0, 0):
        scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.0


def plane(folder):
    bpy.ops.mesh.primitive_plane_add(size=0.08)
    made = bpy.context.object
    made.name = "Plate"
    image = bpy.data.images.new("bumps", SIZE, SIZE)
    image.colorspace_settings.name = "Non-Color"
    pixels = np.ones((SIZE, SIZE, 4), np.float32)
    pixels[..., :3] = 0.5 * normals() + 0.5
    image.pixels = pixels.ravel()
    image.filepath_raw, image.file_format = str(folder / "bumps.png"), "PNG"
    image.save()
    material = bpy.data.materials.new("Clay")
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.6, 0.6, 0.6, 1)
    shader.inputs["Roughness"].default_value = 1.0
    texture = material.node_tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    relief = material.node_tree.nodes.new("ShaderNodeNormalMap")
    material.node_tree.links.new(texture.outputs[0], relief.inputs["Color"])
    material.node_tree.links.new(relief.outputs[0], shader.inputs["Normal"])
    made.data.materials.append(material)


def export(folder):
    bpy.ops.export_scene.gltf(filepath=str(folder / "plate.glb"), export_cameras=True, export_animations=False)
    bpy.ops.wm.usd_export(filepath=str(folder / "plate.usdc"), export_subdivision="IGNORE")
    bpy.ops.wm.obj_export(filepath=str(folder / "plate.obj"), forward_axis="NEGATIVE_Z", up_axis="Y")


def pixels_of(file):
    """Luminance of an image file of Blender, top row first."""
    image = bpy.data.images.load(str(file))
    values = np.array(image.pixels[:], np.float32).reshape(image.size[1], image.size[0], -1)[::-1, :, :3]
    bpy.data.images.remove(image)
    return values.mean(2)


def cycles(folder, name):
    file = folder / f"{name}.exr"
    bpy.context.scene.render.filepath = str(file)
    bpy.ops.render.render(write_still=True)
    return pixels_of(file)


def blocks(picture, side=4):
    height, width = picture.shape
    return picture.reshape(height // side, side, width // side, side).mean(axis=(1, 3))


def sides(picture):
    """Brightness of the right half of each bump over that of its left half."""
    # The plane covers 0.08 m; the camera sees it nearly from above.
    scene = bpy.context.scene
    from bpy_extras.object_utils import world_to_camera_view

    found = []
    for x, y, radius, _ in BUMPS:
        halves = []
        for side in (-0.5, 0.5):
            at = Vector(((x + side * radius - 0.5) * 0.08, (y - 0.5) * 0.08, 0))
            place = world_to_camera_view(scene, EYE, at)
            column, row = int(place.x * WIDTH), int((1 - place.y) * HEIGHT)
            halves.append(picture[row - 3 : row + 4, column - 3 : column + 4].mean())
        found.append(halves[1] / halves[0])
    return found


def compare(name, picture, reference):
    ratios = sides(picture)
    for ratio, (x, y, _, sign) in zip(ratios, BUMPS):
        lit_from_left = ratio < 0.7 if sign > 0 else ratio > 1.4
        assert lit_from_left, f"{name}: the bump at {x}, {y} is {ratio:.2f} times as bright on its right as on its left"
    like = np.corrcoef(blocks(picture).ravel(), blocks(reference).ravel())[0, 1]
    assert like > LIKE, f"{name}: the image is unlike Blender's ({like:.3f})"
    return like


def scene_of(folder, kind):
    """The imported scene, lit by the sun alone, with a drop that is out of sight."""
    file = folder / f"{kind}.toml"
    text = file.read_text()
    begin, end = text.index("# An example, to be replaced"), text.index("# [[drops]]")
    drop = '[[drops]]\nshape = "sphere"\ncenter = "300 5 0 mm"\nvolume = "1 uL"\n\n'
    text = text[:begin] + drop + text[end:]
    if "[lights]" in text:
        text = text[: text.index("# The model has no camera")] + text[text.index("# The model's extent") :]
        text += '\n[camera]\nposition = "0 120 20 mm"\nlook_at = "0 0 0 mm"\nfov = "30.1116 deg"\n'
    sun = ", ".join(f"{value:.6f}" for value in (SUN.x, SUN.z, -SUN.y))
    lights = f'\n[lights]\nstrength = 0\nsun = {{ direction = [{sun}], color = {ENERGY} }}\n'
    if "[render]" not in text:
        text += "\n[render]\n"
    text = text.replace("[render]\n", f"{lights}\n[render]\nsize = [{WIDTH}, {HEIGHT}]\ndenoise = false\nsamples = 32\n")
    file.write_text(text)
    return file


def main():
    global EYE
    sessile, folder, mitsuba = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    scene = stage()
    plane(folder)
    EYE = scene.camera
    reference = cycles(folder, "blender")
    likes = {"blender": compare("Blender's plane", reference, reference)}
    export(folder)

    def call(*words):
        done = subprocess.run([sessile, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stderr

    def with_mitsuba(script, file):
        numbers = folder / "pixels.npy"
        subprocess.run([mitsuba, "-c", script, file, numbers], check=True)
        return np.load(numbers).mean(2)

    short = ["--set", "time.frames=1"]
    for kind in ("glb", "usdc", "obj"):
        call("import", folder / f"plate.{kind}", "--as", folder / f"{kind}.toml", "--force")
        run = folder / f"run-{kind}"
        call("run", scene_of(folder, kind), "--no-pictures", "--fresh", *short, "--out", run)
        call("render", run, "--frames", "0", "--exr", "--out", folder / f"ours-{kind}")
        ours = with_mitsuba(READ_OURS, folder / f"ours-{kind}" / "00000.exr")
        likes[f"import of {kind}"] = compare(f"import of {kind}", ours, reference)
    run = folder / "run-glb"
    call("export", run, "--to", "gltf", folder / "out.glb", "--frames", "0", "--force")
    call("export", run, "--to", "usd", folder / "out.usdc", "--frames", "0", "--force")
    call("export", run, "--to", "blender", folder / "out.py", "--frames", "0", "--force")
    call("export", run, "--to", "mitsuba", folder / "mitsuba", "--frames", "0", "--force")
    for kind in ("glb", "usdc"):
        stage()
        if kind == "glb":
            bpy.ops.import_scene.gltf(filepath=str(folder / "out.glb"))
        else:
            bpy.ops.wm.usd_import(filepath=str(folder / "out.usdc"), import_lights=False, import_cameras=False)
        EYE = bpy.context.scene.camera
        likes[f"export of {kind}"] = compare(f"export of {kind}", cycles(folder, f"back-{kind}"), reference)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    exec(compile((folder / "out.py").read_text(), str(folder / "out.py"), "exec"), {"__name__": "__main__", "__file__": str(folder / "out.py")})
    made = bpy.context.window.scene if bpy.context.window else bpy.data.scenes[-1]
    bpy.context.window.scene = made
    EYE = made.camera
    made.render.resolution_x, made.render.resolution_y = WIDTH, HEIGHT
    made.render.image_settings.file_format, made.cycles.samples = "OPEN_EXR", 16
    likes["Blender script"] = compare("Blender script", cycles(folder, "back-script"), reference)
    theirs = with_mitsuba(RENDER_MITSUBA, folder / "mitsuba" / "00000.xml")
    likes["mitsuba"] = compare("mitsuba", theirs, reference)
    print("normal maps: lit from the left, domes are bright on their left; correlation with Blender's image:",
          ", ".join(f"{name} {like:.3f}" for name, like in likes.items()))


main()
