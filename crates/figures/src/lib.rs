//! The figures of the four papers: scenes, measures with bounds, and a page that shows both.
//!
//! [`FIGURES`] lists them. A figure has one or several panels, each a built-in scene with
//! overrides; [`make`] simulates the panels, renders a strip of frames of each, evaluates the
//! figure's measures and records the result. [`write_page`] gathers the records of a folder:
//!
//! ```text
//! DIR/index.html                 the page; needs no network
//! DIR/figures.json               every measure with its bounds
//! DIR/images/NAME-PANEL-0.jpg    frames of the strips
//! DIR/records/NAME.json          what was measured, or why the figure failed
//! DIR/runs/NAME-PANEL/           the runs, from which an interrupted figure resumes
//! ```
//!
//! A bound comes from the paper or from theory, and is stated in the catalog before a run. A
//! measure outside its bound is reported on the page.

mod catalog;
mod error;
mod make;
mod measures;
mod page;
mod record;
mod wall_measures;

pub use catalog::{Bound, Check, FIGURES, Figure, Panel, Paper, UnknownFigure, find};
pub use error::FigureError;
pub use make::{MakeOptions, make};
pub use page::write_page;
pub use record::{FigureRecord, MeasureRecord};
