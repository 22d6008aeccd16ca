"""Sources, wetting of material slots, wet maps, and objects with odd names. Argument: FOLDER for the files."""

import json
import os
import sys

import bpy
import numpy as np

import shot

FIRST, LAST = 1001, 1024


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    particles(folder)
    empties(folder)
    slots(folder)
    wet_maps(folder)


def particles(folder):
    """Every particle is a drop: as many, from where it is born; those of before the range are there already."""
    scene = shot.fresh(os.path.join(folder, "particles.blend"), FIRST, LAST, model="droplet")
    shot.grid("Würfel/ä", size=0.08)
    bpy.ops.mesh.primitive_plane_add(size=0.03, location=(0, 0, 0.02))
    source = bpy.context.object
    source.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = source.particle_systems[0].settings
    settings.count, settings.frame_start, settings.frame_end = 24, FIRST - 2, FIRST + 14
    settings.lifetime, settings.normal_factor, settings.size_random = 200, -0.05, 0.5
    source.sessile.role, source.sessile.radius = "PARTICLES", 0.0006
    run = shot.bake()
    ids = {drop["id"] for frame in run for drop in frame.measures["drops"]}
    added = run.frame(-1).measures["added_volume"]
    births = sum(p.birth_time <= LAST for p in evaluated_particles(source))
    assert len(ids) >= births - 4, f"{len(ids)} drops of {births} particles"
    sizes = [p.size / settings.particle_size for p in evaluated_particles(source) if p.birth_time < LAST - 1]
    expected = sum(4 / 3 * np.pi * (0.0006 * size) ** 3 for size in sizes)
    assert abs(added / expected - 1) < 0.1, f"{added * 1e9:.2f} uL of {expected * 1e9:.2f} uL"
    assert {drop["on"] for drop in run.frame(-1).measures["drops"]} >= {"Würfel_ä"}, "no drop has landed"
    print(f"blender: {births} particles are {len(ids)} drops, {added * 1e9:.1f} uL of {expected * 1e9:.1f} uL")
    settings.count = 6000
    print("blender: refused:", shot.refused("more than 5000 particles"))
    del scene


def evaluated_particles(source):
    bpy.context.scene.frame_set(LAST)
    evaluated = source.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return list(evaluated.particle_systems[0].particles)


def empties(folder):
    """A drip at an empty, rain on a solid, a drop that is a mesh; lengths by the unit of the scene."""
    scene = shot.fresh(os.path.join(folder, "empties.blend"), 0, 20, model="droplet")
    # One unit is a millimeter.
    scene.unit_settings.scale_length = 0.001
    shot.grid("Pane", size=40, material="glass")
    bpy.context.object.rotation_euler = (1.2, 0, 0)
    tap = bpy.data.objects.new("Tap", None)
    tap.location = (0, -2, 20)
    tap.sessile.role, tap.sessile.radius, tap.sessile.every = "DRIP", 0.001, 0.2
    sky = bpy.data.objects.new("Sky", None)
    sky.sessile.role, sky.sessile.over, sky.sessile.rate = "RAIN", bpy.data.objects["Pane"], 500.0
    for obj in (tap, sky):
        scene.collection.objects.link(obj)
    bpy.ops.mesh.primitive_uv_sphere_add(radius=1.5, location=(8, 0, 6))
    bpy.context.object.sessile.role = "DROP"
    run = shot.bake()
    first, last = run.frame(0).measures, run.frame(-1).measures
    assert abs(first["total_volume"] / (4 / 3 * np.pi * 1.5**3 * 1e-9) - 1) < 0.05, first["total_volume"]
    assert last["added_volume"] > first["added_volume"] + 4 * 4.1e-9, last["added_volume"]
    assert run.solids == ["Pane"] and len(last["drops"]) > 2
    print(f"blender: a drip, rain and a mesh: {len(last['drops'])} drops, {1e9 * last['added_volume']:.1f} uL")


def slots(folder):
    """Two slots of one object with other angles: a drop on each has the angle of its slot."""
    scene = shot.fresh(os.path.join(folder, "slots.blend"), FIRST, FIRST + 4, model="droplet")
    sheet = shot.grid("Sheet", size=0.04, cells=16)
    for name, angle in (("Left", 60), ("Right", 110)):
        material = bpy.data.materials.new(name)
        sheet.data.materials.append(material)
        material.sessile.own = material.sessile.custom = True
        material.sessile.advancing = material.sessile.receding = np.radians(angle)
    for polygon in sheet.data.polygons:
        polygon.material_index = int(polygon.center.x > 0)
    for x in (-0.01, 0.01):
        shot.drop((x, 0, 0.00095))
    run = shot.bake()
    angles = {}
    for drop in run.frame(-1).measures["drops"]:
        angles[drop["centroid"][0] > 0] = drop["contact_angle_deg"]["mean"]
    assert abs(angles[False] - 60) < 4 and abs(angles[True] - 110) < 4, angles
    print(f"blender: slots of 60 and 110 degrees: {angles[False]:.1f} and {angles[True]:.1f}")
    sheet.data.uv_layers.remove(sheet.data.uv_layers[0])
    sheet.data.update()
    print("blender: refused:", shot.refused("UV map"))
    del scene


def wet_maps(folder):
    """The node group of a solid shows the wetness of the frame: more and more of it is wet."""
    scene = shot.fresh(os.path.join(folder, "wet.blend"), FIRST, LAST, fps=12, model="droplet")
    pane = shot.grid("Pane", size=0.06, cells=24, material="glass")
    pane.rotation_euler = (1.4, 0, 0)
    bpy.context.view_layer.update()
    shot.drop((0, -0.0005, 0.018), radius=0.003)
    run = shot.bake()
    group = bpy.data.node_groups["Sessile Wetness Pane"]
    material = bpy.data.materials.new("Shows wetness")
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    wetness, glow, out = (nodes.new(n) for n in ("ShaderNodeGroup", "ShaderNodeEmission", "ShaderNodeOutputMaterial"))
    wetness.node_tree = group
    links.new(wetness.outputs[0], glow.inputs["Color"])
    links.new(glow.outputs[0], out.inputs["Surface"])
    pane.data.materials.append(material)
    shot.liquid_of(scene).hide_render = True
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 0.06
    camera.data.clip_start = 1e-4
    camera.matrix_world = pane.matrix_world.copy()
    camera.location = pane.matrix_world.to_3x3().col[2] * 0.05
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine, scene.cycles.samples = camera, "CYCLES", 4
    scene.view_settings.view_transform = "Raw"
    scene.render.resolution_x = scene.render.resolution_y = 64
    shares = []
    for frame in (FIRST, FIRST + 8, LAST):
        scene.frame_set(frame)
        scene.render.filepath = os.path.join(folder, f"wet-{frame}.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        pixels = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(pixels)
        expected = run.wet("Pane", frame - FIRST)
        share = pixels.reshape(-1, 4)[:, 0].mean()
        wanted = 0.0 if expected is None else float(expected[..., 0].mean())
        assert abs(share - wanted) < 0.02 + 0.1 * wanted, f"frame {frame}: {share:.3f} is wet, not {wanted:.3f}"
        shares.append(round(float(share), 3))
    assert shares[-1] > shares[0] + 0.01, shares
    bpy.ops.wm.save_mainfile()
    print(f"blender: wetness of the frames, by the node group: {json.dumps(shares)}")


main()
