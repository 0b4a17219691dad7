//! A flow chart in Mermaid's language.

use super::{
    chart::{Chart, StateBox},
    drawing::was_taken,
    path::{Path, Standing},
};
use std::fmt::Write as _;

/// Longer labels make Mermaid's boxes too wide.
const LONGEST_LABEL: usize = 60;

pub(super) fn write(chart: &Chart, path: &Path) -> String {
    let mut writer =
        Writer { text: "flowchart TD\n".to_owned(), lines: 0, taken: Vec::new(), classes: Vec::new(), path };
    writer.machine(chart, "s", 1);
    writer.finish()
}

struct Writer<'a> {
    text: String,
    /// How many lines were drawn, and which of them an execution went along.
    lines: usize,
    taken: Vec<usize>,
    classes: Vec<(String, &'static str)>,
    path: &'a Path,
}

impl Writer<'_> {
    fn put(&mut self, depth: usize, line: &str) {
        // Writing to a text does not fail.
        _ = writeln!(self.text, "{}{line}", "    ".repeat(depth));
    }

    /// Boxes are numbered after the one they are in: their names may hold anything.
    fn machine(&mut self, chart: &Chart, prefix: &str, depth: usize) {
        let id = |number: usize| format!("{prefix}{number}");
        let is_outermost = depth == 1;
        if is_outermost {
            self.put(depth, "start((\" \"))");
        }
        for (number, state) in chart.boxes.iter().enumerate() {
            self.state(state, &id(number), depth);
        }
        if is_outermost {
            if chart.arrows.iter().any(|arrow| arrow.to.is_none()) {
                self.put(depth, "finish(((\" \")))");
            }
            self.line(depth, &format!("start --> {}", id(0)), !self.path.is_empty());
        }
        for (number, arrow) in chart.arrows.iter().enumerate() {
            let to = match arrow.to {
                Some(to) => id(to),
                None if is_outermost => "finish".to_owned(),
                None => continue,
            };
            let shaft = if arrow.is_catch { "-.->" } else { "-->" };
            let label = if arrow.label.is_empty() {
                String::new()
            } else {
                format!("|\"{}\"|", escape(&shorten(&arrow.label)))
            };
            self.line(depth, &format!("{} {shaft}{label} {to}", id(arrow.from)), was_taken(chart, number, self.path));
        }
    }

    fn line(&mut self, depth: usize, line: &str, is_taken: bool) {
        self.put(depth, line);
        if is_taken {
            self.taken.push(self.lines);
        }
        self.lines += 1;
    }

    fn state(&mut self, state: &StateBox, id: &str, depth: usize) {
        let visits = self.path.visits(&state.name);
        let times = if visits > 1 { format!(" ({visits}×)") } else { String::new() };
        let name = format!("{}{times}", escape(&state.name));
        if state.inner.is_empty() {
            let (open, close) = match state.kind {
                "Choice" => ("{{", "}}"),
                "Wait" | "Succeed" | "Fail" => ("([", "])"),
                "Pass" => ("(", ")"),
                _ => ("[", "]"),
            };
            self.put(depth, &format!("{id}{open}\"{name}<br/><small>{}</small>\"{close}", state.kind));
        } else {
            self.put(depth, &format!("subgraph {id}[\"{name} ({})\"]", state.kind));
            let is_one = state.inner.len() == 1;
            for (number, chart) in state.inner.iter().enumerate() {
                let prefix = format!("{id}_{number}_");
                if is_one {
                    self.machine(chart, &prefix, depth + 1);
                } else {
                    self.put(depth + 1, &format!("subgraph {prefix}b[\"branch {}\"]", number + 1));
                    self.machine(chart, &prefix, depth + 2);
                    self.put(depth + 1, "end");
                }
            }
            self.put(depth, "end");
        }
        let class = match self.path.status_of(&state.name) {
            Standing::Failed => "failed",
            Standing::Current => "current",
            Standing::Visited => "visited",
            Standing::NotVisited => "skipped",
            Standing::Unknown if state.kind == "Fail" => "fail",
            Standing::Unknown if state.kind == "Succeed" => "succeed",
            Standing::Unknown => return,
        };
        self.classes.push((id.to_owned(), class));
    }

    fn finish(mut self) -> String {
        const STYLES: [(&str, &str); 6] = [
            ("fail", "stroke:#dc2626,fill:#fdeeee"),
            ("succeed", "stroke:#16a34a,fill:#edf9f1"),
            ("visited", "stroke:#15803d,stroke-width:2px"),
            ("current", "stroke:#2563eb,stroke-width:3px,fill:#e9effd"),
            ("failed", "stroke:#dc2626,stroke-width:3px,fill:#fbe4e4"),
            ("skipped", "stroke:#d1d5db,color:#9ca3af"),
        ];
        for (class, style) in STYLES {
            let ids: Vec<&str> =
                self.classes.iter().filter(|(_, own)| *own == class).map(|(id, _)| id.as_str()).collect();
            if !ids.is_empty() {
                let ids = ids.join(",");
                self.put(1, &format!("classDef {class} {style}"));
                self.put(1, &format!("class {ids} {class}"));
            }
        }
        if !self.taken.is_empty() {
            let taken: Vec<String> = self.taken.iter().map(ToString::to_string).collect();
            self.put(1, &format!("linkStyle {} stroke:#15803d,stroke-width:2px", taken.join(",")));
        }
        self.text
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= LONGEST_LABEL {
        return text.to_owned();
    }
    text.chars().take(LONGEST_LABEL - 1).chain(['…']).collect()
}

/// Mermaid's own way to write what would end a text, and what Markdown or HTML would take for theirs.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '"' => escaped.push_str("#quot;"),
            '#' => escaped.push_str("#35;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '&' => escaped.push_str("#amp;"),
            '`' | '*' => _ = write!(escaped, "#{};", letter as u32),
            _ if letter.is_control() => escaped.push(' '),
            _ => escaped.push(letter),
        }
    }
    escaped
}
