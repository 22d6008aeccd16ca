"""Sweeps and searches."""

import csv

import pytest

import sessile


@pytest.fixture
def tiny(pane):
    pane["emitters"] = []
    pane["drops"] = [{"shape": "cap", "on": "window", "volume": "5 uL", "contact_angle": "50 deg"}]
    return pane


def test_a_sweep_runs_every_combination(tiny, tmp_path):
    over = {"drops.0.volume": ["2 uL", "4 uL"], "seed": "1..3 / 3"}
    rows = sessile.sweep(tiny, over, tmp_path / "sweep", jobs=2, progress=False)
    assert [row["run"] for row in rows] == list(range(6)) and {row["status"] for row in rows} == {"done"}
    assert [row["drops.0.volume"] for row in rows] == ["2 uL"] * 3 + ["4 uL"] * 3
    assert rows[0]["final.total_volume"] == pytest.approx(2e-9) and "peak.speed" in rows[0]
    with (tmp_path / "sweep" / "results.csv").open() as file:
        assert [row["final.volume"] for row in csv.DictReader(file)] == [str(row["final.volume"]) for row in rows]


def test_zipped_values_belong_together(tiny, tmp_path):
    over = {"drops.0.volume": ["2 uL", "4 uL"], "seed": [1, 2]}
    rows = sessile.sweep(tiny, over, tmp_path / "sweep", zip=True, progress=False)
    assert [(row["drops.0.volume"], row["seed"]) for row in rows] == [("2 uL", 1), ("4 uL", 2)]


def test_wrong_values_are_reported_before_anything_runs(tiny, tmp_path):
    with pytest.raises(sessile.SceneError, match="length"):
        sessile.sweep(tiny, {"drops.0.volume": ["2 uL", "2 mm"]}, tmp_path / "sweep", progress=False)
    assert not (tmp_path / "sweep").exists()


def test_a_search_brackets_the_volume_that_slides(tiny, tmp_path):
    tiny["time"] = {"frames": 4, "fps": 8}
    tiny["solids"][0]["size"] = "200 200 mm"
    tiny["drops"][0]["center"] = "0 80 0 mm"
    found = sessile.find(tiny, "slides", ("drops.0.volume", "1..129 uL"), tmp_path / "find", threads=1, progress=False)
    glass = sessile.wetting.materials()["glass"]
    critical = sessile.wetting.largest_retained_volume(90.0, glass.advancing, glass.receding)
    assert found.holds_above and found.unit == "uL" and found.high - found.low == pytest.approx(1.0)
    assert found.low * 1e-9 / 1.5 < critical < found.high * 1e-9 * 1.5
    with pytest.raises(sessile.RunError, match="at both ends"):
        sessile.find(tiny, "slides", ("drops.0.volume", "1..2 uL"), tmp_path / "again", progress=False)
    with pytest.raises(sessile.SceneError, match="condition"):
        sessile.find(tiny, "jumps", ("drops.0.volume", "1..2 uL"), tmp_path / "no", progress=False)
