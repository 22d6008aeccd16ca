//! Small glTF documents, with their buffers in `data:` addresses, files and binary chunks.

use glam::DVec2;

use super::super::no_resources;
use super::*;

/// Four corners of a square (48 bytes), four texture coordinates (32), the indices 0 1 2 3 as bytes
/// (4) and 0 1 2 0 2 3 as shorts (12).
fn square_buffer() -> Vec<u8> {
    let mut bytes = Vec::new();
    for [x, y] in [[0.0_f32, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
        bytes.extend([x, y, 0.0].iter().flat_map(|x| x.to_le_bytes()));
    }
    for [u, v] in [[0.0_f32, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]] {
        bytes.extend([u, v].iter().flat_map(|x| x.to_le_bytes()));
    }
    bytes.extend([0, 1, 2, 3]);
    bytes.extend([0_u16, 1, 2, 0, 2, 3].iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let token = chunk.iter().fold(0_u32, |token, &byte| token << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for k in 0..4 {
            let letter = LETTERS[(token >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

fn document(nodes: &str, primitives: &str, uri: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[{nodes}],"meshes":[{{"primitives":[{primitives}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
                     {{"bufferView":1,"componentType":5126,"count":4,"type":"VEC2"}},
                     {{"bufferView":2,"componentType":5121,"count":4,"type":"SCALAR"}},
                     {{"bufferView":2,"byteOffset":4,"componentType":5123,"count":6,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":32}},
                       {{"buffer":0,"byteOffset":80,"byteLength":16}}],
        "buffers":[{{"byteLength":96{uri}}}]}}"#
    )
}

const LIST: &str = r#"{"attributes":{"POSITION":0,"TEXCOORD_0":1},"indices":3}"#;

fn data_uri() -> String {
    format!(r#","uri":"data:application/octet-stream;base64,{}""#, base64(&square_buffer()))
}

fn read(document: &str) -> TriMesh {
    parse(document.as_bytes(), &no_resources).unwrap_or_else(|error| panic!("{}: {}", error.location, error.problem))
}

fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, chunk) in [(b"JSON", json.as_bytes()), (b"BIN\0", binary)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

#[test]
fn data_address_file_and_binary_chunk_give_the_same_mesh() {
    let mesh = read(&document(r#"{"mesh":0}"#, LIST, &data_uri()));
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.corner_uvs[0], [DVec2::ZERO, DVec2::X, DVec2::ONE], "v points up");

    let beside = document(r#"{"mesh":0}"#, LIST, r#","uri":"the%20square.bin""#);
    let fetch = |path: &str| if path == "the square.bin" { Ok(square_buffer()) } else { no_resources(path) };
    let from_file = parse(beside.as_bytes(), &fetch).unwrap_or_else(|error| panic!("{}", error.problem));
    assert_eq!(from_file, mesh);

    let chunk = glb(&document(r#"{"mesh":0}"#, LIST, ""), &square_buffer());
    let from_chunk = parse(&chunk, &no_resources).unwrap_or_else(|error| panic!("{}", error.problem));
    assert_eq!(from_chunk, mesh);
    for length in 0..chunk.len() {
        assert!(parse(&chunk[..length], &no_resources).is_err(), "read {length} of {} bytes", chunk.len());
    }
}

#[test]
fn lists_strips_and_fans_are_merged_and_share_vertices() {
    let strip = r#"{"attributes":{"POSITION":0},"indices":2,"mode":5}"#;
    let fan = r#"{"attributes":{"POSITION":0},"mode":6}"#;
    let lines = r#"{"attributes":{"POSITION":0},"mode":1}"#;
    let mesh = read(&document(r#"{"mesh":0}"#, &[strip, fan, lines, LIST].join(","), &data_uri()));
    assert_eq!(mesh.triangles, [[0, 1, 2], [1, 3, 2], [1, 2, 0], [2, 3, 0], [0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.positions.len(), 4);
    assert_eq!(mesh.corner_uvs.len(), 6);
    assert_eq!(mesh.corner_uvs[3], [DVec2::ZERO; 3]);
}

#[test]
fn nodes_move_turn_scale_and_mirror() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let nodes = format!(
        r#"{{"children":[1],"translation":[0,0,5]}},{{"mesh":0,"rotation":[0,0,{half},{half}],"scale":[-2,1,1]}},{{"mesh":0}}"#
    );
    let mesh = read(&document(&nodes, LIST, &data_uri()));
    // Mirrored and doubled in x, turned by a quarter about z (x becomes y), then lifted; node 2 is
    // not in the scene.
    assert!((mesh.positions[1] - DVec3::new(0.0, -2.0, 5.0)).length() < 1e-12, "{}", mesh.positions[1]);
    assert_eq!(mesh.triangles, [[0, 2, 1], [0, 3, 2]], "a mirror turns the winding round");
    assert_eq!(mesh.corner_uvs[0][1], DVec2::ONE);
    let normal = (mesh.corners(0)[1] - mesh.corners(0)[0]).cross(mesh.corners(0)[2] - mesh.corners(0)[0]);
    assert!(normal.z > 0.0, "the mirrored square looks along {normal}");

    let matrix = r#"{"mesh":0,"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,7,8,9,1]}"#;
    assert_eq!(read(&document(matrix, LIST, &data_uri())).positions[2], DVec3::new(8.0, 9.0, 9.0));
}

#[test]
fn wrong_documents_are_rejected_with_their_entry() {
    let data = data_uri();
    let good = document(r#"{"mesh":0}"#, LIST, &data);
    let cases = [
        (
            document(r#"{"mesh":0,"children":[0]}"#, LIST, &data),
            "nodes[0]: expected each node at most once in the scene, found a second parent or a cycle",
        ),
        (document(r#"{"mesh":3}"#, LIST, &data), "nodes[0].mesh: expected a mesh index from 0 to 0, found 3"),
        (
            good.replace(r#""count":4,"type":"VEC3""#, r#""count":99999999999,"type":"VEC3""#),
            "accessors[0]: 99999999999 elements of the accessor needs 1199999999988 bytes, but only 48 are left: the file is truncated or its counts are wrong",
        ),
        (
            good.replace(r#""byteLength":96"#, r#""byteLength":1e3"#),
            "line 8: expected a glTF document in JSON, found invalid type: floating point `1000.0`, expected usize",
        ),
        (
            good.replace(r#""byteLength":96"#, r#""byteLength":97"#),
            "buffers[0]: the buffer needs 97 bytes, but only 96 are left: the file is truncated or its counts are wrong",
        ),
        (
            good.replace(r#"{"buffer":0,"byteLength":48}"#, r#"{"buffer":0,"byteLength":48,"byteStride":8}"#),
            "bufferViews[0]: expected a stride of at least 12 bytes, found 8",
        ),
        (
            good.replace(r#""scenes""#, r#""extensionsRequired":["KHR_draco_mesh_compression"],"scenes""#),
            "extensionsRequired: the extension KHR_draco_mesh_compression is not supported: export the mesh without compression or instancing",
        ),
        (
            document(r#"{"mesh":0}"#, LIST, r#","uri":"http://example.com/a.bin""#),
            "buffers[0]: cannot read the buffer \"http://example.com/a.bin\": only files beside the mesh and data: URIs are read",
        ),
        (
            document(r#"{"mesh":0}"#, r#"{"attributes":{"POSITION":0},"indices":2}"#, &data),
            "nodes[0].mesh.primitives[0]: expected a number of corners divisible by 3, found 4",
        ),
        (
            document(r#"{"mesh":0}"#, r#"{"attributes":{"POSITION":9}}"#, &data),
            "a primitive: expected an accessor index from 0 to 3, found 9",
        ),
    ];
    for (document, expected) in cases {
        match parse(document.as_bytes(), &no_resources) {
            Ok(_) => panic!("read without complaint: {document}"),
            Err(error) => assert_eq!(format!("{}: {}", error.location, error.problem), expected),
        }
    }
}
