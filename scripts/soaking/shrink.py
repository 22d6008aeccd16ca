"""Makes a failing scene smaller while the same invariant fails."""

import copy
import re

from .text import number_text, scene_text

# Keys without which a scene is not legal, or is another one.
KEEP = {"model", "time", "duration", "frame", "shape", "kind", "file", "min", "max", "from", "to", "radius", "at", "rate",
        "name", "advancing", "on", "over", "image", "black", "white", "scale", "cell", "value", "resolution"}
QUANTITY = re.compile(r"^([-+\d.eE ]+)( [a-zA-Z].*)$")


def paths(value, path=()):
    """Every path into a scene, deepest last."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield path + (key,)
        yield from paths(inner, path + (key,))


def at(scene, path):
    for key in path:
        scene = scene[key]
    return scene


def without(scene, path):
    """A copy without the entry at `path`."""
    smaller = copy.deepcopy(scene)
    del at(smaller, path[:-1])[path[-1]]
    return smaller


def replaced(scene, path, value):
    changed = copy.deepcopy(scene)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def rounder(value, placed):
    """Simpler forms of a value, simplest first; a position of liquid is `placed` and keeps its coordinates."""
    if isinstance(value, str) and QUANTITY.match(value):
        numbers, unit = QUANTITY.match(value).groups()
        for digits in (1, 2, 3):
            text = " ".join(number_text(float(f"{float(x):.{digits}g}")) for x in numbers.split()) + unit
            if text != value:
                yield text
        if len(numbers.split()) == 3 and not placed:
            for axis in range(3):
                zeroed = ["0" if i == axis else x for i, x in enumerate(numbers.split())]
                if " ".join(zeroed) != numbers.strip():
                    yield " ".join(zeroed) + unit


def removals(scene):
    """Scenes with one entry less: whole entries of lists first, then keys."""
    for path in paths(scene):
        if isinstance(path[-1], int) and isinstance(at(scene, path), dict):
            yield without(scene, path)
    for path in paths(scene):
        if isinstance(path[-1], str) and path[-1] not in KEEP:
            yield without(scene, path)


def simplifications(scene):
    """Scenes with one rounder number, or a plainer shape."""
    if scene.get("fidelity") == "paper":
        yield without(scene, ("fidelity",))
    for path in paths(scene):
        for value in rounder(at(scene, path), path[-1] in ("center", "at", "min", "max") and path[0] != "solids"):
            yield replaced(scene, path, value)


def shrink(scene, fails, attempts=120):
    """The smallest scene found for which `fails(scene)` still holds."""
    tried = set()
    for candidates in (removals, simplifications):
        changed = True
        while changed and attempts > 0:
            changed = False
            for smaller in candidates(scene):
                text = scene_text(smaller)
                if text in tried:
                    continue
                if attempts <= 0:
                    break
                tried.add(text)
                attempts -= 1
                if fails(smaller):
                    scene, changed = smaller, True
                    break
    return scene
