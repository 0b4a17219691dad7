//! What all commands that read what waits have in common: their flags, progress, signals, results and exit codes.

use super::{fetching::Fetching, shown::money};
use crate::{exit::Exit, output};
use bindery_app::{
    App, Notice, Settings, Signals,
    councils::{
        Councils,
        client::Client,
        processing::{
            JobReport,
            run::{CityProcessed, CityStatus, Hearing, Processing, ProcessingObserver, RunOptions, Visited},
        },
    },
    names,
    reading::OcrMode,
    supervisor::StopHandle,
};
use std::{sync::Arc, time::Duration};

/// What is told of a city can be long.
const LONGEST_REASON: usize = 300;

/// So many jobs that wait are told of each city; --json has them all.
const WAITING_SHOWN: usize = 3;

/// How documents are read.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ReadFlags {
    /// How many meetings and matters are read at the same time
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: u16,

    /// Read no scans
    #[arg(long)]
    no_ocr: bool,

    /// How long work under way may take to finish after the first signal
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    drain_seconds: u64,
}

impl ReadFlags {
    /// Reads with what this client fetches.
    pub(super) fn councils(&self, client: Arc<Client>, told: Told) -> Councils {
        let ocr = if self.no_ocr { OcrMode::Never } else { OcrMode::Auto };
        Councils { client, ocr, hearing: Arc::new(Hearing::telling(Arc::new(Progress(told)))) }
    }

    pub(super) fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }
}

/// How cities that somebody names are processed.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RunFlags {
    #[command(flatten)]
    pub(super) read: ReadFlags,

    /// Wait so long for what failed and is tried again later, or waits for a quota; else it is only told of
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    wait: u64,

    /// Say what would be read and what it could cost at most; read nothing, ask nobody, store nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl RunFlags {
    /// The store that is there, to read in this way.
    pub(super) async fn open(
        &self,
        settings: &Settings,
        fetching: &Fetching,
        told: Told,
    ) -> anyhow::Result<(App, Arc<Client>)> {
        let client = Arc::new(fetching.client()?);
        let app = settings.existing_for(self.read.councils(Arc::clone(&client), told)).await?;
        Ok((app, client))
    }

    pub(super) fn processing(&self, app: &App) -> anyhow::Result<Processing> {
        let options = RunOptions {
            name: names::of_processing(),
            threads: usize::from(self.read.threads),
            wait: Duration::from_secs(self.wait),
            drain: self.read.drain(),
        };
        Ok(Processing::new(app.engine.clone(), Arc::clone(&app.councils()?.hearing), options))
    }
}

/// Who hears of what, as it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// People, on stderr.
    Remarks,
    /// Programs: a line of JSON for each city that was processed.
    Cities,
    /// Programs: a line of JSON for each city that was visited and processed.
    Visits,
    /// Programs: a line of JSON for each meeting and matter.
    Jobs,
}

#[derive(Debug)]
struct Progress(Told);

/// Whoever read our output may have gone away; the work goes on.
impl ProcessingObserver for Progress {
    fn job_ended(&self, report: &JobReport) {
        match self.0 {
            Told::Jobs => drop(output::json_line(report)),
            Told::Remarks | Told::Cities | Told::Visits => output::note(job_sentence(report)),
        }
    }

    fn city_ended(&self, result: &CityProcessed) {
        match self.0 {
            Told::Remarks => output::note(sentence(result)),
            Told::Cities => drop(output::json_line(result)),
            Told::Visits | Told::Jobs => {}
        }
    }

    fn visited(&self, visited: &Visited) {
        if self.0 == Told::Visits {
            drop(output::json_line(visited));
        }
    }
}

/// One line about a meeting or a matter.
fn job_sentence(report: &JobReport) -> String {
    let about = report.source_url.replacen("://", " ", 1);
    let tally = &report.tally;
    let done = format!(
        "{}, {} new, {} skipped",
        output::count(tally.items_processed, "item"),
        tally.items_new,
        tally.items_skipped
    );
    match &report.error {
        None => format!("{about}: {done}"),
        Some((kind, sentence)) => {
            let done = if tally.items_processed > 0 { format!(" ({done})") } else { String::new() };
            format!("{about}: {}: {}{done}", kind.to_lowercase(), output::short(sentence, LONGEST_REASON))
        }
    }
}

/// One line about a city.
fn sentence(result: &CityProcessed) -> String {
    let took = output::duration(Duration::from_secs_f64(result.duration_seconds.max(0.0)));
    let mut line = format!(
        "{}  {}: {}, {}, {took}",
        result.city_key,
        result.status.as_str(),
        output::count(result.meetings_processed, "meeting"),
        output::count(result.items_new, "new item"),
    );
    if let Some(error) = &result.error_message {
        line.extend([": ", output::short(error, LONGEST_REASON).as_str()]);
    }
    line
}

/// Does the work until it ends. A signal lets what is under way finish, a second one does not; a third one does not even
/// wait for that: then none.
pub(super) async fn until_done<T>(
    app: &App,
    handle: &StopHandle,
    signals: &mut Signals,
    work: impl Future<Output = T>,
) -> Option<T> {
    signals.attend(handle, &[Notice::Draining, Notice::StoppingAtOnce], app.observer(), work).await
}

/// A table of what processing came to, and what waits.
pub(super) fn show(results: &[&CityProcessed]) -> anyhow::Result<()> {
    let header = [
        "CITY",
        "STATUS",
        "MEETINGS#",
        "MATTERS#",
        "ITEMS#",
        "NEW#",
        "SKIPPED#",
        "FAILED#",
        "WAITING#",
        "COST#",
        "WHY",
    ];
    let rows = results.iter().map(|result| {
        [
            result.city_key.clone(),
            result.status.as_str().to_owned(),
            result.meetings_processed.to_string(),
            result.matters_processed.to_string(),
            result.items_processed.to_string(),
            result.items_new.to_string(),
            result.items_skipped.to_string(),
            result.items_failed.to_string(),
            result.waiting.len().to_string(),
            money(result.cost_micros),
            output::short(result.error_message.as_deref().unwrap_or_default(), LONGEST_REASON),
        ]
    });
    output::fitted_table(&header, rows)?;
    for result in results {
        for waiting in result.waiting.iter().take(WAITING_SHOWN) {
            let until = waiting.until.map(|at| format!(" until {at}")).unwrap_or_default();
            let because = output::short(&waiting.because, LONGEST_REASON);
            output::note(format!("{} waits{until}: {because}", waiting.source_url));
        }
        let more = result.waiting.len().saturating_sub(WAITING_SHOWN);
        if more > 0 {
            let city = &result.city_key;
            output::note(format!("and {more} more of {city}; `bindery civic queue list --city {city}` lists them"));
        }
    }
    Ok(())
}

/// All went well, some of it, or nothing.
pub(super) fn exit_of<'r>(results: impl IntoIterator<Item = &'r CityProcessed>) -> Exit {
    let (mut all, mut some, mut stopped) = (true, false, false);
    for result in results {
        let is_completed = result.status == CityStatus::Completed;
        all &= is_completed;
        some |= is_completed || result.processed_count + result.partial_count > 0;
        stopped |= result.status == CityStatus::Pending;
    }
    match (all, stopped, some) {
        (true, ..) => Exit::Ok,
        (_, true, _) => Exit::Interrupted,
        (_, _, true) => Exit::Partial,
        (_, _, false) => Exit::Unexpected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_says_how_much_was_read() {
        use CityStatus::{Completed, Failed, Partial, Pending, Waiting};
        let of = |statuses: &[(CityStatus, u64)]| {
            let result = |(status, processed_count): &(CityStatus, u64)| CityProcessed {
                status: *status,
                processed_count: *processed_count,
                ..CityProcessed::default()
            };
            exit_of(&statuses.iter().map(result).collect::<Vec<_>>())
        };
        assert_eq!((of(&[]), of(&[(Completed, 0)])), (Exit::Ok, Exit::Ok));
        assert_eq!((of(&[(Completed, 0), (Failed, 0)]), of(&[(Partial, 1)])), (Exit::Partial, Exit::Partial));
        assert_eq!((of(&[(Waiting, 0)]), of(&[(Waiting, 1)])), (Exit::Unexpected, Exit::Partial));
        assert_eq!((of(&[(Failed, 0)]), of(&[(Completed, 3), (Pending, 0)])), (Exit::Unexpected, Exit::Interrupted));
    }
}
