//! The functions of `States.*`, with their limits.

mod arrays;
mod texts;

use super::evaluate::Roots;
use crate::asl::functions;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Array,
    ArrayPartition,
    ArrayContains,
    ArrayRange,
    ArrayGetItem,
    ArrayLength,
    ArrayUnique,
    Base64Encode,
    Base64Decode,
    Hash,
    JsonMerge,
    JsonToString,
    StringToJson,
    StringSplit,
    Format,
    MathRandom,
    MathAdd,
    Uuid,
}

const MANY: usize = 1_000;

/// Each with its name and how many arguments it takes.
const FUNCTIONS: &[(Function, &str, RangeInclusive<usize>)] = &[
    (Function::Array, "States.Array", 0..=MANY),
    (Function::ArrayPartition, "States.ArrayPartition", 2..=2),
    (Function::ArrayContains, "States.ArrayContains", 2..=2),
    (Function::ArrayRange, "States.ArrayRange", 3..=3),
    (Function::ArrayGetItem, "States.ArrayGetItem", 2..=2),
    (Function::ArrayLength, "States.ArrayLength", 1..=1),
    (Function::ArrayUnique, "States.ArrayUnique", 1..=1),
    (Function::Base64Encode, "States.Base64Encode", 1..=1),
    (Function::Base64Decode, "States.Base64Decode", 1..=1),
    (Function::Hash, "States.Hash", 2..=2),
    (Function::JsonMerge, "States.JsonMerge", 3..=3),
    (Function::JsonToString, "States.JsonToString", 1..=1),
    (Function::StringToJson, "States.StringToJson", 1..=1),
    (Function::StringSplit, "States.StringSplit", 2..=2),
    (Function::Format, "States.Format", 1..=MANY),
    (Function::MathRandom, "States.MathRandom", 2..=3),
    (Function::MathAdd, "States.MathAdd", 2..=2),
    (Function::Uuid, "States.UUID", 0..=0),
];

type Outcome = Result<Value, String>;

impl Function {
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|(_, name, _)| *name)
    }

    pub(super) fn named(wanted: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(_, name, _)| *name == wanted).map(|(function, ..)| *function)
    }

    pub(super) fn arguments(self) -> RangeInclusive<usize> {
        let found = FUNCTIONS.iter().find(|(function, ..)| *function == self);
        found.map_or(0..=MANY, |(_, _, arguments)| arguments.clone())
    }

    /// The count of what is given was checked when the call was read.
    pub(super) fn call(self, given: &[Value], roots: &dyn Roots) -> Outcome {
        match self {
            Self::Array => Ok(Value::Array(given.to_vec())),
            Self::ArrayPartition => functions::partition(list(given, 0)?, number(given, 1)?),
            Self::ArrayContains => Ok(arrays::contains(list(given, 0)?, argument(given, 1)).into()),
            Self::ArrayRange => {
                functions::range(round(number(given, 0)?), round(number(given, 1)?), round(number(given, 2)?))
            }
            Self::ArrayGetItem => arrays::item(list(given, 0)?, round(number(given, 1)?)),
            Self::ArrayLength => Ok(list(given, 0)?.len().into()),
            Self::ArrayUnique => Ok(arrays::unique(list(given, 0)?)),
            Self::Base64Encode => texts::base64_encode(text(given, 0)?),
            Self::Base64Decode => texts::base64_decode(text(given, 0)?),
            Self::Hash => texts::hash(argument(given, 0), text(given, 1)?),
            Self::JsonMerge => merge(given),
            Self::JsonToString => Ok(argument(given, 0).to_string().into()),
            Self::StringToJson => texts::to_json(text(given, 0)?),
            Self::StringSplit => Ok(texts::split(text(given, 0)?, text(given, 1)?)),
            Self::Format => texts::format(text(given, 0)?, &given[1..]),
            Self::MathRandom => random(given, roots),
            Self::MathAdd => Ok(Value::from((round(number(given, 0)?) + round(number(given, 1)?)) as i64)),
            Self::Uuid => Ok(roots.uuid().into()),
        }
    }
}

fn argument(given: &[Value], place: usize) -> &Value {
    given.get(place).unwrap_or(&Value::Null)
}

fn list(given: &[Value], place: usize) -> Result<&[Value], String> {
    let value = argument(given, place);
    value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(place, "a list", value))
}

fn number(given: &[Value], place: usize) -> Result<f64, String> {
    let value = argument(given, place);
    value.as_f64().ok_or_else(|| wrong(place, "a number", value))
}

fn text(given: &[Value], place: usize) -> Result<&str, String> {
    let value = argument(given, place);
    value.as_str().ok_or_else(|| wrong(place, "a text", value))
}

fn wrong(place: usize, wanted: &str, value: &Value) -> String {
    let shown: String = value.to_string().chars().take(80).collect();
    format!("argument {} is {wanted}, not {shown}", place + 1)
}

/// Halves go up.
fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}

fn merge(given: &[Value]) -> Outcome {
    let object = |place: usize| {
        let value = argument(given, place);
        value.as_object().ok_or_else(|| wrong(place, "an object", value))
    };
    let (one, other): (&Map<_, _>, &Map<_, _>) = (object(0)?, object(1)?);
    if argument(given, 2) != &Value::Bool(false) {
        return Err("only shallow merging is supported: the third argument is false".to_owned());
    }
    let mut merged = one.clone();
    merged.extend(other.iter().map(|(key, value)| (key.clone(), value.clone())));
    Ok(Value::Object(merged))
}

/// From the first number, which is included, to the second, which is not.
fn random(given: &[Value], roots: &dyn Roots) -> Outcome {
    let (first, end) = (round(number(given, 0)?), round(number(given, 1)?));
    if first >= end {
        return Err("the second number is greater than the first".to_owned());
    }
    let fraction = if given.len() > 2 {
        let mut seed = round(number(given, 2)?) as i64 as u64;
        functions::fraction(functions::next_random(&mut seed))
    } else {
        roots.random()
    };
    Ok(Value::from((first + (fraction * (end - first)).floor()) as i64))
}

#[cfg(test)]
mod tests {
    use super::super::{evaluate::tests::fixed, expression::PathExpression};
    use serde_json::{Value, json};

    fn value(text: &str) -> Value {
        let expression = PathExpression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        expression.evaluate(&fixed()).unwrap_or_else(|error| panic!("{error}")).into_owned()
    }

    fn fault(text: &str) -> String {
        match PathExpression::parse(text) {
            Ok(expression) => expression.evaluate(&fixed()).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_function_computes() {
        for (call, expected) in [
            ("States.Array(1, 'a', true, null, $.limit)", json!([1, "a", true, null, 10])),
            ("States.Array()", json!([])),
            ("States.ArrayPartition($.list, 1)", json!([[[1, 2]], [[3]]])),
            ("States.ArrayContains($.list[0], 2)", json!(true)),
            ("States.ArrayRange(0, 9, 3)", json!([0, 3, 6, 9])),
            ("States.ArrayGetItem($.list, 1)", json!([3])),
            ("States.ArrayLength($.list)", json!(2)),
            ("States.ArrayUnique(States.Array(1, 1.0, 'a', 'a', null))", json!([1, "a", null])),
            ("States.Base64Encode('Data to encode')", json!("RGF0YSB0byBlbmNvZGU=")),
            ("States.Base64Decode('RGF0YSB0byBlbmNvZGU=')", json!("Data to encode")),
            ("States.Hash('input data', 'SHA-1')", json!("aaff4a450a104cd177d28d18d74485e8cae074b7")),
            (
                "States.JsonMerge(States.StringToJson('\\{\"a\":1\\}'), $.deep, false)",
                json!({"a": 1, "id": 4, "more": {"id": 5}}),
            ),
            ("States.JsonToString($.list)", json!("[[1,2],[3]]")),
            ("States.StringToJson('')", json!(null)),
            ("States.StringSplit('a.b+c', '.+')", json!(["a", "b", "c"])),
            ("States.Format('{} and \\{\\} it\\'s {}', $.limit, States.Array('x'))", json!("10 and {} it's [x]")),
            ("States.MathRandom(1, 3)", json!(2)),
            ("States.MathAdd(-1.5, 2.5)", json!(2)),
            ("States.UUID()", json!("00000000-0000-4000-8000-000000000000")),
        ] {
            assert_eq!(value(call), expected, "{call}");
        }
        assert_eq!(value("States.MathRandom(1, 1000, 5)"), value("States.MathRandom(1, 1000, 5)"));
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(
            fault("States.ArrayGetItem($.list, 5)"),
            "The function 'States.ArrayGetItem($.list, 5)' had the following error: there is no item 5 in a list of 2"
        );
        assert!(fault("States.Format('{} {}', 1)").ends_with("the template has 2 places, 1 values are given"));
        assert!(fault("States.ArrayRange(0, 10000, 1)").contains("at most 1000"));
        assert!(fault("States.Hash('a', 'CRC')").contains("MD5, SHA-1"));
        assert!(fault("States.MathAdd('a', 1)").contains("argument 1 is a number, not \"a\""));
        assert_eq!(
            fault("States.Fromat('{}', 1)"),
            "there is no function `States.Fromat`; did you mean `States.Format`? (at character 1)"
        );
        assert_eq!(fault("States.MathAdd(1)"), "`States.MathAdd` takes 2 arguments, here are 1 (at character 1)");
        assert!(fault("States.Array('a").contains("no end"));
        assert!(fault(&format!("{}1{}", "States.Array(".repeat(20), ")".repeat(20))).contains("at most 10 levels"));
        assert_eq!(fault("States.Array($.no)"), "No results for path: $['no']");
    }
}
