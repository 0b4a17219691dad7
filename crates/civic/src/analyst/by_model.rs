//! Summaries by a language model, each checked against the texts.
//!
//! A question that fits is asked as one; a longer text is taken apart, noted part by part, and answered from the notes; of
//! a very long one the pages that say most are read. What the model cannot answer for good is read by rules and says so,
//! so that one stubborn item never keeps a meeting from being read. What only has to wait, for a key, a quota or money, is
//! an error that says until when.

use super::{
    Analyst, CostEstimate, Document, ItemRequest, PacketRequest, Reading,
    checks::{Given, checked},
    excerpt::excerpt,
    extractive, prompt, schema, shared,
};
use crate::prose::topics::Topics;
use bindery_models::{
    Advice, Answer, ErrorKind, ModelError, Models, Request,
    ask::LongRequest,
    request::{Usage, estimated_tokens},
    timer::Cancelled,
};
use std::sync::Arc;

const MOST_OUTPUT: u32 = 8_192;
/// Of the notes on one part.
const NOTES_OUTPUT: u32 = 2_048;
const TEMPERATURE: f64 = 0.3;
/// Documents of several items are sent whole up to here, and beyond it what they say of the item.
const SHARED_WHOLE: usize = 60_000;
/// Of a longer text, the pages that say most are read: notes on more parts cost more than they tell.
const MOST_PARTS: u64 = 12;
/// What the echo and the labels of parts add.
const ALLOWANCE: u64 = 400;
const CHARS_PER_TOKEN: u64 = 4;

/// Reads by a language model.
#[derive(Debug, Clone)]
pub struct ByModel {
    models: Arc<Models>,
}

/// A question, before it is known whether it fits.
struct Asked<'a> {
    /// Whose question it is.
    item: &'a str,
    title: &'a str,
    system: String,
    /// What stands before the item's own texts, the same for many items.
    shared: String,
    header: String,
    own: String,
    prompt_version: &'static str,
    documents: Vec<Arc<Document>>,
    topics: &'a Topics,
    /// What of the texts was not read.
    notes: Vec<String>,
}

impl ByModel {
    pub fn new(models: Arc<Models>) -> Self {
        Self { models }
    }

    fn item<'a>(&self, request: &'a ItemRequest) -> Asked<'a> {
        let mut notes = Vec::new();
        let total: usize = request.documents.iter().map(|document| document.text.chars().count()).sum();
        let shortened = self.within_reach(&request.documents, total, &mut notes);
        let request_own = ItemRequest { documents: shortened, ..request.clone() };
        let own = prompt::own_part(&request_own);
        let has_own_text = !own.trim().is_empty();
        Asked {
            item: &request.item_id,
            title: &request.title,
            system: prompt::item_system(&request.topics),
            shared: shared_text(request, has_own_text),
            header: prompt::item_header(request),
            own,
            prompt_version: prompt::ITEM_PROMPT,
            documents: prompt::documents_of(request),
            topics: &request.topics,
            notes,
        }
    }

    fn packet<'a>(&self, request: &'a PacketRequest) -> Asked<'a> {
        let mut notes = Vec::new();
        let total = request.packet.text.chars().count();
        let packet = self.within_reach(std::slice::from_ref(&request.packet), total, &mut notes);
        Asked {
            item: &request.meeting_id,
            title: &request.title,
            system: prompt::packet_system(&request.topics),
            shared: String::new(),
            header: prompt::packet_header(request),
            own: packet.iter().map(|document| prompt::section(&document.name, &document.text)).collect(),
            prompt_version: prompt::PACKET_PROMPT,
            documents: vec![Arc::clone(&request.packet)],
            topics: &request.topics,
            notes,
        }
    }

    /// Documents of which all that the model can take is left, each with its share.
    fn within_reach(&self, documents: &[Arc<Document>], total: usize, notes: &mut Vec<String>) -> Vec<Arc<Document>> {
        let config = self.models.config();
        let small = config.small.max_input_tokens.saturating_mul(CHARS_PER_TOKEN).min(config.small_chars);
        let large = config.large.as_ref().map_or(0, |large| large.max_input_tokens.saturating_mul(CHARS_PER_TOKEN) / 2);
        let most = usize::try_from((small / 2).saturating_mul(MOST_PARTS).max(large)).unwrap_or(usize::MAX);
        if total <= most {
            return documents.to_vec();
        }
        let shortened = documents.iter().map(|document| {
            let share = document.text.chars().count() as f64 / total.max(1) as f64;
            let Some(part) = excerpt(&document.text, (most as f64 * share) as usize) else {
                return Arc::clone(document);
            };
            notes.push(format!("of the {} pages of {}, {} were read", part.of_pages, document.name, part.pages));
            Arc::new(Document { name: document.name.clone(), text: part.text, page_count: document.page_count })
        });
        shortened.collect()
    }

    /// The question as one, whether it fits or not.
    fn whole(&self, asked: &Asked<'_>) -> Result<Request, ModelError> {
        let user = format!("{}{}{}", asked.shared, asked.header, asked.own);
        let size = self.models.config().size_of(&user);
        let schema = schema::schema(asked.topics).map_err(|error| unusable(error.to_string()))?;
        Ok(Request {
            item: asked.item.to_owned(),
            system: asked.system.clone(),
            user,
            schema,
            size,
            max_output_tokens: MOST_OUTPUT,
            temperature: TEMPERATURE,
            prompt_version: asked.prompt_version.to_owned(),
        })
    }

    fn fits(&self, request: &Request) -> bool {
        request.estimated_input() + ALLOWANCE <= self.models.config().choice(request.size).max_input_tokens
    }

    fn ask(&self, asked: &Asked<'_>, cancelled: Cancelled<'_>) -> Result<Reading, ModelError> {
        let whole = self.whole(asked)?;
        let source = format!("{}\n{}", asked.title, whole.user);
        let (answer, notes) = if self.fits(&whole) {
            (self.models.ask(&whole, cancelled)?, asked.notes.clone())
        } else {
            self.ask_in_parts(asked, whole, cancelled)?
        };
        let method = format!("{} {}", answer.model, asked.prompt_version);
        let given = Given { title: asked.title, source: &source, documents: &asked.documents, topics: asked.topics };
        let mut reading = checked(answer, &given, method).map_err(unusable)?;
        reading.notes.splice(0..0, notes);
        Ok(reading)
    }

    fn ask_in_parts(
        &self,
        asked: &Asked<'_>,
        whole: Request,
        cancelled: Cancelled<'_>,
    ) -> Result<(Answer, Vec<String>), ModelError> {
        // Parts end at pages where they can.
        let text = format!("{}{}", asked.own, asked.shared).replace("--- PAGE ", "\u{c}--- PAGE ");
        let long = LongRequest {
            request: Request { user: asked.header.clone(), ..whole },
            text: &text,
            notes_system: &prompt::notes_system(asked.title),
            notes_tokens: NOTES_OUTPUT,
        };
        let answered = self.models.ask_long(&long, cancelled)?;
        let mut notes = asked.notes.clone();
        if answered.parts > 1 {
            notes.push(format!("the texts were read in {} parts, and summarised from notes on them", answered.parts));
        }
        Ok((answered.answer, notes))
    }

    /// What the model says, or what the rules find where it will never say anything usable.
    fn or_by_rules(
        result: Result<Reading, ModelError>,
        by_rules: impl FnOnce() -> Reading,
    ) -> Result<Reading, ModelError> {
        match result {
            Err(error) if error.advice == Advice::Final => {
                let mut reading = by_rules();
                let why = error.message.trim_end_matches('.');
                reading.notes.insert(0, format!("extracted by rules, because the language model did not help: {why}"));
                Ok(reading)
            }
            other => other,
        }
    }

    fn estimate_of(&self, asked: &Asked<'_>) -> Result<CostEstimate, ModelError> {
        let whole = self.whole(asked)?;
        if self.fits(&whole) {
            let estimate = self.models.estimate(&whole)?;
            return Ok(CostEstimate {
                input_tokens: estimate.input_tokens,
                most_micros: estimate.most_micros,
                is_kept: estimate.is_kept,
            });
        }
        // Notes on each part, and the answer from them.
        let config = self.models.config();
        let text = estimated_tokens(&whole.user);
        let instructions = estimated_tokens(&prompt::notes_system(asked.title)) + ALLOWANCE;
        let room = config.small.max_input_tokens.saturating_sub(instructions).max(500);
        let parts = text.div_ceil(room.min(config.small_chars / CHARS_PER_TOKEN)).max(1);
        let notes = parts.saturating_mul(u64::from(NOTES_OUTPUT));
        let reading = Usage { input: text + parts * 500, output: notes, cached: 0 };
        let answering = Usage {
            input: notes + whole.estimated_input().saturating_sub(text),
            output: MOST_OUTPUT.into(),
            cached: 0,
        };
        let small = config.price(&config.small.model);
        let last = config.price(&config.choice(whole.size).model);
        Ok(CostEstimate {
            input_tokens: reading.input + answering.input,
            most_micros: small.micros(reading).saturating_add(last.micros(answering)),
            is_kept: false,
        })
    }
}

impl Analyst for ByModel {
    fn method(&self) -> String {
        format!("{} {}", self.models.config().small.model, prompt::ITEM_PROMPT)
    }

    fn read_item(&self, request: &ItemRequest, cancelled: Cancelled<'_>) -> Result<Reading, ModelError> {
        let asked = self.item(request);
        // From a title alone a model can only guess.
        if asked.own.trim().is_empty() && asked.shared.trim().is_empty() {
            return Ok(extractive::read_item(request));
        }
        Self::or_by_rules(self.ask(&asked, cancelled), || extractive::read_item(request))
    }

    fn estimate(&self, request: &ItemRequest) -> Result<CostEstimate, ModelError> {
        let asked = self.item(request);
        if asked.own.trim().is_empty() && asked.shared.trim().is_empty() {
            return Ok(CostEstimate::default());
        }
        self.estimate_of(&asked)
    }

    fn read_packet(&self, request: &PacketRequest, cancelled: Cancelled<'_>) -> Result<Reading, ModelError> {
        if request.packet.text.trim().is_empty() {
            return Ok(extractive::read_packet(request));
        }
        Self::or_by_rules(self.ask(&self.packet(request), cancelled), || extractive::read_packet(request))
    }
}

/// The documents of several items: whole where they are short, and otherwise what they say of this one.
fn shared_text(request: &ItemRequest, has_own_text: bool) -> String {
    let total: usize = request.shared.iter().map(|document| document.text.chars().count()).sum();
    if total <= SHARED_WHOLE {
        return prompt::shared_part(
            request.shared.iter().map(|document| (document.name.as_str(), document.text.as_str())),
        );
    }
    let passages: Vec<(&str, String)> = request
        .shared
        .iter()
        .map(|document| (document.name.as_str(), shared::passages_as_text(document, request, has_own_text)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    prompt::shared_part(passages.iter().map(|(name, text)| (*name, text.as_str())))
}

fn unusable(message: String) -> ModelError {
    ModelError { kind: ErrorKind::BadAnswer, message, advice: Advice::Final }
}
