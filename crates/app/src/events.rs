//! Events from outside, and the log.

use crate::{app::App, error::AppResult};
use bindery_core::{Name, Timestamp};
use bindery_engine::aggregator::outside_event;
use bindery_store::query::ConsumerView;
pub use bindery_store::query::EventFilter;
use serde::Serialize;
use serde_json::Value;

/// Why nothing was appended; the first event that is wrong is named by its place.
#[derive(Debug, thiserror::Error)]
pub enum EventsRefused {
    #[error("{place}: {message}")]
    Bad { place: String, message: String },
    #[error("there are no events in the input")]
    None,
}

/// The events of a text, each checked: one JSON object on each line, or a JSON array of them.
pub fn parse_events(text: &str) -> Result<Vec<Value>, EventsRefused> {
    let bad = |place: String, message: String| EventsRefused::Bad { place, message };
    let mut found = Vec::new();
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[') {
        let array: Vec<Value> =
            serde_json::from_str(text).map_err(|error| bad("the array".to_owned(), error.to_string()))?;
        for (index, envelope) in array.into_iter().enumerate() {
            outside_event(&envelope).map_err(|error| bad(format!("event {}", index + 1), error.to_string()))?;
            found.push(envelope);
        }
    } else {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = || format!("line {}", index + 1);
            let envelope: Value = serde_json::from_str(line).map_err(|error| bad(place(), error.to_string()))?;
            outside_event(&envelope).map_err(|error| bad(place(), error.to_string()))?;
            found.push(envelope);
        }
    }
    if found.is_empty() { Err(EventsRefused::None) } else { Ok(found) }
}

/// How far a consumer of the log has read.
#[derive(Debug, Serialize)]
pub struct ConsumerPosition {
    pub consumer: Name,
    pub position: i64,
    pub behind: i64,
    pub updated_at: Timestamp,
}

impl App {
    /// Appends events from outside, all or none. Returns how many were not known before.
    pub async fn append_outside(&self, envelopes: &[Value]) -> AppResult<u64> {
        let stored = self.engine.append_outside(envelopes).await?;
        Ok(stored.iter().flatten().count() as u64)
    }

    /// The stored positions: after a restart each consumer goes on from there.
    pub async fn consumers(&self) -> AppResult<Vec<ConsumerPosition>> {
        let newest = self.store().last_event().await?.raw();
        let to_position = |view: ConsumerView| {
            let position = view.position.raw();
            ConsumerPosition {
                consumer: view.consumer,
                position,
                behind: (newest - position).max(0),
                updated_at: view.updated_at,
            }
        };
        Ok(self.store().consumers().await?.into_iter().map(to_position).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_event_is_named_by_its_line() {
        let good = r#"{"eventType": "Anything"}"#;
        let message = |text: &str| parse_events(text).unwrap_err().to_string();
        assert_eq!(message(&format!("{good}\n\n{{}}")), "line 3: event: eventType is missing");
        assert!(message(&format!("{good}\n{{")).starts_with("line 2: EOF"));
        assert_eq!(message(&format!("[{good}, 3]")), "event 2: event: expected a JSON object");
        assert_eq!(message(" \n"), "there are no events in the input");
        assert_eq!(parse_events(&format!("\n{good}\r\n{good}")).unwrap().len(), 2);
    }
}
