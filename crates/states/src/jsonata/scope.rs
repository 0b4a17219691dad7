//! What expressions are evaluated over: an input, and values by name.

use super::{
    convert,
    error::JsonataError,
    expression::{Bindings, Expression, Parsed, catch_panic},
    functions::{self, Registry},
    limits::Limits,
    needs::Need,
    paths::{self, FOUND, Found, Step, VariablePath},
    surroundings::Surroundings,
};
use jsonata_core::{
    ast::AstNode,
    evaluator::{Context, Evaluator, EvaluatorError, EvaluatorOptions},
    value::JValue,
};
use serde_json::Value;
use std::{
    cell::{Cell, OnceCell},
    fmt,
    rc::Rc,
};

/// So often a value is made ready in part; then all of it is, once.
const MOST_PARTLY: u8 = 2;

/// A place for a value that is made ready once, for scopes that are given the same value one after the other. Copies
/// share it, and it stays on its thread.
#[derive(Clone, Default)]
pub struct Prepared(Rc<OnceCell<JValue>>);

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// A value lent to expressions, and made ready as far as they look at it.
pub struct Lent<'v> {
    source: Source<'v>,
    whole: Whole<'v>,
    made_partly: Cell<u8>,
}

enum Source<'v> {
    Json(&'v Value),
    Parts(Vec<(&'v str, Lent<'v>)>),
    /// Made ready when it was given.
    Ready,
}

/// Where all of it is kept once it is made ready.
enum Whole<'v> {
    Own(OnceCell<JValue>),
    Shared(&'v Prepared),
}

impl<'v> Lent<'v> {
    pub fn new(value: &'v Value) -> Self {
        Self::with(Source::Json(value), Whole::Own(OnceCell::new()))
    }

    /// `prepared` holds nothing yet, or what was made of the same value.
    pub fn prepared(value: &'v Value, prepared: &'v Prepared) -> Self {
        Self::with(Source::Json(value), Whole::Shared(prepared))
    }

    /// An object of values.
    pub fn object(parts: Vec<(&'v str, Self)>) -> Self {
        Self::with(Source::Parts(parts), Whole::Own(OnceCell::new()))
    }

    fn ready(value: JValue) -> Self {
        Self::with(Source::Ready, Whole::Own(OnceCell::from(value)))
    }

    fn with(source: Source<'v>, whole: Whole<'v>) -> Self {
        Self { source, whole, made_partly: Cell::new(0) }
    }

    fn cell(&self) -> &OnceCell<JValue> {
        match &self.whole {
            Whole::Own(cell) => cell,
            Whole::Shared(prepared) => &prepared.0,
        }
    }

    fn whole(&self) -> JValue {
        let make = || match &self.source {
            Source::Json(value) => convert::from_json(value),
            Source::Parts(parts) => {
                JValue::object(parts.iter().map(|(name, part)| ((*name).to_owned(), part.whole())).collect())
            }
            Source::Ready => JValue::Undefined,
        };
        self.cell().get_or_init(make).clone()
    }

    fn convert_needed(&self, need: &Need) -> JValue {
        match (&self.source, need) {
            (Source::Parts(parts), Need::Fields(fields)) => {
                let asked =
                    |(name, part): &(&str, Self)| Some(((*name).to_owned(), part.convert_needed(fields.get(*name)?)));
                JValue::object(parts.iter().filter_map(asked).collect())
            }
            (Source::Json(value), Need::Fields(_) | Need::Item(..))
                if self.cell().get().is_none() && self.made_partly.get() < MOST_PARTLY =>
            {
                self.made_partly.set(self.made_partly.get() + 1);
                convert::convert_needed(value, need)
            }
            _ => self.whole(),
        }
    }

    /// What the rest of a path leads to; none where the library has to be asked.
    fn follow(&self, path: &VariablePath, steps: &[Step]) -> Option<JValue> {
        match (&self.source, steps.split_first()) {
            (_, None) if !path.counted => Some(self.convert_needed(&path.need)),
            (Source::Json(value), None) => Some(Found::One(value).count()),
            (Source::Json(value), Some(_)) => {
                let found = paths::follow(value, steps)?;
                Some(if path.counted { found.count() } else { found.value(&path.need) })
            }
            (Source::Parts(parts), Some((step, rest))) if step.is_name() => {
                match parts.iter().find(|(name, _)| *name == step.name) {
                    Some((_, part)) => part.follow(path, rest),
                    None if path.counted => Some(JValue::from(0_usize)),
                    None => Some(JValue::Undefined),
                }
            }
            _ => None,
        }
    }
}

impl fmt::Debug for Lent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").finish_non_exhaustive()
    }
}

/// An input and values by name, for several expressions. It stays on its thread.
pub struct Scope<'v> {
    input: Lent<'v>,
    bindings: Vec<(String, Lent<'v>)>,
    limits: Limits,
    surroundings: Option<Surroundings>,
}

impl Scope<'static> {
    pub fn new(input: &Value, bindings: &Bindings, limits: Limits) -> Self {
        Self { input: Lent::ready(convert::from_json(input)), ..Self::without_input(bindings, limits) }
    }

    /// For expressions that need no input.
    pub fn without_input(bindings: &Bindings, limits: Limits) -> Self {
        let bound = bindings.0.iter().map(|(name, value)| (name.clone(), Lent::ready(convert::from_json(value))));
        Self { bindings: bound.collect(), ..Self::empty(limits) }
    }
}

impl<'v> Scope<'v> {
    /// Without an input, and without values until some are lent.
    pub fn empty(limits: Limits) -> Self {
        Self { input: Lent::ready(JValue::Undefined), bindings: Vec::new(), limits, surroundings: None }
    }

    /// One more value by name, written without the dollar sign. Of several with the same name the last counts.
    #[must_use]
    pub fn lend(mut self, name: impl Into<String>, value: Lent<'v>) -> Self {
        self.bindings.push((name.into(), value));
        self
    }

    /// With the functions of state machines, and with clock and chance from outside.
    #[must_use]
    pub fn with_surroundings(mut self, surroundings: Surroundings) -> Self {
        self.surroundings = Some(surroundings);
        self
    }

    /// The limits count for each evaluation anew.
    pub fn evaluate(&self, expression: &Expression) -> Result<Option<Value>, JsonataError> {
        catch_panic(|| {
            let value = self.value(&expression.parsed).map_err(|error| JsonataError::from_evaluator(&error))?;
            convert::to_json(&value, &self.limits)
        })
    }

    fn value(&self, parsed: &Parsed) -> Result<JValue, EvaluatorError> {
        let found = parsed.paths.iter().map(|path| self.find(path)).collect::<Result<Vec<_>, _>>()?;
        if paths::is_found(&parsed.root)
            && let Some(only) = found.first()
        {
            return Ok(only.clone());
        }
        let mut context = Context::new();
        for (name, value) in &self.bindings {
            if let Some(need) = parsed.needs.part(name) {
                context.bind(name.clone(), value.convert_needed(need));
            }
        }
        self.run(&parsed.root, context, |evaluator| {
            let mut registry = Registry { evaluator, needs: &parsed.needs };
            functions::register(&mut registry, self.limits)?;
            parsed.patterns.register(&mut registry, self.limits)?;
            if let Some(surroundings) = &self.surroundings {
                surroundings.register(&mut registry, self.limits)?;
            }
            registry.add(FOUND, move |given: &[JValue]| {
                let number = if let Some(JValue::Number(number)) = given.first() { *number as usize } else { 0 };
                Ok(found.get(number).cloned().unwrap_or(JValue::Undefined))
            })
        })
    }

    fn find(&self, path: &VariablePath) -> Result<JValue, EvaluatorError> {
        let bound = self.bindings.iter().rev().find(|(name, _)| *name == path.variable);
        if let Some(found) = bound.and_then(|(_, value)| value.follow(path, &path.steps)) {
            return Ok(found);
        }
        let mut context = Context::new();
        if let Some((name, value)) = bound {
            context.bind(name.clone(), value.whole());
        }
        self.run(&path.original, context, |_| Ok(()))
    }

    fn run(
        &self,
        node: &AstNode,
        context: Context,
        register: impl FnOnce(&mut Evaluator) -> Result<(), EvaluatorError>,
    ) -> Result<JValue, EvaluatorError> {
        let options = EvaluatorOptions {
            timeout_ms: Some(u64::try_from(self.limits.time.as_millis()).unwrap_or(u64::MAX)),
            max_stack_depth: Some(self.limits.depth),
            max_sequence_length: Some(self.limits.items),
            cancel: None,
        };
        let mut evaluator = Evaluator::with_options(context, options);
        register(&mut evaluator)?;
        evaluator.evaluate(node, &self.input.whole())
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Over the same values, all of them made ready, and every path left to the library.
    fn by_the_library(source: &str, states: &Value, other: &Value) -> Result<Option<Value>, JsonataError> {
        let expression = Expression::parse_by_the_library(source)?;
        let ready = |value: &Value| Lent::ready(convert::from_json(value));
        Scope::empty(Limits::default()).lend("states", ready(states)).lend("other", ready(other)).evaluate(&expression)
    }

    fn evaluate_lent(source: &str, states: &Value, other: &Value) -> Result<Option<Value>, JsonataError> {
        let expression = Expression::parse(source)?;
        let parts = states.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), Lent::new(value)));
        let scope = Scope::empty(Limits::default())
            .lend("other", Lent::new(&Value::Null))
            .lend("states", Lent::object(parts.collect()))
            .lend("other", Lent::new(other));
        let first = scope.evaluate(&expression);
        assert_eq!(first, scope.evaluate(&expression), "the second time");
        first
    }

    /// Where paths stand, and what is done with what they lead to.
    const AROUND: &[&str] = &[
        "P",
        "$count(P)",
        "$exists(P)",
        "[P]",
        "[P, Q]",
        "P[0]",
        "(P)[0]",
        "P[-1]",
        "P[]",
        "P^($)",
        "P^(>a, b)",
        "P{a: b}",
        "P{a: $count(b)}",
        "P{b.c: {'x': $}}",
        "P{'k': $sum(a.b)}",
        "P{a: c, b: $string(a)}",
        "P{$string(a): $count(b)}",
        "$sum(P)",
        "$max(P) & 'x'",
        "P = Q",
        "P != Q",
        "P in Q",
        "P ~> $count",
        "P ~> $count()",
        "$map(P, function($x){ $x })",
        "$map(P, function($x){ $x.a & Q })",
        "$filter(P, function($x){ $x = Q })",
        "$type(P)",
        "P.{'k': a}",
        "P.(a & Q)",
        "P.[a, b]",
        "a.P",
        "[1, 2].P",
        "{'x': P, 'y': Q}",
        "$append(P, Q)",
        "$boolean(P)",
        "P ? 1 : 2",
        "$string(P)",
        "$keys(P)",
        "$distinct(P)",
        "$join(P)",
        "function($x){ P }(1)",
        "P#$i.($i)",
        "P@$v.($v)",
        "P@$v.Q@$w[$v.a = $w.a].{'v': $v.b, 'w': $w}",
        "P#$i[$i = 0].($i & a)",
        "P@$other.($other.a)",
        "P.%.a",
        "P.*",
        "P.**",
        "P[a = 1]",
        "P[a = 1].b",
        "P[$ = Q]",
        "P[0][0]",
        "P[[0..1]]",
        "P.$",
        "$lookup(P, 'a')",
        "$not(P)",
        "-P",
        "P + Q",
        "P & Q",
        "P and Q",
        "P or Q",
        "P ?? Q",
        "P ?: Q",
        "[P..Q]",
        "$zip(P, Q)",
        "$reverse(P)",
        "$sort(P)",
        "$merge(P)",
        "$each(P, function($v, $k){ $k })",
        "$spread(P)",
        "$reduce(P, function($x, $y){ $x })",
        "$single(P)",
        "$length(P)",
        "P.a.b",
        "$states.input.(P)",
        "($other := 1; P)",
        "($p := P; $p.a)",
        "$count(P) + $count(Q)",
        "$count(P, Q)",
        "1 ~> P",
        "P(1)",
        "$clone(P)",
        "P ~> | $ | {'z': 1} |",
        "$ = P",
        "$$.a = P",
        "$states",
        "$other",
        "$each($states.input, function($v){ $v })",
        "$states.*.a",
        "[[P]]",
        "$count([P])",
        "$map([1], function($v, $i){ P })",
    ];

    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2_i32..4).prop_map(Value::from),
            "[ab]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn paths() -> impl Strategy<Value = String> {
        let head = prop_oneof![
            Just("$states.input"),
            Just("$states.input"),
            Just("$states.result"),
            Just("$other"),
            Just("$missing")
        ];
        let step = prop_oneof![
            Just("a"),
            Just("b"),
            Just("c"),
            Just("a[0]"),
            Just("b[1]"),
            Just("`c`"),
            Just("a[-1]"),
            Just("b[c = 1]")
        ];
        (head, prop::collection::vec(step, 0..4))
            .prop_map(|(head, steps)| std::iter::once(head).chain(steps).collect::<Vec<_>>().join("."))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80))]

        #[test]
        fn what_is_lent_gives_what_the_library_gives(
            input in documents(), result in documents(), other in documents(), p in paths(), q in paths(),
        ) {
            let states = json!({"input": input, "result": result});
            for around in AROUND {
                let source = around.replace('P', &p).replace('Q', &q);
                let expected = by_the_library(&source, &states, &other);
                prop_assert_eq!(evaluate_lent(&source, &states, &other), expected, "{}", source);
            }
        }
    }

    #[test]
    fn a_path_reaches_what_it_names_and_nothing_else_is_made_ready() {
        let states =
            json!({"input": {"pages": [{"lines": [{"t": "a"}, {"t": "b"}]}, {"lines": [{"t": "c"}]}], "n": 1.0}});
        for (source, expected) in [
            ("$states.input.pages.lines.t", json!(["a", "b", "c"])),
            ("$states.input.pages[0].lines[1].t", json!("b")),
            ("$states.input.pages[1].lines", json!([{"t": "c"}])),
            ("$count($states.input.pages.lines)", json!(3)),
            ("$states.input.n", json!(1)),
        ] {
            assert_eq!(evaluate_lent(source, &states, &Value::Null).unwrap(), Some(expected), "{source}");
            let expression = Expression::parse(source).unwrap();
            assert_eq!(expression.parsed.needs.part("states"), None, "{source}");
            assert!(expression.asks_for(&["states", "input"]) && !expression.asks_for(&["states", "context"]));
        }
    }
}
