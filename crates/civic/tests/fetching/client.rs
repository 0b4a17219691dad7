//! What the client promises of one page.

use crate::{
    server::{Reply, Server},
    vendor::client,
};
use bindery_civic::{
    client::{
        Arrived, Client, Condition, Failure, FetchError, Fetched, Kind, LeapingTimer, Network, Session, Settings,
        Trouble, Want,
    },
    vendor::page::Body,
};
use bindery_engine::stop_pair;
use std::{sync::Arc, time::Duration};

async fn ask(client: &Client, want: &Want) -> Result<Fetched, FetchError> {
    let (_handle, stop) = stop_pair();
    client.fetch(&Session::new("lines", "testvilleCA"), want, &stop).await
}

async fn page(client: &Client, url: String) -> Arrived {
    match ask(client, &Want::new(url, Kind::Page)).await.unwrap() {
        Fetched::Page(page) => page,
        Fetched::Unchanged => panic!("nothing was known of it"),
    }
}

async fn trouble(client: &Client, url: String) -> Trouble {
    ask(client, &Want::new(url, Kind::Page)).await.unwrap_err().trouble
}

#[tokio::test]
async fn a_page_arrives_unpacked_and_the_server_knows_who_asked() {
    // JSON that is called HTML passes on.
    let server = Server::start(|_, _| Reply::html("{\"value\": []}").gzipped().header("ETag", "\"1\""));
    let settings = Settings { contact: Some("https://example.com/contact".to_owned()), ..Settings::default() };
    let arrived = page(&client(&settings), server.url("/a b")).await;
    assert_eq!(arrived.bytes, b"{\"value\": []}");
    assert_eq!(arrived.content_type.as_deref(), Some("text/html; charset=utf-8"));
    assert_eq!(arrived.etag.as_deref(), Some("\"1\""));
    let seen = &server.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", "/a%20b"));
    let agent = format!("bindery/{} (+https://example.com/contact)", env!("CARGO_PKG_VERSION"));
    assert_eq!(seen.headers["user-agent"], agent);
    assert_eq!(seen.headers["accept-encoding"], "gzip");
}

#[tokio::test]
async fn redirects_are_followed_and_cookies_kept_on_the_way() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/begin" => Reply::redirect("deep/door"),
        // Sends everybody back once, to see whether they keep cookies.
        "/deep/door" if !seen.headers.contains_key("cookie") => {
            Reply::redirect("door").header("Set-Cookie", "session=abc; path=/")
        }
        "/deep/door" => Reply::redirect("//HOST/at-last".replace("HOST", &seen.headers["host"]).as_str()),
        "/at-last" => Reply::text("here"),
        _ => Reply::new(404),
    });
    let mut want = Want::new(server.url("/begin"), Kind::Page);
    want.body = Some(Body { content_type: "application/json".to_owned(), text: "{\"year\":2026}".to_owned() });
    let Fetched::Page(page) = ask(&client(&Settings::default()), &want).await.unwrap() else { panic!("a page") };
    assert_eq!((page.url, page.bytes.as_slice()), (server.url("/at-last"), &b"here"[..]));
    let seen = server.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].body.as_str()), ("POST", "{\"year\":2026}"));
    assert_eq!(seen[0].headers["content-type"], "application/json");
    assert_eq!(seen[1].method, "GET", "as browsers do behind a 302");
}

#[tokio::test]
async fn a_redirect_loop_is_one_clear_error() {
    let server = Server::start(|seen, _| match seen.path.strip_prefix("/n") {
        _ if seen.path == "/robots.txt" => Reply::new(404),
        Some(number) => Reply::redirect(&format!("/n{}", number.parse::<u32>().unwrap() + 1)),
        None if seen.path == "/a" => Reply::redirect("/b"),
        None => Reply::redirect("/a"),
    });
    let client = client(&Settings::default());
    let error = ask(&client, &Want::new(server.url("/a"), Kind::Page)).await.unwrap_err();
    let (a, b) = (server.url("/a"), server.url("/b"));
    assert_eq!(error.to_string(), format!("lines: {a} goes round in circles: {a} → {b} → {a}"));
    assert!(!error.trouble.is_transient() && server.seen().len() <= 5);
    assert_eq!(trouble(&client, server.url("/n1")).await, Trouble::TooManyRedirects(10));
    let elsewhere = Server::start(|_, _| Reply::redirect("ftp://example.com/"));
    assert!(matches!(trouble(&client, elsewhere.url("/")).await, Trouble::BadRedirect { .. }));
}

#[tokio::test]
async fn a_page_that_is_known_is_asked_for_with_a_condition() {
    let server = Server::start(|seen, _| match seen.headers.get("if-none-match") {
        Some(etag) if etag == "\"7\"" => Reply::new(304),
        _ => Reply::text("new"),
    });
    let client = client(&Settings::default());
    let mut want = Want::new(server.url("/"), Kind::Page);
    let modified = Some("Wed, 21 Oct 2015 07:28:00 GMT".to_owned());
    want.condition = Some(Condition { etag: Some("\"7\"".to_owned()), last_modified: modified.clone() });
    assert_eq!(ask(&client, &want).await.unwrap(), Fetched::Unchanged);
    assert_eq!(server.seen()[0].headers.get("if-modified-since"), modified.as_ref());
    want.condition = Some(Condition { etag: Some("\"6\"".to_owned()), last_modified: None });
    assert!(matches!(ask(&client, &want).await.unwrap(), Fetched::Page(_)));
    // Nobody asked whether it was.
    let server = Server::start(|_, _| Reply::new(304));
    assert_eq!(trouble(&client, server.url("/")).await, Trouble::Status(304));
}

#[tokio::test]
async fn what_is_too_large_is_refused_by_its_length_or_at_the_limit() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/said" => Reply::new(200).header("Content-Length", "2000000000").hangs(),
        "/endless" => Reply::new(200).endless(),
        "/bomb" => Reply::new(200).body("text/plain", &vec![b' '; 1_000_000]).gzipped(),
        _ => Reply::new(404),
    });
    let mut settings = Settings::default();
    assert_eq!((settings.page.bytes, settings.document.bytes), (20_000_000, 200_000_000));
    settings.page.bytes = 500_000;
    let client = client(&settings);
    let refused = ask(&client, &Want::new(server.url("/said"), Kind::Document)).await.unwrap_err();
    let expected = "is larger than the 200.0 MB that are taken: it has 2000.0 MB";
    assert!(refused.to_string().ends_with(expected), "{refused}");
    for path in ["/endless", "/bomb"] {
        let limit = 500_000;
        assert_eq!(trouble(&client, server.url(path)).await, Failure::TooLarge { limit, said: None }.into(), "{path}");
    }
}

#[tokio::test]
async fn what_breaks_off_or_never_comes_may_pass() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/half" => Reply::text("half a pa").breaks_off(),
        "/slow" => Reply::text("it will").hangs(),
        _ => Reply::new(404),
    });
    let mut settings = Settings::default();
    settings.document.total = Duration::from_millis(300);
    let client = client(&settings);
    let half = trouble(&client, server.url("/half")).await;
    assert!(half.is_transient() && matches!(half, Trouble::Exchange(Failure::CutShort(_))), "{half:?}");
    let slow = ask(&client, &Want::new(server.url("/slow"), Kind::Document)).await.unwrap_err().trouble;
    assert_eq!(slow, Failure::Late(settings.document.total).into());
    assert!(slow.is_transient());
    assert_eq!(trouble(&client, server.url("/x")).await, Trouble::Status(404));
    assert_eq!(trouble(&client, "ftp://x/".to_owned()).await.to_string(), "should begin with https:// or http://");
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    let server = Server::start(|seen, before| match before {
        _ if seen.path == "/robots.txt" => Reply::new(404),
        0 => Reply::new(429).header("Retry-After", "90"),
        _ => Reply::text("well"),
    });
    let client = client(&Settings::default());
    assert_eq!(trouble(&client, server.url("/")).await, Trouble::Status(429));
    let before = client.timer().now();
    page(&client, server.url("/")).await;
    assert_eq!(client.timer().now().since(before), Duration::from_secs(90));
}

#[tokio::test]
async fn a_host_that_keeps_failing_is_not_asked() {
    let server = Server::start(|seen, _| if seen.path == "/robots.txt" { Reply::new(404) } else { Reply::new(500) });
    let client = client(&Settings::default());
    for _ in 0..5 {
        assert_eq!(trouble(&client, server.url("/")).await, Trouble::Status(500));
    }
    let down = trouble(&client, server.url("/")).await;
    assert!(matches!(down, Trouble::HostDown { failures: 5, .. }), "{down:?}");
    assert!(!down.is_transient());
    assert_eq!(server.times("/"), 5);
}

#[tokio::test]
async fn robots_txt_is_obeyed_and_asked_for_once() {
    let server = Server::start(|seen, before| match seen.path.as_str() {
        "/robots.txt" if before == 0 => Reply::new(503),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private\nCrawl-delay: 30"),
        _ => Reply::text("open"),
    });
    let client = client(&Settings::default());
    let unread = trouble(&client, server.url("/open")).await;
    assert!(unread.is_transient() && matches!(unread, Trouble::RobotsUnread(_)), "{unread:?}");
    assert!(server.seen().is_empty(), "a site that cannot say what it allows is not asked");
    page(&client, server.url("/open")).await;
    let before = client.timer().now();
    page(&client, server.url("/open")).await;
    assert!(client.timer().now().since(before) >= Duration::from_secs(30));
    let refused = trouble(&client, server.url("/private/x")).await;
    assert_eq!(refused, Trouble::Robots("Disallow: /private".to_owned()));
    assert_eq!((server.times("/private/x"), server.times("/robots.txt")), (0, 2));
}

#[tokio::test]
async fn the_document_behind_a_page_is_fetched() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/View.aspx?id=7" => Reply::html("<p>One moment. <a href='files/packet.pdf'>Download</a>"),
        "/files/packet.pdf" => Reply::new(200).body("application/octet-stream", b"%PDF-1.7"),
        "/Documents/DownloadFileBytes/a" => Reply::new(200).body("application/pdf", b"%PDF-1.4"),
        _ => Reply::new(404),
    });
    let (client, session) = (client(&Settings::default()), Session::new("onbase", "testvilleCA"));
    let (_handle, stop) = stop_pair();
    for (path, begins) in [("/View.aspx?id=7", "%PDF-1.7"), ("/Documents/ViewDocument/a", "%PDF-1.4")] {
        let fetched = client.document(&session, &server.url(path), None, &stop).await.unwrap();
        let Fetched::Page(document) = fetched else { panic!("a document") };
        assert_eq!(document.bytes, begins.as_bytes(), "{path}");
    }
    let error = client.document(&session, &server.url("/gone.pdf"), None, &stop).await.unwrap_err();
    assert!(error.to_string().contains("404 Not Found"), "{error}");
}

#[tokio::test]
async fn s001_61_a_document_can_be_asked_about_without_being_fetched() {
    let server = Server::start(|seen, _| match (seen.method.as_str(), seen.path.as_str()) {
        ("HEAD", "/a.pdf") => Reply::new(200)
            .header("Content-Length", "2000000000")
            .header("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT"),
        ("HEAD", "/slow.pdf") => Reply::new(200).silent(),
        _ => Reply::new(404),
    });
    let mut settings = Settings::default();
    assert_eq!(settings.facts.total, Duration::from_secs(3));
    let (patient, session) = (client(&settings), Session::new("legistar", "testvilleCA"));
    let (_handle, stop) = stop_pair();
    let facts = patient.facts(&session, &server.url("/a.pdf"), &stop).await.unwrap();
    assert_eq!((facts.length, facts.bytes.len()), (Some(2_000_000_000), 0));
    assert_eq!(facts.last_modified.as_deref(), Some("Wed, 21 Oct 2015 07:28:00 GMT"));
    settings.facts.total = Duration::from_millis(300);
    let late = client(&settings).facts(&session, &server.url("/slow.pdf"), &stop).await.unwrap_err();
    assert_eq!(late.trouble, Failure::Late(settings.facts.total).into());
}

#[tokio::test]
async fn pages_do_not_lead_to_this_machine() {
    let server = Server::start(|_, _| Reply::text("what is not meant for others"));
    let (settings, timer) = (Settings::default(), Arc::new(LeapingTimer::default()));
    let guarded = Client::new(&settings, Arc::new(Network::new(&settings)), timer);
    let refused = trouble(&guarded, server.url("/")).await;
    assert!(refused.to_string().contains("it leads to 127.0.0.1, which is this machine"), "{refused}");
    assert!(!refused.is_transient() && server.times("/") == 0);
}
