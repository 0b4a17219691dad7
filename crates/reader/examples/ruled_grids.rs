//! Counts the ruled grids of PDF files that are read as tables: `ruled_grids [--list] FILES...`.
//!
//! It is an oracle of lines and crossings, written apart from the reader's own search for tables. A ruled grid is a group
//! of lines that cross each other, at least three across and three down, of whose cells four in five have a line on each
//! of their sides, with words in two cells of two rows at least. It is found where a table covers half of it.
//!
//! Files are counted in two halves: those whose name has a SHA-256 that ends in an even digit are for testing alone.

use bindery_reader::{BlockKind, OpenFile, ReadOptions, Rect, Word, layout::PageContent, pdf};
use sha2::{Digest, Sha256};
use std::{env, fs, io::Write as _, path::Path};

/// How far lines may be apart and be one, and how far from each other and still meet.
const NEAR: f32 = 3.0;
/// A page with more lines is a drawing.
const MOST_RULES: usize = 4_000;

#[derive(Debug, Default)]
struct Counts {
    grids: usize,
    found: usize,
}

fn main() {
    let mut halves = [Counts::default(), Counts::default()];
    let mut list = false;
    let mut out = std::io::stdout();
    for file in env::args().skip(1) {
        if file == "--list" {
            list = true;
            continue;
        }
        let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let for_test = Sha256::digest(name.as_bytes()).last().is_some_and(|byte| byte % 2 == 0);
        let Some(pdf) = fs::read(&file).ok().and_then(|bytes| pdf::open(bytes, &ReadOptions::default()).ok()) else {
            continue;
        };
        for index in 0..pdf.info().page_count.min(60) {
            let (Ok(content), Ok(page)) = (pdf.content(index), pdf.page(index)) else { continue };
            let tables = page.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Table { .. }));
            let tables = tables.filter_map(|block| block.bbox).collect::<Vec<_>>();
            for grid in ruled_grids(&content, &page.words) {
                let found = is_found(&grid, &tables);
                let half = &mut halves[usize::from(for_test)];
                half.grids += 1;
                half.found += usize::from(found);
                // Files of the test half are not looked at.
                if list && !found && !for_test {
                    let Rect { x0, y0, x1, y1 } = grid;
                    let _ = writeln!(out, "missed: {file} page {} {x0:.0} {y0:.0} {x1:.0} {y1:.0}", index + 1);
                }
            }
        }
    }
    let [seen, test] = &halves;
    let _ = writeln!(out, "ruled grids: {} of {} found in the files to tune on", seen.found, seen.grids);
    let _ = writeln!(out, "ruled grids: {} of {} found in the files for testing alone", test.found, test.grids);
}

/// Tables may be parts of it: one grid may hold a title and two tables.
fn is_found(grid: &Rect, tables: &[Rect]) -> bool {
    let covered = tables.iter().filter_map(|table| table.intersection(grid)).map(|both| both.area()).sum::<f32>();
    covered >= 0.5 * grid.area()
}

/// A line across or down the page.
#[derive(Debug, Clone, Copy)]
struct Stroke {
    at: f32,
    from: f32,
    to: f32,
}

fn ruled_grids(content: &PageContent, words: &[Word]) -> Vec<Rect> {
    if content.rules.len() > MOST_RULES {
        return Vec::new();
    }
    let (mut across, mut down) = (Vec::new(), Vec::new());
    for rule in &content.rules {
        let ((x0, y0), (x1, y1)) = (rule.from, rule.to);
        if rule.is_horizontal() {
            across.push(Stroke { at: y0, from: x0.min(x1), to: x0.max(x1) });
        } else {
            down.push(Stroke { at: x0, from: y0.min(y1), to: y0.max(y1) });
        }
    }
    let (across, down) = (united(across), united(down));
    groups(&across, &down).into_iter().filter_map(|(across, down)| grid(&across, &down, words)).collect()
}

/// Pieces of one line become one.
fn united(mut pieces: Vec<Stroke>) -> Vec<Stroke> {
    pieces.sort_by(|one, other| one.from.total_cmp(&other.from));
    let mut lines: Vec<Stroke> = Vec::new();
    for piece in pieces {
        let same = |line: &&mut Stroke| (line.at - piece.at).abs() <= NEAR / 2.0 && piece.from <= line.to + NEAR;
        match lines.iter_mut().find(same) {
            Some(line) => line.to = line.to.max(piece.to),
            None => lines.push(piece),
        }
    }
    lines.retain(|line| line.to - line.from >= 8.0);
    lines
}

/// Lines that are joined by crossings.
fn groups(across: &[Stroke], down: &[Stroke]) -> Vec<(Vec<Stroke>, Vec<Stroke>)> {
    let meet = |h: &Stroke, v: &Stroke| {
        (h.from - NEAR..=h.to + NEAR).contains(&v.at) && (v.from - NEAR..=v.to + NEAR).contains(&h.at)
    };
    let mut seen = vec![false; across.len()];
    let mut groups = Vec::new();
    for start in 0..across.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let (mut rows, mut columns, mut open) = (Vec::new(), Vec::<usize>::new(), vec![start]);
        while let Some(row) = open.pop() {
            rows.push(across[row]);
            for column in (0..down.len()).filter(|column| meet(&across[row], &down[*column])) {
                if columns.contains(&column) {
                    continue;
                }
                columns.push(column);
                for next in 0..across.len() {
                    if !seen[next] && meet(&across[next], &down[column]) {
                        seen[next] = true;
                        open.push(next);
                    }
                }
            }
        }
        groups.push((rows, columns.into_iter().map(|column| down[column]).collect()));
    }
    groups
}

/// The places where lines stand, apart from each other.
fn places(lines: &[Stroke]) -> Vec<f32> {
    let mut places = lines.iter().map(|line| line.at).collect::<Vec<_>>();
    places.sort_by(f32::total_cmp);
    places.dedup_by(|next, last| *next - *last <= 2.0 * NEAR);
    places
}

/// The box of a group of lines that is a ruled grid with words in it.
fn grid(across: &[Stroke], down: &[Stroke], words: &[Word]) -> Option<Rect> {
    let (ys, xs) = (places(across), places(down));
    if ys.len() < 3 || xs.len() < 3 {
        return None;
    }
    let drawn = |lines: &[Stroke], at: f32, from: f32, to: f32| {
        lines.iter().any(|line| (line.at - at).abs() <= 2.0 * NEAR && line.from <= from + NEAR && line.to >= to - NEAR)
    };
    let (mut cells, mut closed, mut full_rows) = (0, 0, 0);
    for y in ys.windows(2) {
        let mut filled = 0;
        for x in xs.windows(2) {
            let sides = [
                drawn(across, y[0], x[0], x[1]),
                drawn(across, y[1], x[0], x[1]),
                drawn(down, x[0], y[0], y[1]),
                drawn(down, x[1], y[0], y[1]),
            ];
            cells += 1;
            closed += usize::from(sides.iter().all(|side| *side));
            let cell = Rect::new(x[0], y[0], x[1], y[1]);
            filled += usize::from(words.iter().any(|word| cell.contains(word.bbox.center())));
        }
        full_rows += usize::from(filled >= 2);
    }
    let bbox = Rect::new(*xs.first()?, *ys.first()?, *xs.last()?, *ys.last()?);
    (closed >= 4 && closed * 5 >= cells * 4 && full_rows >= 2).then_some(bbox)
}
