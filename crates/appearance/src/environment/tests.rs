use std::io::Cursor;

use glam::{DVec3, Vec2};

use super::*;

/// The R2 low-discrepancy sequence.
fn evenly(index: u32) -> Vec2 {
    let fraction = |step: f64| ((f64::from(index) + 0.5) * step).fract() as f32;
    Vec2::new(fraction(0.754_877_666_246_693), fraction(0.569_840_290_998_053))
}

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets").join(name)
}

fn all() -> Vec<(&'static str, Environment)> {
    vec![
        ("constant", Environment::constant(Vec3::new(0.35, 0.42, 0.5))),
        ("sky", Environment::sky(Vec3::new(1.0, 1.0, 0.5), 1.0)),
        ("studio", Environment::studio(1.0)),
        ("garden", Environment::garden(1.0)),
        ("city", Environment::city(1.0)),
        ("dawn", Environment::dawn(1.0).unwrap()),
        ("studio.hdr", Environment::open(&asset("studio.hdr"), 1.0).unwrap()),
        ("dawn.hdr", Environment::open(&asset("dawn.hdr"), 1.0).unwrap()),
    ]
}

/// Directions spread uniformly over the sphere (a Fibonacci spiral).
fn directions(count: u32) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |index| {
        let cos = 1.0 - 2.0 * (f64::from(index) + 0.5) / f64::from(count);
        let sin = (1.0 - cos * cos).sqrt();
        let phi = f64::from(index) * std::f64::consts::PI * (3.0 - 5f64.sqrt());
        DVec3::new(sin * phi.cos(), cos, sin * phi.sin()).as_vec3()
    })
}

#[test]
fn the_pdf_integrates_to_one_and_sampling_recovers_the_integrated_radiance() {
    for (name, environment) in all() {
        let spots = 2_000_000;
        let of_pdf: f64 = directions(spots).map(|dir| f64::from(environment.pdf(dir))).sum();
        let of_pdf = of_pdf * 4.0 * std::f64::consts::PI / f64::from(spots);
        assert!((of_pdf - 1.0).abs() < 0.005, "{name}: the density integrates to {of_pdf}");

        let samples = 200_000;
        let (mut sphere, mut light) = (0.0f64, DVec3::ZERO);
        for index in 0..samples {
            let sample = environment.sample(evenly(index));
            assert!(sample.pdf > 0.0 && sample.pdf.is_finite(), "{name}: sampled with pdf {}", sample.pdf);
            assert!((sample.dir.length() - 1.0).abs() < 1e-5);
            sphere += 1.0 / f64::from(sample.pdf);
            light += sample.radiance.as_dvec3() / f64::from(sample.pdf);
        }
        let sphere = sphere / f64::from(samples) / (4.0 * std::f64::consts::PI);
        let summed = environment.mean_radiance().as_dvec3() * 4.0 * std::f64::consts::PI;
        let light = light / f64::from(samples) / summed;
        // The photographs are so dark beside their lights that this mean of 1/p is all noise.
        if !name.ends_with(".hdr") {
            assert!((sphere - 1.0).abs() < 0.005, "{name}: the sphere measures {sphere} of 4π");
        }
        assert!((light - 1.0).abs().max_element() < 0.005, "{name}: sampled light is {light} of the summed");
    }
}

/// Counts of samples in a coarse grid of equal solid angles against the pdf integrated over each
/// cell.
#[test]
fn samples_are_distributed_by_the_pdf() {
    let bins = [16usize, 32];
    let bin_of = |dir: Vec3| {
        let row = ((1.0 - dir.y) * 0.5 * bins[0] as f32) as usize;
        let column = (uv_of(dir).x * bins[1] as f32) as usize;
        row.min(bins[0] - 1) * bins[1] + column.min(bins[1] - 1)
    };
    for (name, environment) in all() {
        let mut expected = vec![0.0f64; bins[0] * bins[1]];
        let spots = 2_000_000;
        for dir in directions(spots) {
            expected[bin_of(dir)] += f64::from(environment.pdf(dir)) * 4.0 * std::f64::consts::PI / f64::from(spots);
        }
        let samples = 400_000u32;
        let mut found = vec![0.0f64; expected.len()];
        for index in 0..samples {
            found[bin_of(environment.sample(evenly(index)).dir)] += 1.0 / f64::from(samples);
        }
        for (bin, (&expected, &found)) in expected.iter().zip(&found).enumerate() {
            // 5 standard deviations of counting, and 1 % for the sums over the spiral.
            let bound = 5.0 * (expected / f64::from(samples)).sqrt() + 0.01 * expected + 2e-5;
            assert!((expected - found).abs() < bound, "{name}, bin {bin}: {found} sampled, {expected} expected");
        }
    }
}

#[test]
fn the_pdf_of_a_sample_is_the_pdf_of_its_direction() {
    for (name, environment) in all() {
        let differing = (0..10_000)
            .filter(|&index| {
                let sample = environment.sample(evenly(index));
                (environment.pdf(sample.dir) / sample.pdf - 1.0).abs() > 1e-3
            })
            .count();
        // Directions that round across the border between two cells.
        assert!(differing < 20, "{name}: {differing} of 10000 differ");
    }
}

#[test]
fn the_image_has_the_documented_orientation() {
    let colors = |uv: Vec2| Vec3::new(uv.x, uv.y, 0.0);
    let image = LatLong::filled(64, 32, |dir| colors(uv_of(dir)));
    let environment = Environment::from_lat_long(image, 1.0);
    for (dir, uv) in [(Vec3::Z, [0.5, 0.5]), (Vec3::NEG_X, [0.75, 0.5]), (Vec3::X, [0.25, 0.5])] {
        let found = environment.radiance(dir);
        assert!(found.distance(colors(uv.into())) < 1e-3, "{dir} shows {found}, not {uv:?}");
    }
    assert!(environment.radiance(Vec3::Y).y < 0.02 && environment.radiance(Vec3::NEG_Y).y > 0.98);
    for dir in directions(1000) {
        assert!(dir_of(uv_of(dir)).distance(dir) < 2e-6 * 10.0, "{dir}");
    }
}

#[test]
fn built_in_environments_give_a_horizontal_white_surface_radiance_one() {
    for (name, environment) in all().into_iter().filter(|(name, _)| *name != "constant" && !name.ends_with(".hdr")) {
        let level = luminance(environment.irradiance(Vec3::Y)) / PI;
        assert!((level - 1.0).abs() < 0.02, "{name}: {level}");
    }
    let doubled = Environment::studio(2.0).mean_radiance() / Environment::studio(1.0).mean_radiance();
    assert!((doubled - 2.0).abs().max_element() < 1e-4, "{doubled}");
}

#[test]
fn every_name_of_the_scene_format_is_built_in() {
    for preset in EnvironmentPreset::ALL {
        let name = preset.name();
        let environment = EnvironmentMap::Preset(*preset);
        let lights = sessile_scene::Lights { environment, strength: 1.0, sun: None, area: Vec::new() };
        let mean = Environment::from_lights(&lights).unwrap().mean_radiance();
        assert!(mean.min_element() > 0.0, "{name}: {mean}");
    }
    let error = Environment::open(Path::new("castle"), 1.0).unwrap_err().to_string();
    assert!(error.contains("castle") && error.contains("studio"), "{error}");
}

#[test]
fn the_sky_is_blue_overhead_brighter_near_the_sun_and_finite_for_any_sun() {
    let sun = Vec3::new(1.0, 0.7, 0.0).normalize();
    let sky = Environment::sky(sun, 1.0);
    let zenith = sky.radiance(Vec3::Y);
    assert!(zenith.z > 1.3 * zenith.x, "the zenith is {zenith}");
    let [near, far] = [sky.radiance(sun), sky.radiance(Vec3::new(-sun.x, sun.y, 0.0))].map(luminance);
    assert!(near > 2.0 * far, "towards the sun {near}, away {far}");
    for sun in [Vec3::ZERO, Vec3::Y, Vec3::NEG_Y, Vec3::X, Vec3::splat(f32::NAN)] {
        let sky = Environment::sky(sun, 1.0);
        assert!(sky.mean_radiance().is_finite() && sky.mean_radiance().min_element() > 0.0, "sun at {sun}");
    }
}

#[test]
fn a_black_environment_is_sampled_uniformly() {
    let black = Environment::constant(Vec3::ZERO);
    for index in 0..100 {
        let sample = black.sample(evenly(index));
        assert_eq!(sample.radiance, Vec3::ZERO);
        assert!((sample.pdf * 4.0 * PI - 1.0).abs() < 1e-5);
    }
    for u in [Vec2::ZERO, Vec2::ONE, Vec2::new(0.999_999_94, 0.999_999_94)] {
        let sample = Environment::studio(1.0).sample(u);
        assert!(sample.pdf > 0.0 && sample.dir.is_finite(), "{u}: {sample:?}");
    }
}

#[test]
fn negative_values_and_nan_are_black_and_infinite_values_bright() {
    let odd = Vec3::new(f32::NAN, -1.0, f32::INFINITY);
    let environment = Environment::from_lat_long(LatLong::new(1, 1, vec![odd]).unwrap(), 1.0);
    assert_eq!(environment.radiance(Vec3::X), Vec3::new(0.0, 0.0, 65504.0));
    assert!(LatLong::new(0, 0, Vec::new()).is_none() && LatLong::new(2, 2, vec![odd]).is_none());
}

fn hdr(size: &str, pixels: &[u8]) -> Vec<u8> {
    let mut file = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n{size}\n").into_bytes();
    file.extend_from_slice(pixels);
    file
}

fn decode_hdr(bytes: &[u8]) -> Result<LatLong, EnvironmentError> {
    hdr_file::decode(Path::new("test.hdr"), bytes)
}

#[test]
fn all_encodings_of_radiance_files_yield_the_same_pixels() {
    let (one, two) = ([128u8, 64, 32, 129], [64u8, 64, 64, 128]);
    let row = [one, one, one, one, one, one, two, two];
    let flat = hdr("-Y 1 +X 8", row.as_flattened());
    let repeats = hdr("-Y 1 +X 8", [one, [1, 1, 1, 5], two, two].as_flattened());
    let mut planes = vec![2, 2, 0, 8];
    for plane in 0..4 {
        planes.extend([128 + 6, one[plane], 2, two[plane], two[plane]]);
    }
    let planes = hdr("-Y 1 +X 8", &planes);
    let mirrored: Vec<[u8; 4]> = row.iter().rev().copied().collect();
    let mirrored = hdr("+Y 1 -X 8", mirrored.as_flattened());

    let read = decode_hdr(&flat).unwrap();
    assert_eq!(read.at(Vec2::new(0.5 / 8.0, 0.5)), Vec3::new(1.0, 0.5, 0.25));
    assert_eq!(read.at(Vec2::new(6.5 / 8.0, 0.5)), Vec3::splat(0.25));
    for other in [repeats, planes, mirrored] {
        assert_eq!(decode_hdr(&other).unwrap(), read);
    }
}

#[test]
fn broken_radiance_files_are_errors() {
    let whole = std::fs::read(asset("dawn.hdr")).unwrap();
    let map = decode_hdr(&whole).unwrap();
    assert_eq!((map.width(), map.height()), (512, 256));
    for length in (0..4000).chain((4000..whole.len()).step_by(997)) {
        assert!(decode_hdr(&whole[..length]).is_err(), "the first {length} bytes pass for a whole file");
    }
    for size in ["-Y 0 +X 8", "-Y 8", "-Y 8 +X -8", "+X 8 +Y 8", "-Y 99999999999999999999 +X 1", ""] {
        assert!(decode_hdr(&hdr(size, &[0; 64])).is_err(), "{size:?} passes for a size");
    }
    let error = decode_hdr(&hdr("-Y 4294967295 +X 4294967295", &[0; 64])).unwrap_err();
    assert!(matches!(error, EnvironmentError::TooLarge { .. }), "{error}");
    let error = decode_hdr(&hdr("-Y 4096 +X 8192", &[0; 64])).unwrap_err().to_string();
    assert!(error.contains("test.hdr") && error.contains("cannot be in its"), "{error}");
    // A byte changed anywhere: an image or an error.
    for place in (0..whole.len()).step_by(4001).chain(0..100) {
        let mut changed = whole.clone();
        changed[place] ^= 0x55;
        let _ = decode_hdr(&changed);
    }
}

fn small_exr() -> Vec<u8> {
    use exr::prelude::{Image, SpecificChannels, WritableImage};
    let mut bytes = Cursor::new(Vec::new());
    let pixel = |at: exr::math::Vec2<usize>| (at.x() as f32, at.y() as f32, 0.5f32);
    Image::from_channels((16, 8), SpecificChannels::rgb(pixel)).write().to_buffered(&mut bytes).unwrap();
    bytes.into_inner()
}

#[test]
fn exr_files_are_read_and_broken_ones_are_errors() {
    let decode = |bytes: &[u8]| exr_file::decode(Path::new("test.exr"), bytes);
    let whole = small_exr();
    let image = decode(&whole).unwrap();
    assert_eq!((image.width(), image.height()), (16, 8));
    assert_eq!(image.at(Vec2::new(3.5 / 16.0, 6.5 / 8.0)), Vec3::new(3.0, 6.0, 0.5));
    for length in 0..whole.len() {
        assert!(decode(&whole[..length]).is_err(), "the first {length} bytes pass for a whole file");
    }
    for place in 0..whole.len() {
        for flip in [0x01, 0x55, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[place] ^= flip;
            let _ = decode(&changed);
        }
    }
    let error = decode(b"not an image").unwrap_err().to_string();
    assert!(error.contains("test.exr"), "{error}");
}

/// What photographers light drops with: one small bright light, and narrow lights beside and a
/// little behind the subject that brighten its rim.
#[test]
fn the_studio_has_one_small_bright_light_and_rim_lights() {
    let studio = Environment::studio(1.0);
    let count = 200_000;
    let seen: Vec<(Vec3, f32)> = directions(count).map(|dir| (dir, luminance(studio.radiance(dir)))).collect();
    let (key, brightest) = seen.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    let bright: Vec<Vec3> = seen.iter().filter(|(_, light)| *light > 0.3 * brightest).map(|(dir, _)| *dir).collect();
    let solid_angle = 4.0 * PI * bright.len() as f32 / count as f32;
    assert!(solid_angle < 0.02, "the brightest light has {solid_angle} sr");
    assert!(bright.iter().all(|dir| dir.dot(key) > 0.98), "one light alone");
    assert!(key.y > 0.5, "from above: {key}");
    let wall = luminance(studio.radiance(Vec3::new(0.2, -0.8, 0.5).normalize()));
    for side in [-1.0, 1.0] {
        let rim = seen.iter().filter(|(dir, _)| dir.x * side > 0.85 && dir.z < -0.1 && dir.y.abs() < 0.3);
        let rim = rim.map(|(_, light)| *light).fold(0.0, f32::max);
        assert!(rim > 30.0 * wall, "side {side}: {rim} against {wall}");
    }
}
