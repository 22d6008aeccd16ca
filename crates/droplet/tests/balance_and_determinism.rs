//! Volume is conserved, and results are bit-identical for any number of threads and after resuming.

use crate::support::{cap, model, run, slope};
use glam::DVec3;
use sessile_droplet::DropletModel;
use sessile_frames::instances::surface_of_one;
use sessile_frames::{Durability, FrameGeometry, FrameId, INSTANCE_THRESHOLD, drops_file};
use sessile_model::Model;
use sessile_shapes::{Body, Shape};

/// Rain, dew, a tap and a needle over a sphere and a slope of glass with wetting history: merging,
/// films, beads, detachment and landing.
fn storm(fidelity: &str) -> DropletModel {
    let scene = "[materials.glass]\nadvancing = \"50 deg\"\nreceding = \"15 deg\"\nwet_advancing = \"25 deg\"\nroughness = \"50 um\"\nadhesion = \"30 Pa\"\n\
         [[solids]]\nname = \"ball\"\nmaterial = \"glass\"\nshape = \"sphere\"\ncenter = \"0 30 0 mm\"\nradius = \"15 mm\"\n\
         [[solids]]\nname = \"slide\"\nmaterial = \"glass\"\nshape = \"plane\"\nnormal = [1, 1, 0]\nsize = \"60 80 mm\"\n\
         motion = [{ at = \"0 s\", rotate = \"0 0 0 deg\" }, { at = \"0.5 s\", rotate = \"0 0 -10 deg\" }]\n\
         [[emitters]]\nkind = \"rain\"\nover = \"ball\"\nrate = \"40 um/s\"\nradius = { min = \"0.3 mm\", max = \"1.2 mm\" }\nvelocity = \"0 -4 0 m/s\"\n\
         [[emitters]]\nkind = \"dew\"\non = \"slide\"\nrate = \"200 uL/m^2/s\"\n\
         [[emitters]]\nkind = \"tap\"\nat = \"-15 60 5 mm\"\ndirection = [0, -1, 0]\nradius = \"0.3 mm\"\nspeed = \"0.2 m/s\"\n\
         [[emitters]]\nkind = \"feed\"\nat = \"0 45 0 mm\"\nrate = \"2 uL/s\"\n";
    model(
        &format!("fidelity = \"{fidelity}\"\nseed = 5"),
        &(scene.to_owned() + &cap("slide", 60.0, 50.0, [-10.0, 10.0, 3.0])),
    )
}

#[test]
fn volume_is_conserved_to_1e_9() {
    for fidelity in ["physical", "paper"] {
        let mut model = storm(fidelity);
        let events = run(&mut model, 1.5);
        let balance = model.frame().balance;
        let off = (model.volume() + balance.lost) / balance.added - 1.0;
        assert!(off.abs() < 1e-9, "{fidelity}: balance off by {off:.1e} of {:e} m³", balance.added);
        assert!(
            balance.lost > 0.0 && events.len() > 10,
            "{fidelity}: {:e} lost, {} events",
            balance.lost,
            events.len()
        );
        if fidelity == "physical" {
            assert!(balance.film > 0.0, "a film is left on glass");
        }
        let surface = model.frame().liquid.into_surface().expect("drops");
        assert!(surface.positions.iter().all(|p| p.is_finite()));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let bytes = |threads: usize, fidelity: &str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut model = storm(fidelity);
            run(&mut model, 0.6);
            model.save()
        })
    };
    for fidelity in ["physical", "paper"] {
        let one = bytes(1, fidelity);
        assert!(
            bytes(2, fidelity) == one && bytes(3, fidelity) == one,
            "{fidelity}: the number of threads changes the result"
        );
    }
}

#[test]
fn a_resumed_run_is_bit_identical() {
    for fidelity in ["physical", "paper"] {
        let mut whole = storm(fidelity);
        run(&mut whole, 0.4);
        let saved = whole.save();
        run(&mut whole, 0.8);
        let mut resumed = storm(fidelity);
        resumed.restore(&saved).unwrap_or_else(|error| panic!("{error}"));
        assert!(resumed.save() == saved, "{fidelity}: restoring changes nothing");
        run(&mut resumed, 0.8);
        assert!(resumed.save() == whole.save(), "{fidelity}: the resumed run differs");
        // The neighbor grid is rebuilt each time, with other cells than in the uninterrupted run.
        let mut again = storm(fidelity);
        for tenth in 1..=8 {
            let saved = again.save();
            again.restore(&saved).unwrap_or_else(|error| panic!("{error}"));
            run(&mut again, 0.1 * f64::from(tenth));
        }
        let mut tenths = storm(fidelity);
        (1..=8).for_each(|tenth| drop(run(&mut tenths, 0.1 * f64::from(tenth))));
        assert!(again.save() == tenths.save(), "{fidelity}: the repeatedly resumed run differs");
    }
}

#[test]
fn checkpoints_of_other_scenes_are_rejected() {
    let saved = storm("physical").save();
    let mut other = model("", &slope(90.0, 60.0, 10.0, [50.0, 50.0]));
    let error = other.restore(&saved).expect_err("another scene");
    assert!(error.to_string().contains("other solids"), "{error}");
    assert!(other.restore(&saved[..saved.len() / 2]).is_err());
    let mut paper = storm("paper");
    assert!(paper.restore(&saved).expect_err("fidelity").to_string().contains("fidelity"));
}

#[test]
fn liquid_outside_the_domain_is_lost_and_closed_sides_are_rejected() {
    let domain = |sides: &str| format!("[domain]\nmin = \"-60 -60 -60 mm\"\nmax = \"30 60 60 mm\"\n{sides}");
    let slope = slope(90.0, 80.0, 45.0, [300.0, 300.0]) + &cap("plane", 40.0, 90.0, [0.0, 0.0, 0.0]);
    let mut model = model("", &(domain("") + &slope));
    run(&mut model, 1.5);
    let balance = model.frame().balance;
    assert_eq!((model.num_droplets(), balance.lost), (0, balance.added), "it has left the domain at x = 30 mm");
    for (sides, name) in [("x = \"wall\"\n", "domain.x = \"wall\""), ("z = \"periodic\"\n", "domain.z = \"periodic\"")]
    {
        let text =
            format!("model = \"droplet\"\n[time]\nduration = \"1 s\"\nframe = \"0.1 s\"\n{}{slope}", domain(sides));
        let scene = sessile_scene::parse_str("test.toml", &text, &[], &sessile_scene::NoFiles).expect("a scene").scene;
        let world = sessile_world::World::build(&scene).expect("a world");
        let refused = DropletModel::new(&scene, world).expect_err("it has no such sides").to_string();
        assert!(refused.contains(name), "{refused}");
    }
}

/// A frame of more than 10 000 droplets stores few numbers of each; in the reproduction mode, the
/// points of their patches.
#[test]
fn patches_of_a_large_frame_are_read_back_unchanged() {
    let mut model = model("fidelity = \"paper\"", &slope(80.0, 58.0, 30.0, [500.0, 400.0]));
    for k in 0..=INSTANCE_THRESHOLD {
        let [x, z] = [k % 101, k / 101].map(|k| 3.5e-3 * (k as f64 - 50.0));
        model.add_droplet(DVec3::new(x, 0.0, z), DVec3::ZERO, 0.1e-9);
    }
    run(&mut model, 1.0 / 30.0);
    let FrameGeometry::Instances(drops) = model.frame().liquid else { panic!("{} droplets", model.num_droplets()) };
    assert_eq!(drops.len(), INSTANCE_THRESHOLD + 1);
    for drop in &drops {
        let Shape::Draped(draped) = &drop.shape else { panic!("drop {} is not draped", drop.drop) };
        assert!(
            matches!(&draped.body, Body::Patch(patch) if patch.is_sound()),
            "drop {}: {:?}",
            drop.drop,
            draped.body
        );
    }
    let path = std::env::temp_dir().join(format!("sessile-patches-{}.drops", std::process::id()));
    let frame_id = FrameId { frame: 1, time: model.time() };
    drops_file::write(&path, &drops, frame_id, Durability::Handed).expect("written");
    let (read, when) = drops_file::read(&path).expect("read");
    std::fs::remove_file(&path).expect("there");
    assert!(read == drops && when.time == frame_id.time, "what was read is not what was written");
    // The surface made on reading encloses the droplet's volume.
    let surface = surface_of_one(&read[4321]);
    let point = |v: u32| surface.positions[v as usize] - read[4321].frame.origin;
    let volume: f64 = surface.triangles.iter().map(|&[a, b, c]| point(a).dot(point(b).cross(point(c))) / 6.0).sum();
    assert!((volume / read[4321].volume - 1.0).abs() < 1e-3, "{volume:e} m³ of {:e}", read[4321].volume);
}

/// A drop falls down a staircase of spheres, each of which gets its triangles when the drop comes.
fn staircase() -> DropletModel {
    let sphere = |k: u32| {
        format!(
            "[[solids]]\nname = \"s{k}\"\nmaterial = \"m\"\nshape = \"sphere\"\ncenter = \"{} {} 0 mm\"\nradius = \"4 mm\"\n",
            4 * k,
            -20 * (k as i32)
        )
    };
    let spheres: String = (0..100).rev().map(sphere).collect();
    let drop = "[[drops]]\nshape = \"sphere\"\ncenter = \"1.5 8 0 mm\"\nvolume = \"40 uL\"\n";
    model("", &("[materials.m]\nadvancing = \"110 deg\"\nreceding = \"100 deg\"\n".to_owned() + &spheres + drop))
}

/// Reproducer R2: memory follows the solids that droplets come near, also after resuming.
#[test]
fn solids_far_from_all_droplets_have_no_triangles_and_resume_without() {
    let per_sphere = staircase_triangles();
    let mut whole = staircase();
    assert!(whole.num_triangles() <= per_sphere, "{} triangles at the start", whole.num_triangles());
    run(&mut whole, 0.1);
    let (saved, early) = (whole.save(), whole.num_triangles());
    run(&mut whole, 0.6);
    let late = whole.num_triangles();
    assert!(early >= per_sphere && late > early && late < 30 * per_sphere, "{early}, then {late} triangles");
    let mut resumed = staircase();
    resumed.restore(&saved).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(resumed.num_triangles(), early);
    run(&mut resumed, 0.6);
    assert!(resumed.save() == whole.save(), "the resumed run differs");
    // Back to an earlier state, as by undoing.
    whole.restore(&saved).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(whole.num_triangles(), early);
    run(&mut whole, 0.6);
    assert!(resumed.save() == whole.save(), "the repeated run differs");
}

/// Number of triangles of one sphere.
fn staircase_triangles() -> usize {
    let mut one = model("", "[[solids]]\nname = \"s\"\nshape = \"sphere\"\nradius = \"4 mm\"\n");
    one.add_droplet(DVec3::new(0.0, 5e-3, 0.0), DVec3::ZERO, 1e-9);
    one.num_triangles()
}
