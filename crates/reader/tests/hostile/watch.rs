//! Who looks on while hostile files are read: where something panics, how long a read lasts, how much memory there is.

use std::{
    collections::BTreeMap,
    panic,
    sync::{Mutex, PoisonError},
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

/// What is being read by each thread, since when.
static UNDER_WAY: Mutex<Vec<(ThreadId, u64, Instant)>> = Mutex::new(Vec::new());

/// Where panics happened, with the number of the first file that did it and how often.
static PANICS: Mutex<BTreeMap<String, (u64, usize)>> = Mutex::new(BTreeMap::new());

/// Notes panics instead of printing them.
pub(crate) fn note_panics() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let number = reading_here();
        let Some(number) = number else {
            // Not a reader's: a test that fails.
            return eprint_panic(panic);
        };
        let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
        panics.entry(place).or_insert((number, 0)).1 += 1;
    }));
}

#[expect(clippy::print_stderr, reason = "a test that fails says why")]
fn eprint_panic(panic: &panic::PanicHookInfo<'_>) {
    eprintln!("{panic}");
}

fn reading_here() -> Option<u64> {
    let me = thread::current().id();
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    under_way.iter().find(|(thread, ..)| *thread == me).map(|(_, number, _)| *number)
}

/// The places of all panics so far.
pub(crate) fn panics() -> BTreeMap<String, (u64, usize)> {
    PANICS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Reads under watch, and says how long it took.
pub(crate) fn watched(number: u64, read: impl FnOnce()) -> Duration {
    let (me, start) = (thread::current().id(), Instant::now());
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push((me, number, start));
    // What panics is noted by its place.
    let _ = panic::catch_unwind(panic::AssertUnwindSafe(read));
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).retain(|(thread, ..)| *thread != me);
    start.elapsed()
}

/// The number of a file that has been read for longer than this.
pub(crate) fn hangs_for(patience: Duration) -> Option<u64> {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    under_way.iter().find(|(_, _, start)| start.elapsed() > patience).map(|(_, number, _)| *number)
}

/// The most memory that this process ever had, in bytes; None where the system does not say.
pub(crate) fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}
