//! Graphviz's language.

use super::{
    chart::{Chart, StateBox},
    drawing::{kind_colour, was_taken},
    path::{Path, Standing},
};
use std::fmt::Write as _;

pub(super) fn write(chart: &Chart, path: &Path) -> String {
    let mut text = "digraph machine {\n  compound=true; rankdir=TB;\n  node [shape=box, style=\"rounded\", \
        fontname=\"Helvetica\", fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=9];\n"
        .to_owned();
    machine(chart, "s", 1, path, &mut text);
    text.push_str("}\n");
    text
}

fn machine(chart: &Chart, prefix: &str, depth: usize, path: &Path, text: &mut String) {
    let indent = "  ".repeat(depth);
    let is_outermost = depth == 1;
    for (number, state) in chart.boxes.iter().enumerate() {
        state_of(state, &format!("{prefix}{number}"), depth, path, text);
    }
    let mut put = |line: &str| {
        // Writing to a text does not fail.
        _ = writeln!(text, "{indent}{line}");
    };
    if is_outermost {
        put("start [shape=circle, style=filled, fillcolor=black, label=\"\", width=0.15];");
        put(&edge("start", &[], chart, prefix, 0, ""));
        if chart.arrows.iter().any(|arrow| arrow.to.is_none()) {
            put("finish [shape=doublecircle, style=filled, fillcolor=black, label=\"\", width=0.12];");
        }
    }
    for (number, arrow) in chart.arrows.iter().enumerate() {
        let mut settings = Vec::new();
        if !arrow.label.is_empty() {
            settings.push(format!("label=\"{}\"", escape(&arrow.label)));
        }
        if arrow.is_catch {
            settings.push("style=dashed".to_owned());
        }
        if was_taken(chart, number, path) {
            settings.push("color=\"#15803d\", penwidth=2".to_owned());
        }
        let from = anchor(chart, prefix, arrow.from);
        if let Some((_, Some(cluster))) = &from {
            settings.push(format!("ltail=\"{cluster}\""));
        }
        let from = from.map(|(id, _)| id).unwrap_or_default();
        match arrow.to {
            Some(to) => put(&edge(&from, &settings, chart, prefix, to, "")),
            None if is_outermost => put(&edge(&from, &settings, chart, prefix, 0, "finish")),
            None => {}
        }
    }
}

fn edge(from: &str, settings: &[String], chart: &Chart, prefix: &str, to: usize, finish: &str) -> String {
    let mut settings = settings.to_vec();
    let target = if finish.is_empty() {
        let (id, cluster) = anchor(chart, prefix, to).unwrap_or_default();
        settings.extend(cluster.map(|cluster| format!("lhead=\"{cluster}\"")));
        id
    } else {
        finish.to_owned()
    };
    format!("{from} -> {target} [{}];", settings.join(", "))
}

/// What a line can be fastened to: a box itself, or the first one within it and the cluster around that.
fn anchor(chart: &Chart, prefix: &str, number: usize) -> Option<(String, Option<String>)> {
    let id = format!("{prefix}{number}");
    match chart.boxes.get(number)?.inner.first() {
        None => Some((id, None)),
        Some(inner) => {
            let (first, _) = anchor(inner, &format!("{id}_0_"), 0)?;
            Some((first, Some(format!("cluster_{id}"))))
        }
    }
}

fn state_of(state: &StateBox, id: &str, depth: usize, path: &Path, text: &mut String) {
    let indent = "  ".repeat(depth);
    let visits = path.visits(&state.name);
    let times = if visits > 1 { format!(" ({visits}×)") } else { String::new() };
    let (colour, width) = match path.status_of(&state.name) {
        Standing::Unknown => (kind_colour(state.kind).to_string(), 1),
        Standing::NotVisited => ("#d1d5db".to_owned(), 1),
        Standing::Visited => ("#15803d".to_owned(), 2),
        Standing::Current => ("#2563eb".to_owned(), 3),
        Standing::Failed => ("#dc2626".to_owned(), 3),
    };
    let look =
        format!("label=\"{}{times}\\n{}\", color=\"{colour}\", penwidth={width}", escape(&state.name), state.kind);
    if state.inner.is_empty() {
        let shape = if state.kind == "Choice" { ", shape=hexagon, style=solid" } else { "" };
        _ = writeln!(text, "{indent}{id} [{look}{shape}];");
        return;
    }
    _ = writeln!(
        text,
        "{indent}subgraph cluster_{id} {{\n{indent}  graph [{look}, fontname=\"Helvetica\", fontsize=11];"
    );
    for (number, chart) in state.inner.iter().enumerate() {
        machine(chart, &format!("{id}_{number}_"), depth + 1, path, text);
    }
    _ = writeln!(text, "{indent}}}");
}

fn escape(text: &str) -> String {
    let flat: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    flat.replace('\\', "\\\\").replace('"', "\\\"")
}
