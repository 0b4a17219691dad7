//! Columns whose headings say nothing to the schema, given by what they hold: quantity × price = amount, and balances
//! that run.

use super::super::{
    extraction::{Row, RowCell},
    schema::Field,
    value::Decimal,
};
use std::collections::BTreeMap;

/// Cells below headings that the schema does not know, by the heading as printed.
pub(super) type ExtraCells = BTreeMap<String, RowCell>;

/// A row with what stands below unknown headings.
#[derive(Debug, Default)]
pub(super) struct RawRow {
    pub row: Row,
    pub extra: ExtraCells,
}

/// This share of the rows must agree, in per cent.
const AGREE: usize = 80;

/// Gives unknown columns to the columns of the schema that arithmetic says they are, and says whether there were any.
pub(super) fn assign(rows: &mut [RawRow], field: &Field) -> bool {
    let columns = Columns { field };
    let found = columns.products(rows).or_else(|| columns.balances(rows)).unwrap_or_default();
    for (heading, column) in &found {
        rename(rows, heading, column);
    }
    !found.is_empty()
}

/// Unknown headings below which amounts stand.
pub(super) fn money_headings(rows: &[RawRow]) -> Vec<String> {
    let headings = headings(rows);
    let is_money = |heading: &String| {
        let cells: Vec<&RowCell> = rows.iter().filter_map(|row| row.extra.get(heading)).collect();
        let amounts = cells.iter().filter(|cell| has_cents(&cell.normalised)).count();
        amounts >= 1 && amounts * 100 >= cells.len() * AGREE
    };
    headings.into_iter().filter(is_money).collect()
}

fn has_cents(number: &str) -> bool {
    Decimal::from_plain(number).is_some() && number.split_once('.').is_some_and(|(_, cents)| cents.len() == 2)
}

fn headings(rows: &[RawRow]) -> Vec<String> {
    let mut all: Vec<String> = rows.iter().flat_map(|row| row.extra.keys().cloned()).collect();
    all.sort();
    all.dedup();
    all
}

fn rename(rows: &mut [RawRow], heading: &str, column: &str) {
    for row in rows {
        if let Some(cell) = row.extra.remove(heading) {
            row.row.cells.entry(column.to_owned()).or_insert(cell);
        }
    }
}

/// Where a role's numbers may stand: in a column of the schema, or below an unknown heading.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    Column(String),
    Heading(String),
}

impl Source {
    fn number(&self, row: &RawRow) -> Option<Decimal> {
        let cell = match self {
            Self::Column(name) => row.row.cells.get(name),
            Self::Heading(name) => row.extra.get(name),
        };
        cell.and_then(|cell| Decimal::from_plain(&cell.normalised))
    }

    fn renamed(&self, column: &str) -> Option<(String, String)> {
        match self {
            Self::Column(_) => None,
            Self::Heading(heading) => Some((heading.clone(), column.to_owned())),
        }
    }
}

struct Columns<'f> {
    field: &'f Field,
}

impl Columns<'_> {
    /// Where the numbers of a column may stand; none if the schema has no such column.
    fn sources(&self, rows: &[RawRow], column: &str) -> Vec<Source> {
        if !self.field.columns.iter().any(|own| own.name == column) {
            return Vec::new();
        }
        if rows.iter().any(|row| row.row.cells.contains_key(column)) {
            return vec![Source::Column(column.to_owned())];
        }
        headings(rows).into_iter().map(Source::Heading).collect()
    }

    /// Quantity, price and amount, where one of them has no known heading and the product holds.
    fn products(&self, rows: &[RawRow]) -> Option<Vec<(String, String)>> {
        let names = ["quantity", "unit_price", "amount"];
        let [quantities, prices, amounts] = names.map(|name| self.sources(rows, name));
        for quantity in &quantities {
            for price in prices.iter().filter(|price| *price != quantity) {
                for amount in amounts.iter().filter(|amount| *amount != quantity && *amount != price) {
                    let sources = [quantity, price, amount];
                    let renamed: Vec<_> =
                        sources.iter().zip(names).filter_map(|(source, name)| source.renamed(name)).collect();
                    if !renamed.is_empty() && product_holds(rows, sources) {
                        return Some(renamed);
                    }
                }
            }
        }
        None
    }

    /// Balance with debit and credit, or with one column of amounts, where the balance runs.
    fn balances(&self, rows: &[RawRow]) -> Option<Vec<(String, String)>> {
        let balances = self.sources(rows, "balance");
        let pairs = self.pairs(rows, ["debit", "credit"]);
        let amounts = self.sources(rows, "amount");
        for balance in &balances {
            for (debit, credit) in pairs.iter().filter(|(debit, credit)| debit != balance && credit != balance) {
                let change = |row: &RawRow| match (debit.number(row), credit.number(row)) {
                    (Some(out), None) => Some(out.abs().negated()),
                    (None, Some(paid)) => Some(paid),
                    _ => None,
                };
                let sources = [(balance, "balance"), (debit, "debit"), (credit, "credit")];
                let renamed: Vec<_> = sources.iter().filter_map(|(source, name)| source.renamed(name)).collect();
                let has_both = rows.iter().any(|row| debit.number(row).is_some())
                    && rows.iter().any(|row| credit.number(row).is_some());
                if !renamed.is_empty() && has_both && balance_runs(rows, balance, change) {
                    return Some(renamed);
                }
            }
            for amount in amounts.iter().filter(|amount| *amount != balance) {
                let sources = [(balance, "balance"), (amount, "amount")];
                let renamed: Vec<_> = sources.iter().filter_map(|(source, name)| source.renamed(name)).collect();
                if !renamed.is_empty() && balance_runs(rows, balance, |row| amount.number(row)) {
                    return Some(renamed);
                }
            }
        }
        None
    }

    fn pairs(&self, rows: &[RawRow], columns: [&str; 2]) -> Vec<(Source, Source)> {
        let [first, second] = columns.map(|column| self.sources(rows, column));
        let pair = |one: &Source| {
            second.iter().filter(|other| *other != one).cloned().map(|other| (one.clone(), other)).collect::<Vec<_>>()
        };
        first.iter().flat_map(pair).collect()
    }
}

/// Whether the product holds in nearly all rows that have all three numbers; once one in a hundred says nothing.
fn product_holds(rows: &[RawRow], [quantity, price, amount]: [&Source; 3]) -> bool {
    let (mut all, mut holds, mut telling) = (0, 0, 0);
    for row in rows {
        let (Some(quantity), Some(price), Some(amount)) = (quantity.number(row), price.number(row), amount.number(row))
        else {
            continue;
        };
        all += 1;
        let product = quantity.times(price);
        if product.is_some_and(|product| is_near(product.abs(), amount.abs())) {
            holds += 1;
            telling += usize::from(!is_near(price.abs(), amount.abs()) && !is_near(quantity.abs(), amount.abs()));
        }
    }
    telling >= 1 && holds * 100 >= all * AGREE && all * 2 >= rows.len()
}

fn balance_runs(rows: &[RawRow], balance: &Source, change: impl Fn(&RawRow) -> Option<Decimal>) -> bool {
    let (mut all, mut holds) = (0, 0);
    for pair in rows.windows(2) {
        let (Some(before), Some(after), Some(change)) =
            (balance.number(&pair[0]), balance.number(&pair[1]), change(&pair[1]))
        else {
            continue;
        };
        all += 1;
        holds += usize::from(before.plus(change).is_some_and(|sum| is_near(sum, after)));
    }
    holds >= 2 && holds * 100 >= all * AGREE && (all + 1) * 2 >= rows.len()
}

fn is_near(one: Decimal, other: Decimal) -> bool {
    Decimal::from_plain("0.02").is_some_and(|tolerance| one.is_within(other, tolerance))
}
