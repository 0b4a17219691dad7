//! Lists cut into pieces, and lists of numbers.

use serde_json::Value;

/// The longest list that a range gives.
const LONGEST_RANGE: f64 = 1_000.0;

/// Pieces of a size; the last may be smaller.
pub(crate) fn partition(values: &[Value], size: f64) -> Result<Value, String> {
    let size = size.floor();
    if size < 1.0 || size.is_nan() {
        return Err(format!("the size of a piece is at least 1, not {size}"));
    }
    let size = if size > values.len() as f64 { values.len().max(1) } else { size as usize };
    Ok(Value::Array(values.chunks(size).map(|piece| Value::Array(piece.to_vec())).collect()))
}

/// From the first number to the last, both included.
pub(crate) fn range(first: f64, last: f64, step: f64) -> Result<Value, String> {
    if step == 0.0 || !step.is_finite() || !first.is_finite() || !last.is_finite() {
        return Err("the step of a range cannot be 0".to_owned());
    }
    let count = ((last - first) / step).floor() + 1.0;
    if count > LONGEST_RANGE {
        return Err(format!("a range has at most {LONGEST_RANGE} numbers, this one has {count}"));
    }
    let number = |place: u32| whole(first + f64::from(place) * step);
    Ok(Value::Array((0..count.max(0.0) as u32).map(number).collect()))
}

/// As a whole number, if it is one.
pub(crate) fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { Value::from(number as i64) } else { Value::from(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_cut_and_counted() {
        assert_eq!(partition(&[json!(1), json!(2), json!(3)], 2.0), Ok(json!([[1, 2], [3]])));
        assert_eq!(partition(&[], 3.0), Ok(json!([])));
        assert!(partition(&[json!(1)], 0.0).is_err());
        assert_eq!(range(0.0, 10.0, 3.0), Ok(json!([0, 3, 6, 9])));
        assert_eq!(range(3.0, 1.0, -1.0), Ok(json!([3, 2, 1])));
        assert_eq!(range(1.0, 0.0, 1.0), Ok(json!([])));
        assert!(range(0.0, 1e9, 1.0).is_err());
        assert!(range(0.0, 1.0, 0.0).is_err());
    }
}
