//! `--from` and `--to`: days, both included, by the clock of the city.

use crate::failure::Failure;
use bindery_app::councils::{export, records::Jurisdiction};
use bindery_core::Timestamp;
use jiff::civil::Date;

#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Days {
    /// Only meetings of this day or later
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(super) from: Option<Date>,

    /// Only meetings of this day or earlier
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(super) to: Option<Date>,
}

impl Days {
    /// They are in order.
    pub(super) fn check(&self) -> Result<(), Failure> {
        in_order(self.from, self.to)
    }

    /// When the first begins and the last ends.
    pub(super) fn between(&self, city: &Jurisdiction) -> (Option<Timestamp>, Option<Timestamp>) {
        export::between(city, self.from, self.to)
    }
}

pub(super) fn in_order(from: Option<Date>, to: Option<Date>) -> Result<(), Failure> {
    match (from, to) {
        (Some(from), Some(to)) if from > to => {
            Err(Failure::usage(format!("--from {from} is after --to {to}")).hint("exchange them"))
        }
        _ => Ok(()),
    }
}

pub(super) fn day(text: &str) -> Result<Date, String> {
    // The parser would also take a time behind the day, and pass it over.
    let day = text.parse::<Date>().ok().filter(|day| day.to_string() == text);
    day.ok_or_else(|| format!("{text:?} is no day; expected one like 2026-03-09"))
}
