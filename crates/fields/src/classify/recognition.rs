//! What a type's file says of the looks of its pages: the section `recognise`.

use super::{phrases::Phrase, signals::Signal};
use bindery_yaml::{Data, Fields, Node, Problems, suggest};
use regex::{Regex, RegexBuilder};
use std::rc::Rc;

const KEYS: &[&str] = &["says", "looks"];
const RULE_KEYS: &[&str] = &["any", "each", "pattern", "where", "page", "weight", "most", "because"];
const PLACES: &[(&str, Position)] = &[
    ("title", Position::Title),
    ("top", Position::Top),
    ("bottom", Position::Bottom),
    ("table_header", Position::TableHeader),
    ("anywhere", Position::Anywhere),
];
const TURNS: &[(&str, Turn)] = &[("first", Turn::First), ("later", Turn::Later), ("last", Turn::Last)];
const HEAVIEST: f64 = 20.0;
const DEFAULT_WEIGHT: f64 = 2.0;
const DEFAULT_MOST: u32 = 3;
/// A pattern that compiles to more than this is refused.
const LARGEST_PATTERN: usize = 1 << 20;

/// How the pages of a type are recognised.
#[derive(Debug, Clone, Default)]
pub struct Recognition {
    /// What its pages say.
    pub rules: Vec<Rule>,
    /// What its pages look like, and what that weighs.
    pub looks: Vec<(Signal, f64)>,
}

/// Something that a page may say, and what it weighs when it does. Below zero it speaks against the type.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) wanted: Wanted,
    pub(super) place: Position,
    pub(super) turn: Turn,
    pub(super) weight: f64,
    /// What it is called in reasons; without one the words themselves are quoted.
    pub(super) because: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Wanted {
    /// Counts once, whichever is there.
    Any(Vec<Phrase>),
    /// Counts once for each that is there, up to so many.
    Each(Vec<Phrase>, u32),
    Pattern(Regex),
}

/// Where it must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Position {
    #[default]
    Anywhere,
    /// Anywhere, and twice as much in a title: what a bare phrase means.
    AnywhereRatherTitle,
    Title,
    Top,
    Bottom,
    TableHeader,
}

/// On which page of a document it stands, which tells where one document ends and the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Turn {
    #[default]
    Any,
    First,
    Later,
    Last,
}

impl Recognition {
    pub(crate) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        let Some(fields) = Fields::open(node, path, KEYS, problems) else { return Self::default() };
        let nodes = fields.list("says", problems).unwrap_or_default();
        let path = fields.path_of("says");
        let rules = nodes.iter().enumerate();
        Self {
            rules: rules.filter_map(|(index, node)| Rule::read(node, &format!("{path}[{index}]"), problems)).collect(),
            looks: read_looks(&fields, problems),
        }
    }
}

impl Rule {
    fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<Self> {
        if node.as_text().is_some() {
            let phrase = read_phrase(node, path, problems)?;
            let wanted = Wanted::Any(vec![phrase]);
            let place = Position::AnywhereRatherTitle;
            return Some(Self { wanted, place, turn: Turn::Any, weight: DEFAULT_WEIGHT, because: None });
        }
        let fields = Fields::open(node, path, RULE_KEYS, problems)?;
        let weight = fields.number("weight", -HEAVIEST, HEAVIEST, problems).unwrap_or(DEFAULT_WEIGHT);
        let place = fields.choice("where", PLACES, problems).unwrap_or_default();
        let turn = fields.choice("page", TURNS, problems).unwrap_or_default();
        let because = fields.text("because", problems).map(str::to_owned);
        let most = fields.count("most", problems);
        if most.is_some() && fields.get("each").is_none() {
            fields.blame("most", "only goes with `each`", Some("`any` and `pattern` count once"), problems);
        }
        let mut phrases = |key| fields.get(key).map(|node| read_phrases(node, &fields.path_of(key), problems));
        let any = phrases("any").map(Wanted::Any);
        let each = phrases("each").map(|phrases| Wanted::Each(phrases, most.unwrap_or(DEFAULT_MOST)));
        let pattern = fields.text("pattern", problems).map(|text| read_pattern(text, &fields, problems));
        let mut written = [any, each, pattern.map(|pattern| pattern.map_or(Wanted::Any(Vec::new()), Wanted::Pattern))]
            .into_iter()
            .flatten();
        let wanted = written.next();
        if wanted.is_none() || written.next().is_some() {
            let message = "expected exactly one of `any`, `each` and `pattern`";
            let hint = "`any` and `each` take phrases, `pattern` a regular expression";
            problems.add_with_hint(fields.place, path, message, hint);
        }
        Some(Self { wanted: wanted?, place, turn, weight, because })
    }
}

/// A phrase, a list of them, or lists by language, which only help those who read the file.
fn read_phrases(node: &Node, path: &str, problems: &mut Problems) -> Vec<Phrase> {
    match &node.data {
        Data::Text(_) => read_phrase(node, path, problems).into_iter().collect(),
        Data::List(nodes) => read_list(node, nodes, path, problems),
        Data::Mapping(_) => {
            let Some(languages) = Fields::open_free(node, path, problems) else { return Vec::new() };
            let mut all = Vec::new();
            for (language, node) in languages.iter() {
                let path = languages.path_of(language);
                match &node.data {
                    Data::List(nodes) => all.extend(read_list(node, nodes, &path, problems)),
                    _ => all.extend(read_phrase(node, &path, problems)),
                }
            }
            all
        }
        _ => {
            let message = format!("expected phrases, found {}", node.describe());
            problems.add_with_hint(node.place, path, message, "a list of texts, or such a list for each language");
            Vec::new()
        }
    }
}

fn read_list(list: &Node, nodes: &[Rc<Node>], path: &str, problems: &mut Problems) -> Vec<Phrase> {
    if nodes.is_empty() {
        problems.add_with_hint(list.place, path, "the list is empty", "give at least one phrase");
    }
    let nodes = nodes.iter().enumerate();
    nodes.filter_map(|(index, node)| read_phrase(node, &format!("{path}[{index}]"), problems)).collect()
}

fn read_phrase(node: &Node, path: &str, problems: &mut Problems) -> Option<Phrase> {
    let Some(text) = node.as_text() else {
        let message = format!("expected a phrase, found {}", node.describe());
        problems.add_with_hint(node.place, path, message, "put it in quotes");
        return None;
    };
    let phrase = Phrase::new(text);
    if phrase.is_none() {
        let message = format!("expected a phrase with at least one word, found {text:?}");
        problems.add_with_hint(node.place, path, message, "signs alone are not compared; use `pattern` for them");
    }
    phrase
}

fn read_pattern(text: &str, fields: &Fields<'_>, problems: &mut Problems) -> Option<Regex> {
    let built = RegexBuilder::new(text).case_insensitive(true).size_limit(LARGEST_PATTERN).build();
    match built {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let hint = "it is compared with text in small letters without accents";
            fields.blame("pattern", format!("not a regular expression: {reason}"), Some(hint), problems);
            None
        }
    }
}

fn read_looks(fields: &Fields<'_>, problems: &mut Problems) -> Vec<(Signal, f64)> {
    let Some(node) = fields.get("looks") else { return Vec::new() };
    let Some(looks) = Fields::open_free(node, &fields.path_of("looks"), problems) else { return Vec::new() };
    let names: Vec<&str> = Signal::ALL.iter().map(|signal| signal.name()).collect();
    let mut all = Vec::new();
    for (name, node) in looks.iter() {
        let Some(signal) = Signal::ALL.iter().find(|signal| signal.name() == name) else {
            let message = format!("unknown signal {name:?}");
            problems.add_with_hint(node.place, &looks.path, message, suggest(name, &names));
            continue;
        };
        if let Some(weight) = looks.number(name, -HEAVIEST, HEAVIEST, problems) {
            all.push((*signal, weight));
        }
    }
    all
}
