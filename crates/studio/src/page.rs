//! The page: files that are part of the program.

/// A file of the page.
pub(crate) struct PageFile {
    /// Path in the address.
    pub path: &'static str,
    /// Media type.
    pub media: &'static str,
    /// Contents.
    pub bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal $media:literal),* $(,)?) => {
        &[$(PageFile { path: concat!("/", $name), media: $media, bytes: include_bytes!(concat!("../page/", $name)) }),*]
    };
}

/// All files; the page itself is `index.html`.
pub(crate) const FILES: &[PageFile] = files![
    "index.html" "text/html; charset=utf-8",
    "studio.css" "text/css; charset=utf-8",
    "main.js" "text/javascript; charset=utf-8",
    "dom.js" "text/javascript; charset=utf-8",
    "sources.js" "text/javascript; charset=utf-8",
    "protocol.js" "text/javascript; charset=utf-8",
    "renderer.js" "text/javascript; charset=utf-8",
    "shaders.js" "text/javascript; charset=utf-8",
    "drop_shaders.js" "text/javascript; charset=utf-8",
    "light.js" "text/javascript; charset=utf-8",
    "shadows.js" "text/javascript; charset=utf-8",
    "camera.js" "text/javascript; charset=utf-8",
    "vectors.js" "text/javascript; charset=utf-8",
    "hand.js" "text/javascript; charset=utf-8",
    "panels.js" "text/javascript; charset=utf-8",
    "overlay.js" "text/javascript; charset=utf-8",
    "player.js" "text/javascript; charset=utf-8",
    "icon.svg" "image/svg+xml",
];

/// The file at a path of an address.
pub(crate) fn file(path: &str) -> Option<&'static PageFile> {
    let path = if path == "/" { "/index.html" } else { path };
    FILES.iter().find(|file| file.path == path)
}
