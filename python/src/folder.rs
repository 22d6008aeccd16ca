//! Run folders: frames, measures, wet maps, images.

use std::path::{Path, PathBuf};

use numpy::{IntoPyArray, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use sessile_appearance::scene_of_run;
use sessile_frames::names::safe_names;
use sessile_frames::{FrameMeasures, measures_file};
use sessile_images::Image;

use crate::columns::{Columns, Tables};
use crate::errors::failed;
use crate::frame::{Frame, triangles, vectors, wet_array};

/// A run on disk.
#[pyclass(module = "sessile._sessile", frozen)]
pub struct RunFolder {
    folder: sessile_frames::RunFolder,
    scene: sessile_scene::types::Scene,
    names: Vec<String>,
}

impl RunFolder {
    fn measures(&self) -> PyResult<Vec<FrameMeasures>> {
        let mut all = Vec::new();
        let read = measures_file::for_each(&self.folder.measures_path(), |frame| {
            all.push(frame);
            true
        });
        read.map_err(failed)?;
        Ok(all)
    }

    fn solid_index(&self, name: &str) -> PyResult<usize> {
        let found = self.scene.solids.iter().position(|solid| solid.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.scene.solids.iter().map(|solid| solid.name.as_str()).collect();
            crate::errors::wrong(format!("no solid is called \"{name}\"; there are {}", names.join(", ")))
        })
    }
}

#[pymethods]
impl RunFolder {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let folder = sessile_frames::RunFolder::open(&path).map_err(failed)?;
            let scene = scene_of_run(&folder).map_err(failed)?;
            let names = safe_names(&scene.solids.iter().map(|solid| solid.name.as_str()).collect::<Vec<_>>());
            Ok(Self { folder, scene, names })
        })
    }

    #[getter]
    fn path(&self) -> &Path {
        self.folder.root()
    }

    /// `run.json` as text.
    fn info(&self) -> PyResult<String> {
        std::fs::read_to_string(self.folder.info_path()).map_err(failed)
    }

    /// `scene.toml` as text.
    fn scene_text(&self) -> PyResult<String> {
        std::fs::read_to_string(self.folder.scene_path()).map_err(failed)
    }

    /// Numbers of the frames.
    fn frames(&self) -> PyResult<Vec<u64>> {
        self.folder.frames().map_err(failed)
    }

    /// Names of the solids.
    #[getter]
    fn solids(&self) -> Vec<String> {
        self.scene.solids.iter().map(|solid| solid.name.clone()).collect()
    }

    #[getter]
    fn start_frame(&self) -> u32 {
        self.scene.time.start_frame
    }

    fn frame(&self, py: Python<'_>, number: u64) -> PyResult<Frame> {
        let (surface, id) = py.detach(|| self.folder.read_frame(number).map_err(failed))?;
        Frame::new(py, number, id.time, surface)
    }

    /// Rows × columns × (wetness, film thickness in m); none where the solid has no map.
    fn wet(&self, py: Python<'_>, solid: &str, number: u64) -> PyResult<Option<Py<PyArray3<f32>>>> {
        let index = self.solid_index(solid)?;
        let map = py.detach(|| self.folder.read_wet(&self.names[index], index, number).map_err(failed))?;
        map.map(|map| wet_array(py, &map)).transpose()
    }

    /// Vertices and triangles of a solid in its rest pose.
    fn solid(&self, py: Python<'_>, solid: &str) -> PyResult<(Py<PyArray2<f64>>, Py<PyArray2<u32>>)> {
        let path = self.folder.solid_path(&self.names[self.solid_index(solid)?]);
        let mesh = py.detach(|| sessile_geometry::files::read_mesh(&path).map_err(failed))?;
        Ok((vectors(py, mesh.positions)?, triangles(py, mesh.triangles)?))
    }

    /// The measures of one frame as JSON.
    fn measures_of(&self, py: Python<'_>, number: u64) -> PyResult<String> {
        let found = py.detach(|| self.measures())?.into_iter().find(|frame| frame.frame == number);
        found.map(|frame| frame.to_json()).ok_or_else(|| failed(format!("frame {number} has no measures")))
    }

    /// Tables of frames, drops, contacts and events.
    fn tables(&self, py: Python<'_>) -> PyResult<(Columns, Columns, Columns, Columns)> {
        py.detach(|| Tables::of(&self.measures()?).columns())
    }

    /// Path of the image of a frame.
    fn image_path(&self, number: u64) -> PathBuf {
        self.folder.image_path(self.scene.time.shown_frame(number))
    }

    /// Path of the video.
    fn video_path(&self) -> PyResult<PathBuf> {
        Ok(self.folder.video_path(&self.folder.read_info().map_err(failed)?.name))
    }

    /// The pixels of a PNG or JPEG image: rows × columns × RGB.
    #[staticmethod]
    fn decode_image(py: Python<'_>, file: &[u8]) -> PyResult<Py<PyArray3<u8>>> {
        let image = py.detach(|| Image::decode(file).map_err(failed))?;
        let shape = [image.height(), image.width(), 3];
        Ok(image.rgb_bytes().into_pyarray(py).reshape(shape)?.unbind())
    }
}
