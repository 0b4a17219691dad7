//! What is missing and what to do next, in sentences.

use super::{
    model::Checklist,
    paper::{Paper, PaperStatus},
    report::{Analysis, Fulfilment},
};
use crate::doctype::OTHER;

/// What is missing of that which is required, requirement by requirement.
pub(super) fn missing(checklist: &Checklist, requirements: &[Fulfilment]) -> Vec<String> {
    let mut missing = Vec::new();
    for (requirement, wanted) in requirements.iter().zip(&checklist.documents) {
        let is_short = requirement.found < requirement.at_least;
        if requirement.is_optional && requirement.found == 0 {
            continue;
        }
        if is_short && requirement.found == 0 && requirement.at_least == 1 {
            missing.push(format!("{} is missing ({})", requirement.title, wanted.types.join(" or ")));
        } else if is_short {
            let (found, least) = (requirement.found, requirement.at_least);
            missing.push(format!("{}: {found} of {least} found ({})", requirement.title, wanted.types.join(" or ")));
        }
        if requirement.points < requirement.of {
            let about_documents = requirement.reasons.iter().skip(usize::from(is_short));
            missing.extend(about_documents.map(|reason| format!("{}: {reason}", requirement.title)));
        }
    }
    missing
}

/// Recommendations, the most important first.
pub(super) fn recommend(analysis: &mut Analysis, checklist: Option<&Checklist>, papers: &[Paper], others: &[&Paper]) {
    let mut advice = Vec::new();
    let lacking: Vec<&Fulfilment> = analysis
        .requirements
        .iter()
        .filter(|requirement| !requirement.is_optional && requirement.found < requirement.at_least)
        .collect();
    for requirement in &lacking {
        let more = requirement.at_least - requirement.found;
        advice.push(match requirement.at_least {
            1 => format!("Ask for: {}.", requirement.title),
            _ => format!("Ask for {more} more: {}.", requirement.title),
        });
    }
    for requirement in analysis.requirements.iter().filter(|one| one.found >= one.at_least && one.points < one.of) {
        if let Some(reason) = requirement.reasons.first() {
            advice.push(format!("Ask for a replacement: {}, {reason}.", requirement.title));
        }
    }
    if !lacking.is_empty() && checklist.is_some() {
        for paper in others.iter().filter(|paper| paper.doc_type == OTHER) {
            let titles: Vec<&str> = lacking.iter().map(|requirement| requirement.title.as_str()).collect();
            advice.push(format!(
                "Look at {}: its type is not known, is it {}?",
                paper.display_name(),
                titles.join(" or ")
            ));
        }
    }
    for found in &analysis.contradictions {
        advice.push(format!("Clear up: {}.", found.message));
    }
    for duplicate in &analysis.duplicates {
        advice.push(format!(
            "Check whether {} ({}) was meant to be another document.",
            duplicate.file, duplicate.document_id
        ));
    }
    for paper in papers {
        match paper.status {
            PaperStatus::Failed => advice.push(format!("Ask for {} again: it could not be read.", paper.file)),
            PaperStatus::Review => advice.push(format!("Review {}.", paper.display_name())),
            PaperStatus::Completed => {}
        }
    }
    analysis.recommendations = advice;
}
