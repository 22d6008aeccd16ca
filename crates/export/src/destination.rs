//! Where an export goes: all of it appears under its final name at once, or nothing does.
//!
//! Everything is written under temporary names beside the destination (`.NAME.part`), so that a rename puts it in place on the same disk. Formats
//! that need more than one file either take a folder as their destination, or a main file with a companion folder next to
//! it; the folder is put in place first, so that the main file never names what is not there. When anything fails, or the value is dropped, the temporary
//! files are removed, which also gives their space back to a full disk. What a killed process left under a temporary name is replaced by the next export to that name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::ExportError;

/// Bytes that are gathered before they go to the file.
const BUFFER: usize = 1 << 18;

/// What a format writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One file.
    File,
    /// One file, and a folder beside it if something is put into it.
    FileAndFolder,
    /// A folder.
    Folder,
}

/// A destination under way.
#[derive(Debug)]
pub struct Destination {
    /// Final and temporary name of the main file or folder.
    main: (PathBuf, PathBuf),
    /// Final and temporary name of the companion folder.
    companion: Option<(PathBuf, PathBuf)>,
    layout: Layout,
    force: bool,
    committed: bool,
}

impl Destination {
    /// Prepares to write at `path`; refuses what exists unless `force`.
    pub fn new(path: &Path, layout: Layout, force: bool) -> Result<Self, ExportError> {
        let path = trimmed(path);
        let companion = (layout == Layout::FileAndFolder).then(|| companion(&path));
        for taken in [Some(&path), companion.as_ref()].into_iter().flatten() {
            if !force && fs::symlink_metadata(taken).is_ok() {
                return Err(ExportError::Exists { path: taken.clone() });
            }
        }
        // A folder is not replaced by a file or the other way round, even by force: that is a slip of the pen.
        if let Ok(found) = fs::metadata(&path)
            && found.is_dir() != (layout == Layout::Folder)
        {
            return Err(ExportError::Exists { path });
        }
        let staged = |path: &PathBuf| (path.clone(), temporary(path));
        let destination =
            Self { main: staged(&path), companion: companion.as_ref().map(staged), layout, force, committed: false };
        destination.clear().map_err(ExportError::writing(&destination.main.0))?;
        let folder =
            if layout == Layout::Folder { Some(destination.main.1.as_path()) } else { destination.main.1.parent() };
        if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(ExportError::writing(&destination.main.0))?;
        }
        Ok(destination)
    }

    /// Its final name.
    pub fn path(&self) -> &Path {
        &self.main.0
    }

    /// How the companion folder is called in the main file.
    pub fn companion_name(&self) -> String {
        let name = self.companion.as_ref().and_then(|(path, _)| path.file_name());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Opens the main file for writing.
    pub fn file(&self) -> Result<Sink, ExportError> {
        Sink::create(&self.main.1, &self.main.0)
    }

    /// Opens a file in the destination folder, or in the companion folder of a main file; folders are made as needed.
    pub fn inside(&self, name: &str) -> Result<Sink, ExportError> {
        let (staged, path) = self.place_inside(name)?;
        Sink::create(&staged, &path)
    }

    /// Copies a file to a place inside.
    pub fn copy_inside(&self, from: &Path, name: &str) -> Result<(), ExportError> {
        let (staged, path) = self.place_inside(name)?;
        fs::copy(from, staged).map(|_| ()).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => ExportError::Read { path: from.to_owned(), cause },
            _ => ExportError::Write { path, cause },
        })
    }

    /// Where a file inside is written now, and its final name.
    pub fn place_inside(&self, name: &str) -> Result<(PathBuf, PathBuf), ExportError> {
        let (path, staged) = self.companion.as_ref().unwrap_or(&self.main);
        let (path, staged) = (path.join(name), staged.join(name));
        if let Some(folder) = staged.parent() {
            fs::create_dir_all(folder).map_err(ExportError::writing(&path))?;
        }
        Ok((staged, path))
    }

    /// Puts everything in place.
    pub fn commit(mut self) -> Result<(), ExportError> {
        let mut places: Vec<&(PathBuf, PathBuf)> =
            self.companion.iter().filter(|(_, staged)| staged.exists()).collect();
        places.push(&self.main);
        for (path, staged) in places {
            put_in_place(staged, path, self.force).map_err(|cause| match cause.kind() {
                // Someone else was quicker.
                io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
                    ExportError::Exists { path: path.clone() }
                }
                _ => ExportError::Write { path: path.clone(), cause },
            })?;
        }
        self.committed = true;
        Ok(())
    }

    /// Removes what lies under the temporary names.
    fn clear(&self) -> io::Result<()> {
        let staged = std::iter::once(&self.main.1).chain(self.companion.iter().map(|(_, staged)| staged));
        for path in staged {
            remove(path)?;
        }
        Ok(())
    }

    /// What it writes.
    pub fn layout(&self) -> Layout {
        self.layout
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        if !self.committed {
            // The error that brought us here is the one worth telling.
            let _ = self.clear();
        }
    }
}

fn trimmed(path: &Path) -> PathBuf {
    // `runs/out/` and `runs/out` are one name.
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

fn remove(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        found => found?,
    };
    if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn put_in_place(staged: &Path, path: &Path, force: bool) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return fs::rename(staged, path);
    }
    if !force {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if !staged.is_dir() {
        return fs::rename(staged, path);
    }
    // A folder cannot be renamed onto one that has files: the old one steps aside first, and is back if the new one cannot come.
    let mut aside = temporary(path).into_os_string();
    aside.push(".old");
    let aside = PathBuf::from(aside);
    remove(&aside)?;
    fs::rename(path, &aside)?;
    if let Err(cause) = fs::rename(staged, path) {
        let _ = fs::rename(&aside, path);
        return Err(cause);
    }
    remove(&aside)
}

/// A file being written; errors name its final path.
#[derive(Debug)]
pub struct Sink {
    file: BufWriter<File>,
    path: PathBuf,
    at: u64,
}

impl Sink {
    fn create(staged: &Path, path: &Path) -> Result<Self, ExportError> {
        let file = File::create(staged).map_err(ExportError::writing(path))?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER, file), path: path.to_owned(), at: 0 })
    }

    /// Bytes written so far.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Writes bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes).map_err(ExportError::writing(&self.path))
    }

    /// Writes text.
    pub fn text(&mut self, text: &str) -> Result<(), ExportError> {
        self.put(text.as_bytes())
    }

    /// Writes over bytes that are there already, and goes on at the end.
    pub fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), ExportError> {
        use std::io::{Seek, SeekFrom};
        let patched = self
            .file
            .seek(SeekFrom::Start(at))
            .and_then(|_| self.file.write_all(bytes))
            .and_then(|()| self.file.seek(SeekFrom::End(0)));
        patched.map(|_| ()).map_err(ExportError::writing(&self.path))
    }

    /// Writes out what is gathered and flushes it to the disk: a full disk is told here at the latest.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let flushed = self.file.flush().and_then(|()| self.file.get_ref().sync_data());
        flushed.map_err(ExportError::writing(&self.path))
    }

    /// The same as a plain writer, with the error told by the caller.
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
    fn nothing_has_the_final_name_before_all_is_written() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("drops.usdc");
        let destination = Destination::new(&path, Layout::FileAndFolder, false).unwrap();
        let mut sink = destination.file().unwrap();
        sink.text("half").unwrap();
        destination.inside("wet/a.png").unwrap().finish().unwrap();
        assert_eq!(names(place.path()), [".drops.usdc.files.part", ".drops.usdc.part"]);
        sink.finish().unwrap();
        destination.commit().unwrap();
        assert_eq!(names(place.path()), ["drops.usdc", "drops.usdc.files"]);
        assert_eq!(names(&place.path().join("drops.usdc.files/wet")), ["a.png"]);
    }

    #[test]
    fn an_export_that_fails_leaves_nothing_and_the_old_file_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        assert!(matches!(Destination::new(&path, Layout::File, false), Err(ExportError::Exists { .. })));
        let destination = Destination::new(&path, Layout::File, true).unwrap();
        destination.file().unwrap().text("half of the new").unwrap();
        drop(destination);
        assert_eq!(
            (names(place.path()), fs::read_to_string(&path).unwrap()),
            (vec!["out.csv".to_owned()], "old".into())
        );
    }

    #[test]
    fn force_replaces_a_folder_whole_and_never_a_file_by_a_folder() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("out");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("old"), "x").unwrap();
        let destination = Destination::new(&place.path().join("out/"), Layout::Folder, true).unwrap();
        destination.inside("new").unwrap().finish().unwrap();
        destination.commit().unwrap();
        assert_eq!((names(place.path()), names(&path)), (vec!["out".to_owned()], vec!["new".to_owned()]));
        assert!(matches!(Destination::new(&path, Layout::File, true), Err(ExportError::Exists { .. })));
    }

    #[test]
    fn patching_goes_on_at_the_end() {
        let place = tempfile::tempdir().unwrap();
        let destination = Destination::new(&place.path().join("a"), Layout::File, false).unwrap();
        let mut sink = destination.file().unwrap();
        sink.text("____tail").unwrap();
        sink.patch(0, b"head").unwrap();
        sink.text("!").unwrap();
        assert_eq!(sink.at(), 9);
        sink.finish().unwrap();
        destination.commit().unwrap();
        assert_eq!(fs::read_to_string(place.path().join("a")).unwrap(), "headtail!");
    }
}
