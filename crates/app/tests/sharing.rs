//! What a server and a command line do with this crate: open a store, take files in, work on them and follow them.

use bindery_app::{
    App, AppError, AppResult, Flags, Notice, Observer, Settings, Signals, StoredResult, Supervisor,
    error::OpenError,
    follow::{self, End, StoreWait, follow},
    intake::{self, About, Delivery, Receipt},
    watch::{FolderWatch, WatchEvent, WatchOptions},
};
use bindery_engine::{WorkerOptions, intake::Received, stop_pair};
use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};
use tempfile::TempDir;

/// Keeps notices to look at.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<Notice>>);

impl Observer for Heard {
    fn notice(&self, notice: &Notice) {
        self.0.lock().expect("nobody panicked").push(notice.clone());
    }
}

fn settings(dir: &Path, heard: &Arc<Heard>) -> Settings {
    let flags = Flags { store: Some(dir.join("store").display().to_string()), ..Flags::default() };
    Settings::new(flags, Arc::clone(heard) as _).expect("there is no file")
}

async fn opened() -> (TempDir, Settings, App, Arc<Heard>) {
    let dir = tempfile::tempdir().expect("there is room for a folder");
    let heard = Arc::new(Heard::default());
    let settings = settings(dir.path(), &heard);
    let app = settings.create().await.expect("a store can be made");
    (dir, settings, app, heard)
}

fn words() -> About {
    About { workflow: Some("words".to_owned()), ..About::default() }
}

async fn deliver(app: &App, settings: &Settings, file: &Path) -> AppResult<Receipt> {
    let delivery =
        Delivery { paths: vec![file.to_owned()], about: words(), channel: "test", external_id: None, anew: false };
    intake::receive(app, settings, delivery).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_is_worked_on_to_its_end_and_known_the_second_time() {
    let (dir, settings, app, _) = opened().await;
    let file = dir.path().join("a.txt");
    fs::write(&file, "one two two").unwrap();
    let receipt = deliver(&app, &settings, &file).await.unwrap();
    assert!(matches!(receipt.received, Received::New(_)) && receipt.files == 1 && receipt.bytes == 11, "{receipt:?}");

    let id = receipt.received.id();
    let mut signals = Signals::new().unwrap();
    let mut supervisor = Supervisor::start(&app, WorkerOptions::default());
    let mut looks = 0;
    let mut wait = StoreWait::new(follow::USUAL_SECONDS);
    let end = follow(&app, id, &mut supervisor, &mut signals, &mut wait, |_| looks += 1).await.unwrap();
    assert_eq!(end, End::Final);
    assert!(looks > 0);
    let stopped = supervisor.stop(&mut signals).await.unwrap();
    assert!(stopped.jobs > 0 && !stopped.is_at_once, "{stopped:?}");
    let result = StoredResult::find(&app, id).await.unwrap().expect("there is a result").without_index().unwrap();
    assert!(result.is_object(), "{result}");

    let again = deliver(&app, &settings, &file).await.unwrap();
    assert!(matches!(again.received, Received::Already(known) if known == id), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_paused_queue_holds_is_stuck_and_says_why() {
    let (dir, settings, app, _) = opened().await;
    let file = dir.path().join("a.txt");
    fs::write(&file, "one").unwrap();
    let id = deliver(&app, &settings, &file).await.unwrap().received.id();
    let queue = app.queue_named("word_counter").await.unwrap();
    assert!(app.store().pause(&queue, Some("audit".to_owned())).await.unwrap());
    let mut signals = Signals::new().unwrap();
    let mut supervisor = Supervisor::start(&app, WorkerOptions::default());
    let mut wait = StoreWait::new(0);
    let end = follow(&app, id, &mut supervisor, &mut signals, &mut wait, |_| ()).await.unwrap();
    assert_eq!(end, End::Stuck);
    supervisor.stop(&mut signals).await.unwrap();
    let progress = bindery_engine::view::progress(&app.engine, id).await.unwrap();
    let waits = follow::waits(&app, &progress).await.unwrap();
    assert!(waits.iter().any(|waits| waits.stage == *"count" && waits.reason.contains("paused")), "{waits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watched_file_is_taken_in_once() {
    let (dir, settings, app, heard) = opened().await;
    let inbox = dir.path().join("inbox");
    fs::create_dir(&inbox).unwrap();
    fs::write(inbox.join("a.txt"), "one").unwrap();
    for wanted in [vec!["a.txt".to_owned()], Vec::new()] {
        let options = WatchOptions {
            folder: inbox.clone(),
            about: words(),
            done: None,
            settle: Duration::ZERO,
            every: Duration::from_secs(1),
            once: true,
            follows: false,
        };
        let mut watch = FolderWatch::new(&app, &settings, options).await.unwrap();
        let mut taken = Vec::new();
        let (_handle, mut stop) = stop_pair();
        #[expect(clippy::result_large_err, reason = "the error is the one that the watch itself may have")]
        let tell = |event: WatchEvent<'_>| {
            if let WatchEvent::TakenIn { name, .. } = event {
                taken.push(name.to_owned());
            }
            Ok::<_, AppError>(())
        };
        watch.run(&mut stop, tell).await.unwrap();
        assert_eq!(taken, wanted);
    }
    assert_eq!(*heard.0.lock().unwrap(), []);
}

#[tokio::test]
async fn looking_makes_no_store_and_does_no_work() {
    let dir = tempfile::tempdir().unwrap();
    let settings = settings(dir.path(), &Arc::default());
    assert!(settings.if_existing().await.unwrap().is_none());
    let error = settings.existing().await.unwrap_err();
    assert!(matches!(error, AppError::Open(OpenError::NoStore { .. })), "{error}");
    settings.create().await.unwrap();
    let looked_at = settings.existing().await.unwrap();
    assert!(matches!(looked_at.councils(), Err(AppError::OpenedToLook)));
}
