//! Tests of locking, round trips and removal.

use std::collections::BTreeSet;
use std::fs;

use glam::DVec3;

use super::*;
use crate::checkpoint::RunPosition;
use crate::container::Block;
use crate::instances::{INSTANCE_THRESHOLD, samples};
use crate::run_info::tests::sample as info;

fn wet_map() -> WetMap {
    WetMap { solid: 0, width: 2, height: 1, wetness: vec![1, 2], film: vec![3, 4], age: vec![0, 5] }
}

fn measures(frame: u64) -> FrameMeasures {
    FrameMeasures { frame, ..FrameMeasures::default() }
}

/// A run of the frames 0 to `last` with one file of each kind.
fn run_of(root: &Path, last: u64) -> RunFolder {
    let (folder, before) = RunFolder::claim(root).unwrap();
    assert_eq!(before, None);
    folder.write_info(&info()).unwrap();
    folder.write_scene("model = \"pane\"\n").unwrap();
    folder.write_solid("table", &TriMesh::default()).unwrap();
    for frame in 0..=last {
        folder.write_frame(FrameId { frame, time: 0.1 }, &FrameGeometry::Instances(samples::row(2))).unwrap();
        folder.write_wet("table", frame, &wet_map()).unwrap();
        folder.append_measures(&measures(frame)).unwrap();
        for path in [folder.image_path(frame), folder.fields_path().join(frame_file(frame, "vdb"))] {
            make_parent(&path).unwrap();
            fs::write(path, b"x").unwrap();
        }
    }
    folder.write_checkpoint(&saved(last)).unwrap();
    fs::write(folder.video_path("leaf"), b"x").unwrap();
    folder
}

fn saved(frame: u64) -> Checkpoint {
    let at = RunPosition { program: "0.1.0".into(), frame, time: 0.1 };
    Checkpoint { at, blocks: vec![Block { name: "model".into(), bytes: vec![1, 2, 3] }] }
}

/// All files below a folder, as paths relative to it.
fn files(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

#[test]
fn a_run_has_the_documented_files_and_is_read_back() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("runs/leaf");
    let folder = run_of(&root, 1);
    let expected = [
        ".lock",
        "checkpoint/current",
        "fields/00000.vdb",
        "fields/00001.vdb",
        "frames/00000.drops",
        "frames/00000.ply",
        "frames/00001.drops",
        "frames/00001.ply",
        "leaf.mp4",
        "measure.jsonl",
        "pictures/00000.png",
        "pictures/00001.png",
        "run.json",
        "scene.toml",
        "solids/table.ply",
        "wet/table/00000.png",
        "wet/table/00001.png",
    ];
    assert_eq!(files(&root), expected.map(str::to_owned).into());
    drop(folder);

    let folder = RunFolder::open(&root).unwrap();
    assert_eq!(folder.read_info().unwrap(), info());
    assert_eq!(folder.frames().unwrap(), [0, 1]);
    let (surface, id) = folder.read_frame(1).unwrap();
    assert_eq!(
        (id, surface.triangles.len()),
        (FrameId { frame: 1, time: 0.1 }, surface_of(&samples::row(2)).unwrap().triangles.len())
    );
    assert_eq!(folder.read_wet("table", 0, 1).unwrap(), Some(wet_map()));
    assert_eq!(folder.read_wet("table", 0, 2).unwrap(), None);
    assert_eq!(folder.read_checkpoint().unwrap(), Some(saved(1)));
    let error = folder.read_frame(5).unwrap_err().to_string();
    assert!(error.ends_with("leaf has no frame 5; it has frames 0 to 1"), "{error}");
}

#[test]
fn files_of_a_frame_follow_from_its_geometry_and_number_of_drops() {
    let place = tempfile::tempdir().unwrap();
    let (folder, _) = RunFolder::claim(place.path()).unwrap();
    let id = FrameId { frame: 0, time: 0.0 };
    // Small drops of few triangles each in flight, and one on the table.
    let mut many = samples::row(2 * INSTANCE_THRESHOLD as u32);
    many.retain(|instance| instance.drop == 2 || instance.solid.is_none());
    assert_eq!(many.len(), INSTANCE_THRESHOLD + 1);
    many.iter_mut().for_each(|instance| instance.volume = 1e-13);
    let few = many[1..].to_vec();
    folder.write_frame(id, &FrameGeometry::Instances(few.clone())).unwrap();
    let both = ["00000.drops".to_owned(), "00000.ply".to_owned()];
    assert_eq!(files(&folder.frames_path()), both.clone().into());
    folder.write_frame(id, &FrameGeometry::Instances(many.clone())).unwrap();
    assert_eq!(files(&folder.frames_path()), ["00000.drops".to_owned()].into(), "the surfaces are removed");
    let tessellated = FrameGeometry::Instances(few.clone()).tessellate_if_few().unwrap();
    folder.write_frame(id, &tessellated).unwrap();
    assert_eq!(files(&folder.frames_path()), both.into());
    assert!(folder.read_instances(0).unwrap() == Some(few));
    folder.write_frame(id, &FrameGeometry::Surfaces(tessellated.into_surface().unwrap())).unwrap();
    assert_eq!(files(&folder.frames_path()), ["00000.ply".to_owned()].into(), "the instances are removed");
    folder.write_frame(id, &FrameGeometry::Instances(many.clone())).unwrap();
    assert!(folder.read_frame(0).unwrap() == (surface_of(&many).unwrap(), id));
    assert_eq!(folder.frames().unwrap(), [0]);
}

#[test]
fn frames_after_the_checkpoint_are_removed_with_all_their_files() {
    let place = tempfile::tempdir().unwrap();
    let whole = tempfile::tempdir().unwrap();
    let folder = run_of(place.path(), 4);
    let shorter = run_of(whole.path(), 2);
    fs::write(place.path().join("frames/notes.txt"), b"mine").unwrap();
    folder.remove_after(Some(2), 0).unwrap();
    fs::remove_file(shorter.video_path("leaf")).unwrap();
    let mut expected = files(whole.path());
    expected.insert("frames/notes.txt".into());
    assert_eq!(files(place.path()), expected);
    assert_eq!(measures_file::read_all(&folder.measures_path()).unwrap(), (0..=2).map(measures).collect::<Vec<_>>());
    folder.write_checkpoint(&saved(2)).unwrap();
}

#[test]
fn a_fresh_start_removes_the_run_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let folder = run_of(place.path(), 2);
    let mine = [
        "notes.txt",
        "frames/7.ply",
        "pictures/best.png",
        "wet/table/readme",
        "checkpoint/old.bin",
        "other.mp4",
        "extra/00000.ply",
    ];
    for name in mine {
        let path = place.path().join(name);
        make_parent(&path).unwrap();
        fs::write(path, b"mine").unwrap();
    }
    folder.remove_run().unwrap();
    let mut expected: BTreeSet<String> = mine.map(str::to_owned).into();
    expected.insert(".lock".into());
    assert_eq!(files(place.path()), expected);
    assert!(!place.path().join("solids").exists() && !place.path().join("fields").exists());
}

#[test]
fn a_folder_with_other_contents_is_an_error_and_stays_unchanged() {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in [("thesis.tex", "x"), ("scene.toml", "model = \"pane\""), ("run.json", "{\"scripts\": {}}")] {
        let root = place.path().join(format!("with {name}"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join(name), text).unwrap();
        let error = RunFolder::claim(&root).unwrap_err();
        assert!(matches!(error, FolderError::Foreign { .. } | FolderError::Info(_)), "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(files(&root), [name.to_owned()].into(), "nothing was added");
        assert!(RunFolder::open(&root).is_err() || name == "run.json");
    }
    let error = RunFolder::open(place.path()).unwrap_err().to_string();
    assert!(error.ends_with("is not a run folder: it contains no run.json"), "{error}");
}

#[test]
fn processes_that_add_files_share_a_folder_and_keep_others_out() {
    let place = tempfile::tempdir().unwrap();
    assert!(matches!(RunFolder::share(place.path()), Err(FolderError::NoRun { .. })));
    drop(run_of(place.path(), 0));
    let temporary = place.path().join("pictures").join(".00000.png.part");
    fs::create_dir_all(temporary.parent().unwrap()).unwrap();
    fs::write(&temporary, "half an image").unwrap();
    let first = RunFolder::share(place.path()).unwrap();
    let second = RunFolder::share(place.path()).unwrap();
    assert!(temporary.exists(), "it may be another process that writes it");
    drop(first);
    assert!(matches!(RunFolder::claim(place.path()), Err(FolderError::Busy { .. })));
    drop(second);
    let claimed = RunFolder::claim(place.path()).unwrap();
    assert!(matches!(RunFolder::share(place.path()), Err(FolderError::Busy { .. })));
    drop(claimed);
    assert!(!temporary.exists(), "claiming removes what killed processes left");
}

#[test]
fn two_runs_cannot_share_a_folder_but_reading_stays_possible() {
    let place = tempfile::tempdir().unwrap();
    let folder = run_of(place.path(), 0);
    assert!(folder.is_claimed());
    let error = RunFolder::claim(place.path()).unwrap_err();
    assert!(matches!(error, FolderError::Busy { .. }), "{error}");
    assert!(!RunFolder::open(place.path()).unwrap().is_claimed());
    drop(folder);
    let (_folder, before) = RunFolder::claim(place.path()).unwrap();
    assert_eq!(before, Some(info()));
}

#[test]
fn temporary_files_of_a_killed_process_are_removed_when_the_folder_is_locked_again() {
    let place = tempfile::tempdir().unwrap();
    drop(run_of(place.path(), 0));
    let before = files(place.path());
    for half in [".run.json.part", "frames/.00001.ply.part", "wet/table/.00001.png.part", "checkpoint/.next.part"] {
        fs::write(place.path().join(half), b"half").unwrap();
    }
    drop(RunFolder::claim(place.path()).unwrap());
    assert_eq!(files(place.path()), before);
}

/// Has no effect for the superuser, who has permission everywhere.
#[cfg(unix)]
#[test]
fn the_error_for_a_folder_without_permission_says_what_to_do() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if let Err(error) = RunFolder::claim(&place.path().join("leaf")) {
        let text = error.to_string();
        assert!(text.contains("leaf: permission denied; choose another folder with `--out`"), "{text}");
    }
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn an_invalid_surface_leaves_the_existing_file_in_place() {
    let place = tempfile::tempdir().unwrap();
    let folder = run_of(place.path(), 0);
    let before = folder.read_frame(0).unwrap().0;
    let mut surface = before.clone();
    surface.positions[0] = DVec3::NAN;
    assert!(folder.write_frame(FrameId { frame: 0, time: 0.0 }, &FrameGeometry::Surfaces(surface)).is_err());
    assert_eq!(folder.read_frame(0).unwrap().0, before);
}
