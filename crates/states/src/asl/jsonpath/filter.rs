//! The conditions in `[?(...)]`.

use super::{
    evaluate::select_all,
    parse::{Cursor, PathError, Step, read_steps},
};
use regex::Regex;
use serde_json::Value;
use std::cmp::Ordering;

#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    /// Something is there.
    Present(Operand),
    Compare(Operand, Operator, Operand),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Literal(Value),
    /// `@...`: from the item; `$...`: from the root.
    Path {
        from_root: bool,
        steps: Vec<Step>,
    },
    Pattern(Pattern),
}

/// A regular expression, compiled when the path is read.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    In,
    NotIn,
    Contains,
    Size,
    Empty,
}

/// As they are written; longer ones first where one starts with another.
const OPERATORS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("=~", Operator::Matches),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("nin ", Operator::NotIn),
    ("in ", Operator::In),
    ("contains ", Operator::Contains),
    ("size ", Operator::Size),
    ("empty ", Operator::Empty),
];

/// After the question mark.
pub(super) fn read(cursor: &mut Cursor) -> Result<Filter, PathError> {
    cursor.skip_space();
    if cursor.peek() != Some('(') {
        return Err(cursor.error("a filter is written as `?(...)`"));
    }
    read_single(cursor)
}

fn read_any(cursor: &mut Cursor) -> Result<Filter, PathError> {
    let mut filters = vec![read_all(cursor)?];
    while cursor.take_text("||") {
        filters.push(read_all(cursor)?);
    }
    Ok(if filters.len() == 1 { filters.remove(0) } else { Filter::Any(filters) })
}

fn read_all(cursor: &mut Cursor) -> Result<Filter, PathError> {
    let mut filters = vec![read_single(cursor)?];
    cursor.skip_space();
    while cursor.take_text("&&") {
        filters.push(read_single(cursor)?);
        cursor.skip_space();
    }
    Ok(if filters.len() == 1 { filters.remove(0) } else { Filter::All(filters) })
}

fn read_single(cursor: &mut Cursor) -> Result<Filter, PathError> {
    cursor.nested(|cursor| {
        cursor.skip_space();
        if cursor.take('!') {
            return read_single(cursor).map(|filter| Filter::Not(Box::new(filter)));
        }
        if cursor.take('(') {
            let filter = read_any(cursor)?;
            cursor.skip_space();
            return if cursor.take(')') { Ok(filter) } else { Err(cursor.error("`)` is missing")) };
        }
        let left = read_operand(cursor)?;
        cursor.skip_space();
        let Some((_, operator)) = OPERATORS.iter().find(|(text, _)| cursor.take_text(text)) else {
            return Ok(Filter::Present(left));
        };
        cursor.skip_space();
        let right = read_operand(cursor)?;
        if (*operator == Operator::Matches) != matches!(right, Operand::Pattern(_)) {
            return Err(cursor.error("`=~` has a pattern like /a.*/ on its right, and nothing else has"));
        }
        Ok(Filter::Compare(left, *operator, right))
    })
}

fn read_operand(cursor: &mut Cursor) -> Result<Operand, PathError> {
    match cursor.peek() {
        Some(root @ ('@' | '$')) => {
            cursor.next();
            Ok(Operand::Path { from_root: root == '$', steps: read_steps(cursor)? })
        }
        Some('\'' | '"') => cursor.quoted().map(|text| Operand::Literal(Value::String(text))),
        Some('/') => read_pattern(cursor),
        Some('[') => {
            let start = cursor.at;
            cursor.next();
            let mut values = Vec::new();
            loop {
                cursor.skip_space();
                if cursor.take(']') {
                    return Ok(Operand::Literal(Value::Array(values)));
                }
                match cursor.nested(read_operand)? {
                    Operand::Literal(value) => values.push(value),
                    _ => return Err(cursor.error_at(start, "a list in a filter holds plain values")),
                }
                cursor.skip_space();
                cursor.take(',');
            }
        }
        _ => {
            let start = cursor.at;
            let word = cursor.while_some(|c| c.is_alphanumeric() || matches!(c, '-' | '+' | '.'));
            let value = serde_json::from_str(&word);
            value.map(Operand::Literal).map_err(|_| cursor.error_at(start, "a value is missing in the filter"))
        }
    }
}

fn read_pattern(cursor: &mut Cursor) -> Result<Operand, PathError> {
    let start = cursor.at;
    cursor.next();
    let mut pattern = String::new();
    loop {
        match cursor.next() {
            Some('/') => break,
            Some('\\') if cursor.peek() == Some('/') => pattern.extend(cursor.next()),
            Some(character) => pattern.push(character),
            None => return Err(cursor.error_at(start, "this pattern has no end")),
        }
    }
    let pattern = if cursor.take('i') { format!("(?i){pattern}") } else { pattern };
    let regex = Regex::new(&format!("^(?:{pattern})$"));
    regex.map(|regex| Operand::Pattern(Pattern(regex))).map_err(|error| cursor.error_at(start, error.to_string()))
}

impl Filter {
    pub(super) fn holds(&self, item: &Value, root: &Value) -> bool {
        match self {
            Self::All(filters) => filters.iter().all(|filter| filter.holds(item, root)),
            Self::Any(filters) => filters.iter().any(|filter| filter.holds(item, root)),
            Self::Not(filter) => !filter.holds(item, root),
            Self::Present(operand) => operand.value(item, root).is_some(),
            Self::Compare(left, operator, right) => {
                let left = left.value(item, root);
                if let Operand::Pattern(pattern) = right {
                    return left.as_ref().and_then(Value::as_str).is_some_and(|text| pattern.0.is_match(text));
                }
                compare(left.as_ref(), *operator, right.value(item, root).as_ref())
            }
        }
    }
}

impl Operand {
    fn value(&self, item: &Value, root: &Value) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value.clone()),
            Self::Path { from_root, steps } => {
                let mut found = select_all(if *from_root { root } else { item }, root, steps);
                match found.len() {
                    0 => None,
                    1 => Some(found.remove(0).into_owned()),
                    _ => Some(Value::Array(found.into_iter().map(std::borrow::Cow::into_owned).collect())),
                }
            }
            Self::Pattern(_) => None,
        }
    }
}

fn compare(left: Option<&Value>, operator: Operator, right: Option<&Value>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return operator == Operator::NotEqual && left != right };
    let holds =
        |list: &Value, value: &Value| list.as_array().is_some_and(|list| list.iter().any(|one| same(one, value)));
    match operator {
        Operator::Equal => same(left, right),
        Operator::NotEqual => !same(left, right),
        Operator::Less => order(left, right) == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order(left, right), Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order(left, right) == Some(Ordering::Greater),
        Operator::GreaterOrEqual => matches!(order(left, right), Some(Ordering::Greater | Ordering::Equal)),
        Operator::In => holds(right, left),
        Operator::NotIn => !holds(right, left),
        Operator::Contains => match (left, right) {
            (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
            _ => holds(left, right),
        },
        Operator::Size => size(left).is_some_and(|size| right.as_u64() == Some(size as u64)),
        Operator::Empty => size(left).is_some_and(|size| right.as_bool() == Some(size == 0)),
        Operator::Matches => false,
    }
}

fn size(value: &Value) -> Option<usize> {
    match value {
        Value::Array(values) => Some(values.len()),
        Value::String(text) => Some(text.chars().count()),
        _ => None,
    }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::JsonPath;
    use serde_json::{Value, json};

    fn ids(filter: &str) -> Value {
        let roots = super::super::evaluate::tests::fixed();
        let path = JsonPath::parse(&format!("$.items[?({filter})].id")).unwrap();
        path.select(&roots).unwrap().into_owned()
    }

    #[test]
    fn conditions_choose_items() {
        assert_eq!(ids("@.price == 15"), json!([2]));
        assert_eq!(ids("@.price != 15 && @.id < 3"), json!([1]));
        assert_eq!(ids("@.id == 1 || (@.id >= 3 && @.price <= 25)"), json!([1, 3]));
        assert_eq!(ids("@.tags"), json!([1, 2]));
        assert_eq!(ids("!@.tags"), json!([3]));
        assert_eq!(ids("@.id in [1, 3]"), json!([1, 3]));
        assert_eq!(ids("@.id nin [1, 3]"), json!([2]));
        assert_eq!(ids("@.tags contains 'x'"), json!([1]));
        assert_eq!(ids("@.tags empty true"), json!([2]));
        assert_eq!(ids("@.tags size 1"), json!([1]));
        assert_eq!(ids("$.detail-type =~ /d/i"), json!([1, 2, 3]));
    }
}
