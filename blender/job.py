"""A bake in a process of its own. Nothing here needs a window, so all of it is tested without one."""

import json
import os
import subprocess
import sys
import threading


class Job:
    """Runs `sessile._bake` and collects its reports."""

    def __init__(self, scene, run, usd):
        import numpy
        import sessile

        places = {os.path.dirname(os.path.dirname(os.path.realpath(m.__file__))) for m in (sessile, numpy)}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sorted(places)), "PYTHONIOENCODING": "utf-8"}
        self.frame, self.of, self.frames_ready = 0, 0, 0
        self.notices, self.error, self.outcome = [], "", ""
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sessile._bake", scene, run, usd],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            encoding="utf-8",
        )
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        self._trace = ""
        for thread in self._threads:
            thread.start()

    def _read(self):
        for line in self._process.stdout:
            try:
                report = json.loads(line)
            except ValueError:
                continue
            with self._lock:
                self.frame, self.of = report.get("frame", self.frame), report.get("of", self.of)
                self.frames_ready = report.get("frames", self.frames_ready)
                self.error, self.outcome = report.get("error", self.error), report.get("done", self.outcome)
                if "notice" in report:
                    self.notices.append(report["notice"])

    def _read_errors(self):
        self._trace = self._process.stderr.read()

    @property
    def running(self):
        """Whether the process has not ended."""
        return self._process.poll() is None

    def cancel(self):
        """Ask for a checkpoint and an end."""
        try:
            self._process.stdin.close()
        except OSError:
            pass

    def wait(self, timeout=None):
        """Wait for the end; return whether it has come."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        for thread in self._threads:
            thread.join()
        if not self.outcome and not self.error:
            last = self._trace.strip().splitlines()[-1:] or [f"it ended with code {self._process.returncode}"]
            self.error = f"The simulation failed: {last[0]}; what is done is kept, and Bake resumes it"
        return True
