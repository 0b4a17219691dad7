//! `bindery civic preview-queue`: what waits to be read. Looking takes no job out of the queue.

use super::city::{existing, find_city};
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{
        QueuePreview, parse_city_key,
        records::{QueueStats, QueueStatus},
    },
};
use serde::Serialize;

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

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let city_key = args.city_key.as_deref().map(parse_city_key).transpose()?;
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
    let preview = Preview { city_key: city_key.into(), total_queued, previews: app.describe_council_jobs(jobs).await? };
    if args.json {
        output::json(&preview)?;
        return Ok(Exit::Ok);
    }
    show(&preview.previews)?;
    output::note(format!("{} of {}", output::count(total_queued as u64, "waiting job"), preview.city_key));
    Ok(Exit::Ok)
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
