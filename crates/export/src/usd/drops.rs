//! The drops as points, besides their meshes: one per drop with its id, volume and the normal of
//! the solid that it is on, to scatter instances on or to drive particles.

use std::collections::BTreeMap;

use glam::DVec3;
use sessile_frames::{DropMeasures, measures_file};
use sessile_numerics::sphere_radius;
use sessile_world::World;

use super::crate_file::{Crate, Prim, Value};
use super::{Layer, extent};
use crate::error::ExportError;

/// The points' arrays, one per frame.
#[derive(Default)]
struct Columns {
    points: Vec<Value>,
    velocities: Vec<Value>,
    normals: Vec<Value>,
    widths: Vec<Value>,
    ids: Vec<Value>,
    extents: Vec<Value>,
}

impl Layer<'_> {
    /// Adds the drops as points. Their purpose is `guide`, so that renderers show the mesh alone.
    pub(super) fn drops(&mut self, times: Value) -> Result<Prim, ExportError> {
        let source = self.job.source;
        let (first, last) = source.range();
        let mut drops: BTreeMap<u64, Vec<DropMeasures>> = BTreeMap::new();
        measures_file::for_each(&source.folder.measures_path(), |measures| {
            if (first..=last).contains(&measures.frame) {
                drops.insert(measures.frame, measures.drops);
            }
            true
        })?;
        let file = &mut self.file;
        let mut columns = Columns::default();
        for &frame in &source.frames {
            self.job.check_stop()?;
            let drops = drops.remove(&frame).unwrap_or_default();
            columns.push(file, &drops, &source.world_at(source.time_of(frame)))?;
        }
        let mut prim = Prim::new(file, "Drops", "Points");
        let guide = file.token("guide");
        prim.uniform(file, "purpose", "token", guide);
        for (name, kind, values) in [
            ("points", "point3f[]", &columns.points),
            ("velocities", "vector3f[]", &columns.velocities),
            ("normals", "normal3f[]", &columns.normals),
            ("widths", "float[]", &columns.widths),
            ("ids", "int64[]", &columns.ids),
            ("extent", "float3[]", &columns.extents),
        ] {
            let samples = file.samples(times, values)?;
            prim.attribute(file, name, kind, &[("timeSamples", samples)]);
        }
        Ok(prim)
    }
}

impl Columns {
    fn push(&mut self, file: &mut Crate, drops: &[DropMeasures], world: &World) -> Result<(), ExportError> {
        let single = |v: DVec3| v.as_vec3().to_array();
        let points: Vec<[f32; 3]> = drops.iter().map(|drop| single(drop.centroid)).collect();
        let velocities: Vec<[f32; 3]> = drops.iter().map(|drop| single(drop.velocity)).collect();
        let normals: Vec<[f32; 3]> = drops.iter().map(|drop| single(normal_of(drop, world))).collect();
        let radii: Vec<f64> = drops.iter().map(|drop| sphere_radius(drop.volume.max(0.0))).collect();
        let widths: Vec<f32> = radii.iter().map(|radius| (2.0 * radius) as f32).collect();
        let ids: Vec<i64> = drops.iter().map(|drop| i64::from(drop.id)).collect();
        // The box around the spheres.
        let corners = drops.iter().zip(&widths).flat_map(|(drop, width)| {
            let half = DVec3::splat(0.5 * f64::from(*width));
            [single(drop.centroid - half), single(drop.centroid + half)]
        });
        self.extents.push(file.vec3f_array(&extent(&corners.collect::<Vec<_>>()))?);
        self.points.push(file.vec3f_array(&points)?);
        self.velocities.push(file.vec3f_array(&velocities)?);
        self.normals.push(file.vec3f_array(&normals)?);
        self.widths.push(file.float_array(&widths)?);
        self.ids.push(file.int64_array(&ids)?);
        Ok(())
    }
}

/// Normal of the solid that a drop is on; up in flight.
fn normal_of(drop: &DropMeasures, world: &World) -> DVec3 {
    let on = drop.on.as_deref();
    let solid = world.solids().iter().find(|solid| Some(solid.name()) == on);
    solid.map_or(DVec3::Y, |solid| solid.normal(drop.centroid).normalize_or(DVec3::Y))
}
