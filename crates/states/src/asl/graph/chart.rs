//! A machine as boxes and arrows.

use super::labels;
use crate::asl::definition::{Definition, Machine, MachineId, StateKind, Transition};
use std::collections::{BTreeMap, BTreeSet};

/// One machine. Boxes stand in the order in which they are found from the start.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Chart {
    pub(super) boxes: Vec<StateBox>,
    pub(super) arrows: Vec<Arrow>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct StateBox {
    pub(super) name: String,
    /// As `Type` says it.
    pub(super) kind: &'static str,
    pub(super) details: Vec<String>,
    /// The branches of a Parallel, or the processor of a Map.
    pub(super) inner: Vec<Chart>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arrow {
    pub(super) from: usize,
    /// None: the machine ends.
    pub(super) to: Option<usize>,
    pub(super) label: String,
    /// It is taken when something went wrong.
    pub(super) is_catch: bool,
}

impl Chart {
    pub(super) fn from_definition(definition: &Definition) -> Self {
        Self::of_machine(definition, definition.root())
    }

    fn of_machine(definition: &Definition, machine: &Machine) -> Self {
        let order = found_from_start(machine);
        let numbers: BTreeMap<&str, usize> = order.iter().enumerate().map(|(number, name)| (*name, number)).collect();
        let mut chart = Self::default();
        for state in order.iter().filter_map(|name| machine.states.get(*name)) {
            let from = chart.boxes.len();
            let inner: &[MachineId] = match &state.kind {
                StateKind::Parallel { branches } => branches,
                StateKind::Map(map) => std::slice::from_ref(&map.processor),
                _ => &[],
            };
            let machines = inner.iter().filter_map(|id| definition.machine(*id));
            chart.boxes.push(StateBox {
                name: state.name.clone(),
                kind: state.kind.name(),
                details: labels::details(state),
                inner: machines.map(|machine| Self::of_machine(definition, machine)).collect(),
            });
            let ends = matches!(state.kind, StateKind::Succeed) || state.transition == Some(Transition::End);
            if ends {
                chart.arrows.push(Arrow { from, to: None, label: String::new(), is_catch: false });
            }
            chart.arrows.extend(ways_on(machine, &state.name).into_iter().map(|way| Arrow {
                from,
                to: numbers.get(way.to).copied(),
                label: way.label,
                is_catch: way.is_catch,
            }));
        }
        chart
    }
}

struct Way<'a> {
    to: &'a str,
    label: String,
    is_catch: bool,
}

/// The states that may come after one.
fn ways_on<'a>(machine: &'a Machine, name: &str) -> Vec<Way<'a>> {
    let Some(state) = machine.states.get(name) else { return Vec::new() };
    let way = |to: &'a str, label: String| Way { to, label, is_catch: false };
    let mut ways = Vec::new();
    if let StateKind::Choice { rules, default } = &state.kind {
        ways.extend(rules.iter().map(|rule| way(&rule.next, labels::condition(&rule.condition))));
        ways.extend(default.iter().map(|default| way(default, "otherwise".to_owned())));
    }
    if let Some(Transition::Next(next)) = &state.transition {
        ways.push(way(next, String::new()));
    }
    let caught = |errors: &[String]| errors.join(", ").replace("States.ALL", "any error");
    ways.extend(state.catch.iter().map(|catcher| Way {
        to: &catcher.next,
        label: caught(&catcher.errors),
        is_catch: true,
    }));
    ways
}

/// The names of states, each after one that leads to it, as a reader would follow them.
fn found_from_start(machine: &Machine) -> Vec<&str> {
    let mut order = Vec::new();
    let mut found = BTreeSet::new();
    let mut open = vec![machine.start_at.as_str()];
    while let Some(name) = open.pop() {
        if machine.states.contains_key(name) && found.insert(name) {
            order.push(name);
            open.extend(ways_on(machine, name).iter().rev().map(|way| way.to));
        }
    }
    order
}
