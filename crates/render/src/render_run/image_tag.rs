//! The tag of an image: what it was rendered with, stored in the PNG itself.
//!
//! It is a text chunk with the keyword `sessile` that holds the view (a hash of the scene's keys
//! that affect images and of the image files that they name), the size and the method. An image
//! with another tag is not mistaken for the requested one.

use std::io::BufReader;
use std::path::Path;

use sessile_scene::image_keys;
use sessile_scene::types::{EnvironmentMap, Scene, Texture};

/// Keyword of the text in a PNG.
pub(super) const KEYWORD: &str = "sessile";

/// What an image was rendered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImageTag {
    /// Hash of everything in the scene that affects images, see [`view_hash`].
    pub view: String,
    /// Columns and rows.
    pub size: [usize; 2],
    /// How it was rendered, in words without a semicolon.
    pub how: String,
}

impl ImageTag {
    /// The text stored in an image.
    pub fn text(&self) -> String {
        format!("view {}; size {}x{}; {}", self.view, self.size[0], self.size[1], self.how)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, "; ");
        let view = parts.next()?.strip_prefix("view ")?.to_owned();
        let (width, height) = parts.next()?.strip_prefix("size ")?.split_once('x')?;
        Some(Self { view, size: [width.parse().ok()?, height.parse().ok()?], how: parts.next()?.to_owned() })
    }

    /// The tag of an image; `None` without an image or a valid tag.
    pub fn read(path: &Path) -> Option<Self> {
        let reader = png::Decoder::new(BufReader::new(sessile_input::open(path, sessile_input::MAX_IMAGE).ok()?))
            .read_info()
            .ok()?;
        let info = reader.info();
        let text = info.uncompressed_latin1_text.iter().find(|text| text.keyword == KEYWORD)?;
        let tag = Self::parse(&text.text)?;
        (tag.size == [info.width as usize, info.height as usize]).then_some(tag)
    }
}

/// A hash of everything that images depend on besides the frames: scene keys and the contents of
/// image files.
///
/// A file that cannot be read counts by its name alone; rendering will report the error.
pub(super) fn view_hash(scene: &Scene) -> String {
    let mut hasher = blake3::Hasher::new();
    for (key, value) in image_keys(scene) {
        hasher.update(format!("{key} = {value}\n").as_bytes());
    }
    let textures = scene.solids.iter().filter_map(|solid| match &solid.texture {
        Some(Texture::Image(file)) => Some(file),
        _ => None,
    });
    let normal_maps = scene.solids.iter().filter_map(|solid| solid.normal_map.as_ref());
    let environment = match &scene.lights.environment {
        EnvironmentMap::Image(file) => Some(file),
        EnvironmentMap::Preset(_) => None,
    };
    for file in textures.chain(normal_maps).chain(environment).chain(&scene.render.backdrop) {
        hasher.update(format!("file {}\n", file.display()).as_bytes());
        if let Ok(bytes) = sessile_input::read(file, sessile_input::MAX_IMAGE) {
            hasher.update(&bytes);
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_files::write_png_with_text;

    #[test]
    fn a_tag_round_trips_and_other_files_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let tag = ImageTag { view: "0123456789abcdef".into(), size: [3, 2], how: "4 samples, raw".into() };
        assert_eq!(ImageTag::read(&path), None, "no file");
        write_png_with_text(&path, 3, 2, &[7; 18], &[(KEYWORD, &tag.text())]).unwrap();
        assert_eq!(ImageTag::read(&path), Some(tag.clone()));
        write_png_with_text(&path, 2, 2, &[7; 12], &[(KEYWORD, &tag.text())]).unwrap();
        assert_eq!(ImageTag::read(&path), None, "an image of another size");
        write_png_with_text(&path, 3, 2, &[7; 18], &[]).unwrap();
        assert_eq!(ImageTag::read(&path), None, "no tag");
        std::fs::write(&path, "not an image").unwrap();
        assert_eq!(ImageTag::read(&path), None);
    }
}
