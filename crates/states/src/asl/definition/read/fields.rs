//! The fields of an object, taken one by one; what is left over at the end is not known.

use super::{
    super::{
        diagnostic::suggest,
        source::{Data, Entry, Node, Place},
    },
    Reader,
};
use std::collections::BTreeSet;

pub(super) struct Fields<'a> {
    pub(super) path: String,
    pub(super) place: Place,
    pub(super) entries: &'a [Entry],
    taken: BTreeSet<&'a str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(path: &str, place: Place, entries: &'a [Entry]) -> Self {
        Self { path: path.to_owned(), place, entries, taken: BTreeSet::new() }
    }

    /// Of fields that stand twice the last.
    pub(super) fn take(&mut self, name: &str) -> Option<&'a Node> {
        let entry = self.entries.iter().rev().find(|entry| entry.key == name)?;
        self.taken.insert(&entry.key);
        Some(&entry.value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == name)
    }

    pub(super) fn path_of(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }
}

impl Reader {
    /// Tells the fields that nobody took. `explain` may know more about one: a sentence and a hint.
    pub(super) fn finish(
        &mut self,
        fields: &Fields<'_>,
        known: &[&str],
        explain: impl Fn(&str) -> Option<(String, String)>,
    ) {
        for entry in fields.entries {
            if fields.taken.contains(entry.key.as_str()) || known.contains(&entry.key.as_str()) {
                continue;
            }
            let path = fields.path_of(&entry.key);
            let (message, hint) = explain(&entry.key).unwrap_or_else(|| {
                let hint = suggest(&entry.key, known.iter().copied());
                (
                    format!("unknown field `{}`", entry.key),
                    hint.unwrap_or_else(|| format!("known are {}", known.join(", "))),
                )
            });
            self.hinted(entry.place, &path, message, hint);
        }
    }

    pub(super) fn text_field(&mut self, fields: &mut Fields<'_>, name: &str) -> Option<(Place, String)> {
        let node = fields.take(name)?;
        let Data::Text(text) = &node.data else {
            self.wrong_type(node, &fields.path_of(name), name, "a text");
            return None;
        };
        Some((node.place, text.clone()))
    }

    /// `what` says what belongs there.
    pub(super) fn required_text(&mut self, fields: &mut Fields<'_>, name: &str, what: &str) -> Option<(Place, String)> {
        if !fields.has(name) {
            self.hinted(fields.place, &fields.path, format!("`{name}` is missing"), format!("it is {what}"));
        }
        self.text_field(fields, name)
    }

    pub(super) fn list_field<'a>(&mut self, fields: &mut Fields<'a>, name: &str) -> Option<&'a [Node]> {
        let node = fields.take(name)?;
        let Data::List(nodes) = &node.data else {
            self.wrong_type(node, &fields.path_of(name), name, "a list");
            return None;
        };
        Some(nodes)
    }

    pub(super) fn whole_number(&mut self, fields: &mut Fields<'_>, name: &str, least: u64, most: u64) -> Option<u64> {
        let node = fields.take(name)?;
        let number = if let Data::Number(number) = &node.data { number.as_u64() } else { None };
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let shown = node.to_value();
            self.fault(
                node.place,
                &fields.path_of(name),
                format!("`{name}` is a whole number from {least} to {most}, not {shown}"),
            );
        }
        number
    }

    pub(super) fn wrong_type(&mut self, node: &Node, path: &str, name: &str, wanted: &str) {
        self.fault(node.place, path, format!("`{name}` is {wanted}, not {}", node.describe()));
    }
}
