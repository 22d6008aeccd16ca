//! Small models given as text, and malformed files.

mod appearance;

use std::fs;

use super::*;

const LAYER: &str = r#"#usda 1.0
(
    doc = "with a (bracket) in it"
    endTimeCode = 48
    startTimeCode = 1
    timeCodesPerSecond = 24
    metersPerUnit = 0.01
    upAxis = "Z"
)

def Xform "World"
{
    def Xform "Table" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )
    {
        double3 xformOp:translate = (0, 0, 10)
        float3 xformOp:rotateXYZ = (0, 0, 90)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]

        def Mesh "Cube"
        {
            uniform bool doubleSided = 1
            int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
            int[] faceVertexIndices = [0, 4, 6, 2, 3, 2, 6, 7, 7, 6, 4, 5, 5, 1, 3, 7, 1, 0, 2, 3, 5, 4, 0, 1]
            rel material:binding = </World/Looks/Oak>
            point3f[] points.timeSamples = {
                1: [(1, 2, 3), (1, 2, -3), (1, -2, 3), (1, -2, -3), (-1, 2, 3), (-1, 2, -3), (-1, -2, 3), (-1, -2, -3)],
                2: [],
            }
        }
    }
    def Scope "Looks"
    {
        def Material "Oak"
        {
            token outputs:surface.connect = </World/Looks/Oak/Preview.outputs:surface>
            def Shader "Preview"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = (0.5, 0.25, 1)
                float inputs:metallic = 1
                float inputs:roughness = 0.3
                token outputs:surface
            }
        }
    }
    def Camera "Camera"
    {
        float focalLength = 50
        float verticalAperture = 25
        double3 xformOp:translate = (0, 0, 100)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"#;

const NO_SCHEME: &str =
    "no subdivisionScheme is stated for Box: taken as polygons, though USD's default is catmullClark";

fn imported(name: &str, bytes: &[u8]) -> Result<(Imported, String), ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    let done = import_model(&file, &folder.path().join("scene.toml"), false)?;
    let text = fs::read_to_string(&done.scene).unwrap();
    sessile_scene::parse_file(&done.scene, &[]).unwrap_or_else(|error| panic!("{error}"));
    Ok((done, text))
}

/// The box is 2 × 4 × 6 cm with z up, rotated by 90° about the vertical, its center 10 cm high:
/// with y up it is 4 cm wide, 6 cm high and 2 cm deep.
#[test]
fn units_axes_material_camera_and_frames_of_a_text_layer_are_imported() {
    let layer = usd::UsdLayer::parse(LAYER.as_bytes()).unwrap();
    assert_eq!(layer.prims[0].children.len(), 3);
    let (done, text) = imported("table.usda", LAYER.as_bytes()).unwrap();
    assert_eq!(done.solids, 1, "{text}");
    for line in [
        "name = \"Table\"",
        "[materials.\"Oak\"]",
        "look = \"metal\"",
        "color = [0.7354, 0.5371, 1]",
        "roughness_look = 0.3",
        "metallic = 1",
        "frames = 47\nfps = 24 ",
        "position = \"0 1000 0 mm\"",
        "fov = \"28.07249 deg\"",
        "40 mm wide, 60 mm high, 20 mm deep",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    let model = usd::read(Path::new("table.usda"), LAYER.as_bytes()).unwrap();
    let [low, high] = model.bounds();
    assert!((low - glam::DVec3::new(-0.02, 0.07, -0.01)).length() < 1e-12, "{low}");
    assert!((high - glam::DVec3::new(0.02, 0.13, 0.01)).length() < 1e-12, "{high}");
    assert!(model.parts[0].mesh.volume() > 0.0, "normals must point outwards");
    let camera = model.camera.unwrap();
    assert!((camera.look_at - camera.eye).normalize().distance(glam::DVec3::NEG_Y) < 1e-12, "{camera:?}");
}

/// A cube of 2 cm, 10 cm from the origin, turns about the vertical through its center and then
/// moves sideways, in a shot that starts at frame 1001.
const MOVING: &str = r#"#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Y"
    startTimeCode = 1001
    endTimeCode = 1013
    timeCodesPerSecond = 24
)
def Xform "Cart"
{
    double3 xformOp:translate.timeSamples = { 1001: (10, 1, 0), 1007: (10, 1, 0), 1013: (16, 1, 0), }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Xform "Box"
    {
        float xformOp:rotateY.timeSamples = { 1001: 0, 1007: 120, }
        uniform token[] xformOpOrder = ["xformOp:rotateY"]
        def Mesh "Mesh"
        {
            int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
            int[] faceVertexIndices = [0, 4, 6, 2, 3, 2, 6, 7, 7, 6, 4, 5, 5, 1, 3, 7, 1, 0, 2, 3, 5, 4, 0, 1]
            point3f[] points = [(1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1), (-1, 1, 1), (-1, 1, -1), (-1, -1, 1), (-1, -1, -1)]
        }
    }
}
"#;

#[test]
fn rigid_motion_of_a_layer_becomes_keys_about_the_objects_origin() {
    let (done, text) = imported("cart.usda", MOVING.as_bytes()).unwrap();
    assert_eq!(done.notices, [NO_SCHEME]);
    for line in [
        "start_frame = 1001",
        "move = \"100 10 0 mm\"",
        "{ at = \"0 ms\", move = \"0 0 0 mm\", rotate = \"0 0 0 deg\" }",
        "{ at = \"500 ms\", move = \"60 0 0 mm\"",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    // At the middle the cube has turned by 120 degrees in place.
    let scene = sessile_scene::parse_str("s.toml", &text, &[], &sessile_scene::NoFiles).unwrap().scene;
    let key = scene.solids[0].motion.iter().find(|key| (key.at - 0.25).abs() < 1e-6).unwrap();
    let turned = glam::DQuat::from_euler(glam::EulerRot::ZYX, key.rotate.z, key.rotate.y, key.rotate.x);
    let expected = glam::DQuat::from_rotation_y(120_f64.to_radians());
    assert!(turned.angle_between(expected) < 1e-6 && key.shift.length() < 1e-9, "{key:?}");
    let [low, high] = done.boxes[0].1;
    assert!((low[0] - 0.09).abs() < 1e-9 && (high[0] - 0.11).abs() < 1e-9, "{low:?} {high:?}");
}

/// A strip whose end rises by 1 cm in 12 frames, in a transform that moves by 6 cm.
#[test]
fn points_with_samples_become_a_deforming_solid() {
    let bending = MOVING
        .replace("int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]", "int[] faceVertexCounts = [4]")
        .replace("[0, 4, 6, 2, 3, 2, 6, 7, 7, 6, 4, 5, 5, 1, 3, 7, 1, 0, 2, 3, 5, 4, 0, 1]", "[0, 1, 2, 3]");
    let start = bending.find("point3f[] points").unwrap();
    let end = start + bending[start..].find('\n').unwrap();
    let points = "point3f[] points.timeSamples = { 1001: [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0)], \
        1013: [(0, 0, 0), (0, 0, 1), (1, 1, 1), (1, 1, 0)] }";
    let bending = format!("{}{points}{}", &bending[..start], &bending[end..]);
    let folder = tempfile::tempdir().unwrap();
    let (file, scene) = (folder.path().join("bend.usda"), folder.path().join("bend.toml"));
    fs::write(&file, bending.replace("rotateY.timeSamples = { 1001: 0, 1007: 120, }", "rotateY = 0")).unwrap();
    let done = import_model(&file, &scene, false).unwrap();
    assert_eq!(done.notices, [NO_SCHEME]);
    let text = fs::read_to_string(&scene).unwrap();
    assert!(text.contains("{ at = \"500 ms\", file = \"bend.toml.files/Box.deform.00012.ply\" }"), "{text}");
    let read =
        |name: &str| sessile_geometry::files::read_mesh(&folder.path().join("bend.toml.files").join(name)).unwrap();
    let [first, middle, last] = ["Box.ply", "Box.deform.00006.ply", "Box.deform.00012.ply"].map(read);
    assert_eq!(first.triangles, last.triangles);
    // Corner 2 of the quad: 1 cm along x and z, in meters; the cart moves in the second half.
    let corner = |mesh: &TriMesh| mesh.positions[2];
    let near = |p: glam::DVec3, x: f64, y: f64| (p - glam::DVec3::new(x, y, 0.01)).length() < 1e-7;
    assert!(near(corner(&first), 0.11, 0.01) && near(corner(&middle), 0.11, 0.015) && near(corner(&last), 0.17, 0.02));
}

#[test]
fn what_moves_and_cannot_be_imported_is_reported() {
    let growing = MOVING.replace(
        "rotateY.timeSamples = { 1001: 0, 1007: 120, }",
        "scale.timeSamples = { 1001: (1, 1, 1), 1007: (2, 2, 2), }",
    );
    let growing = growing
        .replace("float xformOp:scale", "float3 xformOp:scale")
        .replace("[\"xformOp:rotateY\"]", "[\"xformOp:scale\"]");
    let (done, text) = imported("grow.usda", growing.as_bytes()).unwrap();
    // A body that grows is a deforming one: 13 frames.
    assert!(done.notices == [NO_SCHEME] && !text.contains("motion = ["), "{:?}\n{text}", done.notices);
    assert_eq!(text.matches("Box.deform.").count(), 13, "{text}");
    let (done, _) = imported("table.usda", LAYER.as_bytes()).unwrap();
    assert!(
        done.notices.iter().any(|line| line.contains("Table changes its number of points over time")),
        "{:?}",
        done.notices
    );
}

#[test]
fn skeletons_of_a_layer_are_reported() {
    let skinned = MOVING.replace("point3f[] points", "uniform token[] skel:blendShapes = [\"Up\"]\npoint3f[] points");
    let (done, _) = imported("skin.usda", skinned.as_bytes()).unwrap();
    assert!(done.notices.iter().any(|line| line.starts_with("Box is deformed by a skeleton")), "{:?}", done.notices);
}

#[test]
fn objects_of_an_obj_file_become_solids() {
    let text = "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl red\nf 1 3 2\nf 1 2 4\no b\nv 5 0 0\nf 5 1 2\no a\nusemtl blue\nf 1 4 3\nf 2 3 4\n";
    let (done, scene) = imported("two.obj", text.as_bytes()).unwrap();
    assert_eq!(done.solids, 2, "{scene}");
    assert!(done.notices.iter().any(|notice| notice.contains("several materials")), "{:?}", done.notices);
    assert!(scene.contains("[materials.\"blue\"]"), "the larger part's material:\n{scene}");
    let error = imported("bad.obj", b"v 0 0 0\nf 1 2 3\n").unwrap_err().to_string();
    assert!(error.ends_with("bad.obj:2: expected a vertex index from 1 to 1, found 2"), "{error}");
}

/// A model without a camera is seen from the front right and above, on a ground, in three lights;
/// one with a ground of its own gets none.
#[test]
fn a_model_without_camera_and_ground_is_staged() {
    let block =
        "o block\nv -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nv 0 2 0\nf 1 2 3 4\nf 5 2 1\nf 5 3 2\nf 5 4 3\nf 5 1 4\n";
    let floor = "o floor\nv -9 0 -9\nv 9 0 -9\nv 9 0 9\nv -9 0 9\nf 9 8 7 6\n";
    for (text, grounds) in [(block.to_owned(), 1), (format!("{block}{floor}"), 0)] {
        let (_, scene) = imported("block.obj", text.as_bytes()).unwrap();
        let read = sessile_scene::parse_str("scene.toml", &scene, &[], &sessile_scene::NoFiles);
        let planes = scene.matches("shape = \"plane\"").count();
        assert_eq!(planes, grounds, "{scene}");
        assert_eq!(scene.matches("[[lights.area]]").count(), 2, "{scene}");
        // The meshes are beside the scene, so that only their files are missing.
        if let Err(error) = read {
            let message = error.to_string();
            assert!(
                !message.contains("camera") && !message.contains("lights") && !message.contains("plane"),
                "{message}"
            );
        }
        let position = scene.lines().find(|line| line.starts_with("position")).unwrap();
        let at: Vec<f64> = position.split(['"', ' ']).filter_map(|word| word.parse().ok()).collect();
        assert!(at[0] > 1e3 && at[1] > 1e3 && at[2] > at[0], "{position}: front right, above");
    }
}

#[test]
fn malformed_numbers_of_an_obj_file_are_errors() {
    let error = imported("bad.obj", b"v 0 0 0\nv 1 0,5 0\n").unwrap_err().to_string();
    assert!(error.ends_with("bad.obj:2: expected a number for the vertex y, found `0,5`"), "{error}");
}

#[test]
fn malformed_files_are_errors_and_never_panic() {
    for (name, bytes) in [
        ("a.usda", &b"#usda 1.0\ndef Mesh \"a\" {"[..]),
        ("a.usdc", b"PXR-USDC\0\x08"),
        ("a.glb", b"glTF"),
        ("a.usd", b"?"),
        ("a.usdz", b"PK\x03\x04"),
    ] {
        let error = imported(name, bytes).unwrap_err();
        assert!(matches!(error, ImportError::Usd { .. } | ImportError::Mesh(_)), "{name}: {error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(matches!(imported("a.fbx", b""), Err(ImportError::UnknownFormat { .. })));
    for length in (0..LAYER.len()).step_by(7) {
        let _ = usd::UsdLayer::parse(&LAYER.as_bytes()[..length]);
    }
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

/// A file name with quotes and control characters becomes the title, and only that.
#[test]
fn file_names_cannot_add_keys_to_the_scene() {
    for name in ["a\"\nmodel = \"pane\".obj", "'''+x+'''.obj", "\\\".obj", "\u{1b}[31m\u{7f}\u{85}.obj"] {
        let (done, text) = imported(name, format!("{TRIANGLE}f 1 2 3\n").as_bytes()).unwrap();
        assert_eq!(done.solids, 1);
        let title = text.lines().next().unwrap();
        assert_eq!(title, format!("title = {}", sessile_scene::quoted(&format!("Drops on {name}"))));
        assert!(text.lines().nth(1).unwrap().starts_with("model = \"droplet\""), "{text}");
    }
}

#[test]
fn long_empty_and_equal_names_become_valid_scenes() {
    let long = "n".repeat(5000);
    let text = format!(
        "{TRIANGLE}o {long}\nusemtl {long}\nf 1 2 3\no {long}x\nusemtl {long}y\nf 1 3 2\no b\nusemtl \nf 1 2 3\n"
    );
    let (done, scene) = imported("names.obj", text.as_bytes()).unwrap();
    assert_eq!(done.solids, 3, "{scene}");
    assert!(scene.lines().all(|line| line.len() < 200), "{scene}");
    assert!(scene.contains("[materials.\"material\"]"), "{scene}");
    assert_eq!(scene.matches("[materials.").count(), 3, "{scene}");
}

#[test]
fn material_libraries_outside_the_folder_are_not_read() {
    for library in ["/dev/zero", "../../../../etc/passwd", "/etc/passwd", "..\\secret.mtl"] {
        let text = format!("mtllib {library}\nusemtl x\n{TRIANGLE}f 1 2 3\n");
        let (done, _) = imported("a.obj", text.as_bytes()).unwrap();
        let notice = format!("cannot read the material library {library}: it is outside");
        assert!(done.notices.iter().any(|found| found.starts_with(&notice)), "{:?}", done.notices);
    }
}

#[test]
fn textures_outside_the_folder_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(folder.path().join("secret.png"), "x").unwrap();
    fs::write(inner.join("own.png"), "x").unwrap();
    for (texture, used) in [("own.png", true), ("../secret.png", false)] {
        fs::write(inner.join("a.mtl"), format!("newmtl x\nmap_Kd {texture}\n")).unwrap();
        fs::write(inner.join("a.obj"), format!("mtllib a.mtl\nusemtl x\n{TRIANGLE}f 1 2 3\n")).unwrap();
        let done = import_model(&inner.join("a.obj"), &inner.join("a.toml"), true).unwrap();
        let text = fs::read_to_string(done.scene).unwrap();
        assert_eq!(text.contains("\ntexture = "), used, "{texture}:\n{text}");
    }
}

fn gltf_triangle(nodes: &str, uri: &str) -> String {
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{nodes}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "material": 0}}]}}], "materials": [{{"name": ""}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}], "buffers": [{{"byteLength": 36, "uri": "{uri}"}}]}}"#
    )
}

#[test]
fn buffers_outside_the_folder_are_not_read_i5() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(folder.path().join("secret.bin"), [0; 36]).unwrap();
    for uri in ["../secret.bin", "%2e%2e/secret.bin", "..%2fsecret.bin", "a/../../secret.bin", "/dev/zero"] {
        let file = inner.join("a.gltf");
        fs::write(&file, gltf_triangle(r#"{"mesh": 0}"#, uri)).unwrap();
        let error = import_model(&file, &inner.join("a.toml"), true).unwrap_err().to_string();
        assert!(error.contains("outside the folder") || error.contains("only files beside"), "{uri}: {error}");
        let error = sessile_geometry::files::read_mesh(&file).unwrap_err().to_string();
        assert!(error.contains("outside the folder") || error.contains("only files beside"), "{uri}: {error}");
    }
}

#[test]
fn chains_of_20000_nodes_are_read() {
    let mut nodes: Vec<String> = (1..20_000).map(|k| format!(r#"{{"children": [{k}]}}"#)).collect();
    nodes.push(r#"{"mesh": 0}"#.into());
    let data = "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let (done, _) = imported("chain.gltf", gltf_triangle(&nodes.join(","), data).as_bytes()).unwrap();
    assert_eq!(done.solids, 1);
    let deep = format!("#usda 1.0\n{}", "def Xform \"a\" {\n".repeat(20_000));
    let error = imported("deep.usda", deep.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("at most 200 levels of nesting"), "{error}");
}

#[cfg(unix)]
#[test]
fn devices_and_folders_are_not_models_i2() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.obj")).unwrap();
    fs::create_dir(folder.path().join("folder.obj")).unwrap();
    for name in ["zero.obj", "folder.obj"] {
        let error = import_model(&folder.path().join(name), &folder.path().join("a.toml"), false).unwrap_err();
        assert!(matches!(error, ImportError::Read { .. }), "{name}: {error}");
    }
}

#[test]
fn the_appearance_of_obj_and_gltf_materials_becomes_the_look_and_the_rest_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::write(
        place("a.mtl"),
        "newmtl red\nKd 1 0.2140 0\nPr 0.4\nPm 0.25\nmap_Bump bumps.png\nmap_Ke glow.png\nmap_Kd gone.png\n",
    )
    .unwrap();
    fs::write(place("a.obj"), "mtllib a.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").unwrap();
    let done = import_model(&place("a.obj"), &place("obj.toml"), false).unwrap();
    let text = fs::read_to_string(&done.scene).unwrap();
    for line in ["color = [1, 0.5, 0]", "roughness_look = 0.4", "metallic = 0.25"] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    for line in [
        "material red: its map of emitted light was not imported",
        "material red: the image bumps.png was not found",
        "material red: the image gone.png was not found",
    ] {
        assert!(done.notices.iter().any(|notice| notice == line), "{:?}", done.notices);
    }

    let data = "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let mut gltf: serde_json::Value = serde_json::from_str(&gltf_triangle(r#"{"mesh": 0}"#, data)).unwrap();
    gltf["materials"] = serde_json::json!([{
        "name": "brass",
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.5, 0.5, 0.5, 1],
            "metallicFactor": 0.75,
            "roughnessFactor": 0.125,
            "baseColorTexture": { "index": 0 }
        },
        "normalTexture": { "index": 0 }
    }]);
    gltf["textures"] = serde_json::json!([{ "source": 0 }]);
    gltf["images"] = serde_json::json!([{ "uri": "brass.png" }]);
    gltf["meshes"][0]["primitives"][0]["material"] = serde_json::json!(0);
    fs::write(place("b.gltf"), gltf.to_string()).unwrap();
    fs::write(place("brass.png"), b"only its name matters here").unwrap();
    let done = import_model(&place("b.gltf"), &place("gltf.toml"), false).unwrap();
    let text = fs::read_to_string(&done.scene).unwrap();
    let lines = ["color = [0.7354, 0.7354, 0.7354]", "roughness_look = 0.125", "metallic = 0.75"];
    for line in lines.iter().chain(&["texture = \"", "normal_map = \"", "brass.png\""]) {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    assert!(done.notices.is_empty(), "{:?}", done.notices);
}

/// A triangle in a node that is animated for half a second: `target` is the animated property,
/// `values` its two values, `more` other keys of the node and of the primitive.
fn animated_gltf(path: &str, shape: &str, values: &[f32], (node, primitive): (&str, &str)) -> (String, Vec<u8>) {
    let mut floats: Vec<f32> = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    floats.extend([0.0, 0.5]);
    floats.extend_from_slice(values);
    // The displacements of a morph target: the second corner rises by 1.
    floats.extend([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    // Every vertex belongs to joint 0 alone.
    floats.extend([1.0, 0.0, 0.0, 0.0].repeat(3));
    let mut bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([0; 12]);
    let size = bytes.len();
    let (at_morph, at_weights, at_joints) = (size - 96, size - 60, size - 12);
    let text = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
        "nodes": [{{"mesh": 0, "name": "flap"{node}}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}{primitive}}}]}}],
        "animations": [{{"channels": [{{"sampler": 0, "target": {{"node": 0, "path": "{path}"}}}}],
            "samplers": [{{"input": 1, "output": 2}}]}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}},
            {{"bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [0.5]}},
            {{"bufferView": 0, "byteOffset": 44, "componentType": 5126, "count": 2, "type": "{shape}"}},
            {{"bufferView": 0, "byteOffset": {at_morph}, "componentType": 5126, "count": 3, "type": "VEC3"}},
            {{"bufferView": 0, "byteOffset": {at_weights}, "componentType": 5126, "count": 3, "type": "VEC4"}},
            {{"bufferView": 0, "byteOffset": {at_joints}, "componentType": 5121, "count": 3, "type": "VEC4"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": {size}}}],
        "buffers": [{{"byteLength": {size}, "uri": "flap.bin"}}]}}"#
    );
    (text, bytes)
}

#[test]
fn animations_of_gltf_files_become_motion_and_deformation() {
    let folder = tempfile::tempdir().unwrap();
    let import = |name: &str, (text, bytes): (String, Vec<u8>)| {
        let file = folder.path().join(format!("{name}.gltf"));
        fs::write(folder.path().join("flap.bin"), bytes).unwrap();
        fs::write(&file, text).unwrap();
        let done = import_model(&file, &file.with_extension("toml"), false).unwrap_or_else(|error| panic!("{error}"));
        assert!(done.notices.is_empty(), "{:?}", done.notices);
        fs::read_to_string(done.scene).unwrap()
    };
    let last_corner = |name: &str| {
        let file = folder.path().join(format!("{name}.toml.files/flap.deform.00012.ply"));
        sessile_geometry::files::read_mesh(&file).unwrap().positions[1]
    };
    let moving = import("moving", animated_gltf("translation", "VEC3", &[0.0, 0.0, 0.0, 0.0, 0.3, 0.0], ("", "")));
    assert!(moving.contains("{ at = \"500 ms\", move = \"0 300 0 mm\"") && !moving.contains("deform"), "{moving}");
    let growing = import("growing", animated_gltf("scale", "VEC3", &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], ("", "")));
    assert_eq!(growing.matches("flap.deform.").count(), 13, "{growing}");
    assert!((last_corner("growing") - glam::DVec3::X * 2.0).length() < 1e-6, "{}", last_corner("growing"));
    let more = (r#", "weights": [0]"#, r#", "targets": [{"POSITION": 3}]"#);
    let morphing = import("morphing", animated_gltf("weights", "SCALAR", &[0.0, 0.5], more));
    assert_eq!(morphing.matches("flap.deform.").count(), 13, "{morphing}");
    let expected = glam::DVec3::new(1.0, 0.0, 0.5);
    assert!((last_corner("morphing") - expected).length() < 1e-6, "{}", last_corner("morphing"));
    // Morphed though nothing animates its weight.
    let more = (r#", "weights": [0.5]"#, r#", "targets": [{"POSITION": 3}]"#);
    let (text, bytes) = animated_gltf("translation", "VEC3", &[0.0; 6], more);
    import("resting", (text, bytes));
    let resting = sessile_geometry::files::read_mesh(&folder.path().join("resting.toml.files/flap.ply")).unwrap();
    assert!((resting.positions[1] - expected).length() < 1e-6, "{}", resting.positions[1]);
    // The first key differs from the node's own transform, which mirrors it.
    let node = (r#", "translation": [5, 0, 0], "scale": [1, 1, -1]"#, "");
    import("shifted", animated_gltf("translation", "VEC3", &[0.0, 0.1, 0.0, 0.0, 0.3, 0.0], node));
    let text = fs::read_to_string(folder.path().join("shifted.toml")).unwrap();
    let shifted = sessile_geometry::files::read_mesh(&folder.path().join("shifted.toml.files/flap.ply")).unwrap();
    let [a, b, c] = shifted.corners(0);
    assert!(text.contains("move = \"0 100 0 mm\"") && text.contains("move = \"0 200 0 mm\""), "{text}");
    assert!(a.length() < 1e-6 && (b - a).cross(c - a).dot(glam::DVec3::NEG_Z) > 0.9, "{shifted:?}");
    // A skin with one joint, the animated node itself: the vertices follow the joint.
    let (text, bytes) = animated_gltf("translation", "VEC3", &[0.0, 0.0, 0.0, 0.0, 0.3, 0.0], (r#", "skin": 0"#, ""));
    let text = text
        .replace("\"scene\": 0,", "\"scene\": 0, \"skins\": [{\"joints\": [0]}],")
        .replace("\"POSITION\": 0}", "\"POSITION\": 0, \"WEIGHTS_0\": 4, \"JOINTS_0\": 5}");
    let skinned = import("skinned", (text, bytes));
    assert_eq!(skinned.matches("flap.deform.").count(), 13, "{skinned}");
    let expected = glam::DVec3::new(1.0, 0.3, 0.0);
    assert!((last_corner("skinned") - expected).length() < 1e-6, "{}", last_corner("skinned"));
    skins_mirror_by_their_joints(&folder.path().join("skinned.gltf"));
}

/// A joint that mirrors reverses the triangles; the transform of the mesh's own node does not.
fn skins_mirror_by_their_joints(file: &Path) {
    let mut gltf: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    gltf["scenes"][0]["nodes"] = serde_json::json!([0, 1]);
    gltf["nodes"].as_array_mut().unwrap().push(serde_json::json!({}));
    gltf["skins"][0]["joints"] = serde_json::json!([1]);
    for (mesh, joint, faces) in [(1, 1, 1.0), (-1, 1, 1.0), (1, -1, -1.0), (-1, -1, -1.0)] {
        gltf["nodes"][0]["scale"] = serde_json::json!([1, 1, mesh]);
        gltf["nodes"][1]["scale"] = serde_json::json!([1, 1, joint]);
        fs::write(file, gltf.to_string()).unwrap();
        let done = import_model(file, &file.with_extension("toml"), true).unwrap();
        let mesh_file = done.scene.with_file_name("skinned.toml.files/flap.ply");
        let [a, b, c] = sessile_geometry::files::read_mesh(&mesh_file).unwrap().corners(0);
        assert_eq!((b - a).cross(c - a).z.signum(), faces, "{mesh} {joint}");
    }
}

/// As gltfpack writes them: the mesh in a node without a name, texture coordinates of 16 bits that
/// an offset and a scale bring to the image.
#[test]
fn quantized_gltf_files_keep_names_and_texture_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let shorts: Vec<u16> = vec![0, 0, 0, 0, 65535, 0, 0, 0, 0, 65535, 0, 0];
    let uvs: Vec<u16> = vec![0, 0, 100, 0, 0, 200];
    let bytes: Vec<u8> = shorts.iter().chain(&uvs).flat_map(|x| x.to_le_bytes()).collect();
    fs::write(folder.path().join("q.bin"), &bytes).unwrap();
    fs::write(folder.path().join("q.png"), b"only its name matters here").unwrap();
    let gltf = serde_json::json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
        "extensionsRequired": ["KHR_mesh_quantization", "KHR_texture_transform"],
        "nodes": [{ "name": "Tile", "children": [1] }, { "mesh": 0, "scale": [0.5, 0.5, 0.5] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "TEXCOORD_0": 1 }, "material": 0 }] }],
        "materials": [{ "name": "clay", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0,
            "extensions": { "KHR_texture_transform": { "offset": [0.25, 0.5], "scale": [0.01, 0.0025] } } } } }],
        "textures": [{ "source": 0 }], "images": [{ "uri": "q.png" }],
        "accessors": [
            { "bufferView": 0, "componentType": 5123, "normalized": true, "count": 3, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5123, "count": 3, "type": "VEC2" }
        ],
        "bufferViews": [{ "buffer": 0, "byteLength": 24, "byteStride": 8 },
            { "buffer": 0, "byteOffset": 24, "byteLength": 12 }],
        "buffers": [{ "byteLength": 36, "uri": "q.bin" }]
    });
    let file = folder.path().join("q.gltf");
    fs::write(&file, gltf.to_string()).unwrap();
    let done = import_model(&file, &file.with_extension("toml"), false).unwrap();
    assert_eq!((done.boxes[0].0.as_str(), &done.notices), ("Tile", &Vec::new()));
    let mesh = sessile_geometry::files::read_mesh(&folder.path().join("q.toml.files/Tile.ply")).unwrap();
    assert!((mesh.positions[1] - glam::DVec3::X * 0.5).length() < 1e-6, "{mesh:?}");
    let expected = [[0.25, 0.5], [1.25, 0.5], [0.25, 0.0]].map(glam::DVec2::from_array);
    let far = mesh.corner_uvs[0].iter().zip(expected).map(|(uv, e)| uv.distance(e)).fold(0.0, f64::max);
    assert!(far < 1e-6, "{:?}", mesh.corner_uvs);
}

/// Invisible meshes, proxies and guides are left out with a line; one that blinks is imported.
#[test]
fn what_a_layer_hides_is_left_out() {
    let sheet = |name: &str, more: &str| {
        format!(
            "def Mesh \"{name}\" {{ {more}\n uniform token subdivisionScheme = \"none\"\n int[] faceVertexCounts = [3]\n \
             int[] faceVertexIndices = [0, 1, 2]\n point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n }}\n"
        )
    };
    let layer = format!(
        "#usda 1.0\n( metersPerUnit = 1 )\ndef Xform \"Old\"\n{{\n token visibility = \"invisible\"\n {}}}\n{}{}{}",
        sheet("Inner", ""),
        sheet("Rough", "uniform token purpose = \"proxy\""),
        sheet("Blink", "token visibility.timeSamples = { 1: \"invisible\", 2: \"inherited\" }"),
        sheet("Seen", "uniform token purpose = \"render\"\n token visibility = \"inherited\"")
    );
    let (done, _) = imported("a.usda", layer.as_bytes()).unwrap();
    let names: Vec<&str> = done.boxes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Blink", "Seen"]);
    let line = "not imported: Old, Rough; they are invisible, proxies or guides";
    assert!(done.notices.iter().any(|notice| notice == line), "{:?}", done.notices);
}

/// A mesh beside another object below its transform has the transform's name, not the mesh's own;
/// `!resetXformStack!` leaves the parents' transforms out; negative indices skip the mesh.
#[test]
fn transforms_of_a_layer_name_their_meshes_and_may_ignore_their_parents() {
    let mesh = |name: &str, corners: &str| {
        format!(
            "def Mesh \"{name}\" {{ uniform token subdivisionScheme = \"none\"\n int[] faceVertexCounts = [3]\n \
             int[] faceVertexIndices = [{corners}]\n point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n }}\n"
        )
    };
    let layer = format!(
        "#usda 1.0\n( metersPerUnit = 1 )\ndef Xform \"Table\"\n{{\n double3 xformOp:translate = (5, 0, 0)\n \
         uniform token[] xformOpOrder = [\"xformOp:translate\"]\n {}def Xform \"Cup\"\n {{\n \
         double3 xformOp:translate = (0, 2, 0)\n \
         uniform token[] xformOpOrder = [\"!resetXformStack!\", \"xformOp:translate\"]\n {}}}\n}}\ndef Xform \"Bad\" {{\n {}}}\n",
        mesh("Cube.001", "0, 1, 2"),
        mesh("Cylinder", "0, 1, 2"),
        mesh("Sheet", "0, -1, 2")
    );
    let (done, _) = imported("a.usda", layer.as_bytes()).unwrap();
    let named: Vec<(&str, [f64; 3])> = done.boxes.iter().map(|(name, [low, _])| (name.as_str(), *low)).collect();
    assert_eq!(named, [("Table", [5.0, 0.0, 0.0]), ("Cup", [0.0, 2.0, 0.0])]);
    assert!(done.notices.iter().any(|l| l == "mesh Bad was skipped: an index is out of range"), "{:?}", done.notices);
}
