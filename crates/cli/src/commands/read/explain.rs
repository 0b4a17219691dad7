//! `--explain`: how each page was read, and why.

use crate::output;
use bindery_app::reading::{About, Page, PageKind, ReadBy};
use serde_json::json;

/// What is said of a file before its pages.
pub(super) fn file(name: &str, about: &About, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return Ok(());
    }
    let title = about.metadata.title.as_deref().map(|title| format!(", \"{}\"", output::short(title, 60)));
    let pages = output::count(about.page_count as u64, "page");
    output::line(format!("{name}: {}, {pages}{}", about.file_type.name(), title.unwrap_or_default()))?;
    for warning in &about.warnings {
        output::line(format!("  note: {warning}"))?;
    }
    Ok(())
}

pub(super) fn page(name: &str, page: &Page, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let line = json!({
            "file": name, "page": page.number, "kind": page.kind, "read_by": page.read_by, "reason": page.reason,
            "confidence": page.confidence, "words": page.words.len(), "blocks": page.blocks.len(),
            "warnings": page.warnings,
        });
        return output::json_line(&line);
    }
    let kind = match page.kind {
        PageKind::Text => "text",
        PageKind::Scan => "scan",
        PageKind::Mixed => "text and pictures",
        PageKind::Blank => "blank",
    };
    let read_by = match page.read_by {
        ReadBy::Embedded => "its own text",
        ReadBy::Ocr => "OCR",
        ReadBy::Converted => "converted",
        ReadBy::Nothing => "not read",
    };
    let sure = page.confidence.map(|confidence| format!(", {:.0} % sure", confidence * 100.0)).unwrap_or_default();
    output::line(format!("  page {}: {kind}; {read_by}{sure}: {}", page.number, page.reason))?;
    for warning in &page.warnings {
        output::line(format!("    note: {warning}"))?;
    }
    Ok(())
}
