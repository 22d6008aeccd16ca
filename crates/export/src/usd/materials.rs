//! Materials: UsdPreviewSurface for all, and a separate layer with MaterialX for the liquid.

use glam::Vec3;

use sessile_output::escape::usda;

use super::Layer;
use super::crate_file::{Crate, Prim, Value};
use crate::error::ExportError;
use crate::materials::{LiquidParameters, SolidMaterial};
use crate::render_assets::dry_mask;

impl Layer<'_> {
    /// Adds the materials of the liquid and the solids.
    pub(super) fn materials(&mut self, times: Value) -> Result<Prim, ExportError> {
        let mut scope = Prim::new(&mut self.file, "Looks", "Scope");
        scope.child(self.liquid_material()?);
        for (index, solid) in self.materials.solids.iter().enumerate() {
            scope.child(self.solid_material(index, solid, times)?);
        }
        Ok(scope)
    }

    fn liquid_material(&mut self) -> Result<Prim, ExportError> {
        let liquid = self.materials.liquid_parameters();
        let file = &mut self.file;
        let mut material = Prim::new(file, "Water", "Material");
        material.connect(file, "outputs:surface", "token", "/World/Looks/Water/Preview.outputs:surface")?;
        let mut preview = shader(file, "Preview", "UsdPreviewSurface");
        let color = file.vec3f(liquid.opaque.unwrap_or(Vec3::ONE).to_array())?;
        preview.value(file, "inputs:diffuseColor", "color3f", color);
        let opacity = if liquid.opaque.is_some() { 1.0 } else { 0.1 };
        for (name, value) in [
            ("inputs:ior", liquid.index),
            ("inputs:roughness", 0.0),
            ("inputs:metallic", f32::from(u8::from(liquid.metal))),
            ("inputs:opacity", opacity),
        ] {
            let value = file.float(value);
            preview.value(file, name, "float", value);
        }
        preview.attribute(file, "outputs:surface", "token", &[]);
        material.child(preview);
        Ok(material)
    }

    /// Material of a solid. Where the run has wet maps, the roughness is read from the map of each
    /// frame: wet parts are smoother.
    fn solid_material(&mut self, index: usize, solid: &SolidMaterial, times: Value) -> Result<Prim, ExportError> {
        let path = format!("/World/Looks/{}", solid.name);
        let wet = self.wet_maps(index, solid)?;
        let file = &mut self.file;
        let mut material = Prim::new(file, &solid.name, "Material");
        material.connect(file, "outputs:surface", "token", &format!("{path}/Preview.outputs:surface"))?;
        let mut preview = shader(file, "Preview", "UsdPreviewSurface");
        let wrap = if solid.repeats { "repeat" } else { "clamp" };
        if let Some(texture) = &solid.texture {
            let asset = file.asset(&format!("./{}/{texture}", self.folder));
            let mut image = texture_reader(file, "Color", &path, &[("default", asset)], ["sRGB", wrap])?;
            image.attribute(file, "outputs:rgb", "float3", &[]);
            material.child(image);
            preview.connect(file, "inputs:diffuseColor", "color3f", &format!("{path}/Color.outputs:rgb"))?;
        } else {
            let color = file.vec3f(solid.color.to_array())?;
            preview.value(file, "inputs:diffuseColor", "color3f", color);
        }
        if let Some(map) = &solid.normal_map {
            let asset = file.asset(&format!("./{}/{map}", self.folder));
            let mut image = texture_reader(file, "Normals", &path, &[("default", asset)], ["raw", wrap])?;
            for (name, value) in [("inputs:scale", 2.0), ("inputs:bias", -1.0)] {
                let value = file.vec4f_splat(value)?;
                image.value(file, name, "float4", value);
            }
            image.attribute(file, "outputs:rgb", "float3", &[]);
            material.child(image);
            preview.connect(file, "inputs:normal", "normal3f", &format!("{path}/Normals.outputs:rgb"))?;
        }
        let dry = solid.roughness();
        let mut numbers = vec![
            ("inputs:ior", solid.glass.or(solid.coat).unwrap_or(1.5)),
            ("inputs:metallic", solid.metallic),
            ("inputs:opacity", if solid.is_transparent() { 0.2 } else { 1.0 }),
        ];
        if wet.is_empty() {
            numbers.push(("inputs:roughness", dry));
        } else {
            let samples = file.samples(times, &wet)?;
            let fields = [("default", wet[0]), ("timeSamples", samples)];
            let mut image = texture_reader(file, "Wetness", &path, &fields, ["raw", "clamp"])?;
            for (name, value) in [("inputs:scale", solid.wet_roughness() - dry), ("inputs:bias", dry)] {
                let value = file.vec4f_splat(value)?;
                image.value(file, name, "float4", value);
            }
            image.attribute(file, "outputs:r", "float", &[]);
            material.child(image);
            preview.connect(file, "inputs:roughness", "float", &format!("{path}/Wetness.outputs:r"))?;
        }
        for (name, value) in numbers {
            let value = file.float(value);
            preview.value(file, name, "float", value);
        }
        preview.attribute(file, "outputs:surface", "token", &[]);
        if solid.texture.is_some() || solid.normal_map.is_some() || !wet.is_empty() {
            let mut reader = shader(file, "Coordinates", "UsdPrimvarReader_float2");
            let st = file.string("st");
            reader.value(file, "inputs:varname", "string", st);
            reader.attribute(file, "outputs:result", "float2", &[]);
            material.child(reader);
        }
        material.child(preview);
        Ok(material)
    }

    /// Copies the wet maps of a solid, if it has any, with a dry one where there is none yet: the
    /// files of all frames are a sequence.
    fn wet_maps(&mut self, index: usize, solid: &SolidMaterial) -> Result<Vec<Value>, ExportError> {
        let source = self.job.source;
        if !source.has_wet_maps(index) {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        for &frame in &source.frames {
            let name = format!("wet/{}/{:05}.png", solid.name, source.shown(frame));
            if source.has_wet_map(index, frame) {
                self.job.destination.copy_inside(&source.folder.wet_path(&source.solids[index], frame), &name)?;
            } else {
                self.job.write_file(&name, &dry_mask()?)?;
            }
            values.push(self.file.asset(&format!("./{}/{name}", self.folder)));
        }
        Ok(values)
    }
}

/// Starts a shader prim.
fn shader(file: &mut Crate, name: &str, id: &str) -> Prim {
    let mut prim = Prim::new(file, name, "Shader");
    let id = file.token(id);
    prim.uniform(file, "info:id", "token", id);
    prim
}

/// Starts a prim that reads an image of a color space at the texture coordinates; `wrap` says what
/// is beyond 0 to 1.
fn texture_reader(
    file: &mut Crate,
    name: &str,
    material: &str,
    image: &[(&'static str, Value)],
    [space, wrap]: [&str; 2],
) -> Result<Prim, ExportError> {
    let mut prim = shader(file, name, "UsdUVTexture");
    prim.attribute(file, "inputs:file", "asset", image);
    prim.connect(file, "inputs:st", "float2", &format!("{material}/Coordinates.outputs:result"))?;
    let (wrap, space) = (file.token(wrap), file.token(space));
    prim.value(file, "inputs:wrapS", "token", wrap);
    prim.value(file, "inputs:wrapT", "token", wrap);
    prim.value(file, "inputs:sourceColorSpace", "token", space);
    Ok(prim)
}

/// A layer over the main one that adds a MaterialX standard surface to the liquid.
///
/// It is separate because USD builds without MaterialX do not know that shader, and their
/// validators report it.
pub(super) fn materialx_layer(main: &str, liquid: &LiquidParameters) -> String {
    /// Depth at which the transmission color is given, in m.
    const DEPTH: f32 = 0.01;
    let main = usda::asset(&format!("../{main}"));
    let clear = liquid.opaque.is_none();
    let base = liquid.opaque.unwrap_or(Vec3::ONE);
    let transmission = (-liquid.absorption * DEPTH).exp();
    let number = |flag: bool| u8::from(flag);
    format!(
        r#"#usda 1.0
(
    defaultPrim = "World"
    doc = "The run's layer with a MaterialX surface for its liquid; open this one where MaterialX is known."
    metersPerUnit = 1
    upAxis = "Y"
    subLayers = [
        {main}
    ]
)

over "World"
{{
    over "Looks"
    {{
        over "Water"
        {{
            token outputs:mtlx:surface.connect = </World/Looks/Water/Standard.outputs:out>

            def Shader "Standard"
            {{
                uniform token info:id = "ND_standard_surface_surfaceshader"
                float inputs:base = {}
                color3f inputs:base_color = ({}, {}, {})
                float inputs:metalness = {}
                float inputs:specular = 1
                float inputs:specular_roughness = 0
                float inputs:specular_IOR = {}
                float inputs:transmission = {}
                color3f inputs:transmission_color = ({}, {}, {})
                float inputs:transmission_depth = {DEPTH}
                token outputs:out
            }}
        }}
    }}
}}
"#,
        number(!clear),
        base.x,
        base.y,
        base.z,
        number(liquid.metal),
        liquid.index,
        number(clear),
        transmission.x,
        transmission.y,
        transmission.z,
    )
}
