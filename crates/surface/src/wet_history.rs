//! Where solids have been wet: shown in frames, and used for the wet advancing angle.
//!
//! Each solid has a texture of texels about half an edge wide over its texture coordinates.
//! Vertices in contact mark their texel after every step, wetted triangles all of theirs every few
//! substeps. A contact line samples one and a half texels ahead: where the solid was wet it
//! advances at `wet_advancing`.

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sessile_frames::WetMap;
use sessile_world::{Solid, World};

use crate::mesh::Mesh;
use crate::substrate::SolidIndex;

/// Most texels along a side.
const MAX_TEXELS: f64 = 1024.0;
/// Fewest texels along a side.
const MIN_TEXELS: f64 = 16.0;
/// Value of a wet texel in a frame's map.
const WET: u16 = u16::MAX;

/// The texels of all solids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WetHistory {
    solids: Vec<Texels>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Texels {
    width: u32,
    height: u32,
    /// Size of a texel, in m.
    size: f64,
    wet: Vec<bool>,
}

impl Texels {
    fn new(solid: &Solid, edge: f64) -> Self {
        let [u, v] = match solid.plane_frame() {
            Some(frame) => frame.size,
            None => [solid.area().max(0.0).sqrt(); 2],
        };
        let texel = 0.5 * edge;
        let count = |length: f64| (length / texel).clamp(MIN_TEXELS, MAX_TEXELS).ceil() as u32;
        let (width, height) = (count(u), count(v));
        let size = (u / f64::from(width)).max(v / f64::from(height));
        Self { width, height, size, wet: vec![false; (width * height) as usize] }
    }

    /// Index of the texel at texture coordinates; `None` outside the unit square.
    fn index(&self, uv: DVec2) -> Option<usize> {
        if !(uv.cmpge(DVec2::ZERO).all() && uv.cmple(DVec2::ONE).all()) {
            return None;
        }
        let column = ((uv.x * f64::from(self.width)) as u32).min(self.width - 1);
        let row = (((1.0 - uv.y) * f64::from(self.height)) as u32).min(self.height - 1);
        Some((row * self.width + column) as usize)
    }
}

impl WetHistory {
    /// Dry solids.
    pub fn new(world: &World, edge: f64) -> Self {
        Self { solids: world.solids().iter().map(|solid| Texels::new(solid, edge)).collect() }
    }

    /// Whether a solid has been wet at texture coordinates.
    pub fn is_wet(&self, solid: SolidIndex, uv: DVec2) -> bool {
        self.solids.get(solid.to_usize()).is_some_and(|texels| texels.index(uv).is_some_and(|i| texels.wet[i]))
    }

    /// Distance that a contact line samples ahead, in m.
    pub fn reach(&self, solid: SolidIndex) -> f64 {
        self.solids.get(solid.to_usize()).map_or(0.0, |texels| 1.5 * texels.size)
    }

    /// Marks a point as wet.
    pub fn mark(&mut self, solid: SolidIndex, uv: DVec2) {
        if let Some(texels) = self.solids.get_mut(solid.to_usize())
            && let Some(i) = texels.index(uv)
        {
            texels.wet[i] = true;
        }
    }

    /// The texels under the wetted faces of a mesh; some occur several times.
    pub fn texels_under(&self, mesh: &Mesh, world: &World) -> Vec<(SolidIndex, usize)> {
        let mut found = Vec::new();
        for t in mesh.triangle_indices() {
            let Some(solid) = mesh.interfaces[t].solid_index() else { continue };
            let [a, b, c] = mesh.corners(t);
            let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
            let parts = (longest / self.solids[solid].size).ceil().clamp(1.0, 12.0) as usize;
            for i in 0..=parts {
                for j in 0..=parts - i {
                    let (u, v) = (i as f64 / parts as f64, j as f64 / parts as f64);
                    let point: DVec3 = a + (b - a) * u + (c - a) * v;
                    let texel = self.solids[solid].index(world.solids()[solid].closest(point).uv);
                    let texel = texel.map(|texel| (solid, texel));
                    if found.last().copied() != texel {
                        found.extend(texel);
                    }
                }
            }
        }
        found
    }

    /// Marks texels as wet.
    pub fn mark_texels(&mut self, texels: &[(SolidIndex, usize)]) {
        for &(solid, texel) in texels {
            self.solids[solid].wet[texel] = true;
        }
    }

    /// Whether another history has textures of the same sizes.
    pub fn same_size(&self, other: &Self) -> bool {
        let sizes = |history: &Self| -> Vec<(u32, u32, usize)> {
            history.solids.iter().map(|texels| (texels.width, texels.height, texels.wet.len())).collect()
        };
        sizes(self) == sizes(other)
    }

    /// Wet maps of the solids that have been wet anywhere.
    pub fn maps(&self) -> Vec<WetMap> {
        let wet = self.solids.iter().enumerate().filter(|(_, texels)| texels.wet.contains(&true));
        wet.map(|(solid, texels)| WetMap {
            solid,
            width: texels.width,
            height: texels.height,
            wetness: texels.wet.iter().map(|&wet| if wet { WET } else { 0 }).collect(),
            film: vec![0; texels.wet.len()],
            age: Vec::new(),
        })
        .collect()
    }
}
