//! Titles and destinations with text that would end strings and comments.

use super::*;

const TITLES: [&str; 6] = [
    "'''''+str(__import__('os').system('touch pwned'))+'''''",
    "\"@FILES@\"+\"@SETTINGS@\" \\",
    "a\r#debug 1\rLookAt 0 0 0\u{1} x\u{1b}[31m -- --- -",
    "--><script>alert(1)</script><!--",
    "*/ #include \"/etc/passwd\"\nInclude \"/etc/passwd\"\n",
    "\u{2028}\u{85}\u{202e}",
];

/// Lines of the text files of an export, by file name.
fn text_files(run: &Path, parent: &Path, format: Format) -> Vec<(String, Vec<String>)> {
    let path = destination(parent, format);
    let options = ExportOptions { force: true, ..ExportOptions::default() };
    export_run(run, format, &path, &options, &NoProgress, &AtomicBool::new(false)).unwrap();
    let files: Vec<PathBuf> = if path.is_dir() {
        fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
    } else {
        vec![path]
    };
    let lines = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        (file.file_name().unwrap().to_string_lossy().into_owned(), text.split('\n').map(str::to_owned).collect())
    };
    let mut files: Vec<(String, Vec<String>)> = files.iter().map(lines).collect();
    files.sort();
    files
}

/// Whether a line is nothing but a comment or the string of the title.
fn is_harmless(line: &str, title: &str, format: Format) -> bool {
    !line.contains(char::is_control)
        && match format {
            Format::Blender => line == format!("\"title\": {},", sessile_output::escape::python::string(title)),
            Format::Mitsuba => {
                let inner = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
                inner.is_some_and(|inner| !inner.contains("--"))
            }
            Format::Pbrt => line.starts_with("# "),
            _ => line.starts_with("// "),
        }
}

#[test]
fn a_title_changes_one_comment_or_string_of_generated_code_e1() {
    let folder = tempfile::tempdir().unwrap();
    let plain = small_run(folder.path());
    let formats = [Format::Blender, Format::Mitsuba, Format::Pbrt, Format::Povray];
    let expected = formats.map(|format| text_files(&plain, folder.path(), format));
    for title in TITLES {
        let other = tempfile::tempdir().unwrap();
        let run = run_with_title(other.path(), title);
        for (format, expected) in formats.into_iter().zip(&expected) {
            let found = text_files(&run, other.path(), format);
            assert_eq!(found.len(), expected.len());
            for ((name, found), (_, expected)) in found.iter().zip(expected) {
                assert_eq!(found.len(), expected.len(), "{name} has other lines with the title {title:?}");
                let changed = found.iter().zip(expected).filter(|(a, b)| a != b).map(|(line, _)| line.trim());
                let changed: Vec<&str> = changed.collect();
                assert!(changed.len() <= 1, "{name}: {changed:?}");
                assert!(changed.iter().all(|line| is_harmless(line, title, format)), "{name}: {changed:?}");
            }
        }
    }
}

/// Where Python is installed, it parses the script and finds exactly the title in it.
#[test]
fn python_reads_the_title_back_from_the_script_e1() {
    use std::process::Command;
    const READ: &str = "import ast, sys\n\
        tree = ast.parse(open(sys.argv[1]).read())\n\
        values = {t.id: n.value for n in tree.body if isinstance(n, ast.Assign) for t in n.targets}\n\
        sys.stdout.buffer.write(ast.literal_eval(values['SETTINGS'])['title'].encode())";
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    for title in TITLES {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("it's \"quoted\" $(id).py");
        export(&run_with_title(folder.path(), title), Format::Blender, &script).unwrap();
        let output = Command::new("python3").args(["-c", READ]).arg(&script).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), title, "{error}");
    }
}

#[test]
fn quotes_in_destinations_stay_inside_their_strings_e3() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let stem = "it's \"q\" & <b> @ $(id)";
    export(&run, Format::Vtk, &folder.path().join(format!("{stem}.pvd"))).unwrap();
    let text = fs::read_to_string(folder.path().join(format!("{stem}.pvd"))).unwrap();
    let entries: Vec<&str> = text.lines().filter(|line| line.contains("<DataSet ")).collect();
    assert!(entries.len() > 3 && entries.iter().all(|line| line.matches('"').count() == 8), "{text}");
    export(&run, Format::Usd, &folder.path().join(format!("{stem}.usdc"))).unwrap();
    let layer = fs::read(folder.path().join(format!("{stem}.usdc.files/materialx.usda"))).unwrap();
    let layer = UsdLayer::parse(&layer).unwrap();
    assert_eq!(layer.metadata["subLayers"], UsdValue::Texts(vec![format!("../{stem}.usdc")]));
    for name in ["a\nb.py", "a\\.py", "a\u{1b}.usdc"] {
        let format = if name.ends_with("py") { Format::Blender } else { Format::Usd };
        let error = export(&run, format, &folder.path().join(name)).unwrap_err();
        assert!(matches!(error, ExportError::DestinationName { .. }), "{error}");
    }
}
