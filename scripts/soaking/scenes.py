"""Random legal scenes over the whole grammar. A model and a seed give the same scene on every machine."""

import math
import random

from .extras import add_extras
from .meshes import MESH_WRITERS, gray_png, random_mesh
from .solids import ClosedMesh, Solid, add, apply, length, scaled, unit
from .text import quantity

MODELS = ("pane", "droplet", "surface", "volume")
LIQUIDS = ("water", "soapy-water", "ethanol", "isopropanol", "ethylene-glycol", "glycerol", "glycerol-80", "glycerol-60",
           "glycerol-40", "honey", "milk", "blood", "olive-oil", "mercury", "silicone-oil-10", "silicone-oil-100")
PRESETS = ("glass", "glass-clean", "glass-outdoor", "windshield-coating", "acrylic", "ptfe", "wax", "steel", "ceramic",
           "wall-paint", "skin", "leaf", "lotus", "rose-petal", "superhydrophobic", "plastic-90-60", "glass-90-30")
# Frame interval (ms) and number of frames, per model: a run takes seconds.
TIMES = {"pane": ((10, 20, 50, 100), (3, 8)), "droplet": ((5, 10, 20, 50), (3, 8)),
         "surface": ((2, 4, 5, 10), (3, 8)), "volume": ((1, 2, 4), (3, 6))}


class Rng:
    """Random choices from `random()` alone, whose sequence Python keeps the same in every version."""

    def __init__(self, key):
        self.random = random.Random(key).random

    def between(self, low, high):
        return low + (high - low) * self.random()

    def log(self, low, high):
        return math.exp(self.between(math.log(low), math.log(high)))

    def integer(self, low, high):
        return min(high, low + int((high - low + 1) * self.random()))

    def pick(self, choices):
        return choices[self.integer(0, len(choices) - 1)]

    def chance(self, part):
        return self.random() < part

    def direction(self):
        z, turn = self.between(-1, 1), self.between(0, math.tau)
        r = math.sqrt(1 - z * z)
        return [r * math.cos(turn), z, r * math.sin(turn)]

    def inside_box(self, half):
        return [self.between(-half, half) for _ in range(3)]


def rounded(vector):
    return [float(f"{x:.4g}") for x in vector]


class Generator:
    """One scene: its dictionary, and the files beside it."""

    def __init__(self, model, seed):
        self.model, self.seed, self.rng = model, seed, Rng(f"soak {model} {seed}")
        self.files, self.meshes = {}, {}
        self.solids = []
        rng = self.rng
        frame, count = TIMES[model]
        self.frame, self.frames = rng.pick(frame), rng.integer(*count)
        self.duration = self.frame * self.frames
        self.planar = model == "volume" and rng.chance(0.15)
        self.paper = rng.chance(0.25)
        self.cell = rng.pick([0.2, 0.25, 0.3, 0.4]) if model == "volume" else 0.25
        self.edge = rng.pick([0.3, 0.4, 0.5, 0.8])

    def scene(self):
        rng = self.rng
        scene = {"title": f"soak {self.model} {self.seed}", "model": self.model}
        if self.paper:
            scene["fidelity"] = "paper"
        scene["seed"] = rng.integer(0, 2**31 - 1)
        scene["time"] = {"duration": quantity("ms", self.duration), "frame": quantity("ms", self.frame)}
        if rng.chance(0.12):
            scene["time"]["settle"] = True
        scene["liquid"] = self.liquid()
        scene["world"] = self.world()
        domain = self.domain()
        if domain:
            scene["domain"] = domain
        scene["resolution"] = self.resolution()
        scene["materials"] = {f"m{i}": self.material() for i in range(rng.integer(1, 2))}
        self.material_names = [*scene["materials"], *scene["materials"], *PRESETS[:: rng.integer(2, 5)]]
        scene.update(self.parameters())
        scene["solids"] = self.all_solids()
        scene["drops"] = self.drops()
        scene["emitters"] = self.emitters()
        self.add_air(scene)
        if not scene["drops"] and not scene["emitters"]:
            scene["drops"] = [self.sphere()]
        add_extras(scene, Rng(f"soak extras {self.model} {self.seed}"), self.files, self.meshes, self.duration)
        return {key: value for key, value in scene.items() if value not in ({}, [])}

    def liquid(self):
        rng = self.rng
        liquid = {"preset": "water" if rng.chance(0.4) else rng.pick(LIQUIDS)}
        if rng.chance(0.15):
            liquid["viscosity"] = quantity("mm^2/s", rng.log(0.3, 3000))
        if rng.chance(0.15):
            liquid["surface_tension"] = quantity("mN/m", rng.log(5, 500))
        if rng.chance(0.1):
            liquid["density"] = quantity("kg/m^3", rng.log(500, 14000))
        return liquid

    def add_air(self, scene):
        """Evaporation of a quarter of the scenes of water; choices of its own, so that the others keep theirs."""
        rng = Rng(f"soak air {self.model} {self.seed}")
        possible = scene["liquid"]["preset"] == "water" and not self.planar
        if not possible or (self.paper and self.model != "droplet") or not rng.chance(0.25):
            return
        scene["world"]["humidity"] = float(f"{rng.random():.3g}")
        scene["world"]["temperature"] = quantity("K", rng.between(275, 365))
        for solid in scene["solids"]:
            if rng.chance(0.5):
                solid["temperature"] = quantity("K", rng.between(275, 365))

    def world(self):
        rng, world = self.rng, {}
        kind = rng.random()
        if kind < 0.1:
            world["gravity"] = "0 0 0 m/s^2"
        elif kind < 0.25:
            world["gravity"] = quantity("m/s^2", *scaled(rng.direction(), rng.log(1, 40)))
        elif kind < 0.4:
            world["gravity"] = [
                {"at": "0 s", "value": "0 -9.8 0 m/s^2"},
                {"at": quantity("ms", self.duration * rng.between(0.2, 0.9)),
                 "value": quantity("m/s^2", *scaled(rng.direction(), rng.between(1, 15)))},
            ]
        if rng.chance(0.15):
            world["wind"] = quantity("m/s", *scaled(rng.direction(), rng.between(0.5, 8)))
        if self.planar:
            world["planar"] = True
        return world

    def domain(self):
        rng = self.rng
        if not rng.chance(0.35 if self.model == "volume" else 0.1):
            return None
        # A period is a whole number of tiles of eight cells.
        tiles = [rng.integer(5, 8) for _ in range(3)]
        half = [4 * self.cell * count for count in tiles]
        kinds = ("open", "wall", "symmetry", "periodic") if self.model == "volume" else ("open",)
        domain = {"min": quantity("mm", *(-h for h in half)), "max": quantity("mm", *half)}
        for axis in "xyz":
            kind = rng.pick(kinds)
            if kind != "open" and not (self.planar and axis == "z"):
                domain[axis] = kind
        return domain

    def resolution(self):
        rng, resolution = self.rng, {}
        if self.model == "volume":
            resolution["cell"] = quantity("mm", self.cell)
        elif rng.chance(0.7):
            resolution["edge"] = quantity("mm", self.edge)
        else:
            self.edge = 0.4
        return resolution

    def angle(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.12:
            return rng.pick([5.0, 10.0, 170.0, 175.0])
        if kind < 0.3:
            return rng.between(5, 30)
        return rng.between(5, 175) if kind < 0.6 else rng.between(20, 130)

    def material(self):
        rng, material = self.rng, {}
        advancing = self.angle()
        receding = max(5.0, advancing * (1.0 if rng.chance(0.3) else rng.between(0.1, 1.0)))
        if rng.chance(0.1):
            self.files.setdefault("map.png", gray_png([[(16 * i + 13 * j * j) % 256 for i in range(16)] for j in range(16)]))
            white = rng.between(receding, 175)
            material["advancing"] = {"image": "map.png", "black": quantity("deg", advancing), "white": quantity("deg", white)}
            advancing = min(advancing, white)
        else:
            material["advancing"] = quantity("deg", advancing)
        if rng.chance(0.8):
            material["receding"] = quantity("deg", receding)
            if rng.chance(0.2) and receding < advancing:
                material["wet_advancing"] = quantity("deg", rng.between(receding, advancing))
        if rng.chance(0.15):
            material["roughness"] = quantity("um", rng.between(0, 40))
        if rng.chance(0.1):
            material["receding_limit"] = quantity("mN/m", rng.between(5, 80))
        if rng.chance(0.08):
            material["affinity"] = round(rng.random(), 3)
        if rng.chance(0.05):
            material["adhesion"] = quantity("Pa", rng.between(0, 50))
        return material

    def parameters(self):
        rng, model = self.rng, self.model
        if not rng.chance(0.2):
            return {}
        if model == "pane":
            return {"pane": {"fine": rng.integer(1, 5)}}
        if model == "droplet":
            return {"droplet": {"slices": rng.integer(3, 16), "levels": rng.integer(1, 6)}}
        if model == "surface":
            keys = {"self_collision": rng.chance(0.5), "volume_correction": rng.pick(["local", "global", "both"])}
            if rng.chance(0.3):
                keys["dt"] = quantity("ms", rng.pick([0.25, 0.5, 1, 2]))
            return {"surface": keys}
        keys = {}
        if rng.chance(0.5):
            keys["curvature"] = rng.pick(["virtual-surface", "extension"])
        if rng.chance(0.3):
            keys["slip"] = quantity("mm", rng.between(0, 0.3))
        if rng.chance(0.3):
            keys["static_speed"] = quantity("mm/s", rng.between(0, 5))
        return {"volume": keys} if keys else {}

    def all_solids(self):
        rng = self.rng
        if self.model == "pane":
            return [self.solid(0, "plane", [0.0, 0.0, 0.0])]
        count = 0 if self.model in ("surface", "volume") and rng.chance(0.06) else 1 + rng.integer(0, 2) * rng.chance(0.45)
        entries = []
        for index in range(count):
            shape = rng.pick(["plane", "plane", "box", "sphere", "cylinder", "leaf", "mesh"])
            # The first touches the origin; the others stand near it, apart, touching or overlapping.
            offset = [0.0] * 3 if index == 0 else scaled(rng.direction(), rng.between(0, 10))
            entries.append(self.solid(index, shape, offset))
        return entries

    def solid(self, index, shape, offset):
        rng = self.rng
        entry = {"name": f"s{index}", "material": rng.pick(self.material_names), "shape": shape}
        make = {"plane": self.plane, "box": self.box, "sphere": self.ball, "cylinder": self.cylinder, "leaf": self.leaf,
                "mesh": self.mesh}[shape]
        make(entry, offset)
        turnable = shape not in ("plane", "sphere") and not self.planar
        if turnable and rng.chance(0.3):
            entry["rotate"] = quantity("deg", *(rng.between(-180, 180) for _ in range(3)))
        if rng.chance(0.25) and self.model != "pane":
            entry["motion"] = self.motion()
        body = Solid(entry)
        if shape == "mesh":
            positions = [add(apply(body.turn, scaled(p, 1e-3)), body.shift) for p in self.mesh_made[0]]
            body.mesh = ClosedMesh(positions, self.mesh_made[1])
        self.solids.append(body)
        return entry

    def plane(self, entry, offset):
        rng = self.rng
        tilt = rng.pick([0.0, 0.0, rng.between(0, 90), rng.between(0, 180)])
        if self.model == "pane":
            tilt = min(tilt, 90.0)
        turn = 0.0 if self.planar else rng.between(0, math.tau)
        tilt = math.radians(tilt)
        normal = [math.sin(tilt) * math.cos(turn), math.cos(tilt), math.sin(tilt) * math.sin(turn)]
        # Planes have no end: a second one is moved back along its normal.
        back = length(offset)
        entry["point"] = quantity("mm", *scaled(normal, -back))
        entry["normal"] = rounded(normal)
        entry["size"] = quantity("mm", rng.between(20, 50), rng.between(20, 50))

    def box(self, entry, offset):
        rng = self.rng
        size = [rng.between(3, 20), rng.log(0.8 if self.model == "volume" else 0.2, 12), rng.between(3, 20)]
        low = add(offset, [-size[0] / 2, -size[1], -size[2] / 2])
        entry["min"], entry["max"] = quantity("mm", *low), quantity("mm", *add(low, size))

    def ball(self, entry, offset):
        rng = self.rng
        radius = rng.log(1, 15)
        if rng.chance(0.15):
            entry["center"], entry["radius"], entry["inside"] = "0 0 0 mm", quantity("mm", rng.between(5, 15)), True
            return
        entry["center"], entry["radius"] = quantity("mm", *add(offset, [0, -radius, 0])), quantity("mm", radius)

    def cylinder(self, entry, offset):
        rng = self.rng
        radius, half = rng.log(1, 10), rng.between(2, 15)
        axis = [0.0, 0.0, 1.0] if self.planar else rng.direction()
        middle = add(offset, [0, -radius, 0])
        hollow = rng.chance(0.4)
        if hollow and rng.chance(0.5):
            middle = offset
        entry["from"] = quantity("mm", *add(middle, scaled(axis, -half)))
        entry["to"] = quantity("mm", *add(middle, scaled(axis, half)))
        entry["radius"] = quantity("mm", radius)
        if hollow:
            least = 2.2 * self.cell if self.model == "volume" else 0.1
            entry["wall"] = quantity("mm", min(0.8 * radius, max(least, radius * rng.between(0.05, 0.6))))

    def leaf(self, entry, offset):
        rng = self.rng
        axis = [0.0, 0.0, 1.0] if self.planar else rng.pick([[1.0, 0.0, 0.0], [1.0, rng.between(-1, 1), rng.between(-1, 1)]])
        entry["point"] = quantity("mm", *add(offset, [0, -abs(offset[1]), 0]))
        entry["axis"] = rounded(unit(axis))
        entry["angle"] = quantity("deg", rng.between(40, 180))
        entry["size"] = quantity("mm", rng.between(15, 40), rng.between(15, 40))

    def mesh(self, entry, offset):
        rng = self.rng
        kind, mesh = random_mesh(rng)
        suffix = rng.pick(sorted(MESH_WRITERS))
        name = f"{entry['name']}-{kind}.{suffix}"
        top = max(position[1] for position in mesh[0])
        if self.model == "volume":
            # The volume model refuses solids thinner than two cells.
            factor = max(1.0, 2.4 * self.cell / (2 * top))
            mesh = ([[x, y * factor, z] for x, y, z in mesh[0]], mesh[1])
            top *= factor
        self.mesh_made = mesh
        self.files[name] = MESH_WRITERS[suffix](mesh).encode()
        self.meshes[entry["name"]] = mesh
        entry["file"], entry["scale"] = name, 0.001
        entry["move"] = quantity("mm", *add(offset, [0, -top, 0]))

    def motion(self):
        rng = self.rng
        times = sorted(self.duration * rng.random() for _ in range(rng.integer(1, 3)))
        keys, move, turn = [{"at": "0 s"}], [0.0] * 3, [0.0] * 3
        turns = rng.chance(0.4)
        moves = not turns or rng.chance(0.6)
        before = 0.0
        for time in times:
            span = time - before
            if span < 0.02 * self.duration:
                continue
            # Up to 0.3 m/s (mm/ms) and 0.5 degrees per ms.
            speed = rng.log(0.003, 0.3)
            step = [0.0 if self.planar and axis == 2 else speed * span * x for axis, x in enumerate(rng.direction())]
            move = add(move, step) if moves else move
            turn = add(turn, scaled([0, 0, 1] if self.planar else rng.direction(), rng.between(0, 0.5) * span)) if turns else turn
            keys.append({"at": quantity("ms", time), "move": quantity("mm", *move), "rotate": quantity("deg", *turn)})
            before = time
        return keys

    def clear_point(self, radius):
        """A point with room for a drop around it, as far as ten tries and the analytic solids tell."""
        rng = self.rng
        anywhere = rng.chance(0.08)
        for _ in range(10):
            point = add(rng.inside_box(5), [0, rng.between(0, 5), 0])
            if self.planar:
                point[2] = 0.0
            place = scaled(point, 1e-3)
            if anywhere or all(solid.distance(place, 0.0) > 1.05e-3 * radius for solid in self.solids):
                break
        return point

    def size(self):
        """Radius of a drop, in mm."""
        rng = self.rng
        if self.model == "volume":
            return rng.between(3, 9) * self.cell
        if self.model == "surface":
            return rng.between(2.5, 7) * self.edge
        return rng.log(0.3, 3)

    def velocity(self, entry):
        rng = self.rng
        if rng.chance(0.4):
            direction = rng.direction() if rng.chance(0.4) else [rng.between(-0.3, 0.3), -1.0, rng.between(-0.3, 0.3)]
            if self.planar:
                direction[2] = 0.0
            entry["velocity"] = quantity("m/s", *scaled(direction, rng.log(0.05, 3)))

    def sphere(self):
        rng, radius = self.rng, self.size()
        entry = {"shape": "sphere", "center": quantity("mm", *self.clear_point(radius)), "radius": quantity("mm", radius)}
        if rng.chance(0.15) and self.model in ("surface", "volume"):
            entry["mode"], entry["amplitude"] = rng.integer(2, 4), round(rng.between(-0.3, 0.3), 3)
        self.velocity(entry)
        return entry

    def cap(self, on):
        rng, radius = self.rng, self.size()
        center = rng.inside_box(6)
        if self.planar:
            center[2] = 0.0
        entry = {"shape": "cap", "on": on, "center": quantity("mm", *center)}
        if self.planar or rng.chance(0.5):
            entry["radius"] = quantity("mm", radius)
        else:
            entry["volume"] = quantity("uL", 4 / 3 * math.pi * radius**3)
        if rng.chance(0.45):
            entry["contact_angle"] = quantity("deg", rng.between(15, 150))
        if rng.chance(0.15):
            self.velocity(entry)
        return entry

    def drop(self):
        rng = self.rng
        shape = rng.pick(["sphere", "sphere", "cap", "cap", "cap", "cap", "box", "cylinder"])
        if shape == "cap" and self.solid_names:
            return self.cap(rng.pick(self.solid_names))
        if shape == "box":
            half = [self.size() for _ in range(3)]
            center = self.clear_point(length(half))
            entry = {"shape": "box", "min": quantity("mm", *add(center, scaled(half, -1))),
                     "max": quantity("mm", *add(center, half))}
            self.velocity(entry)
            return entry
        if shape == "cylinder" and not self.planar:
            radius, half = self.size(), self.size()
            center, axis = self.clear_point(radius + half), rng.direction()
            return {"shape": "cylinder", "from": quantity("mm", *add(center, scaled(axis, -half))),
                    "to": quantity("mm", *add(center, scaled(axis, half))), "radius": quantity("mm", radius)}
        return self.sphere()

    def drops(self):
        rng = self.rng
        self.solid_names = [solid.name for solid in self.solids]
        if self.model in ("surface", "volume"):
            count = rng.pick([0, 1, 1, 1, 2, 3])
        else:
            count = rng.pick([0, 1, 1, 2, 5, 15])
        return [self.drop() for _ in range(count)]

    def emitters(self):
        rng = self.rng
        if not rng.chance(0.4):
            return []
        kinds = ["drip", "drip", "tap", "feed", "rain"]
        if self.model in ("pane", "droplet"):
            kinds += ["rain", "dew"]
        return [self.emitter(rng.pick(kinds)) for _ in range(1 + rng.chance(0.25))]

    def emitter(self, kind):
        rng, duration = self.rng, self.duration
        radius = self.size() if self.model in ("surface", "volume") else rng.between(0.3, 2)
        if kind in ("rain", "dew") and not self.solid_names:
            kind = "drip"
        entry = {"kind": kind}
        if kind == "drip":
            entry.update(at=quantity("mm", *self.clear_point(radius)), radius=quantity("mm", radius),
                         every=quantity("ms", duration * rng.pick([0.1, 0.3, 1.0])))
            self.velocity(entry)
        elif kind == "tap":
            direction = [rng.between(-0.5, 0.5), -1.0, 0.0]
            entry.update(at=quantity("mm", *self.clear_point(radius)), radius=quantity("mm", 0.7 * radius),
                         speed=quantity("m/s", rng.log(0.05, 1)), direction=rounded(unit(direction)))
        elif kind == "rain":
            entry.update(over=rng.pick(self.solid_names), rate=quantity("mm/h", rng.log(10, 5000)))
            if self.model in ("surface", "volume") or rng.chance(0.3):
                entry["radius"] = quantity("mm", radius)
        elif kind == "dew":
            entry.update(on=rng.pick(self.solid_names), rate=quantity("uL/m^2/s", rng.log(1, 200)))
        else:
            entry.update(at=quantity("mm", *self.clear_point(radius)),
                         rate=quantity("mm^2/s" if self.planar else "uL/s", rng.pick([-1, 1]) * rng.log(0.5, 200)))
        if rng.chance(0.3):
            entry["start"] = quantity("ms", duration * rng.between(0, 0.5))
        if rng.chance(0.3):
            entry["stop"] = quantity("ms", duration * rng.between(0.55, 1))
        return entry


def generate(model, seed):
    """The scene of a model and a seed, and the files beside it (name to bytes)."""
    generator = Generator(model, seed)
    scene = generator.scene()
    return scene, generator.files
