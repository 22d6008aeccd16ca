//! Irradiance at and around the base of drops due to distant lights, by surface normal
//! (fournier1998, §4).
//!
//! The illumination texture covers one direction of light. Here it is summed over the cells of the
//! environment and the suns, once per surface normal; all drops with the same normal share the
//! result. Normals are rounded to a grid of about 3° and the sum is computed for the rounded one,
//! so that the order of drops does not matter.
//!
//! Between a hemisphere and a flat film, light is interpolated by the drop's height over its
//! radius: a film of water transmits T(θ) and does not focus.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use sessile_appearance::{Environment, SunDisc, orthonormal_basis};

use super::octahedral_map::{direction_from_octahedral, octahedral_from_direction};
use super::screen_drops::Base;
use crate::fresnel::reflectance;
use crate::illumination_texture::IlluminationTexture;

/// Cells of the environment that are summed: lights 15° apart make overlapping spots.
const CELLS: [usize; 2] = [24, 12];

/// Texels per side of the tables: at the base, and around it.
const BASE_SIDE: usize = 21;
const AROUND_SIDE: usize = 41;

/// Steps per side of the grid of normals.
const NORMALS: f32 = 32.0;

/// Internal diffuse reflectance of a flat water surface.
const FILM_INNER_REFLECTANCE: f32 = 0.47;

/// The illumination texture and the tables computed so far; clones share them.
#[derive(Clone, Debug)]
pub(super) struct BaseIrradiance {
    texture: Arc<IlluminationTexture>,
    index: f32,
    /// Directions of the lights and their irradiance on facing surfaces.
    lights: Arc<[(Vec3, Vec3)]>,
    tables: BTreeMap<[u8; 2], Arc<BaseIrradianceTable>>,
}

/// The table for one normal.
#[derive(Clone, Debug)]
pub(super) struct BaseIrradianceTable {
    normal: Vec3,
    axes: [Vec3; 2],
    /// Irradiance at the base of a hemisphere.
    base: Vec<Vec3>,
    /// Irradiance under a film.
    film: Vec3,
    /// Irradiance on the bare surface.
    bare: Vec3,
    /// Irradiance on the surface around, relative to the bare surface.
    around: Vec<Vec3>,
}

fn key_of(normal: Vec3) -> [u8; 2] {
    ((0.5 * octahedral_from_direction(normal) + 0.5) * NORMALS).round().to_array().map(|x| x as u8)
}

impl BaseIrradiance {
    pub fn new(index: f32, environment: &Environment, suns: &[SunDisc]) -> Self {
        let mut lights = environment.cells(CELLS[0], CELLS[1]);
        lights.extend(suns.iter().map(SunDisc::towards));
        let texture = Arc::new(IlluminationTexture::new(index));
        Self { texture, index, lights: lights.into(), tables: BTreeMap::new() }
    }

    /// Computes missing tables for these bases.
    pub fn prepare<'a>(&mut self, bases: impl Iterator<Item = &'a Base>) {
        let mut missing: Vec<[u8; 2]> =
            bases.map(|base| key_of(base.normal)).filter(|key| !self.tables.contains_key(key)).collect();
        missing.sort_unstable();
        missing.dedup();
        let made: Vec<Arc<BaseIrradianceTable>> = missing.par_iter().map(|&key| Arc::new(self.table(key))).collect();
        self.tables.extend(missing.into_iter().zip(made));
    }

    /// Adds the tables of another one with the same lights and index.
    pub fn share(&mut self, other: &Self) {
        self.tables.extend(other.tables.iter().map(|(key, table)| (*key, Arc::clone(table))));
    }

    fn table(&self, key: [u8; 2]) -> BaseIrradianceTable {
        let place = Vec2::from_array(key.map(f32::from)) / NORMALS * 2.0 - 1.0;
        let normal = direction_from_octahedral(place);
        let axes = orthonormal_basis(normal);
        let local = |v: Vec3| Vec3::new(v.dot(axes[0]), v.dot(normal), v.dot(axes[1]));
        let lights: Vec<(Vec3, Vec3)> =
            self.lights.iter().map(|&(towards, light)| (local(towards), light)).filter(|(l, _)| l.y > 0.0).collect();
        let total = |part: &dyn Fn(Vec3) -> f32| -> Vec3 { lights.iter().map(|&(l, light)| light * part(l)).sum() };
        let bare = total(&|l| l.y);
        let texel =
            |i: usize, side: usize| Vec2::new((i % side) as f32, (i / side) as f32) * (2.0 / (side - 1) as f32) - 1.0;
        // Beyond the disc, the value at its edge.
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

    /// The table for a base; it must have been prepared.
    pub fn of(&self, base: &Base) -> Option<&BaseIrradianceTable> {
        self.tables.get(&key_of(base.normal)).map(Arc::as_ref)
    }

    /// Irradiance at a point of a drop's base from distant lights and from `near` ones (direction,
    /// irradiance on a facing surface), divided by n² for radiance that leaves the water. Includes
    /// interreflection between a base of color `albedo` and the dome.
    pub fn at_base(
        &self,
        light: &BaseIrradianceTable,
        base: &Base,
        offset: Vec2,
        near: &[(Vec3, Vec3)],
        albedo: Vec3,
    ) -> Vec3 {
        let place = light.to_table_axes(base, offset).clamp_length_max(1.0);
        let aspect = base.aspect();
        let mut sum = light.film.lerp(interpolate(&light.base, BASE_SIDE, place), aspect);
        for &(towards, strength) in near {
            let l = light.local(towards);
            let film = l.y.max(0.0) * (1.0 - reflectance(l.y, 1.0 / self.index));
            sum += strength * (film + (self.texture.irradiance(l, place) - film) * aspect);
        }
        let reflected_back =
            FILM_INNER_REFLECTANCE + (self.texture.inner_reflectance() - FILM_INNER_REFLECTANCE) * aspect;
        sum / (self.index * self.index * (Vec3::ONE - reflected_back * albedo))
    }

    /// Irradiance on the surface around a drop, relative to the bare surface.
    pub fn around(&self, light: &BaseIrradianceTable, base: &Base, offset: Vec2, near: &[(Vec3, Vec3)]) -> Vec3 {
        let place = light.to_table_axes(base, offset);
        if place.abs().max_element() >= IlluminationTexture::REACH {
            return Vec3::ONE;
        }
        let mut ratio = interpolate(&light.around, AROUND_SIDE, place / IlluminationTexture::REACH);
        if !near.is_empty() {
            let (mut lit, mut bare) = (light.bare * ratio, light.bare);
            for &(towards, strength) in near {
                let l = light.local(towards);
                lit += strength * self.texture.around(l, place);
                bare += strength * l.y.max(0.0);
            }
            ratio = lit / bare.max(Vec3::splat(1e-6));
        }
        // Fades out at the border of the texture.
        let edge = ((IlluminationTexture::REACH - place.abs().max_element()) * 4.0).clamp(0.0, 1.0);
        Vec3::ONE.lerp(ratio, base.aspect() * edge)
    }
}

impl BaseIrradianceTable {
    fn local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.axes[0]), v.dot(self.normal), v.dot(self.axes[1]))
    }

    /// An offset in a base's axes, expressed in the table's axes.
    fn to_table_axes(&self, base: &Base, offset: Vec2) -> Vec2 {
        let along = offset.x * base.axes[0] + offset.y * base.axes[1];
        Vec2::new(along.dot(self.axes[0]), along.dot(self.axes[1]))
    }
}

fn interpolate(table: &[Vec3], side: usize, place: Vec2) -> Vec3 {
    let at = ((place + 1.0) * (0.5 * (side - 1) as f32)).clamp(Vec2::ZERO, Vec2::splat((side - 1) as f32));
    let (x, y) = ((at.x as usize).min(side - 2), (at.y as usize).min(side - 2));
    let (fx, fy) = (at.x - x as f32, at.y - y as f32);
    let row = &table[y * side + x..];
    row[0].lerp(row[1], fx).lerp(row[side].lerp(row[side + 1], fx), fy)
}
