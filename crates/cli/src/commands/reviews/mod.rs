//! `bindery review`: what people have to decide, and their decisions.

mod decide;
mod list;
mod show;

use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    reviews::{ReviewRefused, Subject},
};
use bindery_core::{ReviewId, review::Decision};
use clap::Subcommand;

/// List what people have to decide, and decide it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery review                                       what is open
  bindery review list --skill invoice                  only invoices
  bindery review show rev_3                            its fields, what is doubtful, the text of its pages
  bindery review claim rev_3 --by marta                nobody else decides it for the next two minutes
  bindery review accept rev_3                          it is right as it is
  bindery review correct rev_3 grand_total=119.00      say what is right, go on, and …
  bindery review correct rev_3 grand_total=119.00 --work   … show the document as it is then
  bindery review correct sub_1 doc_1_2 number=2026-7   a document that nobody was asked about
  bindery review correct rev_3 due_date=               the document does not state it
  bindery review correct rev_3 line_items.3.amount=12.50   the amount of row 3; rows are counted as `show` counts them
  bindery review correct rev_3 line_items.+.amount=5 line_items.+.description=Postage   a new last row; 2+ is one after row 2
  bindery review correct rev_3 line_items.3=           there is no such row
  bindery review reject rev_3 --reason 'a blank page'")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List what is open (what happens without a word, too), the most urgent first, then the oldest
    List(list::Args),
    /// Show what is asked: why, the fields with where they stand and what is doubtful, the text of the pages
    Show {
        /// rev_N; or a submission and a document of it
        #[arg(required = true, num_args = 1..=2, value_name = "REVIEW")]
        what: Vec<String>,
    },
    /// Take a review, so that nobody else decides it meanwhile
    Claim {
        /// rev_N
        review: ReviewId,
        /// Who takes it
        #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        by: String,
    },
    /// Say that a result is right as it is
    Accept {
        /// rev_N; or a submission and a document of it
        #[arg(required = true, num_args = 1..=2, value_name = "REVIEW")]
        what: Vec<String>,
        #[command(flatten)]
        person: decide::Person,
    },
    /// Say what is right, of fields and of the cells of rows. Each value must be one of its field's or column's type
    Correct {
        /// rev_N, or a submission and a document of it; then fields, as name=value, and cells, as list.row.column=value
        #[arg(required = true, num_args = 1.., value_name = "REVIEW FIELD=VALUE")]
        words: Vec<String>,
        /// All fields at once, as a JSON object
        #[arg(long, value_name = "JSON")]
        json_value: Option<String>,
        #[command(flatten)]
        person: decide::Person,
    },
    /// Say that nothing can be made of it: it counts as failed, for this reason
    Reject {
        /// rev_N; or a submission and a document of it
        #[arg(required = true, num_args = 1..=2, value_name = "REVIEW")]
        what: Vec<String>,
        /// Why
        #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        reason: String,
        #[command(flatten)]
        person: decide::Person,
    },
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    // What a correction means is the processors' matter, and they know the user's own types of documents.
    let app = settings.existing_with(&settings.known_processors()?).await?;
    match args.action.unwrap_or_else(|| Action::List(list::Args::default())) {
        Action::List(filter) => list::run(&app, filter, args.json).await,
        Action::Show { what } => show::run(&app, Subject::find(&app, &what).await?, args.json).await,
        Action::Claim { review, by } => {
            let claimed = app.engine.claim_review(review, &by).await?;
            if args.json {
                output::json(&claimed)?;
                return Ok(Exit::Ok);
            }
            output::line(format!("{review} is assigned to {by}"))?;
            if let Some(until) = claimed.assigned_until {
                output::note(format!("until {until}; `bindery review show {review}` shows what is asked"));
            }
            Ok(Exit::Ok)
        }
        Action::Accept { what, person } => {
            let subject = Subject::find(&app, &what).await?;
            decide::run(&app, subject, Decision::Accepted, person, args.json).await
        }
        Action::Correct { words, json_value, person } => {
            let (what, decision) = decide::corrected(&words, json_value.as_deref())?;
            let subject = Subject::find(&app, what).await?;
            decide::run(&app, subject, decision, person, args.json).await
        }
        Action::Reject { what, reason, person } => {
            let subject = Subject::find(&app, &what).await?;
            decide::run(&app, subject, Decision::Rejected { reason }, person, args.json).await
        }
    }
}

/// What can be said instead.
pub(crate) fn hint(refused: &ReviewRefused) -> Option<&'static str> {
    match refused {
        ReviewRefused::NotAReview { .. } => {
            Some("`bindery review list` lists them; a document is named by its submission, too: sub_1 doc_1_2")
        }
        ReviewRefused::Unnamed => Some("rev_3, or sub_1 doc_1_2 for a document that nobody was asked about"),
        ReviewRefused::NoFields => {
            Some("for instance grand_total=119.00; `bindery review accept` says that all is right")
        }
        ReviewRefused::Unknown { .. } | ReviewRefused::ItemGone { .. } | ReviewRefused::NotAField { .. } => None,
    }
}
