"""Imports models that Blender writes as USD (binary and text), glTF and OBJ; one of the scenes is run.

Arguments: SESSILE FOLDER.
"""

import pathlib
import subprocess
import sys

import bpy
import mathutils


def material(name, metallic=0.0, roughness=0.5):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Metallic"].default_value, shader.inputs["Roughness"].default_value = metallic, roughness
    return made


def model(folder):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 13, 24
    bpy.ops.mesh.primitive_torus_add(major_radius=0.03, minor_radius=0.01, location=(0, 0, 0.05))
    bpy.context.object.name = "Ring"
    bpy.context.object.data.materials.append(material("Brass", 1.0, 0.2))
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0, 0, -0.05))
    bpy.context.object.name = "Block"
    bpy.context.object.data.materials.append(material("Oak", 0.0, 0.7))
    bpy.ops.object.camera_add(location=(0.2, -0.3, 0.2))
    eye = bpy.context.object
    eye.rotation_euler = (-eye.location).to_track_quat("-Z", "Y").to_euler()
    scene.camera = eye
    bpy.ops.wm.usd_export(filepath=str(folder / "model.usdc"), export_animation=True)
    bpy.ops.wm.usd_export(filepath=str(folder / "model.usda"), export_animation=True)
    bpy.ops.export_scene.gltf(filepath=str(folder / "model.glb"), export_cameras=True)
    bpy.ops.wm.obj_export(filepath=str(folder / "model.obj"))


def main():
    sessile, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    model(folder)
    for kind in ["usdc", "usda", "glb", "obj"]:
        scene = folder / f"{kind}.toml"
        subprocess.run([sessile, "import", folder / f"model.{kind}", "--as", scene], check=True)
        text = scene.read_text()
        for wanted in ['"Brass"', '"Oak"', '"Ring', '"Block'] + (["[camera]"] if kind != "obj" else []):
            assert wanted in text, f"{kind}: no {wanted} in\n{text}"
        # The extent must not depend on the up axis of the file.
        assert "100 mm wide, 160 mm high, 100 mm deep" in text, f"{kind}:\n{text}"
        if kind in ("usdc", "usda"):
            assert "frames = 12\nfps = 24 " in text, f"{kind}: frames\n{text}"
        subprocess.run([sessile, "check", scene], check=True)
    short = ["--set", "time.frames=2", "--no-pictures", "--out", folder / "run"]
    subprocess.run([sessile, "run", folder / "usdc.toml", *short], check=True)
    # An export of sessile can be imported again.
    subprocess.run([sessile, "export", folder / "run", "--to", "usd", folder / "back.usdc"], check=True)
    subprocess.run([sessile, "import", folder / "back.usdc", "--as", folder / "back.toml"], check=True)
    assert '"Block"' in (folder / "back.toml").read_text()
    print("import: scenes from usdc, usda, glb and obj are valid; one runs, and its export can be imported")


main()
