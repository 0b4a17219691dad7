//! `bindery civic city-requests`: cities that people want and that are not followed.

use super::city::existing;
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    councils::{
        city_key::CityKey,
        records::{CityRequest, RequestStatus},
    },
};
use clap::Subcommand;

/// List the cities that people want, the most wanted first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city-requests                            those that wait for a decision
  bindery civic city-requests --all                      also those that were added or rejected
  bindery civic city-requests add fresnoCA               somebody wants Fresno
  bindery civic city-requests reject fresnoCA --note 'its site has no agendas'
`bindery civic city add` fulfils a request.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Also those that are decided
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say that somebody wants a city
    Add {
        /// Its key, e.g. fresnoCA
        #[arg(value_name = "BANANA")]
        city_key: String,
    },
    /// Decide that a city will not be followed
    Reject {
        /// Its key, e.g. fresnoCA
        #[arg(value_name = "BANANA")]
        city_key: String,
        /// Why, shown with the request
        #[arg(long, value_name = "TEXT")]
        note: String,
    },
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        None => list(settings, args.all, args.json).await,
        Some(Action::Add { city_key }) => add(settings, &city_key, args.json).await,
        Some(Action::Reject { city_key, note }) => reject(settings, &city_key, note, args.json).await,
    }
}

async fn list(settings: &Settings, all: bool, as_json: bool) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    let wanted = if all { None } else { Some(RequestStatus::Pending) };
    let requests = app.civic().city_requests(wanted).await?;
    if as_json {
        output::json(&requests)?;
        return Ok(Exit::Ok);
    }
    if requests.is_empty() {
        output::note("nobody waits for a city");
        return Ok(Exit::Ok);
    }
    let row = |request: &CityRequest| {
        let day = |at: Option<bindery_core::Timestamp>| at.map(output::ago).unwrap_or_default();
        let mut row = vec![
            request.city_key.clone(),
            request.request_count.to_string(),
            day(request.first_requested_at),
            day(request.last_requested_at),
        ];
        if all {
            row.push(request.status.as_str().to_owned());
            row.push(output::short(request.notes.as_deref().unwrap_or_default(), 80));
        }
        row
    };
    let header = ["CITY", "REQUESTS#", "FIRST", "LAST", "STATUS", "NOTE"];
    output::table(&header[..if all { 6 } else { 4 }], requests.iter().map(row))?;
    Ok(Exit::Ok)
}

async fn add(settings: &Settings, city_key: &str, as_json: bool) -> anyhow::Result<Exit> {
    let city_key = checked(city_key)?;
    let app = settings.create().await?;
    if app.civic().jurisdiction(city_key.as_str()).await?.is_some_and(|city| city.is_active()) {
        return Err(Failure::usage(format!("{city_key} is followed already"))
            .hint(format!("`bindery civic city show {city_key}` shows it"))
            .into());
    }
    let request = app.civic().request_city(city_key.as_str()).await?;
    if as_json {
        output::json(&request)?;
    } else {
        let times = output::count(request.request_count, "time");
        output::line(format!("{city_key}: asked for {times}, {}", request.status.as_str()))?;
    }
    Ok(Exit::Ok)
}

async fn reject(settings: &Settings, city_key: &str, note: String, as_json: bool) -> anyhow::Result<Exit> {
    let city_key = checked(city_key)?;
    let app = existing(settings).await?;
    let civic = app.civic();
    let request = civic.city_requests(None).await?.into_iter().find(|request| request.city_key == city_key.as_str());
    match request.map(|request| request.status) {
        None => {
            let failure = Failure::usage(format!("nobody asked for {city_key}"));
            return Err(failure.hint("`bindery civic city-requests --all` lists what was asked for").into());
        }
        Some(RequestStatus::Added) => {
            let failure = Failure::usage(format!("{city_key} is followed already"));
            return Err(failure.hint(format!("`bindery civic city set {city_key} --status paused` stops that")).into());
        }
        Some(RequestStatus::Pending | RequestStatus::Rejected) => {}
    }
    let request = civic.decide_city_request(city_key.as_str(), RequestStatus::Rejected, Some(note)).await?;
    if as_json {
        output::json(&request)?;
    } else {
        output::line(format!("rejected {city_key}: {}", request.notes.unwrap_or_default()))?;
        output::note(format!("undo: follow it with `bindery civic city add {city_key} …`"));
    }
    Ok(Exit::Ok)
}

fn checked(city_key: &str) -> Result<CityKey, Failure> {
    CityKey::parse(city_key).map_err(|fault| Failure::usage(fault.to_string()))
}
