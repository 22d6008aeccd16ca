//! The ledger of published measurements: what each experiment is compared with, where it is
//! published, how certain it is and how the numbers were obtained.
//!
//! No table or figure of a paper was at hand. Where an abstract or the opening text states the
//! result, that is said; everything else is the published law with coefficients from general
//! knowledge, and marked so.

/// How a number was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obtained {
    /// Stated in the paper's abstract or opening text, which was read.
    Read,
    /// The published law with its coefficients, from general knowledge: not verified here.
    Law,
}

impl Obtained {
    /// As text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Read => "read in the abstract or opening text",
            Self::Law => "published law, coefficients not verified here",
        }
    }
}

/// One measured result.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The case that is compared with it.
    pub case: &'static str,
    /// Key in `docs/references.bib`.
    pub source: &'static str,
    /// Authors and year.
    pub citation: &'static str,
    /// What was measured.
    pub measured: &'static str,
    /// How certain it is.
    pub uncertainty: &'static str,
    /// How the numbers were obtained.
    pub obtained: Obtained,
}

/// All entries, by case.
pub const ENTRIES: &[Entry] = &[
    Entry {
        case: "critical-tilt",
        source: "elsherbini2006",
        citation: "ElSherbini and Jacobi 2006",
        measured: "the Bond number of a critical drop is constant for a given surface and liquid",
        uncertainty: "10 %: diameters are read to 5 %",
        obtained: Obtained::Read,
    },
    Entry {
        case: "critical-tilt",
        source: "elsherbini2006",
        citation: "ElSherbini and Jacobi 2006",
        measured: "retention force 24/π³ γD(cos θr − cos θa) on the equivalent diameter of the contour",
        uncertainty: "15 %: receding angles scatter by 5°",
        obtained: Obtained::Law,
    },
    Entry {
        case: "sliding-speed",
        source: "legrand2005",
        citation: "Le Grand, Daerr and Limat 2005",
        measured: "beyond a threshold a steady velocity that increases linearly with the Bond number along the plane",
        uncertainty: "R² of 0.98; 10 % in the threshold",
        obtained: Obtained::Read,
    },
    Entry {
        case: "sliding-speed",
        source: "podgorski2001",
        citation: "Podgorski, Flesselles and Limat 2001",
        measured: "the rear corner evolves from flat to 60° with increasing velocity; further up a cusped tail emits pearls",
        uncertainty: "10 %: a corner is read to 5°",
        obtained: Obtained::Read,
    },
    Entry {
        case: "sliding-speed",
        source: "podgorski2001",
        citation: "Podgorski, Flesselles and Limat 2001; Le Grand, Daerr and Limat 2005",
        measured: "contact angles of 10 cSt silicone oil on the fluoropolymer, 52° and 46°",
        uncertainty: "2°",
        obtained: Obtained::Law,
    },
    Entry {
        case: "glycerol-water",
        source: "li2023",
        citation: "Li, Bodziony, Yin, Marschall, Berger and Butt 2023",
        measured: "friction F₀ + β w η U with β from 20 to 200 for viscosities of 10⁻³ to 1 Pa s, up to 0.7 m/s",
        uncertainty: "the range of all pairs of liquid and surface",
        obtained: Obtained::Read,
    },
    Entry {
        case: "glycerol-water",
        source: "kim2002",
        citation: "Kim, Lee and Kang 2002",
        measured: "the steady speed of viscous drops follows from dissipation near the contact line, U ∝ 1/η",
        uncertainty: "0.1 in the exponent",
        obtained: Obtained::Read,
    },
    Entry {
        case: "maximal-spread",
        source: "clanet2004",
        citation: "Clanet, Béguin, Richard and Quéré 2004",
        measured: "D_max ∝ D We^¼ for liquids of low viscosity, also on partially wettable surfaces",
        uncertainty: "0.05 in the exponent",
        obtained: Obtained::Read,
    },
    Entry {
        case: "maximal-spread",
        source: "pasandideh1996",
        citation: "Pasandideh-Fard et al. 1996; Ukiwe and Kwok 2005; Roisman 2009; Laan et al. 2014",
        measured: "correlations of the largest spread with We, Re and the advancing angle",
        uncertainty: "−10 and +8 % of the lowest and the highest",
        obtained: Obtained::Law,
    },
    Entry {
        case: "retraction",
        source: "bartolo2005",
        citation: "Bartolo, Josserand and Bonn 2005",
        measured: "the retraction rate is a material constant and does not depend on the impact velocity",
        uncertainty: "25 %: the steepest part of a curve of a few frames",
        obtained: Obtained::Read,
    },
    Entry {
        case: "retraction",
        source: "diaz2025",
        citation: "Díaz et al. 2025",
        measured: "a pancake that retracts into a cap stands at the receding angle",
        uncertainty: "5°",
        obtained: Obtained::Read,
    },
    Entry {
        case: "early-spreading",
        source: "winkels2012",
        citation: "Winkels, Weijs, Eddi and Snoeijer 2012",
        measured: "a wetted radius that grows as the square root of time, independent of wettability",
        uncertainty: "0.05 in the exponent",
        obtained: Obtained::Read,
    },
    Entry {
        case: "early-spreading",
        source: "biance2004",
        citation: "Biance, Clanet and Quéré 2004",
        measured: "inertia, not viscosity, resists the first stage of spreading",
        uncertainty: "qualitative",
        obtained: Obtained::Read,
    },
    Entry {
        case: "coalescence-bridge",
        source: "aarts2005",
        citation: "Aarts, Lekkerkerker, Guo, Wegdam and Bonn 2005",
        measured: "where inertia dominates the neck grows as the square root of time",
        uncertainty: "0.05 in the exponent",
        obtained: Obtained::Read,
    },
    Entry {
        case: "coalescence-bridge",
        source: "aarts2005",
        citation: "Aarts et al. 2005; Eggers, Lister and Stone 1999",
        measured: "the factor C of b = C (γR/ρ)^¼ t^½, 1 to 1.6",
        uncertainty: "the range itself",
        obtained: Obtained::Law,
    },
    Entry {
        case: "dripping",
        source: "yildirim2005",
        citation: "Yildirim, Xu and Basaran 2005",
        measured: "the volume that falls over 2πrγ/ρg is one curve over r/V^⅓, that of Harkins and Brown",
        uncertainty: "excellent agreement at low flow rates",
        obtained: Obtained::Read,
    },
    Entry {
        case: "dripping",
        source: "harkins1919",
        citation: "Harkins and Brown 1919",
        measured: "the factors of that curve",
        uncertainty: "2 to 3 %",
        obtained: Obtained::Law,
    },
    Entry {
        case: "dew-growth",
        source: "beysens1986",
        citation: "Beysens and Knobler 1986",
        measured: "isolated drops grow as t^0.23, the average radius with coalescence as t^0.75",
        uncertainty: "the scatter of the three papers",
        obtained: Obtained::Read,
    },
    Entry {
        case: "dew-growth",
        source: "knobler1988",
        citation: "Knobler and Beysens 1988",
        measured: "D ∝ t^0.3 at early, D ∝ t at late times",
        uncertainty: "the scatter of the three papers",
        obtained: Obtained::Read,
    },
    Entry {
        case: "dew-growth",
        source: "fritter1991",
        citation: "Fritter, Knobler and Beysens 1991",
        measured: "single drops grow with the exponent 1/3, with coalescence three times that",
        uncertainty: "the scatter of the three papers",
        obtained: Obtained::Read,
    },
    Entry {
        case: "evaporation",
        source: "hu2002",
        citation: "Hu and Larson 2002",
        measured: "−dm/dt = πRD(1 − H)c_v(0.27 θ² + 1.30) with a pinned contact line, up to 90°",
        uncertainty: "4 %: the fit 2 to 3 %, flattening 1 %",
        obtained: Obtained::Read,
    },
    Entry {
        case: "evaporation",
        source: "picknett1977",
        citation: "Picknett and Bexon 1977",
        measured: "two modes: constant contact area, and constant contact angle, where V^⅔ falls linearly",
        uncertainty: "R² of 0.999",
        obtained: Obtained::Read,
    },
];

/// Entries of a case.
pub fn of_case(case: &str) -> impl Iterator<Item = &'static Entry> + '_ {
    ENTRIES.iter().filter(move |entry| entry.case == case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::cases;

    #[test]
    fn every_experiment_has_entries_and_every_source_is_in_the_bibliography() {
        let bibliography = include_str!("../../../../docs/references.bib");
        for entry in ENTRIES {
            assert!(
                bibliography.contains(&format!("{{{},", entry.source)),
                "docs/references.bib lacks {}",
                entry.source
            );
            assert!(cases().iter().any(|case| case.name == entry.case), "there is no case {}", entry.case);
        }
        for case in cases().iter().filter(|case| case.model == "experiment") {
            assert!(of_case(case.name).next().is_some(), "{} has no entry", case.name);
        }
    }
}
