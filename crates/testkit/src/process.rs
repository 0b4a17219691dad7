//! Starting, stopping and finding the programs of servers.

use std::{
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// How long a server may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// A port of the loopback address that nobody listens on. Somebody may take it before we do: try again then.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port()
}

pub fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// A program as a user that it accepts: root becomes `user`. It gets `signal` when we end, whatever becomes of us.
pub fn as_user(program: &Path, user: &str, signal: &str) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args([format!("--reuid={user}"), format!("--regid={user}"), "--init-groups".to_owned()]);
    }
    command.args(["--pdeathsig", signal, "--"]).arg(program).current_dir("/");
    command
}

/// A Python that has this module: the one in the PATH, or Debian's.
pub fn python_with(module: &str) -> Option<&'static str> {
    let has = |python: &&str| {
        let asked = Command::new(python).args(["-c", &format!("import {module}")]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has);
    if found.is_none() {
        crate::missing(format_args!("Python's {module} is not installed (make setup-test installs it)"));
    }
    found
}

/// Gives a folder to the user that a server runs as.
pub fn give_to(user: &str, path: &Path) {
    if is_root() {
        run(Command::new("chown").arg(user).arg(path));
    }
}

/// Runs a program that must succeed.
pub fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?} failed");
}

/// Sends a signal and waits for the end; after a while the process is killed.
pub fn end(process: &mut Child, signal: &str) {
    let _ = Command::new("kill").arg(format!("-{signal}")).arg(process.id().to_string()).status();
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE && matches!(process.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = process.kill();
    let _ = process.wait();
}
