//! What the measurements share: a fresh store on disk, and the machine's own figures.

use bindery_engine::{Engine, Parts, Registry};
use bindery_store::{
    Store,
    blobs::{LayeredBlobs, LocalBlobs},
    sqlite::{Options, SqliteStore},
};
use std::{
    error::Error,
    fmt,
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
        let blobs = LayeredBlobs::of_store(&store, Arc::new(LocalBlobs::open(self.path().join("blobs"))?));
        Ok(Engine::new(Parts::new(store, blobs, registry)))
    }
}

pub(crate) fn runtime() -> Outcome<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// How long something took, and how much of the machine's time: on a busy machine the second says more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    count: usize,
    pub(crate) seconds: f64,
    cpu_seconds: f64,
    writer_seconds: f64,
}

impl Measured {
    pub(crate) fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros_each = |seconds: f64| seconds * 1e6 / self.count as f64;
        let (all, writer) = (micros_each(self.cpu_seconds), micros_each(self.writer_seconds));
        write!(f, "{} a second", thousands(self.per_second()))?;
        // The time of a thread that ended meanwhile is gone from the count: then there is nothing true to say.
        if writer < 0.0 || all < writer {
            return Ok(());
        }
        write!(f, " (CPU {all:.1} µs each, {writer:.1} of it the writer)")
    }
}

/// Started before what is measured.
pub(crate) struct Stopwatch {
    begun: Instant,
    cpu: f64,
    writer: f64,
}

impl Stopwatch {
    pub(crate) fn start() -> Outcome<Self> {
        let (cpu, writer) = cpu_seconds()?;
        Ok(Self { begun: Instant::now(), cpu, writer })
    }

    pub(crate) fn stop(&self, count: usize) -> Outcome<Measured> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let (cpu, writer) = cpu_seconds()?;
        Ok(Measured { count, seconds, cpu_seconds: cpu - self.cpu, writer_seconds: writer - self.writer })
    }
}

/// The time that the threads of this process have run so far: all of them, and the store's writer.
fn cpu_seconds() -> Outcome<(f64, f64)> {
    let (mut all, mut writer) = (0.0, 0.0);
    for thread in std::fs::read_dir("/proc/self/task")? {
        let folder = thread?.path();
        // A thread may end while we look.
        let Ok(times) = std::fs::read_to_string(folder.join("schedstat")) else { continue };
        let nanos: f64 = times.split(' ').next().unwrap_or_default().parse()?;
        all += nanos / 1e9;
        if std::fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.trim() == "bindery-writer") {
            writer += nanos / 1e9;
        }
    }
    Ok((all, writer))
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
    let mut syncs = 0_u32;
    while begun.elapsed() < Duration::from_secs(1) {
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(f64::from(syncs) / begun.elapsed().as_secs_f64())
}

/// The most memory that this process has had, in MB.
pub(crate) fn peak_memory_mb() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM on this system")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kilobytes.div_ceil(1024))
}
