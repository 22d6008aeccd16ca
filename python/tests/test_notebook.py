"""Notebooks: the progress bar is shown in place, and stopping a cell saves the run."""

import asyncio
import json
import time

import pytest

import sessile

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")


def client(*cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return notebook, nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")


def test_the_bar_is_one_output_that_is_replaced(drop, tmp_path):
    notebook, runner = client(f"import sessile; run = sessile.run({drop!r}, {str(tmp_path / 'drop')!r}, threads=1)")
    runner.execute()
    shown = [output["data"]["text/markdown"] for output in notebook.cells[0].outputs if "data" in output]
    assert len(shown) == 1 and "5/5 frames" in shown[0] and shown[0].count("frames") == 1, shown


def test_tables_images_and_runs_are_shown(drop, tmp_path):
    folder = str(tmp_path / "drop")
    notebook, runner = client(
        f"import sessile; run = sessile.run({drop!r}, {folder!r}, threads=1, progress=False); run.image(2)",
        "run.measures.drops.to_pandas().tail(2)",
        "run",
    )
    runner.execute()
    assert "image/png" in notebook.cells[0].outputs[-1]["data"]
    assert "text/html" in notebook.cells[1].outputs[-1]["data"]
    assert "drop" in notebook.cells[2].outputs[-1]["data"]["text/plain"]


def test_stopping_a_cell_saves_the_run(drop, tmp_path):
    drop["time"]["frames"] = 100000
    folder = tmp_path / "long"
    notebook, runner = client(f"import json, sessile; sessile.run({json.dumps(drop)}, {str(folder)!r}, threads=1)")
    runner.allow_errors = True

    async def stop():
        until = time.monotonic() + 60
        while not (folder / "frames" / "00003.ply").is_file() and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await runner.km.interrupt_kernel()

    async def stop_when_begun(**_):
        tasks.append(asyncio.get_running_loop().create_task(stop()))

    tasks = []
    runner.on_cell_execute = stop_when_begun
    runner.execute()
    errors = [output["ename"] for output in notebook.cells[0].outputs if output["output_type"] == "error"]
    assert errors == ["KeyboardInterrupt"], notebook.cells[0].outputs
    run = sessile.Run(folder)
    assert run.status == "stopped" and len(run) >= 4 and (folder / "checkpoint").is_dir()
