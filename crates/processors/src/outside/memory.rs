//! The memory of a process group. Linux tells it in `/proc`; elsewhere it is not known, and no limit is kept.

use rustix::process::Pid;

/// How much room a process gets beyond its limit before the system itself refuses more.
#[cfg(target_os = "linux")]
const HEADROOM_BYTES: u64 = 512 * 1024 * 1024;

/// Has the system refuse what grows faster than we look: writable memory far above the limit. No core files either,
/// because they hold the documents that were worked on.
#[cfg(target_os = "linux")]
pub(super) fn restrain(process: Pid, limit_bytes: Option<u64>) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let at_most = |bytes: u64| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    // A child that ended already cannot be restrained, and one that runs is watched all the same.
    let _ = prlimit(Some(process), Resource::Core, at_most(0));
    if let Some(limit) = limit_bytes {
        let _ = prlimit(Some(process), Resource::Data, at_most(limit.saturating_mul(2).saturating_add(HEADROOM_BYTES)));
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn restrain(_process: Pid, _limit_bytes: Option<u64>) {}

/// The resident memory of all processes of a group, added up. Pages that they share count once for each.
#[cfg(target_os = "linux")]
pub(super) fn of_group(group: Pid) -> Option<u64> {
    let mut total = None;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) else { continue };
        // A process may end between two reads; then it uses nothing.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        if group_in(&stat) != Some(group.as_raw_pid()) {
            continue;
        }
        let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/status")) else { continue };
        *total.get_or_insert(0) += resident_in(&status).unwrap_or(0);
    }
    total
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of_group(_group: Pid) -> Option<u64> {
    None
}

/// The program's name comes second, in parentheses, and may itself contain spaces and parentheses; so the fields are
/// counted from behind the last one: state, parent, group.
#[cfg(target_os = "linux")]
fn group_in(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn resident_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_proc_are_understood() {
        assert_eq!(group_in("12 (a (b) c) S 1 777 5 0 -1"), Some(777));
        assert_eq!(group_in("nonsense"), None);
        assert_eq!(resident_in("Name:\tx\nVmRSS:\t   2048 kB\nThreads:\t1\n"), Some(2 * 1024 * 1024));
        assert_eq!(resident_in("Name:\tkthreadd\n"), None);
    }

    #[test]
    fn our_own_group_uses_memory() {
        let group = rustix::process::getpgrp();
        assert!(of_group(group).unwrap() > 100 * 1024);
    }
}
