//! The part of JSON Schema that services understand and that we check ourselves: no service is taken at its word.

use serde_json::{Map, Value, json};

/// So many faults are told; the rest is more of the same.
const MOST_FAULTS: usize = 10;
/// Deeper than any answer we ask for.
const DEEPEST: usize = 12;
const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "properties",
    "required",
    "items",
    "enum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "additionalProperties",
];

/// The shape of an answer: an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema(Value);

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of an answer is wrong at {place}: {what}")]
pub struct SchemaError {
    pub place: String,
    pub what: String,
}

impl Schema {
    /// Checks that nothing is in it that would be ignored in silence.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        check(&schema, "$", 0)?;
        if schema["type"] != "object" {
            let what = "an answer is an object, so its `type` has to be `object`".to_owned();
            return Err(SchemaError { place: "$".to_owned(), what });
        }
        Ok(Self(schema))
    }

    pub fn as_json(&self) -> &Value {
        &self.0
    }

    /// The names that an answer must have.
    pub fn required_fields(&self) -> Vec<&str> {
        strings(&self.0, "required")
    }

    /// The same with one more required text.
    pub(super) fn with_text(&self, name: &str, description: &str) -> Self {
        let mut schema = self.0.clone();
        // First, so that the model settles whom it writes about before it writes.
        let mut properties = Map::new();
        properties.insert(name.to_owned(), json!({"type": "string", "description": description}));
        if let Some(Value::Object(others)) = schema.get("properties") {
            properties.extend(others.clone());
        }
        let mut required = vec![json!(name)];
        required.extend(schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default());
        schema["properties"] = Value::Object(properties);
        schema["required"] = Value::Array(required);
        Self(schema)
    }

    /// With all objects closed, and whether it is strict in OpenAI's sense: every property required.
    pub(crate) fn with_closed_objects(&self) -> (Value, bool) {
        let mut schema = self.0.clone();
        let strict = close(&mut schema);
        (schema, strict)
    }

    /// In the dialect of Gemini's `responseSchema`.
    pub(crate) fn for_gemini(&self) -> Value {
        let mut schema = self.0.clone();
        translate(&mut schema);
        schema
    }

    /// Takes out what nobody asked for: unknown properties, properties without a value, properties that nobody needs and
    /// that do not fit, and entries of lists that are none of those allowed. Those entries are given back.
    pub fn prune(&self, answer: &mut Value) -> Vec<String> {
        let mut dropped = Vec::new();
        prune(&self.0, answer, &mut dropped);
        dropped
    }

    /// Where an answer does not fit, each in one sentence that can be told to the model.
    pub fn faults(&self, answer: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        compare(&self.0, answer, "the answer", &mut faults);
        faults.truncate(MOST_FAULTS);
        faults
    }
}

fn strings<'a>(schema: &'a Value, key: &str) -> Vec<&'a str> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn check(schema: &Value, place: &str, depth: usize) -> Result<(), SchemaError> {
    let wrong = |what: String| Err(SchemaError { place: place.to_owned(), what });
    let Value::Object(keys) = schema else { return wrong(format!("expected an object, got {schema}")) };
    if depth > DEEPEST {
        return wrong(format!("it is nested more than {DEEPEST} deep"));
    }
    if let Some(unknown) = keys.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
        return wrong(format!("`{unknown}` is not checked here; expected one of {}", KEYWORDS.join(", ")));
    }
    if let Some(values) = keys.get("enum")
        && values.as_array().is_none_or(|values| values.is_empty() || !values.iter().all(Value::is_string))
    {
        return wrong("`enum` has to be a list of texts".to_owned());
    }
    for limit in ["minItems", "maxItems", "minLength", "maxLength"] {
        if keys.get(limit).is_some_and(|value| value.as_u64().is_none()) {
            return wrong(format!("`{limit}` has to be a whole number"));
        }
    }
    match keys.get("type").and_then(Value::as_str) {
        Some("object") => {
            let Some(Value::Object(properties)) = keys.get("properties") else {
                return wrong("an object needs `properties`".to_owned());
            };
            for (name, property) in properties {
                check(property, &format!("{place}.{name}"), depth + 1)?;
            }
            match strings(schema, "required").into_iter().find(|name| !properties.contains_key(*name)) {
                Some(name) => wrong(format!("`{name}` is required and is no property")),
                None => Ok(()),
            }
        }
        Some("array") => match keys.get("items") {
            Some(items) => check(items, &format!("{place}[]"), depth + 1),
            None => wrong("a list needs `items`".to_owned()),
        },
        Some("string" | "number" | "integer" | "boolean") => Ok(()),
        _ => wrong("`type` has to be one of object, array, string, number, integer, boolean".to_owned()),
    }
}

/// The schemas directly below one.
fn subschemas(schema: &mut Value) -> impl Iterator<Item = &mut Value> {
    let Value::Object(keys) = schema else { return Vec::new().into_iter() };
    let mut below = Vec::new();
    for (key, value) in keys {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => below.extend(properties.values_mut()),
            ("items", items) => below.push(items),
            _ => {}
        }
    }
    below.into_iter()
}

fn close(schema: &mut Value) -> bool {
    let required = strings(schema, "required").len();
    let properties = schema.get("properties").and_then(Value::as_object).map(Map::len);
    let mut strict = properties.is_none_or(|count| count == required);
    if properties.is_some() {
        schema["additionalProperties"] = Value::Bool(false);
    }
    for inner in subschemas(schema) {
        strict &= close(inner);
    }
    strict
}

fn translate(schema: &mut Value) {
    if let Value::Object(keys) = schema {
        keys.remove("additionalProperties");
        if let Some(Value::String(kind)) = keys.get_mut("type") {
            kind.make_ascii_uppercase();
        }
    }
    for inner in subschemas(schema) {
        translate(inner);
    }
}

fn prune(schema: &Value, answer: &mut Value, dropped: &mut Vec<String>) {
    match answer {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = schema.get("properties") {
                let required = strings(schema, "required");
                // Some models fill in every property, with nothing where they have nothing, or with the wrong thing: a
                // good answer is not thrown away for what it could do without.
                fields.retain(|name, value| {
                    let Some(property) = properties.get(name) else { return false };
                    prune(property, value, dropped);
                    let mut faults = Vec::new();
                    if !required.contains(&name.as_str()) {
                        compare(property, value, name, &mut faults);
                    }
                    faults.is_empty()
                });
            }
        }
        Value::Array(entries) => {
            if let Some(items) = schema.get("items") {
                let allowed = strings(items, "enum");
                if !allowed.is_empty() {
                    entries.retain(|entry| match entry.as_str() {
                        Some(entry) if !allowed.contains(&entry) => {
                            dropped.push(entry.to_owned());
                            false
                        }
                        _ => true,
                    });
                }
                for entry in entries {
                    prune(items, entry, dropped);
                }
            }
        }
        _ => {}
    }
}

fn compare(schema: &Value, answer: &Value, place: &str, faults: &mut Vec<String>) {
    if faults.len() > MOST_FAULTS {
        return;
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let fits = match kind {
        "object" => answer.is_object(),
        "array" => answer.is_array(),
        "string" => answer.is_string(),
        "number" => answer.is_number(),
        "integer" => answer.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => answer.is_boolean(),
        _ => false,
    };
    if !fits {
        faults.push(format!("{place} has to be of the type {kind}, and is {}", shorten(answer)));
        return;
    }
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    match answer {
        Value::Object(fields) => {
            for name in strings(schema, "required") {
                if !fields.contains_key(name) {
                    faults.push(format!("{place} lacks the field `{name}`"));
                }
            }
            for (name, value) in fields {
                if let Some(property) = schema.get("properties").and_then(|properties| properties.get(name)) {
                    compare(property, value, &format!("`{name}`"), faults);
                }
            }
        }
        Value::Array(entries) => {
            bounds(entries.len() as u64, limit("minItems"), limit("maxItems"), "entries", place, faults);
            for entry in entries {
                if let Some(items) = schema.get("items") {
                    compare(items, entry, &format!("an entry of {place}"), faults);
                }
            }
        }
        Value::String(text) => {
            let length = text.chars().count() as u64;
            bounds(length, limit("minLength"), limit("maxLength"), "characters", place, faults);
            let allowed = strings(schema, "enum");
            if !allowed.is_empty() && !allowed.contains(&text.as_str()) {
                faults.push(format!("{place} has to be one of {}, and is {}", allowed.join(", "), shorten(answer)));
            }
        }
        Value::Number(number) => {
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            let number = number.as_f64().unwrap_or(f64::NAN);
            if bound("minimum").is_some_and(|least| number < least)
                || bound("maximum").is_some_and(|most| number > most)
            {
                faults.push(format!("{place} is {number}, which is out of its range"));
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

fn bounds(count: u64, least: Option<u64>, most: Option<u64>, what: &str, place: &str, faults: &mut Vec<String>) {
    if let Some(least) = least.filter(|least| count < *least) {
        faults.push(format!("{place} has {count} {what}, and needs at least {least}"));
    }
    if let Some(most) = most.filter(|most| count > *most) {
        faults.push(format!("{place} has {count} {what}, and at most {most} are allowed"));
    }
}

fn shorten(value: &Value) -> String {
    let text = value.to_string();
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::new(json!({
            "type": "object",
            "required": ["summary", "topics"],
            "properties": {
                "summary": {"type": "string", "minLength": 3},
                "topics": {"type": "array", "maxItems": 3, "items": {"type": "string", "enum": ["parks", "budget"]}},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                "money": {"type": "array", "items": {"type": "object", "required": ["amount"],
                    "properties": {"amount": {"type": "integer"}}}},
            },
        }))
        .unwrap()
    }

    #[test]
    fn answers_that_fit_have_no_faults_and_the_others_name_them() {
        let good = json!({"summary": "A park.", "topics": ["parks"], "confidence": 0.5, "money": [{"amount": 3}]});
        assert_eq!(schema().faults(&good), Vec::<String>::new());
        let bad = json!({"summary": 5, "confidence": 7, "money": [{"amount": 3.5}, {}, "x"]});
        assert_eq!(
            schema().faults(&bad),
            [
                "the answer lacks the field `topics`",
                "`summary` has to be of the type string, and is 5",
                "`confidence` is 7, which is out of its range",
                "`amount` has to be of the type integer, and is 3.5",
                "an entry of `money` lacks the field `amount`",
                "an entry of `money` has to be of the type object, and is \"x\"",
            ]
        );
        assert_eq!(schema().faults(&json!("prose")).len(), 1);
        let many = json!({"summary": "abc", "topics": ["parks", "parks", "parks", "parks"]});
        assert_eq!(schema().faults(&many), ["`topics` has 4 entries, and at most 3 are allowed"]);
    }

    #[test]
    fn what_nobody_asked_for_is_taken_out() {
        let mut answer = json!({"summary": "A park.", "mood": "good", "topics": ["parks", "cats"], "confidence": "high",
            "money": [{"amount": 1, "x": 2}]});
        assert_eq!(schema().prune(&mut answer), ["cats"]);
        assert_eq!(answer, json!({"summary": "A park.", "topics": ["parks"], "money": [{"amount": 1}]}));
    }

    #[test]
    fn a_schema_that_would_not_be_checked_is_refused() {
        let refused = |schema: Value| Schema::new(schema).unwrap_err().to_string();
        let property = |inner: Value| json!({"type": "object", "properties": {"a": inner}});
        assert!(refused(json!([])).contains("expected an object"));
        assert!(refused(json!({"type": "string"})).contains("has to be `object`"));
        assert!(refused(property(json!({"type": "string", "pattern": "x"}))).contains("at $.a: `pattern`"));
        assert!(refused(property(json!({"type": "array"}))).contains("needs `items`"));
        assert!(refused(property(json!({"type": "string", "enum": []}))).contains("list of texts"));
        assert!(refused(json!({"type": "object", "required": ["b"], "properties": {}})).contains("`b` is required"));
    }

    #[test]
    fn each_service_gets_the_dialect_that_it_knows() {
        let (closed, strict) = schema().with_closed_objects();
        assert!(!strict, "not every property is required");
        assert_eq!(closed["additionalProperties"], false);
        assert_eq!(closed["properties"]["money"]["items"]["additionalProperties"], false);
        let gemini = schema().for_gemini();
        assert_eq!(
            (&gemini["type"], &gemini["properties"]["topics"]["items"]["type"]),
            (&json!("OBJECT"), &json!("STRING"))
        );
        let small = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
        assert!(Schema::new(small).unwrap().with_closed_objects().1);
    }
}
