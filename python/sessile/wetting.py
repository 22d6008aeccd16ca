"""Liquids, materials and exact solutions of wetting.

Lengths, volumes and other numbers are in SI units, angles in degrees. A liquid is given by name (`"water"`) or as a
`Liquid`, a material's angles as `advancing` and `receding`. Sources are in docs/wetting.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from . import _sessile

GRAVITY = 9.8
"""Default gravity of scenes, in m/s²."""


@dataclass(frozen=True)
class Liquid:
    """A liquid in air."""

    name: str
    density: float
    """In kg/m³."""
    viscosity: float
    """Kinematic viscosity, in m²/s."""
    surface_tension: float
    """In N/m."""
    title: str = ""
    evidence: str = ""
    """Sources and uncertainty."""

    @property
    def _properties(self) -> tuple[float, float, float]:
        return self.density, self.viscosity, self.surface_tension


@dataclass(frozen=True)
class Material:
    """How water wets a solid; angles in degrees."""

    name: str
    advancing: float
    """Advancing contact angle of the dry solid."""
    receding: float
    """Receding contact angle."""
    wet_advancing: float | None = None
    """Advancing contact angle of the wet solid, where it differs."""
    title: str = ""
    evidence: str = ""
    """Sources and uncertainty."""


@dataclass(frozen=True)
class Profile:
    """The meridian of a drop at rest and what follows from it."""

    volume: float
    """In m³."""
    contact_angle: float
    """In degrees."""
    height: float
    """Distance of the apex from the solid, in m."""
    base_radius: float
    """Radius of the wetted disc, in m."""
    max_radius: float
    """Largest radius, in m."""
    air_area: float
    """Area of the free surface, in m²."""
    apex_curvature: float
    """Sum of the principal curvatures at the apex, in 1/m."""
    centroid_height: float
    """Distance of the centroid from the solid, in m."""
    points: NDArray[np.float64]
    """From the apex to the contact line: radius and distance from the solid, n × 2, in m."""


@cache
def liquids() -> dict[str, Liquid]:
    """The liquids that scenes know by name."""
    listed = _sessile.liquids()
    return {name: Liquid(name, *properties, title, evidence) for name, title, evidence, properties in listed}


@cache
def materials() -> dict[str, Material]:
    """The materials that scenes know by name."""
    listed = _sessile.materials()
    return {name: Material(name, *angles, title, evidence) for name, title, evidence, angles in listed}


def _liquid(liquid: str | Liquid) -> tuple[float, float, float]:
    if isinstance(liquid, Liquid):
        return liquid._properties
    known = liquids()
    if liquid not in known:
        raise _sessile.SceneError(f"no liquid is called {liquid!r}; there are {', '.join(known)}")
    return known[liquid]._properties


def capillary_length(liquid: str | Liquid = "water", gravity: float = GRAVITY) -> float:
    """√(γ/ρg), in m."""
    return _sessile.capillary_length(_liquid(liquid), gravity)


def sessile_drop(
    volume: float, contact_angle: float, liquid: str | Liquid = "water", gravity: float = GRAVITY
) -> Profile:
    """Young–Laplace profile of a drop on a level solid; a spherical cap without gravity."""
    numbers, points = _sessile.sessile_drop(volume, contact_angle, _liquid(liquid), gravity)
    return Profile(*numbers, points)


def pendant_drop(
    volume: float, contact_angle: float, liquid: str | Liquid = "water", gravity: float = GRAVITY
) -> Profile:
    """Young–Laplace profile of a drop that hangs from a level solid; `SceneError` if it would fall."""
    numbers, points = _sessile.pendant(volume, contact_angle, _liquid(liquid), gravity)
    return Profile(*numbers, points)


def cap(volume: float, contact_angle: float) -> tuple[float, float]:
    """Base radius and height of a spherical cap, in m."""
    return _sessile.cap(volume, contact_angle)


def furmidge_force(
    width: float, advancing: float, receding: float, liquid: str | Liquid = "water", factor: float = 1.0
) -> float:
    """Force that retains a drop of a width (m) on a tilted plate: k γ w (cos θ_r - cos θ_a), in N."""
    return _sessile.retention_force(width, advancing, receding, _liquid(liquid), factor)


def largest_retained_volume(
    tilt: float, advancing: float, receding: float, liquid: str | Liquid = "water", gravity: float = GRAVITY
) -> float:
    """Largest drop that a plate at a tilt (degrees) retains, in m³."""
    return _sessile.max_tilt_volume(tilt, advancing, receding, _liquid(liquid), gravity)


def lamb_frequency(radius: float, mode: int = 2, liquid: str | Liquid = "water") -> float:
    """Frequency of a free drop of a radius (m) in a mode, in Hz."""
    return _sessile.drop_frequency(radius, mode, _liquid(liquid))


def jurin_height(
    radius: float, contact_angle: float = 0.0, liquid: str | Liquid = "water", gravity: float = GRAVITY
) -> float:
    """Height to which a liquid rises in a narrow tube of a radius (m): 2γ cos θ/(ρ g r), in m."""
    return _sessile.jurin_height(radius, contact_angle, _liquid(liquid), gravity)


def meniscus_height(contact_angle: float = 0.0, liquid: str | Liquid = "water", gravity: float = GRAVITY) -> float:
    """Height of the contact line on a vertical wall, in m; negative above 90°."""
    return _sessile.meniscus_height(contact_angle, _liquid(liquid), gravity)


def breakup_wavelength(radius: float) -> float:
    """Wavelength at which a cylinder of liquid of a radius (m) breaks up fastest, in m."""
    return _sessile.breakup_wavelength(radius)
