//! Texts with `${NAME}` in them, filled in from the environment when they are used, so that a secret stands in no file.

use std::fmt;

/// A text whose variables are not filled in yet. What it says is not shown by `Debug`: it may be a secret itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(String),
}

impl Template {
    /// `Err` with a sentence when a `${` has no end or no name. `$${` stands for `${` itself.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                rest = after;
                continue;
            }
            plain.push_str(before);
            let (name, after) = after.split_once('}').ok_or("`${` has no closing `}`")?;
            if !is_variable_name(name) {
                return Err(format!("{name:?} is not the name of an environment variable"));
            }
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Variable(name.to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Self { parts })
    }

    /// The variable alone.
    pub(super) fn variable(name: &str) -> Self {
        Self { parts: vec![Part::Variable(name.to_owned())] }
    }

    /// `Err` with the name of the first variable that `lookup` does not know.
    pub fn fill(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Variable(name) => text.push_str(&lookup(name).ok_or_else(|| name.clone())?),
            }
        }
        Ok(text)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.parts.iter().map(|part| match part {
            Part::Text(_) => "***".to_owned(),
            Part::Variable(name) => format!("${{{name}}}"),
        });
        f.write_str(&shown.collect::<String>())
    }
}

/// As shells have them: letters, digits and `_`, not beginning with a digit.
pub(super) fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The environment of this process.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let lookup = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        Template::parse(text).unwrap().fill(&lookup)
    }

    #[test]
    fn variables_are_filled_in_and_dollars_stay() {
        assert_eq!(fill("Bearer ${TOKEN}!").unwrap(), "Bearer s3cret!");
        assert_eq!(fill("${TOKEN}${TOKEN}").unwrap(), "s3crets3cret");
        assert_eq!(fill("5 $ and $x").unwrap(), "5 $ and $x");
        assert_eq!(fill("$${TOKEN}").unwrap(), "${TOKEN}");
        assert_eq!(fill("").unwrap(), "");
        assert_eq!(fill("${OTHER}").unwrap_err(), "OTHER");
    }

    #[test]
    fn mistakes_are_told_and_texts_are_not_shown() {
        assert_eq!(Template::parse("a ${TOKEN").unwrap_err(), "`${` has no closing `}`");
        assert_eq!(Template::parse("${a b}").unwrap_err(), "\"a b\" is not the name of an environment variable");
        assert!(Template::parse("${}").is_err());
        assert_eq!(format!("{:?}", Template::parse("Bearer abc ${TOKEN}").unwrap()), "***${TOKEN}");
    }
}
