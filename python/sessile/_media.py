"""Images and videos of a run, shown by notebooks."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _sessile


class Image:
    """A rendered frame: `numpy.asarray(image)` is an array of rows × columns × RGB, bytes."""

    def __init__(self, png: bytes, path: Path | None = None) -> None:
        self.png = png
        """The contents of a PNG file."""
        self.path = path
        """The file, if it is one of the run's own images."""

    @property
    def array(self) -> NDArray[np.uint8]:
        """Rows × columns × RGB."""
        return _sessile.RunFolder.decode_image(self.png)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        del copy
        return self.array if dtype is None else self.array.astype(dtype)

    def save(self, path: str | Path) -> None:
        """Write a PNG file."""
        Path(path).write_bytes(self.png)

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        height, width, _ = self.array.shape
        return f"<Image of {width} x {height} pixels>"


class Video:
    """The video of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """The MP4 file."""

    def save(self, path: str | Path) -> None:
        """Copy the MP4 file."""
        shutil.copyfile(self.path, path)

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.path.read_bytes()).decode("ascii")
        return f'<video controls loop muted src="data:video/mp4;base64,{data}"></video>'

    def __repr__(self) -> str:
        return f"<Video {self.path}>"
