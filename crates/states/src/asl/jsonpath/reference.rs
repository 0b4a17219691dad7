//! Reference paths: where a result is put into the input.

use super::parse::{JsonPath, Root, Step};
use serde_json::{Map, Value};

/// A path that names one place, which need not exist yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferencePath(JsonPath);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Unable to apply step \"{step}\" of the reference path {path}: {reason}")]
pub struct ReferenceFault {
    pub path: String,
    pub step: String,
    pub reason: &'static str,
}

impl ReferencePath {
    /// The other way round with the reason, if the path does not name one place of the input.
    pub fn new(path: JsonPath) -> Result<Self, &'static str> {
        if path.root != Root::Input {
            return Err("only a path into the input can be written to: it starts with `$.`");
        }
        let is_place =
            |step: &Step| matches!(step, Step::Child(_)) || matches!(step, Step::Index(index) if *index >= 0);
        if !path.steps.iter().all(is_place) {
            return Err("only names and places of lists can be written to: no wildcard, slice, filter or `..`");
        }
        Ok(Self(path))
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Puts a value there. Objects on the way are made; lists are not.
    pub fn put(&self, target: &mut Value, value: Value) -> Result<(), ReferenceFault> {
        let mut place = target;
        for step in &self.0.steps {
            place = match step {
                Step::Child(name) => {
                    if place.is_null() {
                        *place = Value::Object(Map::new());
                    }
                    let Value::Object(entries) = place else {
                        return Err(self.fault(step, "there is no object there"));
                    };
                    entries.entry(name.clone()).or_insert(Value::Null)
                }
                Step::Index(index) => {
                    let found = place.as_array_mut().and_then(|values| values.get_mut(usize::try_from(*index).ok()?));
                    found.ok_or_else(|| self.fault(step, "there is no list with that place"))?
                }
                _ => return Err(self.fault(step, "it does not name one place")),
            };
        }
        *place = value;
        Ok(())
    }

    fn fault(&self, step: &Step, reason: &'static str) -> ReferenceFault {
        let step = match step {
            Step::Child(name) => name.clone(),
            Step::Index(index) => index.to_string(),
            _ => String::new(),
        };
        ReferenceFault { path: self.0.text.clone(), step, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn put(path: &str, mut target: Value) -> Result<Value, ReferenceFault> {
        let path = ReferencePath::new(JsonPath::parse(path).unwrap()).unwrap();
        path.put(&mut target, json!("new")).map(|()| target)
    }

    #[test]
    fn results_are_put_where_the_path_says() {
        assert_eq!(put("$.a", json!({"a": 1, "b": 2})), Ok(json!({"a": "new", "b": 2})));
        assert_eq!(put("$.a.b.c", json!({})), Ok(json!({"a": {"b": {"c": "new"}}})));
        assert_eq!(put("$.a[1]", json!({"a": [1, 2]})), Ok(json!({"a": [1, "new"]})));
        assert_eq!(put("$", json!({"a": 1})), Ok(json!("new")));
        assert!(put("$.a.b", json!({"a": "text"})).is_err());
        assert!(put("$.a[2]", json!({"a": [1, 2]})).is_err());
        assert!(ReferencePath::new(JsonPath::parse("$.a[*]").unwrap()).is_err());
        assert!(ReferencePath::new(JsonPath::parse("$$.a").unwrap()).is_err());
    }
}
