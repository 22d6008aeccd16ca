//! What a format cannot take of the look and the motion of solids, one line each.

use sessile_scene::types::{Look, Scene, Solid, SolidShape};

use crate::format::Format;

/// Messages for the user about what an export leaves out.
pub fn notices(format: Format, scene: &Scene) -> Vec<String> {
    scene.solids.iter().filter_map(|solid| line(format, solid)).collect()
}

fn line(format: Format, solid: &Solid) -> Option<String> {
    let (name, title) = (&solid.name, format.title());
    match format {
        Format::Abc | Format::Ply | Format::Obj | Format::Stl | Format::Vtk => {
            let set = [
                ("color", solid.color.is_some()),
                ("texture", solid.texture.is_some()),
                ("normal map", solid.normal_map.is_some()),
            ];
            let set: Vec<&str> = set.iter().filter(|(_, is_set)| *is_set).map(|(what, _)| *what).collect();
            let what = set.join(", ");
            (!set.is_empty()).then(|| format!("solid `{name}`: {what} left out: the {title} files have no materials"))
        }
        Format::Povray if solid.normal_map.is_some() => {
            Some(format!("solid `{name}`: normal map left out: POV-Ray has none"))
        }
        Format::Pbrt if solid.look == Look::Glass && solid.color.is_some() => {
            Some(format!("solid `{name}`: color left out: glass in pbrt is clear"))
        }
        Format::Gltf if matches!(&solid.shape, SolidShape::Mesh { deform, .. } if !deform.is_empty()) => {
            Some(format!("solid `{name}`: deformation left out: the file has its shape at the start"))
        }
        _ => None,
    }
}
