//! `bindery civic votes`: the motions of a meeting, and who voted how.

use super::shown;
use crate::{exit::Exit, output};
use bindery_app::{Settings, councils::records::VoteEvent};
use serde_json::json;
use std::collections::HashMap;

/// Show the votes of a meeting: each motion, how it ended, and who voted how
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic votes paloaltoCA_3c961ffe17f6
  bindery civic votes paloaltoCA_3c961ffe17f6 --json | jq '.[] | select(.result == \"failed\")'")]
pub(super) struct Args {
    /// The id of the meeting
    meeting: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let meeting = app.find_meeting(&args.meeting).await?;
    let items = app.civic().agenda(&meeting.id).await?;
    let titles: HashMap<&str, &str> = items.iter().map(|item| (item.id.as_str(), item.title.as_str())).collect();
    let title = |vote: &VoteEvent| vote.item_id.as_deref().and_then(|id| titles.get(id).copied());
    let votes = app.civic().votes(&meeting.id).await?;
    if args.json {
        let with_title = votes.iter().map(|vote| {
            let mut told = json!(vote);
            told["item_title"] = json!(title(vote));
            told
        });
        output::json(&with_title.collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if votes.is_empty() {
        output::note(format!("no vote of {} is known", meeting.id));
    }
    for (place, vote) in votes.iter().enumerate() {
        if place > 0 {
            output::line("")?;
        }
        show(vote, title(vote))?;
    }
    Ok(Exit::Ok)
}

/// How members can vote, in the order in which it is told.
const WAYS: [&str; 7] = ["yes", "no", "abstain", "recused", "present", "absent", "not_voting"];

/// One motion.
pub(super) fn show(vote: &VoteEvent, item: Option<&str>) -> anyhow::Result<()> {
    let result = vote.result.as_deref().unwrap_or("no result").replace('_', " ");
    let about = item.map(|item| format!("  {}", output::short(item, 70))).unwrap_or_default();
    output::line(format!("{} {}{about}", result.to_uppercase(), shown::tally(&vote.tally)))?;
    shown::fact("  motion", vote.motion.as_deref())?;
    let moved = [("by", &vote.mover), ("seconded by", &vote.seconder)];
    let moved: Vec<String> =
        moved.into_iter().filter_map(|(how, who)| Some(format!("{how} {}", who.as_deref()?))).collect();
    shown::fact("  moved", Some(&moved.join(", ")))?;
    for way in WAYS {
        let names: Vec<&str> =
            vote.ballots.iter().filter(|ballot| ballot.vote == way).map(|ballot| ballot.name.as_str()).collect();
        shown::fact(&format!("  {}", way.replace('_', " ")), Some(&names.join(", ")))?;
    }
    Ok(())
}
