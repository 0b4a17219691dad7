//! `bindery civic city add` and `city set`.

use super::{
    super::shown::without_secrets,
    existing,
    fields::{Cleared, Fields},
    find_city, unknown,
};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings,
    councils::{
        city_key::CityKey,
        parse_city_key,
        records::Jurisdiction,
        register::{Entry, Purpose, plan, plan::PlacedFault},
    },
};

/// Follow a city from now on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city add paloaltoCA --name 'Palo Alto' --vendor legistar --slug paloalto
  bindery civic city add nashvilleTN --name Nashville --vendor legistar --slug nashville --tz America/Chicago
  bindery civic city add alamedacountyCA --name 'Alameda County' --type county --vendor granicus \\
    --slug alamedacounty --setting view_id=2
The key is the name in lower-case letters and digits with the state in two capitals behind it.
`bindery civic detect-vendor 'Palo Alto, CA'` finds out the vendor and the slug.")]
pub(super) struct AddArgs {
    /// Its key, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: String,

    #[command(flatten)]
    fields: Fields,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Change what is known of a city; its meetings stay
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city set paloaltoCA --vendor primegov --slug cityofpaloalto
  bindery civic city set paloaltoCA --status paused
  bindery civic city set paloaltoCA --setting view_id=3 --clear extra,county
What is not said stays as it is. Another vendor needs a slug of its own, and the settings for the
old one are forgotten; the meetings that it told of are kept.")]
pub(super) struct SetArgs {
    /// Its key, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: String,

    #[command(flatten)]
    fields: Fields,

    /// Take these away, separated by commas
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    clear: Vec<Cleared>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn add(settings: &Settings, args: AddArgs) -> anyhow::Result<Exit> {
    let entry = args.fields.entry(&args.city_key, &[], None)?;
    let entries = vec![(String::new(), entry.clone())];
    // What is wrong by itself is told before a store is made. A county that is no mistake may be in the store.
    let is_mistaken = |county: &Option<String>| county.as_deref().is_some_and(|county| CityKey::parse(county).is_err());
    let alone = vec![(String::new(), Entry { county: entry.county.clone().filter(is_mistaken), ..entry })];
    plan(&alone, &[], Purpose::Add).map_err(|faults| refusal(&faults))?;
    let app = settings.create().await?;
    let stored = app.store_cities(Purpose::Add, |_| Ok(entries.clone())).await?;
    stored.map_err(|faults| {
        let failure = refusal(&faults);
        if faults.iter().any(|fault| fault.fault.field == "banana") {
            return failure.hint(format!("`bindery civic city set {} …` changes it", args.city_key));
        }
        failure
    })?;
    tell(&app, &args.city_key, "added", args.json).await?;
    if !args.json {
        output::note(format!("`bindery civic sync-city {}` visits it now", args.city_key));
    }
    Ok(Exit::Ok)
}

pub(super) async fn set(settings: &Settings, args: SetArgs) -> anyhow::Result<Exit> {
    parse_city_key(&args.city_key)?;
    if args.fields.entry(&args.city_key, &args.clear, None)?
        == (Entry { city_key: args.city_key.clone(), ..Entry::default() })
    {
        let failure = Failure::usage("nothing is said that could be changed");
        return Err(failure.hint("`bindery civic city set --help` lists what can").into());
    }
    let app = existing(settings).await?;
    let entries = |stored: &[Jurisdiction]| {
        let city = stored.iter().find(|city| city.city_key == args.city_key).ok_or_else(|| unknown(&args.city_key))?;
        Ok(vec![(String::new(), args.fields.entry(&args.city_key, &args.clear, Some(city))?)])
    };
    let plan = app.store_cities(Purpose::Change, entries).await?.map_err(|faults| refusal(&faults))?;
    let what = if plan.changed.is_empty() { "unchanged" } else { "changed" };
    tell(&app, &args.city_key, what, args.json).await?;
    Ok(Exit::Ok)
}

/// All faults, each a line.
fn refusal(faults: &[PlacedFault]) -> Failure {
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let failure = Failure::usage(lines.join("\n"));
    if faults.iter().any(|fault| fault.fault.field == "tz") { failure.hint("--tz names the zone") } else { failure }
}

async fn tell(app: &App, city_key: &str, what: &str, as_json: bool) -> anyhow::Result<()> {
    let city = find_city(app, city_key).await?;
    if as_json {
        return output::json(&without_secrets(&city));
    }
    let Jurisdiction { name, state, vendor, slug, status, .. } = &city;
    let zone = city.tz.as_deref().unwrap_or("no time zone");
    output::line(format!("{what} {city_key}: {name}, {state} ({vendor} {slug}, {zone}, {status})"))?;
    Ok(())
}
