//! `bindery civic digest`: what a citizen would read of some cities, or for an alert.

use super::{city::existing, days::day, finding};
use crate::{
    exit::Exit,
    failure::Failure,
    output,
    terminal::{DataForm, stdout},
};
use bindery_app::{
    App, Settings,
    councils::{
        notices::{
            self, Digest, DigestRequest,
            eml::{self, Envelope},
            html,
            letter::Letter,
            text,
        },
        records::{Alert, Jurisdiction},
    },
};
use bindery_core::Timestamp;
use bindery_files::WholeFile;
use jiff::{ToSpan as _, civil::Date, tz::TimeZone};
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
    let alert = match &args.alert {
        Some(id) => Some(find_alert(&app, id).await?),
        None => None,
    };
    let cities = cities(&app, &args, alert.as_ref()).await?;
    let today = args.today.unwrap_or_else(|| today(&app, &cities));
    let since = args.since.or_else(|| today.checked_sub(7.days()).ok()).unwrap_or(today);
    let request =
        DigestRequest { cities, alert: alert.clone(), from: args.from.unwrap_or(today), days: args.days, since };
    let digest = notices::digest(app.store(), &request).await?;
    let bytes = written(&args, alert.as_ref(), &digest, today)?;
    let Some(path) = args.out.filter(|path| path.as_os_str() != "-") else {
        let is_json = args.json || args.format == Format::Json;
        let mut out = stdout(if is_json { DataForm::Json } else { DataForm::Text });
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
    output::note(format!("wrote {} to {shown}", digest.title));
    Ok(Exit::Ok)
}

async fn find_alert(app: &App, id: &str) -> anyhow::Result<Alert> {
    let found = app.civic().alerts(None, false).await?.into_iter().find(|alert| alert.id == id);
    let unknown = || Failure::usage(format!("there is no alert {id:?}")).hint("`bindery civic alert list` lists them");
    Ok(found.ok_or_else(unknown)?)
}

async fn cities(app: &App, args: &Args, alert: Option<&Alert>) -> anyhow::Result<Vec<Jurisdiction>> {
    let mut cities = Vec::new();
    if let Some(alert) = alert {
        // One that is not followed yet has nothing to tell.
        for city_key in &alert.cities {
            cities.extend(app.civic().jurisdiction(city_key).await?);
        }
        return Ok(cities);
    }
    for city_key in args.cities.iter().map(|city_key| city_key.trim()).filter(|city_key| !city_key.is_empty()) {
        let city = finding::city(app, city_key).await?;
        if !cities.iter().any(|known: &Jurisdiction| known.city_key == city.city_key) {
            cities.push(city);
        }
    }
    if cities.is_empty() {
        return Err(Failure::usage("expected a city such as paloaltoCA, found none").into());
    }
    Ok(cities)
}

/// By the clock of the first city.
fn today(app: &App, cities: &[Jurisdiction]) -> Date {
    let zone = cities.first().and_then(|city| TimeZone::get(city.tz.as_deref()?).ok()).unwrap_or(TimeZone::UTC);
    let now = jiff::Timestamp::from_millisecond(app.store().clock().now().as_millis()).unwrap_or_default();
    now.to_zoned(zone).date()
}

fn written(args: &Args, alert: Option<&Alert>, digest: &Digest, today: Date) -> anyhow::Result<Vec<u8>> {
    let format = if args.json { Format::Json } else { args.format };
    Ok(match format {
        Format::Text => text::digest(digest).into_bytes(),
        Format::Html => html::digest(digest).into_bytes(),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(digest)?).into_bytes(),
        Format::Eml => {
            let to = args.to.as_deref().or(alert.map(|alert| alert.owner.as_str()));
            let to = to.ok_or_else(|| {
                Failure::usage("--format eml: expected --to with the address of whom it is for")
                    .hint("with --alert it is for the owner of the alert")
            })?;
            let noon = today.at(12, 0, 0, 0).to_zoned(TimeZone::UTC)?.timestamp().as_millisecond();
            let key = format!("digest:{to}:{today}:{}", digest.title);
            let envelope = Envelope { from: &args.mail_from, to, key: &key, at: Timestamp::from_millis(noon) };
            eml::write(&Letter::of_digest(digest), &envelope)
                .map_err(|why| Failure::usage(format!("--to or --mail-from: {why}")))?
        }
    })
}
