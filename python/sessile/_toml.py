"""Writes Python values as TOML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def text(value: str) -> str:
    """A TOML string."""
    escaped = (_ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08x}") for c in value)
    return '"' + "".join(escaped) + '"'


def key(name: str) -> str:
    """A TOML key, quoted if it must be."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else text(name)


def value(item: Any) -> str:
    """A TOML value on one line."""
    if isinstance(item, str):
        return text(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{key(str(k))} = {value(v)}" for k, v in item.items()) + " }"
    if hasattr(item, "tolist"):
        return value(item.tolist())
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        if not math.isfinite(item):
            raise ValueError(f"{item} is not a number that a scene can have")
        return repr(item)
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(value(v) for v in item) + "]"
    if hasattr(item, "__fspath__"):
        return text(str(item))
    raise TypeError(f"a scene has no values of type {type(item).__name__}: {item!r}")


def document(scene: Mapping[str, Any]) -> str:
    """A scene as TOML, one line per key, so that errors have a line of their own."""
    lines: list[str] = []
    tables: list[str] = []
    for name, item in scene.items():
        if isinstance(item, Mapping) and name == "materials":
            for material, keys in item.items():
                tables += [f"[{key(name)}.{key(str(material))}]", *_keys(keys), ""]
        elif isinstance(item, Mapping):
            tables += [f"[{key(name)}]", *_keys(item), ""]
        elif isinstance(item, (list, tuple)) and item and all(isinstance(entry, Mapping) for entry in item):
            for entry in item:
                tables += [f"[[{key(name)}]]", *_keys(entry), ""]
        else:
            lines.append(f"{key(name)} = {value(item)}")
    return "\n".join([*lines, "", *tables])


def _keys(table: Mapping[str, Any]) -> list[str]:
    return [f"{key(str(name))} = {value(item)}" for name, item in table.items()]
