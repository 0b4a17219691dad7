//! Measures the engine on PostgreSQL, beside graphile-worker on the same server: `make bench-scale`.
//!
//! The server is a private one, with the durability that everybody gets: each acknowledged commit is on the disk. It
//! runs below the build folder, or `BINDERY_BENCH_DIR`, and is deleted afterwards. Every number is taken in a database of
//! its own. The last line is for programs. An argument names the one part that is to be measured.

#![allow(clippy::print_stdout, reason = "the numbers are the result")]

mod bench;
#[path = "../bench_engine/fan.rs"]
mod fan;
mod idle;
mod jobs;
mod peer;

use bench::{Bench, Outcome, thousands};

const NOOP_JOBS: usize = 200_000;
const ENQUEUED: usize = 300_000;
const CHILDREN: usize = 100_000;

/// How often the no-op jobs are measured, in turns with the peer's; the best of each counts.
const ROUNDS: usize = 2;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next() {
        Some(argument) if argument == idle::ALONE => idle::alone(arguments),
        only => measure(only.as_deref()),
    }
}

fn measure(only: Option<&str>) -> Outcome<()> {
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let Some(bench) = Bench::start()? else { return Ok(()) };
    println!("{}", bench.describe()?);
    let mut numbers = Vec::new();
    if wanted("noop") || wanted("peer") {
        no_ops(&bench, wanted("noop"), wanted("peer"), &mut numbers)?;
    }
    if wanted("enqueue") {
        let plain = jobs::enqueue_plain(&bench, ENQUEUED)?;
        println!("enqueue without dedup keys, 1000 at a time by 4 tasks: {plain}");
        numbers.push(format!("pg_enqueue_plain_per_s={:.0}", plain.per_second()));
        let (first, again) = jobs::enqueue(&bench, ENQUEUED)?;
        println!("enqueue with dedup keys, 1000 at a time by 4 tasks: {first}");
        println!("the same keys again, each merged into a live job: {again}");
        numbers.push(format!("pg_enqueue_per_s={:.0}", first.per_second()));
    }
    if wanted("fan") {
        let fanned = jobs::out_and_in(&bench, CHILDREN)?;
        println!("{CHILDREN} children out and back, closed once: {:.2} s, {fanned}", fanned.seconds);
        numbers.push(format!("fanin_100k_s={:.2}", fanned.seconds));
    }
    if wanted("idle") {
        let percent = idle::workers(&bench)?;
        println!("{} idle workers with their server: {percent:.2} % of a core", idle::WORKERS);
        numbers.push(format!("idle_pct_{}_workers={percent:.2}", idle::WORKERS));
    }
    println!("BENCH {}", numbers.join(" "));
    Ok(())
}

/// Ours and the peer's in turns, so that both have the same share of whatever else the machine does.
fn no_ops(bench: &Bench, own: bool, peer: bool, numbers: &mut Vec<String>) -> Outcome<()> {
    let graphile = if peer { peer::Graphile::install(bench)? } else { None };
    let (mut ours, mut ours_with_keys) = (0.0_f64, 0.0_f64);
    let (mut theirs, mut theirs_enqueued) = (None::<f64>, 0.0_f64);
    for _ in 0..ROUNDS {
        if own {
            let measured = jobs::no_ops(bench, NOOP_JOBS, false)?;
            println!("no-op jobs with outcome, event and join: {measured}");
            ours = ours.max(measured.per_second());
            let measured = jobs::no_ops(bench, NOOP_JOBS, true)?;
            println!("the same, each with a dedup key: {measured}");
            ours_with_keys = ours_with_keys.max(measured.per_second());
        }
        for workers in graphile.iter().flat_map(|_| [1, 2]) {
            let Some(graphile) = &graphile else { continue };
            let run = graphile.run(bench, NOOP_JOBS, workers)?;
            let (enqueued, per_second) = (thousands(run.enqueued_per_s), thousands(run.per_s));
            println!("graphile-worker, {workers} processes: {per_second} a second ({enqueued} enqueued a second)");
            theirs = Some(theirs.unwrap_or(0.0).max(run.per_s));
            theirs_enqueued = theirs_enqueued.max(run.enqueued_per_s);
        }
    }
    numbers.push(format!("pg_noop_per_s={ours:.0}"));
    numbers.push(theirs.map_or("graphile_noop_per_s=absent".to_owned(), |n| format!("graphile_noop_per_s={n:.0}")));
    numbers.push(theirs.map_or("ratio=absent".to_owned(), |n| format!("ratio={:.2}", ours / n)));
    numbers.push(format!("pg_noop_with_keys_per_s={ours_with_keys:.0}"));
    let ratio = |n: f64| format!("ratio_with_keys={:.2}", ours_with_keys / n);
    numbers.push(theirs.map_or("ratio_with_keys=absent".to_owned(), ratio));
    numbers.push(format!("graphile_enqueue_per_s={theirs_enqueued:.0}"));
    Ok(())
}
