use super::*;

const SIZE: usize = 128;

/// A pseudorandom number in `[0, 1)`.
fn random(seed: u64) -> f32 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03);
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((state ^ (state >> 31)) >> 40) as f32 / (1u64 << 24) as f32
}

/// A checkered floor under a soft shadow, a sphere in front of it, a caustic on the floor: guides
/// and exact colors.
fn clean() -> Framebuffer {
    let mut image = Framebuffer { width: SIZE, height: SIZE, ..Framebuffer::default() };
    for row in 0..SIZE {
        for column in 0..SIZE {
            let [x, y] = [column as f32 / SIZE as f32, row as f32 / SIZE as f32];
            let [dx, dy] = [(x - 0.5) / 0.25, (y - 0.4) / 0.25];
            let reach = dx * dx + dy * dy;
            let ball = reach < 1.0;
            let checker = (column / 8 + row / 8) % 2 == 0;
            let (albedo, normal, depth, light) = if ball {
                let normal = Vec3::new(dx, -dy, (1.0 - reach).sqrt());
                let light = normal.dot(Vec3::new(0.5, 0.6, 0.62)).max(0.0) + 0.1;
                (Vec3::new(0.7, 0.2, 0.1), normal, 2.0 - 0.25 * normal.z, light)
            } else {
                let albedo = if checker { Vec3::splat(0.8) } else { Vec3::new(0.1, 0.15, 0.3) };
                let shadow = 1.0 / (1.0 + (-(y - 0.75) * 12.0).exp());
                let caustic = if (x - 0.75).hypot(y - 0.8) < 0.06 { 4.0 } else { 0.0 };
                (albedo, Vec3::Y, 3.0 - y, 0.3 + 0.7 * shadow + caustic)
            };
            image.color.push(albedo * light);
            image.albedo.push(albedo);
            image.normal.push(normal);
            image.depth.push(depth);
            image.drop.push(if ball { 7 } else { 0 });
        }
    }
    image
}

/// An image of `samples` samples from `first` on: each is the light times an exponential variable
/// of mean 1.
fn noisy(clean: &Framebuffer, first: u64, samples: u64) -> Vec<Vec3> {
    (clean.color.iter().enumerate())
        .map(|(at, &color)| {
            let exponential = |sample: u64| -(1.0 - random(at as u64 * 4096 + sample)).ln();
            let factor = (first..first + samples).map(exponential).sum::<f32>() / samples as f32;
            color * factor
        })
        .collect()
}

fn error(found: &[Vec3], expected: &[Vec3]) -> f64 {
    let squares = found.iter().zip(expected).map(|(a, b)| f64::from(a.distance_squared(*b)));
    (squares.sum::<f64>() / (3 * found.len()) as f64).sqrt()
}

fn mean(colors: &[Vec3]) -> f64 {
    colors.iter().map(|&color| f64::from(luminance(color))).sum::<f64>() / colors.len() as f64
}

#[test]
fn at_16_samples_the_error_is_more_than_halved_and_energy_is_conserved() {
    let clean = clean();
    let (first, second) = (noisy(&clean, 0, 8), noisy(&clean, 8, 8));
    let color: Vec<Vec3> = first.iter().zip(&second).map(|(a, b)| (*a + *b) * 0.5).collect();
    let before = error(&color, &clean.color);
    let image = Framebuffer { color, ..clean.clone() };
    for (name, halves) in [("half buffers", Some((&first[..], &second[..]))), ("the image alone", None)] {
        let found = denoise(&image, halves);
        let after = error(&found.color, &clean.color);
        let gain = before / after;
        println!("{name}: {before:.4} to {after:.4}, a factor of {gain:.2}");
        assert!(gain > 2.0, "with {name} the error falls from {before} to {after}, a factor of {gain}");
        let kept = mean(&found.color) / mean(&image.color);
        assert!((kept - 1.0).abs() < 0.01, "with {name} {kept} of the light is left");
    }
}

#[test]
fn textures_and_silhouettes_stay_sharp() {
    let clean = clean();
    let image = Framebuffer { color: noisy(&clean, 0, 16), ..clean.clone() };
    let found = denoise(&image, None);
    // Contrast between neighboring checkers, far from the sphere and the caustic.
    let contrast = |colors: &[Vec3]| {
        let level = |column: usize, row: usize| luminance(colors[row * SIZE + column]);
        level(8, 100) / level(7, 100) + level(16, 110) / level(15, 110)
    };
    let ratio = contrast(&found.color) / contrast(&clean.color);
    assert!((ratio - 1.0).abs() < 0.15, "the contrast of the floor is {ratio} of what it was");
}

#[test]
fn a_noiseless_image_is_unchanged() {
    let clean = clean();
    let found = denoise(&clean, Some((&clean.color, &clean.color)));
    let change = error(&found.color, &clean.color) / mean(&clean.color);
    assert!(change < 0.005, "it changes by {change}");
}

#[test]
fn fireflies_are_distributed() {
    let mut image = clean();
    let spot = 100 * SIZE + 30;
    image.color[spot] *= 200.0;
    let found = denoise(&image, None);
    let left = luminance(found.color[spot]) / luminance(clean().color[spot]);
    assert!(left < 10.0, "the pixel is still {left} times too bright");
    let kept = mean(&found.color) / mean(&image.color);
    assert!((kept - 1.0).abs() < 0.01, "{kept} of the light is left");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let clean = clean();
    let image = Framebuffer { color: noisy(&clean, 0, 4), ..clean };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| denoise(&image, None))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn invalid_images_yield_finite_results() {
    assert_eq!(denoise(&Framebuffer::default(), None), Framebuffer::default());
    let color = vec![Vec3::new(f32::NAN, 1.0, f32::INFINITY), Vec3::ONE, Vec3::NEG_ONE, Vec3::ZERO];
    let bare = Framebuffer { width: 2, height: 2, color, ..Framebuffer::default() };
    let found = denoise(&bare, None);
    assert!(found.color.iter().all(|color| color.is_finite() && color.min_element() >= 0.0), "{:?}", found.color);
    let sky = Framebuffer {
        albedo: vec![Vec3::NAN; 4],
        normal: vec![Vec3::NAN; 4],
        depth: vec![f32::INFINITY, f32::NAN, 1.0, f32::INFINITY],
        drop: vec![0; 4],
        ..bare
    };
    assert!(denoise(&sky, None).color.iter().all(|color| color.is_finite()));
}

/// A smooth gradient, blurred by a lens: every guide of a pixel is random.
#[test]
fn guides_of_blurred_pixels_are_ignored() {
    let mut smooth = clean();
    for at in 0..SIZE * SIZE {
        let [column, row] = [at % SIZE, at / SIZE];
        smooth.color[at] = Vec3::new(0.3, 0.4, 0.5) * (1.0 + 0.5 * (column as f32 / 20.0).sin());
        smooth.albedo[at] = Vec3::splat(0.3 + 0.3 * random(at as u64));
        smooth.normal[at] = Vec3::new(random(at as u64 + 7) - 0.5, random(at as u64 + 9) - 0.5, 0.8);
        smooth.depth[at] = 1.0 + 0.2 * random(at as u64 + 3);
        smooth.drop[at] = (column / 3 + row / 3) as u32 % 5;
    }
    let (first, second) = (noisy(&smooth, 0, 8), noisy(&smooth, 8, 8));
    let color: Vec<Vec3> = first.iter().zip(&second).map(|(a, b)| (*a + *b) * 0.5).collect();
    let halves = Some((&first[..], &second[..]));
    let before = error(&color, &smooth.color);
    let sharp = Framebuffer { color, ..smooth.clone() };
    let blurred = Framebuffer { mixture: vec![Mixture { surface: 1.0, albedo: 1.0 }; SIZE * SIZE], ..sharp.clone() };
    let [sharp, blurred] = [sharp, blurred].map(|image| error(&denoise(&image, halves).color, &smooth.color) / before);
    // Five passes average some thousand pixels without edges; the gradient limits them.
    assert!(sharp > 0.5 && blurred < 0.2, "{sharp} of the noise is left with guides, {blurred} without");
}
