//! Staged output: everything appears under its final name at once, or nothing does.
//!
//! Files are written under temporary names beside the destination (`.NAME.part`), on the same disk,
//! and renamed at the end. A format that needs more than one file writes either a folder, or a main
//! file with a companion folder next to it; the folder is renamed first, so that the main file
//! never refers to missing files. When anything fails, or the value is dropped, the temporary files
//! are removed, which also frees the space on a full disk. Temporary files of a killed process are
//! replaced by the next export to the same name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{OutputError, unfinished};

/// Size of the write buffer, in bytes.
const BUFFER: usize = 1 << 18;

/// Files that make up the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One file.
    File,
    /// One file, and a folder beside it if any file is added to it.
    FileAndFolder,
    /// A folder.
    Folder,
}

/// An output being written.
#[derive(Debug)]
pub struct Destination {
    /// Final and temporary name of the main file or folder.
    main: (PathBuf, PathBuf),
    /// Final and temporary name of the companion folder.
    companion: Option<(PathBuf, PathBuf)>,
    force: bool,
    committed: bool,
}

impl Destination {
    /// Prepares to write at `path`, which must not exist unless `force` is set.
    pub fn new(path: &Path, layout: Layout, force: bool) -> Result<Self, OutputError> {
        let path = trimmed(path);
        let companion = (layout == Layout::FileAndFolder).then(|| companion(&path));
        for taken in [Some(&path), companion.as_ref()].into_iter().flatten() {
            if !force && fs::symlink_metadata(taken).is_ok() {
                return Err(OutputError::Exists { path: taken.clone() });
            }
        }
        // A folder is never replaced by a file or vice versa: that is most likely a typing error.
        if let Ok(found) = fs::metadata(&path)
            && found.is_dir() != (layout == Layout::Folder)
        {
            return Err(OutputError::Exists { path });
        }
        let staged = |path: &PathBuf| (path.clone(), temporary(path));
        let destination =
            Self { main: staged(&path), companion: companion.as_ref().map(staged), force, committed: false };
        destination.clear().map_err(OutputError::writing(&destination.main.0))?;
        unfinished::add(destination.staged());
        let folder =
            if layout == Layout::Folder { Some(destination.main.1.as_path()) } else { destination.main.1.parent() };
        if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(OutputError::writing(&destination.main.0))?;
        }
        Ok(destination)
    }

    /// The final path of the main file or folder.
    pub fn path(&self) -> &Path {
        &self.main.0
    }

    /// Name of the companion folder, relative to the main file.
    pub fn companion_name(&self) -> String {
        let name = self.companion.as_ref().and_then(|(path, _)| path.file_name());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Opens the main file for writing.
    pub fn file(&self) -> Result<Sink, OutputError> {
        Sink::create(&self.main.1, &self.main.0)
    }

    /// Opens a file in the destination folder, or in the companion folder of a main file.
    ///
    /// Folders are created as needed.
    pub fn inside(&self, name: &str) -> Result<Sink, OutputError> {
        let (staged, path) = self.staged_path(name)?;
        Sink::create(&staged, &path)
    }

    /// Copies a file into the destination folder, or into the companion folder of a main file.
    pub fn copy_inside(&self, from: &Path, name: &str) -> Result<(), OutputError> {
        let (staged, path) = self.staged_path(name)?;
        fs::copy(from, staged).map(|_| ()).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => OutputError::Read { path: from.to_owned(), cause },
            _ => OutputError::Write { path, cause },
        })
    }

    /// Temporary and final path of a file in the destination or companion folder.
    pub fn staged_path(&self, name: &str) -> Result<(PathBuf, PathBuf), OutputError> {
        let (path, staged) = self.companion.as_ref().unwrap_or(&self.main);
        let (path, staged) = (path.join(name), staged.join(name));
        if let Some(folder) = staged.parent() {
            fs::create_dir_all(folder).map_err(OutputError::writing(&path))?;
        }
        Ok((staged, path))
    }

    /// Renames everything to its final name.
    pub fn commit(mut self) -> Result<(), OutputError> {
        let mut pairs: Vec<&(PathBuf, PathBuf)> = self.companion.iter().filter(|(_, staged)| staged.exists()).collect();
        pairs.push(&self.main);
        for (path, staged) in pairs {
            move_into_place(staged, path, self.force).map_err(|cause| match cause.kind() {
                // Another process has created it in the meantime.
                io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
                    OutputError::Exists { path: path.clone() }
                }
                _ => OutputError::Write { path: path.clone(), cause },
            })?;
        }
        self.committed = true;
        unfinished::remove(self.staged());
        Ok(())
    }

    /// Removes the temporary files.
    fn clear(&self) -> io::Result<()> {
        self.staged().try_for_each(|path| remove(path))
    }

    /// Temporary names of the main file or folder and of the companion folder.
    fn staged(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.main.1).chain(self.companion.iter().map(|(_, staged)| staged))
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if !self.committed {
            // The error that led here is the one to report.
            let _ = self.clear();
            unfinished::remove(self.staged());
        }
    }
}

fn trimmed(path: &Path) -> PathBuf {
    // `runs/out/` and `runs/out` are the same path.
    path.components().collect()
}

/// The folder beside a main file: `drops.usdc.files` beside `drops.usdc`.
fn companion(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".files");
    path.with_file_name(name)
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    path.with_file_name(name)
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        found => found?,
    };
    if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn move_into_place(staged: &Path, path: &Path, force: bool) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return fs::rename(staged, path);
    }
    if !force {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if !staged.is_dir() {
        return fs::rename(staged, path);
    }
    // A folder cannot be renamed onto one that has files: the old one is moved away first, and back
    // if the rename fails.
    let mut old = temporary(path).into_os_string();
    old.push(".old");
    let old = PathBuf::from(old);
    remove(&old)?;
    fs::rename(path, &old)?;
    if let Err(cause) = fs::rename(staged, path) {
        let _ = fs::rename(&old, path);
        return Err(cause);
    }
    remove(&old)
}

/// A file being written; errors name its final path.
#[derive(Debug)]
pub struct Sink {
    file: BufWriter<File>,
    path: PathBuf,
    at: u64,
}

impl Sink {
    fn create(staged: &Path, path: &Path) -> Result<Self, OutputError> {
        let file = File::create(staged).map_err(OutputError::writing(path))?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER, file), path: path.to_owned(), at: 0 })
    }

    /// Number of bytes written so far.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Writes bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes).map_err(OutputError::writing(&self.path))
    }

    /// Writes text.
    pub fn text(&mut self, text: &str) -> Result<(), OutputError> {
        self.put(text.as_bytes())
    }

    /// Overwrites bytes at `at`; later writes continue at the end.
    pub fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), OutputError> {
        use std::io::{Seek, SeekFrom};
        let patched = self
            .file
            .seek(SeekFrom::Start(at))
            .and_then(|_| self.file.write_all(bytes))
            .and_then(|()| self.file.seek(SeekFrom::End(0)));
        patched.map(|_| ()).map_err(OutputError::writing(&self.path))
    }

    /// Flushes everything to the disk, which reports a full disk at the latest.
    pub fn finish(mut self) -> Result<(), OutputError> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        flushed.map_err(OutputError::writing(&self.path))
    }

    /// The underlying writer; the caller reports errors. Bytes written to it are not counted by
    /// [`at`](Self::at).
    pub fn writer(&mut self) -> &mut BufWriter<File> {
        &mut self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn final_names_appear_only_on_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drops.usdc");
        let destination = Destination::new(&path, Layout::FileAndFolder, false).unwrap();
        let mut sink = destination.file().unwrap();
        sink.text("half").unwrap();
        destination.inside("wet/a.png").unwrap().finish().unwrap();
        assert_eq!(names(folder.path()), [".drops.usdc.files.part", ".drops.usdc.part"]);
        sink.finish().unwrap();
        destination.commit().unwrap();
        assert_eq!(names(folder.path()), ["drops.usdc", "drops.usdc.files"]);
        assert_eq!(names(&folder.path().join("drops.usdc.files/wet")), ["a.png"]);
    }

    #[test]
    fn dropped_output_leaves_the_old_file_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        assert!(matches!(Destination::new(&path, Layout::File, false), Err(OutputError::Exists { .. })));
        let destination = Destination::new(&path, Layout::File, true).unwrap();
        destination.file().unwrap().text("half of the new").unwrap();
        drop(destination);
        assert_eq!(
            (names(folder.path()), fs::read_to_string(&path).unwrap()),
            (vec!["out.csv".to_owned()], "old".into())
        );
    }

    #[test]
    fn force_replaces_whole_folders_but_never_a_folder_by_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("old"), "x").unwrap();
        let destination = Destination::new(&folder.path().join("out/"), Layout::Folder, true).unwrap();
        destination.inside("new").unwrap().finish().unwrap();
        destination.commit().unwrap();
        assert_eq!((names(folder.path()), names(&path)), (vec!["out".to_owned()], vec!["new".to_owned()]));
        assert!(matches!(Destination::new(&path, Layout::File, true), Err(OutputError::Exists { .. })));
    }

    #[test]
    fn writes_after_a_patch_continue_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::new(&folder.path().join("a"), Layout::File, false).unwrap();
        let mut sink = destination.file().unwrap();
        sink.text("____tail").unwrap();
        sink.patch(0, b"head").unwrap();
        sink.text("!").unwrap();
        assert_eq!(sink.at(), 9);
        sink.finish().unwrap();
        destination.commit().unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "headtail!");
    }
}
