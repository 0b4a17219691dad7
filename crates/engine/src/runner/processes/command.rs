//! How to start a child.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The program that is running, also when another file has been put in its place since.
const RUNNING_PROGRAM: &str = "/proc/self/exe";

/// A program whose main calls [`serve`](super::serve), and how it is told to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildCommand {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Added to the environment of this process.
    pub env: Vec<(OsString, OsString)>,
}

impl ChildCommand {
    /// The program that is running, with these arguments. An upgrade that replaces its file changes nothing for the
    /// children of a parent that runs already.
    pub fn own(args: impl IntoIterator<Item = impl Into<OsString>>) -> io::Result<Self> {
        let running = Path::new(RUNNING_PROGRAM);
        let program = if running.exists() { running.to_owned() } else { std::env::current_exe()? };
        Ok(Self { program, args: args.into_iter().map(Into::into).collect(), env: Vec::new() })
    }

    /// In a process group of its own, so that whatever it starts can be ended with it, and a Ctrl-C in the terminal is
    /// the parent's alone.
    pub(super) fn spawn(&self) -> io::Result<Child> {
        Command::new(&self.program)
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }
}
