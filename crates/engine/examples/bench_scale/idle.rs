//! What workers cost that have nothing to do: each a process of its own, as people run them.

use crate::{
    bench::{Bench, Outcome, process_seconds},
    fan,
};
use bindery_engine::{Engine, Parts, Registry};
use bindery_store::{
    blobs::LocalBlobs,
    postgres::{PostgresOptions, PostgresStore},
};
use std::{
    io::Read as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

/// Given to this program when it runs itself: one worker, until nobody holds its input any more.
pub(crate) const ALONE: &str = "--idle-worker";

pub(crate) const WORKERS: usize = 8;

/// Until everybody has connected and has nothing left to say.
const SETTLING: Duration = Duration::from_secs(3);
const MEASURED: Duration = Duration::from_secs(10);

/// Ends with what it is told to work for, also by a panic.
struct Idler(Child);

impl Drop for Idler {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How much of one core the workers and their server take, in percent.
pub(crate) fn workers(bench: &Bench) -> Outcome<f64> {
    // A submission has gone through, so that this is no empty database.
    let url = bench.runtime.block_on(async {
        let url = bench.database().await?;
        let engine = bench.engine_in(url.clone(), fan::registry(1_000)).await?;
        let id = fan::submission(&engine).await?;
        fan::work(&engine, id).await?.stop().await?;
        Outcome::Ok(url)
    })?;
    let program = std::env::current_exe()?;
    let mut idlers = Vec::new();
    for _ in 0..WORKERS {
        let mut command = Command::new(&program);
        command.args([ALONE, &url]).arg(bench.folder());
        idlers.push(Idler(command.stdin(Stdio::piped()).spawn()?));
    }
    std::thread::sleep(SETTLING);
    let spent = || {
        let own: Outcome<f64> = idlers.iter().map(|idler| process_seconds(idler.0.id())).sum();
        Outcome::Ok((own?, bench.server_seconds()?))
    };
    let (begun, before) = (Instant::now(), spent()?);
    std::thread::sleep(MEASURED);
    let (elapsed, after) = (begun.elapsed().as_secs_f64(), spent()?);
    let percent = |from: f64, to: f64| (to - from) / elapsed * 100.0;
    let (own, server) = (percent(before.0, after.0), percent(before.1, after.1));
    println!("{WORKERS} idle workers: {own:.2} % of a core, and their server {server:.2} %");
    Ok(own + server)
}

/// One worker.
pub(crate) fn alone(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let mut argument = || arguments.next().ok_or("expected a URL and a folder");
    let (url, folder) = (argument()?, argument()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = PostgresStore::open(PostgresOptions::at(url)).await?;
        let blobs = LocalBlobs::open(Path::new(&folder).join("blobs"))?;
        let engine = Engine::new(Parts::new(Arc::new(store), Arc::new(blobs), Registry::with_builtin()));
        let worker = fan::start(&engine, None);
        let until_the_end = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        until_the_end.await??;
        worker.stop().await
    })
}
