"""Stepping a scene without files."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _sessile
from ._run import Frame
from ._scene import Scene, SceneLike


class Simulation:
    """A scene in memory, stepped by its caller.

    Steps are those of `sessile.run` and of the command line: a step never passes a frame time, so frames at multiples
    of the scene's interval are bit-identical to those of a run, for any number of threads. Other Python threads go on
    while a step is computed; Ctrl-C takes effect after the step.

        simulation = sessile.Simulation("drop.toml")
        simulation.step_to(0.03)
        simulation.frame().measures["drops"][0]["height"]
    """

    def __init__(self, scene: SceneLike, *, threads: int | None = None) -> None:
        self.scene = Scene(scene)
        """The scene."""
        self._inner = _sessile.Simulation(self.scene._inner, threads)

    @property
    def time(self) -> float:
        """Simulated time, in s; can be read from other threads during a step."""
        return self._inner.time

    @property
    def threads(self) -> int:
        """Number of threads of a step."""
        return self._inner.threads

    @property
    def frame_number(self) -> int:
        """Number of the last frame time reached."""
        return self._inner.frame_number

    @property
    def at_rest(self) -> bool:
        """Whether the drops have come to rest; only detected with `time.settle = true`."""
        return self._inner.at_rest

    def step_to(self, time: float) -> None:
        """Step to a time, in s. A time in the past does nothing."""
        self._inner.step_to(float(time))

    def step_to_frame(self, number: int | None = None) -> None:
        """Step to the time of a frame, by default the next one."""
        self._inner.step_to_frame(number)

    def frame(self) -> Frame:
        """The liquid now, with its measures. Events are those since the last call."""
        inner, measures, wet = self._inner.frame()
        names = self.scene.solids
        return Frame(
            inner.number,
            inner.time,
            inner.vertices,
            inner.velocities,
            inner.drops,
            inner.faces,
            inner.solids,
            json.loads(measures),
            {names[index]: values for index, values in wet},
        )

    def notices(self) -> list[str]:
        """Messages since the last call: what was repaired, and where a model does less than the scene asks for."""
        return self._inner.notices()

    def pose(self, solid: str | int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rotation matrix and translation (m) of a solid from its place at rest."""
        rotation, translation = self._inner.pose(self._index(solid))
        return np.array(rotation), np.array(translation)

    def move_solid(
        self,
        solid: str | int,
        *,
        move: Sequence[float] = (0.0, 0.0, 0.0),
        rotate: ArrayLike = (0.0, 0.0, 0.0),
        over: float = 0.0,
    ) -> None:
        """Move a solid to a place, given from its place at rest; its keys no longer apply.

        `move` is in m. `rotate` is a 3 × 3 rotation matrix, or angles in degrees about x, then y, then z through the
        origin. `over` is the time in s that the way takes at constant velocity: 0 places the solid there without a
        velocity, while an animation passes the time until its next call, so that the liquid feels the motion.
        """
        rotation = np.asarray(rotate, dtype=np.float64)
        if rotation.shape == (3,):
            rotation = _rotation(rotation)
        if rotation.shape != (3, 3):
            raise ValueError(f"rotate has the shape {rotation.shape}: expected three angles or a 3 x 3 matrix")
        self._inner.move_solid(self._index(solid), rotation.tolist(), [float(x) for x in move], float(over))

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Gravity, in m/s²; can be set, and None returns to the scene's."""
        return np.array(self._inner.gravity)

    @gravity.setter
    def gravity(self, value: Sequence[float] | NDArray[np.float64] | None) -> None:
        self._inner.set_gravity(None if value is None else [float(x) for x in value])

    def add_drop(
        self,
        at: Sequence[float],
        *,
        volume: float | None = None,
        radius: float | None = None,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> None:
        """Add a drop of a volume (m³) or radius (m) with its center at a point (m) and a velocity (m/s).

        Liquid that touches a solid is on it at once; inside a drop it adds to that drop. `SceneError` if the place is
        inside a solid, or if the model does not support it.
        """
        if (volume is None) == (radius is None):
            raise ValueError("give either volume or radius")
        if volume is None:
            volume = 4.0 / 3.0 * np.pi * float(radius or 0.0) ** 3
        self._inner.add_drop([float(x) for x in at], [float(x) for x in velocity], float(volume))

    def save(self) -> bytes:
        """The state of the model, for comparisons."""
        return bytes(self._inner.save())

    def _index(self, solid: str | int) -> int:
        if isinstance(solid, int):
            return solid
        names = self.scene.solids
        if solid not in names:
            raise _sessile.SceneError(f"no solid is called {solid!r}; there are {', '.join(names) or 'none'}")
        return names.index(solid)

    def __repr__(self) -> str:
        return f"<Simulation of {self.scene.name!r} at {self.time:g} s>"


def _rotation(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix that turns about x, then y, then z."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    product: NDArray[np.float64] = about_z @ about_y @ about_x
    return product
