"""Adds drops to Blender as a collection; written by sessile.

`blender --python THIS` shows them in a scene of their own, ready to render, and
`blender -b --python THIS -f 12` renders frame 12. In a file that has been saved, for example
`blender shot.blend --python THIS`, the collection is added to the open scene: its camera, world,
frame range and render settings stay as they are, and the lights of the run are switched off.
Nothing in the file is removed. Requires Blender 4.2 or later. Lengths are in meters; the y axis of
the run is Blender's z axis.
"""

import math
import os

import bpy
import mathutils

SETTINGS = "@SETTINGS@"
FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "@FILES@")


def z_up(v):
    """Convert a vector from y up to z up."""
    return mathutils.Vector((v[0], -v[2], v[1]))


def socket(node, *names):
    """Return an input by the first of its names that this version of Blender has."""
    for name in names:
        if name in node.inputs:
            return node.inputs[name]
    raise KeyError(names)


def with_nodes(data):
    """Give a material or a world its nodes; from 5.0 on it always has them."""
    if bpy.app.version < (5, 0, 0):
        data.use_nodes = True


def empty_material(name):
    material = bpy.data.materials.new(name)
    with_nodes(material)
    nodes = material.node_tree.nodes
    nodes.clear()
    output = nodes.new("ShaderNodeOutputMaterial")
    shader = nodes.new("ShaderNodeBsdfPrincipled")
    material.node_tree.links.new(shader.outputs[0], output.inputs["Surface"])
    return material, shader, output


def water():
    """Create the liquid's material: clear with absorption, or opaque."""
    liquid = SETTINGS["liquid"]
    material, shader, output = empty_material("Water")
    socket(shader, "Roughness").default_value = 0.0
    socket(shader, "IOR").default_value = liquid["index"]
    if liquid["opaque"] is not None:
        socket(shader, "Base Color").default_value = (*liquid["opaque"], 1.0)
        socket(shader, "Metallic").default_value = float(liquid["metal"])
        return material
    socket(shader, "Base Color").default_value = (1.0, 1.0, 1.0, 1.0)
    socket(shader, "Transmission Weight", "Transmission").default_value = 1.0
    strongest = max(liquid["absorption"])
    if strongest > 1.0:
        volume = material.node_tree.nodes.new("ShaderNodeVolumeAbsorption")
        volume.inputs["Color"].default_value = (*(1.0 - a / strongest for a in liquid["absorption"]), 1.0)
        volume.inputs["Density"].default_value = strongest
        material.node_tree.links.new(volume.outputs[0], output.inputs["Volume"])
    return material


def image_node(material, path, data, sequence=None, repeats=False):
    """Create an image node; `sequence` is (first frame, count) of numbered files."""
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.load(path, check_existing=True)
    node.extension = "REPEAT" if repeats else "EXTEND"
    if data:
        node.image.colorspace_settings.name = "Non-Color"
    if sequence:
        node.image.source = "SEQUENCE"
        user = node.image_user
        user.frame_start, user.frame_duration = sequence[0], sequence[1]
        user.frame_offset = sequence[0] - 1
        user.use_auto_refresh = True
    return node


def solid_material(solid):
    """Create a solid's material; wet parts are smoother, and darker where the solid is porous."""
    material, shader, _ = empty_material(solid["name"])
    links, nodes = material.node_tree.links, material.node_tree.nodes
    socket(shader, "Base Color").default_value = (*solid["color"], 1.0)
    socket(shader, "Roughness").default_value = solid["roughness"]
    socket(shader, "Metallic").default_value = solid["metallic"]
    if solid["glass"] is not None:
        socket(shader, "Transmission Weight", "Transmission").default_value = 1.0
        # A pane is an open mesh, so it must not refract light.
        socket(shader, "IOR").default_value = solid["glass"] if solid["closed"] else 1.001
        return material
    socket(shader, "IOR").default_value = solid["coat"] or 1.0
    if solid["normal_map"]:
        relief = nodes.new("ShaderNodeNormalMap")
        normals = image_node(material, os.path.join(FILES, solid["normal_map"]), True, repeats=solid["repeats"])
        links.new(normals.outputs["Color"], relief.inputs["Color"])
        links.new(relief.outputs[0], socket(shader, "Normal"))
    color = None
    if solid["texture"]:
        image = image_node(material, os.path.join(FILES, solid["texture"]), False, repeats=solid["repeats"])
        color = image.outputs["Color"]
        links.new(color, socket(shader, "Base Color"))
    if solid["wet"] and solid["metallic"] < 1.0:
        mask = image_node(material, os.path.join(FILES, solid["wet"]["first"]), True, solid["wet"]["sequence"])
        smooth = nodes.new("ShaderNodeMapRange")
        smooth.inputs["To Min"].default_value = solid["roughness"]
        smooth.inputs["To Max"].default_value = min(solid["roughness"], 0.17)
        links.new(mask.outputs["Color"], smooth.inputs["Value"])
        links.new(smooth.outputs[0], socket(shader, "Roughness"))
        dark = nodes.new("ShaderNodeMix")
        dark.data_type, dark.blend_type = "RGBA", "MULTIPLY"
        sockets = [s for s in dark.inputs if s.type == "RGBA"]
        shade = 1.0 - 0.4 * solid["porosity"]
        sockets[1].default_value = (shade, shade, shade, 1.0)
        if color:
            links.new(color, sockets[0])
        else:
            sockets[0].default_value = (*solid["color"], 1.0)
        links.new(mask.outputs["Color"], dark.inputs[0])
        links.new(next(s for s in dark.outputs if s.type == "RGBA"), socket(shader, "Base Color"))
    return material


def import_run(scene, collection):
    """Import the meshes into the collection and assign their materials."""
    before = set(bpy.data.objects)
    bpy.ops.wm.usd_import(
        filepath=os.path.join(FILES, "run.usdc"),
        import_materials=False,
        import_lights=False,
        import_cameras=False,
        set_frame_range=False,
    )
    imported = [o for o in bpy.data.objects if o not in before]
    for o in imported:
        for other in list(o.users_collection):
            other.objects.unlink(o)
        collection.objects.link(o)
    # The file may have objects of the same names already, so the new ones may end in a number.
    meshes = {o.name.split(".")[0]: o for o in imported if o.type == "MESH"}
    liquid = meshes.pop("Liquid")
    liquid.data.materials.clear()
    liquid.data.materials.append(water())
    rate = scene.render.fps / scene.render.fps_base
    film = liquid.modifiers.new("Film velocity", "NODES")
    film.node_group = velocity_nodes("Film velocity", SETTINGS["seconds_per_frame"] * rate)
    contact = liquid.modifiers.new("Contact with solids", "NODES")
    clear = [index for index, solid in enumerate(SETTINGS["solids"]) if solid["glass"] is not None]
    contact.node_group = contact_nodes("Contact with solids", clear)
    for solid in SETTINGS["solids"]:
        mesh = meshes[solid["name"]]
        mesh.data.materials.clear()
        mesh.data.materials.append(solid_material(solid))
    return liquid


"@GEOMETRY_NODES@"


def camera(collection):
    """Add the camera of the run."""
    settings = SETTINGS["camera"]
    data = bpy.data.cameras.new("Camera")
    data.sensor_fit = "VERTICAL"
    data.angle = settings["fov"]
    distance = settings["focus"]
    data.clip_start, data.clip_end = 1e-3 * distance, 1e4 * distance
    if settings["aperture"] > 0:
        data.dof.use_dof = True
        data.dof.focus_distance = distance
        data.dof.aperture_fstop = data.lens * 1e-3 / settings["aperture"]
        data.dof.aperture_blades = settings["blades"]
    eye = bpy.data.objects.new("Camera", data)
    collection.objects.link(eye)
    for key in settings["keys"]:
        eye.location = z_up(key["eye"])
        eye.rotation_euler = (z_up(key["look_at"]) - eye.location).to_track_quat("-Z", "Y").to_euler()
        if len(settings["keys"]) > 1:
            eye.keyframe_insert("location", frame=key["frame"])
            eye.keyframe_insert("rotation_euler", frame=key["frame"])
    return eye


def environment():
    """Create a world with the environment of the run."""
    world = bpy.data.worlds.new("Environment")
    with_nodes(world)
    nodes, links = world.node_tree.nodes, world.node_tree.links
    nodes.clear()
    output, background = nodes.new("ShaderNodeOutputWorld"), nodes.new("ShaderNodeBackground")
    image = nodes.new("ShaderNodeTexEnvironment")
    image.image = bpy.data.images.load(os.path.join(FILES, "textures", "environment.hdr"))
    coordinates, mapping = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeMapping")
    # The center of the image is +z of the run, which is -y in Blender; Blender expects +x there.
    mapping.inputs["Rotation"].default_value = (0.0, 0.0, math.pi / 2)
    links.new(coordinates.outputs["Generated"], mapping.inputs["Vector"])
    links.new(mapping.outputs[0], image.inputs["Vector"])
    links.new(image.outputs[0], background.inputs["Color"])
    links.new(background.outputs[0], output.inputs["Surface"])
    return world


def lights(collection):
    """Add the sun and the area lights of the run."""
    sun = SETTINGS["sun"]
    if sun:
        data = bpy.data.lights.new("Sun", "SUN")
        brightest = max(sun["color"])
        data.energy, data.angle = brightest, sun["angle"]
        data.color = [c / brightest for c in sun["color"]] if brightest > 0 else (1, 1, 1)
        light = bpy.data.objects.new("Sun", data)
        light.rotation_euler = (-z_up(sun["towards"])).to_track_quat("-Z", "Y").to_euler()
        collection.objects.link(light)
    for k, area_light in enumerate(SETTINGS["area_lights"]):
        data = bpy.data.lights.new(f"Area light {k + 1}", "AREA")
        brightest = max(area_light["color"])
        data.size = area_light["size"]
        # Blender specifies the power of a light: radiance times area times pi.
        data.energy = brightest * area_light["size"] ** 2 * math.pi
        data.color = [c / brightest for c in area_light["color"]] if brightest > 0 else (1, 1, 1)
        light = bpy.data.objects.new(data.name, data)
        light.location = z_up(area_light["center"])
        light.rotation_euler = (z_up(area_light["look_at"]) - light.location).to_track_quat("-Z", "Y").to_euler()
        collection.objects.link(light)


def settings(scene):
    scene.render.engine = "CYCLES"
    scene.cycles.samples = SETTINGS["samples"]
    scene.cycles.max_bounces = scene.cycles.transmission_bounces = 24
    scene.cycles.caustics_refractive = scene.cycles.caustics_reflective = True
    scene.render.use_motion_blur = SETTINGS["shutter"] > 0 and SETTINGS["frames"][1] > SETTINGS["frames"][0]
    scene.render.motion_blur_shutter = max(SETTINGS["shutter"], 0.01)
    # In powers of two; the view transform is the one of the run's own images.
    scene.view_settings.exposure = math.log2(SETTINGS["exposure"])
    scene.view_settings.view_transform = SETTINGS["view"]
    scene.render.resolution_x, scene.render.resolution_y = SETTINGS["size"]
    scene.render.resolution_percentage = 100
    fps = max(1, round(SETTINGS["fps"]))
    scene.render.fps, scene.render.fps_base = fps, fps / SETTINGS["fps"]
    scene.frame_start, scene.frame_end = SETTINGS["frames"]
    scene.unit_settings.system = "METRIC"
    scene.render.filepath = os.path.join("//", "picture")


def main():
    own_scene = not bpy.data.filepath
    name = SETTINGS["title"][:60] or "Drops"
    scene = bpy.data.scenes.new(name) if own_scene else bpy.context.scene
    if own_scene and bpy.context.window:
        bpy.context.window.scene = scene
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    if own_scene:
        settings(scene)
        scene.world = environment()
    with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        import_run(scene, collection)
    eye = camera(collection)
    lights_off = bpy.data.collections.new(f"{name} lights"[:60])
    collection.children.link(lights_off)
    lights(lights_off)
    if own_scene or scene.camera is None:
        scene.camera = eye
    if own_scene:
        scene.frame_set(SETTINGS["frames"][0])
    else:
        lights_off.hide_render = lights_off.hide_viewport = True


main()
