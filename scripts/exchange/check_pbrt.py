"""Checks the syntax of pbrt-v4 scenes without pbrt: quotes, blocks, directives, parameters, files.

Arguments: FOLDER.
"""

import pathlib
import re
import sys

DIRECTIVES = {
    "Scale", "LookAt", "Camera", "Sampler", "Integrator", "Film", "WorldBegin", "LightSource", "AreaLightSource", "AttributeBegin", "AttributeEnd",
    "Material", "MakeNamedMaterial", "NamedMaterial", "MakeNamedMedium", "MediumInterface", "Texture", "Shape",
}
TYPES = {"float", "integer", "string", "bool", "rgb", "point3", "texture", "spectrum"}


def main():
    folder = pathlib.Path(sys.argv[1])
    scenes = sorted(folder.glob("*.pbrt"))
    assert scenes
    for path in scenes:
        text = re.sub(r"#.*", "", path.read_text())
        tokens = re.findall(r'"[^"]*"|\[|\]|[^\s\[\]"]+', text)
        assert text.count('"') % 2 == 0 and tokens.count("[") == tokens.count("]"), path
        depth = 0
        for token in tokens:
            if re.fullmatch(r"[A-Z][A-Za-z]+", token):
                assert token in DIRECTIVES, f"{path}: {token}"
                depth += {"AttributeBegin": 1, "AttributeEnd": -1}.get(token, 0)
                assert depth >= 0, path
            elif not token.startswith('"') and token not in "[]":
                assert token in ("true", "false") or float(token) == float(token), f"{path}: {token}"
        assert depth == 0 and tokens.count("WorldBegin") == 1, path
        for declared in re.findall(r'"([a-z0-9]+) [a-zA-Z_]+"', text):
            assert declared in TYPES, f"{path}: {declared}"
        made = set(re.findall(r'MakeNamedMaterial "([^"]+)"', text))
        for name in re.findall(r'\bNamedMaterial "([^"]+)"', text):
            assert name in made, f"{path}: no material {name}"
        files = re.findall(r'"string filename" "([^"]+)"', text)
        for name in files[1:]:
            assert (folder / name).is_file(), f"{path}: no {name}"
    print(f"pbrt: {len(scenes)} scenes are well formed, and their files exist")


main()
