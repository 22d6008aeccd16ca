"""Runs and what is read from them."""

import io
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sessile


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    from conftest import DROP

    return sessile.run(DROP, tmp_path_factory.mktemp("runs") / "drop", threads=1, progress=False)


def test_a_run_has_frames_as_arrays(done):
    assert done.status == "done" and len(done) == 6
    frame = done.frame(-1)
    count, triangles = len(frame.vertices), len(frame.faces)
    assert frame.vertices.shape == frame.velocities.shape == (count, 3)
    assert frame.faces.shape == (triangles, 3) and frame.solids.shape == (triangles,)
    assert frame.vertices.dtype == np.float64 and frame.faces.max() < count
    assert set(frame.drops) == {1} and frame.time == 5 * (1 / 250)
    # A closed surface with normals out of the liquid encloses the drop's volume.
    a, b, c = (frame.vertices[frame.faces[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 1e-9, rel=1e-9)
    assert frame.measures["drops"][0]["volume"] == pytest.approx(volume, rel=1e-9)


def test_arrays_own_their_memory_and_outlive_the_frame(done):
    vertices = done.frame(0).vertices
    kept = vertices.copy()
    vertices += 1.0
    assert np.array_equal(vertices, kept + 1.0) and np.array_equal(done.frame(0).vertices, kept)


def test_a_drop_can_be_taken_out_of_a_frame(done):
    vertices, faces = done.frame(2).drop(1)
    assert len(vertices) == len(done.frame(2).vertices) and faces.max() == len(vertices) - 1


def test_measures_are_columns_for_pandas_polars_and_pyarrow(done):
    drops = done.measures.drops
    assert len(drops) == 6 and np.array_equal(drops["frame"], np.arange(6))
    assert drops["volume"] == pytest.approx(np.full(6, 4 / 3 * np.pi * 1e-9))
    assert drops["on"][-1] == "table" and np.isnan(drops["contact_angle_mean_deg"][0])
    with pytest.raises(KeyError, match="there are frame"):
        drops["hight"]
    arrow = pytest.importorskip("pyarrow").table(drops)
    assert arrow.column("height").to_pylist() == [d["height"] for f in done for d in f.measures["drops"]]
    assert arrow.column("contact_angle_mean_deg")[0].as_py() is None
    polars = pytest.importorskip("polars").DataFrame(drops)
    assert polars["height"].to_list() == list(drops["height"])
    pandas = pytest.importorskip("pandas")
    assert list(drops.to_pandas()["height"]) == list(drops["height"])
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert list(pandas.DataFrame.from_arrow(drops)["height"]) == list(drops["height"])
    assert list(done.measures.contacts["solid"][-1:]) == ["table"]
    assert list(done.measures.frames["drops"]) == [1] * 6 and len(done.measures.events) == 0


def test_images_are_rendered_on_demand(done):
    image = done.image(5, preview=True, size=(32, 18), threads=1)
    assert np.asarray(image).shape == (18, 32, 3) and np.asarray(image).std() > 1
    assert image._repr_png_().startswith(b"\x89PNG")
    assert not (done.path / "pictures").is_dir() or not list((done.path / "pictures").glob("*.png"))
    own = done.image(-1, threads=1)
    assert own.path == done.path / "pictures" / "00005.png" and own.array.shape == (36, 64, 3)
    with pytest.raises(sessile.SceneError):
        done.image(0, size=(0, 0))


def test_a_video_is_encoded(done):
    video = done.video(preview=True, threads=1, progress=False)
    assert video.path.read_bytes()[4:8] == b"ftyp" and "base64" in video._repr_html_()


def test_wet_maps_are_arrays(pane, tmp_path):
    pane["drops"] = [{"shape": "cap", "on": "window", "center": "0 20 0 mm", "volume": "90 uL"}]
    run = sessile.run(pane, tmp_path / "pane", threads=1, progress=False)
    wet = run.wet("window", -1)
    assert wet is not None and wet.ndim == 3 and wet.shape[2] == 2
    assert 0.0 <= wet[..., 0].min() and 0.0 < wet[..., 0].max() <= 1.0
    assert np.array_equal(run.frame(-1).wet["window"], wet)
    with pytest.raises(sessile.SceneError, match="there are window"):
        run.wet("door", 0)
    vertices, faces = run.solid("window")
    assert np.ptp(vertices, axis=0) == pytest.approx([0.06, 0.06, 0.0]) and len(faces) >= 2


def test_a_missing_frame_is_an_index_error(done):
    with pytest.raises(IndexError, match="frames 0 to 5"):
        done.frame(6)


def test_a_finished_run_is_returned_and_another_scene_refused(done, drop):
    assert len(sessile.run(drop, done.path, progress=False)) == 6
    drop["drops"][0]["radius"] = "0.9 mm"
    with pytest.raises(sessile.RunError, match=r"drops\.0.*fresh=True"):
        sessile.run(drop, done.path, progress=False)


def test_progress_is_reported_to_a_function(drop, tmp_path):
    seen = []
    sessile.run(drop, tmp_path / "drop", threads=1, progress=lambda *report: seen.append(report))
    assert seen[-1] == ("simulate", 5.0, 5)


def test_an_exception_in_the_callback_stops_the_run_with_a_checkpoint(drop, tmp_path):
    drop["time"]["frames"] = 100000

    def stop(activity, done, total):
        if done > 1:
            raise OSError("enough")

    with pytest.raises(OSError, match="enough"):
        sessile.run(drop, tmp_path / "drop", threads=1, progress=stop)
    run = sessile.Run(tmp_path / "drop")
    assert run.status == "stopped" and len(run) > 1 and (run.path / "checkpoint").is_dir()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_saves_and_the_same_call_resumes_bit_for_bit(drop, tmp_path):
    program = """
        import json, sys, sessile
        sessile.run(json.loads(sys.argv[1]), sys.argv[2], threads=1, progress=lambda a, d, t: print(int(d), flush=True))
    """
    import json

    drop["time"]["frames"] = 100000
    arguments = [sys.executable, "-c", textwrap.dedent(program), json.dumps(drop), str(tmp_path / "one")]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) >= 3:
            break
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode != 0 and "KeyboardInterrupt" in errors
    stopped = sessile.Run(tmp_path / "one")
    assert stopped.status == "stopped" and 3 <= len(stopped) < 100000
    last = len(stopped) + 3
    drop["time"]["frames"] = last
    # A shorter scene is another one; a run of its own has the same frames.
    whole = sessile.run(drop, tmp_path / "two", threads=2, progress=False)
    drop["time"]["frames"] = 100000
    with pytest.raises(OSError):
        sessile.run(drop, tmp_path / "one", threads=1, progress=_until(last + 1))
    for number in range(last + 1):
        name = f"frames/{number:05}.ply"
        assert (tmp_path / "one" / name).read_bytes() == (whole.path / name).read_bytes(), number


def _until(frame):
    def stop(activity, done, total):
        if done >= frame:
            raise OSError

    return stop


def test_the_bar_writes_few_lines_to_a_log(drop, tmp_path, monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    sessile.run(drop, tmp_path / "drop", threads=1)
    lines = log.getvalue().splitlines()
    assert "5/5 frames" in lines[-1] and "\r" not in log.getvalue() and len(lines) < 6


def test_a_run_is_exported(done, tmp_path):
    path = done.export("usd", tmp_path / "a.usdc")
    assert path.read_bytes().startswith(b"PXR-USDC")
    with pytest.raises(sessile.RunError, match="exists"):
        sessile.export(done, "usd", path)
    with pytest.raises(sessile.SceneError, match="blend"):
        done.export("blend", tmp_path / "b")


def test_a_model_becomes_a_scene(tmp_path):
    (tmp_path / "box.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
    scene, _ = sessile.import_model(tmp_path / "box.obj", tmp_path / "box.toml")
    # A model without a ground is put on one.
    assert scene.model == "droplet" and [str(name) for name in scene.solids] == ["box", "ground"]
