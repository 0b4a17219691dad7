//! What the kernel says about a process: its memory, and whether it has ended.

use rustix::process::Pid;
use std::sync::OnceLock;

/// A process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// In memory now, and at most since it began, in bytes.
    Alive { resident: u64, peak: u64 },
    /// It has ended, and nobody has taken note of it.
    Ended,
}

/// None where there is no `/proc`, or no such process.
pub(super) fn read(pid: Pid) -> Option<Status> {
    parse(&std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?)
}

/// What this process has in memory of its own, in bytes, without what it shares with files. None where there is no `/proc`.
pub(super) fn own_memory() -> Option<u64> {
    // The short file is read after every request; the long one, which knows the size of a page, once.
    static PAGE: OnceLock<Option<u64>> = OnceLock::new();
    let pages = || std::fs::read_to_string("/proc/self/statm").ok();
    let field = |text: &str, place: usize| text.split_whitespace().nth(place)?.parse::<u64>().ok();
    let page = (*PAGE.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let all = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
        let page = (field(all, 0)? << 10).checked_div(field(&pages()?, 0)?)?;
        // Threads come and go between the two looks.
        Some((page + page / 2).max(1).ilog2()).map(|power| 1 << power)
    }))?;
    let now = pages()?;
    Some(field(&now, 1)?.saturating_sub(field(&now, 2)?) * page)
}

fn parse(text: &str) -> Option<Status> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("State:")?.starts_with(['Z', 'X']) {
        return Some(Status::Ended);
    }
    let bytes = |name| Some(field(name)?.split_whitespace().next()?.parse::<u64>().ok()? << 10);
    let resident = bytes("VmRSS:")?;
    Some(Status::Alive { resident, peak: bytes("VmHWM:").unwrap_or(resident).max(resident) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_bytes() {
        let text = "Name:\tbindery\nState:\tS (sleeping)\nVmHWM:\t    6000 kB\nVmRSS:\t    5992 kB\n";
        assert_eq!(parse(text), Some(Status::Alive { resident: 5_992 << 10, peak: 6_000 << 10 }));
    }

    #[test]
    fn what_has_ended_has_no_memory() {
        assert_eq!(parse("Name:\tbindery\nState:\tZ (zombie)\n"), Some(Status::Ended));
        assert_eq!(parse(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_memory_grows_by_what_is_written() {
        let before = own_memory().unwrap();
        let block = vec![1_u8; 64 << 20];
        let grown = own_memory().unwrap().saturating_sub(before);
        assert!((48 << 20..128 << 20).contains(&grown), "{grown} of {} bytes", block.len());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_some() {
        let Some(Status::Alive { resident, peak }) = read(rustix::process::getpid()) else { panic!("no status") };
        assert!(resident > 0 && peak >= resident);
    }
}
