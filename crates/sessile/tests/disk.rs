//! Full or read-only disks: a clear error, exit code 1, and a run that resumes once there is space.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{RAIN, Scratch, assert_same_results};

/// A small in-memory file system, unmounted on drop.
struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// `None`, with a message, where mounting is not permitted.
    fn mount(at: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self { at: at.to_owned() });
        }
        // Not by a print macro, which the test harness would keep to itself.
        let _ = writeln!(
            std::io::stderr(),
            "LEFT OUT: this machine lets the tests mount no disk of their own, so a full or read-only one was not tried"
        );
        None
    }

    fn remount(&self, options: &str) {
        let done = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.at).status().unwrap();
        assert!(done.success(), "cannot remount with {options}");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

#[test]
fn a_full_disk_stops_the_run_which_resumes_bit_identically_when_there_is_space() {
    let scratch = Scratch::with_scene(RAIN);
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "whole"]).expect_code(0);
    let whole = scratch.results("whole");
    let size: usize = whole.values().map(Vec::len).sum();

    let Some(disk) = SmallDisk::mount(&scratch.path("disk"), &format!("size={}k", size / 2048)) else { return };
    let command = ["run", "rain.toml", "--no-pictures", "--checkpoint", "0", "--out", "disk/run"];
    scratch.run(&command).expect_code(1).expect_message("the disk is full").expect_message("disk/run/");
    disk.remount(&format!("size={}k", 8 * size / 1024 + 4096));
    scratch.run(&command).expect_code(0).expect_message("from frame");
    assert_same_results(&scratch.results("disk/run"), &whole, "after a full disk");
}

#[test]
fn a_read_only_folder_is_reported_and_a_run_in_it_is_kept() {
    let scratch = Scratch::with_scene(RAIN);
    let Some(disk) = SmallDisk::mount(&scratch.path("disk"), "size=64m") else { return };
    let command = ["run", "rain.toml", "--no-pictures", "--out", "disk/run", "--set", "time.duration=\"0.2 s\""];
    scratch.run(&command).expect_code(0);
    let before = scratch.results("disk/run");
    disk.remount("ro");
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "disk/run"]).expect_code(1).expect_message("read-only");
    scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "disk/new"]).expect_code(1).expect_message("read-only");
    scratch.run(&["measure", "disk/run", "--json"]).expect_code(0);
    assert_same_results(&scratch.results("disk/run"), &before, "on a read-only disk");
    disk.remount("rw");
    scratch
        .run(&["run", "rain.toml", "--no-pictures", "--out", "disk/run"])
        .expect_code(0)
        .expect_message("from frame 8");
}

#[test]
fn a_folder_under_a_file_cannot_be_made() {
    let scratch = Scratch::with_scene(RAIN);
    let failed = scratch.run(&["run", "rain.toml", "--no-pictures", "--out", "rain.toml/run"]);
    failed.expect_code(1).expect_message("rain.toml/run");
}
