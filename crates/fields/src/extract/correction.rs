//! Corrections: what a person says about the values of a document. Only what they confirm is certain; the confidence of
//! the document follows from the rest.
//!
//! | name | value | what it says |
//! |---|---|---|
//! | `grand_total` | `119.00` | the field has this value |
//! | `due_date` | empty | the document does not state it |
//! | `line_items.3.amount` | `12.50` | the cell of row 3 has this value; empty: none |
//! | `line_items.+.amount` | `12.50` | a new last row has this cell; `2+` is a new row after row 2 |
//! | `line_items.3` | empty | there is no such row |
//!
//! Rows are counted from 1, as they were before the correction. All of a correction is made, or nothing.

use super::{
    extraction::{ConfidenceParts, Extraction, FieldValue, Row, RowCell, Tier},
    rows::multiply,
    schema::{Field, FieldType, Schema},
    value::{Habits, Parsed},
};
use std::collections::{BTreeMap, BTreeSet};

/// Why a correction cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorrectionError {
    #[error("the document type {doctype:?} has no field {field:?}")]
    UnknownField { doctype: String, field: String },
    #[error("{value:?} is not a value of type {kind} for the field {field:?}")]
    WrongType { field: String, value: String, kind: &'static str },
    #[error("{value:?} is none of the values of the field {field:?}, which are {allowed}")]
    NotAllowed { field: String, value: String, allowed: String },
    #[error(
        "the field {field:?} is a list of rows: name a row and a column, such as {field}.1.{column}, or {field}.+.{column} for a new row"
    )]
    IsRows { field: String, column: String },
    #[error("{name:?} names no row: expected a number from 1, or + for a new row, between {field:?} and the column")]
    BadRow { name: String, field: String },
    #[error("{field} has {count}, so there is no row {row}; {field}.+ is a new one")]
    NoSuchRow { field: String, row: usize, count: String },
    #[error("row {row} of {field}: there is no column {column:?}; the columns are {columns}")]
    UnknownColumn { field: String, row: String, column: String, columns: String },
    #[error("row {row} of {field}: {value:?} is not a value of type {kind} for the column {column:?}")]
    WrongCell { field: String, row: String, column: String, value: String, kind: &'static str },
    #[error(
        "{name} is a whole row: name a column, such as {name}.{column}, or leave the value empty to remove the row"
    )]
    WholeRow { name: String, column: String },
    #[error("row {row} of {field} is removed and corrected at once")]
    RemovedAndCorrected { field: String, row: usize },
    #[error("the new row of {field} has no values")]
    EmptyRow { field: String },
}

impl Extraction {
    /// Sets values, cells and rows as a person states them, and runs all checks again. On an error nothing is changed.
    pub fn correct<'c>(
        &mut self,
        schema: &Schema,
        stated: impl IntoIterator<Item = (&'c str, &'c str)>,
        by: &str,
    ) -> Result<(), CorrectionError> {
        let mut changed = self.clone();
        let mut rows: BTreeMap<&str, RowChanges<'_>> = BTreeMap::new();
        for (name, value) in stated {
            if let Some(field) = schema.field(name) {
                changed.set(field, value, by)?;
                continue;
            }
            let parts = schema.fields.iter().filter_map(|field| {
                let rest = name.strip_prefix(field.name.as_str())?.strip_prefix('.')?;
                (field.kind == FieldType::Rows).then_some((field, rest))
            });
            let Some((field, rest)) = parts.max_by_key(|(field, _)| field.name.len()) else {
                return Err(CorrectionError::UnknownField { doctype: self.doctype.clone(), field: name.to_owned() });
            };
            let known = self.rows.get(&field.name).map_or(&[][..], Vec::as_slice);
            rows.entry(&field.name).or_insert_with(|| RowChanges::new(field, known)).add(name, rest, value, by)?;
        }
        for (name, changes) in rows {
            let now = changes.into_rows()?;
            changed.absent.remove(name);
            changed.rows.insert(name.to_owned(), now);
        }
        changed.judge(schema);
        *self = changed;
        Ok(())
    }

    /// A person says that all of it is right as it is, also what is missing.
    pub fn accept(&mut self, schema: &Schema, by: &str) {
        for value in self.fields.values_mut().filter(|value| value.tier != Tier::Person) {
            value.accepted_by = Some(by.to_owned());
        }
        let missing: Vec<String> =
            schema.fields.iter().map(|field| field.name.clone()).filter(|name| !self.has(name)).collect();
        self.absent.extend(missing);
        self.judge(schema);
        self.confidence = 1.0;
        // A person who accepts a document has seen its doubts.
        self.needs_review.clear();
    }

    fn set(&mut self, known: &Field, value: &str, by: &str) -> Result<(), CorrectionError> {
        let field = known.name.clone();
        if known.kind == FieldType::Rows {
            let column = known.columns.first().map_or_else(String::new, |column| column.name.clone());
            return Err(CorrectionError::IsRows { field, column });
        }
        if value.trim().is_empty() {
            self.fields.remove(&field);
            self.absent.insert(field);
            return Ok(());
        }
        let mut parsed = super::parse_as(known.kind, value, &Habits::default());
        if known.kind == FieldType::Choice {
            let Some(allowed) = known.allowed(value) else {
                let allowed = known.one_of.join(", ");
                return Err(CorrectionError::NotAllowed { field, value: value.to_owned(), allowed });
            };
            parsed = Some(Parsed::sure(allowed));
        }
        let Some(parsed) = parsed else {
            let kind = known.kind.as_str();
            return Err(CorrectionError::WrongType { field, value: value.to_owned(), kind });
        };
        let before = self.fields.remove(&field);
        // The place stays only where it still states the value.
        let place = before.filter(|before| before.normalised == parsed.normalised);
        let (page, quote, bbox) = place.map_or((None, None, None), |place| (place.page, place.quote, place.bbox));
        let corrected = FieldValue {
            value: value.to_owned(),
            normalised: parsed.normalised,
            page,
            quote,
            bbox,
            confidence: 1.0,
            tier: Tier::Person,
            source: Some(by.to_owned()),
            because: Vec::new(),
            parts: ConfidenceParts::CERTAIN,
            doubts: Vec::new(),
            accepted_by: None,
        };
        self.absent.remove(&field);
        self.fields.insert(field, corrected);
        Ok(())
    }
}

/// The changes of one list, gathered before any is made: the rows are counted as they were.
struct RowChanges<'e> {
    field: &'e Field,
    rows: Vec<Row>,
    /// Rows whose cells were changed, from 0.
    touched: BTreeSet<usize>,
    removed: BTreeSet<usize>,
    /// New rows by how many of the known ones stand before them.
    added: BTreeMap<usize, Row>,
}

impl<'e> RowChanges<'e> {
    fn new(field: &'e Field, known: &[Row]) -> Self {
        let (touched, removed, added) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        Self { field, rows: known.to_vec(), touched, removed, added }
    }

    /// `rest` is what stands behind the name of the list: `3.amount`, `+.amount`, `3`.
    fn add(&mut self, name: &str, rest: &str, value: &str, by: &str) -> Result<(), CorrectionError> {
        let (row, column) = rest.split_once('.').map_or((rest, None), |(row, column)| (row, Some(column)));
        let field = self.field.name.clone();
        let bad = || CorrectionError::BadRow { name: name.to_owned(), field: field.clone() };
        let (number, is_new) = match row.strip_suffix('+') {
            Some("") => (self.rows.len(), true),
            Some(before) => (before.parse::<usize>().map_err(|_| bad())?, true),
            None => (row.parse::<usize>().ok().filter(|number| *number > 0).ok_or_else(bad)?, false),
        };
        if number > self.rows.len() {
            let count = match self.rows.len() {
                0 => "no rows".to_owned(),
                1 => "1 row".to_owned(),
                many => format!("{many} rows"),
            };
            return Err(CorrectionError::NoSuchRow { field, row: number, count });
        }
        let Some(column) = column else {
            if is_new || !value.trim().is_empty() {
                let column = self.field.columns.first().map_or_else(String::new, |column| column.name.clone());
                return Err(CorrectionError::WholeRow { name: name.to_owned(), column });
            }
            self.removed.insert(number - 1);
            return Ok(());
        };
        let shown = if is_new { row.to_owned() } else { number.to_string() };
        let cell = self.cell(&shown, column, value, by)?;
        let row = if is_new {
            self.added.entry(number).or_default()
        } else {
            self.touched.insert(number - 1);
            &mut self.rows[number - 1]
        };
        match cell {
            None => drop(row.cells.remove(column)),
            Some(mut cell) => {
                // The place stays only where it still states the value.
                let before = row.cells.get(column).filter(|before| before.normalised == cell.normalised);
                cell.bbox = before.and_then(|before| before.bbox);
                row.cells.insert(column.to_owned(), cell);
            }
        }
        Ok(())
    }

    /// A value of a column; None where it is empty.
    fn cell(&self, row: &str, column: &str, value: &str, by: &str) -> Result<Option<RowCell>, CorrectionError> {
        let (field, row) = (self.field.name.clone(), row.to_owned());
        let kind = self.field.columns.iter().find(|known| known.name == column).map(|known| known.kind);
        // Columns that the type does not know are kept under their printed headings.
        let is_printed = self.rows.iter().any(|row| row.cells.contains_key(column));
        if kind.is_none() && !is_printed {
            let mut columns: Vec<&str> = self.field.columns.iter().map(|known| known.name.as_str()).collect();
            let printed = self.rows.iter().flat_map(|row| row.cells.keys()).map(String::as_str);
            for name in printed.collect::<BTreeSet<_>>() {
                if !columns.contains(&name) {
                    columns.push(name);
                }
            }
            let (column, columns) = (column.to_owned(), columns.join(", "));
            return Err(CorrectionError::UnknownColumn { field, row, column, columns });
        }
        if value.trim().is_empty() {
            return Ok(None);
        }
        let parsed = match kind {
            Some(kind) => super::parse_as(kind, value, &Habits::default()).ok_or_else(|| {
                let (column, value) = (column.to_owned(), value.to_owned());
                CorrectionError::WrongCell { field, row, column, value, kind: kind.as_str() }
            })?,
            None => super::parse_as(FieldType::Money, value, &Habits::default())
                .unwrap_or_else(|| Parsed::sure(value.trim())),
        };
        let (value, entered_by) = (value.to_owned(), Some(by.to_owned()));
        Ok(Some(RowCell { value, normalised: parsed.normalised, bbox: None, entered_by }))
    }

    /// The rows as they are then.
    fn into_rows(mut self) -> Result<Vec<Row>, CorrectionError> {
        let field = || self.field.name.clone();
        if let Some(row) = self.removed.intersection(&self.touched).next() {
            return Err(CorrectionError::RemovedAndCorrected { field: field(), row: row + 1 });
        }
        if self.added.values().any(|row| row.cells.is_empty()) {
            return Err(CorrectionError::EmptyRow { field: field() });
        }
        for index in &self.touched {
            multiply(&mut self.rows[*index]);
        }
        self.added.values_mut().for_each(multiply);
        let mut rows: Vec<Row> = Vec::with_capacity(self.rows.len() + self.added.len());
        rows.extend(self.added.remove(&0));
        for (index, row) in self.rows.into_iter().enumerate() {
            rows.extend((!self.removed.contains(&index)).then_some(row));
            rows.extend(self.added.remove(&(index + 1)));
        }
        Ok(rows)
    }
}
