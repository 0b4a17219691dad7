//! `bindery machine replay`: recorded runs, run again and compared.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::machines::{Case, Report, Summary, Tier, Verdict, replay_case};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

/// Run recorded cases again, with the answers that tasks gave, and compare what happens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine replay histories.jsonl
  bindery machine replay histories.jsonl --tier 1             how runs end, and nothing else
  bindery machine replay histories.jsonl --case map_state     those whose name has this in it
Each line of the file is one case: name, needs, definition, input, events. Tiers: 1 how it ends, 2 the order of events,
3 what they say, 4 the text of causes. The exit code is 1 if a case does not end as recorded.")]
pub(crate) struct Args {
    /// One case in JSON on each line
    file: PathBuf,

    /// Compare up to this tier
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=4))]
    tier: u8,

    /// Only cases with this in their name
    #[arg(long, value_name = "NAME")]
    case: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A file with fewer cases is done before a bar would be seen.
const SHOWS_PROGRESS: usize = 20;

pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let cases = read(&args.file)?;
    let cases: Vec<&Case> = match &args.case {
        None => cases.iter().collect(),
        Some(wanted) => cases.iter().filter(|case| case.name.contains(wanted)).collect(),
    };
    if cases.is_empty() {
        let wanted = args.case.unwrap_or_default();
        let message = format!("no case in {} has {wanted:?} in its name", args.file.display());
        return Err(Failure::usage(message).into());
    }
    let reports: Vec<Report> = replayed(&cases).into_iter().map(|report| up_to(report, args.tier)).collect();
    let (alone, with_services) = (Summary::from_reports(&reports, false), Summary::from_reports(&reports, true));
    if args.json {
        output::json(&as_json(&reports, alone, with_services, args.tier))?;
    } else {
        differences(&reports)?;
        counts(alone, with_services, args.tier)?;
        skipped(&reports)?;
    }
    let differing = alone.cases + with_services.cases - alone.reached[0] - with_services.reached[0];
    if differing == 0 {
        return Ok(Exit::Ok);
    }
    let verb = if differing == 1 { "does" } else { "do" };
    let message = format!("{} {verb} not end as recorded", output::count(differing as u64, "case"));
    Err(Failure::new(Exit::Unexpected, message).into())
}

fn read(file: &Path) -> anyhow::Result<Vec<Case>> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| Failure::usage(format!("{name} cannot be read: {error}")))?;
    let cases = Case::read_all(&text).map_err(|error| {
        let hint = "each line is an object with name, definition, input and events";
        Failure::usage(format!("{name}: {error}")).hint(hint)
    })?;
    if cases.is_empty() {
        return Err(Failure::usage(format!("{name} holds no cases")).into());
    }
    Ok(cases)
}

fn replayed(cases: &[&Case]) -> Vec<Report> {
    let shows = cases.len() >= SHOWS_PROGRESS && io::stderr().is_terminal();
    let bar = shows.then(|| output::bars().add(ProgressBar::new(cases.len() as u64)));
    let replayed = cases.iter().map(|case| {
        let report = replay_case(case);
        if let Some(bar) = &bar {
            bar.inc(1);
        }
        report
    });
    let reports = replayed.collect();
    if let Some(bar) = bar {
        bar.finish_and_clear();
        output::leave_bars();
    }
    reports
}

/// What differs only in later tiers is the same.
fn up_to(mut report: Report, most: u8) -> Report {
    if matches!(&report.verdict, Verdict::Differs { tier, .. } if *tier as u8 > most) {
        report.verdict = Verdict::Same;
    }
    report
}

fn word(tier: Tier) -> &'static str {
    match tier {
        Tier::Outcome => "outcome",
        Tier::Order => "order",
        Tier::Details => "details",
        Tier::Causes => "causes",
    }
}

fn differences(reports: &[Report]) -> io::Result<()> {
    let mut any = false;
    for report in reports {
        let line = match &report.verdict {
            Verdict::Same | Verdict::Skipped(_) => continue,
            Verdict::Differs { tier, difference } => format!("tier {}, {}: {difference}", *tier as u8, word(*tier)),
            Verdict::Rejected(faults) => format!("the definition was not accepted: {faults}"),
        };
        output::line(format!("{}\n  {line}", report.name))?;
        any = true;
    }
    if any { output::line("") } else { Ok(()) }
}

fn counts(alone: Summary, with_services: Summary, most: u8) -> io::Result<()> {
    let tiers = &Tier::ALL[..usize::from(most)];
    let titles: Vec<String> = tiers.iter().map(|tier| format!("{}#", word(*tier).to_uppercase())).collect();
    let header: Vec<&str> = ["", "CASES#"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let row = |name: &str, summary: Summary| {
        let reached = summary.reached[..tiers.len()].iter().map(ToString::to_string);
        [name.to_owned(), summary.cases.to_string()].into_iter().chain(reached).collect::<Vec<_>>()
    };
    output::table(&header, [row("without services", alone), row("with services", with_services)])
}

fn skipped(reports: &[Report]) -> io::Result<()> {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for report in reports {
        if let Verdict::Skipped(why) = report.verdict {
            *reasons.entry(why).or_default() += 1;
        }
    }
    reasons
        .into_iter()
        .try_for_each(|(why, number)| output::line(format!("skipped {}: {why}", output::count(number, "case"))))
}

fn as_json(reports: &[Report], alone: Summary, with_services: Summary, most: u8) -> Value {
    let counted = |summary: Summary| {
        let reached: serde_json::Map<String, Value> = Tier::ALL[..usize::from(most)]
            .iter()
            .zip(summary.reached)
            .map(|(tier, reached)| (word(*tier).to_owned(), reached.into()))
            .collect();
        json!({"cases": summary.cases, "skipped": summary.skipped, "reached": reached})
    };
    let differing = reports.iter().filter_map(|report| match &report.verdict {
        Verdict::Differs { tier, difference } => {
            Some(json!({"name": report.name, "tier": *tier as u8, "difference": difference}))
        }
        Verdict::Rejected(faults) => Some(json!({"name": report.name, "tier": 1, "difference": faults})),
        _ => None,
    });
    let skipped = reports.iter().filter_map(|report| match &report.verdict {
        Verdict::Skipped(why) => Some(json!({"name": report.name, "reason": why})),
        _ => None,
    });
    json!({
        "withoutServices": counted(alone), "withServices": counted(with_services),
        "differences": differing.collect::<Vec<_>>(), "skipped": skipped.collect::<Vec<_>>(),
    })
}
