"""Stepping without files."""

import subprocess
import threading
import time

import numpy as np
import pytest

import sessile


def scene_of(model, drop, pane):
    """A scene of a model that takes a second."""
    if model == "pane":
        return pane
    if model == "volume":
        drop.update(resolution={"cell": "0.25 mm"}, time={"frames": 3, "fps": 1000})
    return {**drop, "model": model}


@pytest.mark.parametrize("model", ["pane", "droplet", "surface", "volume"])
def test_frames_are_bit_identical_to_those_of_a_run(model, drop, pane, tmp_path):
    scene = scene_of(model, drop, pane)
    run = sessile.run(scene, tmp_path / "run", threads=2, progress=False)
    simulation = sessile.Simulation(scene, threads=1)
    for frame in run:
        simulation.step_to(frame.number * run.scene.interval)
        got = simulation.frame()
        assert got.time == frame.time and got.number == frame.number
        for name in ("drops", "faces", "solids"):
            assert np.array_equal(getattr(got, name), getattr(frame, name)), (frame.number, name)
        # Frames on disk have single precision; measures have all digits.
        for name in ("vertices", "velocities"):
            mine = getattr(got, name).astype(np.float32)
            assert np.array_equal(mine, getattr(frame, name).astype(np.float32)), (frame.number, name)
        assert got.measures == frame.measures


def test_one_long_step_equals_many_short_ones(drop):
    far, near = sessile.Simulation(drop, threads=1), sessile.Simulation(drop, threads=2)
    far.step_to(far.scene.duration)
    for _ in range(5):
        near.step_to_frame()
    assert far.save() == near.save() and far.frame_number == near.frame_number == 5


def test_a_time_between_frames_and_in_the_past(drop):
    simulation = sessile.Simulation(drop)
    simulation.step_to(0.005)
    assert simulation.time == pytest.approx(0.005, abs=1e-12) and simulation.frame_number == 1
    simulation.step_to(0.001)
    assert simulation.time == pytest.approx(0.005, abs=1e-12)
    with pytest.raises(sessile.SceneError, match="finite"):
        simulation.step_to(float("nan"))


def test_other_threads_run_during_a_step_and_read_the_time(drop):
    simulation = sessile.Simulation(drop, threads=1)
    ticks, times, finished = [], [], threading.Event()

    def tick():
        while not finished.is_set():
            ticks.append(time.monotonic())
            times.append(simulation.time)
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begun = time.monotonic()
    simulation.step_to(0.06)
    elapsed = time.monotonic() - begun
    finished.set()
    ticker.join()
    assert times == sorted(times) and times[-1] > 0
    # With the lock held during steps there would be one tick or none.
    assert len(ticks) > 20 * elapsed, f"{len(ticks)} ticks in {elapsed:.2f} s"


def test_a_moving_plate_carries_its_drop(drop):
    drop["drops"] = [{"shape": "cap", "on": "table", "volume": "4 uL", "contact_angle": "100 deg"}]
    drop["time"] = {"frames": 60, "frame": "1 ms"}
    simulation = sessile.Simulation(drop, threads=1)
    simulation.move_solid("table", move=(0.0, 0.001, 0.0), over=0.05)
    simulation.step_to(0.06)
    rotation, translation = simulation.pose("table")
    assert translation == pytest.approx([0, 1e-3, 0]) and rotation == pytest.approx(np.eye(3))
    assert simulation.frame().vertices[:, 1].min() == pytest.approx(1e-3, abs=2e-4)
    with pytest.raises(sessile.SceneError, match="table"):
        simulation.move_solid("chair")
    with pytest.raises(ValueError, match="shape"):
        simulation.move_solid(0, rotate=[1, 2])


def test_gravity_can_be_set_and_returned_to_the_scenes(pane):
    simulation = sessile.Simulation(pane, threads=1)
    assert simulation.gravity == pytest.approx([0, -9.8, 0])
    simulation.gravity = (0, 0, -1.6)
    simulation.step_to_frame()
    assert simulation.gravity == pytest.approx([0, 0, -1.6])
    simulation.gravity = None
    simulation.step_to_frame()
    assert simulation.gravity == pytest.approx([0, -9.8, 0])
    with pytest.raises(sessile.SceneError):
        simulation.gravity = (0, float("nan"), 0)


def test_an_added_drop_counts_and_lands(pane):
    pane["emitters"] = []
    simulation = sessile.Simulation(pane, threads=1)
    assert simulation.frame().measures["drops"] == []
    simulation.add_drop((0.0, 0.0, 0.001), volume=3e-9)
    simulation.step_to_frame()
    measures = simulation.frame().measures
    assert measures["added_volume"] == pytest.approx(3e-9) and len(measures["drops"]) == 1
    with pytest.raises(ValueError, match="either"):
        simulation.add_drop((0, 0, 0))
    with pytest.raises(sessile.SceneError):
        simulation.add_drop((0, 0, 0.001), volume=-1e-9)


def test_rest_is_detected(drop):
    drop["drops"] = [{"shape": "cap", "on": "table", "volume": "2 uL", "contact_angle": "100 deg"}]
    drop["time"] = {"frames": 2000, "frame": "5 ms", "settle": True}
    simulation = sessile.Simulation(drop, threads=1)
    while not simulation.at_rest and simulation.frame_number < 400:
        simulation.step_to_frame()
    assert simulation.at_rest and simulation.frame_number >= 3


def test_a_scene_that_cannot_be_built_is_a_scene_error(drop):
    drop["solids"][0] = {"name": "m", "shape": "mesh", "file": __file__}
    with pytest.raises(sessile.SceneError):
        sessile.Simulation(drop)


@pytest.mark.parametrize("model", ["pane", "droplet", "surface", "volume"])
def test_numbers_equal_those_of_the_command_line(model, drop, pane, tmp_path, request):
    program = request.config.getoption("--program")
    if program is None:
        pytest.skip("no --program")
    import json

    scene = sessile.Scene(scene_of(model, drop, pane))
    scene.save(tmp_path / "drop.toml")
    arguments = [program, "run", "drop.toml", "--no-pictures", "--threads", "2", "--out", "run"]
    subprocess.run(arguments, cwd=tmp_path, check=True, capture_output=True)
    simulation = sessile.Simulation(scene, threads=1)
    for line in (tmp_path / "run" / "measure.jsonl").read_text().splitlines():
        expected = json.loads(line)
        simulation.step_to(expected["frame"] * scene.interval)
        assert simulation.frame().measures == expected
    mine = sessile.run(scene, tmp_path / "mine", threads=1, progress=False)
    for number in range(len(mine)):
        name = f"frames/{number:05}.ply"
        assert (mine.path / name).read_bytes() == (tmp_path / "run" / name).read_bytes()
