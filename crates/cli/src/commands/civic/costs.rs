//! `bindery civic costs`: what the language model was asked, and what it cost.

use super::{days, shown::money};
use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    model_costs::{ModelCosts, ModelUse, day_of},
};
use bindery_core::{Clock as _, time::SystemClock};
use jiff::{ToSpan as _, civil::Date};

/// Without any day given, so many are told.
const USUAL_DAYS: i64 = 30;

/// Show what the language model has cost
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic costs                             the last 30 days
  bindery civic costs --day 2026-03-04
  bindery civic costs --from 2026-03-01 --to 2026-03-31 --json | jq '[.days[].cost_micros] | add'
Days are those of UTC. Costs are in the currency of the prices in [models]; `cost_micros` are its
millionths. Without [models] in bindery.toml, summaries are made by rules and cost nothing.")]
pub(super) struct Args {
    /// Only this day
    #[arg(long, value_parser = days::day, conflicts_with_all = ["from", "to"])]
    day: Option<Date>,

    /// This day and later
    #[arg(long, value_name = "DAY", value_parser = days::day)]
    from: Option<Date>,

    /// This day and earlier
    #[arg(long, value_name = "DAY", value_parser = days::day)]
    to: Option<Date>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    days::in_order(args.from, args.to)?;
    let app = settings.existing().await?;
    let (from, to) = chosen(&args, day_of(SystemClock.now()));
    let costs = ModelCosts::between(&app, settings, from, to).await?;
    if args.json {
        output::json(&costs)?;
    } else {
        show(&costs, settings.models().is_some())?;
    }
    Ok(Exit::Ok)
}

fn chosen(args: &Args, today: Date) -> (Option<Date>, Option<Date>) {
    match (args.day, args.from, args.to) {
        (Some(day), _, _) => (Some(day), Some(day)),
        (None, None, None) => (today.checked_sub((USUAL_DAYS - 1).days()).ok(), None),
        (None, from, to) => (from, to),
    }
}

fn show(costs: &ModelCosts, has_model: bool) -> anyhow::Result<()> {
    if costs.days.is_empty() {
        let why = if has_model { "" } else { ": none is configured, and summaries are made by rules" };
        output::line(format!("no language model was asked{why}"))?;
    } else {
        let row = |day: &ModelUse| {
            [
                day.day.clone(),
                day.model.clone(),
                day.calls.to_string(),
                day.failed.to_string(),
                day.input_tokens.to_string(),
                day.cached_tokens.to_string(),
                day.output_tokens.to_string(),
                money(day.cost_micros),
            ]
        };
        let header = ["DAY", "MODEL", "CALLS#", "FAILED#", "TOKENS IN#", "CACHED#", "TOKENS OUT#", "COST#"];
        output::table(&header, costs.days.iter().map(row))?;
        output::line(format!("{} in all", money(costs.cost_micros)))?;
    }
    let today = &costs.today;
    if let (Some(cap), Some(left)) = (today.cap_micros, today.left_micros) {
        let spent = format!("{} spent, {} set aside", money(today.spent_micros), money(today.set_aside_micros));
        output::line(format!("today: {spent}, {} left of the cap of {}", money(left), money(cap)))?;
    }
    Ok(())
}
