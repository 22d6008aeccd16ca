"""Scenes from files, text and dicts."""

import numpy as np
import pytest

import sessile


def test_a_dict_a_text_and_a_file_give_the_same_scene(drop, tmp_path):
    by_dict = sessile.Scene(drop)
    by_text = sessile.Scene(by_dict.to_toml())
    by_dict.save(tmp_path / "drop.toml")
    by_file = sessile.Scene(tmp_path / "drop.toml")
    assert by_dict.to_toml() == by_text.to_toml() == by_file.to_toml()
    assert by_file.name == "drop" and by_file.model == "surface" and by_file.solids == ["table"]
    assert (by_file.last_frame, by_file.interval, by_file.duration) == (5, 1 / 250, 5 / 250)


def test_set_changes_a_key_and_returns_the_scene(drop):
    scene = sessile.Scene(drop)
    assert scene.set("drops.0.volume", "4 uL").set("time.start_frame", 1001) is scene
    assert scene.start_frame == 1001
    assert 'volume = "4 uL"' in scene.to_toml()


def test_numpy_values_and_vectors_are_written(drop):
    drop["solids"][0]["normal"] = np.array([0.0, 2.0, 0.0])
    drop["seed"] = np.int64(7)
    assert sessile.Scene(drop).seed == 7


def test_a_copy_is_independent(drop):
    scene = sessile.Scene(drop)
    scene.copy().set("seed", 9)
    assert scene.seed != 9


def test_an_error_has_a_line_a_caret_and_advice(tmp_path):
    file = tmp_path / "drop.toml"
    file.write_text('model = "surface"\n[time]\nduration = "30 mm"\nframe = "1 ms"\n')
    with pytest.raises(sessile.SceneError) as wrong:
        sessile.Scene(file)
    message = str(wrong.value)
    assert f"{file}:3:12" in message and "^" in message
    assert '`duration` is a time (e.g. "1 ms"), but "30 mm" is a length' in message
    assert isinstance(wrong.value, ValueError)


def test_a_wrong_value_of_a_dict_shows_its_line(drop):
    drop["drops"][0]["radius"] = 1.0
    with pytest.raises(sessile.SceneError, match="radius = 1.0"):
        sessile.Scene(drop)


def test_a_wrong_set_leaves_the_scene_as_it_was(drop):
    scene = sessile.Scene(drop)
    before = scene.to_toml()
    with pytest.raises(sessile.SceneError, match="did you mean"):
        scene.set("drops.0.volum", "4 uL")
    assert scene.to_toml() == before


def test_what_is_no_scene_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="built-in scenes"):
        sessile.Scene("no such file.toml")
    with pytest.raises(TypeError, match="object"):
        sessile.Scene({"model": object()})
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sessile.SceneError, match="not text"):
        sessile.Scene(tmp_path / "a.toml")


def test_built_in_scenes_are_read_by_name():
    assert "window" in sessile.scenes()
    assert sessile.Scene("window").model == "pane"
    assert sessile.Scene("window").estimate()["seconds"] > 0


def test_check_warns_of_meshes_and_fails_for_missing_images(drop, tmp_path):
    assert sessile.Scene(drop).check() == []
    fold = "v 0 0 0\nv 0 0 0.01\nv 0.01 0 0.01\nv 0.01 0 0\nv 0.01 {0} 0.01\nv 0.01 {0} 0\nv {1} {2} 0.01\nv {1} {2} 0\n"
    faces = "f 1 2 3 4\nf 4 3 5 6\nf 6 5 7 8\n"
    # In the second sample the third face passes through the first.
    (tmp_path / "open.obj").write_text(fold.format(0.002, 0, 0.002) + faces)
    (tmp_path / "crossed.obj").write_text(fold.format(0.002, 0.002, -0.004) + faces)
    samples = [{"at": "0 s", "file": "open.obj"}, {"at": "10 ms", "file": "crossed.obj"}]
    drop["solids"].append({"name": "flap", "shape": "mesh", "file": "open.obj", "scale": 1, "deform": samples})
    warnings = sessile.Scene(drop, folder=tmp_path).check()
    assert any("`flap`: its deformed mesh intersects itself at t = 0.01 s" in line for line in warnings), warnings
    drop["solids"] = drop["solids"][:1]
    drop["solids"][0]["texture"] = "gone.png"
    with pytest.raises(sessile.SceneError, match="gone.png"):
        sessile.Scene(drop, folder=tmp_path).check()
