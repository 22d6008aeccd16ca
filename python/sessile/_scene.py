"""Scenes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from . import _sessile, _toml

SceneLike = Union["Scene", str, "os.PathLike[str]", Mapping[str, Any]]


def scenes() -> list[str]:
    """Names of the built-in scenes; `Scene(name)` reads one."""
    return [name for name, _ in _sessile.built_in_scenes()]


class Scene:
    """A valid scene.

    `source` is a file, the name of a built-in scene, TOML text (with at least one line break), or a dict with the keys
    of a scene file. Files that it names are relative to its file, or to `folder` (default: the current folder).

    Raises `SceneError` with every error at once, each with its line and a caret.
    """

    def __init__(self, source: SceneLike, *, folder: str | os.PathLike[str] | None = None) -> None:
        self._inner: _sessile.Scene
        self._stem: str
        if isinstance(source, Scene):
            self._inner, self._stem = source._inner, source._stem
            return
        text, name, base, self._stem = _read(source)
        self._inner = _sessile.Scene(text, name, Path(folder) if folder is not None else base)

    def set(self, key: str, value: Any) -> Scene:
        """Set a key by its dotted path and return the scene: `scene.set("drops.0.volume", "4 uL")`.

        A wrong value raises `SceneError` and leaves the scene as it was.
        """
        self._inner = self._inner.with_set(f"{key}={_toml.value(value)}")
        return self

    def copy(self) -> Scene:
        """A scene to change without changing this one."""
        return Scene(self)

    def to_toml(self) -> str:
        """The complete scene, every default written out."""
        return self._inner.to_toml()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the complete scene to a file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    @property
    def name(self) -> str:
        """Name of its file without ending, which also names runs."""
        return self._stem

    @property
    def title(self) -> str:
        """`title`."""
        return self._inner.title

    @property
    def model(self) -> str:
        """`pane`, `droplet`, `surface` or `volume`."""
        return self._inner.model

    @property
    def duration(self) -> float:
        """Simulated time, in s."""
        return self._inner.duration

    @property
    def interval(self) -> float:
        """Time between two frames, in s."""
        return self._inner.interval

    @property
    def last_frame(self) -> int:
        """Number of the last frame; frame 0 is the initial state."""
        return self._inner.last_frame

    @property
    def start_frame(self) -> int:
        """Number of the first frame in images and exports."""
        return self._inner.start_frame

    @property
    def solids(self) -> list[str]:
        """Names of the solids, in order."""
        return self._inner.solids

    @property
    def seed(self) -> int:
        """`seed`."""
        return self._inner.seed

    @property
    def warnings(self) -> str:
        """Warnings of the reader; empty if there are none."""
        return self._inner.warnings

    def check(self) -> list[str]:
        """Build the solids and the model and read all images, as `sessile check` does; return its warnings.

        Raises `SceneError` where the command fails, such as for an image that is missing.
        """
        return self._inner.check()

    def estimate(self) -> dict[str, Any]:
        """Expected cost of a run on all cores: `seconds`, `memory` and `disk` in bytes, `warnings`."""
        seconds, memory, disk, warnings = self._inner.estimate()
        return {"seconds": seconds, "memory": memory, "disk": disk, "warnings": warnings}

    def __repr__(self) -> str:
        return f"<Scene {self.name!r}: {self.model} model, {self.last_frame} frames, {self.duration:g} s>"


def _read(source: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[str, str, Path, str]:
    """Text, name for messages, folder and stem of a scene."""
    if isinstance(source, Mapping):
        return _toml.document(source), "dict", Path.cwd(), "scene"
    if isinstance(source, str) and "\n" in source:
        return source, "text", Path.cwd(), "scene"
    path = Path(source)
    if path.is_file():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise _sessile.SceneError(f"{path} is not a scene: it is not text ({error.reason})") from None
        return text, str(path), path.resolve().parent, path.stem
    built_in = dict(_sessile.built_in_scenes())
    if str(source) in built_in:
        return built_in[str(source)], f"{source} (built-in scene)", Path.cwd(), str(source)
    raise FileNotFoundError(f"no such file: {source}; sessile.scenes() lists the built-in scenes")
