//! Measures the engine on SQLite: `make bench-engine`.
//!
//! Every number is taken on a fresh store on disk (below the build folder, or `BINDERY_BENCH_DIR`), with the settings
//! that everybody gets: each acknowledged commit is synced. The last line is for programs.

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

mod bench;
mod deleting;
mod fan;
mod queue;

use bench::{Measured, Outcome, Scratch, Stopwatch, runtime, thousands};
use std::process::Command;

const NOOP_JOBS: usize = 200_000;
const CHILDREN: usize = 100_000;
const MANY_CHILDREN: usize = 1_000_000;
const SUBMISSIONS: usize = 100_000;
const DELETED: usize = 1_000;

/// Given to this program when it runs itself, so that nothing else counts as the memory of a large join.
const FAN_ALONE: &str = "--fan-alone";

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(FAN_ALONE) => fan_alone(arguments.next().and_then(|count| count.parse().ok()).unwrap_or(MANY_CHILDREN)),
        // For a profiler: one measurement only.
        Some(only) => measure(Some(only)),
        None => measure(None),
    }
}

fn measure(only: Option<&str>) -> Outcome<()> {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let mut numbers = Vec::new();
    if wanted("disk") {
        let syncs = bench::syncs_per_second(&Scratch::new("disk")?)?;
        println!("this disk syncs {} appends of 4 KB a second", thousands(syncs));
    }
    if wanted("claim_complete") {
        let store_level = queue::claim_and_commit(&Scratch::new("store")?, NOOP_JOBS)?;
        println!("store alone, claim and commit of 500: {store_level}");
        let through_worker = noop_jobs(&Scratch::new("worker")?, NOOP_JOBS)?;
        println!("worker, no-op jobs with outcome, event and join: {through_worker}");
        numbers.push(format!("claim_complete_per_s={:.0}", through_worker.per_second()));
    }
    if wanted("enqueue") {
        let acked = queue::acked_enqueues(&Scratch::new("enqueue")?)?;
        println!("32 tasks, one acknowledged enqueue each at a time: {acked}");
        numbers.push(format!("acked_enqueue_per_s={:.0}", acked.per_second()));
    }
    if wanted("fan_100k") {
        let fanned = out_and_in(&Scratch::new("fan")?, CHILDREN)?;
        println!("{CHILDREN} children out and back: {:.2} s, {fanned}", fanned.seconds);
        numbers.push(format!("fanin_100k_s={:.2}", fanned.seconds));
    }
    if wanted("fan_1m") {
        let program = std::env::current_exe()?;
        let output = Command::new(program).arg(FAN_ALONE).arg(MANY_CHILDREN.to_string()).output()?;
        let said = String::from_utf8(output.stdout)?;
        let (seconds, megabytes) = said.trim().split_once(' ').ok_or("the fan-out of a million failed")?;
        println!("{MANY_CHILDREN} children out and back: {seconds} s, {megabytes} MB of memory at most");
        numbers.push(format!("fanin_1m_rss_mb={megabytes}"));
    }
    if wanted("outcome_bytes") {
        let bytes = queue::outcome_bytes(&Scratch::new("outcomes")?)?;
        println!("an outcome of 1,000 bytes takes {bytes} bytes of the file");
        numbers.push(format!("outcome_bytes={bytes}"));
    }
    if wanted("events") {
        let appended = queue::event_appends(&Scratch::new("events")?)?;
        println!("events of 200 bytes, 1000 at a time: {appended}");
        numbers.push(format!("event_append_per_s={:.0}", appended.per_second()));
    }
    if wanted("delete") {
        let seconds = deleting::while_others_work(&Scratch::new("delete")?, SUBMISSIONS, DELETED)?;
        println!("{DELETED} of {SUBMISSIONS} submissions deleted while others work: {seconds:.2} s");
        numbers.push(format!("delete_1000_s={seconds:.2}"));
    }
    println!("BENCH {}", numbers.join(" "));
    Ok(())
}

fn fan_alone(count: usize) -> Outcome<()> {
    let fanned = out_and_in(&Scratch::new("fan-alone")?, count)?;
    println!("{:.1} {}", fanned.seconds, bench::peak_memory_mb()?);
    Ok(())
}

/// From the intake until every part has been collected.
fn out_and_in(scratch: &Scratch, parts: usize) -> Outcome<Measured> {
    runtime()?.block_on(async {
        let engine = scratch.engine(fan::registry(parts))?;
        let id = fan::submission(&engine).await?;
        let stopwatch = Stopwatch::start()?;
        let worker = fan::work(&engine, id).await?;
        let measured = stopwatch.stop(parts)?;
        worker.stop().await?;
        Ok(measured)
    })
}

/// No-op jobs: the parts are there before the clock starts.
fn noop_jobs(scratch: &Scratch, jobs: usize) -> Outcome<Measured> {
    runtime()?.block_on(async {
        let engine = scratch.engine(fan::registry(jobs))?;
        let id = fan::submission(&engine).await?;
        fan::split(&engine).await?;
        let stopwatch = Stopwatch::start()?;
        let worker = fan::work(&engine, id).await?;
        let measured = stopwatch.stop(jobs)?;
        worker.stop().await?;
        Ok(measured)
    })
}
