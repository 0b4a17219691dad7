//! Tables that go on from one page to the next: the second part is marked, and has the heading of the first.

use std::borrow::Cow;

/// The table that the last page ended with.
#[derive(Debug, Clone)]
struct Open {
    page: usize,
    /// The line of its headings.
    head: String,
    /// Which columns have figures in the last row.
    figures: Vec<bool>,
}

/// Follows tables over the pages of a file, which come in order.
#[derive(Debug, Clone, Default)]
pub struct ContinuedTables {
    open: Option<Open>,
}

impl ContinuedTables {
    /// The Markdown of the next page. A table at its beginning goes on with the one at the end of the page before where
    /// both have as many columns, and its first line repeats the headings or is one of figures like those above.
    pub fn page<'t>(&mut self, number: usize, text: &'t str) -> Cow<'t, str> {
        let before = self.open.take().filter(|open| open.page + 1 == number);
        let body = text.trim_start();
        let continued = before.and_then(|open| Some((open.joint(body)?, open)));
        let head = continued.as_ref().map(|(_, open)| open.head.clone());
        self.open = last_table(body).map(|rows| {
            let whole = rows.first().is_some_and(|first| body.starts_with(first));
            let head = head.filter(|_| whole).unwrap_or_else(|| rows.first().copied().unwrap_or_default().to_owned());
            let figures = rows.last().map(|row| cells(row).map(is_figure).collect()).unwrap_or_default();
            Open { page: number, head, figures }
        });
        match continued {
            None => Cow::Borrowed(text),
            Some((joint, open)) => {
                let mark = format!("<!-- The table goes on from page {} -->", open.page);
                let head = if joint == Joint::WithoutHead { with_head(&open.head, body) } else { body.to_owned() };
                Cow::Owned(format!("{mark}\n\n{head}"))
            }
        }
    }
}

/// How a table goes on.
#[derive(Debug, PartialEq, Eq)]
enum Joint {
    RepeatsHead,
    WithoutHead,
}

impl Open {
    fn joint(&self, body: &str) -> Option<Joint> {
        let mut lines = body.lines();
        let (first, second) = (lines.next()?, lines.next()?);
        if !is_row(first) || !is_delimiter(second) || cells(first).count() != self.figures.len() {
            return None;
        }
        if first == self.head {
            return Some(Joint::RepeatsHead);
        }
        // Figures where the table has figures, and where its headings are words.
        let columns = self.figures.iter().zip(cells(&self.head)).zip(cells(first));
        let with_figures = columns.filter(|((figures, head), _)| **figures && !head.is_empty() && !is_figure(head));
        let same: Vec<bool> = with_figures.map(|(_, own)| is_figure(own)).collect();
        (!same.is_empty() && same.iter().all(|same| *same)).then_some(Joint::WithoutHead)
    }
}

fn with_head(head: &str, body: &str) -> String {
    let mut lines = body.lines();
    let (first, delimiter) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let rest: Vec<&str> = [head, delimiter, first].into_iter().chain(lines).collect();
    rest.join("\n") + if body.ends_with('\n') { "\n" } else { "" }
}

/// The lines of the table that a text ends with, without the one below its headings.
fn last_table(text: &str) -> Option<Vec<&str>> {
    let mut rows: Vec<&str> = text.trim_end().lines().rev().take_while(|line| is_row(line)).collect();
    rows.reverse();
    if rows.len() < 2 || !is_delimiter(rows[1]) {
        return None;
    }
    rows.remove(1);
    Some(rows)
}

fn is_row(line: &str) -> bool {
    line.starts_with("| ") && line.ends_with('|')
}

fn is_delimiter(line: &str) -> bool {
    line.starts_with("| --- |") && line.chars().all(|sign| matches!(sign, '|' | ' ' | '-'))
}

/// The cells of a row; pipes within them are escaped.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let mut escaped = false;
    row.split(move |sign: char| {
        let ends = sign == '|' && !escaped;
        escaped = sign == '\\' && !escaped;
        ends
    })
    .map(str::trim)
}

fn is_figure(cell: &str) -> bool {
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    digits > 0 && digits >= cell.chars().filter(|sign| sign.is_alphabetic()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "# Goods\n\n| Article | Price |\n| --- | --- |\n| Paper | 4.55 |\n";

    fn second(text: &str) -> String {
        let mut tables = ContinuedTables::default();
        assert_eq!(tables.page(1, FIRST), FIRST);
        tables.page(2, text).into_owned()
    }

    #[test]
    fn a_table_that_goes_on_is_marked_and_has_its_headings() {
        let repeated = "| Article | Price |\n| --- | --- |\n| Glue | 3.10 |\n";
        assert_eq!(second(repeated), format!("<!-- The table goes on from page 1 -->\n\n{repeated}"));
        let without = "| Glue \\| paste | 3.10 |\n| --- | --- |\n| Thread | 12.00 |\n\nEnd.\n";
        let expected = "<!-- The table goes on from page 1 -->\n\n| Article | Price |\n| --- | --- |\n| Glue \\| paste | 3.10 |\n| Thread | 12.00 |\n\nEnd.\n";
        assert_eq!(second(without), expected);
    }

    #[test]
    fn another_table_is_not_joined() {
        for other in [
            "| Town | People |\n| --- | --- |\n| Chur | 38,000 |\n",
            "| Glue | 3.10 | 5 |\n| --- | --- | --- |\n| Thread | 12.00 | 2 |\n",
            "Below:\n\n| Glue | 3.10 |\n| --- | --- |\n| Thread | 12.00 |\n",
        ] {
            assert_eq!(second(other), other);
        }
        let mut tables = ContinuedTables::default();
        tables.page(1, FIRST);
        let later = "| Article | Price |\n| --- | --- |\n| Glue | 3.10 |\n";
        assert_eq!(tables.page(3, later), later, "a page between them is not here");
    }

    #[test]
    fn a_table_may_go_on_over_several_pages() {
        let mut tables = ContinuedTables::default();
        tables.page(1, FIRST);
        tables.page(2, "| Glue | 3.10 |\n| --- | --- |\n| Thread | 12.00 |\n");
        let third = tables.page(3, "| Ink | 9.00 |\n| --- | --- |\n| Board | 2.00 |\n").into_owned();
        assert!(third.starts_with("<!-- The table goes on from page 2 -->\n\n| Article | Price |"), "{third}");
    }
}
