"""The JSON Schema of scenes, with the validator `jsonschema`: valid scenes pass, wrong ones do not, keys are described.

    check_schema.py SCHEMA FOLDER...        # folders of valid scenes
"""

import json
import pathlib
import sys
import tomllib

import jsonschema

schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

scenes = [path for folder in sys.argv[2:] for path in sorted(pathlib.Path(folder).glob("*.toml"))]
for path in scenes:
    error = jsonschema.exceptions.best_match(validator.iter_errors(tomllib.loads(path.read_text())))
    assert error is None, f"{path}: {error and error.message}"

START = 'model = "volume"\ntime = { duration = "1 s", frame = "1 s" }\n'
WRONG = [
    "sede = 3",
    "seed = -1",
    "[render]\nsamples = 0",
    "[render]\nsize = [640]",
    '[resolution]\ncell = "3"',
    '[resolution]\ncell = "3 mmm"',
    '[world]\nwind = "1 m/s"',
    '[[solids]]\nlook = "glas"',
    '[[solids]]\nshape = "sphere"',
    '[[solids]]\nradius = "3 mm"',
    '[[emitters]]\nkind = "tap"\nevery = "1 s"',
    '[materials.wax]\nadvancng = "90 deg"',
]
assert validator.is_valid(tomllib.loads(START))
for wrong in WRONG:
    assert not validator.is_valid(tomllib.loads(START + wrong)), f"accepted: {wrong}"


def described(table, path):
    """The number of keys, each with a description."""
    count = 0
    for name, key in table.get("properties", {}).items():
        assert key.get("description"), f"{path}.{name} has no description"
        count += 1 + described(key, f"{path}.{name}")
    for part in [*table.get("anyOf", []), table.get("items", {}), table.get("additionalProperties", {})]:
        count += described(part, path) if isinstance(part, dict) and part else 0
    return count


keys = described(schema, "scene")
size = pathlib.Path(sys.argv[1]).stat().st_size
print(f"schema: {len(scenes)} scenes valid, {len(WRONG)} wrong ones refused, {keys} keys described, {size / 1e3:.0f} kB")
