//! Exceptions.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(
    sessile,
    SceneError,
    PyValueError,
    "A scene or an argument is wrong; the message has the line and a caret, and says what is expected."
);
create_exception!(
    sessile,
    RunError,
    PyRuntimeError,
    "A run, a rendering or an export failed; the message says where and how to go on."
);

/// A wrong scene or argument.
pub fn wrong(error: impl Display) -> PyErr {
    SceneError::new_err(error.to_string())
}

/// A failed run.
pub fn failed(error: impl Display) -> PyErr {
    RunError::new_err(error.to_string())
}
