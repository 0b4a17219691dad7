//! `bindery civic city remove`: for a city that was entered by mistake.

use super::{super::shown::without_secrets, existing, storing::add_command, unknown};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{Settings, councils::records::TakenOut};
use serde_json::json;

/// Take out a city of which no meeting is known
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city remove palaltoCA      a city that was entered by mistake
A city with meetings stays: what is known of it would be lost. `bindery civic city set paloaltoCA
--status paused` stops the visits and keeps the meetings, and --status active goes on.")]
pub(super) struct Args {
    /// Its key, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = existing(settings).await?;
    let city_key = &args.city_key;
    match app.civic().take_out_jurisdiction(city_key).await? {
        TakenOut::Unknown => Err(unknown(city_key).into()),
        TakenOut::InUse { meetings, matters } => {
            let known = match meetings {
                0 => output::count(matters, "matter"),
                meetings => output::count(meetings, "meeting"),
            };
            Err(Failure::usage(format!("{known} of {city_key} would be lost; nothing was removed"))
                .hint(format!("`bindery civic city set {city_key} --status paused` stops the visits and keeps them"))
                .into())
        }
        TakenOut::Gone(city) => {
            if args.json {
                output::json(&json!({"removed": without_secrets(&city)}))?;
            } else {
                output::line(format!("removed {city_key}: {}, {}", city.name, city.state))?;
                output::note(format!("undo: {}", add_command(&city)));
            }
            Ok(Exit::Ok)
        }
    }
}
