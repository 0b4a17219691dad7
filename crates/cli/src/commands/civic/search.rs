//! `bindery civic search`: items, meetings and matters by their words.

use super::{
    city::existing,
    days::{day, in_order},
};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings,
    councils::{
        find_topic,
        records::{Jurisdiction, JurisdictionFilter},
        search::{self, Found, Indexed, SearchFor},
    },
    search::Snippet,
};
use jiff::civil::Date;

/// Find items, meetings and matters by their words
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic search housing                          all cities
  bindery civic search '\"rent control\" -report' --city paloaltoCA
  bindery civic search 'pav* OR sidewalk' --from 2026-01-01 --topic transportation
  bindery civic search lease --matters --json
  bindery civic search --reindex --city paloaltoCA      make everything of a city findable
Titles, summaries and the texts of items' own pages are searched. A word finds its plural and what else
begins with it; in quotation marks it finds itself alone. Meetings are indexed when they are read;
--reindex does it for all that is stored.")]
pub(super) struct Args {
    /// Words, a "phrase", -excluded, beginnings*; OR between alternatives
    #[arg(required_unless_present = "reindex")]
    words: Vec<String>,

    /// Only in this city
    #[arg(long, value_name = "BANANA")]
    city: Option<String>,

    /// Only on this topic, such as housing
    #[arg(long)]
    topic: Option<String>,

    /// Only of this day or later
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<Date>,

    /// Only of this day or earlier
    #[arg(long, value_name = "DAY", value_parser = day)]
    to: Option<Date>,

    /// Only matters
    #[arg(long)]
    matters: bool,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,

    /// Index what is stored, of one city or of all, before anything is looked for
    #[arg(long)]
    reindex: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    in_order(args.from, args.to)?;
    let topic = args.topic.as_deref().map(find_topic).transpose()?;
    let words = args.words.join(" ");
    let query = match words.trim() {
        "" => None,
        words => Some(search::query(words).map_err(|why| {
            Failure::usage(why)
                .hint("`bindery civic search 'housing -report'` finds what has one word and not the other")
        })?),
    };
    let app = existing(settings).await?;
    let city = match &args.city {
        Some(city_key) => Some(app.find_city(city_key).await?),
        None => None,
    };
    if args.reindex {
        let done = reindex(&app, city.as_ref()).await?;
        let Some(_) = &query else {
            if args.json {
                output::json(&done)?;
            }
            return Ok(Exit::Ok);
        };
    }
    let Some(query) = query else {
        return Err(Failure::usage("expected words to look for, found none").into());
    };
    let wanted = SearchFor {
        query,
        city_key: city.as_ref().map(|city| city.city_key.clone()),
        topic,
        from: args.from,
        to: args.to,
        only_matters: args.matters,
        limit: args.limit as usize,
    };
    let found = search::find(app.store(), &wanted).await?;
    if args.json {
        output::json(&found)?;
    } else if !found.is_empty() {
        show(&found)?;
    }
    if found.is_empty() {
        output::note(nothing(&app, city.as_ref()).await?);
    } else if found.len() == wanted.limit {
        output::note(format!("these are the best {}; --limit shows more", found.len()));
    }
    Ok(Exit::Ok)
}

fn show(found: &[Found]) -> anyhow::Result<()> {
    let row = |one: &Found| {
        let number = one.agenda_number.clone().or_else(|| one.matter_file.clone()).unwrap_or_default();
        let about = match (one.kind, &one.meeting_title) {
            ("item", Some(meeting)) => output::short(meeting, 32),
            (kind, _) => kind.to_owned(),
        };
        let snippet = Snippet { text: one.snippet.clone(), matches: one.matches.clone() };
        let snippet = snippet.marked(output::BOLD, output::NOT_BOLD);
        [
            one.day.clone().unwrap_or_default(),
            one.city_key.clone(),
            about,
            output::short(&number, 12),
            one.id.clone(),
            snippet,
        ]
    };
    output::table_with_bold(&["DAY", "CITY", "IN", "NO", "ID", "TEXT"], found.iter().map(row))?;
    Ok(())
}

async fn reindex(app: &App, city: Option<&Jurisdiction>) -> anyhow::Result<Indexed> {
    let cities = match city {
        Some(city) => vec![city.clone()],
        None => app.civic().jurisdictions(JurisdictionFilter::default()).await?,
    };
    let mut all = Indexed::default();
    for city in &cities {
        let done = search::reindex(app.store(), &city.city_key).await?;
        all.meetings += done.meetings;
        all.items += done.items;
        all.matters += done.matters;
        if done != Indexed::default() {
            output::note(format!(
                "{}: indexed {}, {} and {}",
                city.city_key,
                output::count(done.meetings as u64, "meeting"),
                output::count(done.items as u64, "item"),
                output::count(done.matters as u64, "matter"),
            ));
        }
    }
    Ok(all)
}

/// Why nothing was found, as far as that can be told.
async fn nothing(app: &App, city: Option<&Jurisdiction>) -> anyhow::Result<String> {
    let indexed = match city {
        Some(city) => search::indexed_documents(app.store(), &city.city_key).await?,
        None => search::all_indexed_documents(app.store()).await?,
    };
    Ok(match (indexed, city) {
        (0, Some(city)) => format!(
            "nothing of {} is indexed yet; `bindery civic search --reindex --city {}` does it",
            city.city_key, city.city_key
        ),
        (0, None) => "nothing is indexed yet; `bindery civic search --reindex` does it".to_owned(),
        (some, _) => format!(
            "nothing was found in {} indexed; what was stored since and not read yet is missing there: --reindex adds it",
            output::count(some, "text")
        ),
    })
}
