"""Further keys of random scenes, from choices of their own: a scene keeps the rest of its keys when one is added here."""

from .meshes import MESH_WRITERS, gray_png
from .text import quantity

LOOKS = ("glass", "metal", "plastic", "rubber", "ceramic", "stone", "wood", "paint", "leaf", "skin", "matte", "slate")
TEXTURES = ("checker", "tiles", "grid", "stripes", "wood", "noise")


def add_extras(scene, rng, files, meshes, duration):
    """Adds keys to a scene; `meshes` has the positions and triangles of its mesh solids by name, `duration` is in ms."""
    model, paper = scene["model"], scene.get("fidelity") == "paper"
    if rng.chance(0.2):
        scene["world"]["tilt"] = tilt(rng, duration)
    for solid in scene["solids"]:
        if len(solid.get("motion", [])) > 2 and rng.chance(0.3):
            solid["interpolation"] = "smooth"
        if model in ("droplet", "surface") and solid["name"] in meshes and "motion" not in solid and rng.chance(0.35):
            solid["deform"] = deformation(rng, solid, meshes[solid["name"]], files, duration)
        add_appearance(rng, solid)
    if rng.chance(0.1):
        files.setdefault("backdrop.png", gray_png([[(40 * i + 9 * j) % 256 for i in range(12)] for j in range(8)]))
        scene["render"] = {"backdrop": "backdrop.png", "exposure": round(rng.log(0.1, 10), 3)}
    if rng.chance(0.1):
        scene["time"]["start_frame"] = rng.integer(1, 1000)
    scene["output"] = output(rng, model)
    add_parameters(rng, scene, model, paper)


def tilt(rng, duration):
    end = quantity("deg", rng.between(-180, 180))
    if rng.chance(0.5):
        return end
    return [{"at": quantity("ms", duration * rng.between(0, 0.4)), "value": "0 deg"},
            {"at": quantity("ms", duration * rng.between(0.5, 1)), "value": end}]


def deformation(rng, solid, mesh, files, duration):
    """Samples of a mesh that is stretched by up to a fifth along each axis."""
    positions, triangles = mesh
    stem, suffix = solid["file"].rsplit(".", 1)
    keys = [{"at": "0 s", "file": solid["file"]}]
    for index in range(rng.integer(1, 2)):
        factor = [rng.between(0.8, 1.2) for _ in range(3)]
        name = f"{stem}-{index}.{suffix}"
        files[name] = MESH_WRITERS[suffix](([[x * f for x, f in zip(p, factor)] for p in positions], triangles)).encode()
        keys.append({"at": quantity("ms", duration * (index + rng.between(0.2, 0.9)) / 2), "file": name})
    return keys


def add_appearance(rng, solid):
    if not rng.chance(0.15):
        return
    solid["color"] = rng.pick(["#336699", [round(rng.random(), 3) for _ in range(3)]])
    solid["look"], solid["texture"] = rng.pick(LOOKS), rng.pick(TEXTURES)
    roughness, metallic = round(rng.random(), 3), round(rng.random(), 3)
    if solid["look"] != "glass":
        solid["roughness_look"], solid["metallic"] = roughness, metallic
    solid["texture_tiling"] = [round(rng.log(0.1, 10), 3), round(rng.log(0.1, 10), 3)]
    solid["texture_rotation"] = quantity("deg", rng.between(-180, 180))


def output(rng, model):
    keys = {}
    if rng.chance(0.15) and model != "surface":
        keys["wet_size"] = rng.pick([16, 100, 512])
    if rng.chance(0.1):
        keys["wet_age"] = True
        if rng.chance(0.5):
            keys["drying"] = quantity("ms", rng.log(1, 100))
    if rng.chance(0.1) and model == "volume":
        keys["fields"] = True
    return keys


def add_parameters(rng, scene, model, paper):
    """Parameters of the model, and coefficients of its paper mode that vary by image."""
    if model == "droplet" and paper and rng.chance(0.4):
        material = scene["materials"]["m0"]
        material["friction"] = quantity("g/s", rng.log(0.02, 5))
        if "map.png" in str(material):
            material["adhesion"] = {"image": "map.png", "white": quantity("Pa", rng.between(1, 50))}
    if model == "pane" and paper and rng.chance(0.3):
        scene.setdefault("pane", {})["pass"] = quantity("ms", rng.between(10, 100))
    if model == "volume" and rng.chance(0.15):
        scene.setdefault("volume", {})["slip"] = rng.pick(["0 nm", "10 nm", "100 nm"])
    if model == "surface" and rng.chance(0.1):
        scene.setdefault("surface", {})["mu"] = quantity("1/s", rng.between(0, 2))
