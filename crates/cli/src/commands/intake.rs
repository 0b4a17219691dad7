//! `bindery intake`: takes in what others put into a bucket, each object once.

use crate::{exit::Exit, intake_args::AboutArgs, output};
use bindery_app::{
    Settings,
    signals::stop_on_signal,
    watch::{BucketWatch, TakenObject},
};
use serde_json::json;
use std::time::Duration;

/// Take in what is put into a bucket
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery intake s3://papers/staging/                    every new object becomes a submission, until Ctrl-C
  bindery intake s3://papers/staging/ --once             what is there now
  bindery intake gs://papers/in/ --workflow read --every 60
  bindery intake s3://idp/raw/ --workflow idp            what `bindery process file_processing` copies there
Each object is taken in once, however often it is listed: its address and version are the submission's external id. An
object that is replaced by other bytes is another one. What file_processing has copied is known by its document id, and
keeps it. Nothing is moved or deleted. `bindery worker` does the work.")]
pub(crate) struct Args {
    /// The prefix to look below: s3://bucket/prefix/, gs://…, az://…, file:///folder/
    #[arg(value_name = "URL")]
    url: String,

    #[command(flatten)]
    about: AboutArgs,

    /// How often to look
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,

    /// Look once, and end
    #[arg(long)]
    once: bool,

    /// Print one JSON object for each submission
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.create().await?;
    let mut stop = stop_on_signal()?;
    let mut watch = BucketWatch::open(&app, settings, &args.url, args.about.into()).await?;
    if args.once {
        watch.run_once(|taken| tell(&taken, args.json)).await?;
        return Ok(Exit::Ok);
    }
    output::note(format!("looks below {} every {} s", args.url, args.every));
    watch.run(Duration::from_secs(args.every), &mut stop, |taken| tell(&taken, args.json)).await?;
    Ok(Exit::Ok)
}

fn tell(taken: &TakenObject<'_>, as_json: bool) -> anyhow::Result<()> {
    let TakenObject { id, location, bytes } = taken;
    if as_json {
        return output::json(&json!({"submission": id, "location": location, "bytes": bytes}));
    }
    Ok(output::line(format!("{id}  {location}  {}", output::bytes(*bytes)))?)
}
