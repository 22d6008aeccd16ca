//! Models (.glb, .obj, .stl, .ply) from the page: written into a private folder that ends with the
//! session, and opened as a scene with rain over them.

use std::fs;
use std::path::{Path, PathBuf};

/// Largest file, in bytes.
pub(crate) const LARGEST: usize = 48 << 20;
/// Kinds of files, by extension.
const KINDS: [&str; 5] = ["glb", "gltf", "obj", "stl", "ply"];

/// A private folder that is removed at the end.
#[derive(Debug)]
pub(crate) struct UploadFolder {
    path: PathBuf,
}

impl UploadFolder {
    pub fn new() -> Result<Self, String> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers: {error}"))?;
        let path = std::env::temp_dir().join(format!("sessile-studio-{:016x}", u64::from_le_bytes(bytes)));
        fs::create_dir(&path).map_err(|error| format!("cannot make a folder for the model: {error}"))?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file; returns its name in the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<String, String> {
        let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        if !KINDS.contains(&extension.as_str()) {
            return Err(format!("{name} is no model: .glb, .gltf, .obj, .stl and .ply files are read"));
        }
        let own = format!("model.{extension}");
        fs::write(self.path.join(&own), bytes).map_err(|error| format!("cannot keep the model: {error}"))?;
        Ok(own)
    }
}

impl Drop for UploadFolder {
    fn drop(&mut self) {
        // The system removes what is left in its temporary folder.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A scene of a model, 60 mm high, in the rain.
pub(crate) fn scene_text(file: &str) -> String {
    format!(
        "title = \"A model in the rain\"\nmodel = \"droplet\"\n\n[time]\nduration = \"10 s\"\nframe = \"20 ms\"\n\n\
         [[solids]]\nname = \"model\"\nshape = \"mesh\"\nfile = \"{file}\"\nheight = \"60 mm\"\nlook = \"ceramic\"\n\n\
         [[emitters]]\nkind = \"rain\"\nover = \"model\"\nrate = \"15 um/s\"\n\
         radius = {{ min = \"0.3 mm\", max = \"1.2 mm\" }}\nvelocity = \"0 -3 0 m/s\"\n"
    )
}

/// The bytes of a text in base 64.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || "the file did not arrive whole".to_owned();
    if text.len() > LARGEST / 3 * 4 {
        return Err(format!("the file is larger than {} MB", LARGEST >> 20));
    }
    let digits = text.trim_end_matches('=').bytes();
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in digits {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(wrong()),
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    if bits == 0 { Ok(out) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_decoded() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(decode(text).expect("it is valid"), bytes.as_bytes());
        }
        assert!(decode("Zm9v!").is_err() && decode("Zh==").is_err());
    }

    #[test]
    fn only_models_are_kept_under_a_name_of_our_own() {
        let folder = UploadFolder::new().expect("a folder");
        assert_eq!(folder.write("../../evil/bunny.OBJ", b"v 0 0 0").expect("a model"), "model.obj");
        assert!(folder.path().join("model.obj").exists());
        assert!(folder.write("run.sh", b"").is_err());
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }
}
