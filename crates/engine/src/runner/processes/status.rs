//! What the kernel says about a process: its memory, and whether it has ended.

use rustix::process::Pid;

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
    fn this_process_uses_some() {
        let Some(Status::Alive { resident, peak }) = read(rustix::process::getpid()) else { panic!("no status") };
        assert!(resident > 0 && peak >= resident);
    }
}
