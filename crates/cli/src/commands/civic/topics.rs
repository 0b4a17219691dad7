//! `bindery civic topics`: the topics that items have, and words that mean none of them.

use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{
        records::UnknownTopic,
        topics::{Topics, topics_of},
    },
};
use serde::Serialize;

/// List the topics of items, and words that mean none of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic topics                            the sixteen that all cities share
  bindery civic topics paloaltoCA                 with those that the city adds
  bindery civic topics --unknown                  words that mean none, the most frequent first
  bindery civic city set paloaltoCA --setting 'topics=[{\"key\": \"harbor\", \"synonyms\": [\"marina\"]}]'
adds a topic to a city. A word that is often unknown is worth a synonym.")]
pub(super) struct Args {
    /// The city, e.g. paloaltoCA; without it, all
    #[arg(value_name = "BANANA")]
    city_key: Option<String>,

    /// Words for topics that mean none that is known, with how often they were met
    #[arg(long)]
    unknown: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Topic<'t> {
    key: &'t str,
    name: &'t str,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    if args.unknown {
        return unknown(settings, args).await;
    }
    let topics = match &args.city_key {
        Some(city_key) => topics_of(&settings.existing().await?.find_city(city_key).await?),
        None => Topics::default().into(),
    };
    let topics: Vec<Topic<'_>> = topics.all().map(|(key, name)| Topic { key, name }).collect();
    if args.json {
        output::json(&topics)?;
    } else {
        output::table(&["TOPIC", "NAME"], topics.iter().map(|topic| [topic.key.to_owned(), topic.name.to_owned()]))?;
    }
    Ok(Exit::Ok)
}

async fn unknown(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let city = match &args.city_key {
        Some(city_key) => Some(app.find_city(city_key).await?.city_key),
        None => None,
    };
    let mut unknown: Vec<UnknownTopic> = app.civic().unknown_topics(city.as_deref()).await?;
    unknown.sort_by_key(|topic| std::cmp::Reverse(topic.count));
    if args.json {
        output::json(&unknown)?;
    } else if unknown.is_empty() {
        output::line("every word for a topic was known")?;
    } else {
        let row = |topic: &UnknownTopic| {
            let last = topic.last_seen.map(|at| at.to_string()).unwrap_or_default();
            [topic.topic.clone(), topic.count.to_string(), topic.city_key.clone(), last]
        };
        output::fitted_table(&["UNKNOWN", "TIMES#", "CITY", "LAST MET"], unknown.iter().map(row))?;
    }
    Ok(Exit::Ok)
}
