//! The one place that writes to the terminal: data to stdout, everything else to stderr.
//!
//! Whatever is printed for people passes through [`clean`](crate::terminal::clean). That nobody reads stdout any more ends
//! the command; that nobody reads stderr is no reason to stop working, and what would be said there is lost.

use crate::terminal::{clean, escape_json};
use bindery_core::{Clock as _, Timestamp, time::SystemClock};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use indicatif::MultiProgress;
use serde::Serialize;
use std::{
    io::{self, IsTerminal as _, Write},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The bars on the screen, if there are any: other lines must be written above them.
static BARS: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// From now on, lines on stderr are written above these bars, until [`leave_bars`].
pub(crate) fn bars() -> MultiProgress {
    BARS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(MultiProgress::new).clone()
}

/// The bars stay as they are. Drawing them once more would wipe out what is written below them.
pub(crate) fn leave_bars() {
    BARS.lock().unwrap_or_else(PoisonError::into_inner).take();
}

fn above_bars(write: impl FnOnce()) {
    let bars = BARS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bars {
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}

/// A line of data for people. Fails when nobody reads it any more, which ends the command quietly.
pub(crate) fn line(text: impl AsRef<str>) -> io::Result<()> {
    put_line(&clean(text.as_ref()))
}

fn put_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// JSON for people and programs: several lines.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(put_line(&escape_json(&serde_json::to_string_pretty(value)?))?)
}

/// JSON for programs that read line by line.
pub(crate) fn json_line(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(put_line(&escape_json(&serde_json::to_string(value)?))?)
}

/// A remark.
pub(crate) fn note(text: impl AsRef<str>) {
    remark(&clean(text.as_ref()));
}

/// JSON as a remark, where stdout is taken.
pub(crate) fn note_json(value: &impl Serialize) -> anyhow::Result<()> {
    remark(&escape_json(&serde_json::to_string(value)?));
    Ok(())
}

fn remark(text: &str) {
    above_bars(|| {
        // `eprintln!` would panic where nobody reads it.
        let _ = writeln!(io::stderr().lock(), "{text}");
    });
}

pub(crate) fn error(message: &str, hint: Option<&str>) {
    let (red, cyan, end) = if colours() { ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
    let hint = hint.map(|hint| format!("\n{cyan}hint{end}: {}", clean(hint))).unwrap_or_default();
    remark(&format!("{red}error{end}: {}{hint}", clean(message)));
}

/// Whether stderr may be coloured.
pub(crate) fn colours() -> bool {
    io::stderr().is_terminal() && colours_wanted()
}

fn colours_wanted() -> bool {
    std::env::var_os(crate::env_vars::NO_COLOR).is_none_or(|value| value.is_empty())
}

/// Rows under a header; right-aligned where the header ends with `#`.
pub(crate) fn table<R: IntoIterator<Item = String>>(
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> io::Result<()> {
    laid_out(header, rows).into_iter().try_for_each(|row| put_line(&row))
}

/// Stand around what is to be bold in [`table_with_bold`], and in no text: they belong to nobody.
pub(crate) const BOLD: &str = "\u{e0b0}";
pub(crate) const NOT_BOLD: &str = "\u{e0b1}";

/// A [`fitted_table`] with words that are to be seen: bold where that can be shown, else between «these».
pub(crate) fn table_with_bold<R: IntoIterator<Item = String>>(
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> io::Result<()> {
    let (begin, end) =
        if io::stdout().is_terminal() && colours_wanted() { ("\x1b[1m", "\x1b[0m") } else { ("«", "»") };
    let shown = |text: String| text.replace(BOLD, begin).replace(NOT_BOLD, end);
    lines_of(&fitted(header, rows)).into_iter().map(shown).try_for_each(|row| put_line(&row))
}

/// The same on a terminal as wide as this one: what the last column says goes on below it. Other programs get whole lines.
pub(crate) fn fitted_table<R: IntoIterator<Item = String>>(
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> io::Result<()> {
    lines_of(&fitted(header, rows)).into_iter().try_for_each(|row| put_line(&row))
}

fn fitted<R: IntoIterator<Item = String>>(header: &[&str], rows: impl IntoIterator<Item = R>) -> Table {
    let mut table = table_of(header, rows);
    if let Some(width) = stdout_width() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
        for index in 0..header.len().saturating_sub(1) {
            if let Some(column) = table.column_mut(index) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    table
}

/// How wide the terminal is that data goes to, if it is one.
pub(crate) fn stdout_width() -> Option<u16> {
    let out = io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok()).flatten()?;
    Some(size.ws_col).filter(|width| *width > 0)
}

/// The same as a remark.
pub(crate) fn note_table<R: IntoIterator<Item = String>>(header: &[&str], rows: impl IntoIterator<Item = R>) {
    note(laid_out(header, rows).join("\n"));
}

fn laid_out<R: IntoIterator<Item = String>>(header: &[&str], rows: impl IntoIterator<Item = R>) -> Vec<String> {
    lines_of(&table_of(header, rows))
}

fn table_of<R: IntoIterator<Item = String>>(header: &[&str], rows: impl IntoIterator<Item = R>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().map(|title| title.trim_end_matches('#')));
    for row in rows {
        table.add_row(row.into_iter().map(|cell| clean(&cell).into_owned()));
    }
    for (index, title) in header.iter().enumerate() {
        if let Some(column) = table.column_mut(index) {
            column.set_padding((0, 2));
            if title.ends_with('#') {
                column.set_cell_alignment(comfy_table::CellAlignment::Right);
            }
        }
    }
    table
}

fn lines_of(table: &Table) -> Vec<String> {
    table.lines().map(|row| row.trim_end().to_owned()).collect()
}

/// `1 file`, `3 files`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// How long ago a moment was, roughly. One in the future was told by a clock that is ahead of this machine's.
pub(crate) fn ago(moment: Timestamp) -> String {
    let now = SystemClock.now();
    let ahead = moment.since(now);
    if ahead > CLOCKS_DIFFER {
        return format!("by a clock ahead by {}", duration(ahead));
    }
    format!("{} ago", duration(now.since(moment)))
}

/// By how much the clocks of machines may differ.
const CLOCKS_DIFFER: Duration = Duration::from_secs(5);

pub(crate) fn duration(length: Duration) -> String {
    match length.as_secs() {
        0 => format!("{} ms", length.as_millis()),
        1..=9 => format!("{:.1} s", length.as_secs_f64()),
        seconds @ 10..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds @ 7_200..=172_799 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

pub(crate) fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        1_000..1_000_000 => format!("{:.1} kB", number as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.1} GB", number as f64 / 1e9),
    }
}

/// At most this many characters on one line.
pub(crate) fn short(text: &str, most: usize) -> String {
    let flat: String = clean(text).chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if flat.chars().count() <= most {
        return flat;
    }
    flat.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The same for names, whose end tells the most.
pub(crate) fn short_in_the_middle(text: &str, most: usize) -> String {
    let text = clean(text);
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.into_owned();
    }
    let end = most / 2;
    let begin = most.saturating_sub(end + 1);
    letters[..begin].iter().chain(&['…']).chain(&letters[letters.len() - end..]).collect()
}

/// Log lines go above the bars, too, and are as safe to show. A log that cannot be written is no reason to stop: the
/// subscriber would say so on stderr, and panic there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(buffer);
        // Of escape sequences, only those of our own colours are left: the subscriber escapes those in texts.
        let shown = if colours() {
            let parts: Vec<_> = text.split('\x1b').map(clean).collect();
            parts.join("\x1b")
        } else {
            clean(&text).into_owned()
        };
        above_bars(|| {
            let _ = io::stderr().lock().write_all(shown.as_bytes());
        });
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
