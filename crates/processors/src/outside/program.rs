//! A program as it is started, and the sentences about how it ended. Shared by both modes of commands.

use super::{
    child::{Child, Limits, Trouble},
    config::CommandConfig,
    envelope::Sender,
    failure::{Failed, megabytes, seconds},
    template::environment,
};
use bindery_core::{AwakeInstant, StepError};
use bindery_engine::context::StepContext;
use std::{
    io,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, ExitStatus},
    time::Duration,
};

/// Handed on without being asked for: without them few programs start, and they hold no secrets.
const ALWAYS_PASSED: [&str; 3] = ["PATH", "HOME", "LANG"];

/// Starts the program with nothing but the environment that it may see; `sender` is the work that it is started for, where
/// that is one.
pub(super) fn start(config: &CommandConfig, sender: Option<&Sender>) -> Result<Child, Failed> {
    let mut command = Command::new(location(config));
    command.args(&config.arguments).current_dir(&config.folder);
    if !config.inherit_environment {
        command.env_clear();
        command.envs(ALWAYS_PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    }
    command.envs(sender.into_iter().flat_map(Sender::variables));
    for (name, template) in &config.environment {
        let value = template
            .fill(&environment)
            .map_err(|missing| Failed::no_variable(&missing, &format!("the program {}", config.program)))?;
        command.env(name, value);
    }
    Child::start(&mut command, config.memory_bytes).map_err(|error| not_started(config, &error))
}

/// A path is relative to the YAML file's folder; a bare name is for `PATH`.
fn location(config: &CommandConfig) -> PathBuf {
    if config.program.contains('/') { config.folder.join(&config.program) } else { PathBuf::from(&config.program) }
}

fn not_started(config: &CommandConfig, error: &io::Error) -> Failed {
    let (program, folder) = (&config.program, config.folder.display());
    let message = match error.kind() {
        io::ErrorKind::NotFound if !config.folder.is_dir() => {
            format!("the folder {folder}, where the program {program} should run, does not exist")
        }
        io::ErrorKind::NotFound if program.contains('/') => {
            format!("the program {program} is not in {folder}, or what its first line names is missing")
        }
        io::ErrorKind::NotFound => format!(
            "the program {program} is in no folder of PATH ({}); install it, or write ./{program} if it is beside the YAML file",
            environment("PATH").unwrap_or_default()
        ),
        io::ErrorKind::PermissionDenied => {
            format!("the program {program} may not be run; make it executable (chmod +x)")
        }
        // Too many processes or no memory: that passes.
        _ => {
            let message = format!("the program {program} could not be started: {error}");
            return Failed::of_client(StepError::retry(message).named("NotStarted"));
        }
    };
    Failed::of_client(StepError::park(format!("program {program}"), message).named("ProgramNotFound"))
}

/// The earlier of the configured time limit and the end of the work's time.
pub(super) struct TimeLimit {
    pub(super) until: AwakeInstant,
    started: AwakeInstant,
    configured: Duration,
}

impl TimeLimit {
    pub(super) fn new(configured: Duration, context: &StepContext) -> Self {
        let started = AwakeInstant::now();
        // `timeout_seconds` is at most a year, so this never overflows in practice; if it did, the limit would be now.
        let own = started.checked_add(configured).unwrap_or(started);
        Self { until: context.deadline().map_or(own, |deadline| deadline.min(own)), started, configured }
    }

    /// The end of a sentence that begins with who took too long.
    pub(super) fn exceeded(&self) -> String {
        let allowed = self.until.saturating_duration_since(self.started);
        if allowed >= self.configured {
            format!("took longer than {}", seconds(self.configured))
        } else {
            format!("took longer than the {:.1} s that were left for this work", allowed.as_secs_f64())
        }
    }
}

pub(super) fn limits<'a>(config: &CommandConfig, time: &TimeLimit, cancelled: &'a dyn Fn() -> bool) -> Limits<'a> {
    Limits { until: time.until, cancelled, output_bytes: config.max_output_bytes, memory_bytes: config.memory_bytes }
}

/// Why we ended the program.
pub(super) fn explain(trouble: Trouble, config: &CommandConfig, time: &TimeLimit, context: &StepContext) -> Failed {
    let program = &config.program;
    match trouble {
        Trouble::TimeOver => {
            let message = format!("the program {program} {} and was ended", time.exceeded());
            Failed::of_service(StepError::retry(message).named("Timeout"))
        }
        Trouble::Cancelled => Failed::stopped(context, &format!("the program {program} ran")),
        Trouble::TooMuchOutput => {
            let most = megabytes(config.max_output_bytes as u64);
            let message = format!("the program {program} printed more than the {most} allowed and was ended");
            Failed::of_service(StepError::bug(message).named("TooMuchOutput"))
        }
        Trouble::TooMuchMemory { used } => {
            let limit = megabytes(config.memory_bytes.unwrap_or_default());
            let used = megabytes(used);
            let message =
                format!("the program {program} used {used} of memory, more than the {limit} allowed, and was ended");
            Failed::of_service(StepError::retry(message).named("MemoryLimit"))
        }
        Trouble::Closed => {
            Failed::bad_answer(format!("the program {program} closed its output without an answer and was ended"))
        }
        Trouble::Io(error) => {
            Failed::of_service(StepError::retry(format!("talking to the program {program} failed: {error}")))
        }
    }
}

/// A program that ended without an answer, and not well.
pub(super) fn ended_badly(program: &str, status: ExitStatus, last_message: &str) -> Failed {
    let said = if last_message.is_empty() { String::new() } else { format!(": {last_message}") };
    let error = match (status.code(), status.signal()) {
        (_, Some(signal)) => {
            StepError::retry(format!("the program {program} was killed by {}{said}", signal_name(signal)))
                .named("Killed")
        }
        (code, None) => {
            let code = code.unwrap_or(-1);
            StepError::retry(format!("the program {program} ended with exit code {code}{said}")).named("ExitCode")
        }
    };
    Failed::of_service(error)
}

fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 12] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
        (24, "SIGXCPU"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| format!("{name} (signal {signal})"))
}
