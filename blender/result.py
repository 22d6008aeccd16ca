"""Brings the drops back: a mesh that follows the USD file, a water material, wet maps as image sequences."""

import os

import bpy

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
    fps = scene.render.fps / scene.render.fps_base
    factor = 1.0 / (fps * scene.sessile.slow_motion) * fps
    group = liquid.modifiers["Film Velocity"].node_group
    group.nodes["Scale"].inputs["Scale"].default_value = factor
    _contact_nodes(liquid.modifiers["Contact with Solids"].node_group, _clear_solids(scene))
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
    liquid.modifiers.new("Film Velocity", "NODES").node_group = _velocity_group()
    contact = _new_group("Sessile Contact")
    _contact_nodes(contact, [])
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


def _new_group(name):
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    return group


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


def _contact_nodes(group, clear):
    """Nodes that remove the faces on opaque solids.

    Light in the liquid then reaches the solid directly; with the faces there would be a layer of air in between.
    """
    nodes, links = group.nodes, group.links
    nodes.clear()
    begin, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    solid = nodes.new("GeometryNodeInputNamedAttribute")
    solid.data_type = "INT"
    solid.inputs["Name"].default_value = "solid"

    def compare(operation, number):
        node = nodes.new("FunctionNodeCompare")
        node.data_type, node.operation = "INT", operation
        first, second = (s for s in node.inputs if s.type == "INT")
        links.new(next(s for s in solid.outputs if s.type == "INT"), first)
        second.default_value = number
        return node.outputs[0]

    chosen = compare("GREATER_EQUAL", 0)
    for index in clear:
        both = nodes.new("FunctionNodeBooleanMath")
        links.new(chosen, both.inputs[0])
        links.new(compare("NOT_EQUAL", index), both.inputs[1])
        chosen = both.outputs[0]
    cut = nodes.new("GeometryNodeDeleteGeometry")
    cut.domain, cut.mode = "FACE", "ONLY_FACE"
    links.new(begin.outputs[0], cut.inputs[0])
    links.new(chosen, cut.inputs["Selection"])
    links.new(cut.outputs[0], end.inputs[0])


def _velocity_group():
    """Velocities in meters per second of the film, for motion blur; and smooth shading."""
    group = _new_group("Sessile Film Velocity")
    nodes, links = group.nodes, group.links
    begin, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    velocity = nodes.new("GeometryNodeInputNamedAttribute")
    velocity.data_type = "FLOAT_VECTOR"
    velocity.inputs["Name"].default_value = "velocity"
    scale = nodes.new("ShaderNodeVectorMath")
    scale.name, scale.operation = "Scale", "SCALE"
    store = nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type, store.domain = "FLOAT_VECTOR", "POINT"
    store.inputs["Name"].default_value = "velocity"
    smooth = nodes.new("GeometryNodeSetShadeSmooth")
    links.new(begin.outputs[0], store.inputs["Geometry"])
    links.new(velocity.outputs["Attribute"], scale.inputs[0])
    links.new(scale.outputs[0], store.inputs["Value"])
    links.new(store.outputs[0], smooth.inputs[0])
    links.new(smooth.outputs[0], end.inputs[0])
    return group


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
