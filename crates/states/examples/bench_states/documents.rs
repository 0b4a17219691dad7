//! The documents that expressions are measured on: pages of lines, the same in every run.

use serde_json::{Value, json};

const WORDS: [&str; 12] = [
    "invoice", "total", "Amount", "due", "payment", "Inv", "number", "customer", "delivery", "Invoice", "tax", "street",
];
const KINDS: [&str; 4] = ["heading", "body", "table", "footer"];

/// A name, and about so many bytes as JSON: half a kilobyte, 35 and 285.
pub(crate) fn all() -> [(&'static str, Value); 3] {
    [("0.5 KB", document(1, 5)), ("35 KB", document(10, 44)), ("285 KB", document(80, 45))]
}

fn document(pages: usize, lines: usize) -> Value {
    let mut chance = Chance(42);
    let pages: Vec<Value> = (1..=pages)
        .map(|number| json!({"number": number, "lines": (0..lines).map(|_| line(&mut chance)).collect::<Vec<_>>()}))
        .collect();
    json!({"body": {"id": "f-20261115-0001", "fileupload_status": "PENDING", "document": {"pages": pages}}})
}

fn line(chance: &mut Chance) -> Value {
    let words: Vec<&str> = (0..2 + chance.below(4)).map(|_| WORDS[chance.below(WORDS.len())]).collect();
    let confidence = (500 + chance.below(500)) as f64 / 1_000.0;
    json!({"text": words.join(" "), "confidence": confidence, "kind": KINDS[chance.below(KINDS.len())]})
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }
}
