//! Compares what the surfaces of a frame enclose with the volumes of its drops.

use glam::DVec3;
use sessile_frames::{DropState, Frame, FrameGeometry, Surface};

/// Part of the liquid that a frame may show too much or too little after [`SETTLED_FROM`].
const TOLERANCE: f64 = 1e-3;
/// The same before, and of single drops at all times.
const ROUGH_TOLERANCE: f64 = 1e-2;
/// Time, in s, from which the shapes that a run starts with have adjusted to its grid.
const SETTLED_FROM: f64 = 0.01;
/// Part of the liquid below which a drop is not looked at by itself.
const MIN_PART: f64 = 0.01;

/// What the user should know of the volumes that a frame shows; `None` if they are right or the
/// frame has no surfaces. In planar runs of this thickness (in m) volumes of drops are areas.
pub(crate) fn notice(frame: &Frame, thickness: Option<f64>) -> Option<String> {
    let surface = match &frame.liquid {
        FrameGeometry::Surfaces(surface) | FrameGeometry::Tessellated { surface, .. } => surface,
        FrameGeometry::Instances(_) => return None,
    };
    let mut drops: Vec<Shown> = frame.drops.iter().map(Shown::new).collect();
    measure(surface, &mut drops);
    let depth = thickness.unwrap_or(1.0);
    drops.iter_mut().for_each(|drop| drop.enclosed /= depth);
    let sum = |value: fn(&Shown) -> f64| drops.iter().map(value).sum::<f64>();
    let [enclosed, volume] = [sum(|drop| drop.enclosed), sum(|drop| drop.volume)];
    let tolerance = if frame.time > SETTLED_FROM { TOLERANCE } else { ROUGH_TOLERANCE };
    let worst = drops
        .iter()
        .filter(|drop| drop.volume > MIN_PART * volume)
        .max_by(|a, b| a.error().total_cmp(&b.error()))
        .filter(|drop| drop.error() > ROUGH_TOLERANCE);
    let (what, part) = match worst {
        _ if (enclosed - volume).abs() > tolerance * volume => ("the frame".into(), enclosed / volume - 1.0),
        Some(drop) => (format!("drop {}", drop.id), drop.enclosed / drop.volume - 1.0),
        None => return None,
    };
    Some(format!(
        "at {:.3} ms the surface of {what} differs from its volume by {:+.2} %: liquid thinner than the resolution; \
         measures of volume are exact. A finer resolution reduces it",
        1e3 * frame.time,
        100.0 * part
    ))
}

/// A drop's volume and what its surface encloses, in m³ or m².
struct Shown {
    id: u32,
    volume: f64,
    enclosed: f64,
    /// A point of the surface, from which volumes are summed without cancellation.
    from: Option<DVec3>,
}

impl Shown {
    fn new(drop: &DropState) -> Self {
        Self { id: drop.id, volume: drop.volume, enclosed: 0.0, from: None }
    }

    fn error(&self) -> f64 {
        (self.enclosed / self.volume - 1.0).abs()
    }
}

/// Sums the volumes that the triangles of each drop enclose; `drops` are sorted by id.
fn measure(surface: &Surface, drops: &mut [Shown]) {
    let mut current = 0;
    for triangle in &surface.triangles {
        let id = surface.drops[triangle[0] as usize];
        if drops.get(current).is_none_or(|drop| drop.id != id) {
            let Ok(found) = drops.binary_search_by_key(&id, |drop| drop.id) else { continue };
            current = found;
        }
        let [a, b, c] = triangle.map(|vertex| surface.positions[vertex as usize]);
        let drop = &mut drops[current];
        let from = *drop.from.get_or_insert(a);
        drop.enclosed += (a - from).dot((b - from).cross(c - from)) / 6.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit tetrahedron of 1/6 m³ for each drop, in a frame of this time.
    fn frame(time: f64, volumes: &[f64]) -> Frame {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let mut surface = Surface::default();
        let mut drops = Vec::new();
        for (k, &volume) in volumes.iter().enumerate() {
            let first = surface.positions.len() as u32;
            surface.positions.extend(corners);
            surface.drops.extend([k as u32 + 1; 4]);
            let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
            surface.triangles.extend(faces.map(|face: [u32; 3]| face.map(|corner| first + corner)));
            drops.push(DropState { id: k as u32 + 1, volume, velocity: DVec3::ZERO, speed_max: 0.0, pressure: None });
        }
        Frame { time, liquid: FrameGeometry::Surfaces(surface), drops, ..Frame::default() }
    }

    #[test]
    fn a_frame_that_shows_its_volume_has_no_notice() {
        assert_eq!(notice(&frame(0.02, &[1.0 / 6.0, 1.0009 / 6.0]), None), None);
        assert_eq!(notice(&frame(0.005, &[1.005 / 6.0]), None), None);
        assert_eq!(notice(&frame(0.02, &[]), None), None);
    }

    #[test]
    fn a_frame_that_shows_too_much_or_too_little_says_so() {
        let said = notice(&frame(0.02, &[1.0 / 6.0, 1.003 / 6.0]), None);
        assert!(said.is_some_and(|said| said.contains("surface of the frame") && said.contains("-0.15 %")));
        // One drop too large, one too small.
        let said = notice(&frame(0.0, &[0.98 / 6.0, 1.02 / 6.0]), None);
        assert!(said.is_some_and(|said| said.contains("drop 1") && said.contains("+2.04 %")));
        // In a planar run.
        let said = notice(&frame(0.02, &[1.0 / 6.0]), Some(0.5));
        assert!(said.is_some_and(|said| said.contains("+100.00 %")));
    }
}
