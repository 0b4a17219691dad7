//! Texts that are longer than a model takes: notes on each part, and the answer from the notes.

use super::{Models, Spent, chunks::split};
use crate::{
    answers::Schema,
    error::{ErrorKind, ModelError},
    request::{Answer, Request, SizeClass},
    timer::Cancelled,
};
use serde_json::{Value, json};

/// Notes on notes on notes: by then nothing of the text is left.
const MOST_ROUNDS: usize = 3;
/// More parts than any document needs; beyond it is a mistake, and an expensive one.
const MOST_PARTS: usize = 500;
/// What the echo and the labels of parts add.
const ALLOWANCE: u64 = 200;
const CHARS_PER_TOKEN: u64 = 4;

/// A question about a text of any length.
#[derive(Debug, Clone)]
pub struct LongRequest<'a> {
    /// `user` is what stands before the text. The size is chosen by the text.
    pub request: Request,
    pub text: &'a str,
    /// What the model is to note of a part: whatever the answer will need.
    pub notes_system: &'a str,
    pub notes_tokens: u32,
}

/// An answer, with the usage and the cost of all calls that led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct LongAnswer {
    pub answer: Answer,
    /// Into how many parts the text was taken; one if it fitted.
    pub parts: usize,
}

impl Models {
    /// Asks about a text of any length. The notes on each part are cached as answers are, so what was paid for before an
    /// interruption is not paid for again.
    pub fn ask_long(&self, long: &LongRequest<'_>, cancelled: Cancelled<'_>) -> Result<LongAnswer, ModelError> {
        let mut text = long.text.to_owned();
        let (mut parts, mut spent) = (1, Spent::default());
        for round in 0..=MOST_ROUNDS {
            let request = Request {
                user: format!("{}{text}", long.request.user),
                size: self.config.size_of(&text),
                ..long.request.clone()
            };
            if request.estimated_input() + ALLOWANCE <= self.config.choice(request.size).max_input_tokens {
                let mut answer = self.ask(&request, cancelled)?;
                answer.usage = answer.usage.plus(spent.usage);
                answer.cost_micros = answer.cost_micros.saturating_add(spent.cost_micros);
                answer.latency += spent.latency;
                return Ok(LongAnswer { answer, parts });
            }
            if round == MOST_ROUNDS {
                break;
            }
            let pieces = self.pieces(long, &text)?;
            if round == 0 {
                parts = pieces.len();
            }
            let notes = self.notes(long, &pieces, &mut spent, cancelled)?;
            if notes.chars().count() >= text.chars().count() {
                break;
            }
            text = notes;
        }
        let message = format!(
            "the text of {} has {} characters, and notes on its {parts} parts are still too long for the model",
            long.request.item,
            long.text.chars().count()
        );
        Err(ModelError::permanent(ErrorKind::TooLong, message))
    }

    /// Parts that fit the small model together with the instructions.
    fn pieces<'t>(&self, long: &LongRequest<'_>, text: &'t str) -> Result<Vec<&'t str>, ModelError> {
        let overhead = notes_request(long, 0, 0, "")?.estimated_input() + ALLOWANCE;
        let room = self.config.small.max_input_tokens.saturating_sub(overhead);
        let pieces = split(text, (room * CHARS_PER_TOKEN).min(self.config.small_chars) as usize);
        if pieces.len() > MOST_PARTS {
            let message = format!(
                "the text of {} would be taken into {} parts, and the most is {MOST_PARTS}",
                long.request.item,
                pieces.len()
            );
            return Err(ModelError::permanent(ErrorKind::TooLong, message));
        }
        Ok(pieces)
    }

    fn notes(
        &self,
        long: &LongRequest<'_>,
        pieces: &[&str],
        spent: &mut Spent,
        cancelled: Cancelled<'_>,
    ) -> Result<String, ModelError> {
        let mut all = String::new();
        for (index, piece) in pieces.iter().enumerate() {
            let answer = self.ask(&notes_request(long, index + 1, pieces.len(), piece)?, cancelled)?;
            spent.usage = spent.usage.plus(answer.usage);
            spent.cost_micros = spent.cost_micros.saturating_add(answer.cost_micros);
            spent.latency += answer.latency;
            let note = answer.value.get("notes").and_then(Value::as_str).unwrap_or_default();
            all.extend([&format!("Part {} of {}:\n", index + 1, pieces.len()), note, "\n\n"]);
        }
        Ok(all)
    }
}

fn notes_request(long: &LongRequest<'_>, part: usize, of: usize, piece: &str) -> Result<Request, ModelError> {
    let schema = Schema::new(json!({
        "type": "object",
        "required": ["notes"],
        "properties": {"notes": {"type": "string"}},
    }))
    .map_err(|error| ModelError::permanent(ErrorKind::Refused, error.to_string()))?;
    Ok(Request {
        item: format!("{} part {part}", long.request.item),
        system: long.notes_system.to_owned(),
        user: format!("Part {part} of {of}:\n\n{piece}"),
        schema,
        size: SizeClass::Small,
        max_output_tokens: long.notes_tokens,
        ..long.request.clone()
    })
}
