//! All-or-nothing output: files and folders that appear under their final name only when complete.
//!
//! [`Destination`] stages everything under temporary names and renames it at the end, so that an
//! interrupted or failed export leaves nothing behind. [`Identifiers`] makes names that every
//! program accepts, [`escape`] writes text in the languages of other programs, [`parquet`] writes
//! tables, [`html_page`] and [`plot`] make reports. `export`, `import` and `sweep` write through
//! this crate.
//!
//! ```no_run
//! use std::path::Path;
//! use sessile_output::{Destination, Layout};
//!
//! let destination = Destination::new(Path::new("drops.csv"), Layout::File, false)?;
//! let mut file = destination.file()?;
//! file.text("frame,time\n")?;
//! file.finish()?;
//! destination.commit()?;
//! # Ok::<(), sessile_output::OutputError>(())
//! ```

mod destination;
mod error;
pub mod escape;
mod html_page;
mod identifier;
pub mod parquet;
pub mod plot;
mod unfinished;

pub use destination::{Destination, Layout, Sink};
pub use error::OutputError;
pub use html_page::html_page;
pub use identifier::Identifiers;
pub use unfinished::discard_unfinished;
