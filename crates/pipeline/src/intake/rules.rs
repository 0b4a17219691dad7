//! Which workflow a submission is for, where its sender has not said: by the names and types of its files, and by what was
//! said about it.
//!
//! The first rule that holds decides. A rule holds when everything that it asks for does: `file` and `media_type` of every
//! file, `meta` of the submission. So a mixed pile goes where piles go, and a folder of one kind where that kind goes.

use crate::DEFAULT_WORKFLOW;
use bindery_engine::intake::IntakeFile;
use serde_json::{Map, Value};

/// What has to be, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rule {
    /// `*` stands for anything, `?` for one letter. Without a `/`, one part of the name has to match: the file's own name, a
    /// folder on the way to it, or the mail or archive that it was in.
    pub file: Option<String>,
    /// As in `file`, such as `image/*`; by the ending of the name.
    pub media_type: Option<String>,
    pub meta: Vec<(String, String)>,
    pub workflow: String,
}

impl Rule {
    fn holds(&self, files: &[IntakeFile], metadata: &Map<String, Value>) -> bool {
        let of_file = |file: &IntakeFile| {
            self.file.as_deref().is_none_or(|pattern| names(pattern, &file.name))
                && self.media_type.as_deref().is_none_or(|pattern| matches(pattern, &file.media_type))
        };
        let said = |(key, value): &(String, String)| metadata.get(key).and_then(Value::as_str) == Some(value);
        files.iter().all(of_file) && self.meta.iter().all(said)
    }
}

/// The workflow that the rules lead to, or the usual one.
pub fn choose<'a>(rules: &'a [Rule], files: &[IntakeFile], metadata: &Map<String, Value>) -> &'a str {
    rules.iter().find(|rule| rule.holds(files, metadata)).map_or(DEFAULT_WORKFLOW, |rule| &rule.workflow)
}

fn names(pattern: &str, name: &str) -> bool {
    if pattern.contains('/') { matches(pattern, name) } else { name.split('/').any(|part| matches(pattern, part)) }
}

/// Whether a text is as the pattern says, in whatever case.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.to_lowercase().chars().collect(), text.to_lowercase().chars().collect());
    let (mut at, mut upto) = (0, 0);
    // Where the last star stands, and how much of the text it stood for so far.
    let mut star: Option<(usize, usize)> = None;
    while upto < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, upto));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[upto] => {
                at += 1;
                upto += 1;
            }
            _ => {
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                (at, upto) = (place + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_core::ContentHash;
    use serde_json::json;

    fn files(names: &[&str]) -> Vec<IntakeFile> {
        let file = |name: &&str| IntakeFile {
            name: (*name).to_owned(),
            content: ContentHash::of(name.as_bytes()),
            size: 1,
            media_type: bindery_processors::media::media_type(name).to_owned(),
            key: None,
        };
        names.iter().map(file).collect()
    }

    fn rule(workflow: &str) -> Rule {
        Rule { workflow: workflow.to_owned(), ..Rule::default() }
    }

    #[test]
    fn patterns_are_as_in_a_shell() {
        for (pattern, text) in
            [("*.pdf", "Scan.PDF"), ("scan-????.pdf", "scan-0007.pdf"), ("*", ""), ("a*b*c", "aXbYbZc")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("*.pdf", "a.pdf.part"), ("?", ""), ("a*b", "acb2"), ("", "x")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
        assert!(names("*.eml", "in/note.eml/list.csv") && names("in/*", "in/note.eml/list.csv"));
        assert!(!names("*.csv", "list.csv.txt"));
    }

    #[test]
    fn the_first_rule_that_holds_for_every_file_decides() {
        let rules = [
            Rule { meta: vec![("department".to_owned(), "payroll".to_owned())], ..rule("payroll") },
            Rule { media_type: Some("image/*".to_owned()), ..rule("pictures") },
            Rule { file: Some("*.txt".to_owned()), ..rule("words") },
        ];
        let chosen = |names: &[&str], said: Value| {
            let metadata = said.as_object().cloned().unwrap_or_default();
            choose(&rules, &files(names), &metadata).to_owned()
        };
        assert_eq!(chosen(&["a.txt", "b.TXT"], json!({})), "words");
        assert_eq!(chosen(&["a.txt", "b.pdf"], json!({})), DEFAULT_WORKFLOW);
        assert_eq!(chosen(&["a.png", "b.jpg"], json!({"department": "other"})), "pictures");
        assert_eq!(chosen(&["a.txt"], json!({"department": "payroll"})), "payroll");
        assert_eq!(choose(&[], &files(&["a.txt"]), &Map::new()), DEFAULT_WORKFLOW);
    }
}
