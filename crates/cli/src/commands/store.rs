//! `bindery store`: carrying everything to another store.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    archive::{ArchiveError, Carried},
};
use clap::Subcommand;
use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal as _, Read},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// How often it is said how far it is.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Carry a whole store, with its blobs, to another one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery store export everything.tar
  bindery --store other-data store import everything.tar
  bindery --store ./bindery-data store export - |
    bindery --store postgres://bindery@db/bindery --blobs /mnt/shared/blobs store import -
An export is everything as it was at one moment; work may go on meanwhile, and is not in it. An
import needs a store that holds no work yet. Its rows are there whole or not at all: an archive that
is cut off or was altered stores nothing. What was running in the old store is ready in the new one.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write everything as one tar
    Export {
        /// The file, or - for standard output
        #[arg(default_value = "-", value_name = "FILE")]
        file: PathBuf,
        /// Print what was carried as JSON; to stderr where the archive goes to standard output
        #[arg(long)]
        json: bool,
    },
    /// Read everything from a tar that an export has written
    Import {
        /// The file, or - for standard input
        #[arg(default_value = "-", value_name = "FILE")]
        file: PathBuf,
        /// Print what was carried as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    match args.action {
        Action::Export { file, json } => export(settings, &file, json).await,
        Action::Import { file, json } => import(settings, &file, json).await,
    }
}

async fn export(settings: &Settings, file: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let to_stdout = file.as_os_str() == "-";
    if to_stdout && io::stdout().is_terminal() {
        return Err(Failure::usage("an archive cannot be shown on a terminal").hint("name a file, or pipe it").into());
    }
    let app = settings.existing().await?;
    let carried = if to_stdout {
        app.export_to(BufWriter::new(io::stdout().lock()), teller()).await?
    } else {
        app.export_to_file(file, teller()).await?
    };
    if as_json && to_stdout {
        output::note_json(&carried)?;
    } else if as_json {
        output::json(&carried)?;
    } else {
        output::note(format!("exported {}", summary(&carried)));
    }
    Ok(Exit::Ok)
}

async fn import(settings: &Settings, file: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let from: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let opened = File::open(file);
        Box::new(opened.map_err(|error| Failure::usage(format!("{} cannot be read: {error}", file.display())))?)
    };
    let app = settings.create_bare().await?;
    let carried = app.import_from(from, teller()).await?;
    if as_json {
        output::json(&carried)?;
    } else {
        output::line(format!("imported {}", summary(&carried)))?;
        output::note("`bindery worker` goes on with the work");
    }
    Ok(Exit::Ok)
}

/// Says now and then how far it is.
fn teller() -> impl FnMut(&Carried) {
    let mut last = Instant::now();
    move |carried| {
        if last.elapsed() >= TELL_EVERY {
            last = Instant::now();
            output::note(summary(carried));
        }
    }
}

fn summary(carried: &Carried) -> String {
    let submissions = carried.tables.get("submission").copied().unwrap_or(0);
    format!(
        "{} in {}, {} ({})",
        output::count(submissions, "submission"),
        output::count(carried.rows, "row"),
        output::count(carried.blobs, "blob"),
        output::bytes(carried.blob_bytes)
    )
}

/// The exit code, and what can be done.
pub(crate) fn of_archive(error: &ArchiveError) -> (Exit, Option<String>) {
    match error {
        ArchiveError::Store(_) | ArchiveError::Blob(_) => (Exit::StoreUnavailable, None),
        ArchiveError::Bad(_) => (Exit::Usage, Some("export it again".to_owned())),
        ArchiveError::Io { .. } => (Exit::Usage, None),
    }
}
