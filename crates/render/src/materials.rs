//! What solids are made of, to the eye: a look and a texture become colors, a rough mirror and what shines through.
//!
//! An opaque surface is a rough mirror ([`Ggx`]) over a matte base that gets what the mirror leaves,
//!
//! ```text
//! f = f_ggx + (1 − E(θₒ)) a/π,
//! ```
//!
//! so that with a = 1 everything that comes in goes out. A leaf's base also passes light on to its other side. Under liquid of
//! index n the mirror's head-on reflectance follows from the ratio of the indices: wet plastic hardly shines.
//!
//! Wetness darkens a porous base, for light is thrown back into it by the liquid's surface from below (lekner1988):
//! a' = a (1 − p)/(1 − p a), with p = 0.47 the diffuse reflectance of water from within; and it lays a smooth film over it.

use glam::{Vec2, Vec3};
use sessile_scene::{Look, TexturePattern};

use crate::ggx::Ggx;
use crate::textures::{Painted, Texture};

/// Diffuse light under a water surface that the surface throws back.
const INNER_REFLECTANCE: f32 = 0.47;

/// Head-on reflectance of water in air.
const WATER_HEAD_ON: f32 = 0.02;

/// Roughness α of a water film.
const FILM_ALPHA: f32 = 0.03;

/// Roughness α from which on a mirror counts as broad.
pub const ROUGH: f32 = 0.2;

/// Refractive index of window glass.
pub const GLASS_INDEX: f32 = 1.5;

/// What a surface does with light.
#[derive(Clone, Debug)]
pub enum Material {
    /// Opaque, or translucent in the manner of a leaf.
    Painted(Finish),
    /// Clear glass: a body if the mesh is closed, a thin sheet otherwise.
    Glass {
        /// Refractive index.
        index: f32,
    },
}

/// A surface that is not clear.
#[derive(Clone, Debug)]
pub struct Finish {
    /// Color of the base, or of a metal's mirror.
    pub color: Painted,
    /// Roughness α of the mirror.
    pub alpha: f32,
    /// What the mirror is made of.
    pub mirror: Mirror,
    /// Share of the base's light that leaves on the other side, per color channel; zero where opaque.
    pub through: Vec3,
    /// How much the base takes up liquid and darkens, 0 to 1.
    pub porosity: f32,
}

/// The mirror on top of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mirror {
    /// None: matte.
    None,
    /// A clear coat of this refractive index.
    Coat(f32),
    /// A metal, of the surface's color.
    Metal,
}

impl Material {
    /// The material of a scene's look with a texture on it, if given. `pattern` is how many units of a
    /// built-in pattern lie along u and v.
    pub fn of(look: Look, texture: Option<Texture>, pattern: Vec2) -> Self {
        let rgb = Vec3::new;
        let plain = |color: Vec3| Texture::Plain(color);
        let (own, alpha, mirror, porosity) = match look {
            Look::Glass => return Self::Glass { index: GLASS_INDEX },
            Look::Metal => (plain(rgb(0.91, 0.92, 0.92)), 0.12, Mirror::Metal, 0.0),
            Look::Plastic => (plain(rgb(0.55, 0.57, 0.6)), 0.08, Mirror::Coat(1.46), 0.0),
            Look::Rubber => (plain(rgb(0.06, 0.06, 0.065)), 0.4, Mirror::Coat(1.5), 0.2),
            Look::Ceramic => (plain(rgb(0.82, 0.81, 0.78)), 0.05, Mirror::Coat(1.5), 0.0),
            Look::Stone => {
                (Texture::Stone(rgb(0.56, 0.53, 0.48), rgb(0.22, 0.21, 0.21)), 0.45, Mirror::Coat(1.45), 1.0)
            }
            Look::Wood => (Texture::Wood(rgb(0.62, 0.42, 0.25), rgb(0.33, 0.18, 0.09)), 0.25, Mirror::Coat(1.45), 0.8),
            Look::Paint => (plain(rgb(0.5, 0.08, 0.06)), 0.06, Mirror::Coat(1.5), 0.0),
            Look::Leaf => (Texture::Veins(rgb(0.12, 0.3, 0.05), rgb(0.3, 0.45, 0.14)), 0.28, Mirror::Coat(1.42), 0.0),
            Look::Skin => (plain(rgb(0.72, 0.47, 0.36)), 0.35, Mirror::Coat(1.4), 0.4),
            Look::Matte => (plain(rgb(0.6, 0.6, 0.6)), 1.0, Mirror::None, 1.0),
        };
        let through = if look == Look::Leaf { rgb(0.35, 0.45, 0.3) } else { Vec3::ZERO };
        let color = Painted { texture: texture.unwrap_or(own), scale: pattern };
        Self::Painted(Finish { color, alpha, mirror, through, porosity })
    }
}

/// The texture of a built-in pattern, in tones that go with a look.
pub fn built_in_texture(pattern: TexturePattern, look: Look) -> Texture {
    let base = match look {
        Look::Wood => Vec3::new(0.55, 0.36, 0.2),
        Look::Paint => Vec3::new(0.5, 0.08, 0.06),
        Look::Rubber => Vec3::new(0.1, 0.1, 0.11),
        _ => Vec3::new(0.62, 0.6, 0.56),
    };
    let dark = base * Vec3::new(0.32, 0.36, 0.42);
    match pattern {
        TexturePattern::Checker => Texture::Checker(base, dark),
        TexturePattern::Tiles => Texture::Tiles(base * Vec3::new(0.95, 1.05, 1.15), 0.45 * base),
        TexturePattern::Grid => Texture::Grid(base, dark),
        TexturePattern::Stripes => Texture::Stripes(base, dark),
        TexturePattern::Wood => Texture::Wood(base, dark),
        TexturePattern::Noise => Texture::Noise(base, dark),
    }
}

/// How a surface scatters light at a point. Directions are in a frame whose z axis is the normal on the side that is lit.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    mirror: Option<Ggx>,
    base: Vec3,
    through: Vec3,
}

/// The broad lobes of a [`Scatter`], seen from one direction: all but smooth mirrors.
#[derive(Clone, Copy, Debug)]
pub struct BroadScatter {
    out: Vec3,
    mirror: Option<Ggx>,
    base: Vec3,
    through: Vec3,
}

impl BroadScatter {
    /// f |cos θᵢ| of the broad lobes.
    pub fn eval(&self, into: Vec3) -> Vec3 {
        if into.z < 0.0 {
            return self.through * -into.z;
        }
        let mirrored = self.mirror.map_or(Vec3::ZERO, |mirror| mirror.eval(self.out, into).0);
        mirrored + self.base * into.z
    }

    /// Whether nothing is scattered.
    pub fn is_black(&self) -> bool {
        self.mirror.is_none() && self.base == Vec3::ZERO && self.through == Vec3::ZERO
    }
}

/// A direction in which light may have come in.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    /// Away from the surface, unit length.
    pub into: Vec3,
    /// f |cos θᵢ| over the density.
    pub weight: Vec3,
    /// Density per solid angle.
    pub density: f32,
}

impl Finish {
    /// How the surface scatters at texture coordinates, under a medium of index `outside`, `wet` from 0 to 1.
    pub fn scatter(&self, uv: Vec2, outside: f32, wet: f32) -> Scatter {
        self.scatter_of(self.color.at(uv), outside, wet)
    }

    /// The same where the texture has a given color.
    pub(crate) fn scatter_of(&self, color: Vec3, outside: f32, wet: f32) -> Scatter {
        if self.mirror == Mirror::Metal {
            return Scatter {
                mirror: Some(Ggx { alpha: self.alpha, head_on: color }),
                base: Vec3::ZERO,
                through: Vec3::ZERO,
            };
        }
        let p = INNER_REFLECTANCE * wet * self.porosity;
        let color = color * (1.0 - p) / (Vec3::ONE - p * color);
        let dry = match self.mirror {
            Mirror::Coat(index) => ((index - outside) / (index + outside)).powi(2),
            Mirror::None | Mirror::Metal => 0.0,
        };
        // A film on the surface in air; under a drop there is no film.
        let film = if outside > 1.001 { 0.0 } else { wet };
        let head_on = dry + (WATER_HEAD_ON.max(dry) - dry) * film;
        // Under a coat of nearly the liquid's index, the mirror is not worth the samples.
        let mirror = (head_on > 1e-3).then(|| Ggx {
            alpha: self.alpha + (FILM_ALPHA.min(self.alpha) - self.alpha) * film,
            head_on: Vec3::splat(head_on),
        });
        Scatter { mirror, base: color * (Vec3::ONE - self.through), through: color * self.through }
    }
}

impl Scatter {
    /// A matte surface.
    pub fn matte(albedo: Vec3) -> Self {
        Self { mirror: None, base: albedo, through: Vec3::ZERO }
    }

    /// The mirror, the color of the base, and that of light that shines through.
    pub(crate) fn parts(&self) -> (Option<Ggx>, Vec3, Vec3) {
        (self.mirror, self.base, self.through)
    }

    /// Color of the surface in even light, for the denoiser.
    pub fn albedo(&self) -> Vec3 {
        self.base + self.through + self.mirror.map_or(Vec3::ZERO, |mirror| mirror.head_on)
    }

    /// What the mirror leaves to the base, and the chances of picking the mirror, the base and what shines through.
    fn shares(&self, out: Vec3) -> (Vec3, [f32; 3]) {
        let mirrored = self.mirror.map_or(Vec3::ZERO, |mirror| mirror.albedo(out.z));
        let left = (Vec3::ONE - mirrored).max(Vec3::ZERO);
        let weights = [mirrored, left * self.base, left * self.through].map(Vec3::element_sum);
        let total: f32 = weights.iter().sum();
        let chances = if total > 0.0 { weights.map(|w| w / total) } else { [0.0; 3] };
        (left, chances)
    }

    /// The broad lobes, seen from `out`.
    pub fn broad(&self, out: Vec3) -> BroadScatter {
        let left = self.shares(out).0 * std::f32::consts::FRAC_1_PI * if out.z > 0.0 { 1.0 } else { 0.0 };
        let mirror = self.mirror.filter(|mirror| mirror.alpha >= ROUGH && out.z > 0.0);
        BroadScatter { out, mirror, base: left * self.base, through: left * self.through }
    }

    /// The share of f that is not broad, per color channel: that of a smooth mirror.
    pub fn sharp_share(&self, out: Vec3, into: Vec3) -> Vec3 {
        let Some(mirror) = self.mirror.filter(|mirror| mirror.alpha < ROUGH && into.z > 0.0) else {
            return Vec3::ZERO;
        };
        let mirrored = mirror.eval(out, into).0;
        let whole = mirrored + self.broad(out).eval(into);
        (mirrored / whole.max(Vec3::splat(1e-30))).min(Vec3::ONE)
    }

    /// f |cos θᵢ| and the density of [`Scatter::sample`].
    pub fn eval(&self, out: Vec3, into: Vec3) -> (Vec3, f32) {
        if out.z <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let (left, [mirror_chance, base_chance, through_chance]) = self.shares(out);
        let cosine = into.z.abs() * std::f32::consts::FRAC_1_PI;
        if into.z < 0.0 {
            return (left * self.through * cosine, through_chance * cosine);
        }
        let (mirrored, density) = self.mirror.map_or((Vec3::ZERO, 0.0), |mirror| mirror.eval(out, into));
        (mirrored + left * self.base * cosine, mirror_chance * density + base_chance * cosine)
    }

    /// Draws a direction; `None` where the light is absorbed.
    pub fn sample(&self, out: Vec3, choice: f32, u: Vec2) -> Option<Scattered> {
        if out.z <= 0.0 {
            return None;
        }
        let (_, [mirror_chance, base_chance, _]) = self.shares(out);
        let into = match self.mirror {
            // What a facet sends below the horizon is lost, and must not pass for light that shines through.
            Some(mirror) if choice < mirror_chance => Some(mirror.sample(out, u)).filter(|into| into.z > 0.0)?,
            _ => {
                let up = cosine_direction(u);
                if choice < mirror_chance + base_chance || self.through == Vec3::ZERO { up } else { -up }
            }
        };
        let (value, density) = self.eval(out, into);
        let fine = density > 0.0 && density.is_finite() && value.is_finite();
        fine.then(|| Scattered { into, weight: value / density, density })
    }
}

/// A direction about z with density cos θ/π.
pub fn cosine_direction(u: Vec2) -> Vec3 {
    let radius = u.x.sqrt();
    let (sin, cos) = (std::f32::consts::TAU * u.y).sin_cos();
    Vec3::new(radius * cos, radius * sin, (1.0 - u.x).max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reflected(scatter: &Scatter, cosine: f32) -> f32 {
        let out = Vec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
        // A grid in each lobe, and not random numbers: its error is well below the tolerance.
        let side = 96_u16;
        let part = |i: u16| (f32::from(i) + 0.5) / f32::from(side);
        let (mut sum, mut start) = (0.0_f64, 0.0);
        for chance in scatter.shares(out).1 {
            let choice = start + 0.5 * chance;
            start += chance;
            for cell in 0..side * side {
                let u = Vec2::new(part(cell / side), part(cell % side));
                let weight = scatter.sample(out, choice, u).map_or(0.0, |s| s.weight.x);
                sum += f64::from(chance * weight) / f64::from(side * side);
            }
        }
        sum as f32
    }

    /// In a furnace of even light a white thing cannot be seen: what leaves is what comes in.
    #[test]
    fn white_surfaces_of_every_kind_vanish_in_a_furnace() {
        let white = || Painted::plain(Vec3::ONE);
        for mirror in [Mirror::None, Mirror::Coat(1.3), Mirror::Coat(1.8), Mirror::Metal] {
            for alpha in [0.03, 0.1, 0.3, 0.6, 1.0] {
                for (through, wet) in [(0.0, 0.0), (0.4, 0.0), (0.0, 1.0)] {
                    let through = Vec3::splat(through);
                    let finish = Finish { color: white(), alpha, mirror, through, porosity: 0.0 };
                    for cosine in [0.05, 0.2, 0.5, 0.9, 1.0] {
                        let sent = reflected(&finish.scatter(Vec2::ZERO, 1.0, wet), cosine);
                        assert!((sent - 1.0).abs() < 5e-3, "{mirror:?} α {alpha} cos {cosine}: {sent}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_look_makes_light_wet_or_dry_in_air_or_under_water() {
        for look in Look::ALL {
            let Material::Painted(finish) = Material::of(*look, None, Vec2::splat(8.0)) else { continue };
            for (outside, wet) in [(1.0, 0.0), (1.0, 1.0), (1.333, 1.0)] {
                for cosine in [0.1, 0.6, 1.0] {
                    let scatter = finish.scatter(Vec2::new(0.31, 0.77), outside, wet);
                    let sent = reflected(&scatter, cosine);
                    assert!(sent > 0.01 && sent < 1.0, "{look:?} cos {cosine}: {sent}");
                }
            }
        }
    }

    #[test]
    fn wet_stone_is_darker_and_shinier_than_dry_stone() {
        let Material::Painted(stone) = Material::of(Look::Stone, None, Vec2::ONE) else { panic!("stone is opaque") };
        let uv = Vec2::splat(0.4);
        let (dry, wet) = (stone.scatter(uv, 1.0, 0.0), stone.scatter(uv, 1.0, 1.0));
        assert!(wet.base.x < 0.75 * dry.base.x, "{} against {}", wet.base, dry.base);
        let mirrored = Vec3::new(0.6, 0.0, 0.8);
        let shine = |s: &Scatter| s.eval(mirrored, mirrored * Vec3::new(-1.0, 1.0, 1.0)).0.x;
        assert!(shine(&wet) > 3.0 * shine(&dry), "{} against {}", shine(&wet), shine(&dry));
    }
}
