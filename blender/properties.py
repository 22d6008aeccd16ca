"""What the user sets: per object and per scene. Saved with the file, and undone like everything else."""

import bpy

ROLES = [
    ("NONE", "None", "Takes no part"),
    ("SOLID", "Solid", "Water wets it"),
    ("DROP", "Drop", "Liquid at the start: the volume of this mesh, or a sphere of an empty's size"),
    ("DRIP", "Drip", "Drops fall from this point, one after another"),
    ("PARTICLES", "Particles", "Every particle of this object's particle systems is a drop that flies on from its birth"),
    ("RAIN", "Rain", "Rain on the solid that is named"),
]

MODELS = [
    ("droplet", "Droplet", "Thousands of drops on meshes; fast"),
    ("surface", "Surface", "Deforming drops with capillary waves; seconds per frame"),
    ("volume", "Volume", "The Navier-Stokes equations; minutes per frame"),
]

_items = {}


def _presets(kind):
    """Names of liquids or materials, for a menu. Blender needs the strings to stay alive."""
    if kind not in _items:
        from sessile import wetting

        listed = wetting.liquids() if kind == "liquid" else wetting.materials()
        _items[kind] = [(name, one.title or name, one.evidence) for name, one in listed.items()]
    return _items[kind]


class Wetting:
    """Properties that say how water wets something."""

    material: bpy.props.EnumProperty(name="Wetting", items=lambda self, context: _presets("material"))
    custom: bpy.props.BoolProperty(name="Own Angles", description="Set the contact angles instead of a preset")
    advancing: bpy.props.FloatProperty(
        name="Advancing", subtype="ANGLE", default=1.745, min=0.02, max=3.1, description="Advancing contact angle"
    )
    receding: bpy.props.FloatProperty(
        name="Receding", subtype="ANGLE", default=1.396, min=0.02, max=3.1, description="Receding contact angle"
    )


class SessileMaterial(Wetting, bpy.types.PropertyGroup):
    """Settings of a material: wetting of its slots, where it differs from that of the object."""

    own: bpy.props.BoolProperty(name="Own Wetting", description="Faces of this material have a wetting of their own")


class SessileObject(Wetting, bpy.types.PropertyGroup):
    """Settings of an object."""

    role: bpy.props.EnumProperty(name="Role", items=ROLES, default="NONE")
    radius: bpy.props.FloatProperty(
        name="Drop Radius", subtype="DISTANCE", default=0.001, min=1e-5, max=0.1, precision=5
    )
    every: bpy.props.FloatProperty(name="Every", subtype="TIME_ABSOLUTE", default=0.5, min=1e-3)
    rate: bpy.props.FloatProperty(name="Rate", default=100.0, min=0.1, max=5000.0, description="Rain in mm per hour")
    over: bpy.props.PointerProperty(name="On", type=bpy.types.Object, description="The solid that it rains on")


class SessileScene(bpy.types.PropertyGroup):
    """Settings of a scene."""

    model: bpy.props.EnumProperty(name="Model", items=MODELS, default="droplet")
    liquid: bpy.props.EnumProperty(name="Liquid", items=lambda self, context: _presets("liquid"))
    resolution: bpy.props.FloatProperty(
        name="Resolution",
        subtype="DISTANCE",
        default=0.0004,
        min=1e-5,
        precision=5,
        description="Shortest edge of a drop's surface, or size of a cell",
    )
    slow_motion: bpy.props.FloatProperty(
        name="Slow Motion", default=1.0, min=1.0, max=10000.0, description="How many times slower than real time"
    )
    folder: bpy.props.StringProperty(
        name="Cache", subtype="DIR_PATH", default="", description="Default: a folder beside the .blend file"
    )
    seed: bpy.props.IntProperty(name="Seed", default=1, min=0)
    estimate: bpy.props.StringProperty(options={"SKIP_SAVE"})
    status: bpy.props.StringProperty(options={"SKIP_SAVE"})
    warnings: bpy.props.StringProperty(options={"SKIP_SAVE"})
    progress: bpy.props.FloatProperty(options={"SKIP_SAVE"}, min=0.0, max=1.0)


_CLASSES = (SessileMaterial, SessileObject, SessileScene)


def register():
    """Called by Blender."""
    for one in _CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Material.sessile = bpy.props.PointerProperty(type=SessileMaterial)
    bpy.types.Object.sessile = bpy.props.PointerProperty(type=SessileObject)
    bpy.types.Scene.sessile = bpy.props.PointerProperty(type=SessileScene)


def unregister():
    """Called by Blender."""
    del bpy.types.Scene.sessile, bpy.types.Object.sessile, bpy.types.Material.sessile
    for one in reversed(_CLASSES):
        bpy.utils.unregister_class(one)
