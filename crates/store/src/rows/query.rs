//! Statements as values: a backend renders them in its own dialect.

use super::{
    table::{Record, Table},
    value::Value,
};

/// A column of the table that is asked, or of the one that is joined to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub(crate) name: &'static str,
    pub(crate) is_joined: bool,
}

/// A column of the table that is asked.
pub const fn column(name: &'static str) -> Column {
    Column { name, is_joined: false }
}

/// A column of the table that is joined.
pub const fn joined(name: &'static str) -> Column {
    Column { name, is_joined: true }
}

impl From<&'static str> for Column {
    fn from(name: &'static str) -> Self {
        column(name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Different,
    Below,
    AtMost,
    AtLeast,
}

/// A condition on a row.
#[derive(Debug, Clone)]
pub struct Condition(pub(crate) Test);

#[derive(Debug, Clone)]
pub(crate) enum Test {
    Compare(Column, Comparison, Value),
    /// One of the values of a list.
    AnyOf(Column, Value),
    /// One of those that a query of one column finds.
    Among(Column, Box<Query>),
    IsNull(Column),
    IsNotNull(Column),
    Either(Box<Test>, Box<Test>),
}

/// One of two conditions holds.
pub fn any_of(one: Condition, other: Condition) -> Condition {
    Condition(Test::Either(Box::new(one.0), Box::new(other.0)))
}

impl Column {
    fn compare(self, how: Comparison, value: impl Into<Value>) -> Condition {
        Condition(Test::Compare(self, how, value.into()))
    }

    pub fn equals(self, value: impl Into<Value>) -> Condition {
        self.compare(Comparison::Equal, value)
    }

    pub fn differs_from(self, value: impl Into<Value>) -> Condition {
        self.compare(Comparison::Different, value)
    }

    pub fn is_below(self, value: impl Into<Value>) -> Condition {
        self.compare(Comparison::Below, value)
    }

    pub fn is_at_most(self, value: impl Into<Value>) -> Condition {
        self.compare(Comparison::AtMost, value)
    }

    pub fn is_at_least(self, value: impl Into<Value>) -> Condition {
        self.compare(Comparison::AtLeast, value)
    }

    /// It has one of the values of a list.
    pub fn is_any_of(self, list: impl Into<Value>) -> Condition {
        Condition(Test::AnyOf(self, list.into()))
    }

    /// It has one of the values that a query of one column finds.
    pub fn is_among(self, query: Query) -> Condition {
        Condition(Test::Among(self, Box::new(query)))
    }

    pub const fn is_null(self) -> Condition {
        Condition(Test::IsNull(self))
    }

    pub const fn is_not_null(self) -> Condition {
        Condition(Test::IsNotNull(self))
    }

    pub const fn ascending(self) -> Order {
        Order { column: self, is_descending: false, nulls: None }
    }

    pub const fn descending(self) -> Order {
        Order { column: self, is_descending: true, nulls: None }
    }
}

/// One part of the order of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    pub(crate) column: Column,
    pub(crate) is_descending: bool,
    pub(crate) nulls: Option<Nulls>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    First,
    Last,
}

impl Order {
    /// Rows without a value come last.
    #[must_use]
    pub const fn nulls_last(self) -> Self {
        Self { nulls: Some(Nulls::Last), ..self }
    }

    /// Rows without a value come first.
    #[must_use]
    pub const fn nulls_first(self) -> Self {
        Self { nulls: Some(Nulls::First), ..self }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Join {
    pub(crate) table: &'static Table,
    /// The column of the table that is asked, and the one of the joined table that is equal to it.
    pub(crate) on: (&'static str, &'static str),
}

/// A statement over one table, or over one and another that is joined to it: what is read, of which rows, in which
/// order.
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) table: &'static Table,
    pub(crate) columns: Vec<Column>,
    /// How many rows there are, behind the columns; for each of their values where there are columns.
    pub(crate) counts: bool,
    pub(crate) join: Option<Join>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<usize>,
}

impl Query {
    /// These columns.
    pub fn select(table: &'static Table, columns: &[&'static str]) -> Self {
        let columns = columns.iter().copied().map(column).collect();
        Self { table, columns, counts: false, join: None, conditions: Vec::new(), order: Vec::new(), limit: None }
    }

    /// The nouns of a table, for [`decode`](super::decode).
    pub fn records<R: Record>() -> Self {
        Self::select(R::TABLE, &["data"])
    }

    /// How many rows there are.
    pub fn count(table: &'static Table) -> Self {
        Self::count_by(table, &[])
    }

    /// How many rows there are for each value of these columns: those first, then the number.
    pub fn count_by(table: &'static Table, columns: &[&'static str]) -> Self {
        Self { counts: true, ..Self::select(table, columns) }
    }

    /// Joins the rows of another table in which `theirs` is what `ours` is here.
    #[must_use]
    pub fn join(mut self, table: &'static Table, ours: &'static str, theirs: &'static str) -> Self {
        self.join = Some(Join { table, on: (ours, theirs) });
        self
    }

    /// One more column.
    #[must_use]
    pub fn and_column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// One more condition.
    #[must_use]
    pub fn filter(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// One more condition, where there is one.
    #[must_use]
    pub fn filter_some(mut self, condition: Option<Condition>) -> Self {
        self.conditions.extend(condition);
        self
    }

    /// In the order of these columns, behind the order that was named before.
    #[must_use]
    pub fn ascending(mut self, columns: &[&'static str]) -> Self {
        self.order.extend(columns.iter().copied().map(|name| column(name).ascending()));
        self
    }

    /// One more part of the order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order.push(order);
        self
    }

    /// No more rows than this.
    #[must_use]
    pub fn limit(mut self, limit: Option<usize>) -> Self {
        self.limit = limit;
        self
    }
}
