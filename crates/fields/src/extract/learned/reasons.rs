//! Why a model chose a value: the groups of features with the largest shares of its score, in words.

/// At most this many reasons are given, and none that brought less than this.
const MOST: usize = 3;
const LEAST: f32 = 0.15;

/// The reasons for a score, the strongest first.
pub(super) fn explain(names: &[String], shares: &[f32], label: Option<&str>) -> Vec<String> {
    let mut groups: Vec<(String, f32)> = Vec::new();
    for (name, share) in names.iter().zip(shares) {
        let Some(text) = sentence(name, label) else { continue };
        match groups.iter_mut().find(|(own, _)| *own == text) {
            Some((_, sum)) => *sum += share,
            None => groups.push((text, *share)),
        }
    }
    groups.retain(|(_, sum)| *sum >= LEAST);
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    groups.into_iter().take(MOST).map(|(text, _)| text).collect()
}

/// What a feature says for a value; None for those that only say something against others.
fn sentence(name: &str, label: Option<&str>) -> Option<String> {
    let beside = || label.map(|label| format!("beside {label:?}"));
    let (family, member) = name.split_once(':').unwrap_or((name, ""));
    let text = match (family, member) {
        ("own" | "lead", "plain_total" | "grand") | ("label" | "plain_label" | "row_total", _) => return beside(),
        ("own" | "lead", "cash_less_change") => "it is the cash given less the change",
        ("own" | "lead", "paid") | ("below_all_cash", _) => "it is what was paid",
        ("own" | "lead", "net_and_tax") | ("is_net" | "is_tax", _) => "net sum and tax add up",
        ("own" | "lead", "sum_above") => "the amounts above add up to it",
        ("own" | "lead", "prints") | ("prints" | "prints_lead" | "rows" | "repeats", _) => {
            "it is printed more than once"
        }
        ("rounded" | "after_rounding" | "rounding_twin", _) => "it is the rounded sum",
        ("rank" | "share", _) => "it is one of the largest amounts",
        ("height" | "taller", _) => "it is printed large",
        ("legal" | "legal_last", _) => "it has a legal form",
        ("trade" | "trade_last" | "trade_first", _) => "it names a trade",
        ("line" | "to_address" | "to_number" | "to_title" | "to_legal" | "y" | "before", _) => "of where it stands",
        ("next", "address" | "is_address") => "an address follows",
        ("next" | "previous", "registration" | "bracket" | "digits") => "a registration number stands beside it",
        ("time" | "time_rival", _) => "a time of day stands beside it",
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_shares_become_sentences() {
        let names: Vec<String> =
            ["label:total", "own:cash_less_change", "height", "label:sub"].map(str::to_owned).into();
        let because = explain(&names, &[1.0, 2.0, 0.05, -0.2], Some("TOTAL"));
        assert_eq!(because, ["it is the cash given less the change", "beside \"TOTAL\""]);
    }
}
