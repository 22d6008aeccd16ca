"""Scenes as nested dictionaries: written as TOML, and their quantities read in SI units."""

import math
import re

# Symbols of the scene grammar with their value in SI units.
PREFIXES = {"": 1.0, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3, "M": 1e6, "p": 1e-12}
BASES = {"m": 1.0, "s": 1.0, "g": 1e-3, "N": 1.0, "Pa": 1.0, "Hz": 1.0, "rad": 1.0, "L": 1e-3, "l": 1e-3, "St": 1e-4,
         "P": 0.1, "bar": 1e5}
SYMBOLS = {"deg": math.pi / 180, "°": math.pi / 180, "min": 60.0, "h": 3600.0, "in": 0.0254, "dyn": 1e-5, "1": 1.0}


def symbol_value(symbol):
    """Value of one unit symbol in SI units."""
    if symbol in SYMBOLS:
        return SYMBOLS[symbol]
    if symbol in BASES:
        return BASES[symbol]
    for prefix, factor in PREFIXES.items():
        if prefix and symbol.startswith(prefix) and symbol[len(prefix):] in BASES:
            return factor * BASES[symbol[len(prefix):]]
    raise ValueError(f"unknown unit {symbol!r}")


def unit_value(unit):
    """Value of a unit such as `uL/m^2/s` in SI units; a `/` divides by the next symbol only."""
    value = 1.0
    for operator, symbol, power in re.findall(r"(/?)\s*([a-zA-Zµ°1]+)(?:\^(-?\d+))?", unit):
        exponent = int(power or 1) * (-1 if operator else 1)
        value *= symbol_value(symbol) ** exponent
    return value


def si(quantity):
    """A quantity with unit, in SI: a number, or a list of numbers for a vector."""
    match = re.match(r"^\s*((?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*)+)(.*)$", quantity)
    if not match:
        raise ValueError(f"not a quantity: {quantity!r}")
    factor = unit_value(match.group(2))
    numbers = [float(number) * factor for number in match.group(1).split()]
    return numbers[0] if len(numbers) == 1 else numbers


def number_text(value):
    """A number with six digits, without an exponent where that is short."""
    text = f"{value:.6g}"
    return "0" if text == "-0" else text


def quantity(unit, *values):
    """A quantity of the scene grammar, e.g. `quantity("mm", 1, 2, 3)`."""
    return " ".join(number_text(value) for value in values) + " " + unit


def value_text(value):
    """A value as inline TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value) if isinstance(value, float) else str(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {value_text(inner)}" for key, inner in value.items()) + " }"
    return "[" + ", ".join(value_text(inner) for inner in value) + "]"


def scene_text(scene):
    """A scene as TOML: scalars, then tables, then the lists of solids, drops and emitters."""
    lines = [f"{key} = {value_text(value)}" for key, value in scene.items() if not isinstance(value, (dict, list))]
    for key, table in scene.items():
        if not isinstance(table, dict):
            continue
        # Materials are tables by name.
        nested = {f"{key}.{name}": inner for name, inner in table.items()} if key == "materials" else {key: table}
        for name, inner in nested.items():
            lines += ["", f"[{name}]", *(f"{k} = {value_text(v)}" for k, v in inner.items())]
    for key, entries in scene.items():
        if isinstance(entries, list):
            for entry in entries:
                lines += ["", f"[[{key}]]", *(f"{k} = {value_text(v)}" for k, v in entry.items())]
    return "\n".join(lines) + "\n"
