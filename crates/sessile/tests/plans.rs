//! Plans of many parts: on this machine, on a cluster, and moved from one to the other.
//!
//! The cluster is a stand-in: an `sbatch` that executes every task at once. `scripts/check-slurm`
//! uses a real one.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::common::{Finished, Scratch};

/// A drop on a tilted plate, with a table of what to vary.
const PLATE: &str = r#"
model = "pane"

[time]
duration = "0.1 s"
frame = "10 ms"

[world]
tilt = "30 deg"

[materials.plate]
advancing = "90 deg"
receding = "60 deg"

[[solids]]
name = "plate"
material = "plate"
shape = "plane"
normal = [0, 1, 0]
size = "40 40 mm"

[[drops]]
shape = "cap"
on = "plate"
volume = "20 uL"

[render]
size = [48, 27]

[sweep]
world.tilt = "0..60 deg / 2"
drops.0.volume = ["5 uL", "40 uL"]
"#;

/// Executes all tasks of an array, except those listed in `lost`; prints the job's id.
const SBATCH: &str = r#"#!/bin/sh
for word; do
    case $word in
    --array=0-*) last=${word#--array=0-} ;;
    --output=*) output=${word#--output=} ;;
    --dependency=afterany:*) echo "${word#--dependency=}" >> dependencies ;;
    esac
    script=$word
done
id=$(($(cat id 2>/dev/null || echo 11) + 1))
echo $id > id
for task in $(seq 0 "$last"); do
    grep -q "^$task$" lost 2>/dev/null && continue
    export SLURM_ARRAY_TASK_ID=$task
    bash "$script" >> "$(echo "$output" | sed "s/%a/$task/")" 2>&1
done
echo "$id;lab"
"#;

struct Cluster {
    scratch: Scratch,
}

impl Cluster {
    fn new() -> Self {
        let scratch = Scratch::with_scene(PLATE);
        fs::create_dir(scratch.path("bin")).expect("a folder");
        let programs = [
            ("sbatch", SBATCH),
            ("squeue", "#!/bin/sh\ncat queue 2>/dev/null || { echo 'Invalid job id specified' >&2; exit 1; }\n"),
            ("scontrol", "#!/bin/sh\necho 'MaxArraySize            = 3'\n"),
        ];
        for (name, text) in programs {
            let path = scratch.path("bin").join(name);
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        }
        scratch.write("slurm.toml", "items_per_task = 1\n");
        Self { scratch }
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        let path = format!("{}:{}", self.scratch.path("bin").display(), std::env::var("PATH").unwrap_or_default());
        let output = self.scratch.sessile(arguments).env("PATH", path).output().expect("the program starts");
        Finished::new(arguments, &output)
    }

    fn status(&self, folder: &str) -> serde_json::Value {
        let printed = self.run(&["jobs", folder, "--json"]).expect_code(0).stdout;
        serde_json::from_str(&printed).expect("JSON")
    }
}

/// All files that are results of a plan, by path.
fn results(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(root: &Path, path: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(path).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
            if ["jobs", "checkpoint", "run.json", "timings.csv", ".lock"].contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                collect(root, &path, files);
            } else {
                files.insert(path.strip_prefix(root).expect("inside").to_owned(), fs::read(&path).expect("readable"));
            }
        }
    }
    let mut files = BTreeMap::new();
    collect(root, root, &mut files);
    files
}

fn assert_same(left: &Path, right: &Path) {
    let (left, right) = (results(left), results(right));
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
    for (name, bytes) in &left {
        assert!(right[name] == *bytes, "{} differs", name.display());
    }
}

#[test]
fn a_sweep_on_a_cluster_has_the_results_of_a_local_one() {
    let cluster = Cluster::new();
    let scratch = &cluster.scratch;
    cluster.run(&["sweep", "rain.toml", "--out", "here"]).expect_code(0);
    let submitted = cluster.run(&["sweep", "rain.toml", "--out", "there", "--on", "slurm"]).expect_code(0);
    assert_eq!(submitted.stdout.trim(), "there");
    // Four runs in arrays of at most three tasks, four images, gathering.
    assert_eq!(submitted.stderr.matches("submitted simulate as job").count(), 2, "{}", submitted.stderr);
    let dependencies = fs::read_to_string(scratch.path("dependencies")).expect("dependencies");
    assert_eq!(dependencies, "afterany:12:13\nafterany:12:13\nafterany:14:15\n");
    assert_same(&scratch.path("here"), &scratch.path("there"));
    let report = fs::read_to_string(scratch.path("here/report.html")).expect("a report");
    for wanted in ["final.speed against world.tilt, by drops.0.volume", "Furmidge", "data:image/png", "4 done"] {
        assert!(report.contains(wanted), "no {wanted} in the report");
    }
}

#[test]
fn lost_tasks_are_reported_and_continued_on_this_machine() {
    let cluster = Cluster::new();
    let scratch = &cluster.scratch;
    scratch.write("lost", "1\n");
    let sweep = ["sweep", "rain.toml", "--out", "s"];
    cluster.run(&[&sweep[..], &["--on", "slurm:short"]].concat()).expect_code(0);
    // Gathering does not start while runs are missing.
    assert!(!scratch.path("s/results.csv").exists());
    let status = cluster.status("s");
    assert_eq!((&status["done"], &status["failed"]), (&3.into(), &1.into()), "{status}");
    assert!(status["failures"][0]["reason"].as_str().expect("a reason").contains("no longer known"), "{status}");
    // While tasks are queued, nothing else executes the plan.
    scratch.write("queue", "12_0|COMPLETED|None\n12_1|PENDING|Resources\n");
    let status = cluster.status("s");
    assert_eq!((&status["waiting"], &status["jobs"][0]["tasks"]["PENDING (Resources)"]), (&1.into(), &1.into()));
    cluster.run(&sweep).expect_code(75).expect_message("scancel 12");
    fs::remove_file(scratch.path("queue")).expect("removed");
    cluster.run(&sweep).expect_code(0);
    cluster.run(&["sweep", "rain.toml", "--out", "t"]).expect_code(0);
    assert_same(&scratch.path("s"), &scratch.path("t"));
}

#[test]
fn a_missing_cluster_is_an_error() {
    let scratch = Scratch::with_scene(PLATE);
    let arguments = ["sweep", "rain.toml", "--out", "s", "--on", "slurm"];
    let output = scratch.sessile(&arguments).env("PATH", scratch.path("nothing")).output().expect("the program starts");
    Finished::new(&arguments, &output).expect_code(1).expect_message("`sbatch` was not found");
    scratch.run(&["sweep", "rain.toml", "--on", "pbs"]).expect_code(2);
    scratch.write("slurm.toml", "acount = \"x\"\n");
    scratch.run(&arguments).expect_code(2).expect_message("acount");
}

#[test]
fn a_table_in_the_scene_describes_the_sweep() {
    let scratch = Scratch::with_scene(PLATE);
    let dry = scratch.run(&["sweep", "rain.toml", "--dry-run"]).expect_code(0);
    let lines: Vec<&str> = dry.stdout.lines().collect();
    assert_eq!(lines[0], "4 runs");
    assert!(lines[1].starts_with("estimate: ") && lines[1].contains("CPU time") && lines[1].contains("on disk"));
    let over = ["--over", "world.tilt=10 deg", "--seeds", "3"];
    let dry = scratch.run(&[&["sweep", "rain.toml", "--dry-run"][..], &over].concat()).expect_code(0);
    assert_eq!(dry.stdout.lines().next(), Some("3 runs"), "arguments override the table");
    scratch.run(&["check", "rain.toml"]).expect_code(0);
    scratch.write("rain.toml", PLATE.replace("world.tilt =", "seeds ="));
    scratch.run(&["sweep", "rain.toml", "--dry-run"]).expect_code(2).expect_message("seeds");
}

#[test]
fn frames_rendered_in_parts_are_those_rendered_at_once() {
    let cluster = Cluster::new();
    let scratch = &cluster.scratch;
    let copy = |to: &str| {
        scratch.run(&["run", "rain.toml", "--out", to, "--no-pictures", "--threads", "1"]).expect_code(0);
    };
    ["once", "parts", "there"].into_iter().for_each(copy);
    let options = ["--samples", "1", "--frames", "1..10"];
    scratch.run(&[&["render", "once"][..], &options].concat()).expect_code(0);
    scratch.run(&[&["render", "parts", "--jobs", "2"][..], &options].concat()).expect_code(0);
    cluster.run(&[&["render", "there", "--on", "slurm"][..], &options].concat()).expect_code(0);
    for run in ["parts", "there"] {
        let status = cluster.status(run);
        assert_eq!((&status["total"], &status["done"]), (&10.into(), &10.into()), "{status}");
        fs::remove_file(scratch.path(run).join("jobs.json")).expect("a plan");
        // The video has the name of the scene.
        assert_same(&scratch.path("once"), &scratch.path(run));
    }
}
