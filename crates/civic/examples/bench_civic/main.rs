//! Measures following councils: how fast recorded pages are parsed, how long a replayed visit with 200 meetings takes on
//! SQLite, and how right the filter is on labelled titles. Run by `make bench-civic`.

mod parsing;
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
    let slowest = parsing::measure(fixtures, &mut out)?;
    let seconds = syncing::measure(&mut out)?;
    let (precision, recall) = titles::measure(fixtures, &mut out)?;
    writeln!(
        out,
        "BENCH parse_mb_per_s={slowest:.1} sync_200_s={seconds:.2} filter_precision={precision:.4} filter_recall={recall:.4}"
    )?;
    Ok(())
}
