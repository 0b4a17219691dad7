//! What people have to decide, with everything that is needed for it, and their decisions.

use crate::{app::App, error::AppResult};
use bindery_core::{
    ContentHash, ItemId, ReviewId, SubmissionId,
    item::{Item, ItemKind},
    review::{Decision, Review},
};
pub use bindery_engine::decision::Decided;
use bindery_reader::{Page, render};
pub use bindery_store::query::ReviewFilter;
use bindery_store::{blobs::BlobsExt as _, query::ItemFilter};
use serde_json::{Map, Value};

/// Why nothing can be decided about it.
#[derive(Debug, thiserror::Error)]
pub enum ReviewRefused {
    #[error("expected a review like rev_3, got {named:?}")]
    NotAReview { named: String },
    #[error("say which review, or which document of which submission")]
    Unnamed,
    #[error("there is no {id}")]
    Unknown { id: ReviewId },
    #[error("it is not in {submission} any more")]
    ItemGone { submission: SubmissionId },
    #[error("expected a field as name=value, got {word:?}")]
    NotAField { word: String },
    #[error("say which fields are to be corrected, as name=value")]
    NoFields,
}

/// What is decided about.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    Review(ReviewId),
    Item(SubmissionId, ItemId),
}

impl Subject {
    /// A review, or a submission and a document of it, as people name them.
    pub async fn find(app: &App, words: &[String]) -> AppResult<Self> {
        match words {
            [review] => match review.parse() {
                Ok(id) => Ok(Self::Review(id)),
                Err(_) => Err(ReviewRefused::NotAReview { named: review.clone() }.into()),
            },
            [submission, item] => {
                let submission = app.engine.find_submission(submission).await?.id;
                Ok(Self::Item(submission, app.engine.find_item(submission, item).await?))
            }
            _ => Err(ReviewRefused::Unnamed.into()),
        }
    }

    pub async fn decide(self, app: &App, by: Option<&str>, decision: &Decision) -> AppResult<Decided> {
        Ok(match self {
            Self::Review(id) => Box::pin(app.engine.decide(id, by, decision)).await?,
            Self::Item(submission, item) => Box::pin(app.engine.decide_item(submission, item, by, decision)).await?,
        })
    }
}

/// Splits words into those that name what is meant and the fields that others correct. `fields` are known already.
pub fn parse_correction(
    words: &[String],
    mut fields: Map<String, Value>,
) -> Result<(&[String], Decision), ReviewRefused> {
    let first = words.iter().position(|word| word.contains('=')).unwrap_or(words.len());
    let (what, corrections) = words.split_at(first);
    for word in corrections {
        let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(ReviewRefused::NotAField { word: word.clone() });
        };
        fields.insert(name.to_owned(), parse_value(value));
    }
    if fields.is_empty() {
        return Err(ReviewRefused::NoFields);
    }
    Ok((what, Decision::Corrected { fields }))
}

/// A number that would not be written the same again is a text: 119.00, 1e5.
fn parse_value(value: &str) -> Value {
    match json_or_text(value.to_owned()) {
        Value::Number(number) if number.to_string() != value => Value::String(value.to_owned()),
        other => other,
    }
}

/// JSON where it can be read as JSON, or else a text.
pub fn json_or_text(value: String) -> Value {
    serde_json::from_str(&value).unwrap_or(Value::String(value))
}

/// A page that a result is about.
#[derive(Debug)]
pub struct ReviewPage {
    /// What the page can be named by.
    pub id: String,
    pub number: usize,
    pub text: String,
}

/// A result that is or was asked about, or could be decided about.
#[derive(Debug)]
pub struct Question {
    pub submission: SubmissionId,
    pub item: Option<Item>,
    pub review: Option<Review>,
    /// The result as it is now.
    pub found: Value,
    pub pages: Vec<ReviewPage>,
}

impl Question {
    pub async fn find(app: &App, subject: Subject) -> AppResult<Self> {
        let mut question = match subject {
            Subject::Review(id) => {
                let review = app.store().review(id).await?.ok_or(ReviewRefused::Unknown { id })?;
                Self::of_review(app, review).await?
            }
            Subject::Item(submission, item) => {
                let item = app.store().item(submission, item).await?;
                Self::of_item(app, submission, item.ok_or(ReviewRefused::ItemGone { submission })?).await?
            }
        };
        question.pages = question.read_pages(app).await?;
        Ok(question)
    }

    async fn of_review(app: &App, review: Review) -> AppResult<Self> {
        let outcomes = app.store().item_outcomes(review.submission, review.item, &review.stage).await?;
        let current = outcomes.into_iter().find(|outcome| outcome.processor == review.processor);
        let mut found = match current {
            Some(outcome) => app.engine.read_payload(&outcome.output).await?,
            None => Value::Null,
        };
        if found.is_null() {
            found = app.engine.read_payload(&review.input).await?;
        }
        let item = match review.item {
            Some(id) => app.store().item(review.submission, id).await?,
            None => None,
        };
        Ok(Self { submission: review.submission, item, review: Some(review), found, pages: Vec::new() })
    }

    async fn of_item(app: &App, submission: SubmissionId, item: Item) -> AppResult<Self> {
        let of_item = ReviewFilter { submission: Some(submission), item: Some(item.id), ..ReviewFilter::default() };
        let reviews = app.store().reviews(of_item).await?;
        if let Some(newest) = reviews.into_iter().max_by_key(|review| (review.is_open(), review.id)) {
            return Self::of_review(app, newest).await;
        }
        let info = app.engine.catalog().submission(submission).await?;
        let (_, outcome) = app.engine.last_result(&info, &item).await?;
        let found = app.engine.read_payload(&outcome.output).await?;
        Ok(Self { submission, item: Some(item), review: None, found, pages: Vec::new() })
    }

    /// The pages that the result is about.
    async fn read_pages(&self, app: &App) -> AppResult<Vec<ReviewPage>> {
        let Some(item) = &self.item else { return Ok(Vec::new()) };
        let data: Value = serde_json::from_str(&item.data).unwrap_or_default();
        let contents: Vec<&Value> = match (&data["page_contents"], item.kind) {
            (Value::Array(contents), ItemKind::Document) => contents.iter().collect(),
            (_, ItemKind::Page) => vec![&self.found["content"]],
            _ => Vec::new(),
        };
        let file = if item.kind == ItemKind::Document { item.parent } else { None };
        let siblings = match file {
            Some(_) => {
                let filter = ItemFilter { kind: Some(ItemKind::Page), parent: file, ..ItemFilter::default() };
                app.store().items(self.submission, filter).await?
            }
            None => Vec::new(),
        };
        let mut pages = Vec::new();
        for content in contents {
            let Some(hash) = content.as_str().and_then(|text| text.parse::<ContentHash>().ok()) else { continue };
            let json = app.engine.blobs().get_json(hash).await?;
            let Ok(page) = serde_json::from_value::<Page>(json) else { continue };
            let is_own = |sibling: &&Item| usize::try_from(sibling.ordinal).ok() == page.number.checked_sub(1);
            let id = siblings.iter().find(is_own).unwrap_or(item).public_id();
            pages.push(ReviewPage { id, number: page.number, text: render::text(&page) });
        }
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_taken_as_they_were_written() {
        assert_eq!(parse_value("4"), json!(4));
        assert_eq!(parse_value("119.00"), json!("119.00"));
        assert_eq!(parse_value("2026-0117"), json!("2026-0117"));
        assert_eq!(parse_value("{\"a\": 1}"), json!({"a": 1}));
    }

    #[test]
    fn the_words_before_the_fields_say_what_is_meant() {
        let words = ["sub_1", "doc_1_2", "number=7", "note=a=b"].map(str::to_owned);
        let (what, decision) = parse_correction(&words, Map::new()).unwrap();
        assert_eq!(what, ["sub_1", "doc_1_2"]);
        let fields = json!({"number": 7, "note": "a=b"}).as_object().cloned().unwrap();
        assert_eq!(decision, Decision::Corrected { fields });
        assert!(parse_correction(&words[..1], Map::new()).unwrap_err().to_string().contains("which fields"));
    }
}
