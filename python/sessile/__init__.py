"""Simulate, measure and render water drops on surfaces.

    import sessile

    scene = sessile.Scene("drop.toml")
    scene.set("drops.0.volume", "4 uL")
    run = sessile.run(scene, out="runs/drop")
    run.measures.drops["contact_angle_mean_deg"]
    run.image(-1)

`Simulation` steps a scene without files, `sessile.wetting` has liquids, materials and exact solutions, `sweep` and
`find` make many runs. Quantities in scenes are strings with units; numbers that come back are in SI units, angles in
degrees.
"""

from . import wetting
from ._media import Image, Video
from ._run import Frame, Measures, Run, export, import_model, run
from ._scene import Scene, scenes
from ._sessile import RunError, SceneError
from ._simulation import Simulation
from ._sweep import Found, find, sweep
from ._table import Table

__version__ = "0.1.0"

__all__ = [
    "Found",
    "Frame",
    "Image",
    "Measures",
    "Run",
    "RunError",
    "Scene",
    "SceneError",
    "Simulation",
    "Table",
    "Video",
    "export",
    "find",
    "import_model",
    "run",
    "scenes",
    "sweep",
    "wetting",
]
