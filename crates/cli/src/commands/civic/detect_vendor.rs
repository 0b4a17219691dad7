//! `bindery civic detect-vendor`: which vendor a city's site is with.

use super::{city::add_command, fetching::Fetching};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    councils::{
        city_key::CityKey,
        client::Client,
        detect::{self, DetectError, Detection, Hit},
        records::Jurisdiction,
        states,
    },
    signals::stop_on_signal,
};
use serde::Serialize;

/// Find out which vendor a city's site is with
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic detect-vendor 'Palo Alto, CA'
  bindery civic detect-vendor 'St. Louis, MO' --record st-louis
  bindery civic detect-vendor 'St. Louis, MO' --replay st-louis --json
The addresses that the city would have with each vendor are tried, politely, which takes a minute
or two. An address that answers may still be another city's of that name: look at it first.
Exit code 1 means that none answered.")]
pub(super) struct Args {
    /// Its name and its state, e.g. 'Palo Alto, CA'
    #[arg(value_name = "NAME, ST")]
    city: String,

    #[command(flatten)]
    fetching: Fetching,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Found {
    name: String,
    state: String,
    #[serde(rename = "banana")]
    city_key: String,
    /// The first is the likeliest.
    hits: Vec<FoundHit>,
    tried: usize,
    troubles: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FoundHit {
    #[serde(flatten)]
    hit: Hit,
    /// The command that follows the city from now on.
    add: String,
}

pub(super) async fn run(args: Args) -> anyhow::Result<Exit> {
    let (name, state) = name_and_state(&args.city)?;
    let key = detect::slugs(&name, &state).map_err(|fault| Failure::usage(fault.to_string()))?;
    let key = key.first().map(|name| format!("{name}{state}")).unwrap_or_default();
    let city_key = CityKey::parse(&key).map_err(|fault| Failure::usage(fault.to_string()))?;
    let client = args.fetching.client()?;
    if !args.fetching.is_replay() {
        output::note(format!("asking the vendors for {name}, {state}; this takes a minute or two"));
    }
    let Some(detection) = stoppable(&client, &name, &state).await? else { return Ok(Exit::Interrupted) };
    let found = new_found(name, state, &city_key, detection);
    if args.json {
        output::json(&found)?;
    } else {
        show(&found)?;
    }
    Ok(if found.hits.is_empty() { Exit::Unexpected } else { Exit::Ok })
}

fn name_and_state(city: &str) -> Result<(String, String), Failure> {
    let wrong = || {
        Failure::usage(format!("expected the name of a city and its state, found {city:?}"))
            .hint("write them as 'Palo Alto, CA'")
    };
    let (name, state) = city.rsplit_once(',').ok_or_else(wrong)?;
    let (name, state) = (name.trim(), state.trim().to_ascii_uppercase());
    if name.is_empty() {
        return Err(wrong());
    }
    if !states::is_state(&state) {
        return Err(Failure::usage(format!("there is no state {state:?}")).hint("write it as in 'Palo Alto, CA'"));
    }
    Ok((name.to_owned(), state))
}

/// None if somebody stopped it.
async fn stoppable(client: &Client, name: &str, state: &str) -> anyhow::Result<Option<Detection>> {
    match detect::detect(client, name, state, &stop_on_signal()?).await {
        Ok(detection) => Ok(Some(detection)),
        Err(DetectError::Stopped) => Ok(None),
        Err(error) => Err(Failure::usage(error.to_string()).into()),
    }
}

fn new_found(name: String, state: String, city_key: &CityKey, detection: Detection) -> Found {
    // Where there are several, the likeliest: the command shows it, so that it is seen.
    let zone = if states::only_zone(&state).is_some() { None } else { states::zones(&state).first() };
    let add = |hit: &Hit| {
        add_command(&Jurisdiction {
            city_key: city_key.to_string(),
            name: name.clone(),
            state: state.clone(),
            vendor: hit.vendor.to_owned(),
            slug: hit.slug.clone(),
            tz: zone.map(|zone| (*zone).to_owned()),
            ..Jurisdiction::default()
        })
    };
    let hits = detection.hits.into_iter().map(|hit| FoundHit { add: add(&hit), hit }).collect();
    let (tried, troubles) = (detection.tried, detection.troubles);
    Found { hits, city_key: city_key.to_string(), name, state, tried, troubles }
}

fn show(found: &Found) -> anyhow::Result<()> {
    if !found.hits.is_empty() {
        let row = |FoundHit { hit, .. }: &FoundHit| {
            [hit.vendor.to_owned(), hit.slug.clone(), hit.url.clone(), output::bytes(hit.bytes as u64)]
        };
        output::table(&["VENDOR", "SLUG", "ADDRESS", "SIZE#"], found.hits.iter().map(row))?;
        output::line("")?;
        found.hits.iter().try_for_each(|hit| output::line(&hit.add))?;
    }
    found.troubles.iter().for_each(|trouble| output::note(format!("not told: {trouble}")));
    let tried = format!("{} tried", output::count(found.tried as u64, "page"));
    match found.hits.len() {
        0 => output::note(format!("no vendor knows {}, {} ({tried})", found.name, found.state)),
        _ => output::note(tried),
    }
    Ok(())
}
