"""Geometry nodes of the liquid, for the extension and for the script of `sessile export --to blender`.

The export copies what follows the import into its script, so this file imports nothing but bpy.
"""

import bpy


def velocity_nodes(name, factor):
    """Create nodes that scale the velocities for motion blur; their node `Scale` has the factor.

    Velocities are in meters per simulated second, and a film may be slower or faster. The scale of
    the mesh sequence cache has no effect on USD files.
    """
    group, begin, end = geometry_group(name)
    nodes, links = group.nodes, group.links
    velocity = nodes.new("GeometryNodeInputNamedAttribute")
    velocity.data_type = "FLOAT_VECTOR"
    velocity.inputs["Name"].default_value = "velocity"
    scale = nodes.new("ShaderNodeVectorMath")
    scale.name, scale.operation = "Scale", "SCALE"
    scale.inputs["Scale"].default_value = factor
    store = nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type, store.domain = "FLOAT_VECTOR", "POINT"
    store.inputs["Name"].default_value = "velocity"
    links.new(begin.outputs[0], store.inputs["Geometry"])
    links.new(velocity.outputs["Attribute"], scale.inputs[0])
    links.new(scale.outputs[0], store.inputs["Value"])
    links.new(store.outputs[0], end.inputs[0])
    return group


def contact_nodes(name, clear, group=None):
    """Create nodes, or renew those of a group, that remove the faces on opaque solids and smooth the rest.

    Without those faces, light in the liquid reaches the solid directly, with no layer of air in
    between. Nodes are needed because the cache has new faces in every frame. `clear` holds the
    indices of the solids that light passes, which keep their faces.
    """
    group, begin, end = geometry_group(name, group)
    nodes, links = group.nodes, group.links
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
    smooth = nodes.new("GeometryNodeSetShadeSmooth")
    links.new(begin.outputs[0], cut.inputs[0])
    links.new(chosen, cut.inputs["Selection"])
    links.new(cut.outputs[0], smooth.inputs[0])
    links.new(smooth.outputs[0], end.inputs[0])
    return group


def geometry_group(name, group=None):
    """Create a group from geometry to geometry, or empty one; return it with its first and last node."""
    if group is None:
        group = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for direction in ("INPUT", "OUTPUT"):
            group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    group.nodes.clear()
    return group, group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
