"""Runs: simulated into a folder, and read from it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _progress, _sessile
from ._media import Image, Video
from ._progress import ProgressLike
from ._scene import Scene, SceneLike
from ._table import Table


@dataclass(frozen=True)
class Frame:
    """The liquid at one moment: closed triangle surfaces."""

    number: int
    """Number of the frame; 0 is the initial state."""
    time: float
    """Simulated time, in s."""
    vertices: NDArray[np.float64]
    """Positions, n × 3, in m, y up."""
    velocities: NDArray[np.float64]
    """Velocities of the vertices, n × 3, in m/s."""
    drops: NDArray[np.uint32]
    """Id of each vertex's drop, n."""
    faces: NDArray[np.uint32]
    """Vertices of each triangle, m × 3, counterclockwise seen from outside."""
    solids: NDArray[np.int32]
    """Index of the solid that each triangle lies on, m; -1 for the free surface."""
    measures: dict[str, Any]
    """Volumes, heights, contact angles …, as in `measure.jsonl`."""
    wet: dict[str, NDArray[np.float32]]
    """Rows × columns × (wetness 0 to 1, film thickness in m) by solid, in its texture coordinates."""

    def drop(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Vertices and triangles of one drop."""
        mine = self.drops == number
        renumber = np.cumsum(mine, dtype=np.uint32) - np.uint32(1)
        return self.vertices[mine], renumber[self.faces[mine[self.faces[:, 0]]]]

    def __repr__(self) -> str:
        count = len(self.measures["drops"])
        return f"<Frame {self.number}: {self.time:g} s, {count} drops, {len(self.faces)} triangles>"


@dataclass(frozen=True)
class Measures:
    """What is measured on the frames of a run, as four tables. SI units, angles in degrees."""

    frames: Table
    """One row per frame: volumes, counts."""
    drops: Table
    """One row per frame and drop."""
    contacts: Table
    """One row per frame, drop and solid that it touches."""
    events: Table
    """One row per merge or split."""


class Run:
    """A run on disk, finished or not."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = _sessile.RunFolder(Path(path))

    @property
    def path(self) -> Path:
        """The run folder."""
        return Path(self._folder.path)

    @property
    def info(self) -> dict[str, Any]:
        """`run.json`: version, status, seconds per stage …"""
        info: dict[str, Any] = json.loads(self._folder.info())
        return info

    @property
    def status(self) -> str:
        """`done`, `running`, `stopped` or `failed`."""
        return str(self.info["status"])

    @property
    def settled(self) -> bool:
        """Whether it came to rest."""
        return bool(self.info["settled"])

    @property
    def scene(self) -> Scene:
        """The scene as run."""
        return Scene(self.path / "scene.toml")

    @property
    def solids(self) -> list[str]:
        """Names of the solids."""
        return self._folder.solids

    def __len__(self) -> int:
        return len(self._folder.frames())

    def __iter__(self) -> Iterator[Frame]:
        return (self.frame(number) for number in self._folder.frames())

    def frame(self, number: int) -> Frame:
        """A frame; negative numbers count from the last one."""
        number = self._number(number)
        inner = self._folder.frame(number)
        wet = {name: self.wet(name, number) for name in self.solids}
        return Frame(
            number,
            inner.time,
            inner.vertices,
            inner.velocities,
            inner.drops,
            inner.faces,
            inner.solids,
            json.loads(self._folder.measures_of(number)),
            {name: values for name, values in wet.items() if values is not None},
        )

    @property
    def measures(self) -> Measures:
        """The measures of all frames as tables."""
        return Measures(*map(Table, self._folder.tables()))

    def wet(self, solid: str, number: int) -> NDArray[np.float32] | None:
        """Wetness (0 to 1) and film thickness (m) of a solid: rows × columns × 2; None without a map."""
        return self._folder.wet(solid, self._number(number))

    def solid(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Vertices and triangles of a solid in its rest pose."""
        return self._folder.solid(name)

    def image(
        self,
        number: int,
        *,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        preview: bool = False,
        threads: int | None = None,
        progress: ProgressLike = False,
    ) -> Image:
        """The image of a frame, rendered where it is missing.

        With `size`, `samples` or `preview` (seconds instead of minutes) it is rendered anew, and the run's own images
        stay as they are.
        """
        number = self._number(number)
        path = Path(self._folder.image_path(number))
        own = size is None and samples is None and not preview
        report = _progress.callback(progress)
        if own:
            if not path.is_file():
                _sessile.render(self.path, number, threads=threads, callback=report)
            return Image(path.read_bytes(), path)
        with tempfile.TemporaryDirectory(prefix="sessile-") as folder:
            pixels = None if size is None else list(size)
            _sessile.render(self.path, number, pixels, samples, preview, False, folder, threads, report)
            return Image((Path(folder) / f"{number:05}.png").read_bytes())

    def video(self, *, preview: bool = False, threads: int | None = None, progress: ProgressLike = True) -> Video:
        """The video; images that are missing are rendered."""
        report = _progress.callback(progress)
        path = _sessile.render(self.path, None, None, None, preview, True, None, threads, report)
        path = path or self._folder.video_path()
        if not Path(path).is_file():
            raise _sessile.RunError(f"{self.path} has no video: its images have a size that no video can have")
        return Video(Path(path))

    def export(
        self,
        to: str,
        path: str | os.PathLike[str],
        *,
        frames: tuple[int, int] | None = None,
        force: bool = False,
        threads: int | None = None,
        progress: ProgressLike = False,
    ) -> Path:
        """Write files for another program: `usd`, `abc`, `gltf`, `blender`, `ply`, `obj`, `vtk`, `vdb`, `csv` …"""
        first, last = frames if frames is not None else (None, None)
        report = _progress.callback(progress)
        written, _ = _sessile.export(self.path, to, Path(path), first, last, force, threads, report)
        return Path(written)

    def _number(self, number: int) -> int:
        frames = self._folder.frames()
        if number < 0 and frames:
            number = frames[number] if -number <= len(frames) else number
        if number not in frames:
            held = f"frames {frames[0]} to {frames[-1]}" if frames else "no frames"
            raise IndexError(f"there is no frame {number}: {self.path} has {held}")
        return number

    def __repr__(self) -> str:
        return f"<Run {str(self.path)!r}: {self.status}, {len(self)} frames>"


def run(
    scene: SceneLike,
    out: str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    fresh: bool = False,
    checkpoint: float = 30.0,
    progress: ProgressLike = True,
) -> Run:
    """Simulate a scene into a run folder (default `runs/NAME`), or resume its run; return the run.

    Ctrl-C (or stopping the cell of a notebook) writes a checkpoint before `KeyboardInterrupt` is raised: the same call
    resumes from there, bit for bit. `threads` is the number of threads (default: all cores) and changes no result.
    `progress` is True for a bar, False, or a function of the activity, the frames done and their number.
    Images are rendered on demand, by `Run.image` and `Run.video`.
    """
    scene = Scene(scene)
    folder = Path(out) if out is not None else Path("runs") / scene.name
    report = _progress.callback(progress)
    _sessile.simulate(scene._inner, folder, scene.name, threads, fresh, checkpoint, report)
    return Run(folder)


def import_model(
    file: str | os.PathLike[str], scene: str | os.PathLike[str], *, force: bool = False
) -> tuple[Scene, list[str]]:
    """Create a scene file from a USD, glTF or OBJ model; return the scene and what to know about it."""
    path, notices = _sessile.import_model(Path(file), Path(scene), force)
    return Scene(path), notices


def export(run: Run | str | os.PathLike[str], to: str, path: str | os.PathLike[str], **options: Any) -> Path:
    """`Run.export` of a run or its folder."""
    return (run if isinstance(run, Run) else Run(run)).export(to, path, **options)
