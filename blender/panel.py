"""The sidebar of the 3D view, tab Sessile."""

import bpy

from . import operators


class SESSILE_PT_scene(bpy.types.Panel):
    """Settings of the simulation, and Bake."""

    bl_label = "Drops"
    bl_idname = "SESSILE_PT_scene"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Sessile"

    def draw(self, context):
        settings, layout = context.scene.sessile, self.layout
        layout.use_property_split = True
        for name in ("model", "liquid", "resolution", "slow_motion", "seed", "folder"):
            layout.prop(settings, name)
        layout.label(text=f"Frames {context.scene.frame_start} to {context.scene.frame_end}")
        if settings.estimate:
            layout.label(text=settings.estimate, icon="TIME")
        if operators.current(context.scene) is None:
            layout.operator("sessile.estimate", icon="TIME")
            layout.operator("sessile.bake", icon="PHYSICS")
            layout.operator("sessile.clear", icon="TRASH")
        else:
            layout.progress(factor=settings.progress, text=settings.status)
            layout.operator("sessile.cancel", icon="CANCEL")
        if settings.status:
            layout.label(text=settings.status)
        for line in settings.warnings.splitlines():
            layout.label(text=line, icon="ERROR")


class SESSILE_PT_object(bpy.types.Panel):
    """What the active object is."""

    bl_label = "Object"
    bl_idname = "SESSILE_PT_object"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "Sessile"

    @classmethod
    def poll(cls, context):
        return context.object is not None

    def draw(self, context):
        settings, layout = context.object.sessile, self.layout
        layout.use_property_split = True
        layout.prop(settings, "role")
        if settings.role == "SOLID":
            _draw_wetting(layout, settings)
            for slot in context.object.material_slots:
                if slot.material is not None:
                    box = layout.box()
                    box.prop(slot.material.sessile, "own", text=f"{slot.material.name}: Own Wetting")
                    if slot.material.sessile.own:
                        _draw_wetting(box, slot.material.sessile)
        elif settings.role == "PARTICLES":
            layout.prop(settings, "radius")
        elif settings.role == "DROP" and context.object.type != "MESH":
            layout.prop(settings, "radius")
        elif settings.role == "DRIP":
            layout.prop(settings, "radius")
            layout.prop(settings, "every")
        elif settings.role == "RAIN":
            layout.prop(settings, "over")
            layout.prop(settings, "rate")


def _draw_wetting(layout, settings):
    layout.prop(settings, "custom")
    for name in ("advancing", "receding") if settings.custom else ("material",):
        layout.prop(settings, name)


_CLASSES = (SESSILE_PT_scene, SESSILE_PT_object)


def register():
    """Called by Blender."""
    for one in _CLASSES:
        bpy.utils.register_class(one)


def unregister():
    """Called by Blender."""
    for one in reversed(_CLASSES):
        bpy.utils.unregister_class(one)
