//! `bindery civic preview-queue`: what waits to be read. Looking takes no job out of the queue.

use super::city::{existing, find_city};
use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings,
    councils::{
        city_key::CityKey,
        records::{CivicTask, MatterFilter, MeetingFilter, QueueJob, QueueStats, QueueStatus},
    },
};
use bindery_core::Timestamp;
use serde::Serialize;
use std::collections::HashMap;

/// Show what waits to be read: counts, or the jobs of a city
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic preview-queue                      how much waits, and how long a meeting takes
  bindery civic preview-queue paloaltoCA           its meetings and matters, in their order
  bindery civic preview-queue paloaltoCA --json")]
pub(crate) struct Args {
    /// The key of a city, e.g. paloaltoCA
    #[arg(value_name = "BANANA")]
    city_key: Option<String>,

    /// How many jobs of a city to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The jobs of a city.
#[derive(Debug, Serialize)]
struct Preview {
    #[serde(rename = "city_banana")]
    city_key: String,
    /// Those that wait, also those that are not shown.
    total_queued: usize,
    previews: Vec<QueuePreview>,
}

#[derive(Debug, Serialize)]
pub(super) struct QueuePreview {
    queue_id: String,
    job_type: String,
    meeting_id: String,
    #[serde(rename = "city_banana")]
    city_key: String,
    title: Option<String>,
    date: Option<Timestamp>,
    priority: i32,
    status: QueueStatus,
    retry_count: u32,
    error_message: Option<String>,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let city_key = args.city_key.as_deref().map(CityKey::parse).transpose();
    let city_key = city_key.map_err(|fault| Failure::usage(fault.to_string()))?;
    let app = existing(settings).await?;
    let Some(city_key) = city_key else {
        let stats = app.civic().queue_stats().await?;
        if args.json {
            output::json(&stats)?;
        } else {
            show_counts(&stats)?;
        }
        return Ok(Exit::Ok);
    };
    find_city(&app, city_key.as_str()).await?;
    let mut jobs = app.civic().queue_jobs(Some(city_key.as_str()), None).await?;
    let total_queued = jobs.iter().filter(|job| job.status == QueueStatus::Pending).count();
    jobs.truncate(args.limit);
    let preview = Preview { city_key: city_key.into(), total_queued, previews: described(&app, jobs).await? };
    if args.json {
        output::json(&preview)?;
        return Ok(Exit::Ok);
    }
    show(&preview.previews)?;
    output::note(format!("{} of {}", output::count(total_queued as u64, "waiting job"), preview.city_key));
    Ok(Exit::Ok)
}

/// Jobs with the titles and days of what they are about.
pub(super) async fn described(app: &App, jobs: Vec<QueueJob>) -> anyhow::Result<Vec<QueuePreview>> {
    let meetings = jobs.iter().map(|job| job.meeting_id.clone()).collect();
    let of_matter = |job: &QueueJob| match &job.payload {
        CivicTask::Matter { matter_id, .. } => Some(matter_id.clone()),
        CivicTask::Meeting { .. } => None,
    };
    let matters: Vec<String> = jobs.iter().filter_map(of_matter).collect();
    let civic = app.civic();
    let filter = MeetingFilter { ids: meetings, with_removed: true, ..MeetingFilter::default() };
    let meetings = if jobs.is_empty() { Vec::new() } else { civic.meetings(filter).await? };
    let meetings: HashMap<_, _> =
        meetings.into_iter().map(|meeting| (meeting.id, (meeting.title, meeting.starts_at))).collect();
    let filter = MatterFilter { ids: matters.clone(), ..MatterFilter::default() };
    let matters = if matters.is_empty() { Vec::new() } else { civic.matters(filter).await? };
    let matters: HashMap<_, _> = matters.into_iter().map(|matter| (matter.id, matter.title)).collect();
    let described = |job: QueueJob| {
        let meeting = meetings.get(&job.meeting_id);
        let title = match of_matter(&job) {
            Some(matter) => matters.get(&matter).cloned(),
            None => meeting.map(|(title, _)| title.clone()),
        };
        QueuePreview {
            queue_id: job.id.to_string(),
            job_type: job.job_type,
            date: meeting.and_then(|(_, start)| *start),
            meeting_id: job.meeting_id,
            city_key: job.city_key,
            title,
            priority: job.priority,
            status: job.status,
            retry_count: job.retry_count,
            error_message: job.error_message,
        }
    };
    Ok(jobs.into_iter().map(described).collect())
}

fn show_counts(stats: &QueueStats) -> anyhow::Result<()> {
    let counts = [
        ("pending", stats.pending),
        ("processing", stats.processing),
        ("completed", stats.completed),
        ("failed", stats.failed),
        ("dead letter", stats.dead_letter),
    ];
    output::table(&["STATUS", "JOBS#"], counts.map(|(status, count)| [status.to_owned(), count.to_string()]))?;
    output::note(match stats.avg_processing_seconds {
        Some(seconds) => format!("a meeting takes {seconds:.1} s on average"),
        None => "no meeting was read yet, so nobody knows how long one takes".to_owned(),
    });
    Ok(())
}

pub(super) fn show(jobs: &[QueuePreview]) -> anyhow::Result<()> {
    if jobs.is_empty() {
        output::note("nothing waits");
        return Ok(());
    }
    let row = |job: &QueuePreview| {
        [
            job.queue_id.clone(),
            job.city_key.clone(),
            job.job_type.clone(),
            job.status.as_str().to_owned(),
            job.priority.to_string(),
            job.date.map(|date| date.to_string().chars().take(10).collect()).unwrap_or_default(),
            output::short(job.title.as_deref().unwrap_or(&job.meeting_id), 60),
            output::short(job.error_message.as_deref().unwrap_or_default(), 60),
        ]
    };
    output::table(&["JOB", "CITY", "ABOUT", "STATUS", "PRIORITY#", "DAY", "TITLE", "ERROR"], jobs.iter().map(row))?;
    Ok(())
}
