//! What the measurements share: a fresh store on disk, and the machine's own figures.

use bindery_engine::{Engine, Parts, Registry};
use bindery_store::{
    Store,
    blobs::LocalBlobs,
    sqlite::{Options, SqliteStore},
};
use std::{
    error::Error,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A folder of a measurement's own, removed after it.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new(name: &str) -> Outcome<Self> {
        let below = match std::env::var_os("BINDERY_BENCH_DIR") {
            Some(folder) => PathBuf::from(folder),
            // Beside this program: on the disk that it was built on, not in memory.
            None => std::env::current_exe()?.parent().ok_or("this program is nowhere")?.to_owned(),
        };
        std::fs::create_dir_all(&below)?;
        Ok(Self(tempfile::Builder::new().prefix(&format!("bench-{name}-")).tempdir_in(below)?))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn store(&self) -> Outcome<Arc<SqliteStore>> {
        Ok(Arc::new(SqliteStore::open(Options::at(self.path().join("bindery.db")))?))
    }

    pub(crate) fn engine(&self, registry: Registry) -> Outcome<Engine> {
        let store = self.store()? as Arc<dyn Store>;
        let blobs = Arc::new(LocalBlobs::open(self.path().join("blobs"))?);
        Ok(Engine::new(Parts::new(store, blobs, registry)))
    }
}

pub(crate) fn runtime() -> Outcome<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

pub(crate) fn per_second(count: usize, seconds: f64) -> f64 {
    count as f64 / seconds
}

pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How often this disk can promise that something is kept: the bound of every commit by itself.
pub(crate) fn syncs_per_second(scratch: &Scratch) -> Outcome<f64> {
    let mut file = File::create(scratch.path().join("appends"))?;
    let begun = Instant::now();
    let mut syncs = 0;
    while begun.elapsed() < Duration::from_secs(1) {
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(per_second(syncs, begun.elapsed().as_secs_f64()))
}

/// The most memory that this process has had, in MB.
pub(crate) fn peak_memory_mb() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM on this system")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes.div_ceil(1024))
}
