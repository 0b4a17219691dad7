//! What intrinsic functions and JSONata functions of Step Functions both compute.

mod base64;
mod hash;
mod lists;
mod md5;

pub(crate) use base64::{decode as base64_decode, encode as base64_encode};
pub(crate) use hash::{ALGORITHMS, hash};
pub(crate) use lists::{partition, range};

use serde_json::Value;

/// A number of JSON text that is zero with a sign has none afterwards.
pub(crate) fn parse_json(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(match value.as_f64() {
        Some(0.0) => Value::from(0),
        _ => value,
    })
}

/// Many numbers from one: each call gives the next, and the same state gives the same.
pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// From 0 to below 1.
pub(crate) fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A random identifier (version 4) of 128 bits.
pub(crate) fn uuid(high: u64, low: u64) -> String {
    let high = (high & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000;
    let low = (low & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_repeatable_and_in_range() {
        let draw = |seed: u64| {
            let mut state = seed;
            (0..100).map(|_| fraction(next_random(&mut state))).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!(draw(7).iter().all(|number| (0.0..1.0).contains(number)));
        let id = uuid(u64::MAX, u64::MAX);
        assert_eq!(id, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn a_zero_has_no_sign() {
        assert_eq!(parse_json("-0").unwrap().to_string(), "0");
        assert!(parse_json("{").is_err());
    }
}
