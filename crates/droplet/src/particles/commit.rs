//! Applies the results of the slide to everything that droplets share, in the order of slots.

use sessile_model::StageReports;

use super::{ChunkLog, Fidelity, ParticleSystem, StepContext};
use crate::droplets::{CHUNK, Slot};

impl ParticleSystem {
    /// Applies films, streaks, stops and detachments; `false` if a velocity is not finite.
    pub(super) fn commit(&mut self, context: &StepContext<'_>, now: f64, report: &mut StageReports) -> bool {
        let num_chunks = self.sliding.len().div_ceil(CHUNK);
        let mut logs = std::mem::take(&mut self.scratch.logs);
        let mut is_finite = true;
        let num_detached = self.detached.len();
        for log in &logs[..num_chunks] {
            self.neighbors.commit(&log.arrivals);
            report.add("slide.segments", log.num_segments);
            report.add("slide.stopped", log.stopped.len() as u64);
        }
        for log in &mut logs[..num_chunks] {
            is_finite &= log.is_finite;
            self.commit_film(log, context, now);
            self.commit_stops(log);
        }
        if let Fidelity::Paper(paper) = &mut self.fidelity {
            paper.close_streaks(context.surface, &self.state.droplets);
        }
        self.scratch.logs = logs;
        report.add("slide.droplets", self.sliding.len() as u64);
        report.add("slide.detached", (self.detached.len() - num_detached) as u64);
        is_finite
    }

    /// Leaves streaks and films and takes up film.
    fn commit_film(&mut self, log: &mut ChunkLog, context: &StepContext<'_>, now: f64) {
        if let Fidelity::Paper(paper) = &mut self.fidelity {
            for part in &log.trail {
                let Slot { id, size, .. } = &self.state.droplets[part.slot];
                if let Some(id) = *id {
                    paper.leave_streak(context.surface, &part.segment, size.radius, (id, part.slot));
                }
            }
        }
        for part in log.trail.iter().filter(|part| part.film > 0.0) {
            self.lay_film(part, context, now);
        }
        for &slot in &log.on_film {
            self.take_film(slot, context);
            if let Ok(index) = log.locations.binary_search_by_key(&slot, |&(slot, _)| slot) {
                log.locations[index].1 = self.state.droplets[slot].location;
            }
        }
    }

    /// Removes droplets that have detached or left the domain, and closes the trails of those that
    /// stopped.
    fn commit_stops(&mut self, log: &ChunkLog) {
        for &slot in &log.stopped {
            self.state.trails.end(slot);
        }
        self.state.droplets.stopped.extend(&log.stopped);
        for &slot in &log.outside {
            if self.state.droplets.is_used(slot) {
                self.lost += self.state.droplets[slot].size.volume;
                self.remove(slot);
            }
        }
        for &(slot, detached) in &log.detached {
            self.remove(slot);
            self.detached.push(detached);
        }
    }
}
