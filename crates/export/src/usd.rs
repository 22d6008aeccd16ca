//! USD: the run as one binary layer, with textures in a folder beside it.
//!
//! ```text
//! /World                 Xform, default prim; metersPerUnit 1, upAxis Y
//! /World/Liquid          Mesh: points, counts, indices, extent, velocities, primvars:drop, by time
//! /World/Solids/NAME     Mesh with primvars:st, placed by xformOp:transform (by time where it moves)
//! /World/Looks/NAME      Material: UsdPreviewSurface
//! /World/Camera          Camera (by time where it follows a drop)
//! /World/Sky             DomeLight with the scene's environment; sun and lamps beside it
//! ```
//!
//! `materialx.usda` in the folder beside it is a layer over this one that gives the liquid MaterialX's standard surface too.
//!
//! A time code is a frame's number, and `timeCodesPerSecond` is frames per simulated second, so that velocities in m/s and positions agree;
//! `framesPerSecond` is the rate of the video. A frame of the same topology as the one before shares its arrays.

pub mod crate_file;
mod integer_coding;

use glam::{DMat4, DVec3, Vec3};
use sessile_appearance::Camera;
use sessile_world::Pose;

use crate::error::ExportError;
use crate::job::Job;
use crate::looks::{LiquidShade, SceneLooks, SolidLook};
use crate::sky::write_environment;
use crate::source::Shot;
use crate::stagecraft::dry_mask;
use crate_file::{Crate, Prim, Value};
use sessile_output::Sink;

/// Height of the film that camera lengths are told for, in tenths of a scene unit, as USD has it: 24 mm.
const FILM: f64 = 0.24;

/// Roughness of a film of water, for the wet parts of a solid.
const WET_ROUGHNESS: f32 = 0.17;

/// Writes the job's frames into its destination's main file.
pub fn write(job: &Job<'_>) -> Result<(), ExportError> {
    let looks = SceneLooks::of(job.source)?;
    let main = job.destination.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut over = job.destination.inside("materialx.usda")?;
    over.text(&materialx_layer(&main, &looks.shade()))?;
    over.finish()?;
    write_layer(job, &looks, job.destination.file()?, &job.destination.companion_name())
}

/// Writes the job's frames as a layer, and its images among the export's files, which the layer sees in `folder`.
pub fn write_layer(job: &Job<'_>, looks: &SceneLooks, sink: Sink, folder: &str) -> Result<(), ExportError> {
    looks.write_textures(job)?;
    let file = Crate::new(sink)?;
    Layer { job, looks, folder, file }.write()
}

struct Layer<'a> {
    job: &'a Job<'a>,
    looks: &'a SceneLooks,
    /// Where textures are, as seen from the layer.
    folder: &'a str,
    file: Crate,
}

impl Layer<'_> {
    fn write(mut self) -> Result<(), ExportError> {
        let source = self.job.source;
        let mut world = Prim::new(&mut self.file, "World", "Xform");
        let kind = self.file.token("assembly");
        world.field("kind", kind);
        world.child(self.liquid()?);
        let times: Vec<f64> = source.frames.iter().map(|&frame| frame as f64).collect();
        let times = self.file.times(&times)?;
        world.child(self.solids(times)?);
        world.child(self.materials(times)?);
        world.child(self.camera(times)?);
        self.lights(&mut world)?;
        let mut root = Prim::root();
        let (first, last) = source.range();
        let rate = 1.0 / source.scene.time.frame;
        for (name, value) in [
            ("startTimeCode", first as f64),
            ("endTimeCode", last as f64),
            ("timeCodesPerSecond", rate),
            ("framesPerSecond", source.scene.render.fps),
            ("metersPerUnit", 1.0),
        ] {
            let value = self.file.double(value)?;
            root.field(name, value);
        }
        let (up, default) = (self.file.token("Y"), self.file.token("World"));
        root.field("upAxis", up);
        root.field("defaultPrim", default);
        let comment = self.file.string(&format!("{}: drops by sessile {}", source.scene.title, source.info.version));
        root.field("comment", comment);
        let interval = self.file.double(source.scene.time.frame)?;
        let about = self.file.dictionary(&[("sessile:secondsPerFrame", interval)])?;
        root.field("customLayerData", about);
        root.child(world);
        self.file.finish(root)
    }

    /// The liquid's mesh: each frame goes to the file as it is read.
    fn liquid(&mut self) -> Result<Prim, ExportError> {
        let job = self.job;
        let mut columns = Columns::default();
        let file = &mut self.file;
        job.each_shot(|shot| columns.take(file, &shot))?;
        let mut mesh = Prim::new(file, "Liquid", "Mesh");
        let schemas = file.prepended_tokens(&["MaterialBindingAPI"])?;
        mesh.field("apiSchemas", schemas);
        let times: Vec<f64> = job.source.frames.iter().map(|&frame| frame as f64).collect();
        let times = file.times(&times)?;
        for (name, kind, values) in [
            ("points", "point3f[]", &columns.points),
            ("velocities", "vector3f[]", &columns.velocities),
            ("faceVertexCounts", "int[]", &columns.counts),
            ("faceVertexIndices", "int[]", &columns.indices),
            ("extent", "float3[]", &columns.extents),
        ] {
            let samples = file.samples(times, values)?;
            mesh.attribute(file, name, kind, &[("timeSamples", samples)]);
        }
        for (name, interpolation, values) in
            [("primvars:drop", "vertex", &columns.drops), ("primvars:solid", "uniform", &columns.solids)]
        {
            let (samples, how) = (file.samples(times, values)?, file.token(interpolation));
            mesh.attribute(file, name, "int[]", &[("interpolation", how), ("timeSamples", samples)]);
        }
        let (none, right) = (file.token("none"), file.token("rightHanded"));
        mesh.uniform(file, "subdivisionScheme", "token", none);
        mesh.uniform(file, "orientation", "token", right);
        mesh.relationship(file, "material:binding", "/World/Looks/Water")?;
        Ok(mesh)
    }

    fn solids(&mut self, times: Value) -> Result<Prim, ExportError> {
        let source = self.job.source;
        let mut scope = Prim::new(&mut self.file, "Solids", "Scope");
        for (index, look) in self.looks.solids.iter().enumerate() {
            let solid = &source.world.solids()[index];
            let rest = solid.mesh();
            let file = &mut self.file;
            let mut mesh = Prim::new(file, &look.name, "Mesh");
            let schemas = file.prepended_tokens(&["MaterialBindingAPI"])?;
            mesh.field("apiSchemas", schemas);
            let points: Vec<[f32; 3]> = rest.positions.iter().map(|p| p.as_vec3().to_array()).collect();
            let indices: Vec<i32> = rest.triangles.iter().flatten().map(|&v| v.cast_signed()).collect();
            let values = [
                ("points", "point3f[]", file.vec3f_array(&points)?),
                ("extent", "float3[]", file.vec3f_array(&extent(&points))?),
                ("faceVertexCounts", "int[]", file.int_array(&vec![3; rest.triangles.len()])?),
                ("faceVertexIndices", "int[]", file.int_array(&indices)?),
            ];
            for (name, kind, value) in values {
                mesh.value(file, name, kind, value);
            }
            if !rest.corner_uvs.is_empty() {
                let uvs: Vec<[f32; 2]> = rest.corner_uvs.iter().flatten().map(|uv| uv.as_vec2().to_array()).collect();
                let (uvs, how) = (file.vec2f_array(&uvs)?, file.token("faceVarying"));
                mesh.attribute(file, "primvars:st", "texCoord2f[]", &[("interpolation", how), ("default", uvs)]);
            }
            let none = file.token("none");
            mesh.uniform(file, "subdivisionScheme", "token", none);
            // A sheet is seen from both sides.
            if !look.body {
                let both = file.bool(true);
                mesh.uniform(file, "doubleSided", "bool", both);
            }
            if solid.moves() {
                let mut poses = Vec::new();
                for &frame in &source.frames {
                    let world = source.world_at(source.time_of(frame));
                    poses.push(self.file.matrix4d(&rows(world.solids()[index].world_from_rest()))?);
                }
                self.transform(&mut mesh, Some(times), &poses)?;
            } else {
                let pose = self.file.matrix4d(&rows(solid.world_from_rest()))?;
                self.transform(&mut mesh, None, &[pose])?;
            }
            mesh.relationship(&mut self.file, "material:binding", &format!("/World/Looks/{}", look.name))?;
            scope.child(mesh);
        }
        Ok(scope)
    }

    fn transform(&mut self, prim: &mut Prim, times: Option<Value>, values: &[Value]) -> Result<(), ExportError> {
        let file = &mut self.file;
        let field = match times {
            Some(times) => ("timeSamples", file.samples(times, values)?),
            None => ("default", values[0]),
        };
        prim.attribute(file, "xformOp:transform", "matrix4d", &[field]);
        let order = file.token_array(&["xformOp:transform"])?;
        prim.uniform(file, "xformOpOrder", "token[]", order);
        Ok(())
    }

    fn materials(&mut self, times: Value) -> Result<Prim, ExportError> {
        let mut scope = Prim::new(&mut self.file, "Looks", "Scope");
        scope.child(self.water()?);
        for (index, look) in self.looks.solids.iter().enumerate() {
            scope.child(self.solid_material(index, look, times)?);
        }
        Ok(scope)
    }

    fn water(&mut self) -> Result<Prim, ExportError> {
        let shade = self.looks.shade();
        let file = &mut self.file;
        let mut material = Prim::new(file, "Water", "Material");
        material.connect(file, "outputs:surface", "token", "/World/Looks/Water/Preview.outputs:surface")?;
        let mut preview = shader(file, "Preview", "UsdPreviewSurface");
        let color = file.vec3f(shade.opaque.unwrap_or(Vec3::ONE).to_array())?;
        preview.value(file, "inputs:diffuseColor", "color3f", color);
        let opacity = if shade.opaque.is_some() { 1.0 } else { 0.1 };
        for (name, value) in [
            ("inputs:ior", shade.index),
            ("inputs:roughness", 0.0),
            ("inputs:metallic", f32::from(u8::from(shade.metal))),
            ("inputs:opacity", opacity),
        ] {
            let value = file.float(value);
            preview.value(file, name, "float", value);
        }
        preview.attribute(file, "outputs:surface", "token", &[]);
        material.child(preview);
        Ok(material)
    }

    /// A solid's material. Where the run has wet maps, wet parts are smoother: roughness is read from the map of each frame.
    fn solid_material(&mut self, index: usize, look: &SolidLook, times: Value) -> Result<Prim, ExportError> {
        let path = format!("/World/Looks/{}", look.name);
        let wet = self.wet_maps(index, look)?;
        let file = &mut self.file;
        let mut material = Prim::new(file, &look.name, "Material");
        material.connect(file, "outputs:surface", "token", &format!("{path}/Preview.outputs:surface"))?;
        let mut preview = shader(file, "Preview", "UsdPreviewSurface");
        if let Some(texture) = &look.texture {
            let asset = file.asset(&format!("./{}/{texture}", self.folder));
            let mut image = texture_reader(file, "Color", &path, &[("default", asset)], "sRGB")?;
            image.attribute(file, "outputs:rgb", "float3", &[]);
            material.child(image);
            preview.connect(file, "inputs:diffuseColor", "color3f", &format!("{path}/Color.outputs:rgb"))?;
        } else {
            let color = file.vec3f(look.color.to_array())?;
            preview.value(file, "inputs:diffuseColor", "color3f", color);
        }
        let dry = look.roughness();
        let mut numbers = vec![
            ("inputs:ior", look.glass.or(look.coat).unwrap_or(1.5)),
            ("inputs:metallic", f32::from(u8::from(look.metal))),
            ("inputs:opacity", if look.is_clear() { 0.2 } else { 1.0 }),
        ];
        if wet.is_empty() {
            numbers.push(("inputs:roughness", dry));
        } else {
            let samples = file.samples(times, &wet)?;
            let fields = [("default", wet[0]), ("timeSamples", samples)];
            let mut image = texture_reader(file, "Wetness", &path, &fields, "raw")?;
            for (name, value) in [("inputs:scale", WET_ROUGHNESS.min(dry) - dry), ("inputs:bias", dry)] {
                let value = file.vec4f_of(value)?;
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
        if look.texture.is_some() || !wet.is_empty() {
            let mut reader = shader(file, "Coordinates", "UsdPrimvarReader_float2");
            let st = file.string("st");
            reader.value(file, "inputs:varname", "string", st);
            reader.attribute(file, "outputs:result", "float2", &[]);
            material.child(reader);
        }
        material.child(preview);
        Ok(material)
    }

    /// Copies the wet maps of a solid, if it has any; where a frame has none, the solid is dry, and so is the map.
    fn wet_maps(&mut self, index: usize, look: &SolidLook) -> Result<Vec<Value>, ExportError> {
        let source = self.job.source;
        if !source.has_wet_maps(index) {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        for &frame in &source.frames {
            let name = if source.has_wet_map(index, frame) {
                let name = format!("wet/{}/{frame:05}.png", look.name);
                self.job.destination.copy_inside(&source.folder.wet_path(&source.solids[index], frame), &name)?;
                name
            } else {
                let name = "wet/dry.png".to_owned();
                let mut sink = self.job.destination.inside(&name)?;
                sink.put(&dry_mask())?;
                sink.finish()?;
                name
            };
            values.push(self.file.asset(&format!("./{}/{name}", self.folder)));
        }
        Ok(values)
    }

    fn camera(&mut self, times: Value) -> Result<Prim, ExportError> {
        let source = self.job.source;
        let camera = source.camera_at(source.frames[0]);
        let mut prim = Prim::new(&mut self.file, "Camera", "Camera");
        let aspect = f64::from(source.scene.render.size[0]) / f64::from(source.scene.render.size[1].max(1));
        let focal = 0.5 * FILM / (0.5 * camera.fov).tan();
        let distance = camera.focus.unwrap_or(camera.eye.distance(camera.look_at));
        // Lengths of lens and film are told in tenths of a unit; the f-number is a ratio of them.
        let f_stop = if camera.lens_radius > 0.0 { focal / 10.0 / (2.0 * camera.lens_radius) } else { 0.0 };
        for (name, value) in [
            ("focalLength", focal),
            ("verticalAperture", FILM),
            ("horizontalAperture", FILM * aspect),
            ("focusDistance", distance),
            ("fStop", f_stop),
        ] {
            let value = self.file.float(value as f32);
            prim.value(&mut self.file, name, "float", value);
        }
        let clip = self.file.vec2f([(1e-3 * distance) as f32, (1e4 * distance) as f32])?;
        prim.value(&mut self.file, "clippingRange", "float2", clip);
        let projection = self.file.token("perspective");
        prim.value(&mut self.file, "projection", "token", projection);
        if source.camera_moves() {
            let mut poses = Vec::new();
            for &frame in &source.frames {
                poses.push(self.file.matrix4d(&camera_rows(&source.camera_at(frame)))?);
            }
            self.transform(&mut prim, Some(times), &poses)?;
        } else {
            let pose = self.file.matrix4d(&camera_rows(&camera))?;
            self.transform(&mut prim, None, &[pose])?;
        }
        Ok(prim)
    }

    fn lights(&mut self, world: &mut Prim) -> Result<(), ExportError> {
        let source = self.job.source;
        let image = write_environment(self.job, "textures/environment.hdr")?;
        let file = &mut self.file;
        let mut sky = Prim::new(file, "Sky", "DomeLight");
        let asset = file.asset(&format!("./{}/{image}", self.folder));
        let latlong = file.token("latlong");
        sky.value(file, "inputs:texture:file", "asset", asset);
        sky.value(file, "inputs:texture:format", "token", latlong);
        // Our image's middle looks to +z, as USD's does; both are seen from inside.
        world.child(sky);
        if let Some(sun) = &source.scene.lights.sun {
            let mut prim = Prim::new(file, "Sun", "DistantLight");
            let brightest = sun.color.iter().copied().fold(0.0, f64::max).max(1e-12);
            let half = (0.5 * sun.angle).max(1e-3);
            // A distant light's intensity is the radiance of its disc.
            let intensity = brightest / (std::f64::consts::PI * half.sin().powi(2));
            let color = file.vec3f(sun.color.map(|c| (c / brightest) as f32))?;
            let (angle, intensity) = (file.float((2.0 * half).to_degrees() as f32), file.float(intensity as f32));
            prim.value(file, "inputs:color", "color3f", color);
            prim.value(file, "inputs:angle", "float", angle);
            prim.value(file, "inputs:intensity", "float", intensity);
            let pose = file.matrix4d(&looking_rows(DVec3::ZERO, -sun.direction))?;
            self.transform(&mut prim, None, &[pose])?;
            world.child(prim);
        }
        for (k, lamp) in source.scene.lights.area.iter().enumerate() {
            let file = &mut self.file;
            let mut prim = Prim::new(file, &format!("Lamp{}", k + 1), "RectLight");
            let brightest = lamp.color.iter().copied().fold(0.0, f64::max).max(1e-12);
            let color = file.vec3f(lamp.color.map(|c| (c / brightest) as f32))?;
            prim.value(file, "inputs:color", "color3f", color);
            for (name, value) in
                [("inputs:width", lamp.size), ("inputs:height", lamp.size), ("inputs:intensity", brightest)]
            {
                let value = file.float(value as f32);
                prim.value(file, name, "float", value);
            }
            let pose = file.matrix4d(&looking_rows(lamp.center, lamp.look_at - lamp.center))?;
            self.transform(&mut prim, None, &[pose])?;
            world.child(prim);
        }
        Ok(())
    }
}

/// What stays while vertices only move: triangles, drops of vertices, solids of triangles.
type Topology = (Vec<[u32; 3]>, Vec<u32>, Vec<i32>);

/// The liquid's arrays, by frame.
#[derive(Default)]
struct Columns {
    points: Vec<Value>,
    velocities: Vec<Value>,
    counts: Vec<Value>,
    indices: Vec<Value>,
    extents: Vec<Value>,
    drops: Vec<Value>,
    solids: Vec<Value>,
    /// The last frame's triangles, drops and solids: where they stay, their arrays are shared.
    before: Option<Topology>,
}

impl Columns {
    fn take(&mut self, file: &mut Crate, shot: &Shot) -> Result<(), ExportError> {
        let liquid = &shot.liquid;
        let points: Vec<[f32; 3]> = liquid.positions.iter().map(|p| p.as_vec3().to_array()).collect();
        let velocities: Vec<[f32; 3]> = liquid.velocities.iter().map(|v| v.as_vec3().to_array()).collect();
        self.points.push(file.vec3f_array(&points)?);
        self.velocities.push(file.vec3f_array(&velocities)?);
        self.extents.push(file.vec3f_array(&extent(&points))?);
        let same = self.before.as_ref().is_some_and(|(triangles, drops, solids)| {
            *triangles == liquid.triangles && *drops == liquid.drops && *solids == liquid.solids
        });
        if same {
            for column in [&mut self.counts, &mut self.indices, &mut self.drops, &mut self.solids] {
                column.extend(column.last().copied());
            }
            return Ok(());
        }
        let signed = |values: &[u32]| values.iter().map(|v| v.cast_signed()).collect::<Vec<i32>>();
        let indices: Vec<i32> = liquid.triangles.iter().flatten().map(|&v| v.cast_signed()).collect();
        self.counts.push(file.int_array(&vec![3; liquid.triangles.len()])?);
        self.indices.push(file.int_array(&indices)?);
        self.drops.push(file.int_array(&signed(&liquid.drops))?);
        self.solids.push(file.int_array(&liquid.solids)?);
        self.before = Some((liquid.triangles.clone(), liquid.drops.clone(), liquid.solids.clone()));
        Ok(())
    }
}

/// Least and largest coordinates; zeros where there is no point.
fn extent(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let (low, high) = points.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
        let p = Vec3::from_array(*p);
        (low.min(p), high.max(p))
    });
    if points.is_empty() { [[0.0; 3]; 2] } else { [low.to_array(), high.to_array()] }
}

fn shader(file: &mut Crate, name: &str, id: &str) -> Prim {
    let mut prim = Prim::new(file, name, "Shader");
    let id = file.token(id);
    prim.uniform(file, "info:id", "token", id);
    prim
}

fn texture_reader(
    file: &mut Crate,
    name: &str,
    material: &str,
    image: &[(&'static str, Value)],
    space: &str,
) -> Result<Prim, ExportError> {
    let mut prim = shader(file, name, "UsdUVTexture");
    prim.attribute(file, "inputs:file", "asset", image);
    prim.connect(file, "inputs:st", "float2", &format!("{material}/Coordinates.outputs:result"))?;
    let (clamp, space) = (file.token("clamp"), file.token(space));
    prim.value(file, "inputs:wrapS", "token", clamp);
    prim.value(file, "inputs:wrapT", "token", clamp);
    prim.value(file, "inputs:sourceColorSpace", "token", space);
    Ok(prim)
}

/// A layer over the main one that gives the liquid MaterialX's standard surface too: a clear liquid that colors light by the way through it.
///
/// It stands apart because a USD without MaterialX does not know that shader, and its validators say so.
fn materialx_layer(main: &str, shade: &LiquidShade) -> String {
    /// Depth, in m, at which the transmitted color is told.
    const DEPTH: f32 = 0.01;
    let clear = shade.opaque.is_none();
    let base = shade.opaque.unwrap_or(Vec3::ONE);
    let through = (-shade.absorption * DEPTH).exp();
    let number = |yes: bool| u8::from(yes);
    format!(
        r#"#usda 1.0
(
    defaultPrim = "World"
    doc = "The run's layer with a MaterialX surface for its liquid; open this one where MaterialX is known."
    metersPerUnit = 1
    upAxis = "Y"
    subLayers = [
        @../{main}@
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
        number(shade.metal),
        shade.index,
        number(clear),
        through.x,
        through.y,
        through.z,
    )
}

/// A pose as USD's matrix for row vectors.
fn rows(pose: &Pose) -> [f64; 16] {
    let matrix = DMat4::from_mat3_translation(pose.rotation, pose.translation);
    // Columns of a matrix for column vectors are rows of one for row vectors.
    matrix.to_cols_array()
}

/// A thing at `eye` that looks along `forward`: its own axis is −z, up is y.
fn looking_rows(eye: DVec3, forward: DVec3) -> [f64; 16] {
    let forward = forward.try_normalize().unwrap_or(DVec3::NEG_Z);
    let right = forward.cross(DVec3::Y);
    let right = if right.length_squared() > 1e-12 { right.normalize() } else { DVec3::X };
    let up = right.cross(forward);
    DMat4::from_cols(right.extend(0.0), up.extend(0.0), (-forward).extend(0.0), eye.extend(1.0)).to_cols_array()
}

fn camera_rows(camera: &Camera) -> [f64; 16] {
    looking_rows(camera.eye, camera.look_at - camera.eye)
}
