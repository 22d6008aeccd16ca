//! The studio: drops under your hands, in a browser.
//!
//! [`Session`] is a model and what hands have done to it; [`Recording`] replays one to the same
//! bits. [`Studio`] paces a session by the clock in a thread of its own and serves the page on
//! loopback. The page (`page/`) is part of the program.
//!
//! ```
//! use sessile_studio::{Input, SceneSource, Session};
//!
//! # fn main() -> Result<(), String> {
//! let text = r#"
//!     model = "pane"
//!     time = { duration = "1 s", frame = "0.1 s" }
//!     solids = [{ name = "table", size = "40 40 mm" }]
//! "#;
//! let source = SceneSource { name: "table".into(), text: text.into(), folder: ".".into(), trusted: false };
//! let mut session = Session::open(source, 0.0)?;
//! let add = r#"{"do": "add", "at": [0, 0, 0], "volume": 5e-9}"#;
//! session.apply(&serde_json::from_str::<Input>(add).map_err(|error| error.to_string())?)?;
//! session.tick()?;
//! assert_eq!(session.model().frame().drops.len(), 1);
//! # Ok(())
//! # }
//! ```

mod engine;
mod http;
mod hub;
mod input;
mod page;
mod player;
mod protocol;
mod recording;
mod run_writer;
mod scene_files;
mod server;
mod session;
mod upload;

pub use input::Input;
pub use recording::{Recorder, Recording};
pub use run_writer::RunWriter;
pub use server::{Content, Studio, StudioOptions};
pub use sessile_interaction::{Source, WipingTool};
pub use session::{SceneSource, Session};
