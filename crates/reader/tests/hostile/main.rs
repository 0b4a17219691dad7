//! Files that mean harm: the samples, mutated by a seeded generator, and bombs among them, read like any others.
//!
//! Whatever is done to a file, reading it ends with pages or with a sentence. None of our code panics, no read goes on
//! for ever, and memory stays within bounds. `BINDERY_TORTURE_MUTATIONS` says how many files there are; `make torture`
//! has many. `BINDERY_TORTURE_ONLY` reads one of them again, by the number that a failure names, and keeps it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bombs;
mod mutate;
mod random;
#[path = "../sample_files/mod.rs"]
#[allow(dead_code, reason = "these samples are not read as they are")]
mod sample_files;
mod watch;

use bindery_reader::{Limits, OcrMode, ReadOptions, Reader, model::FileType, render, split::SplitPdf};
use random::Random;
use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

/// So many in every run of the tests.
const FEW: u64 = 400;
/// A read that takes longer hangs, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// For each thread, beyond what the limits below let a file have.
const MEMORY: u64 = 512 << 20;

struct Sample {
    name: String,
    bytes: Vec<u8>,
}

fn samples() -> Vec<Sample> {
    let mut names: Vec<String> = fs::read_dir(sample_files::FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.into_iter().map(|name| Sample { bytes: sample_files::bytes(&name), name }).collect()
}

/// Tight limits: what they stop is stopped soon.
fn options() -> ReadOptions {
    let limits = Limits {
        unpacked_bytes: 64 << 20,
        part_bytes: 32 << 20,
        image_pixels: 20_000_000,
        pages: 2000,
        time_per_page: Duration::from_secs(5),
        time_per_file: Duration::from_secs(20),
        ..Limits::default()
    };
    ReadOptions { ocr: OcrMode::Never, limits, ..sample_files::options() }
}

/// One in so many files is a bomb.
const BOMB_EVERY: u64 = 40;

/// The file of this number: always the same.
fn hostile(number: u64, samples: &[Sample]) -> (&str, Vec<u8>) {
    if number % BOMB_EVERY == BOMB_EVERY - 1 {
        let bomb = bombs::make(number / BOMB_EVERY);
        return (bomb.name, bomb.bytes);
    }
    let mut random = Random::new(number);
    let sample = &samples[(number % samples.len() as u64) as usize];
    let other = &random.one_of(samples).bytes;
    (&sample.name, mutate::harmed(&sample.bytes, other, &mut random))
}

/// Everything that can be asked of a file, or as much as a long run has time for.
fn read_all_of(name: &str, bytes: Vec<u8>, number: u64) {
    let reader = Reader::new(options(), None);
    let copy = bytes.clone();
    let Ok(file) = reader.open(bytes, Some(name)) else { return };
    let mut pages = Vec::new();
    for index in 0..file.info().page_count.min(20) {
        if let Ok(page) = reader.read_page(&*file, index) {
            let _ = (render::markdown(&page), render::text(&page), render::page_words(&page, 300.0));
            pages.push(page);
        }
    }
    let _ = (render::json(file.info(), &pages), render::hocr(&pages, 300.0));
    let _ = file.attachments();
    if number.is_multiple_of(5) || file.info().file_type != FileType::Pdf {
        let _ = file.image(0, 40.0);
    }
    if file.info().file_type == FileType::Pdf
        && let Ok(split) = SplitPdf::open(copy, reader.options())
    {
        let _ = split.page(0);
    }
}

/// With the limits that ship.
#[test]
fn each_bomb_ends_with_a_sentence_or_is_read_within_bounds() {
    let reader = Reader::new(ReadOptions { ocr: OcrMode::Never, ..ReadOptions::default() }, None);
    for number in 0..bombs::COUNT {
        let bombs::Bomb { name, bytes, says } = bombs::make(number);
        let (size, begun) = (bytes.len(), std::time::Instant::now());
        let opened = reader.open(bytes, Some(name));
        let said = match (&opened, says) {
            (Err(error), Some(says)) => {
                let said = error.to_string();
                assert!(said.contains(says) && !said.contains('\n'), "{name}: {said}");
                said
            }
            (Err(error), None) => error.to_string(),
            (Ok(_), Some(says)) => panic!("{name} was opened; expected: {says}"),
            (Ok(file), None) => {
                for index in 0..file.info().page_count.min(3) {
                    let page = file.page(index).unwrap_or_else(|error| panic!("{name}: {error}"));
                    let json = serde_json::to_vec(&page).unwrap();
                    assert!(json.len() < 200 << 20, "{name}: a page of {} bytes", json.len());
                }
                "read".to_owned()
            }
        };
        println!("{name}, {size} bytes: {said}, {:?}", begun.elapsed());
    }
    // One after the other, each within a gigabyte and a half: the limit and 512 MB.
    assert!(watch::most_memory().is_none_or(|most| most < 1536 << 20), "{:?}", watch::most_memory());
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

#[test]
fn no_file_brings_the_reader_down() {
    let samples = samples();
    watch::note_panics();
    if let Some(number) = from_environment("BINDERY_TORTURE_ONLY") {
        let (name, bytes) = hostile(number, &samples);
        let kept = format!("{}/{number}-{name}", env!("CARGO_TARGET_TMPDIR"));
        fs::write(&kept, &bytes).unwrap();
        println!("{kept}");
        let took = watch::watched(number, || read_all_of(name, bytes, number));
        println!("read in {took:?}; panics: {:?}", watch::panics());
        return;
    }
    let count = from_environment("BINDERY_TORTURE_MUTATIONS").unwrap_or(FEW);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
    let (next, slowest) = (AtomicU64::new(0), AtomicU64::new(0));
    let before = watch::most_memory();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        let (name, bytes) = hostile(number, &samples);
                        let took = watch::watched(number, || read_all_of(name, bytes, number));
                        // Milliseconds and number together: the largest is the slowest.
                        slowest.fetch_max((took.as_millis() as u64) << 32 | number, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            if let Some(number) = watch::hangs_for(PATIENCE) {
                // The thread that hangs would be waited for.
                println!("{} hangs; BINDERY_TORTURE_ONLY={number} reads it again", hostile(number, &samples).0);
                std::process::abort();
            }
            thread::sleep(Duration::from_millis(50));
        }
    });
    let (ours, theirs): (Vec<_>, Vec<_>) =
        watch::panics().into_iter().partition(|(place, _)| place.contains("crates/reader/"));
    let slowest = slowest.into_inner();
    println!("{count} hostile files; the slowest, {}, took {} ms", slowest & u64::from(u32::MAX), slowest >> 32);
    for (place, (number, times)) in &theirs {
        println!("caught {times} times at {place}, first in {number}");
    }
    assert!(ours.is_empty(), "these panicked (place, first file, times): {ours:#?}");
    if let (Some(before), Some(after)) = (before, watch::most_memory()) {
        println!("at most {} MiB", after >> 20);
        assert!(after < before + MEMORY * threads as u64, "reading took {} MiB", after >> 20);
    }
}
