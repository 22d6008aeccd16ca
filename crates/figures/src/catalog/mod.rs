//! The figures: scenes, measures and bounds, one file per paper.

mod algan;
mod fournier1998;
mod wang2005;
mod zhang2011;

use sessile_sim::suggest;

use crate::measures::PanelRun;

/// One of the four papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Wang, Mucha, Turk: Water drops on surfaces.
    Wang2005,
    /// Zhang et al.: A deformable surface model for real-time water drop animation.
    Zhang2011,
    /// Algan et al.: Simulation of water drops on a surface.
    Algan,
    /// Fournier, Habibi, Poulin: Simulating the flow of liquid droplets.
    Fournier1998,
}

impl Paper {
    /// All papers, in the order of the page.
    pub const ALL: [Self; 4] = [Self::Wang2005, Self::Zhang2011, Self::Algan, Self::Fournier1998];

    /// Key in `docs/references.bib`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Wang2005 => "wang2005",
            Self::Zhang2011 => "zhang2011",
            Self::Algan => "algan",
            Self::Fournier1998 => "fournier1998",
        }
    }

    /// Authors, title, and the model after it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Wang2005 => "Wang, Mucha, Turk: Water Drops on Surfaces (2005), the volume model",
            Self::Zhang2011 => {
                "Zhang, Wang, Wang, Tong, Zhou: A Deformable Surface Model for Real-Time Water Drop Animation (2011), \
                 the surface model"
            }
            Self::Algan => "Algan, Kabak, Özgüç, Çapın: Simulation of Water Drops on a Surface, the pane model",
            Self::Fournier1998 => {
                "Fournier, Habibi, Poulin: Simulating the Flow of Liquid Droplets (1998), the droplet model"
            }
        }
    }
}

/// A figure of a paper.
#[derive(Debug)]
pub struct Figure {
    /// Name on the command line.
    pub name: &'static str,
    /// The paper.
    pub paper: Paper,
    /// Its numbers in the paper, e.g. "figures 1 and 12".
    pub number: &'static str,
    /// What the paper shows.
    pub shows: &'static str,
    /// Parameters that the paper states.
    pub stated: &'static str,
    /// Parameters that the paper leaves open, as chosen here.
    pub chosen: &'static str,
    /// Why measures are missed, if some are.
    pub shortfall: Option<&'static str>,
    /// Panels, in the layout of the paper.
    pub panels: &'static [Panel],
    /// Measures with their bounds.
    pub checks: &'static [Check],
}

/// A scene of a figure.
#[derive(Debug)]
pub struct Panel {
    /// Name within the figure.
    pub name: &'static str,
    /// The built-in scene.
    pub scene: &'static str,
    /// Overrides of the scene.
    pub sets: &'static [&'static str],
    /// Further overrides for `--quick`.
    pub quick: &'static [&'static str],
    /// Number of frames in its strip, evenly spaced in time.
    pub strip: usize,
}

/// A measure with its bounds.
#[derive(Debug)]
pub struct Check {
    /// What is measured, with its unit.
    pub measure: &'static str,
    /// Index of the panel whose fidelity the measure is reported for.
    pub panel: usize,
    /// The measure, on the runs of all panels.
    pub value: fn(&[PanelRun]) -> Option<f64>,
    /// Its bounds.
    pub bound: Bound,
}

/// Bounds of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// At least this value.
    AtLeast(f64),
    /// At most this value.
    AtMost(f64),
    /// Between two values, both included.
    Between(f64, f64),
}

impl Bound {
    /// Least value, if there is one.
    pub fn min(self) -> Option<f64> {
        match self {
            Self::AtLeast(min) | Self::Between(min, _) => Some(min),
            Self::AtMost(_) => None,
        }
    }

    /// Largest value, if there is one.
    pub fn max(self) -> Option<f64> {
        match self {
            Self::AtMost(max) | Self::Between(_, max) => Some(max),
            Self::AtLeast(_) => None,
        }
    }

    /// Whether a value is within the bounds; NaN is not.
    pub fn contains(self, value: f64) -> bool {
        self.min().is_none_or(|min| value >= min) && self.max().is_none_or(|max| value <= max) && !value.is_nan()
    }
}

/// All figures, by paper.
pub const FIGURES: &[&[Figure]] = &[wang2005::FIGURES, zhang2011::FIGURES, algan::FIGURES, fournier1998::FIGURES];

/// Error for a name that no figure has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown figure `{wanted}`; {hint}")]
pub struct UnknownFigure {
    wanted: String,
    hint: String,
}

/// The figure called `name`.
pub fn find(name: &str) -> Result<&'static Figure, UnknownFigure> {
    let all = || FIGURES.iter().copied().flatten();
    all().find(|figure| figure.name == name).ok_or_else(|| {
        let names: Vec<&str> = all().map(|figure| figure.name).collect();
        UnknownFigure { wanted: name.to_owned(), hint: suggest(name, names.iter().copied(), "figures") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::make::panel_scene;

    #[test]
    fn every_panel_is_a_valid_scene_at_both_sizes() {
        for figure in FIGURES.iter().copied().flatten() {
            for panel in figure.panels {
                for quick in [false, true] {
                    if let Err(error) = panel_scene(panel, quick) {
                        panic!("{} {} (quick: {quick}): {error}", figure.name, panel.name);
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_checks_name_existing_panels() {
        let mut names: Vec<&str> = FIGURES.iter().copied().flatten().map(|figure| figure.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for figure in FIGURES.iter().copied().flatten() {
            assert!(!figure.panels.is_empty() && !figure.checks.is_empty(), "{}", figure.name);
            assert!(figure.checks.iter().all(|check| check.panel < figure.panels.len()), "{}", figure.name);
        }
    }

    #[test]
    fn bounds_include_their_ends_and_exclude_nan() {
        assert!(Bound::Between(1.0, 2.0).contains(1.0) && Bound::Between(1.0, 2.0).contains(2.0));
        assert!(!Bound::AtLeast(1.0).contains(0.999) && !Bound::AtMost(1.0).contains(f64::NAN));
    }

    #[test]
    fn an_unknown_figure_is_reported_with_similar_names() {
        assert!(find("bunni").unwrap_err().to_string().contains("bunny"));
    }
}
