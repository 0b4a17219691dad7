//! `bindery civic city import`: many cities at once, all or none.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    Settings,
    councils::{
        records::{Jurisdiction, JurisdictionFilter},
        register::{
            Plan, Purpose,
            file::{self, Listed},
            plan,
            plan::PlacedFault,
        },
    },
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Enter many cities from a file, all or none
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic city import cities.csv --dry-run
  bindery civic city import cities.jsonl --skip-existing
  bindery civic city list --json --with-secrets | bindery --store other-data civic city import -
A table (CSV) begins with a header, e.g. banana,name,vendor,slug,tz,type,status,county,population,
extra,zipcodes,settings; the first four are needed for a new city. JSON lines and a JSON array have
the same fields. Cities that are known take what the file says; what it does not say stays. If one
line cannot be used, nothing is stored, and every such line is told.")]
pub(super) struct Args {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Leave cities that are known as they are
    #[arg(long)]
    skip_existing: bool,

    /// Say what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let (name, text) = text_of(&args.file)?;
    let listed = file::read(&text).map_err(|message| {
        Failure::usage(format!("{name}: {message}")).hint("`bindery civic city import --help` shows the fields")
    })?;
    let purpose = Purpose::Import { skip_existing: args.skip_existing };
    // What is wrong whatever is stored is told before a store is made.
    let app = if args.dry_run || !listed.faults.is_empty() {
        settings.if_existing().await?
    } else {
        match settings.if_existing().await? {
            Some(app) => Some(app),
            None if plan(&listed.entries, &[], purpose).is_ok() => Some(settings.create().await?),
            None => None,
        }
    };
    let planned = match &app {
        Some(app) if !args.dry_run && listed.faults.is_empty() => {
            app.store_cities(purpose, |_| Ok(listed.entries.clone())).await?
        }
        Some(app) => plan(&listed.entries, &app.civic().jurisdictions(JurisdictionFilter::default()).await?, purpose),
        None => plan(&listed.entries, &[] as &[Jurisdiction], purpose),
    };
    match (planned, listed.faults.is_empty()) {
        (Ok(plan), true) => tell(&plan, &args)?,
        (planned, _) => return Err(refusal(&name, listed, planned.err().unwrap_or_default(), &args)?.into()),
    }
    Ok(Exit::Ok)
}

fn text_of(file: &Path) -> Result<(String, String), Failure> {
    let (name, read) = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        ("standard input".to_owned(), io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (file.display().to_string(), fs::read(file))
    };
    let bytes = read.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
            let line = before.filter(|byte| **byte == b'\n').count() + 1;
            Err(Failure::usage(format!("{name}, line {line}: this is no text in UTF-8"))
                .hint("save it as UTF-8 and try again"))
        }
    }
}

/// Every line that cannot be used, in the order of the file.
fn refusal(name: &str, listed: Listed, planned: Vec<PlacedFault>, args: &Args) -> anyhow::Result<Failure> {
    let number = |fault: &PlacedFault| -> usize {
        fault.place.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
    };
    let mut faults: Vec<PlacedFault> = listed.faults.into_iter().chain(planned).collect();
    faults.sort_by_key(number);
    if args.json {
        output::json(&as_json(&Plan::default(), &faults, args.dry_run))?;
    }
    for fault in &faults {
        output::note(format!("{name}, {fault}"));
    }
    let mut lines: Vec<usize> = faults.iter().map(number).collect();
    lines.dedup();
    let lines = output::count(lines.len() as u64, "line");
    Ok(Failure::usage(format!("{name}: {lines} cannot be used; nothing was stored")))
}

fn as_json(plan: &Plan, faults: &[PlacedFault], dry_run: bool) -> Value {
    let Plan { added, changed, unchanged, skipped, .. } = plan;
    json!({
        "added": added, "changed": changed, "unchanged": unchanged, "skipped": skipped, "faults": faults,
        "dry_run": dry_run,
    })
}

fn tell(plan: &Plan, args: &Args) -> anyhow::Result<()> {
    if args.json {
        return output::json(&as_json(plan, &[], args.dry_run));
    }
    let would = if args.dry_run { "would be " } else { "" };
    let kinds = [
        ("added", &plan.added),
        ("changed", &plan.changed),
        ("unchanged", &plan.unchanged),
        ("skipped", &plan.skipped),
    ];
    for (kind, city_keys) in kinds.into_iter().filter(|(_, city_keys)| !city_keys.is_empty()) {
        let names = output::short(&city_keys.join(", "), 200);
        let would = if kind == "unchanged" { "" } else { would };
        output::line(format!("{would}{kind}: {} ({names})", city_keys.len()))?;
    }
    Ok(())
}
