"""Brings the drops back: a mesh that follows the USD file, a water material, wet maps as image sequences."""

import os

import bpy

from . import geometry_nodes

LIQUID = "Sessile Liquid"

SOLIDS = "sessile_solids"
"""Property of a scene: the objects that are solids, in their order in the run."""


def show(scene, folder):
    """Create or refresh the liquid of a scene from the USD file in its cache folder; return the object."""
    usd = os.path.join(folder, "run.usdc")
    liquid = next((o for o in scene.objects if o.get("sessile_cache") == scene.name), None)
    new = liquid is None
    if new:
        liquid = _import(scene, usd)
    for modifier in liquid.modifiers:
        if modifier.type == "MESH_SEQUENCE_CACHE" and modifier.cache_file:
            modifier.cache_file.filepath = _relative(usd)
            if not new:
                with bpy.context.temp_override(edit_cachefile=modifier.cache_file):
                    bpy.ops.cachefile.reload()
            bpy.context.view_layer.update()
    group = liquid.modifiers["Film Velocity"].node_group
    group.nodes["Scale"].inputs["Scale"].default_value = 1.0 / scene.sessile.slow_motion
    contact = liquid.modifiers["Contact with Solids"].node_group
    geometry_nodes.contact_nodes(contact.name, _clear_solids(scene), contact)
    _wet_maps(scene, folder)
    return liquid


def _relative(path):
    return bpy.path.relpath(path) if bpy.data.filepath else path


def _import(scene, usd):
    before = set(bpy.data.objects)
    bpy.ops.wm.usd_import(
        filepath=usd,
        import_materials=False,
        import_lights=False,
        import_cameras=False,
        set_frame_range=False,
    )
    imported = [o for o in bpy.data.objects if o not in before]
    liquid = next(o for o in imported if o.type == "MESH" and o.name.startswith("Liquid"))
    collection = bpy.data.collections.new("Sessile")
    scene.collection.children.link(collection)
    root = liquid
    while root.parent is not None:
        root = root.parent
    # The solids are in the file already; the parents turn the axes.
    world = liquid.matrix_world.copy()
    liquid.parent = None
    liquid.matrix_world = world
    for other in imported:
        if other is not liquid:
            bpy.data.objects.remove(other)
    for other in list(liquid.users_collection):
        other.objects.unlink(liquid)
    collection.objects.link(liquid)
    liquid.name = LIQUID
    liquid["sessile_cache"] = scene.name
    liquid.data.materials.clear()
    liquid.data.materials.append(_water())
    velocity = geometry_nodes.velocity_nodes("Sessile Film Velocity", 1.0)
    liquid.modifiers.new("Film Velocity", "NODES").node_group = velocity
    contact = geometry_nodes.contact_nodes("Sessile Contact", [])
    liquid.modifiers.new("Contact with Solids", "NODES").node_group = contact
    return liquid


def _water():
    material = bpy.data.materials.get("Sessile Water")
    if material is not None:
        return material
    material = bpy.data.materials.new("Sessile Water")
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    shader.inputs["Roughness"].default_value = 0.0
    shader.inputs["IOR"].default_value = 1.333
    shader.inputs["Transmission Weight"].default_value = 1.0
    return material


def _clear_solids(scene):
    """Indices of the solids that light passes: those whose material has transmission."""
    clear = []
    for index, name in enumerate(scene.get(SOLIDS, [])):
        obj = scene.objects.get(name)
        if obj is None:
            continue
        shaders = [n for m in obj.data.materials if m and m.node_tree for n in m.node_tree.nodes]
        passes = (n.inputs["Transmission Weight"].default_value for n in shaders if n.type == "BSDF_PRINCIPLED")
        if any(n.type in {"BSDF_GLASS", "BSDF_TRANSPARENT", "BSDF_REFRACTION"} for n in shaders) or any(
            weight > 0.5 for weight in passes
        ):
            clear.append(index)
    return clear


def _wet_maps(scene, folder):
    """One node group per solid with a wet map: its output is the wetness, for any material."""
    root = os.path.join(folder, "run.usdc.files", "wet")
    for name in sorted(os.listdir(root)) if os.path.isdir(root) else []:
        files = sorted(f for f in os.listdir(os.path.join(root, name)) if f.endswith(".png")) if os.path.isdir(
            os.path.join(root, name)
        ) else []
        if not files:
            continue
        title = f"Sessile Wetness {name}"
        group = bpy.data.node_groups.get(title) or _wet_group(title)
        texture = group.nodes["Wetness"]
        path = os.path.join(root, name, files[0])
        if texture.image is None:
            texture.image = bpy.data.images.load(path)
            texture.image.colorspace_settings.name = "Non-Color"
            texture.image.source = "SEQUENCE"
        texture.image.filepath = _relative(path)
        first = int(os.path.splitext(files[0])[0])
        user = texture.image_user
        user.frame_start, user.frame_duration, user.frame_offset = first, len(files), first - 1
        user.use_auto_refresh, user.use_cyclic = True, False


def _wet_group(title):
    group = bpy.data.node_groups.new(title, "ShaderNodeTree")
    group.interface.new_socket("Wetness", in_out="OUTPUT", socket_type="NodeSocketFloat")
    texture = group.nodes.new("ShaderNodeTexImage")
    texture.name = "Wetness"
    red = group.nodes.new("ShaderNodeSeparateColor")
    end = group.nodes.new("NodeGroupOutput")
    group.links.new(texture.outputs["Color"], red.inputs[0])
    group.links.new(red.outputs[0], end.inputs[0])
    return group
