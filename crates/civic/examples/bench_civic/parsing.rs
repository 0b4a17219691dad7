//! How fast recorded pages are parsed: each again and again, the slowest counts.

use bindery_civic::vendor::{FetchedPage, Site, Window, adapters};
use jiff::{civil::Date, tz::TimeZone};
use serde_json::Map;
use std::{
    borrow::Cow,
    error::Error,
    fs,
    hint::black_box,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Long enough to be sure of each page.
const EACH: Duration = Duration::from_millis(300);

/// What is smaller measures the clock.
const LEAST_BYTES: usize = 20_000;

pub(crate) fn measure(fixtures: &Path, out: &mut impl Write) -> Result<f64, Box<dyn Error>> {
    let site = Site { slug: "example".to_owned(), zone: TimeZone::UTC, settings: Map::new() };
    let window = Window { from: Date::MIN, to: Date::MAX };
    let mut slowest = f64::INFINITY;
    for adapter in adapters() {
        let folder = fixtures.join(if adapter.name() == "chicago" { "chicago_elms" } else { adapter.name() });
        let Ok(files) = fs::read_dir(&folder) else { continue };
        // Recordings of whole exchanges are no pages.
        let is_page = |file: &PathBuf| file.extension().is_none_or(|ending| ending != "yaml");
        let mut files: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).filter(is_page).collect();
        files.sort();
        for file in files {
            let bytes = fs::read(&file)?;
            let size = bytes.len();
            let mut page = FetchedPage {
                url: file.display().to_string(),
                content_type: None,
                bytes,
                purpose: Cow::Borrowed(""),
                about: Vec::new(),
            };
            let Some(purpose) = adapter.recognise(&page).filter(|_| size >= LEAST_BYTES) else { continue };
            page.purpose = Cow::Borrowed(purpose);
            let (begun, mut rounds) = (Instant::now(), 0_u32);
            while begun.elapsed() < EACH {
                black_box(adapter.read(&site, &window, &page)?);
                rounds += 1;
            }
            let rate = size as f64 * f64::from(rounds) / 1e6 / begun.elapsed().as_secs_f64();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            writeln!(out, "{:<12} {rate:>7.1} MB/s  {name}", adapter.name())?;
            slowest = slowest.min(rate);
        }
    }
    Ok(slowest)
}
