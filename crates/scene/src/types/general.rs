//! Time, world, domain, resolution and output.

use glam::DVec3;
use sessile_numerics::math;

use super::solids::{MAX, MIN};
use super::words::words;
use crate::declare::section;
use crate::quantities::{ACCELERATION, ANGLE, LENGTH, TEMPERATURE, TIME, VELOCITY};
use crate::resolve;
use crate::schema::Default::{Derived, Required, RequiredUnless, Value};
use crate::schema::Range::{self, Any, Closed, Positive};
use crate::schema::ValueType::{self, Boolean, Integer, List, Name, Number, OneOf, Quantity, Vector, Word};
use crate::schema::{Affects, Key, Table, key, table};

section! {
    /// `[time]`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Time: "[time]" {
        /// Simulated time, in s; an integer number of frames.
        pub duration via resolve::general::Duration: f64,
        /// Time between two frames, in s.
        pub frame via resolve::general::FrameInterval: f64,
        /// Number of the first frame in images and exports.
        pub start_frame: u32 = key(
            Integer(0, 1_000_000),
            Value("0"),
            "number of the first frame in the names of images and exported files"
        ).affecting(Affects::Images),
        /// Whether to add drag and stop at rest.
        pub settle: bool = key(Boolean, Value("false"), "add drag and stop when all drops are at rest"),
    } then resolve::general::check_frames
}

impl Time {
    /// Alternatives for the simulated time.
    pub(crate) const DURATION: &'static [Key] = &[
        Key {
            name: "duration",
            ..key(
                Quantity(&TIME, Positive),
                RequiredUnless("frames"),
                "simulated time: an integer number of frames, at most one million",
            )
        },
        Key {
            name: "frames",
            ..key(Integer(1, 1_000_000), RequiredUnless("duration"), "number of the last frame, in place of `duration`")
        },
    ];

    /// Alternatives for the time between two frames.
    pub(crate) const INTERVAL: &'static [Key] = &[
        Key { name: "frame", ..key(Quantity(&TIME, Positive), RequiredUnless("fps"), "time between two frames") },
        Key {
            name: "fps",
            ..key(
                Number(Closed(1e-3, 1e9)),
                RequiredUnless("frame"),
                "frames per simulated second, in place of `frame`; also the default of `render.fps`",
            )
        },
    ];

    /// Number in images and exports of a frame of the run.
    pub fn shown_frame(&self, frame: u64) -> u64 {
        frame + u64::from(self.start_frame)
    }

    /// Number of the last frame; frame 0 is the initial state.
    pub fn last_frame(&self) -> u32 {
        (self.duration / self.frame).round() as u32
    }
}

/// A quantity given at several times: linear between them, constant before the first and after the
/// last.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyed<T> {
    /// Pairs of time (in s) and value; at least one, in order of increasing time.
    pub keys: Vec<(f64, T)>,
}

impl<T> Keyed<T>
where
    T: Copy + std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
{
    /// The value at time `t`, in s.
    ///
    /// # Panics
    ///
    /// If there are no keys.
    pub fn at(&self, t: f64) -> T {
        let after = self.keys.partition_point(|(time, _)| *time <= t);
        match (after.checked_sub(1).map(|i| self.keys[i]), self.keys.get(after)) {
            (Some((t0, v0)), Some(&(t1, v1))) => {
                let s = (t - t0) / (t1 - t0);
                v0 * (1.0 - s) + v1 * s
            }
            (Some((_, value)), None) => value,
            (None, _) => self.keys[0].1,
        }
    }
}

/// The directions u and v on a plane with unit `normal`: v up the slope, u = v × normal across it.
///
/// v is the projection of the world's +y onto the plane. On a level plane (to 1e-6 rad) v is the
/// world's −z, so that u is +x.
pub fn plane_axes(normal: DVec3) -> (DVec3, DVec3) {
    let up = DVec3::Y - normal * normal.y;
    let level = up.length() < 1e-6;
    let v = if level { DVec3::NEG_Z - normal * -normal.z } else { up }.normalize();
    (v.cross(normal), v)
}

section! {
    /// `[world]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WorldSettings: "[world]" {
        /// Gravity before it is tilted, in m/s²; see [`WorldSettings::gravity_at`].
        pub gravity: Keyed<DVec3> = key(
            OneOf(&[Vector(&ACCELERATION), List(&GRAVITY_KEY)]),
            Value("\"0 -9.8 0 m/s^2\""),
            "gravity; a list of keys is linear between them and constant outside"
        ),
        /// Angle by which gravity is turned about the z axis, from −y towards +x, in rad.
        pub tilt: Keyed<f64> = key(
            OneOf(&[Quantity(&ANGLE, Any), List(&TILT_KEY)]),
            Value("\"0 deg\""),
            "turns gravity about the z axis, from -y towards +x; a list of keys is linear between them and constant outside"
        ),
        /// Wind, in m/s.
        pub wind: DVec3 = key(Vector(&VELOCITY), Value("\"0 0 0 m/s\""), "wind velocity"),
        /// Relative humidity of the air; `None`: drops neither evaporate nor grow by condensation.
        pub humidity: Option<Keyed<f64>> = key(
            OneOf(&[Number(Closed(0.0, 1.0)), List(&HUMIDITY_KEY)]),
            Derived("no evaporation"),
            "relative humidity of the air, 0 to 1: drops evaporate into still air, or grow where a solid is colder than \
             the dew point; a list of keys (pane and droplet models) is linear between them and constant outside"
        ),
        /// Temperature of the air, in K.
        pub temperature: f64 = TEMPERATURE_KEY,
        /// Whether the run is two-dimensional, in the x–y plane.
        pub planar: bool = key(Boolean, Value("false"), "two-dimensional run in the x-y plane (volume model)"),
    } then resolve::general::note_world
}

const TEMPERATURE_KEY: Key = key(
    Quantity(&TEMPERATURE, TEMPERATURES),
    Value("\"20 degC\""),
    "temperature of the air and of solids without one of their own; for evaporation only",
);

/// Temperatures at which the vapor pressure is known, in °C.
pub(super) const TEMPERATURES: Range = Closed(0.0, 95.0);

static GRAVITY_KEY: Table = table(
    "a key of `gravity`",
    &[&[
        AT,
        Key { name: "value", ..key(Vector(&ACCELERATION), Required("\"0 -9.8 0 m/s^2\""), "gravity at that time") },
    ]],
);

static HUMIDITY_KEY: Table = table(
    "a key of `humidity`",
    &[&[AT, Key { name: "value", ..key(Number(Closed(0.0, 1.0)), Required("0.5"), "humidity at that time") }]],
);

static TILT_KEY: Table = table(
    "a key of `tilt`",
    &[&[AT, Key { name: "value", ..key(Quantity(&ANGLE, Any), Required("\"30 deg\""), "tilt at that time") }]],
);

const AT: Key = Key { name: "at", ..key(Quantity(&TIME, Any), Required("\"0 s\""), "time; times must increase") };

impl WorldSettings {
    /// Gravity at time `t` (in s), turned by the tilt, in m/s².
    pub fn gravity_at(&self, t: f64) -> DVec3 {
        let (gravity, tilt) = (self.gravity.at(t), self.tilt.at(t));
        // A scene without tilt keeps the bits of its gravity.
        if tilt == 0.0 { gravity } else { math::rotation_z(tilt) * gravity }
    }

    /// The last time at which gravity changes, in s; 0 if it is constant.
    pub fn gravity_changes_until(&self) -> f64 {
        let last = |times: &[f64]| if times.len() > 1 { times[times.len() - 1] } else { 0.0 };
        let gravity: Vec<f64> = self.gravity.keys.iter().map(|key| key.0).collect();
        let tilt: Vec<f64> = self.tilt.keys.iter().map(|key| key.0).collect();
        last(&gravity).max(last(&tilt))
    }
}

section! {
    /// `[domain]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Domain: "[domain]" {
        /// Lower corner, in m.
        pub min: DVec3 = MIN,
        /// Upper corner, in m.
        pub max: DVec3 = MAX,
        /// Boundary conditions on the two sides across x, y and z.
        pub sides: [Side; 3],
        /// Material of the walls; `None` means a contact angle of 90°.
        pub wall_material: Option<String> = key(
            Name("a material"),
            Derived("a contact angle of 90 deg"),
            "material of the walls"
        ),
    } then resolve::general::note_domain
}

impl Side {
    /// One key per axis.
    pub(crate) const AXES: &'static [Key] = &[
        Key { name: "x", ..key(SIDE, Value("\"open\""), "boundary condition on the two x sides") },
        Key { name: "y", ..key(SIDE, Value("\"open\""), "boundary condition on the two y sides") },
        Key { name: "z", ..key(SIDE, Value("\"open\""), "boundary condition on the two z sides") },
    ];
}

const SIDE: ValueType = Word(Side::NAMES);

words! {
    /// Boundary condition on a pair of opposite sides of the domain.
    pub enum Side {
        /// Liquid leaves and is counted as lost.
        Open = "open",
        /// A solid wall.
        Wall = "wall",
        /// A mirror plane.
        Symmetry = "symmetry",
        /// Liquid that leaves on one side enters on the other.
        Periodic = "periodic",
    }
}

section! {
    /// `[resolution]`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Resolution: "[resolution]" {
        /// Cell size of the volume model, in m; `None` where the scene has nothing to derive it
        /// from.
        pub cell: Option<f64> = key(
            Quantity(&LENGTH, Positive),
            Derived("20 cells across the smallest drop"),
            "volume model: cell size"
        ),
        /// Shortest edge of the surface and droplet models, in m.
        pub edge: f64 = key(
            Quantity(&LENGTH, Positive),
            Value("\"0.4 mm\""),
            "surface and droplet models: shortest edge (the longest is three times as long)"
        ),
    }
}

section! {
    /// `[output]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Output: "[output]" {
        /// Whether the volume model writes its fields with every frame.
        pub fields: bool = key(
            Boolean,
            Value("false"),
            "volume model: write level set, velocity and pressure with every frame"
        ),
        /// Texels along the longer side of the wet maps; `None` for the model's own resolution.
        pub wet_size: Option<u32> = key(
            Integer(16, 4096),
            Derived("the model's own"),
            "texels along the longer side of the wet maps"
        ),
        /// Whether wet maps record the age of wet texels.
        pub wet_age: bool = key(
            Boolean,
            Value("false"),
            "record in wet maps for how many frames liquid has been gone (blue)"
        ),
        /// Time in which wetness vanishes from wet maps after liquid has left, in s.
        pub drying: Option<f64> = key(
            Quantity(&TIME, Positive),
            Derived("wet places stay wet"),
            "time in which wetness without film vanishes from wet maps after liquid has left; implies `wet_age`"
        ),
    }
}
