//! Valid scenes: each is read, printed and read again bit-identically.

use std::fs;
use std::path::{Path, PathBuf};

use sessile_scene::{
    Amount, DropShape, EmitterKind, EnvironmentMap, EnvironmentPreset, Fidelity, NoFiles, RainSizes, RunRelation,
    Scene, SolidShape, Varying, image_keys, parse_file, parse_str, print, same_run, simulation_identity,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/right")
}

fn read(name: &str) -> Scene {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    parse_str(name, &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}")).scene
}

#[test]
fn every_valid_scene_is_printed_and_read_back_bit_identically() {
    let mut seen = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let scene = read(&name);
        let printed = print(&scene);
        let again =
            parse_str("printed.toml", &printed, &[], &NoFiles).unwrap_or_else(|e| panic!("{name}: {e}\n{printed}"));
        assert_eq!(again.scene, scene, "{name}");
        // Debug tells 0 from −0, which `==` does not.
        assert_eq!(format!("{:?}", again.scene), format!("{scene:?}"), "{name}");
        assert_eq!(print(&again.scene), printed, "{name}: printing is not a fixed point");
        assert_eq!(same_run(&scene, &again.scene), RunRelation::Same, "{name}");
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} scenes");
}

#[test]
fn the_example_of_the_reference_resolves_to_si_units() {
    let scene = read("contract.toml");
    assert_eq!(scene.time.last_frame(), 30);
    assert_eq!(scene.liquid.surface_tension, 0.073);
    assert_eq!(scene.resolution.cell, Some(1e-4));
    assert_eq!(scene.materials[0].advancing, Varying::Uniform(105f64.to_radians()));
    assert_eq!(scene.materials[0].roughness, [20e-6; 2].map(Varying::Uniform));
    let DropShape::Cap { on, amount, contact_angle, .. } = scene.drops[0].shape else { panic!("not a cap") };
    assert_eq!((on, amount, contact_angle), (0, Amount::Volume(4.19e-9), 90f64.to_radians()));
    // The plane's meshed part covers the domain, 10 mm square.
    let SolidShape::Plane { size, .. } = scene.solids[0].shape else { panic!("not a plane") };
    assert_eq!(size, [0.01, 0.01]);
}

#[test]
fn defaults_are_those_of_the_reference() {
    let scene = read("least.toml");
    assert_eq!((scene.fidelity, scene.seed, scene.time.settle), (Fidelity::Physical, 1, false));
    assert_eq!(scene.liquid.density, 1000.0);
    assert_eq!(scene.liquid.viscosity, 1e-6);
    assert_eq!(scene.liquid.surface_tension, 0.073);
    assert_eq!(scene.world.gravity.at(0.5).to_array(), [0.0, -9.8, 0.0]);
    assert_eq!((scene.domain, scene.resolution.cell, scene.resolution.edge), (None, None, 0.4e-3));
    assert_eq!((scene.render.size, scene.render.fps), ([640, 360], 30.0));
    assert_eq!(scene.lights.environment, EnvironmentMap::Preset(EnvironmentPreset::Studio));
    assert_eq!(scene.camera.fov, 35f64.to_radians());
    let scene = read("studio.toml");
    let SolidShape::Plane { size, normal, .. } = scene.solids[0].shape else { panic!("not a plane") };
    assert_eq!((size, normal.to_array()), ([0.256; 2], [0.0, 1.0, 0.0]));
    assert_eq!(scene.solids[0].material, "glass");
    // A drop that was placed sits at the advancing angle.
    let DropShape::Cap { contact_angle, .. } = scene.drops[0].shape else { panic!("not a cap") };
    assert_eq!(Varying::Uniform(contact_angle), scene.materials[0].advancing);
}

#[test]
fn the_default_cell_puts_twenty_across_the_smallest_drop() {
    let near = |name: &str, diameter: f64| {
        let cell = read(name).resolution.cell.unwrap();
        assert!((cell / (diameter / 20.0) - 1.0).abs() < 1e-12, "{name}: {cell}");
    };
    near("surface.toml", 2e-3); // the sphere and the cylinder; the mesh is 3 mm high
    near("planar.toml", 1e-3); // the bath is 1 mm deep
    near("bath.toml", 3e-3); // rain of 1.5 mm radius
}

/// A tilt of α turns (0, −g, 0) into (g sin α, −g cos α, 0).
#[test]
fn tilt_turns_gravity_from_minus_y_towards_plus_x() {
    let tilted = |tilt: &str| {
        let text =
            format!("model = \"volume\"\ntime = {{ duration = \"1 s\", frame = \"1 s\" }}\nworld.tilt = {tilt}\n");
        parse_str("tilt.toml", &text, &[], &NoFiles).expect("a scene").scene.world
    };
    let half = 0.5_f64;
    let gravity = tilted("\"30 deg\"").gravity_at(0.0);
    assert!((gravity - glam::DVec3::new(9.8 * half, -9.8 * half.asin().cos(), 0.0)).length() < 1e-12, "{gravity}");
    let keyed = tilted("[{ at = \"0 s\", value = \"0 deg\" }, { at = \"2 s\", value = \"60 deg\" }]");
    assert_eq!(keyed.gravity_at(0.0).to_array(), [0.0, -9.8, 0.0]);
    assert!((keyed.gravity_at(1.0) - gravity).length() < 1e-12, "{}", keyed.gravity_at(1.0));
    assert_eq!((keyed.gravity_changes_until(), tilted("\"5 deg\"").gravity_changes_until()), (2.0, 0.0));
}

#[test]
fn gravity_is_linear_between_keys_and_constant_outside() {
    let scene = read("surface.toml");
    let gravity = |t: f64| scene.world.gravity.at(t);
    assert_eq!(gravity(-1.0).to_array(), [0.0, -9.8, 0.0]);
    assert!((gravity(0.15).x - 2.45).abs() < 1e-12);
    assert_eq!(gravity(9.0).to_array(), [4.9, -8.487, 0.0]);
}

#[test]
fn one_angle_means_no_hysteresis_and_a_preset_fills_the_rest() {
    let scene = read("droplet.toml");
    let angles = |name: &str| {
        let m = scene.materials.iter().find(|m| m.name == name).unwrap();
        (m.receding.clone(), m.advancing.clone())
    };
    let deg = |d: f64| Varying::Uniform(d.to_radians());
    assert_eq!(angles("smooth"), (deg(70.0), deg(70.0)));
    assert_eq!(angles("sticky"), (deg(30.0), deg(30.0)));
    assert_eq!(angles("plain"), (deg(90.0), deg(90.0)));
    assert_eq!(angles("skin"), (deg(15.0), deg(80.0)));
}

#[test]
fn rain_without_a_radius_follows_marshall_and_palmer() {
    let scene = read("pane.toml");
    let EmitterKind::Rain { sizes, rate, velocity, .. } = &scene.emitters[1].kind else { panic!("not rain") };
    assert_eq!((*sizes, *velocity), (RainSizes::MarshallPalmer, None));
    assert_eq!(*rate, 7.3e-3 / 3600.0);
    assert_eq!(scene.emitters[2].stop, f64::INFINITY);
}

fn with_sets(name: &str, sets: &[&str]) -> Scene {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    parse_str(name, &text, &sets, &NoFiles).unwrap_or_else(|e| panic!("{e}")).scene
}

#[test]
fn set_replaces_and_adds_values() {
    let scene = with_sets(
        "contract.toml",
        &[
            "resolution.cell=0.05 mm",
            "drops.0.radius=\"2 mm\"",
            "model=surface",
            "render.size=[320, 180]",
            "title=7",
            "materials.\"my wax\".receding=40 deg",
            "solids.0.normal=[0, 1, 1]",
            "time.settle = true",
        ],
    );
    assert_eq!(scene.resolution.cell, Some(5e-5));
    // `radius` given on the command line displaces the file's `volume`.
    let DropShape::Cap { amount: Amount::Volume(volume), .. } = scene.drops[0].shape else { panic!("not a cap") };
    assert!((volume / 33.51e-9 - 1.0).abs() < 1e-3, "{volume:e}");
    assert_eq!(scene.model.name(), "surface");
    assert_eq!((scene.render.size, scene.title.as_str(), scene.time.settle), ([320, 180], "7", true));
    assert_eq!(scene.materials[1].name, "my wax");
}

#[test]
fn a_run_can_be_resumed_with_a_longer_duration_or_other_images() {
    let base = read("contract.toml");
    let longer = with_sets("contract.toml", &["time.duration=60 ms", "camera.fov=20 deg", "lights.strength=2"]);
    assert_eq!(same_run(&base, &longer), RunRelation::Extends);
    assert_eq!(same_run(&longer, &base), RunRelation::Different(vec!["time.duration".into()]));
    let recolored = with_sets(
        "contract.toml",
        &[
            "title=Red",
            "solids.0.look=paint",
            "solids.0.texture=tiles.png",
            "liquid.refractive_index=1.4",
            "render.fps=24",
        ],
    );
    assert_eq!(same_run(&base, &recolored), RunRelation::Extends);
    assert_eq!(simulation_identity(&base), simulation_identity(&recolored));
    assert_ne!(image_keys(&base), image_keys(&recolored));
    let retitled = with_sets("contract.toml", &["title=Red", "render.fps=24"]);
    assert_eq!(image_keys(&base), image_keys(&retitled), "neither the title nor the frame rate affects images");
    let other = with_sets("contract.toml", &["seed=2", "drops.0.contact_angle=80 deg", "render.samples=1"]);
    let keys = vec!["seed".to_owned(), "drops.0.contact_angle".to_owned()];
    assert_eq!(same_run(&base, &other), RunRelation::Different(keys));
    let fewer = with_sets("contract.toml", &["emitters=[]"]);
    assert!(
        matches!(same_run(&base, &fewer), RunRelation::Different(keys) if keys.iter().all(|k| k.starts_with("emitters.0.")))
    );
    assert_eq!(same_run(&base, &base), RunRelation::Same);
}

#[test]
fn files_are_relative_to_the_scene_file() {
    let scratch = std::env::temp_dir().join(format!("sessile-scene-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    let path = scratch.join("a.toml");
    let text = "model = \"surface\"\ntime = { duration = \"1 s\", frame = \"1 s\" }\n[[solids]]\nshape = \"mesh\"\nfile = \"cup.stl\"\n";
    fs::write(&path, text).unwrap();
    let missing = parse_file(&path, &[]).unwrap_err().to_string();
    assert!(missing.contains("`file`: there is no such file"), "{missing}");
    assert!(missing.contains("a.toml:5:8"), "{missing}");
    fs::write(scratch.join("cup.stl"), "").unwrap();
    let scene = parse_file(&path, &[]).unwrap_or_else(|e| panic!("{e}")).scene;
    let SolidShape::Mesh { file, .. } = &scene.solids[0].shape else { panic!("not a mesh") };
    assert!(file.is_absolute() && file.ends_with("cup.stl"), "{file:?}");
    let unreadable = parse_file(&scratch.join("none.toml"), &[]).unwrap_err().to_string();
    assert!(unreadable.contains("cannot read the scene"), "{unreadable}");
    fs::remove_dir_all(&scratch).unwrap();
}

/// Contact angles of presets are those of water.
#[test]
fn preset_contact_angles_with_another_liquid_give_a_warning() {
    let text = |liquid: &str, glass: &str| {
        format!(
            "model = \"droplet\"\ntime = {{ duration = \"1 s\", frame = \"1 s\" }}\n[liquid]\npreset = \"{liquid}\"\n\
             [materials.sticky]\npreset = \"wax\"\nadvancing = \"120 deg\"\n[materials.unused]\npreset = \"steel\"\n{glass}\
             [[solids]]\nname = \"pane\"\nshape = \"plane\"\nmaterial = \"glass\"\n\
             [[solids]]\nname = \"candle\"\nshape = \"sphere\"\ncenter = \"0 0 0 mm\"\nradius = \"5 mm\"\nmaterial = \"sticky\"\n"
        )
    };
    let warned = |text: &str| parse_str("s.toml", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}")).warnings;
    let honey = warned(&text("honey", "")).to_string();
    let expected = "\
warning: \"glass\", \"sticky\" keep the contact angles of water, but the liquid is honey
 --> s.toml:4:10
  |
4 | preset = \"honey\"
  |          ^^^^^^^ has other contact angles
  |
  = help: give the material's own `advancing` and `receding` for this liquid in [materials.NAME]

1 warning in s.toml";
    assert_eq!(honey, expected);
    let own_glass = "[materials.glass]\npreset = \"glass\"\nadvancing = \"70 deg\"\nreceding = \"20 deg\"\n";
    let one = warned(&text("honey", own_glass)).to_string();
    assert!(one.starts_with("warning: \"sticky\" keeps the contact angles of water, but the liquid is honey"), "{one}");
    assert!(warned(&text("water", "")).is_empty());
    // The printed scene gives every angle itself.
    let scene = parse_str("s.toml", &text("honey", ""), &[], &NoFiles).unwrap().scene;
    assert!(warned(&print(&scene)).is_empty());
}

#[test]
fn angles_of_presets_print_as_round_numbers() {
    for preset in sessile_wetting::material_presets() {
        let text = format!(
            "model = \"droplet\"\ntime = {{ duration = \"1 s\", frame = \"1 s\" }}\n[[solids]]\nname = \"pane\"\n\
             shape = \"plane\"\nmaterial = \"{}\"\n",
            preset.name
        );
        let printed = print(&parse_str("s.toml", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}")).scene);
        let angles: Vec<&str> = printed
            .lines()
            .filter(|line| {
                ["advancing", "receding", "wet_advancing"].iter().any(|key| line.starts_with(&format!("{key} = ")))
            })
            .filter_map(|line| line.split('"').nth(1)?.strip_suffix(" deg"))
            .collect();
        assert_eq!(angles.len(), 2 + usize::from(preset.wetting.wet_advancing.is_some()), "{printed}");
        for angle in angles {
            assert!(angle.len() <= 5, "{}: {angle} deg", preset.name);
        }
    }
}

#[test]
fn warnings_do_not_prevent_a_run() {
    let warned = |text: &str, sets: &[String]| parse_str("s.toml", text, sets, &NoFiles).unwrap().warnings.to_string();
    let text = "model = \"volume\"\ntime = { duration = \"1 s\", frame = \"1 s\" }\n[pane]\nfine = 4\n[domain]\nmin = \"0 0 0 mm\"\nmax = \"9 9 9 mm\"\n[[drops]]\ncenter = \"0 40 0 mm\"\nradius = \"1 mm\"\n";
    let all = warned(text, &[]);
    assert!(all.contains("[pane] is not used by this model"), "{all}");
    assert!(all.contains("this drop lies outside the domain"), "{all}");
    assert!(all.ends_with("2 warnings in s.toml"), "{all}");
    let switched = warned(text, &["model=droplet".into()]);
    assert!(!switched.contains("[pane]"), "{switched}");
}

#[test]
fn frames_and_a_rate_stand_for_duration_and_interval() {
    let read = |time: &str, sets: &[String]| {
        let text = format!("model = \"volume\"\ntime = {{ {time} }}\n");
        parse_str("s.toml", &text, sets, &NoFiles).unwrap_or_else(|e| panic!("{e}")).scene
    };
    let scene = read("frames = 48, fps = 24, start_frame = 1001", &[]);
    assert_eq!((scene.time.frame, scene.time.duration, scene.time.last_frame()), (1.0 / 24.0, 48.0 / 24.0, 48));
    assert_eq!((scene.time.shown_frame(0), scene.time.shown_frame(48)), (1001, 1049));
    assert_eq!(scene.render.fps, 24.0, "the video plays in real time");
    // Other pairs, and a rate that divides no second exactly.
    assert_eq!(read("frames = 7, frame = \"3 ms\"", &[]).time.last_frame(), 7);
    assert_eq!(read("duration = \"2 s\", fps = 30", &[]).time.last_frame(), 60);
    assert_eq!(read("frames = 1000, fps = 29.97", &[]).time.last_frame(), 1000);
    assert_eq!(read("duration = \"1 s\", frame = \"1 ms\"", &[]).render.fps, 30.0);
    // One given by `--set` replaces its counterpart in the file.
    let set = read("duration = \"1 s\", frame = \"1 ms\"", &["time.frames=12".into(), "time.fps=60".into()]);
    assert_eq!((set.time.last_frame(), set.time.frame), (12, 1.0 / 60.0));
    let printed = print(&scene);
    assert_eq!(parse_str("p.toml", &printed, &[], &NoFiles).unwrap().scene, scene, "{printed}");
}
