//! What a visit promises.

use crate::{
    server::{Reply, Server},
    vendor::{client, driver, site},
};
use bindery_civic::{
    client::Settings,
    vendor::PageFault,
    visit::{Findings, Known, VisitError, VisitFault},
};
use bindery_engine::stop_pair;

async fn visit_with(server: &Server, known: &Known) -> Result<Findings, VisitError> {
    let (client, site) = (client(&Settings::default()), site(server));
    let (_handle, stop) = stop_pair();
    driver(&client, &site, known).visit(&stop).await
}

async fn visit(server: &Server) -> Result<Findings, VisitError> {
    visit_with(server, &Known::default()).await
}

/// A site of which only the listing is there.
fn listing(text: &'static str) -> Server {
    Server::start(move |seen, _| if seen.path == "/listing" { Reply::text(text) } else { Reply::new(404) })
}

fn titles(visited: &Findings) -> Vec<String> {
    let items = |count| if count == 0 { String::new() } else { format!(" ({count})") };
    let shown = visited.meetings.iter().map(|meeting| {
        format!("{} {}{}", meeting.vendor_id, meeting.title.as_deref().unwrap_or("-"), items(meeting.items.len()))
    });
    shown.collect()
}

#[tokio::test]
async fn s001_68_a_visit_needs_nothing_but_the_adapter() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/listing" => Reply::text(
            "meeting 9 2026-02-17 Council\nmeeting 7 2026-02-03 Parks Board\nmeeting 1 2025-12-01 Past\nmeeting 8 - Undated\n\
             follow /agenda/9 agenda\nfollow /agenda/7 agenda\nfollow /detail/7 detail optional\nnonsense",
        ),
        "/agenda/9" => {
            Reply::text("item 9 1 Budget\nitem 9 2 Zoning\nfollow /listing listing\nfollow /detail/9 detail")
        }
        "/agenda/7" => Reply::text("item 7 1 Trees"),
        "/detail/9" => Reply::text("item 9 2 Zoning of Main Street"),
        _ => Reply::new(404),
    });
    let visited = visit(&server).await.unwrap();
    assert_eq!(titles(&visited), ["9 Council (2)", "7 Parks Board (1)", "8 Undated"], "pieces put together, in order");
    assert_eq!(visited.meetings[0].items[1].title, "Zoning of Main Street");
    assert!(visited.meetings[0].has_agenda && !visited.meetings[2].has_agenda);
    assert_eq!((visited.outside_window, visited.pages, visited.is_complete), (1, 4, true));
    let gone = format!("lines: {} answered with status 404 Not Found", server.url("/detail/7"));
    assert_eq!(visited.warnings, [format!("{}: the line \"nonsense\" says nothing", server.url("/listing")), gone]);
    assert!(visited.bytes > 300 && visited.alarms.is_empty());
}

#[tokio::test]
async fn a_page_that_must_be_there_fails_the_visit_with_the_reason() {
    let failed = visit(&listing("meeting 7 2026-02-03 Council\nfollow /agenda/7 agenda")).await.unwrap_err();
    assert!(failed.to_string().starts_with("lines: http://127.0.0.1"), "{failed}");
    assert!(failed.to_string().ends_with("/agenda/7 answered with status 404 Not Found"), "{failed}");
    assert_eq!(failed.pages, 1);
}

#[tokio::test]
async fn what_cannot_be_had_or_read_is_asked_for_elsewhere() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/listing" => Reply::text(
            "meeting 7 2026-02-03 Council\nmeeting 8 2026-02-04 Parks\n\
             follow /gone/7 agenda or=/agenda/7\nfollow /html/8 agenda or=/agenda/8",
        ),
        "/html/8" => Reply::text("<p>not what it should be"),
        "/agenda/7" => Reply::text("item 7 1 Trees"),
        "/agenda/8" => Reply::text("item 8 1 Swings"),
        _ => Reply::new(404),
    });
    let visited = visit(&server).await.unwrap();
    assert_eq!(titles(&visited), ["7 Council (1)", "8 Parks (1)"]);
    assert_eq!((visited.warnings.len(), visited.is_complete), (2, true), "{:?}", visited.warnings);
}

#[tokio::test]
async fn s001_17_three_attempts_for_what_may_pass_and_other_cities_go_on() {
    // ▲ The seed makes one attempt.
    let (broken, shaky) = (
        Server::start(|seen, _| if seen.path == "/robots.txt" { Reply::new(404) } else { Reply::new(503) }),
        Server::start(|seen, before| match (seen.path.as_str(), before) {
            ("/robots.txt", _) => Reply::new(404),
            (_, 0) => Reply::new(500),
            (_, 1) => Reply::text("meeting").breaks_off(),
            _ => Reply::text("meeting 7 2026-02-03 Council"),
        }),
    );
    let (client, known) = (client(&Settings::default()), Known::default());
    let (_handle, stop) = stop_pair();
    let sites = (site(&broken), site(&shaky));
    let (one, other) = (driver(&client, &sites.0, &known), driver(&client, &sites.1, &known));
    let (one, other) = tokio::join!(one.visit(&stop), other.visit(&stop));
    assert!(one.unwrap_err().to_string().ends_with("503 Service Unavailable"));
    assert_eq!(titles(&other.unwrap()), ["7 Council"]);
    assert_eq!((broken.times("/listing"), shaky.times("/listing")), (3, 3));
    let gone = Server::start(|_, _| Reply::new(404));
    assert!(visit(&gone).await.is_err());
    assert_eq!(gone.times("/listing"), 1, "what does not pass is not tried again");
}

#[tokio::test]
async fn an_unchanged_listing_still_leads_to_agendas_that_have_changed() {
    let server = Server::start(|seen, before| match seen.path.as_str() {
        "/listing" if seen.headers.get("if-none-match").is_some_and(|etag| etag == "\"1\"") => Reply::new(304),
        "/listing" => Reply::text("meeting 7 2026-02-03 Council\nfollow /agenda/7 agenda").header("ETag", "\"1\""),
        "/agenda/7" if before == 0 => Reply::text("item 7 1 Trees"),
        "/agenda/7" => Reply::text("item 7 1 Trees\nitem 7 2 Budget"),
        _ => Reply::new(404),
    });
    let first = visit(&server).await.unwrap();
    assert_eq!((titles(&first), first.unchanged), (vec!["7 Council (1)".to_owned()], 0));
    let second = visit_with(&server, &first.known).await.unwrap();
    assert_eq!((titles(&second), second.unchanged), (vec!["7 Council (2)".to_owned()], 1));
    assert_eq!((second.pages, &second.warnings), (2, &Vec::new()));
    // And so the third time: what is known of the page has not been lost.
    assert_eq!(visit_with(&server, &second.known).await.unwrap().unchanged, 1);
    // Known without its body, e.g. read back from where only the rest was kept: the whole page is asked for.
    let text = serde_json::to_string(&first.known).unwrap();
    let without_bodies: Known = serde_json::from_str(&text).unwrap();
    let again = visit_with(&server, &without_bodies).await.unwrap();
    assert_eq!((titles(&again), again.unchanged), (vec!["7 Council (2)".to_owned()], 0));
}

#[tokio::test]
async fn a_page_that_gives_nothing_any_more_is_an_alarm_that_says_what_changed() {
    let server = Server::start(|seen, before| match (seen.path.as_str(), before) {
        ("/listing", 0) => Reply::text("meeting 7 2026-02-03 Council\nmeeting 8 2026-02-10 Council"),
        ("/listing", 1) => Reply::text("row 7 2026-02-03 Council"),
        ("/listing", _) => Reply::text("follow /agenda agenda optional"),
        _ => Reply::new(404),
    });
    let first = visit(&server).await.unwrap();
    assert_eq!(first.new_shapes.len(), 1);
    assert_eq!((first.new_shapes[0].purpose.as_str(), first.new_shapes[0].layout.as_str()), ("listing", "meeting"));
    let second = visit_with(&server, &first.known).await.unwrap();
    let alarms: Vec<String> = second.alarms.iter().map(ToString::to_string).collect();
    let expected = format!(
        "{} (listing) gave 2 meetings on an earlier visit and gives none now: meeting was there 2 times and is gone",
        server.url("/listing")
    );
    assert_eq!(alarms, [expected]);
    // It stays one until there is something again, and a page of another build is shown as such.
    let third = visit_with(&server, &second.known).await.unwrap();
    assert!(third.alarms[0].to_string().ends_with("is gone; follow is new (1 times)"), "{}", third.alarms[0]);
    assert_eq!(third.new_shapes[0].layout, "follow");
}

#[tokio::test]
async fn an_address_that_changes_from_visit_to_visit_is_compared_by_its_purpose() {
    let server = Server::start(|seen, before| match seen.path.as_str() {
        "/listing" if before == 0 => Reply::text("meeting 7 2026-02-03 Council\nfollow /agenda/7 agenda"),
        "/listing" => Reply::text("meeting 8 2026-02-10 Council\nfollow /agenda/8 agenda"),
        "/agenda/7" => Reply::text("item 7 1 Trees"),
        _ => Reply::text(""),
    });
    let first = visit(&server).await.unwrap();
    let second = visit_with(&server, &first.known).await.unwrap();
    assert_eq!(second.alarms.len(), 1);
    assert_eq!((second.alarms[0].purpose.as_str(), second.alarms[0].before.items), ("agenda", 1));
}

#[tokio::test]
async fn pages_and_depth_have_limits() {
    // Each page leads to another.
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/robots.txt" => Reply::new(404),
        "/listing" => Reply::text("meeting 7 2026-02-03 Council\nfollow /x agenda"),
        path => Reply::text(&format!("follow {path}x agenda\nfollow {path} agenda")),
    });
    let visited = visit(&server).await.unwrap();
    assert_eq!((titles(&visited), visited.pages), (vec!["7 Council".to_owned()], 8));
    assert!(!visited.is_complete && visited.warnings[0].contains("deeper than 8 steps"), "{:?}", visited.warnings);

    let many = Server::start(|seen, _| match seen.path.as_str() {
        "/listing" => {
            Reply::text(&(0..50).map(|n| format!("follow /{n} agenda optional")).collect::<Vec<_>>().join("\n"))
        }
        _ => Reply::text("item 7 1 Trees"),
    });
    let (client, site, known) = (client(&Settings::default()), site(&many), Known::default());
    let (_handle, stop) = stop_pair();
    let mut driver = driver(&client, &site, &known);
    assert_eq!(driver.limits.pages, 2000);
    driver.limits.pages = 11;
    let visited = driver.visit(&stop).await.unwrap();
    assert_eq!((visited.pages, visited.is_complete), (11, false));
    assert_eq!(visited.warnings, ["40 pages were not fetched: a visit ends after 11"]);
}

#[tokio::test]
async fn a_page_that_several_want_is_fetched_once() {
    let server = Server::start(|seen, _| match seen.path.as_str() {
        "/listing" => Reply::text("meeting 7 2026-02-03 A\nfollow /x agenda 7\nfollow /x agenda 8\nfollow /x agenda 7"),
        _ => Reply::text("item 7 1 Trees"),
    });
    let visited = visit(&server).await.unwrap();
    assert_eq!((titles(&visited), visited.pages, server.times("/x")), (vec!["7 A (1)".to_owned()], 2, 1));
}

#[tokio::test]
async fn two_meetings_with_one_id_are_told_apart_by_a_warning() {
    let server = listing("meeting 7 2026-02-03 A\nmeeting 7 2026-02-03 A\nmeeting 7 2026-02-24 B\nmeeting  - C");
    let visited = visit(&server).await.unwrap();
    assert_eq!(titles(&visited), ["7 A"]);
    assert_eq!(visited.warnings.len(), 2, "{:?}", visited.warnings);
    assert!(visited.warnings[0].contains("two meetings have the id \"7\", on 2026-02-03 and on 2026-02-24"));
    assert!(visited.warnings[1].contains("has no id"));
}

#[tokio::test]
async fn login_pages_half_pages_and_readers_mistakes_are_faults_of_the_page() {
    let fault = async |reply: Reply| {
        let server = Server::start(move |_, _| reply.clone());
        match visit(&server).await.unwrap_err().fault {
            VisitFault::Page(fault) => fault,
            other => panic!("{other:?}"),
        }
    };
    let login = "<html><form><input name=user><INPUT TYPE='Password'></form></html>";
    assert!(matches!(fault(Reply::html(login)).await, PageFault::Login { .. }));
    assert!(matches!(fault(Reply::html("<html><body><table><tr><td>3 Feb")).await, PageFault::CutShort { .. }));
    assert!(matches!(fault(Reply::html("<html></html>")).await, PageFault::Unexpected { .. }));
    assert!(fault(Reply::text("stumble")).await.to_string().contains("stumbles over"));
}

#[tokio::test]
async fn a_site_that_cannot_be_right_is_not_asked() {
    let (client, known) = (client(&Settings::default()), Known::default());
    let mut site = site(&listing(""));
    site.slug.push_str(" CA");
    let (_handle, stop) = stop_pair();
    let failed = driver(&client, &site, &known).visit(&stop).await.unwrap_err();
    assert!(failed.to_string().contains("has a space in it"), "{failed}");
}

#[tokio::test]
async fn nothing_that_a_visit_says_or_remembers_holds_a_token() {
    let server = Server::start(|seen, before| match seen.path.as_str() {
        "/robots.txt" => Reply::new(404),
        // The token that was sent, and not the word in its place.
        path if !path.contains("token=verysecret") => Reply::new(401),
        _ if before == 0 => Reply::text("meeting 7 2026-02-03 Council\nnonsense").header("ETag", "\"1\""),
        _ if before == 1 => Reply::new(304),
        _ => Reply::html("<html></html>"),
    });
    let (client, mut site) = (client(&Settings::default()), site(&server));
    site.slug.push_str("/?token=verysecret&path=");
    let (_handle, stop) = stop_pair();
    let first = driver(&client, &site, &Known::default()).visit(&stop).await.unwrap();
    let second = driver(&client, &site, &first.known).visit(&stop).await.unwrap();
    let failed = driver(&client, &site, &second.known).visit(&stop).await.unwrap_err();
    assert_eq!((first.meetings.len(), second.meetings.len(), second.unchanged), (1, 1, 1));
    let said = format!("{:?} {:?} {failed} {failed:?}", first, serde_json::to_string(&second.known).unwrap());
    assert!(!said.contains("verysecret") && said.contains("token=HIDDEN"), "{said}");
}

#[tokio::test]
async fn a_site_that_is_wrong_a_thousand_times_says_so_in_few_words() {
    let server = Server::start(|_, _| Reply::text(&"nonsense\n".repeat(1000)));
    let visited = visit(&server).await.unwrap();
    assert_eq!((visited.warnings.len(), visited.warnings[200].as_str()), (201, "and 800 warnings more"));
}
