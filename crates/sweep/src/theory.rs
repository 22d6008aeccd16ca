//! What the laws of `wetting` predict for a run: one drop that is put on a plane.
//!
//! Its contact line is pinned where it was put, as long as the contact angle stays between the
//! receding and the advancing one. On a level plane it rests in the shape of the Young–Laplace
//! equation (`young_laplace`). On a tilted one it is retained up to Furmidge's critical volume
//! (`retention`), and slides with the speed at which viscous friction balances the rest of its
//! weight (`sliding`).

use glam::{DMat3, DVec3};
use sessile_scene::{Amount, DropShape, Scene, SolidShape, Varying};
use sessile_wetting::{SlidingLaw, Wetting, cap, retention, sliding, young_laplace};

/// Angle between gravity and the normal below which a plane counts as level, in rad.
const LEVEL: f64 = 1e-6;

/// Predicted measures of a run; `None` where no law applies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Theory {
    /// Height at rest, in m.
    pub height: Option<f64>,
    /// Base radius at rest, in m.
    pub base_radius: Option<f64>,
    /// Contact angle at rest, in degrees.
    pub contact_angle_deg: Option<f64>,
    /// Speed, in m/s; 0 for a retained drop.
    pub speed: Option<f64>,
    /// Whether the drop slides.
    pub slides: Option<bool>,
}

impl Theory {
    /// The prediction for a measure of the table of results, and the name of its law.
    pub fn of_measure(&self, name: &str) -> Option<(f64, &'static str)> {
        match name {
            "final.height" => self.height.map(|value| (value, "Young–Laplace")),
            "final.base_radius" => self.base_radius.map(|value| (value, "Young–Laplace")),
            "final.contact_angle_mean_deg" => self.contact_angle_deg.map(|value| (value, "Young–Laplace")),
            "final.speed" => self.speed.map(|value| (value, "Furmidge and friction")),
            _ => None,
        }
    }

    /// The prediction for a scene.
    pub fn of_scene(scene: &Scene) -> Self {
        Self::predict(scene).unwrap_or_default()
    }

    fn predict(scene: &Scene) -> Option<Self> {
        let [drop] = &scene.drops[..] else { return None };
        let DropShape::Cap { on, amount: Amount::Volume(volume), contact_angle, .. } = drop.shape else { return None };
        let solid = scene.solids.get(on)?;
        let SolidShape::Plane { normal, .. } = solid.shape else { return None };
        if !scene.emitters.is_empty() || !solid.motion.is_empty() || scene.world.gravity_changes_until() > 0.0 {
            return None;
        }
        let DVec3 { x, y, z } = solid.rotate;
        let rotation = DMat3::from_rotation_z(z) * DMat3::from_rotation_y(y) * DMat3::from_rotation_x(x);
        let normal = rotation * normal.normalize();
        let material = scene.materials.iter().find(|material| material.name == solid.material)?;
        let (Varying::Uniform(advancing), Varying::Uniform(receding)) = (&material.advancing, &material.receding)
        else {
            return None;
        };
        let wetting = Wetting::smooth(*advancing, *receding);
        let gravity = scene.world.gravity_at(0.0);
        let law = SlidingLaw::new(&scene.liquid, &wetting);
        let pressing = -gravity.dot(normal);
        let pinned = cap::base_radius(volume, contact_angle);
        let angle = law.angle_at(&scene.liquid, volume, pinned, pressing, 0.0);
        let tilt = gravity.angle_between(-normal);
        if tilt < LEVEL && pressing > 0.0 {
            let rest = young_laplace::sessile(volume, angle, scene.liquid.capillary_length(pressing))?;
            return Some(Self {
                height: Some(rest.height),
                base_radius: Some(rest.base_radius),
                contact_angle_deg: Some(angle.to_degrees()),
                speed: Some(0.0),
                slides: Some(false),
            });
        }
        if tilt >= std::f64::consts::FRAC_PI_2 + LEVEL || gravity.length() == 0.0 {
            return None;
        }
        let table = sessile_wetting::ShapeTable::shared();
        let critical = retention::critical_volume_at_rest(table, &scene.liquid, &wetting, gravity.length(), tilt, 1.0);
        let shape = table.rest_shape(volume, wetting.advancing, pressing, &scene.liquid)?;
        let drive = scene.liquid.density * volume * gravity.length() * tilt.sin();
        let width = 2.0 * shape.base_radius;
        let speed = sliding::steady_speed(&scene.liquid, &wetting, width, drive, 0.0, None);
        let slides = volume > critical;
        Some(Self { speed: Some(if slides { speed } else { 0.0 }), slides: Some(slides), ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessile_scene::{NoFiles, parse_str};

    fn theory(tilt: &str, drop: &str) -> Theory {
        let text = format!(
            "model = \"pane\"\n[time]\nduration = \"1 s\"\nframe = \"0.1 s\"\n[world]\ntilt = \"{tilt}\"\n\
             [materials.m]\nadvancing = \"90 deg\"\nreceding = \"60 deg\"\n\
             [[solids]]\nname = \"p\"\nmaterial = \"m\"\nnormal = [0, 1, 0]\n[[drops]]\nshape = \"cap\"\n{drop}\n"
        );
        let parsed = parse_str("test", &text, &[], &NoFiles).unwrap_or_else(|error| panic!("{error}"));
        Theory::of_scene(&parsed.scene)
    }

    #[test]
    fn a_small_drop_on_a_level_plane_is_a_cap() {
        let found = theory("0 deg", "volume = \"0.01 uL\"\ncontact_angle = \"80 deg\"");
        let radius = cap::base_radius(1e-11, 80_f64.to_radians());
        let height = cap::height(radius, 80_f64.to_radians());
        let [h, r, a] = [found.height, found.base_radius, found.contact_angle_deg].map(|value| value.expect("a law"));
        // Gravity flattens it by the Bond number, some 2 %.
        assert!((h / height - 1.0).abs() < 0.02 && (r / radius - 1.0).abs() < 0.01, "{h} {r}, cap {height} {radius}");
        assert!((a - 80.0).abs() < 2.0, "{a}");
    }

    #[test]
    fn a_heavy_drop_advances_to_its_angle_and_a_pinned_one_does_not() {
        let heavy = theory("0 deg", "volume = \"40 uL\"\ncontact_angle = \"90 deg\"");
        assert!((heavy.contact_angle_deg.expect("a law") - 90.0).abs() < 1e-6);
        let flat = theory("0 deg", "volume = \"40 uL\"\ncontact_angle = \"40 deg\"");
        assert!((flat.contact_angle_deg.expect("a law") - 60.0).abs() < 1e-6, "it recedes to the receding angle");
        assert!(flat.height < heavy.height);
    }

    #[test]
    fn furmidges_law_tells_which_drops_slide() {
        let [held, slides] = ["5 uL", "60 uL"].map(|volume| theory("40 deg", &format!("volume = \"{volume}\"")));
        assert_eq!((held.slides, held.speed), (Some(false), Some(0.0)));
        assert!(slides.slides == Some(true) && slides.speed.expect("a law") > 0.0, "{slides:?}");
        assert_eq!(held.height, None);
    }

    #[test]
    fn there_is_no_law_for_other_scenes() {
        assert_eq!(theory("0 deg", "volume = \"4 uL\"\n[[drops]]\ncenter = \"9 9 9 mm\""), Theory::default());
        assert_eq!(theory("120 deg", "volume = \"4 uL\""), Theory::default());
    }
}
