//! Edges where the surface bends, and drops that come to rest.

mod common;

use common::{ball, build, cap, plane, run, sound, uncrossed};
use glam::DVec3;
use sessile_model::{Model, NoTimer};
use sessile_surface::drops::Drop;
use sessile_surface::mesh::AIR;
use sessile_wetting::young_laplace;

/// Mean length of the edges against air whose middle is where `inside` says, in m.
fn mean_edge(drop: &Drop, inside: impl Fn(DVec3) -> bool) -> f64 {
    let mesh = &drop.mesh;
    let (mut sum, mut count) = (0.0, 0.0);
    for h in (0..mesh.twins.len() as u32).filter(|&h| mesh.solid_of(h) == AIR) {
        let middle = 0.5 * (mesh.positions[mesh.from(h) as usize] + mesh.positions[mesh.to(h) as usize]);
        if inside(middle) {
            sum += mesh.length(h);
            count += 1.0;
        }
    }
    assert!(count > 5.0, "{count} edges there");
    sum / count
}

#[test]
fn the_foot_of_a_flat_drop_at_150_degrees_is_finer_than_its_top_and_the_drop_rests_as_young_and_laplace_say() {
    // Its foot has a radius of curvature of 1.4 mm, and asks for 0.6 mm where edges are 1.1 mm.
    let (volume, angle) = (500.0, 150.0);
    let mut model = build(&format!(
        "settle = true\n[resolution]\nedge = \"0.55 mm\"\n{}{}",
        plane([0.0, 1.0, 0.0], angle, angle),
        cap(volume, angle, [0.0; 3])
    ));
    run(&mut model, 1.0);
    uncrossed(&model);
    let drop = &model.drops()[0];
    let height = drop.mesh.bounds()[1].y;
    let (foot, top) = (mean_edge(drop, |p| p.y < 0.25 * height), mean_edge(drop, |p| p.y > 0.5 * height));
    let exact = young_laplace::sessile(volume * 1e-9, f64::to_radians(angle), (0.073 / 9800.0f64).sqrt()).unwrap();
    let wetted: f64 = (0..drop.mesh.triangles.len())
        .filter(|&t| drop.mesh.solids[t] >= 0)
        .map(|t| drop.mesh.area_vector(t).length())
        .sum();
    let base = (wetted / std::f64::consts::PI).sqrt() / exact.base_radius - 1.0;
    let high = height / exact.height - 1.0;
    println!(
        "edges {foot:.2e} m at the foot, {top:.2e} m above; height {:+.2} %, base {:+.2} %, {} triangles",
        1e2 * high,
        1e2 * base,
        drop.mesh.triangles.len()
    );
    assert!(foot < 0.8 * top, "edges of {foot} m at the foot, {top} m above");
    // As coarse as this, some four edges high.
    assert!(high.abs() < 0.02 && base.abs() < 0.03, "height off by {high}, base by {base}");
    assert!(drop.asleep, "it has come to rest");
}

#[test]
fn the_neck_of_a_thread_that_breaks_is_finer_than_its_bulges() {
    let mut model = build(
        "[world]\ngravity = \"0 0 0 m/s^2\"\n[resolution]\nedge = \"0.25 mm\"\n[[drops]]\nshape = \"cylinder\"\n\
         from = \"0 0 0 mm\"\nto = \"40.5 0 0 mm\"\nradius = \"1.5 mm\"\namplitude = 0.3\nwavelength = \"13.5 mm\"\n",
    );
    let volume = model.volume();
    // How thick it is around each of two troughs of the ripple.
    let girth = |drop: &Drop, x: f64| {
        let near = drop.mesh.positions.iter().filter(|p| (p.x - x).abs() < 0.4e-3);
        near.map(|p| p.y.hypot(p.z)).fold(f64::INFINITY, f64::min)
    };
    let mut least = f64::INFINITY;
    let mut seen = None;
    while model.time() < 0.1 && model.drops().len() == 1 {
        model.step(1e-3, &mut NoTimer).unwrap();
        sound(&model);
        let drop = &model.drops()[0];
        let neck = (10..30).map(|k| f64::from(k) * 1e-3).min_by(|a, b| girth(drop, *a).total_cmp(&girth(drop, *b)));
        let Some(neck) = neck.filter(|&x| girth(drop, x) < least && girth(drop, x) > 0.3e-3) else { continue };
        least = girth(drop, neck);
        let fine = mean_edge(drop, |p| (p.x - neck).abs() < 0.5e-3);
        let coarse = mean_edge(drop, |p| p.y.hypot(p.z) > 1.6e-3);
        seen = Some((least, fine, coarse));
    }
    uncrossed(&model);
    let off = (model.volume() / volume - 1.0).abs();
    assert!(off < 1e-12, "volume off by {off:e}");
    let (neck, fine, coarse) = seen.unwrap();
    println!(
        "at a neck of radius {neck:.2e} m edges of {fine:.2e} m, on the bulges {coarse:.2e} m, at {} s",
        model.time()
    );
    assert!(neck < 0.7e-3 && fine < 0.75 * coarse, "radius {neck} m: edges of {fine} m, on the bulges {coarse} m");
}

#[test]
fn drops_that_were_thrown_at_walls_fall_asleep() {
    // Walls with hysteresis, drops of 0.2 to 14 µL: they stick, ring, and creep within their angles.
    let mut scene = plane([1.0, 0.0, 0.0], 100.0, 70.0);
    scene += "[[solids]]\nname = \"floor\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 -20 0 mm\"\n";
    for k in 0..16 {
        let (turn, step) = (f64::from(k), f64::from(k % 4));
        let radius = 0.36 + 0.02 * turn;
        let place = [1.5 + 0.3 * step, 4.0 * step, 4.0 * f64::from(k / 4)];
        scene += &ball(radius, place, [-0.3, 0.1 * (step - 2.0), 0.05 * step]);
    }
    let mut model = build(&scene);
    run(&mut model, 0.8);
    uncrossed(&model);
    let awake: Vec<String> = (model.drops().iter().filter(|drop| !drop.asleep))
        .map(|drop| format!("{} of {:.2} µL", drop.id, drop.volume * 1e9))
        .collect();
    println!("{} drops, awake: {awake:?}", model.drops().len());
    // One that moves a vertex to and fro at its line; without what lets drops rest, three.
    assert!(awake.len() < 3, "of {} drops these are awake: {awake:?}", model.drops().len());
}
