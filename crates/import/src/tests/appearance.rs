//! Images of materials: stored in the model, in a package, beside it, and those that are missing.

use std::fs;

use super::*;

const PICTURE: &[u8] = include_bytes!("../../../../fuzz/corpus/texture/picture");

/// A binary glTF file of one triangle whose buffer ends in an image.
fn glb(image: &[u8]) -> Vec<u8> {
    let mut buffer: Vec<u8> =
        [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    buffer.extend_from_slice(image);
    buffer.resize(buffer.len().next_multiple_of(4), 0);
    let mut json = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0, "name": "tile"}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "material": 0}}]}}],
        "materials": [{{"name": "clay", "pbrMetallicRoughness": {{"baseColorTexture": {{"index": 0}}, "metallicFactor": 0}},
            "normalTexture": {{"index": 0}}, "emissiveTexture": {{"index": 0}}}}],
        "textures": [{{"source": 0}}], "images": [{{"bufferView": 1, "mimeType": "image/png", "name": "clay"}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}, {{"buffer": 0, "byteOffset": 36, "byteLength": {}}}],
        "buffers": [{{"byteLength": {}}}]}}"#,
        image.len(),
        buffer.len()
    )
    .into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &buffer)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

/// A layer of one triangle whose material has an image of color, one of normals and one of
/// roughness.
const LAYER: &str = r#"#usda 1.0
( metersPerUnit = 1 )
def Mesh "Tile"
{
    uniform token subdivisionScheme = "none"
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    rel material:binding = </Clay>
}
def Material "Clay"
{
    token outputs:surface.connect = </Clay/Surface.outputs:surface>
    def Shader "Bumps"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @./images/bumps.png@
        token inputs:sourceColorSpace = "raw"
        float3 outputs:rgb
    }
    def Shader "Color"
    {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @images/color.png@
        float3 outputs:rgb
    }
    def Shader "Surface"
    {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </Clay/Color.outputs:rgb>
        normal3f inputs:normal.connect = </Clay/Bumps.outputs:rgb>
        float inputs:roughness.connect = </Clay/Bumps.outputs:r>
        float inputs:metallic = 0
        token outputs:surface
    }
}
"#;

/// A ZIP archive of stored files. Checksums are not read, so they are zero.
fn package(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend([content.len() as u32; 2].iter().flat_map(|n| n.to_le_bytes()));
        common.extend((name.len() as u16).to_le_bytes());
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0; 12]);
        directory.extend((bytes.len() as u32).to_le_bytes());
        directory.extend(name.bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend([0; 2]);
        bytes.extend(name.bytes());
        bytes.extend(*content);
    }
    let (at, count) = (bytes.len() as u32, (files.len() as u16).to_le_bytes());
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.iter().chain(&count));
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(at.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

/// Imports a file into a folder that is kept, and reads the scene with its files.
fn kept(name: &str, bytes: &[u8], images: &[&str]) -> (tempfile::TempDir, Imported, sessile_scene::Scene) {
    let folder = tempfile::tempdir().unwrap();
    for image in images {
        let file = folder.path().join(image);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, PICTURE).unwrap();
    }
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    let done = import_model(&file, &folder.path().join("scene.toml"), false).unwrap_or_else(|error| panic!("{error}"));
    let scene = sessile_scene::parse_file(&done.scene, &[]).unwrap_or_else(|error| panic!("{error}")).scene;
    (folder, done, scene)
}

fn assert_images(scene: &sessile_scene::Scene) {
    let solid = &scene.solids[0];
    let Some(sessile_scene::Texture::Image(color)) = &solid.texture else { panic!("no texture") };
    for file in [color, solid.normal_map.as_ref().expect("no normal map")] {
        assert_eq!(fs::read(file).unwrap(), PICTURE, "{}", file.display());
    }
}

#[test]
fn images_stored_in_a_binary_gltf_file_are_saved_beside_the_scene() {
    let (_folder, done, scene) = kept("tile.glb", &glb(PICTURE), &[]);
    assert_images(&scene);
    assert_eq!(done.notices, ["material clay: its map of emitted light was not imported"]);
    let (_folder, done, scene) = kept("tile.glb", &glb(b"GIF89a"), &[]);
    assert!(scene.solids[0].texture.is_none());
    let line = "material clay: the image clay in the model cannot be used: it is neither a PNG nor a JPEG image";
    assert!(done.notices.iter().any(|notice| notice.starts_with(line)), "{:?}", done.notices);
}

#[test]
fn images_of_a_layer_are_those_that_its_surface_is_connected_to() {
    let (_folder, done, scene) = kept("tile.usda", LAYER.as_bytes(), &["images/bumps.png", "images/color.png"]);
    assert_images(&scene);
    assert_eq!(done.notices, ["material Clay: its map of roughness was not imported"]);
    let solid = &scene.solids[0];
    let Some(sessile_scene::Texture::Image(color)) = &solid.texture else { panic!("no texture") };
    assert!(color.ends_with("color.png") && solid.normal_map.as_ref().unwrap().ends_with("bumps.png"));
    let (_folder, done, scene) = kept("tile.usda", LAYER.as_bytes(), &["images/color.png"]);
    assert!(scene.solids[0].normal_map.is_none() && scene.solids[0].texture.is_some());
    let line = "material Clay: the image images/bumps.png was not found beside the model";
    assert!(done.notices.iter().any(|notice| notice == line), "{:?}", done.notices);
}

/// The same layer in binary form.
#[test]
fn images_of_a_binary_layer_are_those_of_the_text() {
    let bytes = include_bytes!("../../../../fuzz/corpus/usd/binary_images");
    let (_folder, done, scene) = kept("tile.usdc", bytes, &["images/bumps.png", "images/color.png"]);
    assert_images(&scene);
    assert_eq!(done.notices, ["material Clay: its map of roughness was not imported"]);
}

#[test]
fn a_normal_map_with_a_reversed_channel_is_reported() {
    let layer =
        LAYER.replace("token inputs:source", "float4 inputs:scale = (2, -2, 2, 1)\n        token inputs:source");
    let (_folder, done, _) = kept("tile.usda", layer.as_bytes(), &["images/bumps.png", "images/color.png"]);
    let line = "material Clay: its normal map is read with a reversed channel";
    assert!(done.notices.iter().any(|notice| notice.starts_with(line)), "{:?}", done.notices);
}

/// Gray for heights, bluish for normals, both under `map_Bump`.
#[test]
fn bump_maps_of_a_library_are_imported_where_they_have_normals() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let image = |rgb: [u8; 3]| {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 2);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&rgb.repeat(4)).unwrap();
        bytes
    };
    fs::write(place("a.obj"), "mtllib a.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").unwrap();
    fs::write(place("a.mtl"), "newmtl red\nmap_Bump -bm 1.0 my bumps.png\n").unwrap();
    for (rgb, is_normal_map) in [([128, 190, 235], true), ([160, 160, 160], false), ([201, 201, 201], false)] {
        fs::write(place("my bumps.png"), image(rgb)).unwrap();
        let done = import_model(&place("a.obj"), &place("a.toml"), true).unwrap();
        let scene = sessile_scene::parse_file(&done.scene, &[]).unwrap().scene;
        assert_eq!(scene.solids[0].normal_map.is_some(), is_normal_map, "{rgb:?}");
        let line = "material red: its bump map has heights, which are not imported";
        assert_eq!(done.notices.iter().any(|notice| notice == line), !is_normal_map, "{:?}", done.notices);
    }
}

#[test]
fn a_package_is_imported_with_its_images() {
    let files = [("tile.usda", LAYER.as_bytes()), ("images/bumps.png", PICTURE), ("images/color.png", PICTURE)];
    let bytes = package(&files);
    let (_folder, done, scene) = kept("tile.usdz", &bytes, &[]);
    assert_eq!(done.solids, 1);
    assert_images(&scene);
    for length in 4..bytes.len() {
        assert!(imported("tile.usdz", &bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let compressed = include_bytes!("../../../../fuzz/corpus/usd/package_compressed");
    let error = imported("tile.usdz", compressed).unwrap_err().to_string();
    assert!(error.contains("a.usda in it is compressed"), "{error}");
}

/// A cube that states that it is a subdivision surface becomes round; one that states nothing keeps
/// its polygons, and a line says so.
#[test]
fn subdivision_surfaces_of_a_layer_are_subdivided() {
    let cube = MOVING.replace(
        "int[] faceVertexCounts",
        "uniform token subdivisionScheme = \"catmullClark\"\nint[] faceVertexCounts",
    );
    let read = |text: &str| usd::read(Path::new("cube.usda"), text.as_bytes()).unwrap();
    let round = read(&cube);
    assert_eq!((round.parts[0].mesh.triangles.len(), round.parts[0].motion.len()), (192, 13));
    assert!(round.notices.iter().any(|line| line.contains("subdivided twice, to 96 polygons")), "{:?}", round.notices);
    let sharp = read(&cube.replace(
        "int[] faceVertexCounts",
        "int[] creaseIndices = [0, 1, 3, 2, 0]\nint[] creaseLengths = [5]\nfloat[] creaseSharpnesses = [10]\nint[] faceVertexCounts",
    ));
    let widest = |model: &Model| model.parts[0].mesh.positions.iter().map(|p| p.x).fold(f64::MIN, f64::max);
    assert!((widest(&sharp) - 0.01).abs() < 1e-6 && widest(&round) < 0.009, "{} {}", widest(&sharp), widest(&round));
    let plain = read(MOVING);
    assert_eq!(plain.parts[0].mesh.triangles.len(), 12);
    assert!(
        plain.notices.iter().any(|line| line.starts_with("no subdivisionScheme is stated for Box")),
        "{:?}",
        plain.notices
    );
}

/// A camera that flies past the cube: keys in the scene, which passes through them.
#[test]
fn a_moving_camera_of_a_layer_becomes_keys() {
    let flying = format!(
        "{MOVING}\ndef Xform \"Dolly\"\n{{\n double3 xformOp:translate.timeSamples = {{ 1001: (0, 5, 50), 1013: (24, 5, 50) }}\n\
         uniform token[] xformOpOrder = [\"xformOp:translate\"]\n def Camera \"Lens\"\n {{\n  float focalLength = 50\n }}\n}}\n"
    );
    let (done, text) = imported("shot.usda", flying.as_bytes()).unwrap();
    assert!(!done.notices.iter().any(|line| line.contains("camera")), "{:?}", done.notices);
    let scene = sessile_scene::parse_str("s.toml", &text, &[], &sessile_scene::NoFiles).unwrap().scene;
    assert_eq!(scene.camera.motion.len(), 13, "{text}");
    let key = scene.camera.motion[6];
    assert!((key.at - 0.25).abs() < 1e-6 && key.position.distance(glam::DVec3::new(0.12, 0.05, 0.5)) < 1e-6, "{key:?}");
    assert!((key.look_at - key.position).normalize().distance(glam::DVec3::NEG_Z) < 1e-6, "{key:?}");
    let rolled = flying.replace(
        "[\"xformOp:translate\"]\n def",
        "[\"xformOp:translate\", \"xformOp:rotateZ\"]\n float xformOp:rotateZ = 20\n def",
    );
    let (done, _) = imported("shot.usda", rolled.as_bytes()).unwrap();
    assert!(
        done.notices.iter().any(|line| line.contains("camera Dolly is rolled by up to 20.0 deg")),
        "{:?}",
        done.notices
    );
}
