//! Datasets: specs with errors, reproducible samples, lists.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sessile_dataset::{
    IMAGES, Line, SampleCache, Spec, gather, generate, make_sample, recipe_of_line, sample_folder, street,
};
use sessile_images::Image;
use sessile_render::write_png;
use tempfile::TempDir;

const SIZE: [usize; 2] = [96, 64];

const SPEC: &str = r#"
backdrops = "photos"
size = [96, 64]
val = 0.5

[[drops]]
by = "scatter"
count = "uniform(40, 80)"
volume = "loguniform(0.5, 20) uL"

[[drops]]
by = "rain"
rate = "200 mm/h"
time = "2 s"

[vary]
camera.fov = "uniform(40, 60) deg"
camera.position = "uniform(-5 -5 -90, 5 5 -70) mm"
"#;

/// A folder with two photographs of the samples' size.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("photos")).unwrap();
    for seed in 0..2 {
        let file = folder.path().join(format!("photos/{seed}.png"));
        write_png(&file, SIZE[0], SIZE[1], &street(SIZE, seed)).unwrap();
    }
    folder
}

fn spec(folder: &Path, text: &str) -> Spec {
    Spec::parse("spec.toml", text, folder).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Makes samples on this many threads.
fn make(spec: &Spec, out: &Path, count: u64, threads: usize) {
    spec.save(out).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| generate(spec, out, 0, count - 1, &AtomicBool::new(false), &|| ())).unwrap();
    gather(out, count, 1, 2).unwrap();
}

fn files(out: &Path, sample: u64) -> Vec<(PathBuf, Vec<u8>)> {
    let names = IMAGES.into_iter().chain(["sample.json"]);
    names.map(|name| (PathBuf::from(name), fs::read(sample_folder(out, sample).join(name)).unwrap())).collect()
}

#[test]
fn all_errors_of_a_spec_are_reported_with_their_lines() {
    let folder = folder();
    let text = "backdrops = [\"photos\", \"missing.jpg\"]\nsize = [640]\nquallity = \"full\"\nval = 2\n\n[[drops]]\nby = \"rain\"\nrate = \"uniform(1)\"\n\n[[drops]]\nby = \"snow\"\n";
    let errors = Spec::parse("spec.toml", text, folder.path()).unwrap_err().to_string();
    for expected in [
        "spec.toml:1:24",
        "spec.toml:2:8",
        "did you mean `quality`?",
        "`val` must be from 0 to 1",
        "uniform takes two numbers",
        "by = \"rain\", \"dew\", \"scatter\" or \"scene\"",
        "6 errors",
    ] {
        assert!(errors.contains(expected), "{expected} is not in\n{errors}");
    }
    // What a distribution draws is checked as the scene checks it.
    let text = "backdrops = \"photos\"\n[vary]\ncamera.fov = \"uniform(40, 300) deg\"\ncamera.fog = 1\n";
    let errors = Spec::parse("spec.toml", text, folder.path()).unwrap_err().to_string();
    assert!(errors.contains("spec.toml:3:14") && errors.contains("camera.fov = 300 deg"), "{errors}");
    assert!(errors.contains("spec.toml:4:14") && errors.contains("has no key `fog`"), "{errors}");
}

#[test]
fn samples_follow_from_their_line_alone_for_any_number_of_threads() {
    let folder = folder();
    let spec = spec(folder.path(), SPEC);
    let out = folder.path().join("a");
    make(&spec, &out, 4, 3);
    let again = folder.path().join("b");
    fs::create_dir_all(again.join("samples")).unwrap();
    for sample in [3, 1] {
        let recipe = recipe_of_line(&out.join("samples.jsonl"), sample).unwrap();
        make_sample(&recipe, &sample_folder(&again, sample), &SampleCache::default()).unwrap();
        for ((name, first), (_, second)) in files(&out, sample).into_iter().zip(files(&again, sample)) {
            assert!(first == second, "sample {sample}: {} differs", name.display());
        }
    }
    // Different samples differ, and a missing one is made again.
    assert_ne!(files(&out, 0)[0].1, files(&out, 1)[0].1);
    let (lists, third) = (fs::read(out.join("coco.json")).unwrap(), files(&out, 2));
    fs::remove_dir_all(sample_folder(&out, 2)).unwrap();
    make(&spec, &out, 4, 1);
    assert!(files(&out, 2) == third && fs::read(out.join("coco.json")).unwrap() == lists);
    // Another spec is refused.
    assert!(self::spec(folder.path(), &format!("seed = 2\n{SPEC}")).save(&out).is_err());
}

#[test]
fn images_agree_with_each_other_and_with_the_lists() {
    let folder = folder();
    let spec = spec(folder.path(), SPEC);
    let out = folder.path().join("a");
    make(&spec, &out, 4, 2);
    let coco: serde_json::Value = serde_json::from_slice(&fs::read(out.join("coco.json")).unwrap()).unwrap();
    assert_eq!(coco["images"].as_array().unwrap().len(), 4);
    let mut drops = 0;
    for (sample, line) in fs::read_to_string(out.join("samples.jsonl")).unwrap().lines().enumerate() {
        let line: Line = serde_json::from_str(line).unwrap();
        let read = |name: &str| Image::read(&sample_folder(&out, sample as u64).join(name)).unwrap();
        let (wet, clean) = (read("wet.png").rgb_bytes(), read("clean.png").rgb_bytes());
        let (coverage, ids) = (read("coverage.png").gray(), read("ids.png").rgb_bytes());
        let photo = Image::read(&line.recipe.backdrop).unwrap().rgb_bytes();
        assert!(clean == photo, "the clean view of sample {sample} is the photograph");
        let mut differing = 0;
        for i in 0..SIZE[0] * SIZE[1] {
            let pixel = |image: &[u8]| [image[3 * i], image[3 * i + 1], image[3 * i + 2]];
            if coverage[i] == 0.0 {
                assert_eq!(pixel(&wet), pixel(&photo), "sample {sample}, pixel {i} without drops");
                assert_eq!(pixel(&ids), [0; 3]);
            }
            differing += usize::from(pixel(&wet) != pixel(&photo));
        }
        let covered = ids.chunks(3).filter(|id| *id != [0; 3]).count();
        let annotations = coco["annotations"].as_array().unwrap().iter();
        let areas = annotations.filter(|a| a["image_id"] == sample).map(|a| a["area"].as_u64().unwrap());
        assert_eq!(areas.sum::<u64>(), covered as u64, "sample {sample}");
        let mean = coverage.iter().sum::<f64>() / coverage.len() as f64;
        assert!((mean - line.coverage).abs() < 2e-3, "{mean} and {}", line.coverage);
        drops += usize::from(differing > 100 && covered > 100);
        let focal = 0.5 * SIZE[1] as f64 / (0.5 * 50_f64.to_radians()).tan();
        assert!((0.7..1.4).contains(&(line.camera.fy / focal)) && line.camera.cx == 48.0);
    }
    assert!(drops >= 3, "{drops} of 4 samples have visible drops");
    let lines = |name: &str| fs::read_to_string(out.join(name)).unwrap().lines().count();
    assert_eq!(lines("train.txt") + lines("val.txt"), 4);
    let shards = fs::read_dir(out.join("shards")).unwrap().count();
    assert_eq!(shards, lines("train.txt").div_ceil(2) + lines("val.txt").div_ceil(2));
}

#[test]
fn coverage_is_soft_where_drops_are_out_of_focus() {
    let folder = folder();
    let near =
        "backdrops = \"photos\"\nsize = [96, 64]\n[[drops]]\nby = \"scatter\"\ncount = 60\nvolume = \"4 uL\"\n[vary]\n";
    let mut soft = Vec::new();
    for aperture in ["0 mm", "6 mm"] {
        let text = format!("{near}camera.aperture = \"{aperture}\"\ncamera.focus = \"10 m\"\n");
        for quality in ["preview", "full"] {
            let spec = spec(folder.path(), &format!("quality = \"{quality}\"\n{text}"));
            let out = folder.path().join(format!("{quality}{aperture}"));
            make(&spec, &out, 1, 2);
            let coverage = Image::read(&sample_folder(&out, 0).join("coverage.png")).unwrap().gray();
            let partial = coverage.iter().filter(|&&c| c > 0.02 && c < 0.98).count() as f64;
            soft.push((partial / coverage.len() as f64, coverage));
        }
    }
    let [sharp, sharp_traced, blurred, traced] = &soft[..] else { panic!() };
    assert!(blurred.0 > 2.0 * sharp.0, "{} of the pixels are partly covered, {} in focus", blurred.0, sharp.0);
    let mean = |c: &[f64]| c.iter().sum::<f64>() / c.len() as f64;
    let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len() as f64;
    assert!(difference(&sharp.1, &sharp_traced.1) < 1e-3);
    assert!((mean(&blurred.1) / mean(&sharp.1) - 1.0).abs() < 0.2, "{} {}", mean(&blurred.1), mean(&sharp.1));
    // The preview's discs are those of the traced lens.
    let error = difference(&blurred.1, &traced.1);
    assert!(error < 0.04 && error < 0.3 * difference(&sharp.1, &traced.1), "mean difference {error}");
}
