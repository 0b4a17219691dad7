//! Whether a split can be true. A wrong one is worse than none: its items would be summarised and told to people.

use super::{Agenda, SplitItem, Way, links, numbers};

const FEWEST: usize = 2;
const MOST: usize = 300;
/// The share of steps from number to number that go up. Agendas do leap back now and then: an item is moved.
const UPWARD: f32 = 0.75;
/// The share of links to documents that found their item.
const ASSIGNED: f32 = 0.6;

/// One sentence where it cannot.
pub(super) fn check(way: Way, items: &[SplitItem], agenda: &Agenda<'_>) -> Result<(), String> {
    let count = items.len();
    if !(FEWEST..=MOST).contains(&count) {
        return Err(format!("{count} items were found, and an agenda has {FEWEST} to {MOST}"));
    }
    let (steps, upward) = steps(items);
    if (upward as f32) < steps as f32 * UPWARD {
        return Err(format!("the numbers do not go up: only {upward} of {steps} steps do"));
    }
    if way == Way::Links && items.iter().all(|item| item.attachments.is_empty()) {
        return Err("no item has a document".to_owned());
    }
    if matches!(way, Way::Links | Way::Text) {
        let (mut all, mut assigned) = (0_usize, 0_usize);
        for document in links::documents(agenda) {
            all += 1;
            assigned +=
                usize::from(items.iter().any(|item| item.attachments.iter().any(|known| known.url == document.url)));
        }
        if (assigned as f32) < all as f32 * ASSIGNED {
            return Err(format!("only {assigned} of {all} links to documents belong to an item"));
        }
    }
    Ok(())
}

/// How many steps there are between numbers of one style in one section, and how many of them go up.
fn steps(items: &[SplitItem]) -> (usize, usize) {
    let read = |item: &SplitItem| {
        let number = item.number.as_ref()?;
        numbers::split(&format!("{number}. x")).map(|(number, _)| number)
    };
    let (mut steps, mut upward) = (0, 0);
    for pair in items.windows(2) {
        let [one, other] = pair else { continue };
        if one.section != other.section {
            continue;
        }
        if let (Some(one), Some(other)) = (read(one), read(other))
            && one.style == other.style
        {
            steps += 1;
            upward += usize::from(other.value > one.value);
        }
    }
    (steps, upward)
}
