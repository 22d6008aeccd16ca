//! Light at and around the base of drops, from all that shines far away, by the normal of the ground (fournier1998, §4).
//!
//! The illumination texture holds one direction of light. Here it is summed over the cells of the environment and the suns for
//! one normal of the ground, once; all drops that stand alike share it. Normals are rounded to a grid of some 3°, and the sum is made
//! for the rounded one, so that it does not matter which drop came first.
//!
//! Between a half-sphere and a flat film light is interpolated by the drop's height over its radius: a film of water lets in
//! T(θ) of what falls on it and gathers nothing.

use std::collections::BTreeMap;

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Environment, SunDisc, orthonormal_basis};

use super::octahedral_map::{direction_of, place_of};
use super::screen_drops::Base;
use crate::fresnel::reflectance;
use crate::illumination_texture::IlluminationTexture;

/// Cells of the environment that are summed over: light 15° apart makes spots that overlap.
const CELLS: [usize; 2] = [24, 12];

/// Texels per side of the sums: at the base, and around it.
const BASE_SIDE: usize = 21;
const AROUND_SIDE: usize = 41;

/// Steps per side of the grid of normals.
const NORMALS: f32 = 32.0;

/// Diffuse light under a flat water surface that the surface throws back.
const RETURNED_BY_FILM: f32 = 0.47;

/// The illumination texture and the sums over lights made so far.
#[derive(Clone, Debug)]
pub(super) struct BaseIrradiance {
    texture: IlluminationTexture,
    index: f32,
    /// Directions and irradiances on facing surfaces.
    lights: Vec<(Vec3, Vec3)>,
    sums: BTreeMap<[u8; 2], BaseIrradianceTable>,
}

/// The sum for one normal.
#[derive(Clone, Debug)]
pub(super) struct BaseIrradianceTable {
    normal: Vec3,
    axes: [Vec3; 2],
    /// Irradiance at the base of a half-sphere.
    base: Vec<Vec3>,
    /// Under a film.
    film: Vec3,
    /// On bare ground.
    bare: Vec3,
    /// On the ground around, relative to bare ground.
    around: Vec<Vec3>,
}

fn key_of(normal: Vec3) -> [u8; 2] {
    ((0.5 * place_of(normal) + 0.5) * NORMALS).round().to_array().map(|x| x as u8)
}

impl BaseIrradiance {
    pub fn new(index: f32, environment: &Environment, suns: &[SunDisc]) -> Self {
        let mut lights = environment.cells(CELLS[0], CELLS[1]);
        lights.extend(suns.iter().map(SunDisc::towards));
        Self { texture: IlluminationTexture::new(index), index, lights, sums: BTreeMap::new() }
    }

    /// Makes the sums for bases that lack them.
    pub fn prepare<'a>(&mut self, bases: impl Iterator<Item = &'a Base>) {
        let mut missing: Vec<[u8; 2]> =
            bases.map(|base| key_of(base.normal)).filter(|key| !self.sums.contains_key(key)).collect();
        missing.sort_unstable();
        missing.dedup();
        let made: Vec<BaseIrradianceTable> = missing.par_iter().map(|&key| self.sum(key)).collect();
        self.sums.extend(missing.into_iter().zip(made));
    }

    fn sum(&self, key: [u8; 2]) -> BaseIrradianceTable {
        let place = Vec2::from_array(key.map(f32::from)) / NORMALS * 2.0 - 1.0;
        let normal = direction_of(place);
        let axes = orthonormal_basis(normal);
        let local = |v: Vec3| Vec3::new(v.dot(axes[0]), v.dot(normal), v.dot(axes[1]));
        let lights: Vec<(Vec3, Vec3)> =
            self.lights.iter().map(|&(towards, light)| (local(towards), light)).filter(|(l, _)| l.y > 0.0).collect();
        let total = |part: &dyn Fn(Vec3) -> f32| -> Vec3 { lights.iter().map(|&(l, light)| light * part(l)).sum() };
        let bare = total(&|l| l.y);
        let texel =
            |i: usize, side: usize| Vec2::new((i % side) as f32, (i / side) as f32) * (2.0 / (side - 1) as f32) - 1.0;
        // On the border of the square around the disc, the value on the disc's rim.
        let base = |i: usize| total(&|l| self.texture.irradiance(l, texel(i, BASE_SIDE).clamp_length_max(0.98)));
        let around = |i: usize| {
            let lit = total(&|l| self.texture.around(l, texel(i, AROUND_SIDE) * IlluminationTexture::REACH));
            lit / bare.max(Vec3::splat(1e-6))
        };
        BaseIrradianceTable {
            normal,
            axes,
            base: (0..BASE_SIDE * BASE_SIDE).map(base).collect(),
            film: total(&|l| l.y * (1.0 - reflectance(l.y, 1.0 / self.index))),
            bare,
            around: (0..AROUND_SIDE * AROUND_SIDE).map(around).collect(),
        }
    }

    /// The sum for a base; it must have been prepared.
    pub fn of(&self, base: &Base) -> Option<&BaseIrradianceTable> {
        self.sums.get(&key_of(base.normal))
    }

    /// Irradiance at a place of a drop's base, from far lights and from `near` ones (direction, irradiance facing), as it is seen from
    /// the air: over n², for light that leaves the water spreads. The light that a ground of color `albedo` throws back and the
    /// dome returns is in it.
    pub fn at_base(
        &self,
        light: &BaseIrradianceTable,
        base: &Base,
        offset: Vec2,
        near: &[(Vec3, Vec3)],
        albedo: Vec3,
    ) -> Vec3 {
        let place = light.turned(base, offset).clamp_length_max(1.0);
        let round = base.roundness();
        let mut sum = light.film.lerp(look_up(&light.base, BASE_SIDE, place), round);
        for &(towards, strength) in near {
            let l = light.local(towards);
            let film = l.y.max(0.0) * (1.0 - reflectance(l.y, 1.0 / self.index));
            sum += strength * (film + (self.texture.irradiance(l, place) - film) * round);
        }
        let returned = RETURNED_BY_FILM + (self.texture.returned() - RETURNED_BY_FILM) * round;
        sum / (self.index * self.index * (Vec3::ONE - returned * albedo))
    }

    /// Irradiance on the ground around a drop relative to bare ground.
    pub fn around(&self, light: &BaseIrradianceTable, base: &Base, offset: Vec2, near: &[(Vec3, Vec3)]) -> Vec3 {
        let place = light.turned(base, offset);
        if place.abs().max_element() >= IlluminationTexture::REACH {
            return Vec3::ONE;
        }
        let mut ratio = look_up(&light.around, AROUND_SIDE, place / IlluminationTexture::REACH);
        if !near.is_empty() {
            let (mut lit, mut bare) = (light.bare * ratio, light.bare);
            for &(towards, strength) in near {
                let l = light.local(towards);
                lit += strength * self.texture.around(l, place);
                bare += strength * l.y.max(0.0);
            }
            ratio = lit / bare.max(Vec3::splat(1e-6));
        }
        // Ends gently where the texture ends.
        let edge = ((IlluminationTexture::REACH - place.abs().max_element()) * 4.0).clamp(0.0, 1.0);
        Vec3::ONE.lerp(ratio, base.roundness() * edge)
    }
}

impl BaseIrradianceTable {
    fn local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.axes[0]), v.dot(self.normal), v.dot(self.axes[1]))
    }

    /// An offset along a base's axes along the axes of the sum.
    fn turned(&self, base: &Base, offset: Vec2) -> Vec2 {
        let along = offset.x * base.axes[0] + offset.y * base.axes[1];
        Vec2::new(along.dot(self.axes[0]), along.dot(self.axes[1]))
    }
}

fn look_up(table: &[Vec3], side: usize, place: Vec2) -> Vec3 {
    let at = ((place + 1.0) * (0.5 * (side - 1) as f32)).clamp(Vec2::ZERO, Vec2::splat((side - 1) as f32));
    let (x, y) = ((at.x as usize).min(side - 2), (at.y as usize).min(side - 2));
    let (fx, fy) = (at.x - x as f32, at.y - y as f32);
    let row = &table[y * side + x..];
    row[0].lerp(row[1], fx).lerp(row[side].lerp(row[side + 1], fx), fy)
}
