//! The scene reader: a list of errors, or a scene that reads the same again when printed.

use sessile_scene::{NoFiles, parse_str, print};

/// Lines that begin with `#set ` are taken as arguments of `--set`; to the scene itself they are
/// comments.
pub fn scene(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let sets: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("#set ")).map(str::to_owned).collect();
    match parse_str("fuzz.toml", text, &sets, &NoFiles) {
        Ok(parsed) => {
            let printed = print(&parsed.scene);
            match parse_str("printed.toml", &printed, &[], &NoFiles) {
                Ok(again) => assert_eq!(again.scene, parsed.scene, "printed as\n{printed}"),
                Err(errors) => panic!("a printed scene is refused:\n{errors}\nprinted as\n{printed}"),
            }
        }
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}
