//! `bindery intake`: takes in what others put into a bucket, each object once.

use crate::{
    config::{App, Settings},
    exit::Exit,
    output,
    receiving::{self, About},
    work::Signals,
};
use bindery_pipeline::{
    idp::document,
    intake::{Taken, take_in},
};
use bindery_store::blobs::{BlobError, ObjectError, ObjectIntake, Offer};
use serde_json::json;
use std::{collections::HashSet, time::Duration};

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
    about: About,

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
    args.about.check(&app, settings).await?;
    let mut signals = Signals::new()?;
    let intake = ObjectIntake::open(&args.url).await?;
    let mut desk = Desk { app, settings, intake, args, known: HashSet::new() };
    if desk.args.once {
        return desk.pass().await.map(|()| Exit::Ok);
    }
    output::note(format!("looks below {} every {} s", desk.args.url, desk.args.every));
    loop {
        tokio::select! {
            () = signals.next() => return Ok(Exit::Ok),
            passed = desk.pass() => if let Err(error) = passed {
                // What is away comes back; what is wrong for good is said again and again.
                output::note(format!("{error:#}; looking again in {} s", desk.args.every));
            },
        }
        tokio::select! {
            () = signals.next() => return Ok(Exit::Ok),
            () = tokio::time::sleep(Duration::from_secs(desk.args.every)) => {}
        }
    }
}

struct Desk<'a> {
    app: App,
    settings: &'a Settings,
    intake: ObjectIntake,
    args: Args,
    /// Those of the last pass that are taken in: they need not be asked about again.
    known: HashSet<String>,
}

impl Desk<'_> {
    /// Takes in what is there and was not there before.
    async fn pass(&mut self) -> anyhow::Result<()> {
        let mut listed = HashSet::new();
        let mut offers = self.intake.list(None);
        while let Some(offer) = offers.next().await? {
            let id = identity(&offer);
            if !self.known.contains(&id) && receiving::find(&self.app, &id).await?.is_none() {
                match self.receive(&offer, &id).await {
                    Ok(()) => {}
                    // Whatever it is now, the next pass sees it.
                    Err(error) if has_changed(&error) => continue,
                    Err(error) => return Err(error.context(offer.location)),
                }
            }
            listed.insert(id);
        }
        self.known = listed;
        Ok(())
    }

    async fn receive(&self, offer: &Offer, external_id: &str) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join(offer.name());
        self.intake.fetch_to(offer, &path).await?;
        let blobs = &**self.app.engine.blobs();
        let taken = match document::of_key(&offer.key) {
            Some(document) => Taken::one(document::take_in(blobs, &path, document).await?),
            None => take_in(&self.app.engine, &[path]).await?,
        };
        let mut intake = self.args.about.intake(self.settings, taken, "object storage")?;
        intake.external_id = Some(external_id.to_owned());
        intake.metadata.insert("location".to_owned(), json!(offer.location));
        let id = self.app.engine.submit(intake).await?.id();
        if self.args.json {
            output::json(&json!({"submission": id, "location": offer.location, "bytes": offer.size}))?;
        } else {
            output::line(format!("{id}  {}  {}", offer.location, output::bytes(offer.size)))?;
        }
        Ok(())
    }
}

/// What an object is known by: its address and version or, if `file_processing` has put it there, the id that it gave.
fn identity(offer: &Offer) -> String {
    document::of_key(&offer.key).map_or_else(|| offer.external_id(), str::to_owned)
}

fn has_changed(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(BlobError::Object(ObjectError::Changed { .. })))
}
