//! How long a replayed visit with 200 meetings takes, from the recording to the last commit on SQLite.

use crate::cities::put_cities;
use bindery_civic::records::{Civic as _, Jurisdiction};
use bindery_civic::{
    client::{Client, Settings},
    sync::{self, Orchestrator},
    vendor::{Site, Window, adapter},
    visit::{Driver, Known, VisitLimits},
};
use bindery_engine::stop_pair;
use bindery_store::{
    Store,
    sqlite::{Options, SqliteStore},
};
use jiff::{
    ToSpan as _,
    civil::{Date, date},
    tz::TimeZone,
};
use serde_json::{Value, json};
use std::{error::Error, fs, io::Write, path::Path, sync::Arc, time::Instant};

const MEETINGS: i32 = 200;
const ITEMS: i32 = 20;

const FIRST_DAY: Date = date(2026, 3, 1);

pub(crate) fn measure(out: &mut impl Write) -> Result<f64, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    write_recording(folder.path())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let seconds = runtime.block_on(async {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(Options {
            domains: bindery_civic::records::DOMAINS,
            ..Options::at(folder.path().join("bindery.db"))
        })?);
        let city = Jurisdiction {
            city_key: "testvilleWA".to_owned(),
            name: "Testville".to_owned(),
            state: "WA".to_owned(),
            vendor: "legistar".to_owned(),
            slug: "testville".to_owned(),
            tz: Some("America/Los_Angeles".to_owned()),
            ..Jurisdiction::default()
        };
        put_cities(&store.civic(), vec![city.clone()]).await?;
        let begun = Instant::now();
        sync(&store, &city, folder.path(), out).await?;
        let first = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        sync(&store, &city, folder.path(), out).await?;
        writeln!(out, "the same again: {:.2} s", begun.elapsed().as_secs_f64())?;
        Ok::<f64, Box<dyn Error>>(first)
    })?;
    Ok(seconds)
}

async fn sync(
    store: &Arc<dyn Store>,
    city: &Jurisdiction,
    recording: &Path,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let (_handle, stop) = stop_pair();
    let client = Client::replaying(&Settings::default(), recording)?;
    let settings = [("sponsors".to_owned(), Value::Bool(false))].into_iter().collect();
    let site = Site { slug: city.slug.clone(), zone: TimeZone::get("America/Los_Angeles")?, settings };
    let window = Window { from: FIRST_DAY, to: FIRST_DAY.checked_add(60.days())? };
    let driver = Driver {
        client: &client,
        adapter: adapter("legistar").ok_or("there is no adapter for legistar")?,
        site: &site,
        window,
        city: &city.city_key,
        known: &Known::default(),
        limits: VisitLimits { pages: 10_000, ..VisitLimits::default() },
    };
    let begun = Instant::now();
    let visited = driver.visit(&stop).await?;
    let fetched = begun.elapsed().as_secs_f64();
    let found = sync::Visited {
        vendor: "legistar".to_owned(),
        window,
        meetings: visited.meetings,
        is_complete: visited.is_complete,
    };
    let stats = Orchestrator::new(Arc::clone(store)).sync_visit(city, found).await?;
    writeln!(
        out,
        "{} pages in {fetched:.2} s; {} meetings with {} items and {} jobs stored in {:.2} s; {} warnings",
        visited.pages,
        stats.meetings_processed,
        stats.items_stored,
        stats.jobs_enqueued,
        begun.elapsed().as_secs_f64() - fetched,
        visited.warnings.len(),
    )?;
    Ok(())
}

/// The Web API of a city that meets a lot.
fn write_recording(folder: &Path) -> Result<(), Box<dyn Error>> {
    let api = "https://webapi.legistar.com/v1/testville";
    let mut lines = Vec::new();
    let mut events = Vec::new();
    for number in 0..MEETINGS {
        let id = 5000 + number;
        let day = FIRST_DAY.checked_add((number % 60).days())?;
        events.push(json!({
            "EventId": id, "EventGuid": format!("guid-{id}"), "EventBodyId": 100 + number % 7,
            "EventBodyName": format!("Committee {}", number % 7), "EventDate": format!("{day}T00:00:00"),
            "EventTime": "6:30 PM", "EventAgendaStatusName": "Final", "EventLocation": "Council Chamber",
            "EventAgendaFile": format!("https://testville.legistar1.com/agenda/{id}.pdf"), "EventItems": [],
        }));
        let items: Vec<Value> = (1..=ITEMS).map(|place| item(id, place)).collect();
        lines.push(json!({"url": format!("{api}/Events/{id}/EventItems?*"), "json": items}));
    }
    lines.push(json!({"url": format!("{api}/Events?*"), "json": events}));
    lines.push(json!({"url": "https://webapi.legistar.com/robots.txt", "status": 404}));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    Ok(fs::write(folder.join("recording.jsonl"), text.join("\n"))?)
}

fn item(meeting: i32, place: i32) -> Value {
    let id = meeting * 100 + place;
    let title = match place {
        1 => "Call to order".to_owned(),
        2 => "Approval of the minutes of the last meeting".to_owned(),
        _ => format!("Ordinance {id} concerning the use of parcel {place} at the harbour, and amending the code"),
    };
    let file = (place > 2).then(|| format!("ORD 2026-{id}"));
    let documents: Vec<Value> = (0..if place > 2 { 2 } else { 0 })
        .map(|number| {
            json!({"MatterAttachmentId": id * 10 + number, "MatterAttachmentName": format!("Staff Report {number}"),
                   "MatterAttachmentHyperlink": format!("https://testville.legistar1.com/{id}/{number}.pdf")})
        })
        .collect();
    json!({
        "EventItemId": id, "EventItemAgendaSequence": place, "EventItemAgendaNumber": format!("{place}."),
        "EventItemTitle": title, "EventItemMatterId": file.as_ref().map(|_| id), "EventItemMatterFile": file,
        "EventItemMatterType": "Ordinance", "EventItemMatterAttachments": documents,
    })
}
