//! What language models were asked, and what it cost.

use crate::{app::App, error::AppResult, settings::Settings};
use bindery_core::{Clock as _, Timestamp, time::SystemClock};
pub use bindery_models::ledger::day_of;
use bindery_models::stored::{ModelCall, ModelCallFilter, ModelDay, ModelLedger};
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeMap;

/// What one model did on one day.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModelUse {
    pub day: String,
    pub provider: String,
    pub model: String,
    pub calls: u64,
    /// Those that were not answered.
    pub failed: u64,
    pub input_tokens: u64,
    /// How many of them the service had kept from before.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    pub cost_micros: i64,
}

/// How today stands.
#[derive(Debug, Serialize)]
pub struct SpendingToday {
    pub day: String,
    /// With money that a process has left behind: nobody knows what its call has cost.
    pub spent_micros: i64,
    /// For calls under way.
    pub set_aside_micros: i64,
    pub cap_micros: Option<i64>,
    pub left_micros: Option<i64>,
}

/// What was spent on some days, and how today stands.
#[derive(Debug, Serialize)]
pub struct ModelCosts {
    pub days: Vec<ModelUse>,
    pub cost_micros: i64,
    pub today: SpendingToday,
}

impl ModelCosts {
    /// Of these days, by UTC, both included.
    pub async fn between(app: &App, settings: &Settings, from: Option<Date>, to: Option<Date>) -> AppResult<Self> {
        let (from_day, to_day) = (from.map(|day| day.to_string()), to.map(|day| day.to_string()));
        let filter = ModelCallFilter { from_day, to_day, limit: None };
        let days = by_day_and_model(&ModelLedger::new(app.store()).model_calls(&filter).await?);
        let today = SpendingToday::look(app, settings, SystemClock.now()).await?;
        Ok(Self { cost_micros: days.iter().map(|day| day.cost_micros).sum(), days, today })
    }
}

impl SpendingToday {
    /// What was spent today, and may still be.
    pub async fn look(app: &App, settings: &Settings, now: Timestamp) -> AppResult<Self> {
        let cap = settings.models().and_then(|models| models.daily_cost_cap).map(|cap| (cap * 1e6) as i64);
        let day = ModelLedger::new(app.store()).model_day(&day_of(now).to_string()).await?;
        Ok(Self::new(&day, now, cap))
    }

    fn new(day: &ModelDay, now: Timestamp, cap_micros: Option<i64>) -> Self {
        let (spent_micros, set_aside_micros) = (day.spent_at(now), day.under_way_at(now));
        let left = |cap: i64| cap.saturating_sub(spent_micros).saturating_sub(set_aside_micros).max(0);
        Self { day: day.day.clone(), spent_micros, set_aside_micros, cap_micros, left_micros: cap_micros.map(left) }
    }
}

fn by_day_and_model(calls: &[ModelCall]) -> Vec<ModelUse> {
    let mut days: BTreeMap<(&str, &str, &str), ModelUse> = BTreeMap::new();
    for call in calls {
        let day = days.entry((&call.day, &call.provider, &call.model)).or_insert_with(|| ModelUse {
            day: call.day.clone(),
            provider: call.provider.clone(),
            model: call.model.clone(),
            ..ModelUse::default()
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
