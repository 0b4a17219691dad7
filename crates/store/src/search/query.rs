//! What people type into a search, understood.
//!
//! | written | finds pages with |
//! |---|---|
//! | `late payment` | both words |
//! | `"late payment"` | the words in this order, beside each other |
//! | `-draft`, `-"first draft"` | none of this |
//! | `pay*` | words that begin so |
//! | `invoice OR bill` | either side |
//!
//! What the user typed never reaches a database: backends get words of letters and digits, put together by us.

use super::words::{Word, words};

/// Nobody types more.
const LONGEST_QUERY: usize = 1_000;
const MOST_TERMS: usize = 32;

/// A question: pages are found that satisfy one of the alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    alternatives: Vec<Alternative>,
}

/// What a page must have, and what it must not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Alternative {
    wanted: Vec<Term>,
    excluded: Vec<Term>,
}

/// Words that stand beside each other; the last one may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    words: Vec<String>,
    prefix: bool,
}

/// One term of a question, for a backend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'q> {
    /// The number of the alternative that it belongs to.
    pub(crate) alternative: usize,
    pub(crate) excluded: bool,
    pub(crate) term: &'q Term,
}

impl Query {
    /// Understands a question, or says in one sentence why there is nothing to look for.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > LONGEST_QUERY {
            return Err(format!("the query is too long: expected at most {LONGEST_QUERY} characters"));
        }
        let (mut alternatives, mut current) = (Vec::new(), Alternative::default());
        let mut rest = text.trim_start();
        while let Some((piece, behind)) = Piece::first(rest) {
            rest = behind.trim_start();
            match piece {
                Piece::Or => alternatives.push(std::mem::take(&mut current)),
                Piece::Term { term, excluded: true } => current.excluded.push(term),
                Piece::Term { term, excluded: false } => current.wanted.push(term),
                Piece::Nothing => {}
            }
        }
        alternatives.push(current);
        let query = Self { alternatives };
        if query.clauses().count() > MOST_TERMS {
            return Err(format!(
                "the query asks for too much at once: expected at most {MOST_TERMS} words and phrases"
            ));
        }
        let empty = |alternative: &Alternative| alternative.wanted.is_empty();
        match query.alternatives.len() {
            _ if !query.alternatives.iter().any(empty) => Ok(query),
            1 if query.clauses().next().is_some() => {
                Err("the query only says what pages must not have: expected at least one word without - before it"
                    .to_owned())
            }
            1 => {
                Err("there is nothing to look for in the query: expected words, a \"phrase\" or a beginning*"
                    .to_owned())
            }
            _ => Err("there is nothing to look for on one side of OR: expected a word without - before it on both"
                .to_owned()),
        }
    }

    /// Every term, with where it belongs.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = Asked<'_>> {
        self.alternatives.iter().enumerate().flat_map(|(alternative, terms)| {
            let asked = move |excluded| move |term| Asked { alternative, excluded, term };
            terms.wanted.iter().map(asked(false)).chain(terms.excluded.iter().map(asked(true)))
        })
    }

    /// What a page is found by.
    pub(crate) fn wanted_terms(&self) -> impl Iterator<Item = &Term> {
        self.alternatives.iter().flat_map(|alternative| &alternative.wanted)
    }
}

impl Term {
    fn from_text(text: &str, prefix: bool) -> Option<Self> {
        let words: Vec<String> = words(text).into_iter().map(|word| word.folded).collect();
        (!words.is_empty()).then_some(Self { words, prefix })
    }

    /// For `MATCH` of SQLite: one string in quotes.
    pub(crate) fn for_sqlite(&self) -> String {
        format!("\"{}\"{}", self.words.join(" "), if self.prefix { " *" } else { "" })
    }

    /// For a `tsquery` of PostgreSQL.
    #[cfg(feature = "postgres")]
    pub(crate) fn for_postgres(&self) -> String {
        let quoted: Vec<String> = self.words.iter().map(|word| format!("'{word}'")).collect();
        format!("({}{})", quoted.join(" <-> "), if self.prefix { ":*" } else { "" })
    }

    /// How many words of a text, from this one on, are this term; none if they are not.
    pub(crate) fn length_at(&self, text: &[Word]) -> Option<usize> {
        let last = self.words.len().checked_sub(1)?;
        let is = |(index, wanted): (usize, &String)| {
            let may_go_on = self.prefix && index == last;
            text.get(index).is_some_and(|word| {
                if may_go_on { word.folded.starts_with(wanted.as_str()) } else { word.folded == *wanted }
            })
        };
        self.words.iter().enumerate().all(is).then_some(self.words.len())
    }
}

enum Piece {
    Or,
    Term {
        term: Term,
        excluded: bool,
    },
    /// Signs that are no word.
    Nothing,
}

impl Piece {
    /// The piece that a text begins with, and what is behind it.
    fn first(text: &str) -> Option<(Self, &str)> {
        if text.is_empty() {
            return None;
        }
        let (text, excluded) = match text.strip_prefix('-') {
            Some(behind) => (behind, true),
            None => (text, false),
        };
        let (inside, behind) = if let Some(quoted) = text.strip_prefix('"') {
            // One that is never closed goes to the end.
            quoted.split_once('"').unwrap_or((quoted, ""))
        } else {
            let end = text.find(|letter: char| letter.is_whitespace() || letter == '"').unwrap_or(text.len());
            text.split_at(end)
        };
        if !excluded && inside == "OR" && text.starts_with("OR") {
            return Some((Self::Or, behind));
        }
        let (prefix, behind) = match behind.strip_prefix('*') {
            Some(behind) => (true, behind),
            None => (inside.ends_with('*'), behind),
        };
        let term = Term::from_text(inside, prefix).map(|term| Self::Term { term, excluded });
        Some((term.unwrap_or(Self::Nothing), behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As SQLite gets it, alternatives apart.
    fn excerpt(text: &str) -> String {
        let query = Query::parse(text).unwrap();
        let term = |asked: Asked<'_>| {
            let sign = if asked.excluded { "-" } else { "+" };
            format!("{}{sign}{}", asked.alternative, asked.term.for_sqlite())
        };
        query.clauses().map(term).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_phrases_exclusions_beginnings_and_alternatives() {
        assert_eq!(excerpt("Late PAYMENT"), r#"0+"late" 0+"payment""#);
        assert_eq!(excerpt(r#""Late payment" fee"#), r#"0+"late payment" 0+"fee""#);
        assert_eq!(excerpt(r#"fee -draft -"first draft""#), r#"0+"fee" 0-"draft" 0-"first draft""#);
        assert_eq!(excerpt("pay* \"late pay\"*"), r#"0+"pay" * 0+"late pay" *"#);
        assert_eq!(excerpt("invoice due OR bill"), r#"0+"invoice" 0+"due" 1+"bill""#);
        assert_eq!(excerpt("or \"OR\" OR and"), r#"0+"or" 0+"or" 1+"and""#);
    }

    #[test]
    fn what_is_one_word_to_people_is_looked_for_as_it_stands() {
        assert_eq!(excerpt("O'Brien example.com 東京"), r#"0+"o brien" 0+"example com" 0+"東 京""#);
    }

    #[test]
    fn signs_of_other_languages_are_no_signs_here() {
        assert_eq!(excerpt("a:* & (b | NEAR('c')) ^d {e} col:f"), r#"0+"a" * 0+"b" 0+"near c" 0+"d" 0+"e" 0+"col f""#);
        assert_eq!(excerpt("x\"y"), r#"0+"x" 0+"y""#);
        assert_eq!(excerpt("\"never closed"), r#"0+"never closed""#);
    }

    #[test]
    fn a_query_with_nothing_to_look_for_is_told() {
        for (text, why) in [
            ("", "nothing to look for in the query"),
            (" \"\" * & ", "nothing to look for in the query"),
            ("-draft", "only says what pages must not have"),
            ("a OR -b", "on one side of OR"),
            ("OR a", "on one side of OR"),
            ("a OR OR b", "on one side of OR"),
        ] {
            let error = Query::parse(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
        assert!(Query::parse(&"a ".repeat(600)).unwrap_err().contains("1000 characters"));
        assert!(Query::parse(&"a ".repeat(40)).unwrap_err().contains("at most 32"));
    }
}
