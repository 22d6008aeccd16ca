//! Images of solids, and what a format leaves out.

use std::sync::Mutex;

use sessile_frames::{Activity, Progress};

use crate::render_assets::encode_png;

use super::*;

/// Leans by 30° towards +u in the left half of the image, towards +v (up) in the right one.
const LEANING: [[u8; 3]; 2] = [[191, 128, 238], [128, 191, 238]];

/// A run whose table has a normal map.
fn run_with_relief(parent: &Path) -> PathBuf {
    let pixels: Vec<u8> = (0..64).flat_map(|k| LEANING[(k % 8) / 4]).collect();
    let png = encode_png("bumps", [8, 8], png::ColorType::Rgb, &pixels).unwrap();
    let file = parent.join("bumps.png");
    fs::write(&file, png).unwrap();
    let root = small_run(parent);
    let (run, _) = RunFolder::claim(&root).unwrap();
    let map = format!("normal_map = {}\n", sessile_scene::quoted(&file.to_string_lossy()));
    run.write_scene(&SCENE.replace("texture = \"checker\"\n", &format!("texture = \"checker\"\n{map}"))).unwrap();
    root
}

/// The colors at the middle of the left and of the right half.
fn halves(png: &[u8]) -> [[u8; 3]; 2] {
    let image = sessile_images::Image::decode(png).unwrap();
    let (width, bytes) = (image.width(), image.rgb_bytes());
    [width / 4, 3 * width / 4].map(|column| {
        let at = 3 * (image.height() / 2 * width + column);
        [bytes[at], bytes[at + 1], bytes[at + 2]]
    })
}

#[test]
fn formats_with_materials_have_the_normal_maps_of_solids() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_with_relief(folder.path());
    let written = |format: Format| {
        let path = destination(folder.path(), format);
        export(&run, format, &path).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        path
    };
    let path = written(Format::Usd);
    let map = folder.path().join("out.usdc.files/textures/the_table.normals.png");
    assert_eq!(halves(&fs::read(map).unwrap()), LEANING);
    let layer = UsdLayer::parse(&fs::read(path).unwrap()).unwrap();
    let looks = layer.prims[0].children.iter().find(|prim| prim.name == "Looks").unwrap();
    let table = looks.children.iter().find(|prim| prim.name == "the_table").unwrap();
    let shader = |name: &str| table.children.iter().find(|prim| prim.name == name).unwrap();
    let connection = UsdValue::Texts(vec!["/World/Looks/the_table/Normals.outputs:rgb".into()]);
    assert_eq!(shader("Preview").properties["inputs:normal.connect"], connection);
    // From 0 to 1 to −1 to 1.
    assert_eq!(shader("Normals").properties["inputs:scale"], UsdValue::Numbers(vec![2.0; 4]));
    assert_eq!(shader("Normals").properties["inputs:bias"], UsdValue::Numbers(vec![-1.0; 4]));

    let bytes = fs::read(written(Format::Gltf)).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let texture = document["materials"][1]["normalTexture"]["index"].as_u64().unwrap() as usize;
    let source = document["textures"][texture]["source"].as_u64().unwrap() as usize;
    let view = &document["bufferViews"][document["images"][source]["bufferView"].as_u64().unwrap() as usize];
    let [start, size] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
    assert_eq!(halves(&bytes[28 + length + start..][..size]), LEANING);
    assert!(document["materials"][2]["normalTexture"].is_null());

    let text = |path: PathBuf| fs::read_to_string(path).unwrap();
    let script = text(written(Format::Blender));
    assert!(script.contains("\"normal_map\": \"textures/the_table.normals.png\""));
    let scene = text(written(Format::Mitsuba).join("00000.xml"));
    assert!(scene.contains("<bsdf type=\"normalmap\">") && scene.contains("value=\"textures/the_table.normals.png\""));
    let scene = text(written(Format::Pbrt).join("00000.pbrt"));
    assert!(scene.contains("\"string normalmap\" \"textures/the_table.normals.png\""), "{scene}");
}

/// Collects messages.
#[derive(Default)]
struct Notices(Mutex<Vec<String>>);

impl Progress for Notices {
    fn begin(&self, _: Activity, _: usize) {}
    fn advance(&self, _: usize, _: f64) {}
    fn end(&self) {}
    fn notice(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

#[test]
fn what_a_format_leaves_out_is_reported_for_each_solid() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_with_relief(folder.path());
    for format in Format::ALL {
        let notices = Notices::default();
        let path = destination(folder.path(), format);
        export_run(&run, format, &path, &ExportOptions::default(), &notices, &AtomicBool::new(false)).unwrap();
        let expected = match format {
            Format::Abc | Format::Ply | Format::Obj | Format::Stl | Format::Vtk => {
                format!(
                    "solid `the table`: texture, normal map left out: the {} files have no materials",
                    format.title()
                )
            }
            Format::Povray => "solid `the table`: normal map left out: POV-Ray has none".to_owned(),
            _ => String::new(),
        };
        let found = notices.0.into_inner().unwrap();
        assert_eq!(found.join("\n"), expected, "{}", format.name());
    }
}

/// Tiles of a floor: texture coordinates from 0 to 3.
#[test]
fn images_repeat_where_texture_coordinates_go_beyond_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_with_relief(folder.path());
    let obj = "v 0 0 0\nv 0 0 1\nv 1 0 0\nvt 0 0\nvt 3 0\nvt 0 3\nf 1/1 2/2 3/3\n";
    fs::write(folder.path().join("floor.obj"), obj).unwrap();
    let (claimed, _) = RunFolder::claim(&run).unwrap();
    let image = sessile_scene::quoted(&folder.path().join("bumps.png").to_string_lossy());
    let file = sessile_scene::quoted(&folder.path().join("floor.obj").to_string_lossy());
    let floor =
        format!("[[solids]]\nname = \"floor\"\nshape = \"mesh\"\nfile = {file}\nscale = 0.01\ntexture = {image}\n");
    claimed.write_scene(&SCENE.replace("[output]", &format!("{floor}[output]"))).unwrap();
    drop(claimed);
    let path = destination(folder.path(), Format::Usd);
    export(&run, Format::Usd, &path).unwrap();
    let layer = UsdLayer::parse(&fs::read(path).unwrap()).unwrap();
    let looks = layer.prims[0].children.iter().find(|prim| prim.name == "Looks").unwrap();
    for (name, expected) in [("the_table", "clamp"), ("floor", "repeat")] {
        let material = looks.children.iter().find(|prim| prim.name == name).unwrap();
        let reader = material.children.iter().find(|prim| prim.name == "Color").unwrap();
        for wrap in ["inputs:wrapS", "inputs:wrapT"] {
            assert_eq!(reader.properties[wrap], UsdValue::Texts(vec![expected.into()]), "{name}");
        }
    }
}
