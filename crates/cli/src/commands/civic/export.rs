//! `bindery civic export`: what is known of a city's councils, for other programs.

use super::days::Days;
use crate::{
    exit::Exit,
    failure::Failure,
    output,
    terminal::{DataForm, stdout},
};
use bindery_app::{
    Settings,
    councils::export::{self, ExportError, ExportRequest, Exported},
};
use bindery_files::WholeFile;
use std::{
    io::{self, BufWriter},
    path::PathBuf,
};

/// Write what is known of a city's councils: JSON, CSV, a calendar, a feed, Open Civic Data
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic export paloaltoCA --format ics -o paloalto.ics      a calendar to subscribe to
  bindery civic export paloaltoCA --format atom -o paloalto.atom    what was posted, moved, cancelled, decided
  bindery civic export paloaltoCA --format csv --from 2026-01-01    a row for each item of each agenda
  bindery civic export paloaltoCA --format ocd | jq '.[].name'
  bindery civic export paloaltoCA                                   everything, as JSON
The same store makes the same bytes. A file appears whole or not at all. docs/civic-exports.md describes the formats.")]
pub(super) struct Args {
    /// The city, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: String,

    /// What to write
    #[arg(long, short, value_enum, default_value_t = Format::Json)]
    format: Format,

    #[command(flatten)]
    days: Days,

    /// How many entries a feed has at most: the newest (atom)
    #[arg(long, value_name = "NUMBER", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// The file to write; without it, or with -, it is printed
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Everything: meetings, agendas, votes, histories, matters
    Json,
    /// A row for each item of each agenda
    Csv,
    /// A calendar, iCalendar
    Ics,
    /// A feed of what has happened
    Atom,
    /// Events of Open Civic Data
    Ocd,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    args.days.check()?;
    let app = settings.existing().await?;
    let city = app.find_city(&args.city_key).await?;
    let format = match args.format {
        Format::Json => export::Format::Json,
        Format::Csv => export::Format::Csv,
        Format::Ics => export::Format::Ics,
        Format::Atom => export::Format::Atom,
        Format::Ocd => export::Format::Ocd,
    };
    let request = ExportRequest {
        from: args.days.from,
        to: args.days.to,
        most_entries: usize::try_from(args.limit).unwrap_or(usize::MAX),
        ..ExportRequest::new(city, format, app.store().clock().now())
    };
    let Some(path) = args.out.filter(|path| path.as_os_str() != "-") else {
        let mut out = BufWriter::new(stdout(if matches!(args.format, Format::Json | Format::Ocd) {
            DataForm::Json
        } else {
            DataForm::Text
        }));
        let done = export::export(app.store(), &request, &mut out).await.map_err(|error| match error {
            ExportError::Store(error) => anyhow::Error::from(error),
            ExportError::Io(error) => error.into(),
        })?;
        if done == Exported::default() {
            output::note("there is nothing to export between these days");
        }
        return Ok(Exit::Ok);
    };
    let shown = path.display().to_string();
    let cannot = |error: &io::Error| {
        Failure::new(Exit::Unexpected, format!("{shown} cannot be written: {error}"))
            .hint("is its folder there, and may it be written to?")
    };
    let mut file = WholeFile::begin(&path).map_err(|error| cannot(&error))?;
    let done = export::export(app.store(), &request, &mut file).await.map_err(|error| match error {
        ExportError::Store(error) => anyhow::Error::from(error),
        ExportError::Io(error) => cannot(&error).into(),
    })?;
    file.finish().map_err(|error| cannot(&error))?;
    output::note(format!("wrote {} to {shown}", amount(&done)));
    Ok(Exit::Ok)
}

fn amount(done: &Exported) -> String {
    if done.entries > 0 {
        let entries = if done.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", done.entries) };
        return format!("{entries} about {}", output::count(done.meetings, "meeting"));
    }
    format!("{} with {}", output::count(done.meetings, "meeting"), output::count(done.items, "item"))
}
