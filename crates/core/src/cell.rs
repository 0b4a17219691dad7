//! Cells of tables that people open in a spreadsheet.

/// A cell that a spreadsheet would run as a formula is marked as text. What is in tables comes from strangers.
pub fn harmless(cell: String) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    if !is_number && cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_marked_and_numbers_are_not() {
        let shown = |cell: &str| harmless(cell.to_owned());
        assert_eq!(shown("=cmd()"), "'=cmd()");
        assert_eq!(shown("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(shown("-12.50"), "-12.50");
        assert_eq!(shown("+ Parks"), "'+ Parks");
        assert_eq!(shown("Parks = trees"), "Parks = trees");
    }
}
