//! Measures of a frame: one line of `measure.jsonl`. SI units, angles in degrees; fields in the
//! order of the file.
//!
//! In planar runs volumes are in m² and areas in m.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::frame::Event;

/// The measures of a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameMeasures {
    /// Frame number; 0 is the initial state.
    pub frame: u64,
    /// Simulated time, in s.
    pub time: f64,
    /// Volume of all drops and films, in m³.
    pub total_volume: f64,
    /// Volume of initial drops and emitters, drains negative, in m³.
    pub added_volume: f64,
    /// Volume that left the scene, in m³; total + lost + evaporated = added.
    pub lost_volume: f64,
    /// Part of the total that is film on solids, in m³.
    pub film_volume: f64,
    /// Volume that evaporated, less what condensed on drops, in m³; written where it is not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub evaporated_volume: f64,
    /// Number of cells in the last step; 0 for models without a grid.
    pub active_cells: u64,
    /// Number of triangles of all drops.
    pub triangles: u64,
    /// Merges and splits since the previous frame.
    pub events: Vec<Event>,
    /// Measures of the drops, by increasing id.
    pub drops: Vec<DropMeasures>,
}

fn is_zero(volume: &f64) -> bool {
    *volume == 0.0
}

/// The measures of a drop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DropMeasures {
    /// Id; never reused.
    pub id: u32,
    /// Volume as the model stores it, in m³.
    pub volume: f64,
    /// Centroid of the enclosed volume, in m.
    pub centroid: DVec3,
    /// Position as the model stores it, in m; `None` for models whose drops are surfaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<DVec3>,
    /// Velocity of the center of mass, in m/s.
    pub velocity: DVec3,
    /// Largest speed in the drop, in m/s.
    pub speed_max: f64,
    /// Smallest and largest coordinates of the surface, in m.
    pub bounds: [DVec3; 2],
    /// Largest distance of the surface from the solid it is on; in free flight its extent along y.
    /// In m.
    pub height: f64,
    /// √(wetted area / π), in m; in planar runs half the wetted length.
    pub base_radius: f64,
    /// Largest distance of the surface from the axis through the centroid along the solid's normal
    /// (in free flight along y), in m.
    pub max_radius: f64,
    /// Area on solids, in m².
    pub wetted_area: f64,
    /// Area of the liquid–air interface, in m².
    pub surface_area: f64,
    /// Contact angle over all contact lines; `None` without one.
    pub contact_angle_deg: Option<AngleRange>,
    /// Mean excess pressure in the drop, in Pa; `None` for models without pressure.
    pub pressure: Option<f64>,
    /// Name of the solid with most of the wetted area; `None` in free flight.
    pub on: Option<String>,
    /// Contact with each solid that it touches, in scene order.
    pub contacts: Vec<ContactMeasures>,
}

/// A drop's contact with one solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactMeasures {
    /// Name of the solid.
    pub solid: String,
    /// Wetted area on it, in m².
    pub wetted_area: f64,
    /// Contact angle along the contact line on it; `None` without one.
    pub contact_angle_deg: Option<AngleRange>,
}

/// Contact angle along a contact line, in degrees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AngleRange {
    /// Mean, weighted by length.
    pub mean: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl FrameMeasures {
    /// JSON on one line, without a line break.
    ///
    /// # Panics
    /// Never for measures from [`crate::measure::measure`] or from a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("measures are plain data")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Ids;

    /// The documented example, except for white space and number formatting.
    #[test]
    fn the_json_has_the_documented_fields_in_order() {
        let angle = AngleRange { mean: 90.0, min: 88.9, max: 91.2 };
        let drop = DropMeasures {
            id: 1,
            volume: 4.19e-9,
            centroid: DVec3::new(0.0, 0.0004, 0.0),
            position: None,
            velocity: DVec3::ZERO,
            speed_max: 0.001,
            bounds: [DVec3::ZERO; 2],
            height: 0.001,
            base_radius: 0.00124,
            max_radius: 0.00124,
            wetted_area: 4.8e-6,
            surface_area: 1.1e-5,
            contact_angle_deg: Some(angle),
            pressure: Some(146.0),
            on: Some("table".into()),
            contacts: vec![ContactMeasures {
                solid: "table".into(),
                wetted_area: 4.8e-6,
                contact_angle_deg: Some(angle),
            }],
        };
        let frame = FrameMeasures {
            frame: 30,
            time: 0.03,
            total_volume: 4.19e-9,
            added_volume: 4.19e-9,
            triangles: 5120,
            events: vec![
                Event::Merge { merge: Ids::from_slice(&[3, 7]), into: 3 },
                Event::Split { split: 3, into: Ids::from_slice(&[3, 9]) },
            ],
            drops: vec![drop],
            ..FrameMeasures::default()
        };
        let expected = concat!(
            r#"{"frame":30,"time":0.03,"total_volume":4.19e-9,"added_volume":4.19e-9,"lost_volume":0.0,"film_volume":0.0,"#,
            r#""active_cells":0,"triangles":5120,"events":[{"merge":[3,7],"into":3},{"split":3,"into":[3,9]}],"#,
            r#""drops":[{"id":1,"volume":4.19e-9,"centroid":[0.0,0.0004,0.0],"velocity":[0.0,0.0,0.0],"speed_max":0.001,"#,
            r#""bounds":[[0.0,0.0,0.0],[0.0,0.0,0.0]],"height":0.001,"base_radius":0.00124,"max_radius":0.00124,"#,
            r#""wetted_area":4.8e-6,"surface_area":0.000011,"contact_angle_deg":{"mean":90.0,"min":88.9,"max":91.2},"#,
            r#""pressure":146.0,"on":"table","contacts":[{"solid":"table","wetted_area":4.8e-6,"#,
            r#""contact_angle_deg":{"mean":90.0,"min":88.9,"max":91.2}}]}]}"#
        );
        assert_eq!(frame.to_json(), expected);
        assert_eq!(serde_json::from_str::<FrameMeasures>(expected).unwrap(), frame);
    }
}
