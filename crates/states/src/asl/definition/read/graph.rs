//! Which state leads to which.

use super::{
    super::{diagnostic::suggest, source::Place},
    Reader,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Graph {
    states: Vec<(String, Place, String)>,
    /// Of names that stand twice the last.
    numbers: BTreeMap<String, usize>,
    /// From the state that was named last.
    edges: Vec<Edge>,
}

struct Edge {
    from: usize,
    to: String,
    place: Place,
    path: String,
}

impl Graph {
    pub(super) fn state(&mut self, name: &str, place: Place, path: &str) {
        self.numbers.insert(name.to_owned(), self.states.len());
        self.states.push((name.to_owned(), place, path.to_owned()));
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    pub(super) fn edge(&mut self, to: &str, place: Place, path: &str) {
        let from = self.states.len().saturating_sub(1);
        self.edges.push(Edge { from, to: to.to_owned(), place, path: path.to_owned() });
    }
}

impl Reader {
    pub(super) fn check_graph(&mut self, graph: &Graph, start_at: &str, start_place: Place, path: &str) {
        let numbers = &graph.numbers;
        let known = || graph.states.iter().map(|(name, ..)| name.as_str());
        let mut targets: Vec<Vec<usize>> = vec![Vec::new(); graph.states.len()];
        for edge in &graph.edges {
            match numbers.get(&edge.to) {
                Some(number) => targets[edge.from].push(*number),
                None => self.no_state(&edge.to, edge.place, &edge.path, known()),
            }
        }
        let Some(start) = numbers.get(start_at) else {
            self.no_state(start_at, start_place, &format!("{path}.StartAt"), known());
            return;
        };
        let mut reached = BTreeSet::from([*start]);
        let mut open = vec![*start];
        while let Some(number) = open.pop() {
            open.extend(targets[number].iter().filter(|target| reached.insert(**target)));
        }
        for (number, (name, place, path)) in graph.states.iter().enumerate() {
            if !reached.contains(&number) && numbers.get(name) == Some(&number) {
                let message = format!("no state leads to `{name}`");
                self.hinted(*place, path, message, "name it in a `Next`, `Default` or `StartAt`, or remove it");
            }
        }
    }

    fn no_state<'a>(&mut self, name: &str, place: Place, path: &str, known: impl Iterator<Item = &'a str>) {
        let hint =
            suggest(name, known).unwrap_or_else(|| "targets are states of the same machine or branch".to_owned());
        self.hinted(place, path, format!("there is no state `{name}`"), hint);
    }
}
