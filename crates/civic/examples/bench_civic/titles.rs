//! How right the filter is on the titles that were labelled by hand.

use crate::measure::{TitlePage, parse_labels, score};
use std::{collections::HashMap, error::Error, fs, io::Write, path::Path};

/// Precision: what was skipped and had no legal effect, of all that was skipped. Recall: procedural titles that were
/// caught, of all of them.
pub(crate) fn measure(fixtures: &Path, out: &mut impl Write) -> Result<(f64, f64), Box<dyn Error>> {
    let labels = parse_labels(include_str!("../../tests/data/titles.tsv"))?;
    let mut pages: HashMap<&str, TitlePage> = HashMap::new();
    for label in &labels {
        if !pages.contains_key(label.file.as_str()) {
            pages.insert(&label.file, TitlePage::parse(&fs::read(fixtures.join(&label.file))?)?);
        }
    }
    let found = labels.iter().filter_map(|label| Some((label, pages.get(label.file.as_str())?.find(label)?)));
    let scored = score(found);
    writeln!(
        out,
        "{} titles: {} substantive, {} of them skipped; {} of {} procedural caught ({} of {} wordings). The rules were \
         written with these titles in view: on agendas that nobody has seen the recall is lower.",
        scored.titles,
        scored.substantive,
        scored.wrongly_skipped.len(),
        scored.procedural_caught,
        scored.procedural,
        scored.distinct_procedural_caught,
        scored.distinct_procedural,
    )?;
    Ok((scored.precision(), scored.recall()))
}
