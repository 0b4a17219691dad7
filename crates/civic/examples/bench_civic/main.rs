//! Measures following councils: how fast recorded pages are parsed, how long a replayed visit with 200 meetings takes on
//! SQLite, how right the filter is on labelled titles, how long a city takes to be read without a model, and what of
//! recorded items a reader finds in their summaries. Run by `make bench-civic`.

#[allow(dead_code, reason = "the test needs more of it")]
#[path = "../../tests/cities/mod.rs"]
mod cities;
#[allow(dead_code, reason = "the test needs more of it")]
#[path = "../../tests/titles/measure.rs"]
mod measure;
mod papers;
mod parsing;
mod processing;
#[path = "../../tests/quality/set.rs"]
#[allow(dead_code, reason = "the test needs more of it")]
mod set;
mod syncing;
mod titles;

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    path::Path,
};

fn main() -> Result<(), Box<dyn Error>> {
    let fixtures = env::args().nth(1).ok_or("expected the folder with the recorded pages")?;
    let fixtures = Path::new(&fixtures);
    let mut out = io::stdout().lock();
    // First, so that the peak of its memory is its own.
    let processed = processing::measure(&mut out)?;
    let slowest = parsing::measure(fixtures, &mut out)?;
    let seconds = syncing::measure(&mut out)?;
    let (precision, recall) = titles::measure(fixtures, &mut out)?;
    let quality = set::score(fixtures, &set::parse(include_str!("../../tests/data/quality.tsv"))?)?;
    writeln!(
        out,
        "{} recorded items: {:.3} of {} facts (subject, action, money, days) are in their summaries. The rules were written \
         with these items in view.",
        quality.items,
        quality.share(),
        quality.facts
    )?;
    writeln!(
        out,
        "BENCH parse_mb_per_s={slowest:.1} sync_200_s={seconds:.2} filter_precision={precision:.4} filter_recall={recall:.4} \
         process_city_s={:.2} rerun_s={:.2}",
        processed.process_seconds, processed.rerun_seconds
    )?;
    processed.check()
}
