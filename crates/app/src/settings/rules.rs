//! The `[[rules]]` of `bindery.toml`: which workflow is for what.

use super::file::Wrong;
use bindery_pipeline::intake::rules::Rule;
use toml::{Table, Value};

const KEYS: [&str; 4] = ["workflow", "file", "media_type", "meta"];

/// The rules in their order.
pub(super) fn read(text: &str, rules: Value) -> Result<Vec<Rule>, Wrong> {
    let Value::Array(rules) = rules else { return Err(no_rule(text, 0)) };
    rules
        .into_iter()
        .enumerate()
        .map(|(index, rule)| match rule {
            Value::Table(rule) => one(rule).map_err(|(message, hint)| wrong(text, index, &message, hint)),
            _ => Err(no_rule(text, index)),
        })
        .collect()
}

fn one(table: Table) -> Result<Rule, (String, Option<String>)> {
    let mut rule = Rule::default();
    for (key, value) in table {
        match (&*key, value) {
            ("workflow", Value::String(name)) => rule.workflow = name,
            ("file", Value::String(pattern)) => rule.file = Some(pattern),
            ("media_type", Value::String(pattern)) => rule.media_type = Some(pattern),
            ("meta", Value::Table(said)) => {
                for (key, value) in said {
                    let Value::String(value) = value else {
                        return Err((format!("meta.{key}: expected a text in quotes"), None));
                    };
                    rule.meta.push((key, value));
                }
            }
            ("meta", other) => {
                let hint = "write it as meta = { department = \"hr\" }".to_owned();
                return Err((format!("meta: expected keys and values, not {}", other.type_str()), Some(hint)));
            }
            (known, other) if KEYS.contains(&known) => {
                return Err((format!("{key}: expected a text in quotes, not {}", other.type_str()), None));
            }
            _ => return Err((format!("unknown key {key:?}"), Some(bindery_yaml::suggest(&key, &KEYS)))),
        }
    }
    if rule.workflow.is_empty() {
        let hint = "for example workflow = \"read\"; `bindery workflows` lists what there is".to_owned();
        return Err(("it names no workflow".to_owned(), Some(hint)));
    }
    Ok(rule)
}

fn no_rule(text: &str, index: usize) -> Wrong {
    let hint =
        "a rule begins with a line [[rules]], followed by lines such as file = \"*.txt\" and workflow = \"words\"";
    wrong(text, index, "expected a table", Some(hint.to_owned()))
}

fn wrong(text: &str, index: usize, message: &str, hint: Option<String>) -> Wrong {
    let heads = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("[[rules]]"));
    let line = heads.map(|(number, _)| number + 1).nth(index);
    Wrong { line, message: format!("rule {}: {message}", index + 1), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Rule>, Wrong> {
        let mut table: Table = text.parse().unwrap();
        read(text, table.remove("rules").unwrap())
    }

    #[test]
    fn rules_are_read_in_their_order() {
        let text = "[[rules]]\nfile = \"*.txt\"\nworkflow = \"words\"\n\n[[rules]]\nmedia_type = \"image/*\"\n\
            meta = { department = \"hr\" }\nworkflow = \"read\"\n";
        let rules = parsed(text).unwrap();
        assert_eq!((rules[0].file.as_deref(), &*rules[0].workflow), (Some("*.txt"), "words"));
        assert_eq!((rules[1].media_type.as_deref(), &*rules[1].workflow), (Some("image/*"), "read"));
        assert_eq!(rules[1].meta, [("department".to_owned(), "hr".to_owned())]);
    }

    #[test]
    fn what_is_wrong_with_a_rule_names_it_and_its_line() {
        let wrong = |text: &str| {
            let Wrong { line, message, hint } = parsed(text).unwrap_err();
            (line, message, hint.unwrap_or_default())
        };
        let good = "[[rules]]\nworkflow = \"words\"\n";
        let (line, message, hint) = wrong(&format!("{good}[[rules]]\nfiel = \"x\"\nworkflow = \"words\"\n"));
        assert_eq!((line, &*message, &*hint), (Some(3), "rule 2: unknown key \"fiel\"", "did you mean `file`?"));
        assert_eq!(wrong("[[rules]]\nfile = \"x\"\n").1, "rule 1: it names no workflow");
        assert_eq!(wrong("[[rules]]\nfile = 5\n").1, "rule 1: file: expected a text in quotes, not integer");
        assert_eq!(wrong("[[rules]]\nmeta = \"a\"\n").1, "rule 1: meta: expected keys and values, not string");
        assert_eq!(wrong("rules = \"words\"\n").1, "rule 1: expected a table");
    }
}
