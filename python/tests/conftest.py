"""Scenes that take a second."""

import copy

import pytest

DROP = {
    "title": "A drop on wax",
    "model": "surface",
    "time": {"frames": 5, "fps": 250},
    "resolution": {"edge": "0.3 mm"},
    "render": {"size": [64, 36], "samples": 2},
    "solids": [{"name": "table", "material": "wax", "shape": "plane", "size": "20 20 mm"}],
    "drops": [{"shape": "sphere", "center": "0 1.05 0 mm", "radius": "1 mm", "velocity": "0.1 0 0 m/s"}],
}

PANE = {
    "model": "pane",
    "time": {"frames": 4, "fps": 10},
    "render": {"size": [64, 36], "samples": 2},
    "solids": [{"name": "window", "material": "glass", "shape": "plane", "normal": [0, 0, 1], "size": "60 60 mm"}],
    "emitters": [{"kind": "rain", "over": "window", "rate": "200 mm/h"}],
}


@pytest.fixture
def drop():
    return copy.deepcopy(DROP)


@pytest.fixture
def pane():
    return copy.deepcopy(PANE)


def pytest_addoption(parser):
    parser.addoption("--program", help="the command line program, to compare results with")
