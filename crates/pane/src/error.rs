//! Scenes that the pane model rejects.

/// Why the pane model rejects a scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PaneError {
    /// There is no plane.
    #[error("the pane model runs on a plane, and this scene has none: add a [[solids]] with shape = \"plane\"")]
    NoPlane,
    /// There is more than one.
    #[error("the pane model runs on one plane, and this scene has {}: {}; keep one, or use the droplet model", names.len(), names.join(", "))]
    SeveralPlanes {
        /// Their names.
        names: Vec<String>,
    },
    /// A mesh whose vertices move.
    #[error(
        "solid `{solid}` deforms, which the pane model does not support: use \
         the droplet or surface model, or remove `deform`"
    )]
    Deforming {
        /// Its name.
        solid: String,
    },
    /// A two-dimensional run.
    #[error("world.planar = true is for the volume model; the pane is a surface already: remove it")]
    Planar,
    /// The grid would not fit.
    #[error(
        "a cell of {cell_mm} mm makes {columns} × {rows} cells on `{pane}`; at most {most} are possible: set pane.cell larger, or the plane's size smaller"
    )]
    TooManyCells {
        /// The plane.
        pane: String,
        /// Cell side, in mm.
        cell_mm: f64,
        /// Cells across.
        columns: usize,
        /// Cells up.
        rows: usize,
        /// How many are possible.
        most: usize,
    },
    /// Weights that cannot work together.
    #[error(
        "pane.static_weight ({static_weight:.3e} m³) must be at least pane.dynamic_weight ({dynamic_weight:.3e} m³), \
         and that must be at least pane.residue ({residue:.3e} m³)"
    )]
    Weights {
        /// In m³.
        static_weight: f64,
        /// In m³.
        dynamic_weight: f64,
        /// In m³.
        residue: f64,
    },
    /// A cap on something else.
    #[error("drops.{drop} stands on `{solid}`, but the pane model's drops can only stand on `{pane}`")]
    CapElsewhere {
        /// Index of the drop.
        drop: usize,
        /// What it stands on.
        solid: String,
        /// The pane.
        pane: String,
    },
    /// A cap outside the rectangle.
    #[error("drops.{drop} stands beside the drawn part of `{pane}`: move its center, or set the plane's size larger")]
    DropBesidePane {
        /// Index of the drop.
        drop: usize,
        /// The pane.
        pane: String,
    },
    /// Dew on something else.
    #[error("dew settles on `{solid}`, but the pane model's liquid can only be on `{pane}`")]
    DewElsewhere {
        /// What it settles on.
        solid: String,
        /// The pane.
        pane: String,
    },
    /// The paper's rows would run uphill.
    #[error(
        "with fidelity = \"paper\" drops run down the rows of `{pane}`, but gravity points up them: \
         give the plane its tilt by `normal`, not by `rotate`"
    )]
    UpsideDown {
        /// The pane.
        pane: String,
    },
}
