"""Exact solutions, against their closed forms."""

import numpy as np
import pytest

import sessile
from sessile import wetting


def test_presets_have_names_numbers_and_evidence():
    water = wetting.liquids()["water"]
    assert 0.07 < water.surface_tension < 0.075 and water.evidence
    wax = wetting.materials()["wax"]
    assert wax.receding <= wax.advancing < 180 and wax.evidence
    assert wax.advancing == round(wax.advancing, 3)


def test_a_profile_without_gravity_is_a_spherical_cap():
    profile = wetting.sessile_drop(4e-9, 70.0, gravity=0.0)
    radius, height = wetting.cap(4e-9, 70.0)
    assert profile.base_radius == pytest.approx(radius, rel=1e-6)
    assert profile.height == pytest.approx(height, rel=1e-6)
    assert np.pi * height * (3 * radius**2 + height**2) / 6 == pytest.approx(4e-9)
    assert profile.points[0] == pytest.approx([0, height], abs=1e-9)
    assert profile.points[-1] == pytest.approx([radius, 0], abs=1e-9)


def test_gravity_flattens_a_puddle_to_its_limit():
    profile = wetting.sessile_drop(2e-5, 90.0)
    limit = 2 * wetting.capillary_length() * np.sin(np.radians(45.0))
    assert profile.height == pytest.approx(limit, rel=0.06)


def test_the_laplace_equation_holds_along_a_profile():
    water = wetting.liquids()["water"]
    profile = wetting.sessile_drop(2e-8, 100.0)
    r, z = profile.points.T
    slope = np.arctan2(np.gradient(-z), np.gradient(r))
    arc = np.concatenate([[0], np.cumsum(np.hypot(np.diff(r), np.diff(z)))])
    inside = slice(20, -20)
    curvature = np.gradient(np.unwrap(slope), arc)[inside] + (np.sin(slope) / np.maximum(r, 1e-12))[inside]
    depth = profile.height - z[inside]
    expected = profile.apex_curvature + depth / wetting.capillary_length(water) ** 2
    assert curvature == pytest.approx(expected, rel=2e-3)


def test_a_pendant_drop_falls_when_it_is_too_large():
    assert wetting.pendant_drop(5e-9, 90.0).height > wetting.sessile_drop(5e-9, 90.0).height
    with pytest.raises(sessile.SceneError, match="falls"):
        wetting.pendant_drop(1e-6, 90.0)


def test_closed_forms():
    water = wetting.Liquid("mine", 1000.0, 1e-6, 0.072)
    assert wetting.lamb_frequency(1e-3, 2, water) == pytest.approx(np.sqrt(8 * 0.072 / (1000 * 1e-9)) / (2 * np.pi))
    assert wetting.jurin_height(1e-4, 60.0, water) == pytest.approx(2 * 0.072 * 0.5 / (1000 * 9.8 * 1e-4))
    force = wetting.furmidge_force(3e-3, 105.0, 95.0, water)
    expected = 0.072 * 3e-3 * (np.cos(np.radians(95.0)) - np.cos(np.radians(105.0)))
    assert force == pytest.approx(expected, rel=1e-12)
    assert wetting.meniscus_height(0.0, water) == pytest.approx(np.sqrt(2) * wetting.capillary_length(water))


def test_a_steeper_plate_retains_less():
    wax = wetting.materials()["wax"]
    volumes = [wetting.largest_retained_volume(tilt, wax.advancing, wax.receding) for tilt in (20.0, 45.0, 90.0)]
    assert volumes[0] > volumes[1] > volumes[2] > 0


@pytest.mark.parametrize("wrong", [(-1e-9, 90.0), (1e-9, 0.0), (1e-9, 200.0), (float("nan"), 90.0)])
def test_wrong_arguments_are_named(wrong):
    with pytest.raises(sessile.SceneError, match="volume|contact_angle"):
        wetting.sessile_drop(*wrong)


def test_an_unknown_liquid_is_named():
    with pytest.raises(sessile.SceneError, match="there are water"):
        wetting.capillary_length("wtaer")
