"""Checks every invariant of a run folder, independently of the program that wrote it.

A violation is a name of `INVARIANTS` and a message with the numbers. What a run reports about itself (notices on
standard error, `warnings` in run.json) can excuse a violation; excused ones are counted apart.
"""

import json
import math
import pathlib
import re
import tomllib

from .meshes import read_text_mesh
from .solids import ClosedMesh, DeformingMesh, Solid, add, apply, length, rotation_xyz, scaled
from .surfaces import BadFrame, all_finite, bodies, read_frame, read_mesh, thickness
from .text import si

INVARIANTS = {
    "exit": "the run ends with exit status 0 and status done",
    "panic": "the program does not panic",
    "files": "every frame has its surfaces and its measures",
    "finite": "all numbers are finite",
    "balance": "total_volume + lost_volume + evaporated_volume = added_volume",
    "drops": "the volumes of the drops and the film add up to total_volume",
    "body": "the frame shows the volume of the balance",
    "body-fine": "after 10 ms, the volume model's surfaces enclose the volume of the balance to 0.1 %",
    "grid": "after 10 ms, the volume model's grid holds the volume of the balance to 0.1 %",
    "drop-body": "every surface encloses the volume of its drop",
    "closed": "every edge is used twice, in opposite directions",
    "oriented": "every surface encloses a positive volume",
    "inside-solid": "no surface reaches deep into a solid",
    "speed": "speeds stay below a generous bound",
    "ids": "ids are not reused, and drops appear and vanish for a reason",
    "events": "merges and splits name drops that exist",
    "time": "steps and the run take a reasonable time",
    "resume": "a run resumed on another number of threads is bit-identical",
}
# Words in a notice that excuse a violation: the program says itself what is wrong.
BODY = r"on the grid has|missing|cannot (be )?shown?|not shown|shows? (less|more)|differs?|too coarse|not resolved"
EXCUSES = {
    "body": BODY,
    "body-fine": BODY,
    "grid": BODY,
    "drop-body": BODY,
    "oriented": BODY,
    "inside-solid": r"\binside\b|into `|penetrat|squeez|crush|closing",
    "speed": r"unphysical|damp|speed",
    "time": r"estimate|step|long",
    "balance": r"balance",
}
# Lines that are no notice: progress, errors, and the source excerpts under a scene's warnings.
PROGRESS = re.compile(r"^(frame \d+/|done:|settled|resum|stopped|error|-->|\d* ?\||=|\d+ warnings? in )|real time$")
# Seconds of processor time per step above which a run of this size is too slow.
SLOW_STEP = 2.0
# A volume below this, in m³, is not compared one by one (1 nL).
TINY = 1e-12


class Violation:
    def __init__(self, invariant, message, frame=None):
        self.invariant, self.message, self.frame = invariant, message, frame

    def __str__(self):
        where = "" if self.frame is None else f" (frame {self.frame})"
        return f"{self.invariant}: {self.message}{where}"


def notices(stderr, info):
    """What the run reported about itself, one line each."""
    lines = [line.strip() for line in stderr.splitlines()]
    lines = [line for line in lines if line and not PROGRESS.search(line)]
    for key in ("warnings", "notices"):
        lines += [str(entry) for entry in info.get(key, [])]
    return lines


def excused(violation, said):
    """The notice that excuses a violation, or None."""
    words = EXCUSES.get(violation.invariant)
    return next((line for line in said if words and re.search(words, line, re.I)), None)


def reject_constant(name):
    raise ValueError(f"{name} in measure.jsonl")


class Run:
    """A run folder and its scene, with defaults resolved."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.scene = tomllib.loads((self.folder / "scene.toml").read_text())
        self.info = json.loads((self.folder / "run.json").read_text())
        self.model = self.scene["model"]
        self.planar = self.scene.get("world", {}).get("planar", False)
        self.violations = []
        self.solids = [Solid(entry, self.solid_mesh(entry)) for entry in self.scene.get("solids", [])]
        resolution = self.scene.get("resolution", {})
        key = "cell" if self.model == "volume" else "edge"
        self.spacing = si(resolution[key]) if key in resolution else 4e-4

    def solid_mesh(self, entry):
        """The mesh of a solid that has no analytic distance, in the rest pose."""
        if entry.get("shape") != "mesh":
            return None
        if entry.get("deform"):
            return self.deforming_mesh(entry)
        name = re.sub(r"[^\w.-]", "_", entry["name"])
        return ClosedMesh(*read_mesh((self.folder / "solids" / f"{name}.ply").read_bytes()))

    def deforming_mesh(self, entry):
        """The mesh of a deforming solid: its samples, scaled and placed."""
        read = lambda name: read_text_mesh(self.folder / name)
        positions, triangles = read(entry["file"])
        extent = max(p[1] for p in positions) - min(p[1] for p in positions)
        factor = si(entry["height"]) / extent if "height" in entry else entry.get("scale", 1.0)
        zero = [0.0, 0.0, 0.0]
        turn, move = rotation_xyz(si(entry["rotate"]) if "rotate" in entry else zero), entry.get("move")
        place = lambda p: add(apply(turn, scaled(p, factor)), si(move) if move else zero)
        samples = [[place(p) for p in read(key["file"])[0]] for key in entry["deform"]]
        return DeformingMesh([si(key["at"]) for key in entry["deform"]], samples, triangles)

    def report(self, invariant, message, frame=None):
        """Records the first violation of each invariant: later frames repeat it."""
        if all(known.invariant != invariant for known in self.violations):
            self.violations.append(Violation(invariant, message, frame))

    def check(self):
        measures = self.read_measures()
        self.check_steps()
        history = History(self)
        for measure in measures:
            self.check_measure(measure)
            history.check(measure)
            self.check_surfaces(measure)
        return self.violations

    def read_measures(self):
        measures = []
        lines = (self.folder / "measure.jsonl").read_text().splitlines()
        for number, line in enumerate(lines):
            try:
                measures.append(json.loads(line, parse_constant=reject_constant))
            except ValueError as error:
                self.report("finite", str(error), number)
        if self.info.get("status") == "done" and len(lines) != self.info.get("frames"):
            self.report("files", f"{len(lines)} measures, run.json counts {self.info.get('frames')} frames")
        return measures

    def check_steps(self):
        steps = self.info.get("steps", {})
        seconds = sum(stage["cpu_seconds"] for stage in self.info.get("stages", {}).values())
        count = steps.get("count", 0)
        if count and seconds / count > SLOW_STEP:
            self.report("time", f"{seconds / count:.2f} s of processor time per step")
        difference = steps.get("stages", {}).get("drops.difference_in_frames", 0.0)
        if difference > 1e-3:
            self.report("grid", f"a frame's grid differs from the balance by {100 * difference:.2f} %")

    def check_measure(self, measure):
        number = measure["frame"]
        total, added, lost = (measure[key] for key in ("total_volume", "added_volume", "lost_volume"))
        evaporated = measure.get("evaporated_volume", 0.0)
        scale = max(abs(added), abs(lost), abs(total), abs(evaporated), 1e-15)
        if abs(total + lost + evaporated - added) > 1e-6 * scale:
            gone = f"lost {lost:.4e} + evaporated {evaporated:.4e}"
            self.report("balance", f"total {total:.4e} + {gone} is not added {added:.4e} m³", number)
        if total < -1e-9 * scale or lost < -1e-9 * scale:
            self.report("balance", f"negative volume: total {total:.4e}, lost {lost:.4e}", number)
        parts = sum(drop["volume"] for drop in measure["drops"]) + measure["film_volume"]
        if abs(parts - total) > 1e-6 * scale:
            self.report("drops", f"drops and film have {parts:.4e} m³, total_volume is {total:.4e}", number)
        bound = self.speed_bound(measure["time"])
        for drop in measure["drops"]:
            fastest = max(drop["speed_max"], length(drop["velocity"]))
            if fastest > bound:
                self.report("speed", f"drop {drop['id']} at {fastest:.2f} m/s, bound {bound:.2f} m/s", number)

    def speed_bound(self, time):
        """Twice everything that can accelerate liquid, plus five capillary speeds at the grid scale."""
        scene = self.scene
        speeds = [length(si(entry["velocity"])) for entry in scene.get("drops", []) if "velocity" in entry]
        for emitter in scene.get("emitters", []):
            if emitter["kind"] == "rain":
                speeds.append(length(si(emitter["velocity"])) if "velocity" in emitter else 12.0)
            speeds.append(length(si(emitter["velocity"])) if "velocity" in emitter else 0.0)
            speeds.append(si(emitter["speed"]) if "speed" in emitter else 0.0)
        world = scene.get("world", {})
        gravity = world.get("gravity", "0 -9.8 0 m/s^2")
        keys = [gravity] if isinstance(gravity, str) else [key["value"] for key in gravity]
        fall = max(length(si(key)) for key in keys) * time
        wind = length(si(world.get("wind", "0 0 0 m/s")))
        liquid = scene.get("liquid", {})
        tension = si(liquid.get("surface_tension", "73 mN/m")) / si(liquid.get("density", "1000 kg/m^3"))
        capillary = math.sqrt(tension / min(self.spacing, 2e-4))
        solids = max([solid.speed() for solid in self.solids], default=0.0)
        return 2 * (max(speeds, default=0.0) + fall + wind + solids) + 5 * capillary + 1.0

    def check_surfaces(self, measure):
        number = measure["frame"]
        path = self.folder / "frames" / f"{number:05}.ply"
        if not path.is_file():
            if not path.with_suffix(".drops").is_file():
                self.report("files", "no surfaces", number)
            return
        try:
            vertices, faces = read_frame(path.read_bytes())
        except (BadFrame, OSError) as error:
            self.report("files", f"{path.name}: {error}", number)
            return
        if not all_finite(vertices):
            self.report("finite", f"{path.name} has a value that is not finite", number)
            return
        found = bodies(vertices, faces)
        self.check_bodies(measure, found, thickness(vertices) if self.planar else 1.0)
        self.check_penetration(measure, vertices, found)

    def check_bodies(self, measure, found, depth):
        number, shown = measure["frame"], 0.0
        drops = {drop["id"]: drop["volume"] for drop in measure["drops"]}
        liquid = measure["total_volume"] - measure["film_volume"]
        for drop in sorted(set(found) - set(drops)):
            self.report("files", f"surfaces of drop {drop}, which has no measures", number)
        for drop, volume in drops.items():
            body = found.get(drop)
            if body is None:
                if volume > max(TINY, 1e-4 * liquid):
                    self.report("drop-body", f"drop {drop} of {volume:.3e} m³ has no surface", number)
                continue
            inside = body.volume / depth if depth else 0.0
            shown += inside
            broken = body.open_edges()
            if broken:
                self.report("closed", f"drop {drop}: {broken} of {len(body.edges)} edges", number)
            if inside <= 0.0:
                self.report("oriented", f"drop {drop} encloses {inside:.3e} of {volume:.3e} m³", number)
            elif volume > max(TINY, 0.01 * liquid) and abs(inside - volume) > 0.01 * volume:
                self.report("drop-body", f"drop {drop} encloses {inside:.4e} of {volume:.4e} m³ "
                            f"({100 * (inside / volume - 1):+.1f} %)", number)
        if liquid <= TINY:
            return
        message = f"the surfaces enclose {shown:.4e} of {liquid:.4e} m³ ({100 * (shown / liquid - 1):+.2f} %)"
        if abs(shown - liquid) > 0.01 * liquid:
            self.report("body", message, number)
        elif self.model == "volume" and measure["time"] > 0.01 and abs(shown - liquid) > 1e-3 * liquid:
            self.report("body-fine", message, number)

    def check_penetration(self, measure, vertices, found):
        """Deepest vertex of each drop in each solid; of meshes, where every query is long, a sample of two frames.

        Frame 0 is what the scene asks for. The pane and droplet models know only the meshed part of a plane.
        """
        number, time = measure["frame"], measure["time"]
        if number == 0:
            return
        meshed = self.model in ("pane", "droplet")
        sizes = {drop["id"]: (3 * drop["volume"] / (4 * math.pi)) ** (1 / 3) for drop in measure["drops"]}
        last = self.info.get("frames", 0) - 1
        for solid in self.solids:
            if solid.mesh and number not in (last // 2, last):
                continue
            for drop, body in found.items():
                tolerance = max(0.75 * self.spacing, 2e-5 + 0.1 * sizes.get(drop, 0.0))
                points = sorted(body.vertices)
                step = max(1, len(points) // (max(8, 120 // len(found)) if solid.mesh else 400))
                depth, at = 0.0, None
                for vertex in points[::step]:
                    if meshed and not solid.covers(vertices[vertex][:3], time, sizes.get(drop, 0.0)):
                        continue
                    distance = solid.distance(vertices[vertex][:3], time)
                    if -distance > depth:
                        depth, at = -distance, vertices[vertex][:3]
                if depth > tolerance:
                    place = " ".join(f"{1e3 * x:.3f}" for x in at)
                    self.report("inside-solid", f"drop {drop} reaches {1e3 * depth:.3f} mm into {solid.name} at "
                                f"({place}) mm, tolerance {1e3 * tolerance:.3f} mm", number)


class History:
    """Ids and events from frame to frame."""

    def __init__(self, run):
        self.run, self.present, self.gone, self.lost, self.first = run, set(), set(), 0.0, True
        kinds = [emitter["kind"] for emitter in run.scene.get("emitters", [])]
        self.sources = bool(kinds)
        # In these models films break up into new drops, and drops dry into film, without an event.
        self.films = run.model in ("pane", "droplet")

    def check(self, measure):
        number, report = measure["frame"], self.run.report
        ids = [drop["id"] for drop in measure["drops"]]
        if ids != sorted(set(ids)):
            report("ids", f"ids are not increasing: {ids[:20]}", number)
        expected, made = set(self.present), set()
        for event in measure["events"]:
            into = event["into"]
            if "merge" in event:
                known = expected | made
                missing = [drop for drop in event["merge"] if drop not in known]
                if into not in event["merge"]:
                    report("events", f"{event}: the survivor is not one of the merged drops", number)
                if missing and not self.sources and not self.films and not self.first:
                    report("events", f"{event}: drop {missing[0]} did not exist", number)
                expected -= set(event["merge"])
                self.gone |= set(event["merge"]) - {into}
                expected.add(into)
            else:
                if event["split"] not in into:
                    report("events", f"{event}: no piece keeps the id", number)
                made |= set(into)
                expected |= set(into)
        reused = self.gone & set(ids)
        if reused:
            report("ids", f"id {min(reused)} is used again", number)
        if not self.first and not self.films:
            self.check_population(measure, expected, set(ids))
        self.gone |= self.present - set(ids)
        self.present, self.lost, self.first = set(ids), volume_gone(measure), False

    def check_population(self, measure, expected, ids):
        """Drops come from emitters and splits, and go by merges or by leaving."""
        number, report = measure["frame"], self.run.report
        new, vanished = ids - expected, expected - ids
        if new and not self.sources:
            report("ids", f"drop {min(new)} appears without an event or an emitter", number)
        if vanished and not self.sources and volume_gone(measure) <= self.lost:
            report("ids", f"drop {min(vanished)} vanishes without an event, and nothing was lost", number)


def volume_gone(measure):
    """Volume that left the scene or evaporated."""
    return measure["lost_volume"] + measure.get("evaporated_volume", 0.0)


def check_run(folder, stderr=""):
    """Violations of a run folder, and those that a notice of the run excuses, with the notice."""
    try:
        run = Run(folder)
        violations = run.check()
        said = notices(stderr, run.info)
    except (OSError, KeyError, TypeError, ValueError, BadFrame) as error:
        return [Violation("files", f"{type(error).__name__}: {error}")], []
    split = [(violation, excused(violation, said)) for violation in violations]
    return [v for v, line in split if line is None], [(v, line) for v, line in split if line is not None]
