//! Films that fast drops leave behind, and the beads that they rupture into.
//!
//! A drop faster than its receding contact line can follow leaves a film (docs/wetting.md, "Trails
//! and beads"). The film behind a drop is gathered until it is as long as the spacing of beads.
//! After the time in which it retracts from both edges into a ridge, the film that is still there
//! becomes one bead. Retraction and capillary break-up are internal motions, so the bead lies at
//! the film's center of mass. On a solid that does not dewet (θ_r < 5°) the film persists.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sessile_frames::DropId;
use sessile_wetting::{Liquid, SlidingLaw};

use crate::slots::SlotIndex;

/// Volume below which a film persists instead of becoming a bead, in m³: a sphere of 20 µm, too
/// small to see.
const SMALLEST_BEAD: f64 = 4e-15;

/// The film on a model's solids.
pub trait FilmSubstrate {
    /// Where a segment of film lies.
    type Segment: Copy;
    /// A place on a solid.
    type Place;

    /// Removes the film on a segment of this width (in m) and returns its volume, in m³.
    fn take_film(&mut self, segment: &Self::Segment, width: f64) -> f64;

    /// Puts film of `volume` (in m³) on a segment of this width (in m).
    fn add_film(&mut self, segment: &Self::Segment, width: f64, volume: f64);

    /// Center of mass of film on some segments, with their volumes (in m³).
    fn center_of_mass(&self, film: &[(Self::Segment, f64)]) -> Self::Place;
}

/// A segment of film that a drop has just left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmSegment<S> {
    /// Slot of the drop.
    pub slot: SlotIndex,
    /// Id of the drop.
    pub id: DropId,
    /// Where the film lies.
    pub at: S,
    /// Volume, in m³.
    pub volume: f64,
    /// Length along the trajectory, in m.
    pub length: f64,
    /// Width across it, in m.
    pub width: f64,
}

/// Film gathered behind one drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Trail<S> {
    id: DropId,
    segments: Vec<S>,
    length: f64,
    volume: f64,
    width: f64,
    ruptures_at: f64,
}

/// A bead that a film has become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bead<P> {
    /// Its place.
    pub place: P,
    /// Volume, in m³.
    pub volume: f64,
    /// Slot of the drop that left the film, which may hold another drop by now.
    pub slot: SlotIndex,
    /// Id of the drop that left the film.
    pub parent: DropId,
}

/// Films that have not ruptured yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trails<S> {
    /// Films that still grow, by the slot of their drop.
    growing: BTreeMap<SlotIndex, Trail<S>>,
    /// Complete films with their slot, by time of rupture (the bits of a positive number sort like
    /// it) and order of completion.
    complete: BTreeMap<(u64, u64), (SlotIndex, Trail<S>)>,
    num_complete: u64,
}

impl<S> Default for Trails<S> {
    fn default() -> Self {
        Self { growing: BTreeMap::new(), complete: BTreeMap::new(), num_complete: 0 }
    }
}

impl<S: Copy + PartialEq> Trails<S> {
    /// Adds a segment of film that was left at the time `now` (in s).
    pub fn extend(&mut self, segment: &FilmSegment<S>, law: &SlidingLaw, liquid: &Liquid, now: f64) {
        if law.film_is_stable() {
            return;
        }
        let trail = self.growing.entry(segment.slot).or_insert_with(|| Trail {
            id: segment.id,
            segments: Vec::new(),
            length: 0.0,
            volume: 0.0,
            width: 0.0,
            ruptures_at: now,
        });
        if trail.segments.last() != Some(&segment.at) {
            trail.segments.push(segment.at);
        }
        trail.length += segment.length;
        trail.volume += segment.volume;
        trail.width = trail.width.max(segment.width);
        trail.ruptures_at = now + law.dewetting_time(liquid, segment.width);
        if trail.length >= law.bead_spacing(segment.width, trail.volume / trail.length) {
            self.end(segment.slot);
        }
    }

    /// Ends the film behind the drop in a slot, which has stopped or is gone.
    pub fn end(&mut self, slot: SlotIndex) {
        if let Some(trail) = self.growing.remove(&slot) {
            self.complete.insert((trail.ruptures_at.max(0.0).to_bits(), self.num_complete), (slot, trail));
            self.num_complete += 1;
        }
    }

    /// Ruptures the films that are due by `now` (in s): removes them from the substrate and returns
    /// the beads.
    pub fn rupture<F>(&mut self, now: f64, substrate: &mut F) -> Vec<Bead<F::Place>>
    where
        F: FilmSubstrate<Segment = S>,
    {
        let mut beads = Vec::new();
        while let Some(entry) = self.complete.first_entry().filter(|entry| f64::from_bits(entry.key().0) <= now) {
            let (slot, trail) = entry.remove();
            let film: Vec<(S, f64)> =
                trail.segments.iter().map(|at| (*at, substrate.take_film(at, trail.width))).collect();
            let volume: f64 = film.iter().map(|(_, volume)| volume).sum();
            if volume < SMALLEST_BEAD {
                for (at, volume) in film.iter().filter(|&&(_, volume)| volume > 0.0) {
                    substrate.add_film(at, trail.width, *volume);
                }
            } else {
                beads.push(Bead { place: substrate.center_of_mass(&film), volume, slot, parent: trail.id });
            }
        }
        beads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_wetting::Wetting;

    const WATER: Liquid = Liquid::water();
    const SLOT: SlotIndex = SlotIndex::new(3);

    /// Film on the points of a line.
    #[derive(Default)]
    struct Line {
        film: BTreeMap<u32, f64>,
    }

    impl FilmSubstrate for Line {
        type Segment = u32;
        type Place = f64;

        fn take_film(&mut self, segment: &u32, _: f64) -> f64 {
            self.film.remove(segment).unwrap_or(0.0)
        }

        fn add_film(&mut self, segment: &u32, _: f64, volume: f64) {
            *self.film.entry(*segment).or_default() += volume;
        }

        fn center_of_mass(&self, film: &[(u32, f64)]) -> f64 {
            let volume: f64 = film.iter().map(|(_, volume)| volume).sum();
            film.iter().map(|&(at, volume)| f64::from(at) * volume).sum::<f64>() / volume
        }
    }

    fn law(receding: f64) -> SlidingLaw {
        SlidingLaw::new(&WATER, &Wetting::smooth(1.0, receding.to_radians()))
    }

    fn segment(at: u32, volume: f64) -> FilmSegment<u32> {
        let id = DropId::new(7).expect("a positive number");
        FilmSegment { slot: SLOT, id, at, volume, length: 1e-4, width: 1e-3 }
    }

    /// Lays one segment per point and returns the trails.
    fn laid(points: u32, volume: f64, law: &SlidingLaw, line: &mut Line) -> Trails<u32> {
        let mut trails = Trails::default();
        for at in 0..points {
            line.add_film(&at, 1e-3, volume);
            trails.extend(&segment(at, volume), law, &WATER, 0.0);
        }
        trails.end(SLOT);
        trails
    }

    #[test]
    fn a_film_ruptures_into_one_bead_at_its_center_of_mass_when_it_has_dewetted() {
        let (law, mut line) = (law(30.0), Line::default());
        let mut trails = laid(5, 1e-13, &law, &mut line);
        let due = law.dewetting_time(&WATER, 1e-3);
        assert!(trails.rupture(0.99 * due, &mut line).is_empty(), "not before it has retracted");
        // Another drop has absorbed the first two segments meanwhile.
        line.film.retain(|&at, _| at >= 2);
        let beads = trails.rupture(1.01 * due, &mut line);
        assert_eq!(beads.len(), 1);
        assert!((beads[0].place - 3.0).abs() < 1e-12 && (beads[0].volume - 3e-13).abs() < 1e-24, "{beads:?}");
        assert_eq!((beads[0].slot, beads[0].parent.get()), (SLOT, 7));
        assert!(line.film.is_empty() && trails.rupture(1.0, &mut line).is_empty(), "each film ruptures once");
    }

    #[test]
    fn a_long_film_becomes_beads_at_the_spacing_of_the_ridge() {
        let (law, mut line) = (law(30.0), Line::default());
        let mut trails = laid(400, 1e-12, &law, &mut line);
        let beads = trails.rupture(1.0, &mut line);
        let spacing = law.bead_spacing(1e-3, 1e-12 / 1e-4);
        let expected = (400.0 * 1e-4 / spacing).ceil();
        assert!((beads.len() as f64 - expected).abs() <= 2.0, "{} beads, expected {expected}", beads.len());
        assert!((beads.iter().map(|bead| bead.volume).sum::<f64>() / 4e-10 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn film_persists_if_it_is_too_little_or_the_solid_does_not_dewet() {
        for (receding, volume) in [(30.0, 1e-16), (4.0, 1e-12)] {
            let (law, mut line) = (law(receding), Line::default());
            let mut trails = laid(5, volume, &law, &mut line);
            assert!(trails.rupture(1e3, &mut line).is_empty());
            let left: f64 = line.film.values().sum();
            assert!((left / (5.0 * volume) - 1.0).abs() < 1e-12, "{left:e} m³ of film");
        }
    }
}
