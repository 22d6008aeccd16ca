"""Many runs of one scene, and searches for a threshold."""

from __future__ import annotations

import csv
import itertools
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _sessile, _toml
from ._run import run
from ._scene import Scene, SceneLike

BISECTIONS = 7
"""Halvings of the interval by `find`."""


def sweep(
    scene: SceneLike,
    over: Mapping[str, str | Sequence[Any]],
    out: str | os.PathLike[str],
    *,
    zip: bool = False,
    jobs: int | None = None,
    progress: bool = True,
) -> list[dict[str, Any]]:
    """Run a scene with every combination of values; return one dict per run.

    `over` maps keys to lists of values, or to text as on the command line: `"1..8 uL / 4"`, `"uniform(1, 2) mm * 10"`.
    With `zip` the n-th values belong together. The runs are in `out/runs/00000` …, each with one thread, `jobs` of
    them at a time (default: all cores); a repeated call resumes. Each dict has `run`, the keys, `status`, `error`, and
    the measures `final.…` and `peak.…` of the largest drop; `out/results.csv` has the same rows, and
    `pandas.DataFrame(rows)` is a table of them. A run that fails is a row with its error.
    """
    scene = Scene(scene)
    axes = [_axis(key, values, scene.seed) for key, values in over.items()]
    keys = [key for key, _ in axes]
    if zip and len({len(values) for _, values in axes}) > 1:
        raise _sessile.SceneError("with zip, all keys need the same number of values")
    columns = [values for _, values in axes]
    combinations = [tuple(row) for row in (_zipped(columns) if zip else itertools.product(*columns))]
    # Wrong values are reported before anything is run.
    scenes = [_with(scene, keys, row) for row in combinations]
    folder = Path(out)
    stop = threading.Event()

    def unless_stopped(activity: str, done: float, total: int, notices: list[str]) -> None:
        del activity, done, total, notices
        if stop.is_set():
            raise KeyboardInterrupt

    def one(index: int) -> dict[str, Any]:
        path = folder / "runs" / f"{index:05}"
        row: dict[str, Any] = {"run": index, **dict(_zipped_pairs(keys, combinations[index]))}
        try:
            _sessile.simulate(scenes[index]._inner, path, path.name, 1, False, 30.0, unless_stopped)
        except (_sessile.RunError, _sessile.SceneError) as error:
            return {**row, "status": "failed", "error": str(error)}
        return {**row, "status": "done", "error": "", **dict(_sessile.run_summary(path))}

    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        try:
            for row in pool.map(one, range(len(scenes))):
                rows.append(row)
                if progress:
                    print(f"{len(rows)} of {len(scenes)} runs: {row['status']}", file=sys.stderr)
        except KeyboardInterrupt:
            # Runs in progress write a checkpoint and end.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    _write(folder / "results.csv", rows)
    return rows


@dataclass(frozen=True)
class Found:
    """Where a condition changes: between `low` and `high`, in `unit`."""

    key: str
    low: float
    high: float
    unit: str
    holds_above: bool
    """Whether the condition holds at the upper end."""
    rows: list[dict[str, Any]]
    """The runs: `run`, the key's value, and whether the condition `holds`."""


def find(
    scene: SceneLike,
    condition: str,
    between: tuple[str, str],
    out: str | os.PathLike[str],
    *,
    threads: int | None = None,
    progress: bool = True,
) -> Found:
    """Bisect for the value of a key at which a condition becomes true or false.

    `condition` is `slides`, `detaches`, `merges` or a comparison such as `final.height < 0.001`; `between` is a key and
    its interval: `find(scene, "slides", ("world.tilt", "10..60 deg"), "searches/tilt")`. Seven bisections narrow the
    interval to 1/128.
    """
    scene = Scene(scene)
    key, low, high, unit = _sessile.interval(f"{between[0]}={between[1]}")
    _sessile.holds(condition)
    folder = Path(out)
    rows: list[dict[str, Any]] = []

    def holds(number: float) -> bool:
        value: Any = f"{number!r} {unit}" if unit else number
        path = folder / "runs" / f"{len(rows):05}"
        run(scene.copy().set(key, value), path, threads=threads, progress=False)
        truth = _sessile.holds(condition, path)
        rows.append({"run": len(rows), key: value, "holds": truth})
        if progress:
            print(f"{key} = {value}: {condition} is {truth}", file=sys.stderr)
        return truth

    below, above = holds(low), holds(high)
    if below == above:
        raise _sessile.RunError(
            f"{condition} is {below} at both ends of {key} = {between[1]}; widen the interval or lengthen time.duration"
        )
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if holds(middle) == below:
            low = middle
        else:
            high = middle
    return Found(key, low, high, unit, above, rows)


def _axis(key: str, values: str | Sequence[Any], seed: int) -> tuple[str, list[Any]]:
    if isinstance(values, str):
        return _sessile.sweep_values(f"{key}={values}", seed)
    return key, list(values)


def _zipped(columns: list[list[Any]]) -> list[tuple[Any, ...]]:
    return [tuple(column[i] for column in columns) for i in range(len(columns[0]))] if columns else []


def _zipped_pairs(keys: list[str], row: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [(key, row[i]) for i, key in enumerate(keys)]


def _with(scene: Scene, keys: list[str], row: tuple[Any, ...]) -> Scene:
    changed = scene.copy()
    for key, value in _zipped_pairs(keys, row):
        changed.set(key, _number(value))
    return changed


def _number(value: Any) -> Any:
    """Values of ranges without a unit come as text."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    with partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            plain = (str, int, float, bool, type(None))
            writer.writerow({k: v if isinstance(v, plain) else _toml.value(v) for k, v in row.items()})
    partial.replace(path)
