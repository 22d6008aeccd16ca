"""A progress bar for terminals, notebooks and logs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Union

Callback = Callable[[str, float, int, list[str]], None]
ProgressLike = Union[bool, Callable[[str, float, int], None]]

_WIDTH = 30
_WORDS = {"simulate": "frames", "render": "images", "export": "frames", "write": "video frames"}


def callback(progress: ProgressLike) -> Callback:
    """The function that the background thread's reports go to."""
    if progress is False:
        return _silent
    if progress is True:
        return _notebook_bar() or _Bar(_terminal_line).report
    chosen = progress

    def report(activity: str, done: float, total: int, notices: list[str]) -> None:
        for notice in notices:
            print(notice, file=sys.stderr)
        chosen(activity, done, total)

    return report


def _silent(activity: str, done: float, total: int, notices: list[str]) -> None:
    del activity, done, total, notices


class _Bar:
    """Formats reports as a line and shows those that say something new."""

    def __init__(self, show: Callable[[str, bool], None]) -> None:
        self._show = show
        self._shown = ""
        self._activity = ""
        self._begun = time.monotonic()

    def report(self, activity: str, done: float, total: int, notices: list[str]) -> None:
        for notice in notices:
            self._show(notice, True)
        if not activity or total == 0:
            return
        if activity != self._activity:
            self._activity, self._begun = activity, time.monotonic()
        full = done >= total
        filled = min(_WIDTH, int(_WIDTH * done / total))
        seconds = time.monotonic() - self._begun
        left = "" if full or done <= 0 else f", {_duration(seconds * (total - done) / done)} left"
        line = f"{'█' * filled}{'░' * (_WIDTH - filled)} {int(done)}/{total} {_WORDS[activity]}"
        line += f", {_duration(seconds)}{left}"
        if line != self._shown:
            self._shown = line
            self._show(line, full)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds // 60:.0f}:{seconds % 60:02.0f} min"


def _terminal_line(line: str, last: bool) -> None:
    """Replace the last line of a terminal; in a log, write only last lines."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" + line + ("\n" if last else ""))
    elif last:
        sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _notebook_bar() -> Callback | None:
    """A bar that a notebook replaces in place; none outside a notebook."""
    shell = sys.modules.get("IPython")
    instance: Any = shell.get_ipython() if shell is not None else None
    if instance is None or not hasattr(instance, "kernel"):
        return None
    display: Any = __import__("IPython.display", fromlist=["display"])
    handle: Any = display.display(display.Markdown(""), display_id=True)
    notices: list[str] = []
    current = [""]

    def show(line: str, last: bool) -> None:
        if last and "█" not in line and "░" not in line:
            notices.append(line)
        else:
            current[0] = line
        handle.update(display.Markdown("```text\n" + "\n".join([*notices, current[0]]) + "\n```"))

    return _Bar(show).report
