//! What a worker is called: where it runs, which process it is, and when it began, so that no two workers of a store
//! share a name, on whatever machines they run.

use bindery_core::{Clock as _, Name, time::SystemClock};

/// A host name can be longer than anybody wants to read.
const LONGEST_HOST: usize = 40;

/// `HOST-PID-START`. The start is short and grows with time.
pub fn of_worker() -> Name {
    let start = SystemClock.now().as_millis();
    Name::from(named(&host(), std::process::id(), start.unsigned_abs()))
}

/// A worker inside `bindery run`.
pub fn of_run() -> Name {
    Name::from(format!("{}-run", of_worker()))
}

/// Whoever visits every council that is due.
pub fn of_fetcher() -> Name {
    Name::from(format!("{}{}", of_worker(), bindery_civic::conductor::heartbeat::FETCHER))
}

/// Whoever reads what waits of councils.
pub fn of_processor() -> Name {
    Name::from(format!("{}{}", of_worker(), bindery_civic::processing::run::PROCESSOR))
}

/// Whoever reads what waits of some councils; a number follows.
pub fn of_processing() -> Name {
    Name::from(format!("{}{}", of_worker(), bindery_civic::processing::run::PROCESSING))
}

/// Whoever visits some councils.
pub fn of_visitor() -> Name {
    Name::from(format!("{}-sync", of_worker()))
}

/// Whoever delivers messages about councils.
pub fn of_sender() -> Name {
    Name::from(format!("{}-notices", of_worker()))
}

/// Whether a name is that of a process on this machine which is not there any more. Of those elsewhere nothing is known.
pub fn is_dead(name: &str) -> bool {
    let here = named(&host(), 0, 0);
    let Some(rest) = here.strip_suffix("0-0").and_then(|here| name.strip_prefix(here)) else { return false };
    let pid = rest.split('-').next().and_then(|pid| pid.parse().ok()).and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

fn named(host: &str, pid: u32, start: u64) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-._".contains(letter) { letter } else { '_' };
    let host: String = host.chars().map(plain).take(LONGEST_HOST).collect();
    let host = if host.is_empty() { "worker" } else { &host };
    format!("{host}-{pid}-{}", base36(start))
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_where_which_and_when() {
        assert_eq!(named("web-3", 4242, 1_790_000_000_000), "web-3-4242-mubbs7i8");
        assert_eq!(named("", 1, 0), "worker-1-0");
        assert_eq!(named("Büro 2.local", 7, 35), "B_ro_2.local-7-z");
        assert!(named(&"x".repeat(300), 1, 1).len() < 60);
    }

    #[test]
    fn the_dead_of_this_machine_are_known() {
        assert!(!is_dead(&of_fetcher()) && !is_dead(&of_visitor()) && !is_dead("elsewhere-1-0"));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let name = named(&host(), child.id(), 1);
        child.wait().unwrap();
        assert!(is_dead(&name), "{name}");
    }

    #[test]
    fn a_worker_is_never_taken_for_a_run() {
        assert!(!bindery_engine::runs::is_run(&of_worker()) && !bindery_engine::runs::is_run(&of_run()));
    }
}
