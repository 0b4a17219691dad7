//! Which passages a reader needs, and how many of them.
//!
//! Each need (subject, action, money, who is affected, dates, next step) takes the passage that serves it best; one
//! that serves several fills them all. How many are shown follows from what is at stake, not from how much was written.

use super::{
    Extract, KeyFacts, Says,
    cues::{Read, stems},
    facts::{
        ActionAsked,
        DateRole::{Mentioned, Past},
        Stage, days,
    },
    rules::{ACTIONS, ActionKind, Section},
};

/// A longer quote is cut at a word.
const LONGEST: usize = 420;
/// How many points of a title are told where there is nothing else.
const TITLE_POINTS: usize = 4;
/// A passage that serves a need less than this is not shown.
const LEAST: f32 = 3.0;

/// How much is at stake, from 0 to 4.
pub(super) fn consequence(title: &str, read: &[Read], facts: &KeyFacts) -> u8 {
    let weight =
        |asked: &ActionAsked| ACTIONS.iter().find(|rule| rule.kind == asked.kind).map_or(0, |rule| rule.weight);
    let decides = facts.action_requested.iter().map(weight).max().unwrap_or(0);
    // What contracts and appendices mention in passing is not what is at stake.
    let near = || read.iter().filter(|read| read.passage.document <= 1);
    let largest = near()
        .filter(|read| {
            read.action.is_some()
                || matches!(read.passage.section, Section::Fiscal | Section::Subject | Section::Action)
        })
        .flat_map(|read| &read.amounts)
        .map(|amount| amount.cents / 100)
        .max()
        .unwrap_or(0);
    let money = match largest {
        0..50_000 => 0,
        50_000..1_000_000 => 1,
        _ => 2,
    };
    let lowered = title.to_lowercase();
    let is_grave = near().any(|read| {
        read.grave && (read.action.is_some() || read.passage.section == Section::Subject || read.passage.order < 8)
    });
    let told_only = facts.decision_stage == Some(Stage::Information)
        || (decides == 0 && !facts.action_requested.is_empty())
        || lowered.starts_with("presentation");
    let sum = decides.min(1) + money + u8::from(is_grave);
    if told_only { sum.saturating_sub(1).min(1) } else { sum.min(4) }
}

/// The passages that are shown, in the order of [`Says`].
pub(super) fn extracts(title: &str, read: &[Read], consequence: u8) -> Vec<Extract> {
    let most = usize::from(consequence) + 2;
    // What must be there comes first; the order of reading is made at the end.
    let needs = [Says::Action, Says::Money, Says::Subject, Says::Affected, Says::Date, Says::NextStep];
    let mut chosen: Vec<(Says, &Read)> = Vec::new();
    // A report that tells what it is about in a part of its own is quoted with it.
    let has_purpose = read.iter().any(|read| read.passage.document == 1 && read.passage.section == Section::Purpose);
    for need in needs {
        let is_met = is_met(need, &chosen) && !(need == Says::Subject && has_purpose);
        if chosen.len() >= most || is_met {
            continue;
        }
        let fits =
            |read: &&Read| !chosen.iter().any(|(_, known)| says_the_same(&known.passage.text, &read.passage.text));
        let served =
            read.iter().filter(fits).map(|read| (serves(need, read), read)).filter(|(score, _)| *score >= LEAST);
        // Of equals the first one in the documents.
        let best = served.fold(None, |best: Option<(f32, &Read)>, (score, read)| match best {
            Some((known, _)) if known >= score => best,
            _ => Some((score, read)),
        });
        chosen.extend(best.map(|(_, read)| (need, read)));
    }
    // What is asked for often has several points.
    // Findings that the law wants are shown only if nothing else is asked for.
    let decides = |read: &Read| read.action.is_some_and(|action| !is_aside(action.kind));
    let any_decides = chosen.iter().any(|(says, read)| *says == Says::Action && decides(read));
    let further = || {
        read.iter().filter(|read| {
            read.asks
                && read.passage.document == 1
                && serves(Says::Action, read) >= 6.0
                && (decides(read) || !any_decides)
        })
    };
    for read in further() {
        let asked = chosen.iter().filter(|(says, _)| *says == Says::Action).count();
        // Reports ask twice for the same in other words.
        let is_new = !chosen.iter().any(|(_, known)| share(&known.passage.text, &read.passage.text) >= 0.65);
        if is_new && chosen.len() < most && asked < 3 {
            chosen.push((Says::Action, read));
        }
    }
    // The title stands above the summary anyway: what only repeats it makes room, unless there is nothing else.
    let repeats = |read: &Read| read.passage.document > 0 && says_the_same(title, &read.passage.text);
    if chosen.iter().any(|(_, read)| read.passage.document > 0 && !repeats(read)) {
        chosen.retain(|(says, read)| match says {
            Says::Action | Says::Money => true,
            Says::Subject => read.passage.document > 0 && !repeats(read),
            Says::Affected | Says::Date | Says::NextStep => read.passage.document > 0,
        });
    }
    // Of an item that has nothing but its title, all points of the title are told.
    if !chosen.is_empty() && chosen.iter().all(|(_, read)| read.passage.document == 0) {
        for read in read.iter().filter(|read| read.passage.document == 0 && read.passage.text.len() >= 20) {
            let is_new = !chosen.iter().any(|(_, known)| says_the_same(&known.passage.text, &read.passage.text));
            if is_new && chosen.len() < most.max(TITLE_POINTS) {
                // "EXPAND the use of the fuel" goes on with what the first point orders.
                let first = read.passage.text.split(' ').next().unwrap_or_default();
                let is_ordered = first.len() >= 4 && first.chars().all(char::is_uppercase);
                let says = if read.action.is_some() || is_ordered { Says::Action } else { Says::Subject };
                chosen.push((says, read));
            }
        }
    }
    if chosen.is_empty() {
        let of_documents = || read.iter().filter(|read| read.passage.document > 0 && !read.passage.is_row);
        let has_words = |read: &&Read| read.passage.text.split(' ').count() >= 3;
        let first = of_documents().find(|read| is_prose(read)).or_else(|| of_documents().find(has_words));
        let first = first.or(read.first());
        chosen.extend(first.map(|read| (Says::Subject, read)));
    }
    chosen.sort_by_key(|(says, read)| (*says, read.passage.document, read.passage.order));
    chosen
        .into_iter()
        .map(|(says, read)| Extract {
            says,
            quote: shorten(&read.passage.text),
            citation: read.passage.citation.clone(),
        })
        .collect()
}

/// Whether an action decides nothing by itself.
fn is_aside(kind: ActionKind) -> bool {
    matches!(kind, ActionKind::Determine | ActionKind::Receive | ActionKind::Consider)
}

/// Whether something that was chosen for another need serves this one, too.
fn is_met(need: Says, chosen: &[(Says, &Read)]) -> bool {
    chosen.iter().any(|(_, read)| match need {
        Says::Money => !read.amounts.is_empty() && (read.passage.section == Section::Fiscal || read.action.is_some()),
        Says::Date => !read.dates.is_empty(),
        Says::NextStep => read.next,
        Says::Affected => read.affected && read.passage.document > 0 && read.passage.text.len() > 60,
        // An action that names the title's things says what it is about.
        Says::Subject => read.of_title >= 0.6 && read.passage.document > 0 && read.passage.text.len() > 80,
        Says::Action => false,
    })
}

/// A sentence, rather than a heading or a scrap.
fn is_prose(read: &Read) -> bool {
    let text = &read.passage.text;
    !read.passage.is_row
        && text.split(' ').count() >= 5
        // Agendas shout their titles.
        && (read.passage.document == 0 || text.chars().any(char::is_lowercase))
        && text.starts_with(|c: char| !c.is_lowercase() && c != ')' && c != ',')
}

/// How well a passage serves a need; below [`LEAST`] it does not.
fn serves(need: Says, read: &Read) -> f32 {
    let passage = &read.passage;
    let is_short_order = read.asks && passage.text.split(' ').count() >= 3;
    if passage.is_row || !(is_prose(read) || is_short_order) {
        return 0.0;
    }
    let section = |wanted: Section, points: f32| if passage.section == wanted { points } else { 0.0 };
    let when = |holds: bool, points: f32| if holds { points } else { 0.0 };
    let own = match need {
        Says::Action => {
            let Some(action) = read.action else { return 0.0 };
            // Recommendations begin with the findings that the law wants; the decision is what counts.
            let aside = is_aside(action.kind);
            let is_exempt =
                ["exempt", "not a project", "not subject to"].iter().any(|words| read.lowered.contains(words));
            let of_environment = read.lowered.contains("environmental quality act") || read.lowered.contains("ceqa");
            let score = 2.0
                + section(Section::Action, 4.0)
                + when(read.asks, 2.0)
                + f32::from(action.weight)
                + when(!read.amounts.is_empty(), 1.0)
                // One report may ask for what several items are about.
                + read.of_title * 2.0
                - when(aside, 1.5)
                - when(of_environment && is_exempt, 5.0);
            // A title that asks for something is an action, however little it decides.
            if read.asks && passage.document == 0 && !is_exempt { score.max(LEAST + 2.0) } else { score }
        }
        Says::Money => {
            if read.amounts.is_empty() && !read.no_cost {
                return 0.0;
            }
            let largest = read.amounts.iter().map(|amount| amount.cents / 100).max().unwrap_or(0);
            1.5 + section(Section::Fiscal, 4.0)
                + section(Section::Action, 1.5)
                + when(!read.amounts.is_empty(), 1.0)
                // "There is no cost to the city" says more than the fee that somebody paid.
                + when(read.no_cost, 2.2)
                + when(read.action.is_some(), 1.5)
                + (largest.max(1) as f32).log10() * 0.25
        }
        Says::Subject => {
            1.0 + section(Section::Purpose, 3.5)
                + section(Section::Subject, 1.5)
                + section(Section::Background, 1.0)
                + section(Section::Body, 0.5)
                // What is said first says what it is about.
                + when(passage.document == 1, 2.0 - passage.order as f32 * 0.4).max(0.0)
                + read.of_title * 2.0
                - when(read.asks, 2.5)
                - when(!passage.text.ends_with(['.', ';', '!', '?', '”']), 1.5)
        }
        Says::Affected => {
            if !read.affected {
                return 0.0;
            }
            2.0 + section(Section::Affected, 2.0)
                + section(Section::Purpose, 1.0)
                + section(Section::Discussion, 0.5)
                + read.of_title * 2.0
        }
        Says::Date => {
            let Some(day) = read.dates.first() else { return 0.0 };
            let role = days::role(&passage.text, day);
            let ahead = !matches!(role, Past | Mentioned);
            1.0 + when(ahead, 2.5) + section(Section::Next, 2.0) + section(Section::Action, 1.0) + read.of_title
                - when(role == Past, 1.0)
        }
        Says::NextStep => {
            if !read.next && passage.section != Section::Next {
                return 0.0;
            }
            2.0 + section(Section::Next, 3.0) + when(!read.dates.is_empty(), 1.0) + read.of_title
        }
    };
    // The first document is the report; what comes early in it was meant to be read. A title is shown anyway.
    let early = 1.0 / (1.0 + passage.order as f32 / 40.0);
    let of_document = match passage.document {
        0 => -1.0,
        1 => early,
        _ => early - 1.5,
    };
    let is_short = passage.text.len() < 40 && !read.no_cost;
    own + of_document - when(is_short, 1.0)
}

/// Whether a text says nothing that another one does not.
pub(super) fn adds_nothing(text: &str, known: &str) -> bool {
    let (text, known) = (stems(text), stems(known));
    text.intersection(&known).count() as f32 >= text.len() as f32 * 0.85
}

/// Whether one of two texts says nothing that the other does not.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    share(one, other) >= 0.85
}

/// How much of the shorter text the longer one says, from 0 to 1.
fn share(one: &str, other: &str) -> f32 {
    let (one, other) = (stems(one), stems(other));
    let fewer = one.len().min(other.len());
    if fewer == 0 { 0.0 } else { one.intersection(&other).count() as f32 / fewer as f32 }
}

/// A quote of a length that can be read; what was cut is shown by its end.
pub(super) fn shorten(text: &str) -> String {
    // What only leads on to the next point is left out.
    let text = text.trim_end();
    let text =
        text.strip_suffix("; and").or(text.strip_suffix("; or")).unwrap_or(text).trim_end_matches([';', ',', ' ']);
    let text = text.strip_prefix("and further ").or(text.strip_prefix("and ")).unwrap_or(text);
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST).last().unwrap_or(0);
    let cut = text.get(..end).unwrap_or_default();
    let at_word = cut.rfind(' ').unwrap_or(end);
    format!("{} …", cut.get(..at_word).unwrap_or_default().trim_end_matches([',', ';', ' ']))
}
