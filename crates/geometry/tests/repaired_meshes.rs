//! Repaired meshes are closed, manifold and oriented outwards, and every format preserves them.

use crate::shapes;
use std::path::Path;

use glam::{DVec2, DVec3};
use sessile_geometry::TriMesh;
use sessile_geometry::connectivity::Connectivity;
use sessile_geometry::files::{MeshFormat, no_resources, parse_mesh, read_mesh, write_ply};
use sessile_geometry::repair::{Closure, repair, repair_with};

use crate::shapes::{assert_closed_manifold, cube, joined, loose, moved, reversed, scaled, sphere};

fn bunny() -> TriMesh {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/bunny.obj");
    read_mesh(&path).unwrap_or_else(|error| panic!("{error}"))
}

/// Vertices − edges + triangles: 2 for a closed surface without handles, 1 for a disk.
fn euler_characteristic(connectivity: &Connectivity, mesh: &TriMesh) -> i64 {
    let num_boundary = connectivity.boundary().count() as i64;
    let num_edges = (3 * mesh.triangles.len() as i64 + num_boundary) / 2;
    mesh.positions.len() as i64 - num_edges + mesh.triangles.len() as i64
}

/// A small random number generator (xorshift), so that failures are repeatable.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

#[test]
fn bunny_needs_no_repair() {
    let mesh = bunny();
    let (repaired, report) = repair(mesh.clone()).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "nothing to repair");
    assert_eq!(repaired, mesh);
    assert_closed_manifold(&repaired);
    let connectivity = Connectivity::new(&mesh.triangles).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(euler_characteristic(&connectivity, &mesh), 2);
}

#[test]
fn damaged_bunny_is_restored() {
    let whole = bunny();
    for seed in 1..=5 {
        let mut dice = Dice(seed);
        let mut mesh = loose(&whole);
        for _ in 0..200 {
            let t = dice.roll(mesh.triangles.len());
            match dice.roll(3) {
                0 => mesh.triangles[t].swap(0, 1),
                1 => mesh.triangles.push(mesh.triangles[t]),
                _ => drop(mesh.triangles.remove(t)),
            }
        }
        let (repaired, report) = repair(reversed(mesh)).unwrap_or_else(|defect| panic!("seed {seed}: {defect}"));
        assert_closed_manifold(&repaired);
        let error = repaired.volume() / whole.volume() - 1.0;
        assert!(error.abs() < 1e-3, "seed {seed}: volume off by {error:e} after: {report}");
        assert!(report.filled_holes.len() > 40, "seed {seed}: {report}");
    }
}

#[test]
fn repairing_twice_does_nothing_more() {
    let mut spoiled = loose(&sphere(16, 0.02));
    spoiled.triangles.drain(100..104);
    spoiled = joined(&[reversed(spoiled), moved(cube(), [0.1, 0.0, 0.0]), moved(cube(), [0.11, 0.01, 0.01])]);
    let (once, report) = repair(spoiled).unwrap_or_else(|defect| panic!("{defect}"));
    assert!(!report.is_empty());
    assert_closed_manifold(&once);
    // Touching cubes are welded and taken apart anew each time; their mesh stays.
    let (twice, _) = repair(once.clone()).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(twice.triangles.len(), once.triangles.len());
    assert_eq!(twice.volume(), once.volume());
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    let crossing = joined(&[sphere(40, 0.01), moved(sphere(40, 0.01), [0.013, 0.002, 0.001])]);
    let results = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| (repair(crossing.clone()), repair(loose(&bunny()))))
    });
    assert!(results[0].0.is_err(), "overlapping spheres are rejected");
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn open_sheet_is_repaired_and_oriented_but_stays_open() {
    let mut half = sphere(24, 0.08);
    half.triangles.truncate(half.triangles.len() / 2);
    let num_triangles = half.triangles.len();
    let area = half.area();
    let mut sheet = loose(&half);
    for t in [5, 99, 400] {
        sheet.triangles[t].swap(0, 1);
    }
    sheet.triangles.push(sheet.triangles[7]);
    assert!(repair(sheet.clone()).is_err(), "half a sphere is open");
    let (mask, report) = repair_with(sheet, Closure::Optional).unwrap_or_else(|defect| panic!("{defect}"));
    let welded = 3 * num_triangles - mask.positions.len();
    assert_eq!(
        report.to_string(),
        format!("welded {welded} vertices; removed 1 duplicate triangle; flipped 3 triangles to match their neighbors")
    );
    assert_eq!(mask.triangles.len(), num_triangles);
    assert!((mask.area() - area).abs() < 1e-15);
    let connectivity = Connectivity::new(&mask.triangles).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(euler_characteristic(&connectivity, &mask), 1, "a disk");
    for t in 0..mask.triangles.len() {
        let [a, b, c] = mask.corners(t);
        assert!((b - a).cross(c - a).dot(a) > 0.0, "triangle {t} still looks outwards");
    }
}

#[test]
fn closed_part_of_an_open_mesh_is_turned_outwards() {
    let sheet = TriMesh {
        positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        triangles: vec![[0, 1, 2]],
        corner_uvs: Vec::new(),
    };
    let mesh = joined(&[sheet.clone(), reversed(moved(cube(), [0.0, 0.0, 1.0]))]);
    let (repaired, report) = repair_with(mesh, Closure::Optional).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "oriented 1 component outwards");
    assert_eq!(repaired.triangles[0], sheet.triangles[0]);
}

/// Cubes of a lattice meet in faces (with the same diagonal or the other one), edges and corners,
/// and enclose cavities. Whatever remains of their walls, the volume is theirs.
#[test]
fn cubes_that_touch_in_every_way_keep_their_volume() {
    for seed in 1..=300 {
        let mut dice = Dice(seed * 7919);
        let share = 2 + dice.roll(6);
        let mut cells = Vec::new();
        for cell in 0..27 {
            if dice.roll(8) < share {
                cells.push([cell % 3, cell / 3 % 3, cell / 9].map(|k| 0.01 * f64::from(k)));
            }
        }
        if cells.is_empty() {
            continue;
        }
        let mut mesh = joined(&cells.iter().map(|&at| moved(cube(), at)).collect::<Vec<_>>());
        if dice.roll(2) == 0 {
            mesh = reversed(loose(&mesh));
        }
        let (repaired, report) =
            repair(mesh).unwrap_or_else(|defect| panic!("seed {seed}, {} cubes: {defect}", cells.len()));
        assert_closed_manifold(&repaired);
        let cubes = repaired.volume() / 1e-6;
        assert!(
            (cubes - cells.len() as f64).abs() < 1e-9,
            "seed {seed}: {cubes} of {} cubes after: {report}",
            cells.len()
        );
    }
}

/// Triangles between few vertices, at random: hardly ever a solid, but never a surprise.
#[test]
fn random_triangles_give_a_sound_mesh_or_a_defect() {
    let mut num_solid = 0;
    let mut num_sheets = 0;
    for seed in 1..=8000 {
        let mut dice = Dice(seed * 104_729);
        let num_vertices = 4 + dice.roll(5);
        let vertex = |dice: &mut Dice| [0; 3].map(|_| dice.roll(4) as f64);
        let positions: Vec<DVec3> = (0..num_vertices).map(|_| DVec3::from(vertex(&mut dice))).collect();
        let num_triangles = 1 + dice.roll(12);
        let triangles: Vec<[u32; 3]> =
            (0..num_triangles).map(|_| [0; 3].map(|_| dice.roll(num_vertices) as u32)).collect();
        let corner_uvs = vec![[DVec2::ZERO, DVec2::X, DVec2::Y]; if dice.roll(2) == 0 { num_triangles } else { 0 }];
        let mesh = TriMesh { positions, triangles, corner_uvs };
        if let Ok((solid, _)) = repair(mesh.clone()) {
            assert_closed_manifold(&solid);
            assert!(solid.volume() > 0.0, "seed {seed}: volume {}", solid.volume());
            num_solid += 1;
        }
        if let Ok((sheet, report)) = repair_with(mesh, Closure::Optional) {
            assert!(Connectivity::new(&sheet.triangles).is_ok(), "seed {seed}: {report}");
            num_sheets += 1;
        }
    }
    assert!(num_solid > 8 && num_sheets > 2000, "{num_solid} solids and {num_sheets} sheets: the dice miss the point");
}

/// Texture coordinates that are a function of the place, so that every later corner can be checked.
fn textured(mut mesh: TriMesh) -> TriMesh {
    mesh.corner_uvs = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(texture_at)).collect();
    mesh
}

fn texture_at(p: DVec3) -> DVec2 {
    DVec2::new(10.0 * p.x - 4.0 * p.z, 7.0 * p.y + 3.0 * p.z)
}

#[test]
fn texture_coordinates_follow_every_step() {
    let junction = moved(shapes::t_junction(), [0.05, 0.0, 0.0]);
    let inner = reversed(moved(scaled(cube(), 0.5), [0.0525, 0.0025, 0.0025]));
    let mut mesh = textured(joined(&[reversed(sphere(16, 0.02)), junction, inner]));
    mesh = loose(&mesh);
    for t in [11, 40, 41] {
        mesh.triangles.swap(t, 200 + t);
        mesh.corner_uvs.swap(t, 200 + t);
        mesh.triangles[t].swap(0, 2);
        mesh.corner_uvs[t].swap(0, 2);
    }
    mesh.triangles.drain(300..304);
    mesh.corner_uvs.drain(300..304);
    let (repaired, report) = repair(mesh).unwrap_or_else(|defect| panic!("{defect}"));
    assert!(report.flipped_triangles == 3 && report.filled_holes.len() == 2 && report.flipped_slivers == 1, "{report}");
    assert_closed_manifold(&repaired);
    assert_eq!(repaired.corner_uvs.len(), repaired.triangles.len());
    for t in 0..repaired.triangles.len() {
        for (corner, uv) in repaired.corners(t).into_iter().zip(repaired.corner_uvs[t]) {
            let error = uv.distance(texture_at(corner));
            assert!(error < 1e-12, "triangle {t}: texture off by {error:e}");
        }
    }
}

#[test]
fn seams_doubled_by_ply_are_welded_again() {
    let mut mesh = cube();
    mesh.corner_uvs =
        (0..12).map(|t| [DVec2::ZERO, DVec2::X, DVec2::Y].map(|uv| uv + f64::from(t / 2) * 0.125)).collect();
    let read = parse_mesh(&write_ply(&mesh), MeshFormat::Ply, &no_resources).unwrap_or_else(|error| panic!("{error}"));
    assert!(read.positions.len() > 8);
    let (repaired, _) = repair(read).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(repaired.triangles, mesh.triangles);
    assert_eq!(repaired.corner_uvs, mesh.corner_uvs);
    for (found, wanted) in repaired.positions.iter().zip(&mesh.positions) {
        assert!(found.distance(*wanted) < 1e-9, "single precision moves {wanted} to {found}");
    }
}

#[test]
fn written_solid_reads_back_as_it_was_to_single_precision() {
    let mesh = bunny();
    let folder = std::env::temp_dir().join(format!("sessile-geometry-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let path = folder.join("bunny.ply");
    std::fs::write(&path, write_ply(&mesh)).expect("a scratch file");
    let read = read_mesh(&path).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_dir_all(&folder).expect("the scratch folder");
    assert_eq!(read.triangles, mesh.triangles);
    let moved = mesh.positions.iter().zip(&read.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(moved < 1e-8, "moved by up to {moved:e} m");
}

#[test]
fn missing_file_and_unknown_name_are_errors_that_name_it() {
    let missing = read_mesh(Path::new("no/such/mesh.obj")).expect_err("there is none");
    assert!(missing.to_string().starts_with("cannot read mesh \"no/such/mesh.obj\": "), "{missing}");
    let unknown = read_mesh(Path::new("mesh.3ds")).expect_err("not a format");
    let expected = "\"mesh.3ds\" is not a mesh file: expected a file ending in .obj, .ply, .stl, .gltf or .glb";
    assert_eq!(unknown.to_string(), expected);
}
