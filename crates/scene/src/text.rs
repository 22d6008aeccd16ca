//! Pieces of scene text, for scenes that tests, validation cases and benchmarks compose.
//!
//! ```
//! use sessile_scene::{NoFiles, parse_str, text};
//!
//! let scene = text::header("pane", "seed = 5")
//!     + &text::material("m", 90.0, 60.0)
//!     + &text::plane("window", "m", [0.0, 0.0, 1.0], [40.0, 80.0])
//!     + &text::cap("window", [0.0; 3], "volume = \"5 uL\"", 80.0);
//! let scene = parse_str("test.toml", &scene, &[], &NoFiles).unwrap().scene;
//! assert_eq!((scene.seed, scene.drops.len()), (5, 1));
//! ```

/// The model, further top-level keys, and a duration of 10 s with frames of 0.1 s.
pub fn header(model: &str, keys: &str) -> String {
    format!("model = \"{model}\"\n{keys}\n[time]\nduration = \"10 s\"\nframe = \"0.1 s\"\n")
}

/// A material, by its advancing and receding contact angles in degrees. Further keys may follow.
pub fn material(name: &str, advancing: f64, receding: f64) -> String {
    format!("[materials.{name}]\nadvancing = \"{advancing} deg\"\nreceding = \"{receding} deg\"\n")
}

/// A plane through the origin; `size` in mm.
pub fn plane(name: &str, material: &str, [x, y, z]: [f64; 3], [width, height]: [f64; 2]) -> String {
    format!(
        "[[solids]]\nname = \"{name}\"\nmaterial = \"{material}\"\nshape = \"plane\"\nnormal = [{x}, {y}, {z}]\n\
         size = \"{width} {height} mm\"\n"
    )
}

/// A cap on a solid: `center` in mm, `size` with its key (`volume = "4 uL"`), `angle` in degrees.
pub fn cap(on: &str, [x, y, z]: [f64; 3], size: &str, angle: f64) -> String {
    format!(
        "[[drops]]\nshape = \"cap\"\non = \"{on}\"\ncenter = \"{x} {y} {z} mm\"\n{size}\n\
         contact_angle = \"{angle} deg\"\n"
    )
}

/// A sphere: `size` with its key (`radius = "1 mm"`), `center` in mm, `velocity` in m/s.
pub fn sphere(size: &str, [x, y, z]: [f64; 3], [u, v, w]: [f64; 3]) -> String {
    format!("[[drops]]\nshape = \"sphere\"\n{size}\ncenter = \"{x} {y} {z} mm\"\nvelocity = \"{u} {v} {w} m/s\"\n")
}
