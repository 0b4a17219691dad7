//! `bindery civic matter`: a bill or resolution over all its appearances.

use super::{shown, summaries, votes};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings,
    councils::{ids, records::Matter, views::MatterView},
};

/// Show a matter: who stands behind it, where it appeared, and how it was voted on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic matter paloaltoCA_0123456789abcdef
  bindery civic matter \"ORD 2026-7\" --city paloaltoCA       by its public number
  bindery civic matter paloaltoCA_0123456789abcdef --json | jq '.appearances[].vote_outcome'")]
pub(super) struct Args {
    /// The id of the matter, or its public number
    matter: String,

    /// The city, where a public number is given
    #[arg(long, value_name = "BANANA")]
    city: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let matter = find_matter(&app, &args).await?;
    let view = app.view_matter(matter).await?;
    if args.json {
        output::json(&view)?;
        return Ok(Exit::Ok);
    }
    let MatterView { matter, sponsors, appearances, votes: voted, meetings } = view;
    output::line(&matter.title)?;
    shown::fact("file", matter.matter_file.as_deref())?;
    shown::fact("type", matter.matter_type.as_deref())?;
    shown::fact("status", matter.status.as_deref())?;
    let names: Vec<&str> = sponsors.iter().map(|sponsor| sponsor.name.as_str()).collect();
    shown::fact("sponsors", Some(&names.join(", ")))?;
    shown::fact("topics", Some(&matter.canonical_topics.join(", ")))?;
    if let Some(summary) = &matter.canonical_summary {
        summaries::text(summary)?;
    }
    shown::fact("id", Some(&matter.id))?;
    output::line("")?;
    let room = shown::room(76, 20, 40);
    let rows = appearances.iter().map(|one| {
        let meeting = meetings.get(&one.meeting_id);
        let day = meeting.map(|meeting| shown::begins(meeting).0).unwrap_or_default();
        let body = one.committee.as_deref().or(meeting.map(|meeting| meeting.title.as_str())).unwrap_or_default();
        let tally = if one.vote_tally.is_empty() { String::new() } else { shown::tally(&one.vote_tally) };
        let outcome = format!("{} {tally}", one.vote_outcome.as_deref().unwrap_or_default().replace('_', " "));
        [
            day,
            output::short(body, room),
            output::short(one.action.as_deref().unwrap_or_default(), 24),
            outcome.trim().to_owned(),
            one.meeting_id.clone(),
        ]
    });
    output::table(&["DAY", "BODY", "ACTION", "OUTCOME", "MEETING"], rows)?;
    for vote in &voted {
        output::line("")?;
        let day = meetings.get(&vote.meeting_id).map(|meeting| shown::begins(meeting).0);
        votes::show(vote, day.as_deref())?;
    }
    Ok(Exit::Ok)
}

async fn find_matter(app: &App, args: &Args) -> anyhow::Result<Matter> {
    let Some(city) = &args.city else {
        if !ids::is_matter_id(&args.matter) && !args.matter.contains('_') {
            let failure = Failure::usage(format!("{:?} is not the id of a matter", args.matter));
            return Err(failure.hint("with --city BANANA it is taken for a public number").into());
        }
        return Ok(app.find_matter(&args.matter).await?);
    };
    Ok(app.find_matter_by_number(city, &args.matter).await?)
}
