//! What a picture was drawn with, written into the picture itself, so that one drawn otherwise is not taken for the one that is wanted.
//!
//! A PNG carries it as text under the keyword `sessile`; it says the view (a hash of the scene's `[camera]`, `[lights]` and `[render]` and
//! of the image files that they and the solids use), the size and how it was drawn.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use sessile_scene::image_keys;
use sessile_scene::types::{EnvironmentMap, Scene, Texture};

/// Keyword of the text in a PNG.
pub(super) const KEYWORD: &str = "sessile";

/// What a picture was drawn with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PictureStamp {
    /// Hash of all that the scene says about pictures, see [`view_hash`].
    pub view: String,
    /// Columns and rows.
    pub size: [usize; 2],
    /// How it was drawn, in words without a semicolon.
    pub how: String,
}

impl PictureStamp {
    /// As written into a picture.
    pub fn text(&self) -> String {
        format!("view {}; size {}x{}; {}", self.view, self.size[0], self.size[1], self.how)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, "; ");
        let view = parts.next()?.strip_prefix("view ")?.to_owned();
        let (width, height) = parts.next()?.strip_prefix("size ")?.split_once('x')?;
        Some(Self { view, size: [width.parse().ok()?, height.parse().ok()?], how: parts.next()?.to_owned() })
    }

    /// The stamp of a picture; `None` when there is no picture, or none of ours.
    pub fn read(path: &Path) -> Option<Self> {
        let reader = png::Decoder::new(BufReader::new(File::open(path).ok()?)).read_info().ok()?;
        let info = reader.info();
        let text = info.uncompressed_latin1_text.iter().find(|text| text.keyword == KEYWORD)?;
        let stamp = Self::parse(&text.text)?;
        (stamp.size == [info.width as usize, info.height as usize]).then_some(stamp)
    }
}

/// A hash of everything that pictures of a scene's frames depend on beyond the frames: keys and the contents of image files.
///
/// A file that cannot be read counts as its name alone: whoever draws with it will say what is wrong.
pub(super) fn view_hash(scene: &Scene) -> String {
    let mut hasher = blake3::Hasher::new();
    for (key, value) in image_keys(scene) {
        hasher.update(format!("{key} = {value}\n").as_bytes());
    }
    let textures = scene.solids.iter().filter_map(|solid| match &solid.texture {
        Some(Texture::Image(file)) => Some(file),
        _ => None,
    });
    let environment = match &scene.lights.environment {
        EnvironmentMap::Image(file) => Some(file),
        EnvironmentMap::Preset(_) => None,
    };
    for file in textures.chain(environment) {
        hasher.update(format!("file {}\n", file.display()).as_bytes());
        let _: io::Result<()> = File::open(file).and_then(|file| hasher.update_reader(file).map(|_| ()));
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_files::write_png_noted;

    #[test]
    fn a_stamp_comes_back_from_its_picture_and_only_from_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let stamp = PictureStamp { view: "0123456789abcdef".into(), size: [3, 2], how: "4 samples, raw".into() };
        assert_eq!(PictureStamp::read(&path), None, "no file");
        write_png_noted(&path, 3, 2, &[7; 18], &[(KEYWORD, &stamp.text())]).unwrap();
        assert_eq!(PictureStamp::read(&path), Some(stamp.clone()));
        write_png_noted(&path, 2, 2, &[7; 12], &[(KEYWORD, &stamp.text())]).unwrap();
        assert_eq!(PictureStamp::read(&path), None, "a picture that was resized");
        write_png_noted(&path, 3, 2, &[7; 18], &[]).unwrap();
        assert_eq!(PictureStamp::read(&path), None, "no stamp");
        std::fs::write(&path, "no picture").unwrap();
        assert_eq!(PictureStamp::read(&path), None);
    }
}
