//! Topics that a jurisdiction adds to the sixteen that all share.
//!
//! They stand in its settings, where whoever follows the city enters them:
//!
//! ```json
//! {"topics": [{"key": "harbor", "name": "Harbor & Waterfront", "synonyms": ["marina", "boat ramp"]}]}
//! ```

use crate::prose::topics::{LocalTopic, Topics};
use bindery_store::civic::Jurisdiction;
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

/// The setting that holds them.
pub const SETTING: &str = "topics";

/// No city has more, and every one is told to the model with every item.
const MOST: usize = 50;
/// Of a key, a name or a synonym.
const LONGEST: usize = 80;

static SIXTEEN: LazyLock<Arc<Topics>> = LazyLock::new(Arc::default);

/// The topics of a jurisdiction. Settings that say nothing sensible add nothing; they are refused when they are entered.
pub fn topics_of(city: &Jurisdiction) -> Arc<Topics> {
    match local_topics(&city.settings) {
        Ok(local) if local.is_empty() => Arc::clone(&SIXTEEN),
        Ok(local) => Arc::new(Topics::with_local(&local)),
        Err(fault) => {
            tracing::warn!(city = %city.banana, "the topics of the city are not used: {fault}");
            Arc::clone(&SIXTEEN)
        }
    }
}

/// What settings say of topics; or what is wrong with it, in one sentence.
pub fn local_topics(settings: &Map<String, Value>) -> Result<Vec<LocalTopic>, String> {
    let Some(topics) = settings.get(SETTING) else { return Ok(Vec::new()) };
    let Value::Array(topics) = topics else {
        return Err(format!("{SETTING}: expected a list of topics, found {}", kind(topics)));
    };
    if topics.len() > MOST {
        return Err(format!("{SETTING}: expected at most {MOST} topics, found {}", topics.len()));
    }
    let each = topics.iter().enumerate();
    each.map(|(at, topic)| read(topic).map_err(|fault| format!("{SETTING}, number {}: {fault}", at + 1))).collect()
}

fn read(topic: &Value) -> Result<LocalTopic, String> {
    let Value::Object(fields) = topic else {
        return Err(format!("expected an object with `key`, `name` and `synonyms`, found {}", kind(topic)));
    };
    if let Some(unknown) = fields.keys().find(|key| !["key", "name", "synonyms"].contains(&key.as_str())) {
        return Err(format!("unknown field {unknown:?}; expected key, name or synonyms"));
    }
    let key = text(fields.get("key"), "key")?;
    if !key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        return Err(format!("key: expected small letters, digits and `_`, found {key:?}"));
    }
    let name = match fields.get("name") {
        Some(name) => text(Some(name), "name")?,
        None => key.clone(),
    };
    let synonyms = match fields.get("synonyms") {
        None => Vec::new(),
        Some(Value::Array(words)) => {
            words.iter().map(|word| text(Some(word), "synonyms")).collect::<Result<Vec<String>, String>>()?
        }
        Some(other) => return Err(format!("synonyms: expected a list of texts, found {}", kind(other))),
    };
    Ok(LocalTopic { key, name, synonyms })
}

fn text(value: Option<&Value>, field: &str) -> Result<String, String> {
    let text = value.and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if text.is_empty() || text.chars().count() > LONGEST || text.contains(char::is_control) {
        return Err(format!("{field}: expected a text of 1 to {LONGEST} letters on one line"));
    }
    Ok(text.to_owned())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(topics: Value) -> Map<String, Value> {
        Map::from_iter([(SETTING.to_owned(), topics)])
    }

    #[test]
    fn a_city_adds_topics_of_its_own() {
        let harbor = json!([{"key": "harbor", "name": "Harbor & Waterfront", "synonyms": ["marina"]}]);
        let city = Jurisdiction { settings: settings(harbor), ..Jurisdiction::default() };
        let topics = topics_of(&city);
        assert_eq!(topics.topic_of("Marina dredging"), Some("harbor"));
        assert_eq!(topics.all().count(), 17);
        assert_eq!(topics_of(&Jurisdiction::default()).all().count(), 16);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (topics, expected) in [
            (json!("harbor"), "topics: expected a list of topics, found a text"),
            (json!([{"key": "a"}, 5]), "topics, number 2: expected an object"),
            (json!([{"key": "Harbor Bay"}]), "number 1: key: expected small letters"),
            (json!([{"name": "Harbor"}]), "number 1: key: expected a text"),
            (json!([{"key": "harbor", "words": []}]), "unknown field \"words\""),
            (json!([{"key": "harbor", "synonyms": [""]}]), "synonyms: expected a text"),
            (json!([{"key": "harbor", "synonyms": "x"}]), "synonyms: expected a list of texts"),
        ] {
            let fault = local_topics(&settings(topics)).unwrap_err();
            assert!(fault.contains(expected), "{fault}");
        }
        let city = Jurisdiction { settings: settings(json!(5)), ..Jurisdiction::default() };
        assert_eq!(topics_of(&city).all().count(), 16);
    }
}
