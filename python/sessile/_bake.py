"""Runs a scene for another program: `python -m sessile._bake SCENE RUN USD`.

One JSON object per line on standard output: `{"frame": 3, "of": 48}`, `{"notice": "…"}`, `{"usd": "…", "frames": 12}`
whenever the USD file is new, and at the end `{"done": "done"}`, `{"done": "stopped"}` or `{"error": "…"}`. When
standard input ends, the run stops with a checkpoint; the same command resumes it.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from . import _sessile
from ._run import Run
from ._scene import Scene

EXPORT_EVERY = 5.0
"""Seconds between two USD files at the least; writing one takes at most a tenth of the time."""


class _Stopped(Exception):
    """Standard input has ended."""


def _say(**report: Any) -> None:
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()


class _Bake:
    def __init__(self, run: Path, usd: Path) -> None:
        self._run, self._usd = run, usd
        self._stop = threading.Event()
        self._frame = -1
        self._next = time.monotonic() + EXPORT_EVERY
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while sys.stdin.readline():
            pass
        self._stop.set()

    def report(self, activity: str, done: float, total: int, notices: list[str]) -> None:
        for notice in notices:
            _say(notice=notice)
        if activity == "simulate" and int(done) != self._frame:
            self._frame = int(done)
            _say(frame=self._frame, of=total)
        if self._stop.is_set():
            raise _Stopped
        if time.monotonic() > self._next and self._frame > 0:
            begun = time.monotonic()
            self.export()
            self._next = time.monotonic() + max(EXPORT_EVERY, 10 * (time.monotonic() - begun))

    def export(self) -> None:
        frames = len(Run(self._run))
        _sessile.export(self._run, "usd", self._usd, 0, frames - 1, True, 1, None)
        _say(usd=str(self._usd), frames=frames)


def main(scene: str, run: str, usd: str) -> int:
    """Bake; return the exit code."""
    bake = _Bake(Path(run), Path(usd))
    try:
        parsed = Scene(scene)
        _sessile.simulate(parsed._inner, Path(run), parsed.name, None, False, 10.0, bake.report)
        bake.export()
    except _Stopped:
        bake.export()
        _say(done="stopped")
        return 0
    except Exception as error:  # noqa: BLE001 - every failure is reported to the other program
        _say(error=str(error))
        return 1
    _say(done="done")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
