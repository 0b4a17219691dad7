//! What is open.

use crate::{exit::Exit, output};
use bindery_app::{App, items::ItemNames, reviews::ReviewFilter};
use bindery_core::review::{Review, ReviewStatus};
use std::collections::HashSet;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only of this queue: the stage's `backoffice_queue`
    #[arg(long)]
    queue: Option<String>,

    /// Only what asks for this skill, such as extraction or invoice; several: for all of them
    #[arg(long, value_name = "NAME")]
    skill: Vec<String>,

    /// Also what is decided or fell away
    #[arg(long)]
    all: bool,

    /// How many to list, the most urgent first
    #[arg(long, default_value_t = SHOWN, value_name = "N")]
    limit: usize,
}

const SHOWN: usize = 100;

impl Default for Args {
    fn default() -> Self {
        Self { queue: None, skill: Vec::new(), all: false, limit: SHOWN }
    }
}

pub(super) async fn run(app: &App, args: Args, as_json: bool) -> anyhow::Result<Exit> {
    let filter = ReviewFilter {
        statuses: if args.all { Vec::new() } else { ReviewStatus::OPEN.to_vec() },
        queue: args.queue.map(Into::into),
        skills: args.skill.into_iter().map(Into::into).collect(),
        limit: Some(args.limit.saturating_add(1)),
        ..ReviewFilter::default()
    };
    let mut reviews = app.store().reviews(filter).await?;
    let has_more = reviews.len() > args.limit;
    if !args.all {
        // Whoever decides one of them decides the same question about the same content everywhere.
        let mut asked = HashSet::new();
        reviews.retain(|review| review.subject.is_none_or(|subject| asked.insert(subject)));
    }
    reviews.truncate(args.limit);
    show(app, &reviews, as_json).await?;
    if has_more {
        output::note(format!("the first {}; --limit shows more", args.limit));
    }
    Ok(Exit::Ok)
}

async fn show(app: &App, reviews: &[Review], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        output::json(&reviews)?;
        return Ok(());
    }
    let Some(first) = reviews.first() else {
        output::note("there is nothing to decide");
        return Ok(());
    };
    let hint = format!("`bindery review show {}` shows the first; accept, correct or reject decides", first.id);
    let mut names = ItemNames::new(app);
    let mut rows = Vec::with_capacity(reviews.len());
    for review in reviews {
        let reason = output::short(&review.reason(), 80);
        rows.push([
            review.id.to_string(),
            review.queue.to_string(),
            review.submission.to_string(),
            names.label(review.submission, review.item).await?,
            status_text(review),
            output::ago(review.created_at),
            reason,
        ]);
    }
    output::table(&["REVIEW", "QUEUE", "SUBMISSION", "ON", "STATUS", "ASKED", "WHY"], rows)?;
    output::note(hint);
    Ok(())
}

/// Who has it, or what was decided and by whom.
pub(super) fn status_text(review: &Review) -> String {
    let what = review.decision.as_ref().map_or_else(|| review.status.as_str(), |decision| decision.as_str());
    match &review.assigned_to {
        Some(who) if review.is_open() => format!("{what}: {who}"),
        Some(who) => format!("{what} by {who}"),
        None => what.to_owned(),
    }
}
