//! The analysis of a submission as a whole: what its checklist asks for, what is missing, what contradicts.

use super::per_cent;
use crate::output;
use bindery_app::results::cell_text;
use serde_json::Value;

/// With two decimals at most.
fn points(number: &Value) -> String {
    let text = format!("{:.2}", number.as_f64().unwrap_or(0.0));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn show(analysis: &Value) -> anyhow::Result<()> {
    let texts = |key: &str| analysis[key].as_array().into_iter().flatten().map(cell_text).collect::<Vec<_>>();
    output::line("")?;
    let verdict = cell_text(&analysis["verdict"]).replace('_', " ");
    match analysis["checklist"]["title"].as_str() {
        Some(title) => {
            output::line(format!("{title}: {verdict}, {} complete", per_cent(&analysis["completeness_score"])))?;
            let requirements = analysis["requirements"].as_array().into_iter().flatten();
            let rows = requirements.map(|one| {
                let optional = if one["is_optional"] == true { " (optional)" } else { "" };
                let documents = one["documents"].as_array().into_iter().flatten().map(cell_text).collect::<Vec<_>>();
                [
                    format!("{}{optional}", cell_text(&one["title"])),
                    format!("{} of {}", one["found"], one["at_least"]),
                    format!("{} of {}", points(&one["points"]), points(&one["of"])),
                    documents.join(", "),
                ]
            });
            output::fitted_table(&["REQUIRED", "FOUND", "POINTS", "DOCUMENTS"], rows)?;
        }
        None => output::line(format!("the submission as a whole, without a checklist: {verdict}"))?,
    }
    for missing in texts("missing_information") {
        output::line(format!("missing: {missing}"))?;
    }
    for contradiction in analysis["contradictions"].as_array().into_iter().flatten() {
        output::line(format!("contradiction: {}", cell_text(&contradiction["message"])))?;
    }
    for duplicate in analysis["duplicates"].as_array().into_iter().flatten() {
        output::line(format!("duplicate: {}", cell_text(&duplicate["message"])))?;
    }
    for advice in texts("recommendations") {
        output::line(format!("next: {advice}"))?;
    }
    Ok(())
}
