//! Edge lengths that follow the curvature, and drops that come to rest.

use super::common::{assert_no_self_intersection, assert_valid, build, cap, plane, run, sphere};
use crate::drop::Drop;
use crate::mesh::Interface;
use glam::DVec3;
use sessile_model::{Model, NoTimer};
use sessile_wetting::young_laplace;

/// Mean length of the free edges with a midpoint inside a region, in m.
fn mean_edge(drop: &Drop, inside: impl Fn(DVec3) -> bool) -> f64 {
    let mesh = &drop.mesh;
    let (mut sum, mut count) = (0.0, 0.0);
    for h in mesh.half_edge_indices().filter(|&h| mesh.interface_of(h) == Interface::Air) {
        let middle = 0.5 * (mesh.positions[mesh.from(h)] + mesh.positions[mesh.to(h)]);
        if inside(middle) {
            sum += mesh.length(h);
            count += 1.0;
        }
    }
    assert!(count > 5.0, "{count} edges there");
    sum / count
}

#[test]
fn the_foot_of_a_puddle_is_refined_and_its_shape_follows_young_and_laplace() {
    // The radius of curvature at the foot is 1.4 mm: target length 0.6 mm where edges are 1.1 mm.
    let (volume, angle) = (500.0, 150.0);
    let mut model = build(&format!(
        "settle = true\n[resolution]\nedge = \"0.55 mm\"\n{}{}",
        plane([0.0, 1.0, 0.0], angle, angle),
        cap(volume, angle, [0.0; 3])
    ));
    run(&mut model, 1.0);
    assert_no_self_intersection(&model);
    let drop = &model.drops()[0];
    let height = drop.mesh.bounds()[1].y;
    let (foot, top) = (mean_edge(drop, |p| p.y < 0.25 * height), mean_edge(drop, |p| p.y > 0.5 * height));
    let exact = young_laplace::sessile(volume * 1e-9, f64::to_radians(angle), (0.073 / 9800.0f64).sqrt()).unwrap();
    let wetted = drop.mesh.wetted_area();
    let base = (wetted / std::f64::consts::PI).sqrt() / exact.base_radius - 1.0;
    let high = height / exact.height - 1.0;
    println!(
        "edges {foot:.2e} m at the foot, {top:.2e} m above; height {:+.2} %, base {:+.2} %, {} triangles",
        1e2 * high,
        1e2 * base,
        drop.mesh.triangles.len()
    );
    assert!(foot < 0.8 * top, "edges of {foot} m at the foot, {top} m above");
    // The mesh is some four edges high.
    assert!(high.abs() < 0.02 && base.abs() < 0.03, "height off by {high}, base by {base}");
    assert!(drop.asleep, "the drop is at rest");
}

#[test]
fn the_neck_of_a_breaking_ligament_is_refined() {
    let mut model = build(
        "[world]\ngravity = \"0 0 0 m/s^2\"\n[resolution]\nedge = \"0.25 mm\"\n[[drops]]\nshape = \"cylinder\"\n\
         from = \"0 0 0 mm\"\nto = \"40.5 0 0 mm\"\nradius = \"1.5 mm\"\namplitude = 0.3\nwavelength = \"13.5 mm\"\n",
    );
    let volume = model.volume();
    // Radius at each of two troughs of the perturbation.
    let neck_radius = |drop: &Drop, x: f64| {
        let near = drop.mesh.positions.iter().filter(|p| (p.x - x).abs() < 0.4e-3);
        near.map(|p| p.y.hypot(p.z)).fold(f64::INFINITY, f64::min)
    };
    let mut least = f64::INFINITY;
    let mut seen = None;
    while model.time() < 0.1 && model.drops().len() == 1 {
        model.step(1e-3, &mut NoTimer).unwrap();
        assert_valid(&model);
        let drop = &model.drops()[0];
        let neck = (10..30)
            .map(|k| f64::from(k) * 1e-3)
            .min_by(|a, b| neck_radius(drop, *a).total_cmp(&neck_radius(drop, *b)));
        let Some(neck) = neck.filter(|&x| neck_radius(drop, x) < least && neck_radius(drop, x) > 0.3e-3) else {
            continue;
        };
        least = neck_radius(drop, neck);
        let fine = mean_edge(drop, |p| (p.x - neck).abs() < 0.5e-3);
        let coarse = mean_edge(drop, |p| p.y.hypot(p.z) > 1.6e-3);
        seen = Some((least, fine, coarse));
    }
    assert_no_self_intersection(&model);
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
fn drops_thrown_at_walls_fall_asleep() {
    // Walls with hysteresis, drops of 0.2 to 14 µL.
    let mut scene = plane([1.0, 0.0, 0.0], 100.0, 70.0);
    scene += "[[solids]]\nname = \"floor\"\nmaterial = \"m\"\nshape = \"plane\"\npoint = \"0 -20 0 mm\"\n";
    for k in 0..16 {
        let (turn, step) = (f64::from(k), f64::from(k % 4));
        let radius = 0.36 + 0.02 * turn;
        let place = [1.5 + 0.3 * step, 4.0 * step, 4.0 * f64::from(k / 4)];
        scene += &sphere(radius, place, [-0.3, 0.1 * (step - 2.0), 0.05 * step]);
    }
    let mut model = build(&scene);
    run(&mut model, 0.8);
    assert_no_self_intersection(&model);
    let awake: Vec<String> = (model.drops().iter().filter(|drop| !drop.asleep))
        .map(|drop| format!("{} of {:.2} µL", drop.id, drop.volume * 1e9))
        .collect();
    println!("{} drops, awake: {awake:?}", model.drops().len());
    // One drop keeps moving a vertex of its contact line back and forth.
    assert!(awake.len() < 3, "of {} drops these are awake: {awake:?}", model.drops().len());
}
