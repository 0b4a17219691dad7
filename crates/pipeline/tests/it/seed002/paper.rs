//! Small papers: pages of text, as PDF.

use std::fmt::Write as _;

/// A line that begins with `#` is a title.
pub(super) type Lines = &'static [&'static str];

pub(super) const INVOICE: Lines = &[
    "Nordwind Papier GmbH",
    "Hafenstrasse 12, 20457 Hamburg",
    "# Invoice",
    "Invoice number: 2026-0117",
    "Invoice date: 14 March 2026",
    "Cost centre: K-88",
    "Bill to: Example Office Ltd",
    "Net total: 100.00 EUR",
    "VAT 19 %: 19.00 EUR",
    "Grand total: 119.00 EUR",
    "Payment terms: please pay within 30 days.",
];

/// Nothing says what it comes to.
pub(super) const INVOICE_WITHOUT_TOTAL: Lines = &[
    "Nordwind Papier GmbH",
    "Hafenstrasse 12, 20457 Hamburg",
    "# Invoice",
    "Invoice number: 2026-0118",
    "Invoice date: 15 March 2026",
    "Bill to: Example Office Ltd",
    "Payment terms: please pay within 30 days. The due date is in our letter.",
];

pub(super) const ID_CARD: Lines = &[
    "# IDENTITY CARD",
    "Surname: Ruiz",
    "Given names: Ana Maria",
    "Document number: X4711220",
    "Date of birth: 3 May 1990",
    "Nationality: Spanish",
    "Sex: F",
    "Date of expiry: 1 June 2031",
];

pub(super) const PAYSLIP: Lines = &[
    "# Payslip",
    "Pay period: March 2026",
    "Employer: Nordwind Papier GmbH",
    "Employee: Ana Ruiz",
    "Employee number: 4711",
    "Gross pay: 3,000.00 EUR",
    "Income tax: 500.00 EUR",
    "Total deductions: 800.00 EUR",
    "Net pay: 2,200.00 EUR",
];

/// Fits no type for sure.
pub(super) const NOTE: Lines = &["Nothing much, and no date: total 12 of 13, dear employee of the company."];

/// A PDF with these pages.
pub(super) fn pdf(pages: &[Lines]) -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned(), String::new(), font.to_owned()];
    let mut kids = Vec::new();
    for lines in pages {
        let content = page_content(lines);
        let place = objects.len() + 1;
        kids.push(format!("{place} 0 R"));
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R >>", place + 1));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    objects[1] = format!(
        "<< /Type /Pages /Kids [ {} ] /Count {} /MediaBox [ 0 0 595 842 ] /Resources << /Font << /F 3 0 R >> >> >>",
        kids.join(" "),
        pages.len()
    );
    let mut file = "%PDF-1.7\n".to_owned();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", index + 1).unwrap();
    }
    let table = file.len();
    let count = objects.len() + 1;
    write!(file, "xref\n0 {count}\n0000000000 65535 f \n").unwrap();
    for place in places {
        writeln!(file, "{place:010} 00000 n ").unwrap();
    }
    write!(file, "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n").unwrap();
    file.into_bytes()
}

fn page_content(lines: &[&str]) -> String {
    let mut content = "BT\n".to_owned();
    let mut height = 780;
    for line in lines {
        let (size, text) = line.strip_prefix("# ").map_or((11, *line), |title| (22, title));
        let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        writeln!(content, "/F {size} Tf 1 0 0 1 60 {height} Tm ({text}) Tj").unwrap();
        height -= 2 * size;
    }
    content + "ET"
}
