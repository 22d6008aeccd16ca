//! A mesh of polygons over the frames of a file, as parts of a model.

use glam::{DMat4, DVec3};

use crate::model::{Model, Part};
use crate::motion;
use crate::polygons::{Polygons, Triangulation};
use crate::subdivision::{Creases, Subdivision};

/// A mesh of constant topology over time.
pub struct MeshOverTime<'a> {
    /// Its name.
    pub name: &'a str,
    /// Index of its object.
    pub object: usize,
    /// Its polygons.
    pub polygons: Polygons,
    /// Its points in its own coordinates: at all frames, or once if they do not move.
    pub points: Vec<Vec<DVec3>>,
    /// Times since the first frame (in s) and world transforms: at all frames, or one at rest.
    pub poses: Vec<(f64, DMat4)>,
    /// Polygons by material.
    pub faces: Vec<(String, Vec<usize>)>,
    /// Sharp features of a cage that is to be subdivided.
    pub creases: Option<Creases>,
}

impl MeshOverTime<'_> {
    /// Adds one part for each material, subdivided where asked for. A mesh that cannot be imported
    /// is noted.
    pub fn add_to(mut self, model: &mut Model) {
        if let Err(problem) = self.try_add(model) {
            model.notices.push(format!("mesh {} was skipped: {problem}", self.name));
        }
    }

    fn try_add(&mut self, model: &mut Model) -> Result<(), &'static str> {
        let poses = std::mem::take(&mut self.poses);
        let (_, first) = *poses.first().ok_or("it has no transform")?;
        if first.determinant() < 0.0 {
            self.polygons.reverse_winding();
        }
        let subdivision = self.subdivide(model)?;
        let cage_points = self.points.first().ok_or("it has no points")?.len();
        let num_points = subdivision.as_ref().and_then(Subdivision::num_points).unwrap_or(cage_points);
        if !model.take_vertices(num_points, poses.len()) {
            return Err(
                "the samples of the file have more vertices than are imported; simplify it, or export fewer frames",
            );
        }
        let still = self.points.len() == 1;
        let center = first.transform_point3(DVec3::ZERO);
        let keys = if still { motion::keys(&poses, center) } else { None };
        // A part at rest stays in world space; one that moves turns about its origin.
        let origin = if keys.as_ref().is_some_and(|keys| !keys.is_empty()) { center } else { DVec3::ZERO };
        let frame = |k: usize| self.world_points(subdivision.as_ref(), k, poses[k.min(poses.len() - 1)].1);
        let at_start: Vec<DVec3> = frame(0).into_iter().map(|p| p - origin).collect();
        let parts: Vec<(&String, Triangulation)> = self
            .faces
            .iter()
            .map(|(material, faces)| Ok((material, self.polygons.triangulate(faces, num_points)?)))
            .collect::<Result<_, &'static str>>()?;
        let not_finite = "a coordinate is not finite";
        let first_part = model.parts.len();
        for (material, triangles) in &parts {
            let mesh = triangles.mesh(&at_start).ok_or(not_finite)?;
            let (name, material, object) = (self.name.to_owned(), (*material).clone(), self.object);
            let motion = keys.clone().unwrap_or_default();
            model.parts.push(Part { name, object, material, mesh, origin, motion, deform: Vec::new() });
        }
        if keys.is_some() || poses.len() < 2 {
            return Ok(());
        }
        for (k, (at, _)) in poses.iter().enumerate() {
            let points = frame(k);
            for (part, (_, triangles)) in model.parts[first_part..].iter_mut().zip(&parts) {
                let Some(positions) = triangles.positions(&points) else {
                    part.deform.clear();
                    return Err("its deformation was not imported, as a coordinate of it is not finite");
                };
                part.deform.push((*at, positions));
            }
        }
        Ok(())
    }

    /// Subdivides the polygons, and replaces the faces of materials by theirs.
    fn subdivide(&mut self, model: &mut Model) -> Result<Option<Subdivision>, &'static str> {
        let Some(creases) = &self.creases else { return Ok(None) };
        let cage_points = self.points.first().ok_or("it has no points")?.len();
        let subdivision = Subdivision::new(&self.polygons, cage_points, creases)?;
        self.polygons.clone_from(&subdivision.polygons);
        for (_, faces) in &mut self.faces {
            faces.sort_unstable();
            let is_own = |child: &usize| faces.binary_search(&subdivision.parents[*child]).is_ok();
            *faces = (0..subdivision.parents.len()).filter(is_own).collect();
        }
        let times = match subdivision.num_levels() {
            0 => "not subdivided, as it has too many polygons",
            1 => "subdivided once",
            _ => "subdivided twice",
        };
        model.notices.push(format!(
            "{} is a Catmull–Clark subdivision surface: {times}, to {} polygons",
            self.name,
            self.polygons.len()
        ));
        Ok(Some(subdivision))
    }

    /// The points of frame `k` in world space.
    fn world_points(&self, subdivision: Option<&Subdivision>, k: usize, world: DMat4) -> Vec<DVec3> {
        let own = &self.points[k.min(self.points.len() - 1)];
        let fine = subdivision.map(|subdivision| subdivision.points(own));
        fine.as_ref().unwrap_or(own).iter().map(|p| world.transform_point3(*p)).collect()
    }
}
