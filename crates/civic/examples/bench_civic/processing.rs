//! How long a replayed city with 40 items and 60 documents takes to be read without a model, through the engine and a
//! store on disk, how long it takes when nothing is new, and how much memory that needs.

use crate::cities::put_cities;
use crate::papers;
use bindery_civic::records::{Civic as _, Jurisdiction};
use bindery_civic::{
    analyst::Extractive,
    client::{Client, Settings},
    conductor::Conductor,
    processing::{
        self, Workshop,
        run::{CityStatus, Hearing, Processing, RunOptions, Visited},
    },
};
use bindery_engine::{Engine, Parts, Registry, stop_pair};
use bindery_store::{
    Store,
    blobs::{Blobs, LocalBlobs},
    sqlite::{Options, SqliteStore},
};
use serde_json::{Value, json};
use std::{error::Error, fs, io::Write, path::Path, sync::Arc, time::Instant};

const MEETINGS: usize = 2;
const ITEMS: usize = 40;
const DOCUMENTS: usize = 60;
/// Every so many documents one is a docx file.
const DOCX_EVERY: usize = 12;
/// The most that the whole process may ever have held.
const MOST_MEGABYTES: f64 = 400.0;

pub(crate) struct Measured {
    pub(crate) process_seconds: f64,
    pub(crate) rerun_seconds: f64,
    peak_megabytes: f64,
}

impl Measured {
    /// An error where more memory was held than may be.
    pub(crate) fn check(&self) -> Result<(), Box<dyn Error>> {
        if self.peak_megabytes <= MOST_MEGABYTES {
            return Ok(());
        }
        Err(format!("{:.0} MB were held, and {MOST_MEGABYTES:.0} MB are allowed", self.peak_megabytes).into())
    }
}

pub(crate) fn measure(out: &mut impl Write) -> Result<Measured, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let recording = folder.path().join("recording");
    fs::create_dir_all(&recording)?;
    let pages = write_recording(&recording)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let measured = runtime.block_on(async {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(Options { domains: bindery_civic::records::DOMAINS, ..Options::at(folder.path().join("bindery.db")) })?);
        let blobs: Arc<dyn Blobs> = Arc::new(LocalBlobs::open(folder.path().join("blobs"))?);
        let city = Jurisdiction {
            city_key: "testvilleWA".to_owned(),
            name: "Testville".to_owned(),
            state: "WA".to_owned(),
            vendor: "legistar".to_owned(),
            slug: "testville".to_owned(),
            tz: Some("America/Los_Angeles".to_owned()),
            settings: [("sponsors".to_owned(), Value::Bool(false))].into_iter().collect(),
            ..Jurisdiction::default()
        };
        put_cities(&store.civic(), vec![city]).await?;
        let begun = Instant::now();
        let first = visit(&store, &blobs, &recording).await?;
        let all = begun.elapsed().as_secs_f64();
        let done = &first.processed;
        if done.status != CityStatus::Completed || done.items_new != ITEMS as u64 {
            return Err(format!("expected {ITEMS} items that were read, and found {done:?}").into());
        }
        let begun = Instant::now();
        let again = visit(&store, &blobs, &recording).await?;
        let rerun_seconds = begun.elapsed().as_secs_f64();
        let nothing = &again.processed;
        let is_idle = nothing.items_processed == 0 && nothing.meetings_processed == 0 && again.sync.meetings_changed == 0;
        if !is_idle || nothing.status != CityStatus::Completed {
            return Err(format!("expected that nothing is read again, and found {again:?}").into());
        }
        writeln!(
            out,
            "{ITEMS} items with {DOCUMENTS} documents of {pages} pages: visited and read in {all:.2} s, of which reading took \
             {:.2} s; again, with nothing new: {rerun_seconds:.2} s",
            done.duration_seconds
        )?;
        Ok::<_, Box<dyn Error>>((done.duration_seconds, rerun_seconds))
    })?;
    let peak_megabytes = peak_megabytes()?;
    writeln!(
        out,
        "the most memory that was held until then: {peak_megabytes:.0} MB; {MOST_MEGABYTES:.0} MB are allowed"
    )?;
    Ok(Measured { process_seconds: measured.0, rerun_seconds: measured.1, peak_megabytes })
}

/// As `bindery civic sync-and-process-city` does.
async fn visit(store: &Arc<dyn Store>, blobs: &Arc<dyn Blobs>, recording: &Path) -> Result<Visited, Box<dyn Error>> {
    let client = Arc::new(Client::replaying(&Settings::default(), recording)?);
    let hearing = Arc::new(Hearing::default());
    let workshop = Workshop::new(Arc::clone(store), Arc::clone(blobs), Arc::clone(&client), Arc::new(Extractive))
        .with_observer(Arc::clone(&hearing) as _);
    let mut registry = Registry::with_builtin();
    registry.register_workflow(bindery_civic::WORKFLOW);
    processing::register(&mut registry, Arc::new(workshop));
    let engine = Engine::new(Parts::new(Arc::clone(store), Arc::clone(blobs), registry));
    engine.register_builtin_workflows().await?;
    let conductor =
        Conductor::new(Arc::clone(store), client, bindery_civic::vendor::adapters()).with_pages(Arc::clone(blobs));
    let work = Processing::new(engine, hearing, RunOptions::default());
    let (_handle, stop) = stop_pair();
    let mut results = work.sync_and_process_cities(&conductor, &["testvilleWA".to_owned()], &stop).await;
    Ok(results.pop().ok_or("no city was visited")?)
}

/// The Web API of a city, and its papers; how many pages they have.
fn write_recording(folder: &Path) -> Result<usize, Box<dyn Error>> {
    let api = "https://webapi.legistar.com/v1/testville";
    let (mut lines, mut events, mut pages) = (Vec::new(), Vec::new(), 0);
    let mut documents: Vec<Vec<Value>> = vec![Vec::new(); ITEMS];
    for number in 0..DOCUMENTS {
        let count = 3 + number * 7 % 18;
        pages += count;
        let is_docx = number % DOCX_EVERY == DOCX_EVERY - 1;
        let name = format!("report-{number}.{}", if is_docx { "docx" } else { "pdf" });
        let bytes = if is_docx { papers::docx(number, count) } else { papers::pdf(number, count)? };
        fs::write(folder.join(&name), bytes)?;
        let url = format!("https://testville.legistar1.com/testville/attachments/{name}");
        lines.push(json!({"url": &url, "body": &name}));
        if let Some(item) = documents.get_mut(number % ITEMS) {
            item.push(
                json!({"MatterAttachmentId": 1000 + number, "MatterAttachmentName": format!("Staff Report {number}"),
                             "MatterAttachmentHyperlink": url}),
            );
        }
    }
    for meeting in 0..MEETINGS {
        let id = 5000 + meeting;
        events.push(json!({
            "EventId": id, "EventGuid": format!("guid-{id}"), "EventBodyId": 100, "EventBodyName": "City Council",
            "EventDate": format!("2026-03-{:02}T00:00:00", 10 + meeting * 7), "EventTime": "6:30 PM",
            "EventAgendaStatusName": "Final", "EventLocation": "Council Chamber", "EventItems": [],
            "EventInSiteURL": format!("https://testville.legistar.com/MeetingDetail.aspx?LEGID={id}"),
        }));
        let items: Vec<Value> = (0..ITEMS)
            .filter(|item| item % MEETINGS == meeting)
            .map(|item| {
                json!({
                    "EventItemId": 7000 + item, "EventItemAgendaSequence": item + 1,
                    "EventItemAgendaNumber": format!("{}.", item / MEETINGS + 1),
                    "EventItemTitle": format!("Contract {item} for the repair of {}", papers::subject(item)),
                    "EventItemMatterId": 8000 + item, "EventItemMatterFile": format!("CON 2026-{item:03}"),
                    "EventItemMatterType": "Contract", "EventItemMatterAttachments": documents.get(item),
                })
            })
            .collect();
        lines.push(json!({"url": format!("{api}/Events/{id}/EventItems?*"), "json": items}));
        lines.push(
            json!({"url": format!("https://testville.legistar.com/MeetingDetail.aspx?LEGID={id}"), "status": 404}),
        );
    }
    lines.push(json!({"url": format!("{api}/Events?*"), "json": events, "at": "2026-03-02T17:00:00Z"}));
    lines.push(json!({"url": format!("{api}/OfficeRecords?*"), "json": []}));
    // The clock of a replay starts with the first line.
    lines.reverse();
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(folder.join("recording.jsonl"), text.join("\n"))?;
    Ok(pages)
}

/// The most memory that this process has held so far.
fn peak_megabytes() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the kernel does not tell the peak")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024.0)
}
