"""Water drops on the objects of a scene, simulated by sessile.

The panel is in the sidebar of the 3D view, tab *Sessile*. `setup.py` turns objects into a scene file (`meshes.py` their
shapes, `slots.py` their wetting, `particles.py` particle systems), `job.py` runs it in a process of its own, `result.py`
brings the drops back, `operators.py` and `panel.py` are the interface.
"""

from . import operators, panel, properties

_MODULES = (properties, operators, panel)


def register():
    """Called by Blender."""
    for module in _MODULES:
        module.register()


def unregister():
    """Called by Blender."""
    for module in reversed(_MODULES):
        module.unregister()
