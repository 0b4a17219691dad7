//! What was recorded is answered again, from nothing but the recording.

use crate::{
    server::{Reply, Server},
    vendor::{LINES, WINDOW, driver, site},
};
use bindery_civic::{
    client::{
        Client, Failure, Fetched, Kind, LeapingTimer, Network, Recording, Session, Settings, Timer, Trouble, Want,
    },
    vendor::{Site, page::Body},
    visit::{Driver, Known, VisitLimits},
};
use bindery_engine::stop_pair;
use jiff::tz::TimeZone;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

fn recording(folder: &Path) -> Client {
    let timer: Arc<dyn Timer> = Arc::new(LeapingTimer::default());
    let settings = Settings { allow_private: true, ..Settings::default() };
    let network = Arc::new(Network::new(&settings));
    let recording = Recording::begin(network, Arc::clone(&timer), folder).unwrap();
    Client::new(&settings, Arc::new(recording), timer)
}

fn replaying(folder: &Path) -> Client {
    Client::replaying(&Settings::default(), folder).unwrap()
}

async fn ask(client: &Client, want: &Want) -> Result<Vec<u8>, Trouble> {
    let (_handle, stop) = stop_pair();
    let session = Session::new("lines", "testvilleCA");
    match client.fetch(&session, want, &stop).await.map_err(|error| error.trouble)? {
        Fetched::Page(page) => Ok(page.bytes),
        Fetched::Unchanged => panic!("a recording is complete"),
    }
}

fn written(folder: &Path, lines: &str) -> PathBuf {
    let path = folder.join("recording.jsonl");
    fs::write(&path, lines).unwrap();
    path
}

#[tokio::test]
async fn a_replayed_visit_is_the_recorded_one() {
    let server = Server::start(|seen, before| match (seen.path.as_str(), before) {
        ("/robots.txt", _) => Reply::text("User-agent: *\nDisallow: /private"),
        ("/listing", 0) => Reply::new(429).header("Retry-After", "30"),
        ("/listing", 1) => Reply::text("mee").breaks_off(),
        ("/listing", _) => Reply::redirect("/real-listing"),
        ("/real-listing", _) => Reply::html(
            "meeting 7 2026-02-03 Council\nmeeting 8 2026-02-10 Ñandú\nfollow /agenda/7 agenda\n\
             follow /agenda/8 agenda\nfollow /gone detail optional\nfollow /private/x detail optional",
        )
        .gzipped()
        .header("ETag", "\"1\""),
        ("/agenda/7", _) => Reply::text("item 7 1 Trees"),
        ("/agenda/8", _) => Reply::text(""),
        _ => Reply::new(404),
    });
    let (folder, site, known) = (tempfile::tempdir().unwrap(), site(&server), Known::default());
    let (_handle, stop) = stop_pair();
    let client = recording(folder.path());
    let recorded = driver(&client, &site, &known).visit(&stop).await.unwrap();
    assert_eq!((recorded.meetings.len(), recorded.warnings.len(), recorded.pages), (2, 2, 3));
    let asked = server.seen().len();

    let replayed = {
        let client = replaying(folder.path());
        driver(&client, &site, &known).visit(&stop).await.unwrap()
    };
    assert_eq!(serde_json::to_value(&replayed).unwrap(), serde_json::to_value(&recorded).unwrap());
    assert_eq!(replayed.known, recorded.known);
    assert_eq!(server.seen().len(), asked, "nobody was asked");
    let names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.ends_with("-real-listing.html")), "{names:?}");
    // What is known from an earlier visit is not sent while recording: the next one has to be whole, too.
    let other = tempfile::tempdir().unwrap();
    let client = recording(other.path());
    let again = driver(&client, &site, &recorded.known).visit(&stop).await.unwrap();
    assert_eq!(again.unchanged, 0);
    assert!(server.seen().iter().all(|seen| !seen.headers.contains_key("if-none-match")));
}

#[tokio::test]
async fn no_secret_is_kept_and_none_is_needed_for_the_replay() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/robots.txt" => Reply::new(404),
        path => Reply::text(&format!("you asked for {path}")).header("Set-Cookie", "session=verysecret"),
    });
    let folder = tempfile::tempdir().unwrap();
    let want = |token: &str| {
        let mut want = Want::new(server.url(&format!("/v1/Events?token={token}&$top=5")), Kind::Page);
        let text = format!("{{\"token\":\"{token}\",\"year\":2026}}");
        want.body = Some(Body { content_type: "application/json".to_owned(), text });
        want.headers = vec![("Authorization".to_owned(), token.to_owned())];
        want
    };
    ask(&recording(folder.path()), &want("verysecret")).await.unwrap();
    assert_eq!(server.seen()[0].headers["authorization"], "verysecret");
    for file in fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("verysecret") && !path.to_string_lossy().contains("verysecret"), "{}", path.display());
    }
    let again = ask(&replaying(folder.path()), &want("another")).await.unwrap();
    assert_eq!(again, b"you asked for /v1/Events?token=HIDDEN&$top=5");
}

#[tokio::test]
async fn pages_are_answered_in_order_and_the_last_one_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("second.json"), "[2]").unwrap();
    written(
        folder.path(),
        r#"# by hand
{"url": "https://Example.com/list", "text": "first"}

{"url": "https://example.com/list", "body": "second.json"}
{"url": "https://example.com/post", "sent": "a=1", "json": {"one": 1}}
{"url": "https://example.com/any?*", "text": "any"}
{"url": "https://example.com/any?x=1", "text": "exactly"}
{"url": "https://example.com/list", "method": "HEAD", "headers": {"Content-Length": "77"}}
{"url": "https://example.com/broken", "failure": {"unreachable": "no route"}}
"#,
    );
    let client = replaying(folder.path());
    let get = |path: &str| Want::new(format!("https://example.com{path}"), Kind::Page);
    for expected in ["first", "[2]", "[2]"] {
        assert_eq!(ask(&client, &get("/list")).await.unwrap(), expected.as_bytes());
    }
    let mut post = get("/post");
    post.body = Some(Body { content_type: "application/x-www-form-urlencoded".to_owned(), text: "a=1".to_owned() });
    assert_eq!(ask(&client, &post).await.unwrap(), b"{\"one\":1}");
    assert_eq!(ask(&client, &get("/any?x=1")).await.unwrap(), b"exactly");
    assert_eq!(ask(&client, &get("/any?x=2")).await.unwrap(), b"any");
    let (session, (_handle, stop)) = (Session::new("lines", "testvilleCA"), stop_pair());
    let facts = client.facts(&session, "https://example.com/list", &stop).await.unwrap();
    assert_eq!((facts.length, facts.bytes.len()), (Some(77), 0));
    let broken = ask(&client, &get("/broken")).await.unwrap_err();
    assert_eq!(broken, Failure::Unreachable("no route".to_owned()).into());
}

#[tokio::test]
async fn a_page_that_was_not_recorded_is_named() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "");
    let (client, (_handle, stop)) = (replaying(folder.path()), stop_pair());
    let mut want = Want::new("https://example.com/x?token=abc", Kind::Page);
    want.body = Some(Body { content_type: "text/plain".to_owned(), text: "a".to_owned() });
    let error = client.fetch(&Session::new("iqm2", "testvilleCA"), &want, &stop).await.unwrap_err();
    let expected = format!(
        "iqm2: https://example.com/x?token=HIDDEN is not in the recording {} (a POST request that sends \"a\")",
        folder.path().display()
    );
    assert_eq!(error.to_string(), expected);
    assert!(!error.trouble.is_transient());
}

#[test]
fn a_recording_with_a_mistake_is_refused_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let why = || Client::replaying(&Settings::default(), folder.path()).unwrap_err().to_string();
    assert!(why().ends_with("is no recording: it has no file recording.jsonl"), "{}", why());
    for (line, expected) in [
        ("nonsense", "expected"),
        (r#"{"url": "https://example.com/", "body": "gone.html"}"#, "there is no file \"gone.html\""),
        (r#"{"url": "https://example.com/", "body": "../x"}"#, "a file in the folder of the recording"),
        (r#"{"url": "https://example.com/", "method": "POST"}"#, "give `sent`"),
        (r#"{"url": "example.com"}"#, "should begin with https://"),
        (r#"{"url": "https://example.com/", "text": "", "json": 1}"#, "give one of body, text, json and failure"),
        (r#"{"url": "https://example.com/", "statsu": 404}"#, "unknown field `statsu`"),
    ] {
        let path = written(folder.path(), &format!("# a comment\n{line}\n"));
        assert!(why().starts_with(&format!("{}, line 2: ", path.display())), "{}", why());
        assert!(why().contains(expected), "{}", why());
    }
    let timer: Arc<dyn Timer> = Arc::new(LeapingTimer::default());
    let occupied = Recording::begin(Arc::new(Network::new(&Settings::default())), timer, folder.path()).unwrap_err();
    assert!(occupied.to_string().contains("already holds a recording"), "{occupied}");
}

#[tokio::test]
async fn a_visit_can_be_written_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    written(
        folder.path(),
        r#"{"url": "https://testville.example/listing", "text": "meeting 7 2026-02-03 Council\nfollow /agenda/7 agenda"}
{"url": "https://testville.example/agenda/7", "text": "item 7 1 Trees"}"#,
    );
    let client = replaying(folder.path());
    let slug = "https://testville.example".to_owned();
    let (site, known) = (Site { slug, zone: TimeZone::UTC, settings: serde_json::Map::new() }, Known::default());
    let (_handle, stop) = stop_pair();
    let (limits, city) = (VisitLimits::default(), "testvilleCA");
    let driver = Driver { client: &client, adapter: &LINES, site: &site, window: WINDOW, city, known: &known, limits };
    let visited = driver.visit(&stop).await.unwrap();
    assert_eq!((visited.meetings.len(), visited.meetings[0].items.len()), (1, 1));
}
