//! Memory that the stages of a step share, kept from step to step.

use crate::divergence_correction::DivergenceCorrection;
use crate::drops::Label;
use crate::extrapolation::Extrapolation;
use crate::faces::FaceFlags;
use crate::fast_marching::FastMarching;
use crate::line_state::LineState;
use crate::mirrors::MirrorScratch;
use crate::net_capillary_force::NetForce;
use crate::projection::Projection;
use crate::redistance::Redistance;
use crate::short_wave_inertia::SharingFace;
use crate::solids::Wall;
use crate::tiles::{Field, Tiles};
use crate::viscosity::ViscousScratch;
use crate::viscous_stress::StressSolver;

/// Memory that every step writes before it reads.
#[derive(Debug)]
pub struct Scratch {
    /// Which faces carry liquid and which lie in solids.
    pub face_flags: FaceFlags,
    /// Curvature κ near the interface, in 1/cells.
    pub kappa: Field<f64>,
    /// Velocity before advection: the one that moved the interface last, in m/s.
    pub previous_velocity: [Field<f64>; 3],
    /// Velocity at cell centers, in cells per step.
    pub center_velocity: [Field<f64>; 3],
    /// Divergence source of each unknown, in m/s.
    pub source: Vec<f64>,
    /// Net capillary force on each component.
    pub net_forces: Vec<NetForce>,
    /// Two fields for one stage at a time.
    pub field: Field<f64>,
    pub other_field: Field<f64>,
    /// States of contact lines before their walls moved.
    pub line: Field<LineState>,
    /// Unknowns and system of the pressure solve.
    pub projection: Projection,
    /// Faces to which the inertia of short waves is added.
    pub sharing_faces: Field<SharingFace>,
    /// Memory of the extrapolation.
    pub extrapolation: Extrapolation,
    /// Memory of the divergence correction.
    pub divergence_correction: DivergenceCorrection,
    /// Memory of the reinitialization.
    pub redistance: Redistance,
    /// Memory of the reinitialization by fast marching.
    pub fast_marching: FastMarching,
    /// Memory of the viscous solve.
    pub viscous: ViscousScratch,
    /// Memory of the viscous solve with the full stress.
    pub viscous_stress: StressSolver,
    /// Memory of the reflections in mirrors.
    pub mirrors: MirrorScratch,
    /// Tiles to be activated.
    pub wanted_tiles: Vec<[i32; 3]>,
    /// Memory to rearrange fields after tiles have changed.
    pub spare: SpareValues,
}

/// Memory to rearrange fields, by the type of their values.
#[derive(Debug, Default)]
pub struct SpareValues {
    pub numbers: Vec<f64>,
    pub lines: Vec<LineState>,
    pub labels: Vec<Label>,
    pub walls: Vec<Wall>,
}

impl Default for Scratch {
    fn default() -> Self {
        let field = || Field::new(0.0);
        Self {
            face_flags: std::array::from_fn(|_| Field::new(0)),
            kappa: field(),
            previous_velocity: std::array::from_fn(|_| field()),
            center_velocity: std::array::from_fn(|_| field()),
            source: Vec::new(),
            net_forces: Vec::new(),
            field: field(),
            line: Field::new(LineState::Free),
            other_field: field(),
            projection: Projection::default(),
            sharing_faces: Field::new(SharingFace::default()),
            extrapolation: Extrapolation::default(),
            divergence_correction: DivergenceCorrection::default(),
            redistance: Redistance::default(),
            fast_marching: FastMarching::default(),
            viscous: ViscousScratch::default(),
            viscous_stress: StressSolver::default(),
            mirrors: MirrorScratch::default(),
            wanted_tiles: Vec::new(),
            spare: SpareValues::default(),
        }
    }
}

impl Scratch {
    /// Gives all fields the size of the active tiles.
    pub fn resize(&mut self, tiles: &Tiles) {
        self.face_flags.iter_mut().for_each(|field| field.resize(tiles));
        let numbers = [&mut self.kappa, &mut self.field, &mut self.other_field].into_iter();
        let numbers = numbers.chain(&mut self.previous_velocity).chain(&mut self.center_velocity);
        numbers.for_each(|field| field.resize(tiles));
    }
}
