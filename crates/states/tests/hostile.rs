//! Whatever is written and whatever comes in: an answer, no panic, no more than the limits.

use bindery_states::jsonata::{Bindings, Expression, JsonataError, Limits};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

fn evaluate(source: &str) -> Result<Option<Value>, JsonataError> {
    let input = json!({"a": [1, 2, 3], "s": "x", "n": null, "o": {"k": [{"v": 1}, {"v": "w"}]}});
    let limits = Limits { time: Duration::from_millis(500), items: 10_000, bytes: 100_000, ..Limits::default() };
    Expression::parse(source)?.evaluate(&input, &Bindings::default(), limits)
}

fn code(source: &str) -> String {
    let outcome = evaluate(source);
    let error = outcome.expect_err(source);
    error.code.unwrap_or(error.message)
}

#[test]
fn what_is_nested_without_end_is_refused_however_it_is_written() {
    let n = 100_000;
    let around = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(n), close.repeat(n));
    let texts = [
        around("(", "1", ")"),
        around("[", "1", "]"),
        around("{'a':", "1", "}"),
        around("a[", "1", "]"),
        around("$f(", "1", ")"),
        around("function(){", "1", "}"),
        around("a^(", "a", ")"),
        around("-", "1", ""),
        around("1?", "1", ":1"),
        around("1?1:", "1", ""),
        around("$a:=", "1", ""),
        around("|a|", "", ""),
        around("1+", "1", ""),
        around("a.", "a", ""),
        around("1~>", "$f", ""),
        around("a", "", "[0]"),
        around("a", "", "()"),
        around("/(", "", "/"),
        around("\"\\u", "", ""),
    ];
    for text in &texts {
        // A part of it is short enough to reach the parser itself.
        for text in [text.as_str(), &text[..text.len().min(Limits::MAX_SOURCE - 10)], &text[text.len() / 2..]] {
            let text = text.get(..text.len().min(Limits::MAX_SOURCE)).unwrap_or_default();
            let _ = evaluate(text);
        }
    }
    for text in &texts[..7] {
        assert!(Expression::parse(text).is_err());
    }
    let error = Expression::parse(&around("(", "1", ")")[..2 * 65_536]).unwrap_err();
    assert!(error.message.contains("nesting depth"), "{error}");
}

#[test]
fn the_deepest_that_is_parsed_can_be_evaluated_on_a_small_stack() {
    for depth in [100, 500, 900, 990] {
        for (open, middle, close) in
            [("(", "1", ")"), ("[", "1", "]"), ("1+", "1", ""), ("$not(", "1", ")"), ("a[", "0", "]")]
        {
            let text = format!("{}{middle}{}", open.repeat(depth), close.repeat(depth));
            let _ = evaluate(&text);
        }
    }
}

#[test]
fn recursion_ends() {
    assert_eq!(code("($f := function($n){1 + $f($n)}; $f(1))"), JsonataError::DEPTH);
    assert_eq!(code("($f := function($n){$f($n)}; $f(1))"), JsonataError::TIME);
    let nested = "$reduce([1..5000], function($a, $i){[[$a]]}, 1)";
    assert_eq!(code(nested), JsonataError::DEPTH);
}

#[test]
fn nothing_grows_beyond_its_limit() {
    assert_eq!(code("[1..10000000]"), JsonataError::ITEMS);
    for padded in ["$pad('x', 1e9)", "$pad('x', -1e9)", "s.$pad(1e9)", "s.$pad(1e9, '#')", "'x' ~> $pad(1e9)"] {
        assert_eq!(code(padded), JsonataError::BYTES, "{padded}");
    }
    assert_eq!(code("($p := $pad; $p('x', 1e9))"), JsonataError::BYTES);
    assert_eq!(code("$pad(?, 1e9)('x')"), JsonataError::BYTES);
    assert_eq!(code("$reduce([1..60], function($a, $i){$a & $a}, 'xx')"), JsonataError::BYTES);
    assert_eq!(code("$reduce([1..60], function($a, $i){[$a, $a]}, [1, 2])"), JsonataError::ITEMS);
    assert_eq!(code("$reduce([1..60], function($a, $i){$append($a, $a)}, [1, 2])"), JsonataError::ITEMS);
    let shared = "$reduce([1..60], function($a, $i){{'l': $a, 'r': $a}}, 1)";
    assert_eq!(code(shared), JsonataError::ITEMS);
    assert_eq!(code(&format!("$string({shared})")), JsonataError::BYTES);
    for written in ["~> $string()", "~> $string", "& ''", "& 1", "~> $join()"] {
        assert_eq!(code(&format!("{shared} {written}")), JsonataError::BYTES, "{written}");
    }
    let long = "($long := $pad('', 90000, 'x'); $join([1..1000].($long)))";
    assert_eq!(code(long), JsonataError::BYTES);
    let path = format!("s{}", ".($ & $)".repeat(60));
    assert_eq!(code(&path), JsonataError::BYTES);
    let path = format!("{{'k': 1}}{}", ".{'l': $, 'r': $}".repeat(60));
    assert_eq!(code(&path), JsonataError::ITEMS);
    assert!(code("$match('a', /(a{1000}){1000}/)").contains("size limit"));
}

#[test]
fn text_of_the_input_is_not_run() {
    for text in ["$eval('1')", "($e := $eval; $e('1'))", "'1' ~> $eval", "'1' ~> $eval()", "$map(['1'], $eval)"] {
        assert_eq!(code(text), JsonataError::EVAL_OFF, "{text}");
    }
}

#[test]
fn the_known_faults_of_the_library_are_put_right() {
    assert_eq!(evaluate("a[$exists($)]").unwrap(), Some(json!([1, 2, 3])));
    assert_eq!(evaluate("s[$exists($)]").unwrap(), Some(json!("x")));
    assert_eq!(evaluate("a[$exists($$.missing)]").unwrap(), None);
    assert_eq!(evaluate("$reduce([], function($x, $y){$x})").unwrap(), None);
    assert_eq!(evaluate("[] ~> $reduce(function($x, $y){$x})").unwrap(), None);
    assert_eq!(evaluate("$reduce([], function($x, $y){$x}, 7)").unwrap(), Some(json!(7)));
    assert_eq!(evaluate("$reduce([1, 2], function($x, $y){null})").unwrap(), Some(json!(null)));
    assert_eq!(code("$filter(null, function($x){$x + 'a'})"), "T2001");
    assert_eq!(evaluate("$filter(null, function($x){true})").unwrap(), Some(json!(null)));
    let distinct = "$distinct([1, '1', 1, true, null, 0, -0, null, {'a': 1}, {'a': 1}, [1], [1]])";
    assert_eq!(evaluate(distinct).unwrap(), Some(json!([1, "1", true, null, 0, {"a": 1}, [1]])));
    assert_eq!(evaluate("[1..9999] ~> $distinct ~> $count").unwrap(), Some(json!(9999)));
    let own = "($distinct := function($x){'mine'}; $pad := function($x){'mine'}; [$distinct(1), $pad(2)])";
    assert_eq!(evaluate(own).unwrap(), Some(json!(["mine", "mine"])));
}

#[test]
fn errors_say_what_and_where() {
    let shown = |text: &str| evaluate(text).unwrap_err().to_string();
    assert_eq!(shown("$sum(a"), "expected `)` before end of expression (S0203 at character 7)");
    assert_eq!(shown("a b"), "syntax error: `b` (S0201 at character 3)");
    assert_eq!(shown("  "), "the expression is empty (S0207 at character 1)");
    assert!(shown("s * 2").ends_with("(T2001)"), "{}", shown("s * 2"));
    assert!(shown("$nothing(1)").ends_with("(T1006)"), "{}", shown("$nothing(1)"));
}

#[test]
fn an_expression_can_be_shared_by_threads() {
    let expression = Expression::parse("$sum(a) + $offset").unwrap();
    let threads: Vec<_> = (0..4)
        .map(|offset| {
            let expression = expression.clone();
            std::thread::spawn(move || {
                let bindings = Bindings::default().with("offset", json!(offset));
                expression.evaluate(&json!({"a": [1, 2]}), &bindings, Limits::default())
            })
        })
        .collect();
    for (offset, thread) in threads.into_iter().enumerate() {
        assert_eq!(thread.join().unwrap().unwrap(), Some(json!(3 + offset)));
    }
}

#[test]
fn numbers_come_out_as_they_went_in() {
    for text in ["0.1", "1e21", "123456789012", "-5", "1.7976931348623157e308"] {
        let input: Value = serde_json::from_str(text).unwrap();
        let same = Expression::parse("$").unwrap().evaluate(&input, &Bindings::default(), Limits::default()).unwrap();
        assert_eq!(same.unwrap().as_f64(), input.as_f64(), "{text}");
    }
    assert_eq!(evaluate("10 / 4").unwrap(), Some(json!(2.5)));
    assert_eq!(evaluate("10 / 5").unwrap().unwrap().to_string(), "2");
}

/// Pieces that make more sense together than letters do.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "s",
        "o.k.v",
        "$",
        "$$",
        "$x",
        "1",
        "-1",
        "1e308",
        "0.5",
        "'t'",
        "\"q\"",
        "`b`",
        "null",
        "true",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ".",
        ",",
        ";",
        ":",
        ":=",
        "?",
        "?:",
        "??",
        "~>",
        "..",
        "+",
        "-",
        "*",
        "**",
        "/",
        "%",
        "&",
        "=",
        "!=",
        "<",
        ">=",
        "and",
        "or",
        "in",
        "^(",
        "@$i",
        "#$i",
        "|",
        "function($x){",
        "λ($y)<n:n>{",
        "$map(",
        "$filter(",
        "$reduce(",
        "$sort(",
        "$string(",
        "$pad(",
        "$split(",
        "$replace(",
        "/x/",
        "/(/i",
        "$fromMillis(",
        "$toMillis(",
        "$formatNumber(",
        "$parseInteger(",
        "$formatBase(",
        "$substring(",
        "$lookup(",
        "$sift(",
        "$each(",
        "$zip(",
        "$shuffle(",
        "$distinct(",
        "$exists(",
        "$merge(",
        "$spread(",
        "$power(",
        "$round(",
        "$encodeUrl(",
        "$base64decode(",
        "'[Y0001]-[M01]'",
        "'#,##0.00'",
        "😀",
        "\\u0000",
        " ",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn random_text_never_panics(text in ".{0,60}") {
        let _ = evaluate(&text);
    }

    #[test]
    fn random_pieces_never_panic(pieces in prop::collection::vec(piece(), 1..14)) {
        let outcome = evaluate(&pieces.concat());
        if let Err(error) = outcome {
            prop_assert!(!error.message.contains("fault of ours"), "{error}");
        }
        let _ = evaluate(&pieces.join(" "));
    }

    #[test]
    fn calls_with_any_arguments_never_panic(
        name in prop::sample::select(vec!["pad", "substring", "split", "replace", "formatNumber", "formatBase", "power",
            "fromMillis", "toMillis", "round", "lookup", "join", "match", "formatInteger", "parseInteger", "sum",
            "substringAfter", "decodeUrl", "base64decode", "zip", "sort", "number", "average", "contains"]),
        arguments in prop::collection::vec(prop::sample::select(vec!["1", "-1", "1e9", "-1e300", "0.5", "''", "'é😀'", "a",
            "null", "o", "/a*/", "true", "missing", "function($x){$x}", "'[Y,*-4]'", "'##,#0.0e0'", "[]", "'1e5'"]), 0..4),
    ) {
        let outcome = evaluate(&format!("${name}({})", arguments.join(", ")));
        if let Err(error) = outcome {
            prop_assert!(!error.message.contains("fault of ours"), "{error}");
        }
    }
}

#[test]
fn a_moment_means_the_same_however_its_text_comes() {
    let moment = json!(1_794_700_800_000_i64);
    for text in
        ["$toMillis('2026-11-15T00:00:00Z')", "'2026-11-15T00:00:00Z' ~> $toMillis()", "'2026' ~> $toMillis('[Y]')"]
    {
        let answer = evaluate(text).unwrap().unwrap();
        let expected = if text.contains("[Y]") { json!(1_767_225_600_000_i64) } else { moment.clone() };
        assert_eq!(answer, expected, "{text}");
    }
    // What looks like a moment is a picture here.
    assert_ne!(evaluate("'x' ~> $toMillis('2026-11-15T00:00:00Z')").ok().flatten(), Some(moment));
}
