//! Frames as NumPy arrays. The arrays take over the memory of the frame; nothing is copied.

use bytemuck::allocation::cast_vec;
use glam::DVec3;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use sessile_frames::{Surface, WetMap};

use crate::errors::failed;

/// The liquid at one moment.
#[pyclass(module = "sessile._sessile", frozen)]
pub struct Frame {
    #[pyo3(get)]
    number: u64,
    #[pyo3(get)]
    time: f64,
    #[pyo3(get)]
    vertices: Py<PyArray2<f64>>,
    #[pyo3(get)]
    velocities: Py<PyArray2<f64>>,
    #[pyo3(get)]
    drops: Py<PyArray1<u32>>,
    #[pyo3(get)]
    faces: Py<PyArray2<u32>>,
    #[pyo3(get)]
    solids: Py<PyArray1<i32>>,
}

impl Frame {
    /// The arrays of a surface.
    pub fn new(py: Python<'_>, number: u64, time: f64, surface: Surface) -> PyResult<Self> {
        Ok(Self {
            number,
            time,
            vertices: vectors(py, surface.positions)?,
            velocities: vectors(py, surface.velocities)?,
            drops: surface.drops.into_pyarray(py).unbind(),
            faces: triangles(py, surface.triangles)?,
            solids: surface.solids.into_pyarray(py).unbind(),
        })
    }
}

/// Points as an array of n × 3.
pub fn vectors(py: Python<'_>, vectors: Vec<DVec3>) -> PyResult<Py<PyArray2<f64>>> {
    let count = vectors.len();
    let flat: Vec<f64> = flattened(vectors);
    Ok(flat.into_pyarray(py).reshape([count, 3])?.unbind())
}

/// Triangles as an array of n × 3.
pub fn triangles(py: Python<'_>, triangles: Vec<[u32; 3]>) -> PyResult<Py<PyArray2<u32>>> {
    let count = triangles.len();
    Ok(triangles.into_flattened().into_pyarray(py).reshape([count, 3])?.unbind())
}

/// The coordinates of vectors in one array, in the same memory.
fn flattened(vectors: Vec<DVec3>) -> Vec<f64> {
    cast_vec::<DVec3, [f64; 3]>(vectors).into_flattened()
}

/// Wetness (0 to 1) and film thickness (in m) of a wet map, as an array of rows × columns × 2.
pub fn wet_array(py: Python<'_>, map: &WetMap) -> PyResult<Py<PyArray3<f32>>> {
    let pairs = map.wetness.iter().zip(&map.film);
    let values: Vec<f32> =
        pairs.flat_map(|(&wetness, &film)| [f32::from(wetness) / 65535.0, f32::from(film) * 1e-8]).collect();
    let array = values.into_pyarray(py).reshape([map.height as usize, map.width as usize, 2]);
    Ok(array.map_err(failed)?.unbind())
}
