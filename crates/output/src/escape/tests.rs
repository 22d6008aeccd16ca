//! Random and hostile texts are escaped and read back by a small reader of each language.

use super::*;

/// Texts that end strings and comments in some language.
const HOSTILE: [&str; 16] = [
    "'''''+str(__import__('os').system('touch pwned'))+'''''",
    "\"\"\"+__import__('os').system('id')+\"\"\"",
    "a\r#debug 1\rLookAt 0 0 0\u{1} x\u{1b}[31m -- --- -",
    "--><script>alert(1)</script><!--",
    "]]><!-- --",
    "\" /> <shape type=\"obj\"/>",
    "*/ #include \"/etc/passwd\" /*",
    "\\",
    "\\\"",
    "@@@@",
    "@@\\@@@@",
    "\n\nInclude \"/etc/passwd\"\n",
    "\u{2028}x\u{2029}y\u{85}z\u{202e}",
    "o a\nmtllib /dev/zero # \\",
    "\0\u{7f}\u{fffe}",
    "grün 水 🌊",
];

/// The hostile texts, and random mixtures of their characters.
fn texts() -> Vec<String> {
    let characters: Vec<char> = HOSTILE.iter().flat_map(|text| text.chars()).collect();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let random = (0..4000).map(|_| (0..next(12)).map(|_| characters[next(characters.len())]).collect());
    HOSTILE.iter().map(|text| (*text).to_owned()).chain(random.collect::<Vec<String>>()).collect()
}

/// Reads one literal in double quotes that must be all of `code`; `unescape` decodes what follows a
/// backslash and returns the rest.
fn read_string(code: &str, unescape: impl Fn(&str) -> (char, usize)) -> String {
    let mut rest = code.strip_prefix('"').expect("begins with a quote");
    let mut value = String::new();
    while let Some(c) = rest.chars().next() {
        match c {
            '"' => {
                assert_eq!(rest, "\"", "the string ends early: {code}");
                return value;
            }
            '\\' => {
                let (c, length) = unescape(&rest[1..]);
                value.push(c);
                rest = &rest[1 + length..];
            }
            '\n' | '\r' => panic!("a line break in {code:?}"),
            c => {
                value.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    panic!("the string does not end: {code}")
}

/// Python's escapes that we write.
fn python_escape(rest: &str) -> (char, usize) {
    let code = |from: usize, to: usize| {
        let number = u32::from_str_radix(&rest[from..to], 16).expect("hexadecimal digits");
        (char::from_u32(number).expect("a character"), to)
    };
    match rest.as_bytes()[0] {
        b'n' => ('\n', 1),
        b'u' => code(1, 5),
        b'U' => code(1, 9),
        byte @ (b'"' | b'\\') => (char::from(byte), 1),
        other => panic!("unknown escape {}", char::from(other)),
    }
}

fn plain_escape(rest: &str) -> (char, usize) {
    let c = rest.chars().next().expect("a character after the backslash");
    (c, c.len_utf8())
}

#[test]
fn python_strings_have_exactly_the_value_of_the_text() {
    for text in texts() {
        let code = python::string(&text);
        assert!(code.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{code:?}");
        assert_eq!(read_string(&code, python_escape), text);
    }
}

#[test]
fn strings_of_scene_files_read_back_on_one_line() {
    for text in texts() {
        for code in [pbrt::string(&text), povray::string(&text), usda::string(&text)] {
            assert_eq!(read_string(&code, plain_escape), one_line(&text));
        }
    }
}

/// Removes the entities; panics on markup.
fn read_xml(text: &str) -> String {
    let mut value = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        assert!(!matches!(c, '<' | '>' | '"' | '\''), "markup in {text:?}");
        if c != '&' {
            value.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (entity, after) = rest[1..].split_once(';').expect("an entity ends with a semicolon");
        value.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            number => {
                let code = number.strip_prefix('#').expect("a known entity").parse().expect("a number");
                char::from_u32(code).expect("a character")
            }
        });
        rest = after;
    }
    value
}

#[test]
fn xml_text_reads_back_and_contains_no_markup() {
    for text in texts() {
        let expected: String = text
            .chars()
            .map(|c| if is_unprintable(c) && !matches!(c, '\t' | '\n' | '\r') { '\u{fffd}' } else { c })
            .collect();
        assert_eq!(read_xml(&xml::text(&text)), expected);
    }
}

#[test]
fn comments_end_where_they_should() {
    for text in texts() {
        let comment = xml::comment(&text);
        let inner = comment.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")).expect("a comment");
        assert!(!inner.contains("--") && !inner.ends_with('-'), "{comment:?}");
        for line in [pbrt::comment(&text), povray::comment(&text)] {
            let line = line.strip_suffix('\n').expect("one line");
            assert!(!line.chars().any(is_unprintable), "{line:?}");
        }
    }
}

#[test]
fn asset_paths_of_a_layer_read_back() {
    for text in texts() {
        let code = usda::asset(&text);
        let path = match code.strip_prefix("@@@") {
            Some(rest) => {
                let inner = rest.strip_suffix("@@@").expect("closing delimiter");
                assert!(!inner.replace("\\@@@", "").contains("@@@"), "ends early: {code}");
                inner.replace("\\@@@", "@@@")
            }
            None => code.trim_matches('@').to_owned(),
        };
        assert_eq!(path, one_line(&text), "{code}");
    }
}

#[test]
fn obj_names_are_one_word() {
    for text in texts() {
        let name = obj::name(&text);
        assert_eq!(name.split_whitespace().collect::<Vec<_>>(), [name.as_str()]);
        assert!(!name.contains(['#', '\\']) && !name.chars().any(is_unprintable), "{name:?}");
    }
}
