"""Runs one scene and checks what it leaves behind."""

import hashlib
import json
import os
import pathlib
import resource
import shutil
import subprocess
import time

from .invariants import Violation, check_run
from .text import scene_text, si

# Exit status of a scene that is refused: a scene error, or a model that does not support the scene.
REFUSED = 2


class Outcome:
    """What came of one scene: violations, excused ones, processor seconds, and the message of a refusal."""

    def __init__(self):
        self.violations, self.excused, self.seconds, self.refused, self.stderr = [], [], 0.0, None, ""


def write_scene(folder, scene, files):
    """Writes the scene and the files that it refers to; returns the path of the scene."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    path = folder / "scene.toml"
    path.write_text(scene_text(scene))
    return path


def execute(binary, scene, out, limit, extra=()):
    """Simulates a scene with a limit on processor time; returns status, stderr and seconds."""

    def limit_processor():
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))

    command = [binary, "run", str(scene), "--out", str(out), "--no-pictures", *extra]
    if "--threads" not in extra:
        command += ["--threads", "1"]
    log = out.with_name(out.name + ".log")
    with open(log, "wb") as stderr:
        before = os.times()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, preexec_fn=limit_processor)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    log.unlink()
    return child.returncode, text, usage.ru_utime + usage.ru_stime


def digest(out):
    """Hash of what a reader of the run sees."""
    value = hashlib.sha256()
    for file in [out / "measure.jsonl", *sorted(out.glob("frames/*")), *sorted(out.glob("wet/**/*.png"))]:
        if file.is_file():
            value.update(str(file.relative_to(out)).encode() + file.read_bytes())
    return value.hexdigest()


def check_scene(binary, scene, files, folder, limit, resume=False):
    """Runs a scene in `folder` (removed before) and returns the outcome; the folder stays."""
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    path, out, outcome = write_scene(folder, scene, files), folder / "run", Outcome()
    status, outcome.stderr, outcome.seconds = execute(binary, path, out, limit)
    if status == 101 or "panicked" in outcome.stderr:
        line = next((line for line in outcome.stderr.splitlines() if "panicked" in line), "exit status 101")
        outcome.violations.append(Violation("panic", line))
        return outcome
    if status in (-24, -9, 137, 152) or outcome.seconds >= limit:
        outcome.violations.append(Violation("time", f"more than {limit} s of processor time"))
        return outcome
    if not (out / "run.json").is_file() and status in (1, REFUSED):
        outcome.refused = outcome.stderr.strip()
        return outcome
    info = json.loads((out / "run.json").read_text())
    if status != 0 or info.get("status") != "done":
        lines = [line for line in outcome.stderr.splitlines() if line.startswith("error")] or ["no message"]
        outcome.violations.append(Violation("exit", f"status {status}, {info.get('status')}: {lines[-1][:200]}"))
    found, outcome.excused = check_run(out, outcome.stderr)
    outcome.violations += found
    if resume and not outcome.violations:
        outcome.violations += check_resume(binary, path, scene, out, folder, limit)
    return outcome


def check_resume(binary, path, scene, out, folder, limit):
    """Runs half of the scene on one thread and the rest on two: bit-identical to the run in `out`."""
    frame, duration = si(scene["time"]["frame"]), si(scene["time"]["duration"])
    half = max(1, round(duration / frame) // 2)
    again, short = folder / "resumed", f'time.duration="{half * frame * 1e3:.9g} ms"'
    shutil.rmtree(again, ignore_errors=True)
    first = execute(binary, path, again, limit, ["--set", short])
    second = execute(binary, path, again, limit, ["--threads", "2"])
    if first[0] or second[0]:
        message = (second[1] if second[0] else first[1]).strip().splitlines()
        return [Violation("resume", f"exit status {first[0]}, {second[0]}: {message[-1][:200] if message else ''}")]
    if json.loads((again / "run.json").read_text()).get("resumes", 0) == 0 and not scene["time"].get("settle"):
        return [Violation("resume", "the second part did not resume")]
    if digest(again) != digest(out):
        return [Violation("resume", "the resumed run differs")]
    return []
