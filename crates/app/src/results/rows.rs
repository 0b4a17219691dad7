//! Lists of rows, such as line items: their columns in the order in which they are printed.

use serde_json::Value;
use std::collections::BTreeMap;

/// The columns of a list, from left to right. Those of which no cell has a place on a page, as in an e-invoice, come behind
/// them by name.
pub fn columns(rows: &[Value]) -> Vec<String> {
    let mut left: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, cell) in rows.iter().filter_map(|row| row["cells"].as_object()).flatten() {
        let edge = cell["bbox"][0].as_f64().unwrap_or(f64::INFINITY);
        let known = left.entry(name).or_insert(f64::INFINITY);
        *known = known.min(edge);
    }
    let mut columns: Vec<(&str, f64)> = left.into_iter().collect();
    columns.sort_by(|one, other| one.1.total_cmp(&other.1));
    columns.into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_in_the_order_in_which_they_are_printed() {
        let rows = [
            json!({"cells": {"amount": {"bbox": [500, 0, 540, 9]}, "description": {"bbox": [56, 0, 90, 9]}}}),
            json!({"cells": {"quantity": {"bbox": [300, 9, 310, 18]}, "code": {"bbox": null}, "amount": {"bbox": [490, 9, 540, 18]}}}),
        ];
        assert_eq!(columns(&rows), ["description", "quantity", "amount", "code"]);
        assert_eq!(columns(&[]), [] as [&str; 0]);
    }
}
