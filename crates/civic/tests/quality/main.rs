//! What a reader finds in summaries of recorded agendas, made without a model; skipped where the shared fixtures are
//! not there.

mod set;

use std::io::{self, Write as _};

/// The share of the facts that must be found. It may rise.
const LEAST: f64 = 0.97;

#[test]
fn a_reader_finds_subject_action_money_and_days_of_recorded_items() {
    let Some(folder) = bindery_testkit::shared("fixtures/civic") else { return };
    let set = set::parse(include_str!("../data/quality.tsv")).unwrap_or_else(|fault| panic!("quality.tsv: {fault}"));
    let score = set::score(&folder, &set).unwrap_or_else(|fault| panic!("{fault}"));
    let missing = score.missing.join("\n  ");
    let _ = writeln!(
        io::stdout(),
        "{} items, {} facts, {:.3} found; missing:\n  {missing}",
        score.items,
        score.facts,
        score.share()
    );
    assert!(score.items >= 60 && score.facts >= 150, "{} items, {} facts", score.items, score.facts);
    assert!(score.share() >= LEAST, "only {:.3} of the facts were found; missing:\n  {missing}", score.share());
}
