//! Checks over the values of a document: sums, the order of dates, words that are allowed.
//!
//! A check runs when the document states all that it needs. One that fails names the fields it concerns, and the
//! document goes to a person, however sure each value looked.

use super::{
    extraction::Row,
    schema::{Field, FieldType},
    value::Decimal,
};
use bindery_yaml::{Data, Fields, Node, Problems, suggest};
use serde::{Deserialize, Serialize};

const KEYS: &[&str] = &["sum", "equals", "within", "order"];

/// One rule of a schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// The terms add up to one of the fields in `equals`.
    Sum { terms: Vec<Term>, equals: Vec<String>, within: Decimal },
    /// Each date is the same as or later than the one before.
    Order(Vec<String>),
}

/// `net`, `-prepaid`, `charges?` (nothing if the document has none), `items.amount` (the sum of a column).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    pub field: String,
    pub column: Option<String>,
    pub is_subtracted: bool,
    pub is_optional: bool,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// What was checked: "net_total + tax_total = grand_total".
    pub check: String,
    pub passed: bool,
    /// The fields that it concerns.
    pub fields: Vec<String>,
    /// One sentence with the numbers.
    pub message: String,
}

/// Where a check finds values: normalised texts by field, and by row and column.
pub(crate) trait Values {
    fn value(&self, field: &str) -> Option<&str>;
    /// None if the document has no such rows; an inner None is a cell without a value.
    fn column(&self, field: &str, column: &str) -> Option<Vec<Option<&str>>>;
}

impl Check {
    pub(super) fn read(
        node: &Node,
        path: &str,
        fields: &[Field],
        broken: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let known = Known { fields, broken };
        let entry = Fields::open(node, path, KEYS, problems)?;
        if entry.get("order").is_some() {
            let names = texts(&entry, "order", problems);
            for name in &names {
                known.check(&entry, "order", name, &[FieldType::Date], problems);
            }
            return Some(Self::Order(names));
        }
        if entry.get("sum").is_none() {
            let hint = "write `sum: [net, tax]` with `equals: total`, or `order: [issue_date, due_date]`";
            problems.add_with_hint(entry.place, path, "expected `sum` or `order`", hint);
            return None;
        }
        entry.require("equals", "name the field that the sum should equal", problems);
        let terms: Vec<Term> = texts(&entry, "sum", problems).iter().map(|text| Term::new(text)).collect();
        let numbers = &[FieldType::Money, FieldType::Decimal, FieldType::Integer];
        for term in &terms {
            match &term.column {
                None => known.check(&entry, "sum", &term.field, numbers, problems),
                Some(column) => known.check_column(&entry, &term.field, column, problems),
            }
        }
        let equals = texts(&entry, "equals", problems);
        for name in &equals {
            known.check(&entry, "equals", name, numbers, problems);
        }
        let within = match entry.get("within").map(|node| &node.data) {
            None => Decimal::from_plain("0.01"),
            Some(Data::Integer(value)) => Decimal::from_plain(&value.to_string()),
            Some(Data::Float(value)) => Decimal::from_plain(&value.to_string()),
            Some(_) => None,
        };
        let within = within.filter(|within| !within.is_negative());
        if within.is_none() {
            entry.blame("within", "expected an amount of at least 0", Some("for example `within: 0.05`"), problems);
        }
        Some(Self::Sum { terms, equals, within: within? })
    }

    /// The fields that it concerns.
    pub fn fields(&self) -> Vec<String> {
        match self {
            Self::Sum { terms, equals, .. } => {
                terms.iter().map(|term| term.field.clone()).chain(equals.iter().cloned()).collect()
            }
            Self::Order(names) => names.clone(),
        }
    }

    /// How much the stated terms are more than what they should add up to; None for other checks.
    pub(super) fn excess(&self, values: &impl Values) -> Option<Decimal> {
        let Self::Sum { terms, equals, .. } = self else { return None };
        let mut sum = Decimal::ZERO;
        for term in terms {
            match term.amount(values) {
                Some(amount) if term.is_subtracted => sum = sum.minus(amount.abs())?,
                Some(amount) => sum = sum.plus(amount)?,
                None if term.is_optional => {}
                None => return None,
            }
        }
        let target = equals.iter().find_map(|name| Decimal::from_plain(values.value(name)?))?;
        sum.minus(target)
    }

    /// None where the document does not state what it needs.
    pub(crate) fn run(&self, values: &impl Values) -> Option<CheckResult> {
        match self {
            Self::Sum { terms, equals, within } => run_sum(terms, equals, *within, values),
            Self::Order(names) => run_order(names, values),
        }
    }
}

impl Term {
    fn new(text: &str) -> Self {
        let (is_subtracted, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest.trim_start()));
        let (is_optional, text) = text.strip_suffix('?').map_or((false, text), |rest| (true, rest));
        let (field, column) =
            text.split_once('.').map_or((text, None), |(field, column)| (field, Some(column.to_owned())));
        Self { field: field.to_owned(), column, is_subtracted, is_optional }
    }

    /// The amount, or None if the document has none.
    fn amount(&self, values: &impl Values) -> Option<Decimal> {
        let amount = match &self.column {
            None => Decimal::from_plain(values.value(&self.field)?)?,
            Some(column) => {
                let cells = values.column(&self.field, column)?;
                let amounts = cells.into_iter().map(|cell| cell.and_then(Decimal::from_plain));
                amounts
                    .collect::<Option<Vec<_>>>()
                    .filter(|amounts| !amounts.is_empty())?
                    .into_iter()
                    .try_fold(Decimal::ZERO, Decimal::plus)?
            }
        };
        Some(if self.is_subtracted { amount.negated() } else { amount })
    }
}

/// Whether a sum over a column of these rows is one that the document states.
pub(super) fn rows_add_up(checks: &[Check], found: &impl Values, list: &str, rows: &[Row]) -> bool {
    let values = WithRows { found, list, rows };
    let concerns = |check: &&Check| match check {
        Check::Sum { terms, .. } => terms.iter().any(|term| term.field == list && term.column.is_some()),
        Check::Order(_) => false,
    };
    checks.iter().filter(concerns).filter_map(|check| check.run(&values)).any(|result| result.passed)
}

/// What was found, with other rows in one of its lists.
struct WithRows<'v, V> {
    found: &'v V,
    list: &'v str,
    rows: &'v [Row],
}

impl<V: Values> Values for WithRows<'_, V> {
    fn value(&self, field: &str) -> Option<&str> {
        self.found.value(field)
    }

    fn column(&self, field: &str, column: &str) -> Option<Vec<Option<&str>>> {
        if field != self.list {
            return self.found.column(field, column);
        }
        Some(self.rows.iter().map(|row| row.cells.get(column).map(|cell| cell.normalised.as_str())).collect())
    }
}

fn run_sum(terms: &[Term], equals: &[String], within: Decimal, values: &impl Values) -> Option<CheckResult> {
    let mut sum = Decimal::ZERO;
    let mut stated: Vec<&Term> = Vec::new();
    for term in terms {
        match term.amount(values) {
            // What reduces a total is printed with or without a minus; it is subtracted either way.
            Some(amount) if term.is_subtracted => sum = sum.minus(amount.abs())?,
            Some(amount) => sum = sum.plus(amount)?,
            None if term.is_optional => continue,
            None => return None,
        }
        stated.push(term);
    }
    let targets: Vec<(&String, Decimal)> =
        equals.iter().filter_map(|name| Some((name, Decimal::from_plain(values.value(name)?)?))).collect();
    let (first, first_amount) = targets.first().copied()?;
    // A credit note may print the amounts of its rows below zero and their sum above, or the other way round.
    let is_column = matches!(stated.as_slice(), [term] if term.column.is_some());
    let meets =
        |amount: Decimal| amount.is_within(sum, within) || (is_column && amount.negated().is_within(sum, within));
    let met = targets.iter().find(|(_, amount)| meets(*amount));
    let (name, amount) = met.copied().unwrap_or((first, first_amount));
    let written: Vec<String> = stated
        .iter()
        .enumerate()
        .map(|(index, term)| {
            let sign = match (index, term.is_subtracted) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let column = term.column.as_ref().map(|column| format!(".{column}")).unwrap_or_default();
            format!("{sign}{}{column}", term.field)
        })
        .collect();
    let written = written.concat();
    let passed = met.is_some();
    let verb = if passed { "is" } else { "should be" };
    let mut fields: Vec<String> = stated.iter().map(|term| term.field.clone()).collect();
    fields.push(name.clone());
    Some(CheckResult {
        check: format!("{written} = {name}"),
        passed,
        fields,
        message: format!("{written} is {sum}, which {verb} {name}, {amount}"),
    })
}

fn run_order(names: &[String], values: &impl Values) -> Option<CheckResult> {
    let dates: Vec<(&String, &str)> = names.iter().filter_map(|name| Some((name, values.value(name)?))).collect();
    if dates.len() < 2 {
        return None;
    }
    // Normalised dates are ordered as texts are.
    let wrong = dates.windows(2).find(|pair| pair[0].1 > pair[1].1);
    let passed = wrong.is_none();
    let pair = wrong.unwrap_or(&dates[..2]);
    let ((earlier, first), (later, second)) = (pair[0], pair[1]);
    let message = if passed {
        format!("{earlier}, {first}, is not after {later}, {second}")
    } else {
        format!("{earlier}, {first}, is after {later}, {second}")
    };
    Some(CheckResult {
        check: names.join(" <= "),
        passed,
        fields: dates.iter().map(|(name, _)| (*name).clone()).collect(),
        message,
    })
}

fn texts(entry: &Fields<'_>, key: &str, problems: &mut Problems) -> Vec<String> {
    super::schema_read::read_texts(entry, key, problems)
}

/// The fields that a check may name.
struct Known<'s> {
    fields: &'s [Field],
    /// Names of fields that could not be read.
    broken: &'s [&'s str],
}

impl Known<'_> {
    fn check(&self, entry: &Fields<'_>, key: &str, name: &str, kinds: &[FieldType], problems: &mut Problems) {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        match self.fields.iter().find(|field| field.name == name) {
            None if self.broken.contains(&name) => {}
            None => entry.blame(key, format!("unknown field {name:?}"), Some(&suggest(name, &names)), problems),
            Some(field) if !kinds.contains(&field.kind) => {
                let wanted: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
                let found = field.kind.as_str();
                let message = format!("the field {name:?} is of type {found}, expected {}", wanted.join(" or "));
                entry.blame(key, message, None, problems);
            }
            Some(_) => {}
        }
    }

    fn check_column(&self, entry: &Fields<'_>, name: &str, column: &str, problems: &mut Problems) {
        self.check(entry, "sum", name, &[FieldType::Rows], problems);
        let rows = self.fields.iter().find(|field| field.name == name && field.kind == FieldType::Rows);
        let Some(field) = rows else { return };
        let columns: Vec<&str> = field.columns.iter().map(|column| column.name.as_str()).collect();
        if !columns.contains(&column) {
            entry.blame(
                "sum",
                format!("{name:?} has no column {column:?}"),
                Some(&suggest(column, &columns)),
                problems,
            );
        }
    }
}
