//! `bindery civic costs`: what the language model was asked, and what it cost.

use super::{days, shown::money};
use crate::{exit::Exit, output};
use bindery_app::{
    App, Settings,
    councils::{
        costs::day_of,
        records::{ModelCall, ModelCallFilter, ModelLedger},
    },
};
use bindery_core::{Clock as _, Timestamp, time::SystemClock};
use jiff::{ToSpan as _, civil::Date};
use serde::Serialize;
use std::collections::BTreeMap;

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

/// What one model did on one day.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct DayOfModel {
    day: String,
    provider: String,
    model: String,
    calls: u64,
    /// Those that were not answered.
    failed: u64,
    input_tokens: u64,
    /// How many of them the service had kept from before.
    cached_tokens: u64,
    output_tokens: u64,
    cost_micros: i64,
}

/// How today stands.
#[derive(Debug, Serialize)]
pub(super) struct Today {
    pub(super) day: String,
    /// With money that a process has left behind: nobody knows what its call has cost.
    pub(super) spent_micros: i64,
    /// For calls under way.
    set_aside_micros: i64,
    pub(super) cap_micros: Option<i64>,
    pub(super) left_micros: Option<i64>,
}

#[derive(Debug, Serialize)]
struct Costs {
    days: Vec<DayOfModel>,
    cost_micros: i64,
    today: Today,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    days::in_order(args.from, args.to)?;
    let app = settings.existing().await?;
    let now = SystemClock.now();
    let (from, to) = chosen(&args, day_of(now));
    let filter = ModelCallFilter {
        from_day: from.map(|day| day.to_string()),
        to_day: to.map(|day| day.to_string()),
        limit: None,
    };
    let days = by_day_and_model(&ModelLedger::new(app.store()).model_calls(&filter).await?);
    let today = of_today(settings, &app, now).await?;
    let costs = Costs { cost_micros: days.iter().map(|day| day.cost_micros).sum(), days, today };
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

fn by_day_and_model(calls: &[ModelCall]) -> Vec<DayOfModel> {
    let mut days: BTreeMap<(&str, &str, &str), DayOfModel> = BTreeMap::new();
    for call in calls {
        let day = days.entry((&call.day, &call.provider, &call.model)).or_insert_with(|| DayOfModel {
            day: call.day.clone(),
            provider: call.provider.clone(),
            model: call.model.clone(),
            ..DayOfModel::default()
        });
        day.calls += 1;
        day.failed += u64::from(call.outcome != "answered");
        day.input_tokens += call.input_tokens;
        day.cached_tokens += call.cached_tokens;
        day.output_tokens += call.output_tokens;
        day.cost_micros = day.cost_micros.saturating_add(call.cost_micros);
    }
    days.into_values().collect()
}

/// What the model has cost today, and may still cost.
pub(super) async fn of_today(settings: &Settings, app: &App, now: Timestamp) -> anyhow::Result<Today> {
    let cap = settings.models().and_then(|models| models.daily_cost_cap).map(|cap| (cap * 1e6) as i64);
    let day = ModelLedger::new(app.store()).model_day(&day_of(now).to_string()).await?;
    Ok(today(&day, now, cap))
}

fn today(day: &bindery_app::councils::records::ModelDay, now: Timestamp, cap_micros: Option<i64>) -> Today {
    let (spent_micros, set_aside_micros) = (day.spent_at(now), day.under_way_at(now));
    let left = |cap: i64| cap.saturating_sub(spent_micros).saturating_sub(set_aside_micros).max(0);
    Today { day: day.day.clone(), spent_micros, set_aside_micros, cap_micros, left_micros: cap_micros.map(left) }
}

fn show(costs: &Costs, has_model: bool) -> anyhow::Result<()> {
    if costs.days.is_empty() {
        let why = if has_model { "" } else { ": none is configured, and summaries are made by rules" };
        output::line(format!("no language model was asked{why}"))?;
    } else {
        let row = |day: &DayOfModel| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_day_and_model() {
        let call = |day: &str, model: &str, cost_micros, outcome: &str| ModelCall {
            day: day.to_owned(),
            model: model.to_owned(),
            input_tokens: 100,
            output_tokens: 10,
            cost_micros,
            outcome: outcome.to_owned(),
            ..ModelCall::default()
        };
        let calls = [
            call("2026-03-04", "small", 5, "answered"),
            call("2026-03-04", "large", 50, "answered"),
            call("2026-03-04", "small", 0, "Timeout"),
            call("2026-03-05", "small", 7, "answered"),
        ];
        let days = by_day_and_model(&calls);
        let rows: Vec<(&str, &str, u64, u64, i64)> =
            days.iter().map(|day| (&*day.day, &*day.model, day.calls, day.failed, day.cost_micros)).collect();
        assert_eq!(
            rows,
            [("2026-03-04", "large", 1, 0, 50), ("2026-03-04", "small", 2, 1, 5), ("2026-03-05", "small", 1, 0, 7)]
        );
    }
}
