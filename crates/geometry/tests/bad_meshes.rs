//! Malformed mesh files and defective meshes, with the exact error or repair report of each.

use crate::shapes;
use sessile_geometry::TriMesh;
use sessile_geometry::files::{MeshFormat, no_resources, parse_mesh};
use sessile_geometry::repair::repair;

use crate::shapes::{CUBE, cube, joined, moved, reversed, scaled};

/// What becomes of a file: the reader's complaint, the repairer's complaint, or the report.
fn verdict(format: MeshFormat, bytes: &[u8]) -> String {
    match parse_mesh(bytes, format, &no_resources) {
        Ok(mesh) => repaired(mesh),
        Err(error) => format!("not read: {error}"),
    }
}

fn repaired(mesh: TriMesh) -> String {
    match repair(mesh) {
        Ok((_, report)) => format!("repaired: {report}"),
        Err(defect) => format!("rejected: {defect}"),
    }
}

fn from_obj(text: &str) -> TriMesh {
    parse_mesh(text.as_bytes(), MeshFormat::Obj, &no_resources).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[track_caller]
fn expect_obj(text: &str, expected: &str) {
    assert_eq!(verdict(MeshFormat::Obj, text.as_bytes()), expected);
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

const PLY_HEADER: &str = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face \
                          1\nproperty list uchar int vertex_indices\nend_header\n";

fn binary_ply() -> Vec<u8> {
    let mut bytes = PLY_HEADER.replace("ascii", "binary_little_endian").into_bytes();
    bytes.extend([0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()));
    bytes.push(3);
    bytes.extend([0_i32, 1, 2].iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([0.0_f32; 3].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend([0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend([0; 2]);
    bytes
}

#[test]
fn empty_files_are_rejected_in_every_format() {
    let cases = [
        (MeshFormat::Obj, "not read: expected at least one triangle, found none (0 vertices)"),
        (MeshFormat::Ply, "not read: line 1: expected `ply`, with which every PLY file begins, found nothing"),
        (
            MeshFormat::Stl,
            "not read: byte 0: expected an STL file: `solid`, or a binary header of 84 bytes, found 0 bytes",
        ),
        (MeshFormat::Gltf, "not read: line 1: expected a glTF document in JSON, found nothing"),
    ];
    for (format, expected) in cases {
        assert_eq!(verdict(format, b""), expected);
    }
}

#[test]
fn obj_vertices_without_faces_are_rejected() {
    expect_obj(TRIANGLE, "not read: expected at least one triangle, found none (3 vertices)");
}

#[test]
fn obj_index_out_of_range_is_rejected_with_its_line() {
    expect_obj(&format!("{TRIANGLE}f 1 2 4\n"), "not read: line 4: expected a vertex index from 1 to 3, found 4");
    expect_obj(
        &format!("{TRIANGLE}f 1/1 2/1 3/1\n"),
        "not read: line 4: found texture index 1, but there is no texture",
    );
}

#[test]
fn obj_negative_index_that_reaches_too_far_is_rejected() {
    let expected =
        "not read: line 4: expected a vertex index that refers back to an earlier vertex, found -4 with 3 before it";
    expect_obj(&format!("{TRIANGLE}f -4 -2 -1\n"), expected);
    let lowest = format!("{TRIANGLE}f {} -2 -1\n", i64::MIN);
    expect_obj(&lowest, &expected.replace("found -4", &format!("found {}", i64::MIN)));
}

#[test]
fn obj_index_zero_is_rejected() {
    let expected = "not read: line 4: expected a vertex index counted from 1 (or back from -1), found 0";
    expect_obj(&format!("{TRIANGLE}f 0 1 2\n"), expected);
}

#[test]
fn obj_face_of_two_corners_is_rejected() {
    expect_obj(&format!("{TRIANGLE}\nf 1 2\n"), "not read: line 5: expected a face of at least 3 corners, found 2");
}

#[test]
fn obj_corner_that_is_not_an_index_is_rejected() {
    let expected = "not read: line 4: expected a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn`, found `2.5`";
    expect_obj(&format!("{TRIANGLE}f 1 2.5 3\n"), expected);
    let expected = "not read: line 4: expected a face corner `v`, `v/vt`, `v//vn` or `v/vt/vn`, found `1/2/3/4`";
    expect_obj(&format!("{TRIANGLE}f 1/2/3/4 2 3\n"), expected);
}

#[test]
fn obj_coordinates_that_are_not_finite_numbers_are_rejected() {
    expect_obj("v 0 0 0\nv 1 nan 0\n", "not read: line 2: expected a finite vertex y, found NaN");
    expect_obj("v 0 0 -1e999\n", "not read: line 1: expected a finite vertex z, found -inf");
    expect_obj("v 0 0 0\nv 1 zero 0\n", "not read: line 2: expected a number for the vertex y, found `zero`");
    expect_obj("v 0 0 0\nv 1 0\n", "not read: line 2: expected a number for the vertex z, found the end");
    expect_obj("vt inf 0\n", "not read: line 1: expected a finite texture u, found inf");
}

#[test]
fn truncated_ply_is_rejected_in_every_section() {
    let text = format!("{PLY_HEADER}0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    let cases = [
        ("ply\nformat ascii 1.0\n", "not read: line 3: expected `end_header`, found the end of the file"),
        (
            PLY_HEADER,
            "not read: line 10: the list of 3 `vertex` rows needs 18 bytes, but only 0 are left: the file is truncated or its counts are wrong",
        ),
        (
            &format!("{PLY_HEADER}0 0 0\n1 0 0\n0 10"),
            "not read: line 10: the list of 3 `vertex` rows needs 18 bytes, but only 16 are left: the file is truncated or its counts are wrong",
        ),
        (
            &format!("{PLY_HEADER}0 0 0\n1 0 0\n0 10000\n"),
            "not read: line 13: expected a number for the vertex z, found the end of the file",
        ),
        (
            &text[..text.len() - 8],
            "not read: line 13: expected a number for the length of the face's vertex list, found the end of the file",
        ),
        (
            &text[..text.len() - 4],
            "not read: line 13: the face's vertex list, 3 numbers, needs 6 bytes, but only 3 are left: the file is truncated or its counts are wrong",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(verdict(MeshFormat::Ply, text.as_bytes()), expected, "of {text:?}");
    }
    let binary = binary_ply();
    let header = binary.len() - 13 - 36;
    let cases = [
        (header + 35, format!("byte {header}: the list of 3 `vertex` rows needs 36 bytes, but only 35 are left")),
        (header + 36, format!("byte {}: the list of 1 `face` rows needs 1 bytes, but only 0 are left", header + 36)),
        (
            header + 48,
            format!("byte {}: the face's vertex list, 3 numbers, needs 12 bytes, but only 11 are left", header + 37),
        ),
    ];
    for (length, expected) in cases {
        let expected = format!("not read: {expected}: the file is truncated or its counts are wrong");
        assert_eq!(verdict(MeshFormat::Ply, &binary[..length]), expected);
    }
}

#[test]
fn ply_with_too_large_counts_is_rejected_before_memory_is_allocated() {
    let cases = [
        (
            PLY_HEADER.replace("face 1", "face 99999999999999"),
            "not read: line 12: the list of 99999999999999 `face` rows needs 199999999999998 bytes, but only 1 are left: the file is truncated or its counts are wrong",
        ),
        (
            PLY_HEADER.replace("vertex 3", "vertex 99999999999999"),
            "not read: line 3: expected at most 67108864 vertices, found more",
        ),
        (
            PLY_HEADER.replace("vertex 3", "vertex -3"),
            "not read: line 3: expected how many `vertex` follow, found `-3`",
        ),
    ];
    for (header, expected) in cases {
        assert_eq!(verdict(MeshFormat::Ply, format!("{header}0 0 0\n1 0 0\n0 1 0\n").as_bytes()), expected);
    }
}

#[test]
fn invalid_ply_values_are_rejected() {
    let cases = [
        ("0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", "not read: line 11: expected a finite vertex y, found NaN"),
        ("0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "not read: line 13: expected a vertex index from 0 to 2, found 3"),
        ("0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "not read: line 13: expected a vertex index from 0 to 2, found -1"),
        (
            "0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n",
            "not read: line 13: expected a whole number for the vertex index, found 1.5",
        ),
        ("0 0 0\n1 0 0\n0 1 0\n2 0 1 2\n", "not read: line 13: expected a face of at least 3 corners, found 2"),
        (
            "0 0 0\n1 0 0\n0 1 0\n-3 0 1 2\n",
            "not read: line 13: expected a length of the face's vertex list that is not negative, found -3",
        ),
    ];
    for (rows, expected) in cases {
        assert_eq!(verdict(MeshFormat::Ply, format!("{PLY_HEADER}{rows}").as_bytes()), expected);
    }
    let mut nan = binary_ply();
    let at = nan.len() - 13 - 36 + 16;
    nan[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(verdict(MeshFormat::Ply, &nan), format!("not read: byte {at}: expected a finite vertex y, found NaN"));
}

#[test]
fn invalid_ply_headers_are_rejected() {
    let cases = [
        (
            PLY_HEADER.replace("float y", "flaot y"),
            "not read: line 5: expected a number type such as `float` or `uchar`, found `flaot`",
        ),
        (
            PLY_HEADER.replace("float y", "float w"),
            "not read: line 3: expected a number property `y` of `vertex`, found none",
        ),
        (
            PLY_HEADER.replace("format ascii 1.0", "comment"),
            "not read: line 9: expected a `format` line in the header, found `end_header` without one",
        ),
        (
            PLY_HEADER.replace("ascii", "middle_endian"),
            "not read: line 2: expected `ascii`, `binary_little_endian` or `binary_big_endian`, found `middle_endian`",
        ),
        (
            PLY_HEADER.replace("vertex_indices", "corners"),
            "not read: line 7: expected a list property `vertex_indices` of `face`, found none",
        ),
        (
            PLY_HEADER.replace("element vertex 3\n", ""),
            "not read: line 3: expected an `element` before its properties, found `property`",
        ),
        (
            PLY_HEADER.replace("element vertex 3", "element point 3"),
            "not read: expected an element `vertex` in the header, found none",
        ),
    ];
    for (header, expected) in cases {
        assert_eq!(verdict(MeshFormat::Ply, format!("{header}0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").as_bytes()), expected);
    }
}

#[test]
fn truncated_or_malformed_stl_is_rejected() {
    let binary = binary_stl();
    let cut = |length: usize| verdict(MeshFormat::Stl, &binary[..length]);
    assert_eq!(
        cut(40),
        "not read: byte 0: expected an STL file: `solid`, or a binary header of 84 bytes, found 40 bytes"
    );
    assert_eq!(
        cut(133),
        "not read: byte 84: the list of 1 triangles needs 50 bytes, but only 49 are left: the file is truncated or its counts are wrong"
    );
    let mut lying = binary.clone();
    lying[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        verdict(MeshFormat::Stl, &lying),
        "not read: byte 84: the list of 4294967295 triangles needs 214748364750 bytes, but only 50 are left: the file is truncated or its counts are wrong"
    );
    let mut nan = binary;
    nan[104..108].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(verdict(MeshFormat::Stl, &nan), "not read: byte 104: expected a finite vertex z, found inf");

    let text = "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
    let cases = [
        (&text[..60], "not read: line 5: expected a number for the vertex z, found the end"),
        (&text[..text.len() - 9], "not read: line 9: expected `facet` or `endsolid`, found the end of the file"),
        (&text.replace("outer", "inner"), "not read: line 3: expected `outer`, found `inner`"),
        (&text.replace("vertex 0 1 0\n", ""), "not read: line 6: expected `vertex`, found `endloop`"),
        (&text.replace("0 1 0", "0 nan 0"), "not read: line 6: expected a finite vertex y, found NaN"),
        (
            &text.replace("facet normal 0 0 1\nouter loop", "endsolid"),
            "not read: line 3: expected `solid`, found `vertex`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(verdict(MeshFormat::Stl, text.as_bytes()), expected, "of {text:?}");
    }
}

#[test]
fn invalid_indices_and_coordinates_are_rejected() {
    assert_eq!(repaired(TriMesh::default()), "rejected: the mesh has no triangles (0 vertices)");
    let mut mesh = cube();
    mesh.triangles[3][1] = 8;
    assert_eq!(repaired(mesh), "rejected: triangle 3 has vertex 8: expected less than 8");
    let mut mesh = cube();
    mesh.positions[2].y = f64::NAN;
    assert_eq!(repaired(mesh), "rejected: vertex 2 is at (0.01, NaN, 0): expected coordinates of at most 1e12 m");
    let mut mesh = cube();
    mesh.corner_uvs = vec![Default::default(); 5];
    assert_eq!(repaired(mesh), "rejected: 5 triangles have texture coordinates: expected all 12, or none");
}

#[test]
fn closed_cube_needs_no_repair() {
    assert_eq!(repaired(cube()), "repaired: nothing to repair");
}

#[test]
fn meshes_of_degenerate_triangles_are_rejected() {
    expect_obj(
        &format!("{TRIANGLE}f 1 1 2\nf 2 3 2\n"),
        "rejected: the mesh has no triangle with an area: all 2 collapse when coincident vertices are merged",
    );
    expect_obj(
        "v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n",
        "rejected: the mesh has no triangle with an area: all 1 collapse when coincident vertices are merged",
    );
}

#[test]
fn inverted_cube_is_oriented_outwards() {
    let mesh = reversed(cube());
    assert!(mesh.volume() < 0.0);
    let (repaired, report) = repair(mesh).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "oriented 1 component outwards");
    assert!((repaired.volume() - 1e-6).abs() < 1e-18, "volume {}", repaired.volume());
}

#[test]
fn flipped_faces_of_a_cube_are_made_consistent() {
    let mut mesh = cube();
    for t in [2, 3, 7] {
        mesh.triangles[t].swap(1, 2);
    }
    assert_eq!(repaired(mesh), "repaired: flipped 3 triangles to match their neighbors");
}

#[test]
fn cube_without_a_face_is_rejected_as_open() {
    let mut mesh = cube();
    mesh.triangles.truncate(10);
    assert_eq!(
        repaired(mesh),
        "rejected: the mesh is open: 1 hole too large to fill, the longest of 4 edges near (5, 5, 10) mm (limits: 64 edges, 5 % of \
         the area); close it in a modeling program"
    );
}

#[test]
fn single_triangle_is_rejected_as_open() {
    expect_obj(
        &format!("{TRIANGLE}f 1 2 3\n"),
        "rejected: the mesh is open: 1 hole too large to fill, the longest of 3 edges near (333.333, 333.333, 0) mm (limits: 64 edges, \
         5 % of the area); close it in a modeling program",
    );
}

#[test]
fn cube_of_loose_faces_is_welded() {
    let loose = shapes::loose(&cube());
    assert_eq!(loose.positions.len(), 36);
    assert_eq!(repaired(loose), "repaired: welded 28 vertices");
}

#[test]
fn mobius_strip_is_rejected_as_not_orientable() {
    expect_obj(
        &shapes::mobius_strip(12),
        "rejected: the mesh is not orientable, like a Möbius strip: no orientation is consistent across the edge from \
         (-1116.98, -644.889, -77.646) mm to (-615.071, -355.111, 77.646) mm",
    );
}

#[test]
fn three_triangles_on_an_edge_are_rejected() {
    expect_obj(
        &format!("{TRIANGLE}v 0 0 1\nv 0 -1 0\nf 1 2 3\nf 1 2 4\nf 1 2 5\n"),
        "rejected: the mesh is not manifold: 1 edge is shared by more than 2 triangles, the first by 3 from (0, 0, 0) mm to (1000, 0, \
         0) mm; delete the inner or dangling faces there",
    );
}

#[test]
fn wall_inside_a_cube_is_rejected() {
    let mut mesh = cube();
    mesh.triangles.push([0, 1, 6]);
    assert_eq!(
        repaired(mesh),
        "rejected: the mesh is not manifold: 2 edges are shared by more than 2 triangles, the first by 3 from (0, 0, 0) mm to (10, 0, \
         0) mm; delete the inner or dangling faces there"
    );
}

#[test]
fn cubes_that_share_an_edge_are_separated() {
    let mesh = joined(&[cube(), moved(cube(), [0.01, 0.01, 0.0])]);
    let (repaired, report) = repair(mesh).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(
        report.to_string(),
        "welded 2 vertices; split 1 edge where surfaces touch; split 2 vertices where surfaces touch"
    );
    assert_eq!(repaired.positions.len(), 16);
    assert!((repaired.volume() - 2e-6).abs() < 1e-18, "volume {}", repaired.volume());
}

#[test]
fn cubes_that_share_a_face_become_one_box() {
    let mut mirrored = reversed(cube());
    mirrored.positions.iter_mut().for_each(|position| position.x = 0.02 - position.x);
    let (repaired, report) = repair(joined(&[cube(), mirrored])).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "welded 4 vertices; removed 4 duplicate triangles");
    assert!((repaired.volume() - 2e-6).abs() < 1e-18, "volume {}", repaired.volume());
    assert!((repaired.area() - 10e-4).abs() < 1e-15, "area {}", repaired.area());
}

#[test]
fn cubes_that_share_a_face_with_different_triangles_stay_separate() {
    let mesh = joined(&[cube(), moved(cube(), [0.01, 0.0, 0.0])]);
    let (repaired, report) = repair(mesh).unwrap_or_else(|defect| panic!("{defect}"));
    let said = "welded 4 vertices; split 4 edges where surfaces touch; split 4 vertices where surfaces touch";
    assert_eq!(report.to_string(), said);
    assert!((repaired.volume() - 2e-6).abs() < 1e-18, "volume {}", repaired.volume());
}

#[test]
fn bow_tie_vertex_is_split() {
    let mesh = joined(&[cube(), moved(cube(), [0.01, 0.01, 0.01])]);
    assert_eq!(repaired(mesh), "repaired: welded 1 vertex; split 1 vertex where surfaces touch");
}

#[test]
fn duplicate_faces_of_any_orientation_are_removed() {
    let mut mesh = cube();
    mesh.triangles.extend([mesh.triangles[4], mesh.triangles[7], mesh.triangles[4]]);
    assert_eq!(repaired(mesh), "repaired: removed 3 duplicate triangles");
    let double_sided = {
        let mut mesh = cube();
        mesh.triangles.extend(CUBE.map(|[a, b, c]| [a, c, b]));
        mesh
    };
    assert_eq!(repaired(double_sided), "repaired: removed 12 duplicate triangles");
}

#[test]
fn needles_are_collapsed_and_slivers_removed() {
    // Corner 1 of the top face is doubled a hundred-millionth of the edge away.
    let mut mesh = cube();
    mesh.positions.push(mesh.positions[6] + glam::DVec3::new(1e-10, 0.0, 0.0));
    mesh.triangles[10] = [4, 5, 8];
    mesh.triangles.push([5, 6, 8]);
    let (repaired, report) = repair(mesh).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "welded 1 vertex; removed 1 degenerate triangle");
    assert_eq!(repaired.triangles.len(), 12);
}

#[test]
fn t_junction_is_closed() {
    let (repaired, report) = repair(shapes::t_junction()).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(
        report.to_string(),
        "filled 1 hole of 3 edges near (5, 5, 10) mm; removed 1 sliver by flipping its longest edge"
    );
    assert_eq!(repaired.triangles.len(), 14);
    assert!((repaired.volume() - 1e-6).abs() < 1e-18, "volume {}", repaired.volume());
}

#[test]
fn cavity_is_kept_and_buried_part_removed() {
    let small = || moved(scaled(cube(), 0.5), [0.0025; 3]);
    let hollow = joined(&[cube(), reversed(small())]);
    let (hollow, report) = repair(hollow).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "nothing to repair");
    assert!((hollow.volume() - 0.875e-6).abs() < 1e-18, "volume {}", hollow.volume());

    let (same, report) = repair(reversed(hollow.clone())).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "oriented 2 components outwards");
    assert_eq!(same.volume(), hollow.volume());

    let buried = joined(&[small(), cube()]);
    let (solid, report) = repair(buried).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "removed 1 component inside the solid");
    assert!((solid.volume() - 1e-6).abs() < 1e-18, "volume {}", solid.volume());
    assert_eq!(solid.positions.len(), 8);
}

#[test]
fn island_in_a_cavity_is_oriented_outwards() {
    let shell = |size: f64| moved(scaled(cube(), size), [0.005 * (1.0 - size); 3]);
    let mesh = joined(&[reversed(shell(0.25)), cube(), reversed(shell(0.5))]);
    let (mesh, report) = repair(mesh).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "oriented 1 component outwards");
    let expected = 1e-6 * (1.0 - 0.125 + 0.015625);
    assert!((mesh.volume() - expected).abs() < 1e-18, "volume {}, expected {expected}", mesh.volume());
}

#[test]
fn intersecting_cubes_are_rejected_even_if_edges_meet_edges() {
    let mesh = joined(&[cube(), moved(cube(), [0.005, 0.005, 0.005])]);
    assert_eq!(
        repaired(mesh),
        "rejected: the mesh intersects itself: 18 pairs of triangles intersect, the first near (10, 10, 5) mm; unite the parts in a modeling \
         program"
    );
    let slightly = joined(&[cube(), moved(cube(), [0.0099, 0.0013, 0.0021])]);
    assert!(repaired(slightly).starts_with("rejected: the mesh intersects itself"));
    let apart = joined(&[cube(), moved(cube(), [0.0101, 0.0013, 0.0021])]);
    assert_eq!(repaired(apart), "repaired: nothing to repair");
}

#[test]
fn spike_through_its_own_cube_is_rejected() {
    let mut mesh = cube();
    mesh.positions[6] = glam::DVec3::new(0.004, 0.003, -0.02);
    assert_eq!(
        repaired(mesh),
        "rejected: the mesh intersects itself: 5 pairs of triangles intersect, the first near (8, 1, 0) mm; unite the parts in a modeling \
         program"
    );
}

#[test]
fn flat_pocket_is_rejected() {
    expect_obj(
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 2 1 4\nf 2 4 3\n",
        "rejected: the mesh encloses no volume: 1 component is flat",
    );
}

#[test]
fn unused_vertices_are_removed() {
    let mut mesh = cube();
    mesh.positions.insert(0, glam::DVec3::splat(1e6));
    for triangle in &mut mesh.triangles {
        *triangle = triangle.map(|v| v + 1);
    }
    let (repaired, report) = repair(mesh).unwrap_or_else(|defect| panic!("{defect}"));
    assert_eq!(report.to_string(), "removed 1 unused vertex");
    assert_eq!(repaired, cube());
}

#[test]
fn report_lists_all_repairs_in_order() {
    let mut mesh = shapes::loose(&shapes::sphere(24, 0.01));
    mesh.triangles.remove(300);
    mesh.triangles[77].swap(1, 2);
    let mut turned = reversed(from_obj(&shapes::tetrahedron()));
    turned = moved(scaled(turned, 0.01), [0.05, 0.0, 0.0]);
    let report = repaired(joined(&[mesh, turned]));
    assert_eq!(
        report,
        "repaired: welded 5515 vertices; flipped 1 triangle to match its neighbors; filled 1 hole of 3 edges near (-3.095, \
         -3.403, 8.853) mm; oriented 1 component outwards; removed 3 unused vertices"
    );
}
