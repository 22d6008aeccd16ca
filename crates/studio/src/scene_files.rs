//! Files that a scene from the page may name: built-in ones, and those in the folder of the scene
//! that was opened on the command line.

use std::path::{Component, Path, PathBuf};

use sessile_scene::{Files, Folder};

/// Files inside one folder.
pub(crate) struct OnlyInside {
    root: PathBuf,
    folder: Folder,
}

impl OnlyInside {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), folder: Folder::new(root) }
    }

    /// Why a path may not be used.
    fn forbidden(&self, path: &Path) -> Option<String> {
        if path.to_str().is_some_and(|name| name.starts_with("builtin:")) {
            return None;
        }
        let outside = || Some("scenes in the studio use built-in files and files beside the scene only".to_owned());
        let Ok(inside) = path.strip_prefix(&self.root) else { return outside() };
        if inside.components().any(|part| !matches!(part, Component::Normal(_))) {
            return outside();
        }
        // A link may lead elsewhere.
        match (path.canonicalize(), self.root.canonicalize()) {
            (Ok(real), Ok(root)) if !real.starts_with(&root) => outside(),
            _ => None,
        }
    }
}

impl Files for OnlyInside {
    fn resolve(&self, name: &str) -> PathBuf {
        self.folder.resolve(name)
    }

    fn problem(&self, path: &Path) -> Option<String> {
        self.forbidden(path).or_else(|| self.folder.problem(path))
    }

    fn image_problem(&self, path: &Path) -> Option<String> {
        self.forbidden(path).or_else(|| self.folder.image_problem(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_of_the_folder_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.obj"), "v 0 0 0\n").expect("a file");
        let files = OnlyInside::new(folder.path());
        let problem = |name: &str| files.problem(&files.resolve(name));
        assert_eq!(problem("a.obj"), None);
        for name in ["/etc/passwd", "../a.obj", "x/../../a.obj"] {
            assert!(problem(name).is_some_and(|text| text.contains("beside the scene")), "{name}");
        }
    }
}
