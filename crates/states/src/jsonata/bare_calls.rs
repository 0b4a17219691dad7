//! Calls of built-in functions without the dollar sign, `not(x)` for `$not(x)`. The reference refuses them; people write
//! them, so state machines take them, with a warning. Also what else state machines change in an expression.

use super::guard::visit;
use jsonata_core::ast::AstNode;

/// What the language and the service have built in.
const BUILT_IN: &[&str] = &[
    "abs",
    "append",
    "assert",
    "average",
    "base64decode",
    "base64encode",
    "boolean",
    "ceil",
    "clone",
    "contains",
    "count",
    "decodeUrl",
    "decodeUrlComponent",
    "distinct",
    "each",
    "encodeUrl",
    "encodeUrlComponent",
    "error",
    "exists",
    "filter",
    "floor",
    "formatBase",
    "formatInteger",
    "formatNumber",
    "fromMillis",
    "hash",
    "join",
    "keys",
    "length",
    "lookup",
    "lowercase",
    "map",
    "match",
    "max",
    "merge",
    "millis",
    "min",
    "not",
    "now",
    "number",
    "pad",
    "parse",
    "parseInteger",
    "partition",
    "power",
    "random",
    "range",
    "reduce",
    "replace",
    "reverse",
    "round",
    "shuffle",
    "sift",
    "single",
    "sort",
    "split",
    "spread",
    "sqrt",
    "string",
    "substring",
    "substringAfter",
    "substringBefore",
    "sum",
    "toMillis",
    "trim",
    "type",
    "uppercase",
    "uuid",
    "zip",
];

/// Makes them calls of the function, and gives their names in the order they stand.
pub(super) fn accept(root: &mut AstNode) -> Vec<String> {
    let mut names = Vec::new();
    visit(root, &mut |node| {
        if let AstNode::Function { name, is_builtin, .. } = node
            && !*is_builtin
            && BUILT_IN.contains(&name.as_str())
        {
            *is_builtin = true;
            names.push(name.clone());
        }
        // The clock comes from outside, and only the library can format a moment by a picture.
        if let AstNode::Function { name, args, is_builtin: true } = node
            && name == "now"
            && !args.is_empty()
        {
            "fromMillis".clone_into(name);
            args.insert(0, AstNode::Function { name: "millis".to_owned(), args: Vec::new(), is_builtin: true });
        }
    });
    names
}
