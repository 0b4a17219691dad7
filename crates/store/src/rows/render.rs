//! Statements as text, in the dialect of a backend.

use super::{
    query::{Column, Comparison, Condition, Nulls, Order, Query, Test},
    table::Table,
    unit_of_work::OnConflict,
    value::Value,
};
use std::fmt::Write as _;

/// What a backend writes in its own way.
pub(crate) trait Dialect {
    /// The parameter of this number, from 1.
    fn parameter(number: usize) -> String;

    /// Whether a column has one of the values of a parameter that is a list.
    fn any_of(column: &str, number: usize) -> String;
}

/// A statement as a backend runs it.
#[derive(Debug)]
pub(crate) struct Statement<'q> {
    pub(crate) sql: String,
    pub(crate) params: Vec<&'q Value>,
}

/// Reads what a query asks for.
pub(crate) fn select<D: Dialect>(query: &Query) -> Statement<'_> {
    let mut statement = Statement { sql: String::new(), params: Vec::new() };
    statement.select::<D>(query);
    statement
}

/// Deletes the rows that a query finds, whatever it reads of them.
pub(crate) fn delete<D: Dialect>(query: &Query) -> Statement<'_> {
    let mut statement = Statement { sql: format!("DELETE FROM {}", query.table.name), params: Vec::new() };
    statement.conditions::<D>(&query.conditions, false);
    statement
}

/// What follows `ON CONFLICT (key)`.
pub(crate) fn on_conflict(table: &Table, known: OnConflict) -> String {
    if known == OnConflict::Keep {
        return "DO NOTHING".to_owned();
    }
    let set = table.columns.iter().skip(table.key_length()).map(|(name, _)| format!("{name} = excluded.{name}"));
    format!("DO UPDATE SET {}", set.collect::<Vec<_>>().join(", "))
}

/// As it is named where two tables may have one of its name.
fn name(column: Column, is_join: bool) -> String {
    match (is_join, column.is_joined) {
        (false, _) => column.name.to_owned(),
        (true, false) => format!("t.{}", column.name),
        (true, true) => format!("j.{}", column.name),
    }
}

impl<'q> Statement<'q> {
    fn select<D: Dialect>(&mut self, query: &'q Query) {
        let is_join = query.join.is_some();
        let columns: Vec<String> = query.columns.iter().map(|column| name(*column, is_join)).collect();
        let count = query.counts.then(|| "count(*)".to_owned());
        let read: Vec<String> = columns.iter().cloned().chain(count).collect();
        let _ = write!(self.sql, "SELECT {} FROM {}", read.join(", "), query.table.name);
        if let Some(join) = &query.join {
            let (ours, theirs) = join.on;
            let _ = write!(self.sql, " t JOIN {} j ON j.{theirs} = t.{ours}", join.table.name);
        }
        self.conditions::<D>(&query.conditions, is_join);
        if query.counts && !columns.is_empty() {
            let _ = write!(self.sql, " GROUP BY {}", columns.join(", "));
        }
        if !query.order.is_empty() {
            let order: Vec<String> = query.order.iter().map(|part| order(part, is_join)).collect();
            let _ = write!(self.sql, " ORDER BY {}", order.join(", "));
        }
        if let Some(limit) = query.limit {
            let _ = write!(self.sql, " LIMIT {limit}");
        }
    }

    fn conditions<D: Dialect>(&mut self, conditions: &'q [Condition], is_join: bool) {
        for (place, Condition(test)) in conditions.iter().enumerate() {
            self.sql.push_str(if place == 0 { " WHERE " } else { " AND " });
            self.test::<D>(test, is_join);
        }
    }

    fn parameter<D: Dialect>(&mut self, value: &'q Value) -> String {
        self.params.push(value);
        D::parameter(self.params.len())
    }

    fn test<D: Dialect>(&mut self, test: &'q Test, is_join: bool) {
        let column = |column: &Column| name(*column, is_join);
        match test {
            Test::Compare(of, how, value) => {
                let sign = match how {
                    Comparison::Equal => "=",
                    Comparison::Different => "<>",
                    Comparison::Below => "<",
                    Comparison::AtMost => "<=",
                    Comparison::AtLeast => ">=",
                };
                let parameter = self.parameter::<D>(value);
                let _ = write!(self.sql, "{} {sign} {parameter}", column(of));
            }
            Test::AnyOf(of, list) => {
                self.params.push(list);
                self.sql.push_str(&D::any_of(&column(of), self.params.len()));
            }
            Test::Among(of, query) => {
                let _ = write!(self.sql, "{} IN (", column(of));
                self.select::<D>(query);
                self.sql.push(')');
            }
            Test::IsNull(of) => {
                let _ = write!(self.sql, "{} IS NULL", column(of));
            }
            Test::IsNotNull(of) => {
                let _ = write!(self.sql, "{} IS NOT NULL", column(of));
            }
            Test::Either(one, other) => {
                self.sql.push('(');
                self.test::<D>(one, is_join);
                self.sql.push_str(" OR ");
                self.test::<D>(other, is_join);
                self.sql.push(')');
            }
        }
    }
}

/// Backends differ in where rows without a value come, so that it is always said.
fn order(order: &Order, is_join: bool) -> String {
    let column = name(order.column, is_join);
    let before = match order.nulls {
        Some(Nulls::First) => format!("{column} IS NOT NULL, "),
        Some(Nulls::Last) => format!("{column} IS NULL, "),
        None => String::new(),
    };
    format!("{before}{column}{}", if order.is_descending { " DESC" } else { "" })
}
