"""Tests of the generator, the checker and the shrinker: each invariant catches a run folder that breaks it.

    python3 -m unittest discover -s scripts -t scripts
"""

import copy
import json
import math
import pathlib
import struct
import tempfile
import tomllib
import unittest

from soaking import meshes, motion, solids, text
from soaking.invariants import INVARIANTS, Violation, check_run, excused, notices
from soaking.known import parse_known
from soaking.runs import digest
from soaking.scenes import MODELS, Rng, generate
from soaking.shrink import shrink
from soaking.surfaces import bodies, read_frame

SCENE = {
    "model": "surface",
    "time": {"duration": "2 ms", "frame": "1 ms"},
    "liquid": {"density": "1000 kg/m^3", "surface_tension": "73 mN/m"},
    "world": {"gravity": "0 -9.8 0 m/s^2", "wind": "0 0 0 m/s"},
    "resolution": {"edge": "0.4 mm", "cell": "0.2 mm"},
    "solids": [{"name": "floor", "shape": "plane", "point": "0 0 0 mm", "normal": [0, 1, 0], "size": "20 20 mm"}],
    "drops": [{"shape": "sphere", "center": "0 5 0 mm", "radius": "1 mm"}],
}
# A cube of 2 mm edge, 4 mm above the floor.
CUBE = meshes.box([-1e-3, 4e-3, -1e-3], [1e-3, 6e-3, 1e-3])
VOLUME = 8e-9


def drop(number=1, volume=VOLUME, speed=0.1):
    return {"id": number, "volume": volume, "velocity": [0.0, -speed, 0.0], "speed_max": speed}


def measure(frame, drops, **changes):
    total = sum(entry["volume"] for entry in drops)
    values = {"frame": frame, "time": frame * 1e-3, "total_volume": total, "added_volume": total, "lost_volume": 0.0,
              "film_volume": 0.0, "events": [], "drops": drops}
    return {**values, **changes}


def surface(parts):
    """Bytes of a frame with one mesh (positions, triangles) per drop id."""
    vertices, faces = [], []
    for number, (positions, triangles) in parts.items():
        first = len(vertices)
        vertices += [struct.pack("<6fi", *position, 0, 0, 0, number) for position in positions]
        faces += [struct.pack("<B4i", 3, *(first + i for i in triangle), -1) for triangle in triangles]
    header = ["ply", "format binary_little_endian 1.0", "comment frame 0", f"element vertex {len(vertices)}",
              *(f"property float {name}" for name in ("x", "y", "z", "vx", "vy", "vz")), "property int drop",
              f"element face {len(faces)}", "property list uchar int vertex_indices", "property int solid", "end_header"]
    return "\n".join(header).encode() + b"\n" + b"".join(vertices) + b"".join(faces)


class Folder:
    """A run folder made by hand: three frames of one cube in free fall."""

    def __init__(self):
        self.scene = copy.deepcopy(SCENE)
        self.measures = [measure(frame, [drop()]) for frame in range(3)]
        self.surfaces = [surface({1: CUBE}) for _ in range(3)]
        self.info = {"status": "done", "frames": 3, "steps": {"count": 10}, "stages": {"all": {"cpu_seconds": 1.0}}}
        self.files = {}

    def found(self, stderr=""):
        """Names of the violated invariants, and of the excused ones."""
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "frames").mkdir()
            (root / "scene.toml").write_text(text.scene_text(self.scene))
            (root / "run.json").write_text(json.dumps(self.info))
            for name, data in self.files.items():
                (root / name).write_text(data)
            (root / "measure.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in self.measures))
            for frame, data in enumerate(self.surfaces):
                if data is not None:
                    (root / "frames" / f"{frame:05}.ply").write_bytes(data)
            violations, excuses = check_run(root, stderr)
            return {v.invariant for v in violations}, {v.invariant for v, _ in excuses}


class InvariantTests(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()

    def expect(self, *names):
        self.assertEqual(self.folder.found()[0], set(names))

    def test_a_sound_run_has_no_violation(self):
        self.expect()

    def test_an_unbalanced_frame_is_caught(self):
        self.folder.measures[1]["lost_volume"] = 1e-10
        self.expect("balance")

    def test_drops_that_do_not_add_up_are_caught(self):
        self.folder.measures[1]["drops"][0]["volume"] *= 1.005
        self.expect("drops")

    def test_a_surface_of_the_wrong_volume_is_caught(self):
        self.folder.measures[2] = measure(2, [drop(volume=1.02 * VOLUME)])
        self.expect("body", "drop-body")

    def test_the_volume_model_is_held_to_a_thousandth_after_ten_milliseconds(self):
        self.folder.scene["model"] = "volume"
        self.folder.measures[2] = measure(2, [drop(volume=1.002 * VOLUME)])
        self.expect()
        self.folder.measures[2]["time"] = 0.012
        self.expect("body-fine")

    def test_a_grid_that_differs_from_the_balance_is_caught(self):
        self.folder.info["steps"]["stages"] = {"drops.difference_in_frames": 2e-3}
        self.expect("grid")
        self.assertEqual(self.folder.found("drop 1 on the grid has 1 uL, in the volume balance 2 uL")[1], {"grid"})

    def test_a_drop_without_a_surface_is_caught(self):
        self.folder.measures = [measure(frame, [drop(1), drop(2, 1e-9)]) for frame in range(3)]
        self.expect("body", "drop-body")

    def test_a_hole_is_caught(self):
        self.folder.surfaces[1] = surface({1: (CUBE[0], CUBE[1][:-1])})
        self.assertIn("closed", self.folder.found()[0])

    def test_a_face_turned_over_is_caught(self):
        a, b, c = CUBE[1][0]
        self.folder.surfaces[1] = surface({1: (CUBE[0], [(a, c, b), *CUBE[1][1:]])})
        self.assertIn("closed", self.folder.found()[0])

    def test_an_inverted_surface_is_caught(self):
        self.folder.surfaces[1] = surface({1: (CUBE[0], [(a, c, b) for a, b, c in CUBE[1]])})
        self.expect("oriented", "body")

    def test_a_drop_inside_a_solid_is_caught(self):
        sunk = ([[x, y - 5e-3, z] for x, y, z in CUBE[0]], CUBE[1])
        self.folder.surfaces[1] = surface({1: sunk})
        self.expect("inside-solid")

    def test_a_drop_inside_a_moving_solid_is_caught(self):
        self.folder.scene["solids"][0]["motion"] = [{"at": "0 ms"}, {"at": "2 ms", "move": "0 5 0 mm"}]
        self.expect("inside-solid")

    def test_a_drop_inside_a_smoothly_moving_solid_is_caught(self):
        # At 1 ms the floor is 4.63 mm up; with linear motion 4.25 mm, within tolerance of the drop's lower side at 4 mm.
        keys = [{"at": "0 ms"}, {"at": "0.8 ms", "move": "0 4.5 0 mm"}, {"at": "2 ms", "move": "0 3 0 mm"}]
        self.folder.scene["solids"][0]["motion"] = keys
        self.expect()
        self.folder.scene["solids"][0]["interpolation"] = "smooth"
        self.expect("inside-solid")

    def test_a_drop_inside_a_deforming_mesh_is_caught(self):
        flat, tall = (meshes.box([-3e-3, 0.0, -3e-3], [3e-3, top, 3e-3]) for top in (1e-3, 8e-3))
        for suffix, write in meshes.MESH_WRITERS.items():
            self.folder = Folder()
            self.folder.files = {f"{name}.{suffix}": write(mesh) for name, mesh in (("flat", flat), ("tall", tall))}
            mesh = {"name": "m", "shape": "mesh", "file": f"flat.{suffix}", "scale": 1.0, "move": "0 -4.5 0 mm"}
            mesh["deform"] = [{"at": "0 ms", "file": f"flat.{suffix}"}, {"at": "2 ms", "file": f"tall.{suffix}"}]
            self.folder.scene["solids"] = [mesh]
            # Its top rises by 7 mm, to 0.5 mm below the cube, then to 1 mm above its lower side.
            self.expect()
            mesh["move"] = "0 -3 0 mm"
            self.expect("inside-solid")

    def test_a_value_that_is_not_finite_is_caught(self):
        broken = ([[math.nan, 0, 0], *CUBE[0][1:]], CUBE[1])
        self.folder.surfaces[1] = surface({1: broken})
        self.expect("finite")
        self.folder = Folder()
        self.folder.measures[1]["drops"][0]["speed_max"] = math.nan
        self.assertIn("finite", self.folder.found()[0])

    def test_an_unphysical_speed_is_caught(self):
        self.folder.measures[1]["drops"][0]["speed_max"] = 50.0
        self.expect("speed")

    def test_a_reused_id_is_caught(self):
        self.folder.measures[1] = measure(1, [drop(2)], events=[{"split": 1, "into": [1, 2]}, {"merge": [1, 2], "into": 2}])
        self.folder.surfaces[1] = surface({2: CUBE})
        self.folder.measures[2]["events"] = [{"split": 2, "into": [1, 2]}, {"merge": [1, 2], "into": 1}]
        self.expect("ids")

    def test_a_drop_that_appears_or_vanishes_without_a_reason_is_caught(self):
        self.folder.measures[1] = measure(1, [drop(7)])
        self.folder.surfaces[1] = surface({7: CUBE})
        self.assertIn("ids", self.folder.found()[0])

    def test_an_inconsistent_event_is_caught(self):
        self.folder.measures[1]["events"] = [{"merge": [1, 3], "into": 1}]
        self.expect("events")
        self.folder.measures[1]["events"] = [{"split": 1, "into": [2, 3]}]
        self.assertIn("events", self.folder.found()[0])

    def test_missing_frames_are_caught(self):
        self.folder.surfaces[1] = None
        self.expect("files")
        self.folder = Folder()
        self.folder.measures.pop()
        self.folder.surfaces.pop()
        self.expect("files")

    def test_a_truncated_frame_is_caught(self):
        self.folder.surfaces[1] = self.folder.surfaces[1][:-3]
        self.expect("files")

    def test_slow_steps_are_caught(self):
        self.folder.info["stages"]["all"]["cpu_seconds"] = 1000.0
        self.expect("time")

    def test_a_planar_slab_counts_by_its_area(self):
        self.folder.scene["world"]["planar"] = True
        self.folder.scene["model"] = "volume"
        self.folder.measures = [measure(frame, [drop(volume=4e-6)]) for frame in range(3)]
        self.expect()

    def test_a_notice_excuses_what_it_is_about(self):
        self.folder.measures[2] = measure(2, [drop(volume=1.02 * VOLUME)])
        said = "drop 1: 0.2 uL are missing from its surface\nframe 3/3  3 ms of 3 ms\n"
        self.assertEqual(self.folder.found(said), (set(), {"body", "drop-body"}))
        self.assertEqual(self.folder.found("frame 1/3 volume\nerror: volume\n --> volume.toml:1:1\n")[1], set())

    def test_a_notice_does_not_excuse_other_invariants(self):
        self.assertIsNone(excused(Violation("closed", ""), ["the volume is wrong"]))
        self.assertEqual(notices("a drop is inside `s0`\n", {"warnings": ["w"]}), ["a drop is inside `s0`", "w"])

    def test_resumed_runs_are_compared_byte_by_byte(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "frames").mkdir()
            (root / "frames/00000.ply").write_bytes(b"a")
            before = digest(root)
            (root / "frames/00000.ply").write_bytes(b"b")
            self.assertNotEqual(before, digest(root))


class SceneTests(unittest.TestCase):
    def test_scenes_are_toml_and_repeat(self):
        for model in MODELS:
            for seed in range(40):
                scene, files = generate(model, seed)
                self.assertEqual(tomllib.loads(text.scene_text(scene))["model"], model)
                self.assertEqual((scene, files), generate(model, seed))

    def test_a_seed_gives_the_same_scene_on_every_machine(self):
        scene, _ = generate("droplet", 1)
        self.assertEqual(scene["seed"], 1843782440)
        self.assertEqual(scene["materials"]["m0"]["advancing"], "118.498 deg")

    def test_generated_meshes_are_closed_and_oriented(self):
        rng = Rng("meshes")
        for _ in range(40):
            kind, (positions, triangles) = meshes.random_mesh(rng)
            vertices, faces = read_frame(surface({1: (positions, triangles)}))
            body = bodies(vertices, faces)[1]
            self.assertEqual(body.open_edges(), 0, kind)
            self.assertGreater(body.volume, 0.0, kind)

    def test_quantities_are_read_in_si_units(self):
        self.assertAlmostEqual(text.si("20 mm/h"), 0.02 / 3600)
        self.assertAlmostEqual(text.si("90 deg"), math.pi / 2)
        self.assertEqual(text.si("1 2 -3 m"), [1.0, 2.0, -3.0])
        self.assertAlmostEqual(text.si("5 uL/m^2/s"), 5e-9)


class SolidTests(unittest.TestCase):
    def test_distances_of_all_shapes(self):
        cases = [
            ({"shape": "plane", "normal": [0, 0, 2], "point": "0 0 1 mm"}, [0, 0, 3e-3], 2e-3),
            ({"shape": "box", "min": "0 0 0 mm", "max": "2 4 6 mm"}, [1e-3, 3e-3, 3e-3], -1e-3),
            ({"shape": "sphere", "center": "1 0 0 mm", "radius": "2 mm"}, [5e-3, 0, 0], 2e-3),
            ({"shape": "sphere", "radius": "2 mm", "inside": True}, [0.5e-3, 0, 0], 1.5e-3),
            ({"shape": "cylinder", "from": "0 0 -5 mm", "to": "0 0 5 mm", "radius": "2 mm", "wall": "1 mm"}, [0, 0, 0], 1e-3),
            ({"shape": "leaf", "axis": [1, 0, 0], "angle": "90 deg"}, [0, 1e-3, 0], 1e-3 * math.sin(math.pi / 4)),
        ]
        for entry, point, distance in cases:
            self.assertAlmostEqual(solids.Solid(entry).distance(point, 0.0), distance, 9, entry)

    def test_a_mesh_agrees_with_its_box(self):
        mesh = solids.ClosedMesh(*meshes.box([-1, -2, -3], [1, 2, 3]))
        self.assertAlmostEqual(mesh.distance([0.2, 0.1, 0.3]), -0.8)
        self.assertEqual(mesh.distance([1.5, 0, 0]), math.inf)

    def test_smooth_motion_follows_what_was_sampled(self):
        for spacing in (0.1, 0.05):
            # The error of cubic interpolation with exact rates, and a fifth for those of the rates.
            bound = 1.2 * (3 * spacing) ** 4 / 384
            times = [spacing * key for key in range(round(1.2 / spacing) + 1)]
            values = [[math.sin(3 * t), 0, 0] for t in times]
            at = [0.4 + 0.013 * i for i in range(30)]
            found = [motion.mixed(motion.key_weights(times, t, True), values)[0] for t in at]
            self.assertLess(max(abs(x - math.sin(3 * t)) for x, t in zip(found, at)), bound)
        for times in ([0, 1], [0, 1, 3], [0, 2, 3, 7], [0, 1, 2, 3, 4]):
            weights = motion.key_weights(times, 0.7 * times[-1], True)
            self.assertAlmostEqual(sum(weights.values()), 1.0)
            self.assertAlmostEqual(sum(w * times[key] for key, w in weights.items()), 0.7 * times[-1])
        self.assertEqual(motion.key_weights([1, 2], 0.5, True), {0: 1.0})
        self.assertEqual(motion.key_weights([1, 2], 2.0, True), {1: 1.0})

    def test_motion_is_linear_between_keys(self):
        entry = {"shape": "plane", "rotate": "0 0 90 deg",
                 "motion": [{"at": "0 ms"}, {"at": "10 ms", "move": "4 0 0 mm", "rotate": "0 0 90 deg"}]}
        solid = solids.Solid(entry)
        # Turned by 90 degrees the floor's normal is -x, after the motion -y.
        self.assertAlmostEqual(solid.distance([-3e-3, 0, 0], 0.0), 3e-3)
        self.assertAlmostEqual(solid.distance([0, -3e-3, 0], 0.02), 3e-3)
        self.assertAlmostEqual(solid.distance([2e-3, -1e-3, 0], 0.005), 1e-3 * math.sqrt(0.5))


class ListTests(unittest.TestCase):
    def test_known_failures_match_a_seed_or_all(self):
        known = parse_known("# comment\nvolume 7 body drips overlap\npane * ids a reason\n")
        self.assertTrue(known.match("volume", 7, "body"))
        self.assertIsNone(known.match("volume", 8, "body"))
        self.assertTrue(known.match("pane", 3, "ids"))
        with self.assertRaises(ValueError):
            parse_known("volume 7 body")

    def test_shrinking_keeps_what_fails(self):
        scene = copy.deepcopy(SCENE)
        scene["drops"] = [{"shape": "sphere", "center": f"{i}.123456 0 0 mm", "radius": "1.23456 mm"} for i in range(6)]
        scene["emitters"] = [{"kind": "drip", "at": "0 9 0 mm", "velocity": "0 1 0 m/s"}]
        fails = lambda trial: any(drop.get("center", "").startswith("4.1") for drop in trial.get("drops", []))
        small = shrink(scene, fails, 400)
        self.assertEqual(small["drops"], [{"shape": "sphere", "center": "4.1 0 0 mm", "radius": "1 mm"}])
        self.assertEqual((small.get("emitters"), small.get("world")), ([], None))

    def test_every_invariant_has_a_description(self):
        self.assertTrue(all(INVARIANTS.values()))


if __name__ == "__main__":
    unittest.main()
