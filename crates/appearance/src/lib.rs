//! What a scene looks like: camera, framing, materials, textures, lights.
//!
//! The renderer and the exporters both start from these types: a [`Camera`], framed by
//! [`frame_scene`] where the scene leaves it open; the [`SceneMaterials`] of solids and liquid; an
//! [`Environment`] with [`AreaLight`]s and a [`SunDisc`]; and surfaces prepared for ray tracing
//! (normals, contact skirts, a ray BVH).
//!
//! Lengths are in meters, y is up, colors are linear sRGB, and coordinates are right-handed.

mod backdrop;
mod bsdf;
mod camera;
mod camera_motion;
mod contact_skirt;
mod drop_track;
mod environment;
mod error;
mod framing;
mod ggx;
mod lights;
mod liquid_material;
mod materials;
mod normals;
mod ray_bvh;
mod run_scene;
mod scene_assets;
mod scene_materials;
mod srgb;
mod textures;

pub use backdrop::{Backdrop, BackdropError, Photograph};
pub use bsdf::{Bsdf, BsdfSample, ROUGH_ALPHA, RoughLobes, sample_cosine_hemisphere};
pub use camera::{Camera, Lens};
pub use camera_motion::moved_camera;
pub use contact_skirt::{SkirtTriangle, skirt_triangles};
pub use drop_track::DropTrack;
pub use environment::{EnvSample, Environment, EnvironmentError, LatLong, luminance};
pub use error::AppearanceError;
pub use framing::{frame_drop, frame_scene};
pub use ggx::{Ggx, MetalMixture};
pub use lights::{AreaLight, LightSample, SunDisc, orthonormal_basis};
pub use liquid_material::LiquidMaterial;
pub use materials::{BsdfParameters, LookChanges, Material, SpecularLobe, built_in_texture};
pub use normals::{creased_normals, smooth_normals};
pub use ray_bvh::{Ray, RayBvh, TriangleHit};
pub use run_scene::{RunSceneError, frames_of_run, scene_of_run};
pub use scene_assets::SceneAssets;
pub use scene_materials::{SceneMaterials, encloses};
pub use srgb::{linear_from_srgb, srgb_from_linear};
pub use textures::{ColorImage, ScaledTexture, Texture, TextureError};
