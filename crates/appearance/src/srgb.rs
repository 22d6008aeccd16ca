//! The sRGB transfer function (iec61966).

/// A linear value within `[0, 1]` as an 8-bit sRGB code, rounded to the nearest (iec61966).
pub fn srgb_from_linear(linear: f32) -> u8 {
    let linear = linear.clamp(0.0, 1.0);
    let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round() as u8
}

/// The linear value of an 8-bit sRGB code; inverse of [`srgb_from_linear`].
pub fn linear_from_srgb(code: u8) -> f32 {
    decode(f32::from(code) / 255.0)
}

/// The linear value of an sRGB-encoded value within `[0, 1]`.
pub fn decode(encoded: f32) -> f32 {
    if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_through_linear_light() {
        for code in 0..=255 {
            assert_eq!(srgb_from_linear(linear_from_srgb(code)), code);
        }
        assert_eq!((srgb_from_linear(-1.0), srgb_from_linear(2.0), srgb_from_linear(f32::NAN)), (0, 255, 0));
    }
}
