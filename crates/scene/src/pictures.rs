//! Names that a scene may use for pictures.

/// `look` of a solid.
pub const LOOKS: &[(&str, ())] = &[
    ("glass", ()),
    ("metal", ()),
    ("plastic", ()),
    ("rubber", ()),
    ("ceramic", ()),
    ("stone", ()),
    ("wood", ()),
    ("paint", ()),
    ("leaf", ()),
    ("skin", ()),
    ("matte", ()),
];

/// Built-in `texture` of a solid.
pub const TEXTURES: &[(&str, ())] =
    &[("checker", ()), ("tiles", ()), ("grid", ()), ("stripes", ()), ("wood", ()), ("noise", ())];

/// Built-in `lights.environment`; the first is the default.
pub const ENVIRONMENTS: &[(&str, ())] = &[("studio", ()), ("sky", ()), ("garden", ()), ("city", ()), ("dawn", ())];

/// Whether a texture or environment is meant as a file: it has an extension or a folder.
pub(crate) fn names_a_file(name: &str) -> bool {
    name.contains(['.', '/', '\\'])
}
