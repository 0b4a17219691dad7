//! `bindery civic digest`: what a citizen would read of some cities, or for an alert.

use super::{city::existing, days::day};
use crate::{
    exit::Exit,
    failure::Failure,
    output,
    terminal::{DataForm, stdout},
};
use bindery_app::{Settings, councils::DigestQuery};
use bindery_files::WholeFile;
use jiff::civil::Date;
use std::{
    io::{self, Write as _},
    path::PathBuf,
};

/// Write what a citizen would read of some cities: meetings, what is decided, what has changed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic digest paloaltoCA
  bindery civic digest paloaltoCA,oaklandCA --days 7 --since 2026-03-01
  bindery civic digest paloaltoCA --format html -o week.html
  bindery civic digest --alert alert_5d41402abc4b --format eml | sendmail -t
The same store and the same --today make the same bytes. What is shown here counts as told to nobody:
`bindery civic notices send` sends digests, each once.")]
pub(super) struct Args {
    #[command(flatten)]
    about: DigestArgs,

    /// What to write
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Whom a mail is for (eml; default: the owner of the alert)
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,

    /// Who a mail is from (eml)
    #[arg(long, value_name = "ADDRESS", default_value = "bindery@localhost")]
    mail_from: String,

    /// The file to write; without it, or with -, it is printed
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What it is about.
#[derive(Debug, clap::Args)]
struct DigestArgs {
    /// The cities, separated by commas, e.g. paloaltoCA
    #[arg(value_name = "BANANAS", value_delimiter = ',', required_unless_present = "alert", conflicts_with = "alert")]
    cities: Vec<String>,

    /// Only what this alert is about, in its cities
    #[arg(long, value_name = "ID")]
    alert: Option<String>,

    /// The first day of meetings (default: today)
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<Date>,

    /// How many days of meetings
    #[arg(long, value_name = "NUMBER", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=366))]
    days: u32,

    /// Changes and votes that were seen on this day or later (default: seven days before today)
    #[arg(long, value_name = "DAY", value_parser = day)]
    since: Option<Date>,

    /// Take this day for today
    #[arg(long, value_name = "DAY", value_parser = day)]
    today: Option<Date>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// 76 columns
    Text,
    /// A page that mail programs show
    Html,
    Json,
    /// A whole mail
    Eml,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    let DigestArgs { cities, alert, from, days, since, today } = args.about;
    let made = app.make_digest(DigestQuery { cities, alert, from, days, since, today }).await?;
    let format = if args.json { Format::Json } else { args.format };
    let bytes = match format {
        Format::Text => made.to_text().into_bytes(),
        Format::Html => made.to_html().into_bytes(),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&made.digest)?).into_bytes(),
        Format::Eml => {
            let to = args.to.as_deref().or(made.alert.as_ref().map(|alert| alert.owner.as_str()));
            let to = to.ok_or_else(|| {
                Failure::usage("--format eml: expected --to with the address of whom it is for")
                    .hint("with --alert it is for the owner of the alert")
            })?;
            let wrong = |why| Failure::usage(format!("--to or --mail-from: {why}"));
            made.to_mail(&args.mail_from, to).map_err(wrong)?
        }
    };
    let Some(path) = args.out.filter(|path| path.as_os_str() != "-") else {
        let mut out = stdout(if format == Format::Json { DataForm::Json } else { DataForm::Text });
        out.write_all(&bytes)?;
        out.flush()?;
        return Ok(Exit::Ok);
    };
    let shown = path.display().to_string();
    let cannot = |error: &io::Error| {
        Failure::new(Exit::Unexpected, format!("{shown} cannot be written: {error}"))
            .hint("is its folder there, and may it be written to?")
    };
    let mut file = WholeFile::begin(path).map_err(|error| cannot(&error))?;
    file.write_all(&bytes).map_err(|error| cannot(&error))?;
    file.finish().map_err(|error| cannot(&error))?;
    output::note(format!("wrote {} to {shown}", made.digest.title));
    Ok(Exit::Ok)
}
