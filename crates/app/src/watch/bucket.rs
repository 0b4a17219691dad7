//! A bucket whose objects become submissions.

use crate::{
    app::App,
    error::{AppError, AppResult},
    intake::{About, find},
    notice::Notice,
    settings::Settings,
};
use bindery_core::SubmissionId;
use bindery_engine::StopSignal;
use bindery_files::ScratchFolder;
use bindery_pipeline::{
    idp::document,
    intake::{Taken, take_in},
};
use bindery_store::blobs::{BlobError, ObjectError, ObjectIntake, Offer};
use serde_json::json;
use std::{collections::HashSet, time::Duration};

/// An object that became a submission.
#[derive(Debug)]
pub struct TakenObject<'a> {
    pub id: SubmissionId,
    pub location: &'a str,
    pub bytes: u64,
}

/// A prefix of a bucket whose objects become submissions, each once. Nothing is moved or deleted.
#[derive(Debug)]
pub struct BucketWatch {
    app: App,
    settings: Settings,
    about: About,
    intake: ObjectIntake,
    /// Those of the last pass that are taken in: they need not be asked about again.
    known: HashSet<String>,
}

impl BucketWatch {
    /// Checks everything before anything is taken in.
    pub async fn open(app: &App, settings: &Settings, url: &str, about: About) -> AppResult<Self> {
        about.check(app, settings).await?;
        let intake = ObjectIntake::open(url).await?;
        Ok(Self { app: app.clone(), settings: settings.clone(), about, intake, known: HashSet::new() })
    }

    /// Takes in what comes until it is stopped, looking so often.
    pub async fn run<E: From<AppError>>(
        &mut self,
        every: Duration,
        stop: &mut StopSignal,
        mut tell: impl FnMut(TakenObject<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            tokio::select! {
                () = stop.stopping() => return Ok(()),
                passed = self.pass(&mut tell) => if let Err((location, error)) = passed? {
                    // What is away comes back; what is wrong for good is said again and again.
                    let error = location.map_or_else(|| error.to_string(), |location| format!("{location}: {error}"));
                    self.app.notify(&Notice::LookingAgain { error, every });
                },
            }
            tokio::select! {
                () = stop.stopping() => return Ok(()),
                () = tokio::time::sleep(every) => {}
            }
        }
    }

    /// Takes in what is there and was not there before.
    pub async fn run_once<E: From<AppError>>(
        &mut self,
        mut tell: impl FnMut(TakenObject<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pass(&mut tell).await?.map_err(|(location, error)| match location {
            Some(location) => AppError::Object { location, error: Box::new(error) }.into(),
            None => error.into(),
        })
    }

    /// The outer error is the listener's, the inner one names the object that it is about, if it is about one.
    async fn pass<E>(
        &mut self,
        tell: &mut impl FnMut(TakenObject<'_>) -> Result<(), E>,
    ) -> Result<Result<(), (Option<String>, AppError)>, E> {
        let mut listed = HashSet::new();
        let mut offers = self.intake.list(None);
        loop {
            let offer = match offers.next().await {
                Ok(Some(offer)) => offer,
                Ok(None) => break,
                Err(error) => return Ok(Err((None, error.into()))),
            };
            let identity = identity(&offer);
            match self.receive(&offer, &identity).await {
                Ok(None) => {}
                Ok(Some(id)) => tell(TakenObject { id, location: &offer.location, bytes: offer.size })?,
                // Whatever it is now, the next pass sees it.
                Err(AppError::Blob(BlobError::Object(ObjectError::Changed { .. }))) => continue,
                Err(error) => return Ok(Err((Some(offer.location), error))),
            }
            listed.insert(identity);
        }
        self.known = listed;
        Ok(Ok(()))
    }

    /// The submission that the object has become; none if it is known already.
    async fn receive(&self, offer: &Offer, external_id: &str) -> AppResult<Option<SubmissionId>> {
        if self.known.contains(external_id) || find(&self.app, external_id).await?.is_some() {
            return Ok(None);
        }
        let folder = ScratchFolder::new()?;
        let path = folder.join(offer.name());
        self.intake.fetch_to(offer, &path).await?;
        let blobs = &**self.app.engine.blobs();
        let taken = match document::of_key(&offer.key) {
            Some(document) => Taken::one(document::take_in(blobs, &path, document).await?),
            None => take_in(&self.app.engine, &[path]).await?,
        };
        let mut intake = self.about.intake(&self.settings, taken, "object storage")?;
        intake.external_id = Some(external_id.to_owned());
        intake.metadata.insert("location".to_owned(), json!(offer.location));
        Ok(Some(self.app.engine.submit(intake).await?.id()))
    }
}

/// What an object is known by: its address and version or, if `file_processing` has put it there, the id that it gave.
fn identity(offer: &Offer) -> String {
    document::of_key(&offer.key).map_or_else(|| offer.external_id(), str::to_owned)
}
