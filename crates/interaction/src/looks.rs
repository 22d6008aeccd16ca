//! What a scene looks like, for a page that draws it by itself: the same materials, textures,
//! environment, lights and backdrop as in rendered images, as numbers and as pictures.
//!
//! Diffuse light comes from the nine coefficients of the environment's irradiance in spherical
//! harmonics (ramamoorthi2001):
//!
//! ```text
//! E(n)/π = Σ (A_l/π) L_lm Y_lm(n),     A₀ = π,  A₁ = 2π/3,  A₂ = π/4
//! ```
//!
//! The environment's picture has the area lights as they are seen from the middle of the solids.

use glam::{DVec3, Vec2, Vec3};
use serde_json::{Value, json};
use sessile_appearance::{
    AreaLight, BsdfParameters, Environment, LiquidMaterial, Material, ScaledTexture, SceneAssets, SpecularLobe,
    srgb_from_linear,
};
use sessile_scene::{Lights, Scene};
use sessile_world::World;

use crate::meshes::extend_u32;

/// Kind of the message of a picture.
const PICTURE: u32 = 4;
/// Columns and rows of the environment's picture.
const ENVIRONMENT: [usize; 2] = [1024, 512];
/// Cells of the environment that are summed for the diffuse light.
const CELLS: [usize; 2] = [128, 64];
/// Least and largest side of a texture.
const TEXTURE: [usize; 2] = [512, 2048];
/// Largest side of a backdrop.
const BACKDROP: usize = 2048;
/// Largest radiance of a texel, within what half floats hold.
const BRIGHTEST: f32 = 3e4;

/// What a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureKind {
    /// The color of a solid over its texture coordinates, sRGB and opaque, the top row first.
    Texture = 0,
    /// The environment by direction, linear RGBA of half floats, +y on top.
    Environment = 1,
    /// A photograph behind everything, sRGB and opaque, the top row first.
    Backdrop = 2,
    /// The normals of a solid's relief over its texture coordinates: along u, along v and out of
    /// the surface as 127 n + 128, so that 128 is 0; opaque, the top row first.
    Relief = 3,
}

/// A picture for the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it is.
    pub kind: PictureKind,
    /// Index of its solid; 0 where it belongs to none.
    pub solid: usize,
    /// Columns and rows.
    pub size: [usize; 2],
    /// Texels.
    pub texels: Vec<u8>,
}

impl Picture {
    /// The binary message of a picture of a run (0 for a session): six numbers, then the texels.
    pub fn message(&self, run: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(24 + self.texels.len());
        let header = [PICTURE as usize, self.kind as usize, self.solid, run, self.size[0], self.size[1]];
        extend_u32(&mut out, header.map(|value| value as u32));
        out.extend(&self.texels);
        out
    }
}

/// What a scene looks like.
#[derive(Debug)]
pub struct Looks {
    solids: Vec<Value>,
    liquid: Value,
    light: Value,
    display: Value,
    camera: Value,
    pictures: Vec<Picture>,
    problem: Option<String>,
}

impl Looks {
    /// Reads the materials and pictures of a scene. Where a file cannot be used, the built-in looks
    /// and light replace it, and [`Looks::problem`] says why.
    pub fn of(scene: &Scene, world: &World) -> Self {
        match SceneAssets::load(scene) {
            Ok(assets) => Self::with_assets(scene, world, &assets, None),
            Err(error) => {
                let mut plain = scene.clone();
                plain.lights = Lights::default();
                plain.render.backdrop = None;
                plain.solids.iter_mut().for_each(|solid| (solid.texture, solid.normal_map) = (None, None));
                match SceneAssets::load(&plain) {
                    Ok(assets) => Self::with_assets(&plain, world, &assets, Some(error.to_string())),
                    Err(_) => Self::empty(error.to_string()),
                }
            }
        }
    }

    fn empty(problem: String) -> Self {
        let [liquid, light, display, camera] = [Value::Null, Value::Null, Value::Null, Value::Null];
        Self { solids: Vec::new(), liquid, light, display, camera, pictures: Vec::new(), problem: Some(problem) }
    }

    fn with_assets(scene: &Scene, world: &World, assets: &SceneAssets, problem: Option<String>) -> Self {
        let areas: Vec<AreaLight> = scene
            .lights
            .area
            .iter()
            .filter_map(|light| {
                let color = DVec3::from(light.color).as_vec3();
                AreaLight::new(light.center.as_vec3(), light.look_at.as_vec3(), light.size as f32, color)
            })
            .collect();
        let mut pictures = vec![environment_picture(&assets.environment, &areas, middle(world))];
        for (index, material) in assets.materials.solids().iter().enumerate() {
            let Material::Opaque(parameters) = material else { continue };
            if !parameters.color.is_constant() {
                pictures.push(texture_picture(index, &parameters.color));
            }
            if parameters.color.relief.is_some() {
                pictures.push(relief_picture(index, &parameters.color));
            }
        }
        let mut display = json!({
            "view": format!("{:?}", scene.render.view).to_lowercase(),
            "exposure": scene.render.exposure,
            "wet_paths": scene.render.wet_paths,
        });
        if let Some(photograph) = &assets.photograph {
            let size = photograph.size();
            let step = size[0].max(size[1]).div_ceil(BACKDROP).max(1);
            let size = size.map(|side| (side / step).max(1));
            if let Some(backdrop) = assets.backdrop(scene, size) {
                display["backdrop"] = json!({"white": backdrop.white(), "size": size});
                let pixels = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y)));
                let texels = pixels.flat_map(|(x, y)| {
                    let [r, g, b] = backdrop.bytes(x, y);
                    [r, g, b, 255]
                });
                pictures.push(Picture { kind: PictureKind::Backdrop, solid: 0, size, texels: texels.collect() });
            }
        }
        Self {
            solids: assets.materials.solids().iter().map(material_value).collect(),
            liquid: liquid_value(assets.materials.liquid()),
            light: light_value(scene, &assets.environment),
            display,
            camera: camera_value(scene),
            pictures,
            problem,
        }
    }

    /// The pictures.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }

    /// Why a file of the scene is not shown.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub(crate) fn solid(&self, index: usize) -> Value {
        self.solids.get(index).cloned().unwrap_or_default()
    }

    pub(crate) fn liquid(&self, name: &str) -> Value {
        let mut value = self.liquid.clone();
        value["name"] = json!(name);
        value
    }

    pub(crate) fn light(&self) -> Value {
        self.light.clone()
    }

    pub(crate) fn display(&self) -> Value {
        self.display.clone()
    }

    pub(crate) fn camera(&self) -> Value {
        self.camera.clone()
    }
}

/// The middle of all solids, in m.
fn middle(world: &World) -> Vec3 {
    let [low, high] = world
        .solids()
        .iter()
        .map(sessile_world::Solid::bounds)
        .fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], [a, b]| [low.min(a), high.max(b)]);
    let middle = 0.5 * (low + high);
    if middle.is_finite() { middle.as_vec3() } else { Vec3::ZERO }
}

fn material_value(material: &Material) -> Value {
    match material {
        Material::Glass { index, tint } => json!({"glass": index, "tint": tint.to_array()}),
        Material::Opaque(parameters) => opaque_value(parameters),
    }
}

fn opaque_value(parameters: &BsdfParameters) -> Value {
    let textured = !parameters.color.is_constant();
    json!({
        "color": parameters.color.at(Vec2::ZERO).to_array(),
        "textured": textured,
        "relief": parameters.color.relief.is_some(),
        "alpha": parameters.alpha,
        "metallic": parameters.specular.metallic(),
        "coat": parameters.specular.index(),
        "transmittance": parameters.transmittance.to_array(),
        "porosity": parameters.porosity,
    })
}

fn liquid_value(liquid: &LiquidMaterial) -> Value {
    match liquid {
        LiquidMaterial::Clear { index, absorption } => json!({"index": index, "absorption": absorption.to_array()}),
        LiquidMaterial::Opaque(parameters) => json!({
            "index": parameters.specular.index().unwrap_or(1.5),
            "absorption": [0.0, 0.0, 0.0],
            "opaque": parameters.color.at(Vec2::ZERO).to_array(),
            "metal": parameters.specular == SpecularLobe::Conductor,
        }),
    }
}

fn light_value(scene: &Scene, environment: &Environment) -> Value {
    let sun = scene.lights.sun.map(|sun| json!({"direction": sun.direction.to_array(), "irradiance": sun.color}));
    let areas = scene.lights.area.iter().map(|light| {
        json!({
            "center": light.center.to_array(),
            "normal": (light.look_at - light.center).normalize_or_zero().to_array(),
            "area": light.size * light.size,
            "radiance": light.color,
        })
    });
    json!({
        "harmonics": harmonics(environment).map(|c| c.to_array()),
        "mean": environment.mean_radiance().to_array(),
        "sun": sun,
        "areas": areas.collect::<Vec<_>>(),
    })
}

/// The real spherical harmonics up to degree 2 at a unit vector.
fn basis(d: Vec3) -> [f32; 9] {
    [
        0.282_095,
        0.488_603 * d.y,
        0.488_603 * d.z,
        0.488_603 * d.x,
        1.092_548 * d.x * d.y,
        1.092_548 * d.y * d.z,
        0.315_392 * (3.0 * d.z * d.z - 1.0),
        1.092_548 * d.x * d.z,
        0.546_274 * (d.x * d.x - d.y * d.y),
    ]
}

/// Coefficients of E(n)/π: the radiance of a white diffuse surface that faces n.
fn harmonics(environment: &Environment) -> [Vec3; 9] {
    let mut sums = [Vec3::ZERO; 9];
    for (towards, light) in environment.cells(CELLS[0], CELLS[1]) {
        for (sum, value) in sums.iter_mut().zip(basis(towards)) {
            *sum += value * light;
        }
    }
    let weight = |k: usize| match k {
        0 => 1.0,
        1..=3 => 2.0 / 3.0,
        _ => 0.25,
    };
    std::array::from_fn(|k| sums[k] * weight(k))
}

/// The scene's own camera, if it has one.
fn camera_value(scene: &Scene) -> Value {
    let camera = &scene.camera;
    let (Some(eye), Some(look_at)) = (camera.position, camera.look_at) else { return Value::Null };
    json!({"eye": eye.to_array(), "look_at": look_at.to_array(), "fov": camera.fov})
}

fn environment_picture(environment: &Environment, areas: &[AreaLight], middle: Vec3) -> Picture {
    let [width, height] = ENVIRONMENT;
    let mut texels = Vec::with_capacity(8 * width * height);
    for row in 0..height {
        let (sin, cos) = sin_cos(std::f32::consts::PI * (row as f32 + 0.5) / height as f32);
        for column in 0..width {
            let (sin_phi, cos_phi) = sin_cos(std::f32::consts::TAU * (column as f32 + 0.5) / width as f32);
            let direction = Vec3::new(sin * sin_phi, cos, -sin * cos_phi);
            let seen = areas.iter().find(|light| light.hit(middle, direction).is_some());
            let behind = || environment.radiance_at_pixel(column, row, ENVIRONMENT);
            let color = seen.map_or_else(behind, AreaLight::radiance).min(Vec3::splat(BRIGHTEST));
            texels.extend([color.x, color.y, color.z, 1.0].into_iter().flat_map(half_float));
        }
    }
    Picture { kind: PictureKind::Environment, solid: 0, size: ENVIRONMENT, texels }
}

/// A number from 0 to 65504 as a half float, little-endian; numbers below its normal ones are 0.
fn half_float(value: f32) -> [u8; 2] {
    let rounded = value.min(65504.0).to_bits() + 0x1000;
    let half = if value < 6.11e-5 { 0 } else { (rounded >> 13) - (112 << 10) };
    (half as u16).to_le_bytes()
}

/// Sine and cosine, the same on every system.
fn sin_cos(angle: f32) -> (f32, f32) {
    let angle = f64::from(angle);
    (sessile_numerics::math::sin(angle) as f32, sessile_numerics::math::cos(angle) as f32)
}

fn texture_picture(solid: usize, texture: &ScaledTexture) -> Picture {
    // Patterns have sharp edges: four samples per texel.
    let offsets = [[-0.25, -0.25], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.25]].map(Vec2::from_array);
    sampled_picture((PictureKind::Texture, solid), texture, |uv, texel| {
        let color: Vec3 = offsets.iter().map(|offset| texture.at(uv + *offset * texel)).sum();
        (0.25 * color).to_array().map(srgb_from_linear)
    })
}

fn relief_picture(solid: usize, texture: &ScaledTexture) -> Picture {
    sampled_picture((PictureKind::Relief, solid), texture, |uv, _| {
        let normal = texture.relief_at(uv).unwrap_or(Vec3::Z);
        normal.to_array().map(|part| (127.0 * part + 128.0).round() as u8)
    })
}

/// A square over the texture coordinates of a solid; `sample` gives the texel at coordinates, and
/// gets the side of a texel.
fn sampled_picture(
    (kind, solid): (PictureKind, usize),
    texture: &ScaledTexture,
    sample: impl Fn(Vec2, f32) -> [u8; 3],
) -> Picture {
    let wanted = TEXTURE[0] as f32 * texture.tiling.max_element().max(1.0);
    let side = (wanted as usize).next_power_of_two().clamp(TEXTURE[0], TEXTURE[1]);
    let texel = 1.0 / side as f32;
    let mut texels = Vec::with_capacity(4 * side * side);
    for row in 0..side {
        for column in 0..side {
            let at = Vec2::new(column as f32 + 0.5, row as f32 + 0.5) * texel;
            texels.extend(sample(Vec2::new(at.x, 1.0 - at.y), texel));
            texels.push(255);
        }
    }
    Picture { kind, solid, size: [side, side], texels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonics_give_the_diffuse_light_of_an_environment() {
        let environment = Environment::garden(1.0);
        let coefficients = harmonics(&environment);
        for normal in [Vec3::Y, Vec3::X, Vec3::NEG_Z, Vec3::new(0.6, 0.64, 0.48)] {
            let sum: Vec3 = coefficients.iter().zip(basis(normal)).map(|(c, b)| *c * b).sum();
            let exact = environment.irradiance(normal) / std::f32::consts::PI;
            let error = (sum - exact).length() / exact.length();
            assert!(error < 0.06, "towards {normal}: {sum} for {exact}");
        }
    }

    #[test]
    fn a_scene_hands_over_colors_textures_lights_and_camera() {
        let text = "model = \"droplet\"\ntime = { duration = \"1 s\", frame = \"0.1 s\" }\n\
            [camera]\nposition = \"0 100 200 mm\"\nlook_at = \"0 0 0 mm\"\n\
            [lights]\nenvironment = \"sky\"\nsun = { direction = [0, 1, 0], color = 2 }\n\
            area = [{ center = \"0 300 0 mm\", size = \"200 mm\", color = 9 }]\n\
            [[solids]]\nname = \"table\"\nlook = \"plastic\"\ncolor = [1, 0, 0]\nroughness_look = 0.5\nmetallic = 0.25\n\
            [[solids]]\nname = \"pane\"\nlook = \"matte\"\ntexture = \"checker\"\n";
        let scene = sessile_scene::parse_str("s.toml", text, &[], &sessile_scene::NoFiles)
            .unwrap_or_else(|errors| panic!("{errors}"))
            .scene;
        let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
        let looks = Looks::of(&scene, &world);
        assert_eq!(looks.problem(), None);
        let table = looks.solid(0);
        assert_eq!(
            (&table["color"], &table["metallic"], &table["alpha"]),
            (&json!([1.0, 0.0, 0.0]), &json!(0.25), &json!(0.25))
        );
        assert_eq!(
            (&looks.solid(1)["textured"], looks.light()["sun"]["irradiance"][0].as_f64()),
            (&json!(true), Some(2.0))
        );
        assert_eq!(looks.camera()["eye"][2].as_f64(), Some(0.2));
        let [environment, texture] = looks.pictures() else { panic!("{} pictures", looks.pictures().len()) };
        // Straight up the area light is seen.
        assert_eq!((environment.kind, &environment.texels[..2]), (PictureKind::Environment, &half_float(9.0)[..]));
        assert_eq!([half_float(1.0), half_float(9.0)], [0x3c00_u16.to_le_bytes(), 0x4880_u16.to_le_bytes()]);
        assert_eq!(looks.solid(1)["relief"], json!(false));
        let mut shades: Vec<u8> = texture.texels.chunks_exact(4).map(|texel| texel[0]).collect();
        shades.sort_unstable();
        assert!(texture.solid == 1 && shades[0] + 60 < shades[shades.len() - 1], "a checkerboard has two colors");
    }

    /// The left half of a normal map leans along u, the right half is flat.
    #[test]
    fn a_normal_map_becomes_a_picture_of_normals() {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = png::Encoder::new(std::fs::File::create(folder.path().join("n.png")).unwrap(), 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&[204, 128, 230, 128, 128, 255]).unwrap();
        let text = "model = \"droplet\"\ntime = { duration = \"1 s\", frame = \"0.1 s\" }\n\
            [[solids]]\nname = \"table\"\nlook = \"matte\"\nnormal_map = \"n.png\"\n";
        let files = sessile_scene::Folder::new(folder.path());
        let scene = sessile_scene::parse_str("s.toml", text, &[], &files).unwrap_or_else(|e| panic!("{e}")).scene;
        let world = World::build(&scene).unwrap_or_else(|error| panic!("{error}"));
        let looks = Looks::of(&scene, &world);
        assert_eq!((looks.problem(), &looks.solid(0)["relief"]), (None, &json!(true)));
        let relief = looks.pictures().iter().find(|picture| picture.kind == PictureKind::Relief).unwrap();
        let [side, _] = relief.size;
        let texel = |column: usize| &relief.texels[4 * (side / 2 * side + column)..][..4];
        // (0.6, 0, 0.8) and (0, 0, 1).
        assert_eq!((texel(side / 8), texel(side - side / 8)), (&[204, 128, 230, 255][..], &[128, 128, 255, 255][..]));
        // Without the file, the rest of the looks is kept.
        std::fs::remove_file(folder.path().join("n.png")).unwrap();
        let plain = Looks::of(&scene, &world);
        assert!(plain.problem().is_some_and(|problem| problem.contains("n.png")));
        assert_eq!(plain.solid(0)["relief"], json!(false));
    }
}
