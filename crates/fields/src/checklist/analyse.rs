//! Which document fulfils which requirement, and how complete that makes the submission.

use super::{
    advice,
    model::{Checklist, Requirement},
    paper::{Paper, PaperStatus},
    report::{Analysis, ChecklistUsed, DuplicatePaper, Fulfilment, Verdict},
    rules::{self, Assigned},
};
use bindery_core::Timestamp;
use jiff::{ToSpan, civil::Date, tz::TimeZone};
use std::collections::BTreeMap;

/// What a document counts that is there, but too old, expired or without a required field.
const HALF: f64 = 0.5;

/// Analyses the documents of a submission. Its day is that of its reception in UTC, where no document states another.
pub fn analyse(checklist: Option<&Checklist>, papers: &[Paper], received: Timestamp) -> Analysis {
    let moment = jiff::Timestamp::from_millisecond(received.as_millis()).unwrap_or_default();
    analyse_on(checklist, papers, moment.to_zoned(TimeZone::UTC).date())
}

pub(super) fn analyse_on(checklist: Option<&Checklist>, papers: &[Paper], received: Date) -> Analysis {
    let duplicates = rules::duplicates(papers);
    let Some(checklist) = checklist else { return without_checklist(papers, duplicates, received) };
    let (assigned, others) = assign(checklist, papers, &duplicates);
    let as_of = as_of(checklist, &assigned).unwrap_or(received);
    let requirements: Vec<Fulfilment> =
        checklist.documents.iter().map(|requirement| fulfilment(requirement, &assigned, as_of)).collect();
    let (mut contradictions, mut agreed, mut confidences) = (Vec::new(), BTreeMap::new(), Vec::new());
    for rule in &checklist.agree {
        let (value, contradiction) = rules::check_agreement(&assigned, rule);
        confidences.extend(value.iter().map(|value| value.confidence));
        if let Some(value) = value {
            agreed.insert(rule.name.to_string(), value.value);
        }
        contradictions.extend(contradiction);
    }
    contradictions.extend(checklist.in_order.iter().filter_map(|rule| rules::check_order(&assigned, rule)));
    confidences.extend(contradictions.iter().flat_map(|found| &found.values).map(|value| value.confidence));
    confidences.extend(assigned.values().flatten().map(|paper| paper.type_confidence));
    if assigned.values().all(Vec::is_empty) {
        // That all documents are something else is all that is known.
        confidences.extend(papers.iter().map(|paper| paper.type_confidence));
    }
    let missing_information = advice::missing(checklist, &requirements);
    let mut analysis = Analysis {
        checklist: Some(ChecklistUsed {
            name: checklist.name.to_string(),
            title: checklist.title.clone(),
            version: checklist.version,
        }),
        verdict: Verdict::Complete,
        completeness_score: Some(score(&requirements)),
        confidence: least(&confidences),
        as_of: as_of.to_string(),
        requirements,
        missing_information,
        contradictions,
        duplicates,
        risk_factors: Vec::new(),
        recommendations: Vec::new(),
        extracted_data: agreed,
        not_asked_for: others.iter().map(|paper| paper.id.clone()).collect(),
    };
    conclude(&mut analysis, papers);
    advice::recommend(&mut analysis, Some(checklist), papers, &others);
    analysis
}

fn without_checklist(papers: &[Paper], duplicates: Vec<DuplicatePaper>, received: Date) -> Analysis {
    let confidences: Vec<f64> = papers.iter().map(|paper| paper.type_confidence).collect();
    let mut analysis = Analysis {
        checklist: None,
        verdict: Verdict::Complete,
        completeness_score: None,
        confidence: least(&confidences),
        as_of: received.to_string(),
        requirements: Vec::new(),
        missing_information: Vec::new(),
        contradictions: Vec::new(),
        duplicates,
        risk_factors: Vec::new(),
        recommendations: Vec::new(),
        extracted_data: BTreeMap::new(),
        not_asked_for: Vec::new(),
    };
    conclude(&mut analysis, papers);
    advice::recommend(&mut analysis, None, papers, &[]);
    analysis
}

/// The verdict, and the sentences that it rests on beside what is missing.
fn conclude(analysis: &mut Analysis, papers: &[Paper]) {
    let contradictions = analysis.contradictions.iter().map(|found| found.message.clone());
    let duplicates = analysis.duplicates.iter().map(|found| found.message.clone());
    let doubtful = papers.iter().filter(|paper| paper.status != PaperStatus::Completed);
    let doubts = doubtful.map(|paper| {
        let doing = if paper.status == PaperStatus::Failed { "could not be read" } else { "needs review" };
        let why = paper.doubts.first().map_or_else(String::new, |why| format!(": {why}"));
        format!("{} {doing}{why}", paper.display_name())
    });
    let doubts: Vec<String> = doubts.collect();
    analysis.verdict = if !analysis.missing_information.is_empty() {
        Verdict::Incomplete
    } else if !analysis.contradictions.is_empty() {
        Verdict::Contradictory
    } else if doubts.is_empty() && analysis.duplicates.is_empty() {
        Verdict::Complete
    } else {
        Verdict::NeedsReview
    };
    analysis.risk_factors = contradictions.chain(duplicates).chain(doubts).collect();
}

/// Each document goes to one requirement: of those that it matches to the first that is not fulfilled yet. Those which
/// tell documents of one type apart choose first. What says the same as another document, or failed, counts nowhere.
fn assign<'a>(
    checklist: &'a Checklist,
    papers: &'a [Paper],
    duplicates: &[DuplicatePaper],
) -> (Assigned<'a>, Vec<&'a Paper>) {
    let mut order: Vec<&Requirement> = checklist.documents.iter().collect();
    order.sort_by_key(|requirement| requirement.only_where.is_empty());
    let mut assigned: Assigned<'a> = order.iter().map(|requirement| (&*requirement.name, Vec::new())).collect();
    let mut others = Vec::new();
    for paper in papers {
        if duplicates.iter().any(|duplicate| duplicate.document_id == paper.id) || paper.status == PaperStatus::Failed {
            continue;
        }
        let matching: Vec<&Requirement> =
            order.iter().copied().filter(|requirement| requirement.matches(paper)).collect();
        let has_room = |requirement: &&&Requirement| {
            assigned.get(&*requirement.name).is_some_and(|papers| papers.len() < requirement.at_least as usize)
        };
        let chosen = matching.iter().find(has_room).or_else(|| matching.first());
        match chosen.and_then(|requirement| assigned.get_mut(&*requirement.name)) {
            Some(papers) => papers.push(paper),
            None => others.push(paper),
        }
    }
    (assigned, others)
}

/// The day that the checklist counts ages from, where a document states it.
fn as_of(checklist: &Checklist, assigned: &Assigned<'_>) -> Option<Date> {
    let stated = rules::stated_values(assigned, checklist.as_of.as_ref()?);
    stated.iter().find_map(|value| value.value.parse().ok())
}

fn fulfilment(requirement: &Requirement, assigned: &Assigned<'_>, as_of: Date) -> Fulfilment {
    let papers = assigned.get(&*requirement.name).map_or(&[][..], Vec::as_slice);
    let mut reasons = Vec::new();
    let mut worth: Vec<f64> = Vec::new();
    for paper in papers {
        let faults = faults(requirement, paper, as_of);
        worth.push(if faults.is_empty() { 1.0 } else { HALF });
        reasons.extend(faults.into_iter().map(|fault| format!("{}: {fault}", paper.display_name())));
    }
    // The best ones count where there are more than are asked for.
    worth.sort_by(|one, other| other.total_cmp(one));
    let wanted = requirement.at_least as usize;
    let points = worth.iter().take(wanted).sum::<f64>() / f64::from(requirement.at_least) * requirement.weight;
    let whole = worth.iter().filter(|worth| **worth >= 1.0).count();
    if whole >= wanted {
        // Nothing is wanting: what is wrong with a further document is no matter.
        reasons.clear();
    }
    if papers.len() < wanted {
        reasons.insert(0, format!("{} of {wanted} found", papers.len()));
    }
    if let Some(most) = requirement.at_most.filter(|most| papers.len() > *most as usize) {
        reasons.push(format!("{} found, at most {most} expected", papers.len()));
    }
    Fulfilment {
        name: requirement.name.to_string(),
        title: requirement.title.clone(),
        is_optional: requirement.is_optional,
        found: u32::try_from(papers.len()).unwrap_or(u32::MAX),
        at_least: requirement.at_least,
        documents: papers.iter().map(|paper| paper.id.clone()).collect(),
        // An empty sum is -0.
        points: (points * 10_000.0).round() / 10_000.0 + 0.0,
        of: requirement.weight,
        reasons,
    }
}

/// Why a document that is there does not count in full.
fn faults(requirement: &Requirement, paper: &Paper, as_of: Date) -> Vec<String> {
    let mut faults: Vec<String> = requirement
        .fields
        .iter()
        .filter(|field| paper.value(field).is_none())
        .map(|field| format!("{field} was not read"))
        .collect();
    let date = |field: &str| paper.value(field).and_then(|value| value.text.parse::<Date>().ok());
    if let Some(until) = requirement.valid_until.as_deref().and_then(date).filter(|until| *until < as_of) {
        faults.push(format!("expired on {until}"));
    }
    if let Some(recent) = &requirement.recent {
        match date(&recent.field) {
            Some(dated) if as_of.checked_sub(i64::from(recent.days).days()).is_ok_and(|oldest| dated < oldest) => {
                faults.push(format!("dated {dated}, more than {} days before {as_of}", recent.days));
            }
            None if !requirement.fields.contains(&recent.field) => {
                faults.push(format!("{} was not read, so its age is not known", recent.field));
            }
            _ => {}
        }
    }
    faults
}

/// The points of what is required, of all that there could be.
fn score(requirements: &[Fulfilment]) -> f64 {
    let required = || requirements.iter().filter(|requirement| !requirement.is_optional);
    let of: f64 = required().map(|requirement| requirement.of).sum();
    if of > 0.0 { round_to_percent(required().map(|requirement| requirement.points).sum::<f64>() / of) } else { 1.0 }
}

fn least(confidences: &[f64]) -> f64 {
    if confidences.is_empty() { 0.0 } else { round_to_percent(confidences.iter().copied().fold(1.0, f64::min)) }
}

fn round_to_percent(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
