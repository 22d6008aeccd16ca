//! Elementary functions with the same bits on every platform.
//!
//! The functions of the standard library are those of the system: they differ in the last bit
//! between Linux, macOS, Windows and WebAssembly, and a run differs visibly soon after. These are
//! those of the crate `libm`, compiled into the program. Square roots, roundings and products with
//! an addend are exact everywhere and stay the standard library's.
//!
//! `clippy.toml` lists the methods that this module replaces; models and the crates below them deny
//! them.

use glam::{DMat2, DMat3, DQuat, DVec2, DVec3};
pub use libm::{acos, asin, atan, atan2, cbrt, cos, cosh, exp, hypot, log2, log10, sin, sinh, tan, tanh};
pub use libm::{expm1 as exp_m1, log as ln, log1p as ln_1p, pow as powf, sincos as sin_cos};

/// The unit vector at an angle (in rad) from the x axis to the y axis.
#[inline]
pub fn direction(angle: f64) -> DVec2 {
    let (sin, cos) = sin_cos(angle);
    DVec2::new(cos, sin)
}

/// Angle of a vector (in rad, −π to π) from the x axis to the y axis.
#[inline]
pub fn direction_angle(vector: DVec2) -> f64 {
    atan2(vector.y, vector.x)
}

/// Rotation of a plane by an angle (in rad).
#[inline]
pub fn rotation(angle: f64) -> DMat2 {
    let along = direction(angle);
    DMat2::from_cols(along, along.perp())
}

/// Rotation about the x axis by an angle (in rad).
#[inline]
pub fn rotation_x(angle: f64) -> DMat3 {
    let (sin, cos) = sin_cos(angle);
    DMat3::from_cols(DVec3::X, DVec3::new(0.0, cos, sin), DVec3::new(0.0, -sin, cos))
}

/// Rotation about the y axis by an angle (in rad).
#[inline]
pub fn rotation_y(angle: f64) -> DMat3 {
    let (sin, cos) = sin_cos(angle);
    DMat3::from_cols(DVec3::new(cos, 0.0, -sin), DVec3::Y, DVec3::new(sin, 0.0, cos))
}

/// Rotation about the z axis by an angle (in rad).
#[inline]
pub fn rotation_z(angle: f64) -> DMat3 {
    let (sin, cos) = sin_cos(angle);
    DMat3::from_cols(DVec3::new(cos, sin, 0.0), DVec3::new(-sin, cos, 0.0), DVec3::Z)
}

/// Rotation about the direction of a vector by its length (in rad).
#[inline]
pub fn quat_from_scaled_axis(turn: DVec3) -> DQuat {
    let angle = turn.length();
    if angle == 0.0 {
        return DQuat::IDENTITY;
    }
    let (sin, cos) = sin_cos(0.5 * angle);
    let axis = turn * (sin / angle);
    DQuat::from_xyzw(axis.x, axis.y, axis.z, cos)
}

/// The vector along the axis of a rotation whose length is its angle (in rad).
#[inline]
pub fn quat_to_scaled_axis(turn: DQuat) -> DVec3 {
    let axis = DVec3::new(turn.x, turn.y, turn.z);
    let sin = axis.length();
    if sin < 1e-8 { DVec3::ZERO } else { axis * (2.0 * atan2(sin, turn.w) / sin) }
}

/// The rotation at `s` from `from` (0) to `to` (1) at constant angular velocity, the shorter way.
pub fn slerp(from: DQuat, to: DQuat, s: f64) -> DQuat {
    let to = if from.dot(to) < 0.0 { -to } else { to };
    from * quat_from_scaled_axis(quat_to_scaled_axis(from.conjugate() * to) * s)
}

/// Angle between two vectors, in rad.
#[inline]
pub fn angle_between(a: DVec3, b: DVec3) -> f64 {
    acos((a.dot(b) / (a.length_squared() * b.length_squared()).sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits that the functions gave on x86-64 and in WebAssembly; any platform must give them.
    #[test]
    fn functions_have_the_same_bits_on_every_platform() {
        let found = [
            sin(1.1),
            cos(0.7),
            tan(1.3),
            asin(0.3),
            acos(-0.6),
            atan(2.2),
            atan2(-1.0, 3.0),
            sinh(0.9),
            cosh(1.4),
            tanh(0.35),
            exp(-2.7),
            exp_m1(1e-3),
            ln(5.5),
            ln_1p(-0.2),
            log2(7.0),
            log10(0.02),
            powf(2.5, 1.0 / 3.0),
            cbrt(11.0),
            hypot(1.9, -0.4),
            sin_cos(100.0).0,
            sin_cos(100.0).1,
        ];
        let expected: [u64; 21] = [
            0x3fec_84c5_4c2d_6338,
            0x3fe8_7996_529f_9d93,
            0x400c_d11b_1696_e97e,
            0x3fd3_8015_9e14_f6ff,
            0x4001_b6e1_92eb_be44,
            0x3ff2_4e83_fa9b_4e48,
            0xbfd4_978f_a326_9ee1,
            0x3ff0_6c9c_cd5b_6af8,
            0x4001_350a_412f_0a80,
            0x3fd5_872d_4a86_51d6,
            0x3fb1_3461_6754_00c2,
            0x3f50_6466_dfb8_cf3a,
            0x3ffb_46a5_ef81_51a0,
            0xbfcc_8ff7_c79a_9a22,
            0x4006_7576_7f54_042d,
            0xbffb_2efb_2bd8_2180,
            0x3ff5_b720_9557_b0ee,
            0x4001_cab6_12df_9a46,
            0x3fff_10fe_50b2_56b1,
            0xbfe0_3425_b78c_4db8,
            0x3feb_981d_bf66_5fdf,
        ];
        for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert_eq!(found.to_bits(), expected, "function {at}: {found:e}, bits {:#018x}", found.to_bits());
        }
    }

    #[test]
    fn rotations_agree_with_those_of_glam() {
        let near = |a: DMat3, b: DMat3| assert!(a.abs_diff_eq(b, 1e-15), "{a} and {b}");
        for angle in [-3.0, -0.2, 0.0, 1e-9, 0.9, 3.1] {
            near(rotation_x(angle), DMat3::from_rotation_x(angle));
            near(rotation_y(angle), DMat3::from_rotation_y(angle));
            near(rotation_z(angle), DMat3::from_rotation_z(angle));
            assert!(rotation(angle).abs_diff_eq(DMat2::from_angle(angle), 1e-15));
            assert!((direction_angle(direction(angle)) - angle).abs() < 1e-15);
            let turn = DVec3::new(0.6, -0.48, 0.64) * angle;
            let quat = quat_from_scaled_axis(turn);
            assert!(quat.abs_diff_eq(DQuat::from_scaled_axis(turn), 1e-15));
            assert!(quat_to_scaled_axis(quat).abs_diff_eq(turn, 1e-14) || angle.abs() < 1e-7);
            assert!((angle_between(DVec3::X, rotation_z(angle) * DVec3::X) - angle.abs()).abs() < 1e-7);
        }
    }
}
