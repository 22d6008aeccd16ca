//! Python binding of sessile: the module `sessile._sessile`.
//!
//! Thin: classes and functions here do what only Rust can do, and the package `sessile` (in
//! `../sessile`) puts the interface that users see on top. Long work runs on a thread of its own
//! without the interpreter's lock ([`background`]), so that Ctrl-C and progress work.
//!
//! Empty without the feature `extension`, which maturin enables: the project's own commands build
//! the workspace, and need no Python.
#![cfg(feature = "extension")]

mod background;
mod columns;
mod errors;
mod folder;
mod frame;
mod scene;
mod simulation;
mod sweep;
mod wetting;

use pyo3::prelude::*;

/// The compiled part of `sessile`.
#[pymodule]
mod _sessile {
    #[pymodule_export]
    use crate::background::{export, import_model, render, simulate};
    #[pymodule_export]
    use crate::columns::Columns;
    #[pymodule_export]
    use crate::errors::{RunError, SceneError};
    #[pymodule_export]
    use crate::folder::RunFolder;
    #[pymodule_export]
    use crate::frame::Frame;
    #[pymodule_export]
    use crate::scene::{Scene, built_in_scenes};
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::sweep::{holds, interval, run_summary, sweep_values};
    #[pymodule_export]
    use crate::wetting::{
        breakup_wavelength, cap, capillary_length, drop_frequency, jurin_height, liquids, materials, max_tilt_volume,
        meniscus_height, pendant, retention_force, sessile_drop,
    };
}
