//! A simulation without files, stepped by its caller.
//!
//! Steps are those of a run ([`Stepper`]), so frames are bit-identical to those of the command
//! line. The interpreter's lock is released during every step, and signals are checked between
//! steps. The time can be read from other threads while a step runs.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use glam::{DMat3, DVec3};
use numpy::PyArray3;
use pyo3::prelude::*;
use rayon::ThreadPool;
use sessile_model::NoTimer;
use sessile_sim::{MeasuredFrame, Stepper, thread_pool};
use sessile_world::Pose;

use crate::errors::{failed, wrong};
use crate::frame::{Frame, wet_array};
use crate::scene::Scene;

/// A model between two steps.
#[pyclass(module = "sessile._sessile", frozen)]
pub struct Simulation {
    stepper: Mutex<Stepper>,
    pool: ThreadPool,
    /// Bits of the time after the last step.
    time: AtomicU64,
    settles: bool,
}

impl Simulation {
    /// Calls `work` on the pool without the interpreter's lock.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Stepper) -> PyResult<T> + Send) -> PyResult<T> {
        py.detach(|| {
            let mut guard = self.stepper.lock().unwrap_or_else(PoisonError::into_inner);
            let stepper: &mut Stepper = &mut guard;
            self.pool.install(|| work(stepper))
        })
    }

    /// One step towards `time`; returns whether there are more.
    fn step(&self, py: Python<'_>, time: f64) -> PyResult<bool> {
        let settles = self.settles;
        let more = self.with(py, |stepper| {
            let Some(target) = stepper.next_stop(time) else { return Ok(false) };
            let frame = stepper.frame_number();
            stepper.step(target, &mut NoTimer).map_err(failed)?;
            if settles && stepper.frame_number() > frame {
                stepper.watch_rest(&mut NoTimer).map_err(failed)?;
            }
            self.time.store(stepper.time().to_bits(), Ordering::Release);
            Ok(true)
        })?;
        py.check_signals()?;
        Ok(more)
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, threads=None))]
    fn new(py: Python<'_>, scene: &Bound<'_, Scene>, threads: Option<NonZeroUsize>) -> PyResult<Self> {
        let scene = scene.get().scene.clone();
        py.detach(|| {
            let pool = thread_pool(threads).map_err(failed)?;
            let settles = scene.time.settle;
            let mut stepper = pool.install(|| Stepper::new(scene)).map_err(wrong)?;
            if settles {
                pool.install(|| stepper.watch_rest(&mut NoTimer)).map_err(failed)?;
            }
            Ok(Self { stepper: Mutex::new(stepper), pool, time: AtomicU64::new(0f64.to_bits()), settles })
        })
    }

    /// Simulated time, in s.
    #[getter]
    fn time(&self) -> f64 {
        f64::from_bits(self.time.load(Ordering::Acquire))
    }

    #[getter]
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    #[getter]
    fn frame_number(&self, py: Python<'_>) -> PyResult<u32> {
        self.with(py, |stepper| Ok(stepper.frame_number()))
    }

    /// Whether the drops are at rest (only with `time.settle`).
    #[getter]
    fn at_rest(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |stepper| Ok(stepper.at_rest()))
    }

    /// Steps to a time, in s, and through every frame time before it.
    fn step_to(&self, py: Python<'_>, time: f64) -> PyResult<()> {
        if !time.is_finite() {
            return Err(wrong(format!("the time {time} s is not finite")));
        }
        while self.step(py, time)? {}
        Ok(())
    }

    /// Steps to the time of a frame; by default the next one.
    #[pyo3(signature = (number=None))]
    fn step_to_frame(&self, py: Python<'_>, number: Option<u32>) -> PyResult<()> {
        let time = self.with(py, |stepper| {
            Ok(number.map_or(stepper.next_frame_time(), |number| f64::from(number) * stepper.scene().time.frame))
        })?;
        self.step_to(py, time)
    }

    /// The present liquid, its measures as JSON, and its wet maps by solid.
    #[expect(clippy::type_complexity, reason = "unpacked in Python")]
    fn frame(&self, py: Python<'_>) -> PyResult<(Frame, String, Vec<(usize, Py<PyArray3<f32>>)>)> {
        let (number, measured, surface) = self.with(py, |stepper| {
            let MeasuredFrame { mut frame, measures } = stepper.measured(&mut NoTimer).map_err(failed)?;
            let surface = std::mem::take(&mut frame.liquid).into_surface().map_err(failed)?;
            Ok((measures.frame, (frame, measures), surface))
        })?;
        let (frame, measures) = measured;
        let wet = frame.wet.iter().map(|map| Ok((map.solid, wet_array(py, map)?))).collect::<PyResult<_>>()?;
        Ok((Frame::new(py, number, frame.time, surface)?, measures.to_json(), wet))
    }

    /// Messages since the last call.
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |stepper| Ok(stepper.take_notices()))
    }

    /// Names of the solids.
    #[getter]
    fn solids(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |stepper| Ok(stepper.model().world().solids().iter().map(|s| s.name().to_owned()).collect()))
    }

    /// Rotation matrix (rows) and translation (m) of a solid.
    fn pose(&self, py: Python<'_>, index: usize) -> PyResult<([[f64; 3]; 3], [f64; 3])> {
        self.with(py, |stepper| {
            let solids = stepper.model().world().solids();
            let solid = solids.get(index).ok_or_else(|| wrong(format!("there is no solid {index}")))?;
            let pose = solid.world_from_rest();
            Ok((pose.rotation.transpose().to_cols_array_2d(), pose.translation.to_array()))
        })
    }

    /// Moves a solid to a pose: at once, or at constant velocity over `duration` seconds.
    fn move_solid(
        &self,
        py: Python<'_>,
        index: usize,
        rotation: [[f64; 3]; 3],
        translation: [f64; 3],
        duration: f64,
    ) -> PyResult<()> {
        let pose = Pose {
            rotation: DMat3::from_cols_array_2d(&rotation).transpose(),
            translation: DVec3::from_array(translation),
        };
        self.with(py, |stepper| stepper.model_mut().world_mut().move_solid_over(index, pose, duration).map_err(wrong))
    }

    /// Gravity, in m/s².
    #[getter]
    fn gravity(&self, py: Python<'_>) -> PyResult<[f64; 3]> {
        self.with(py, |stepper| Ok(stepper.model().world().gravity().to_array()))
    }

    /// Sets gravity (m/s²) in place of the scene's; `None` returns to the scene's.
    fn set_gravity(&self, py: Python<'_>, gravity: Option<[f64; 3]>) -> PyResult<()> {
        let gravity = gravity.map(DVec3::from_array);
        self.with(py, |stepper| stepper.model_mut().world_mut().set_gravity(gravity).map_err(wrong))
    }

    /// Adds a drop: center (m), velocity (m/s), volume (m³).
    fn add_drop(&self, py: Python<'_>, at: [f64; 3], velocity: [f64; 3], volume: f64) -> PyResult<()> {
        let (at, velocity) = (DVec3::from_array(at), DVec3::from_array(velocity));
        self.with(py, |stepper| stepper.model_mut().add(at, velocity, volume).map_err(wrong))
    }

    /// The state of the model, to restore it with the same scene.
    fn save(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.with(py, |stepper| Ok(stepper.model().save()))
    }
}
