//! Printing and reading are inverse: random scenes are read back bit-identically.

use std::f64::consts::PI;
use std::path::PathBuf;

use glam::DVec3;
use sessile_scene::*;

/// Knuth's linear congruential generator: small, seeded, good enough to pick scenes.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 31) as f64
    }

    /// Positive, over many magnitudes; now and then a round number.
    fn positive(&mut self) -> f64 {
        let power = self.below(12) as i32 - 9;
        if self.flip() {
            (1 + self.below(99)) as f64 * 10f64.powi(power)
        } else {
            (self.unit() + 0.01) * 10f64.powi(power)
        }
    }

    fn signed(&mut self) -> f64 {
        match self.below(6) {
            0 => 0.0,
            1 => -0.0,
            2 => -self.positive(),
            _ => self.positive(),
        }
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    fn direction(&mut self) -> DVec3 {
        match self.below(4) {
            0 => DVec3::Y,
            1 => DVec3::NEG_X,
            _ => DVec3::new(self.unit() - 0.5, self.unit() - 0.5, self.unit() + 0.01).normalize(),
        }
    }

    /// Strictly between 0 and π; often whole degrees.
    fn angle(&mut self) -> f64 {
        if self.flip() { ((1 + self.below(179)) as f64).to_radians() } else { (self.unit() * 0.99 + 0.005) * PI }
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flip().then(|| make(self))
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize].clone()
    }

    fn corners(&mut self) -> (DVec3, DVec3) {
        let min = self.vector();
        // Far enough apart that rounding cannot close the gap.
        (min, min + DVec3::new(self.positive(), self.positive(), self.positive()) + DVec3::splat(1e-6))
    }
}

fn varying(r: &mut Random, low: f64, high: f64) -> Varying {
    let mut value = || low + (high - low) * r.unit();
    let (a, b) = (value(), value());
    if r.flip() { Varying::Uniform(a) } else { Varying::Image { file: "/maps/a \"b\".png".into(), black: a, white: b } }
}

fn roughness(r: &mut Random) -> [Varying; 2] {
    if r.flip() {
        return [r.positive(), 0.0].map(Varying::Uniform);
    }
    let both = varying(r, 0.0, 1e-3);
    [both.clone(), both]
}

fn material(r: &mut Random, name: &str) -> Material {
    // Bands that do not overlap keep the angles in order.
    Material {
        name: name.to_owned(),
        receding: varying(r, 0.1, 0.9),
        wet_advancing: r.maybe(|r| varying(r, 1.0, 1.9)),
        advancing: varying(r, 2.0, 3.1),
        receding_limit: r.maybe(Random::positive),
        roughness: roughness(r),
        adhesion: varying(r, 0.0, 40.0),
        friction: r.maybe(|r| varying(r, 1e-5, 1e-2)),
        affinity: varying(r, 0.0, 1.0),
    }
}

fn mesh_scale(r: &mut Random) -> MeshScale {
    if r.flip() { MeshScale::Height(r.positive()) } else { MeshScale::Factor(r.positive()) }
}

fn solid_shape(r: &mut Random, kind: u64) -> SolidShape {
    match kind {
        0 => SolidShape::Plane { point: r.vector(), normal: r.direction(), size: [r.positive(), r.positive()] },
        1 => {
            let (min, max) = r.corners();
            SolidShape::Box { min, max }
        }
        2 => SolidShape::Sphere { center: r.vector(), radius: r.positive(), inside: r.flip() },
        3 => {
            let (from, to) = r.corners();
            let radius = r.positive();
            SolidShape::Cylinder { from, to, radius, wall: r.maybe(|r| radius * (0.1 + 0.8 * r.unit())) }
        }
        4 => SolidShape::Leaf {
            point: r.vector(),
            axis: r.direction(),
            angle: r.angle(),
            size: [r.positive(), r.positive()],
        },
        _ => SolidShape::Mesh {
            file: "/meshes/bunny.ply".into(),
            scale: mesh_scale(r),
            deform: (0..r.below(3))
                .map(|k| DeformKey { at: k as f64 + r.unit() * 0.5, file: format!("/meshes/bunny.{k}.ply").into() })
                .collect(),
        },
    }
}

fn solid(r: &mut Random, index: u64, kind: u64) -> Solid {
    let mut at = -1.0;
    let look = r.pick(Look::ALL);
    Solid {
        name: if r.flip() { format!("solid{index}") } else { format!("Körper {index}.b") },
        material: r.pick(&["wax", "my glass", "étain"]).to_owned(),
        shape: solid_shape(r, kind),
        rotate: DVec3::new(r.angle(), 0.0, -r.angle()),
        shift: r.vector(),
        interpolation: r.pick(Interpolation::ALL),
        motion: (0..r.below(4))
            .map(|_| {
                at += r.positive() + 1e-6;
                MotionKey { at, shift: r.vector(), rotate: r.vector() }
            })
            .collect(),
        temperature: r.maybe(|r| 273.15 + 90.0 * r.unit()),
        look,
        normal_map: r.maybe(|r| format!("/maps/{}.png", r.below(9)).into()).filter(|_| look != Look::Glass),
        texture_tiling: Tiling(if r.flip() { [0.25 + r.unit(); 2] } else { [1.0 + r.unit(), 3.0] }),
        texture_rotation: r.angle(),
        color: r.maybe(|r| SurfaceColor([r.unit(), 0.0, 1.0])),
        roughness_look: r.maybe(Random::unit).filter(|_| look != Look::Glass),
        metallic: r.maybe(Random::unit).filter(|_| look != Look::Glass),
        texture: r.maybe(|r| {
            if r.flip() { Texture::Image("/t/tiles.png".into()) } else { Texture::Pattern(r.pick(TexturePattern::ALL)) }
        }),
    }
}

fn drop_shape(r: &mut Random, planar: bool, solids: usize) -> DropShape {
    let amount = if planar { Amount::Area(r.positive()) } else { Amount::Volume(r.positive()) };
    let amplitude = r.unit() * 1.9 - 0.95;
    match r.below(5) {
        0 if solids > 0 => {
            DropShape::Cap { on: r.below(solids as u64) as usize, center: r.vector(), amount, contact_angle: r.angle() }
        }
        1 => {
            let (min, max) = r.corners();
            DropShape::Box { min, max }
        }
        2 => {
            let (from, to) = r.corners();
            let wavelength = r.maybe(Random::positive);
            let amplitude = if wavelength.is_some() { amplitude } else { 0.0 };
            DropShape::Cylinder { from, to, radius: r.positive(), amplitude, wavelength }
        }
        3 => DropShape::Mesh {
            file: "/meshes/drop.stl".into(),
            scale: mesh_scale(r),
            rotate: r.vector(),
            shift: r.vector(),
        },
        _ => {
            let mode = r.pick(&[0, 2, 3, 32]);
            let amplitude = if mode == 0 { 0.0 } else { amplitude };
            DropShape::Sphere { center: r.vector(), amount, mode, amplitude, axis: r.direction() }
        }
    }
}

fn emitter(r: &mut Random, solids: usize) -> Emitter {
    let kind = match r.below(5) {
        0 => EmitterKind::Drip { at: r.vector(), radius: r.positive(), every: r.positive(), velocity: r.vector() },
        1 => EmitterKind::Tap { at: r.vector(), direction: r.direction(), radius: r.positive(), speed: r.positive() },
        2 if solids > 0 => EmitterKind::Dew { on: r.below(solids as u64) as usize, rate: r.positive() },
        3 => EmitterKind::Feed { at: r.vector(), rate: r.signed() },
        _ => {
            let (min, max) = r.corners();
            let least = r.positive();
            EmitterKind::Rain {
                over: if solids > 0 && r.flip() { RainArea::Solid(solids - 1) } else { RainArea::Box { min, max } },
                rate: r.positive(),
                sizes: if r.flip() {
                    RainSizes::MarshallPalmer
                } else {
                    RainSizes::Uniform { min: least, max: least + r.positive() }
                },
                velocity: r.maybe(Random::vector),
            }
        }
    };
    let start = r.signed();
    Emitter { kind, start, stop: if r.flip() { f64::INFINITY } else { start + 1e-3 + r.positive() } }
}

fn color(r: &mut Random) -> [f64; 3] {
    [r.unit(), r.unit(), r.positive()]
}

fn pane(r: &mut Random) -> PaneParameters {
    PaneParameters {
        cell: r.maybe(Random::positive),
        fine: r.maybe(|r| 1 + r.below(5) as u32),
        static_weight: r.maybe(|r| 2e3 + r.positive()),
        dynamic_weight: r.maybe(|r| 1e3 + r.unit()),
        residue: r.maybe(Random::unit),
        pass: r.maybe(Random::positive),
    }
}

fn droplet(r: &mut Random) -> DropletParameters {
    DropletParameters {
        friction: r.maybe(Random::positive),
        slices: r.maybe(|r| 3 + r.below(200) as u32),
        levels: r.maybe(|r| 1 + r.below(200) as u32),
        springs: SpringParameters {
            longitudinal: r.maybe(Random::positive),
            transverse: r.maybe(Random::positive),
            guide: r.maybe(Random::positive),
            volume: r.maybe(Random::positive),
        },
    }
}

fn surface(r: &mut Random) -> SurfaceParameters {
    SurfaceParameters {
        mu: r.maybe(Random::positive),
        eta: r.maybe(Random::positive),
        friction: r.maybe(Random::positive),
        alpha: r.maybe(Random::positive),
        gamma: r.maybe(Random::positive),
        volume_correction: r.maybe(|r| r.pick(VolumeCorrection::ALL)),
        self_collision: r.maybe(Random::flip),
        dt: r.maybe(Random::positive),
    }
}

fn volume(r: &mut Random) -> VolumeParameters {
    VolumeParameters {
        curvature: r.maybe(|r| r.pick(CurvatureMethod::ALL)),
        pressure_order: r.maybe(|r| 1 + r.below(2) as u32),
        dt: r.maybe(Random::positive),
        static_speed: r.maybe(Random::positive),
        slip: r.maybe(Random::positive),
    }
}

fn camera(r: &mut Random) -> Camera {
    let (position, look_at) = (r.maybe(Random::vector), r.maybe(Random::vector));
    let moves = r.flip();
    let key = |k: u64, r: &mut Random| CameraKey {
        at: k as f64 + r.unit() * 0.5,
        position: r.vector(),
        look_at: r.vector() + DVec3::X,
    };
    Camera {
        position: position.filter(|_| !moves),
        look_at: if look_at == position { None } else { look_at }.filter(|_| !moves),
        motion: if moves { (0..1 + r.below(3)).map(|k| key(k, r)).collect() } else { Vec::new() },
        interpolation: r.pick(Interpolation::ALL),
        fov: r.angle(),
        follow: r
            .maybe(|r| if r.flip() { Follow::Largest } else { Follow::Drop(1 + r.below(1000) as u32) })
            .filter(|_| !moves),
        aperture: r.maybe(Random::positive),
        blades: r.below(17) as u32,
        focus: r.maybe(Random::positive),
    }
}

fn lights(r: &mut Random) -> Lights {
    Lights {
        environment: if r.flip() {
            EnvironmentMap::Image("/hdr/dawn.hdr".into())
        } else {
            EnvironmentMap::Preset(r.pick(EnvironmentPreset::ALL))
        },
        strength: r.positive(),
        sun: r.maybe(|r| Sun { direction: r.direction(), color: color(r), angle: 0.5 * r.angle() }),
        area: (0..r.below(3))
            .map(|_| AreaLight {
                center: r.vector() + DVec3::splat(1.0),
                look_at: r.vector() - DVec3::splat(1e5),
                size: r.positive(),
                color: color(r),
            })
            .collect(),
    }
}

fn render(r: &mut Random) -> Render {
    Render {
        size: [1 + r.below(16384) as u32, 1 + r.below(16384) as u32],
        samples: 1 + r.below(1000) as u32,
        denoise: r.flip(),
        shutter: r.unit(),
        exposure: 0.25 + r.unit(),
        view: r.pick(ViewTransform::ALL),
        backdrop: r.maybe(|_| PathBuf::from("/photos/street.jpg")),
        backdrop_distance: r.maybe(Random::positive),
        wet_paths: r.flip(),
        fps: 1.0 + 99.0 * r.unit(),
    }
}

fn time(r: &mut Random, frame: f64) -> Time {
    let duration = frame * (1 + r.below(500)) as f64;
    Time { duration, frame, start_frame: r.below(2000) as u32, settle: r.flip() }
}

fn world(r: &mut Random, model: ModelKind, planar: bool, evaporates: bool) -> WorldSettings {
    let mut at = 0.0;
    // Only the fast models follow keys of the humidity.
    let num_keys = if matches!(model, ModelKind::Pane | ModelKind::Droplet) { 1 + r.below(3) } else { 1 };
    WorldSettings {
        gravity: Keyed {
            keys: (0..1 + r.below(3))
                .map(|i| {
                    at += if i == 0 { r.signed() } else { r.positive() + 1e-6 };
                    (at, r.vector())
                })
                .collect(),
        },
        tilt: Keyed {
            keys: if r.flip() { vec![(0.0, r.signed())] } else { vec![(0.0, 0.0), (r.positive() + 1e-6, r.signed())] },
        },
        wind: r.vector(),
        humidity: r
            .maybe(|r| Keyed { keys: (0..num_keys).map(|k| (k as f64, r.unit())).collect() })
            .filter(|_| evaporates),
        temperature: 273.15 + 90.0 * r.unit(),
        planar,
    }
}

fn scene(seed: u64) -> Scene {
    let r = &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let planar = r.below(4) == 0;
    let model = if planar { ModelKind::Volume } else { r.pick(ModelKind::ALL) };
    let mut solids: Vec<Solid> = Vec::new();
    if model == ModelKind::Pane {
        solids.push(solid(r, 0, 0));
    }
    let least = u64::from(model == ModelKind::Pane);
    for index in least..least + r.below(4) {
        let kind = if model == ModelKind::Pane { 1 + r.below(5) } else { r.below(6) };
        solids.push(solid(r, index, kind));
    }
    let frame = r.positive() + 1e-9;
    let (min, max) = r.corners();
    // On a pane, everything that is on a solid is on the first one.
    let usable = if model == ModelKind::Pane { 1 } else { solids.len() };
    let drop = |r: &mut Random| Drop { shape: drop_shape(r, planar, usable), velocity: r.vector() };
    let drops = (0..r.below(4)).map(|_| drop(r)).collect::<Vec<_>>();
    let emitters = (0..r.below(3)).map(|_| emitter(r, usable)).collect::<Vec<_>>();
    // Where there is something to derive a cell from, a scene without one cannot come from a file.
    let empty = drops.is_empty() && emitters.is_empty();
    let fidelity = r.pick(Fidelity::ALL);
    let evaporates = !planar && (fidelity == Fidelity::Physical || model == ModelKind::Droplet);
    Scene {
        title: r.pick(&["", "A drop", "quote \" and \\ and\nnewline\t\u{1}", "Tröpfchen 滴"]).to_owned(),
        model,
        fidelity,
        seed: r.pick(&[0, 1, i64::MAX as u64]),
        time: time(r, frame),
        liquid: sessile_wetting::Liquid {
            density: r.positive(),
            viscosity: r.positive(),
            surface_tension: r.positive(),
            refractive_index: 1.0 + r.unit(),
        },
        liquid_preset: &sessile_wetting::liquid_presets()[0],
        world: world(r, model, planar, evaporates),
        domain: r.maybe(|r| Domain {
            min,
            max,
            sides: [r.pick(Side::ALL), r.pick(Side::ALL), r.pick(Side::ALL)],
            wall_material: r.maybe(|_| "wax".to_owned()),
        }),
        resolution: Resolution { cell: if empty && r.flip() { None } else { Some(r.positive()) }, edge: r.positive() },
        materials: ["wax", "my glass", "étain"].map(|name| material(r, name)).to_vec(),
        solids,
        drops,
        emitters,
        pane: pane(r),
        droplet: droplet(r),
        surface: surface(r),
        volume: volume(r),
        camera: camera(r),
        lights: lights(r),
        render: render(r),
        output: output(r),
    }
}

fn output(r: &mut Random) -> Output {
    let (fields, wet_age) = (r.flip(), r.flip());
    let wet_size = r.maybe(|r| 16 + r.below(4081) as u32);
    Output { fields, wet_size, wet_age, drying: r.maybe(Random::positive) }
}

#[test]
fn random_scenes_are_read_back_bit_identically() {
    for seed in 0..1500 {
        let scene = scene(seed);
        let printed = print(&scene);
        let parsed = parse_str("printed.toml", &printed, &[], &NoFiles)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{printed}"));
        // Debug tells 0 from −0, which `==` does not.
        let (got, wanted) = (format!("{:?}", parsed.scene), format!("{scene:?}"));
        if got != wanted {
            let at = got.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(80);
            panic!("seed {seed}:\nread  {}\nwrote {}", &got[at..], &wanted[at..]);
        }
        assert_eq!(print(&parsed.scene), printed, "seed {seed}");
        assert_eq!(same_run(&scene, &parsed.scene), RunRelation::Same);
    }
}

/// Presets, too, are within the reader's bounds, and printed they need no preset.
#[test]
fn every_preset_prints_and_reads_back() {
    let start = "model = \"volume\"\ntime = { duration = \"1 s\", frame = \"1 s\" }\n";
    let liquids = sessile_wetting::liquid_presets().iter().map(|p| format!("[liquid]\npreset = \"{}\"\n", p.name));
    let materials = sessile_wetting::material_presets().iter().flat_map(|p| {
        let names = p.aliases.iter().chain([&p.name]);
        names.map(|name| format!("[[solids]]\nmaterial = \"{name}\"\n[materials.mine]\npreset = \"{name}\"\n"))
    });
    for text in liquids.chain(materials) {
        let scene =
            parse_str("preset.toml", &format!("{start}{text}"), &[], &NoFiles).unwrap_or_else(|e| panic!("{e}")).scene;
        let printed = print(&scene);
        let again =
            parse_str("printed.toml", &printed, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}\n{printed}")).scene;
        assert_eq!(again, scene, "{text}");
    }
}

/// Numbers at the edge of what is allowed must not give defaults beyond it.
#[test]
fn extreme_numbers_are_rejected_or_read_back() {
    let extremes = ["1e15", "9.9e14", "1e-40", "1.1e-40", "3e-39", "1e-14", "1e-13", "1e5", "6e4", "0", "-1e15"];
    let mut accepted = 0;
    for a in extremes {
        for b in extremes {
            let text = format!(
                r#"
                model = "volume"
                time = {{ duration = "1 s", frame = "1 s" }}
                [domain]
                min = "{a} {a} {a} m"
                max = "{b} {b} {b} m"
                [[solids]]
                normal = [{a}, {b}, 0]
                point = "{b} 0 {a} m"
                [[solids]]
                shape = "leaf"
                axis = [1, {b}, {a}]
                [[drops]]
                radius = "1 mm"
                "#
            );
            let drops = format!(
                "drops=[{{ radius = \"{b} m\" }}, {{ shape = \"box\", min = \"{a} {a} {a} m\", max = \"{b} {b} {b} m\" }}]"
            );
            let planar = ["world.planar=true".to_owned(), drops.clone()];
            for sets in [&[][..], &[drops][..], &planar[..]] {
                let Ok(parsed) = parse_str("extreme.toml", &text, sets, &NoFiles) else { continue };
                let printed = print(&parsed.scene);
                let again =
                    parse_str("printed.toml", &printed, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}\n{printed}"));
                assert_eq!(again.scene, parsed.scene);
                accepted += 1;
            }
        }
    }
    assert!(accepted > 30, "only {accepted} were scenes at all");
}

/// Damaged scenes give a scene or errors that can be shown, never a panic.
#[test]
fn damaged_scenes_never_panic() {
    let r = &mut Random(7);
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for folder in ["right", "wrong"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            texts.push(std::fs::read(entry.unwrap().path()).unwrap());
        }
    }
    texts.sort();
    let spice =
        ["\"", "[", "]", "=", "\n", "µ", "é", "-", "e9", "0", ".", "{", "}", "nan", "\u{0}", "#", "'", "\r\n", "🜄"];
    for round in 0..6000 {
        let mut bytes = r.pick(&texts);
        for _ in 0..1 + r.below(4) {
            let at = r.below(bytes.len() as u64 + 1) as usize;
            match r.below(4) {
                0 => {
                    let end = (at + r.below(30) as usize).min(bytes.len());
                    bytes.drain(at..end);
                }
                1 => {
                    let insert = r.pick(&spice);
                    bytes.splice(at..at, insert.bytes());
                }
                2 => {
                    let other = r.pick(&texts);
                    let from = r.below(other.len() as u64 + 1) as usize;
                    let to = (from + r.below(60) as usize).min(other.len());
                    bytes.splice(at..at, other[from..to].iter().copied());
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = r.bits() as u8;
                    }
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let set = text.lines().nth(round % 9).unwrap_or("").to_owned();
        match parse_str("damaged.toml", &text, &[set], &NoFiles) {
            Ok(parsed) => {
                let printed = print(&parsed.scene);
                let again = parse_str("printed.toml", &printed, &[], &NoFiles);
                assert!(again.is_ok_and(|a| print(&a.scene) == printed), "does not read back:\n{text}\n{printed}");
            }
            Err(errors) => assert!(errors.to_string().ends_with("in damaged.toml") || errors.len() > 100),
        }
    }
}

#[test]
fn deep_long_and_odd_texts_give_errors() {
    let deep = format!("a = {}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let dotted = format!("{}=1", "a.".repeat(5_000).trim_end_matches('.'));
    let many = "x = 1\n[[drops]]\nradius = 3\n".replace("x = 1\n", "").repeat(2_000);
    let long = format!("model = \"{}\"", "x".repeat(100_000));
    for text in [deep, dotted, many, long, "\u{feff}model".into(), String::new(), "\n".repeat(50_000)] {
        let errors = parse_str("odd.toml", &text, &[], &NoFiles).unwrap_err();
        assert!(!errors.is_empty());
        assert!(errors.to_string().len() < 1_000_000);
    }
    let huge = "#".repeat(5 << 20);
    assert!(
        parse_str("huge.toml", &huge, &[], &NoFiles).unwrap_err().to_string().contains("the maximum is 4194304 bytes")
    );
}

/// The reader's time is linear in the size of the text; otherwise this would take forever.
#[test]
fn reading_time_is_linear_in_the_number_of_errors() {
    let long = |line: &str| line.repeat((1 << 20) / line.len());
    let keys: String = (0..60_000).map(|i| format!("key{i} = 1\n")).collect();
    for text in [
        long("[[drops]]\nradius = 3\n") + "x = unquoted",
        long("[[solids]]\nname = \"a\"\n"),
        long("[[[[["),
        long("a = [1 2]\n"),
        long("\"x"),
        keys,
    ] {
        let shown = parse_str("long.toml", &text, &[], &NoFiles).unwrap_err().to_string();
        assert!(shown.len() < 1_000_000, "{} bytes", shown.len());
    }
}
