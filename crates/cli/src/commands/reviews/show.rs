//! What is asked, with everything that is needed to decide it.

use super::{Subject, list::status_text};
use crate::{exit::Exit, failure::Failure, output, result_tables};
use bindery_app::{App, items::ItemNames};
use bindery_core::{
    ContentHash, SubmissionId,
    item::{Item, ItemKind},
    review::Review,
};
use bindery_reader::{Page, render};
use bindery_store::{
    blobs::BlobsExt as _,
    query::{ItemFilter, ReviewFilter},
};
use serde_json::{Value, json};

/// A result that is or was asked about, or could be decided about.
struct Question {
    submission: SubmissionId,
    item: Option<Item>,
    review: Option<Review>,
    /// The result as it is now.
    found: Value,
}

pub(super) async fn run(app: &App, subject: Subject, as_json: bool) -> anyhow::Result<Exit> {
    let question = match subject {
        Subject::Review(id) => {
            let review = app.store().review(id).await?.ok_or_else(|| Failure::usage(format!("there is no {id}")))?;
            of_review(app, review).await?
        }
        Subject::Item(submission, item) => {
            let item = app.store().item(submission, item).await?;
            let item = item.ok_or_else(|| Failure::usage(format!("it is not in {submission} any more")))?;
            of_item(app, submission, item).await?
        }
    };
    let pages = pages(app, &question).await?;
    if as_json {
        let texts: Vec<Value> = pages.iter().map(|(id, page)| json!({"id": id, "text": render::text(page)})).collect();
        let item = question.item.as_ref().map(Item::public_id);
        output::json(&json!({
            "submission": question.submission, "item": item, "review": question.review, "result": question.found,
            "pages": texts,
        }))?;
        return Ok(Exit::Ok);
    }
    print(app, &question, &pages).await
}

async fn of_review(app: &App, review: Review) -> anyhow::Result<Question> {
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
    Ok(Question { submission: review.submission, item, review: Some(review), found })
}

async fn of_item(app: &App, submission: SubmissionId, item: Item) -> anyhow::Result<Question> {
    let of_item = ReviewFilter { submission: Some(submission), item: Some(item.id), ..ReviewFilter::default() };
    let reviews = app.store().reviews(of_item).await?;
    if let Some(newest) = reviews.into_iter().max_by_key(|review| (review.is_open(), review.id)) {
        return of_review(app, newest).await;
    }
    let info = app.engine.catalog().submission(submission).await?;
    let (_, outcome) = app.engine.last_result(&info, &item).await?;
    let found = app.engine.read_payload(&outcome.output).await?;
    Ok(Question { submission, item: Some(item), review: None, found })
}

/// The pages that the result is about, each with the id by which it can be named.
async fn pages(app: &App, question: &Question) -> anyhow::Result<Vec<(String, Page)>> {
    let Some(item) = &question.item else { return Ok(Vec::new()) };
    let data: Value = serde_json::from_str(&item.data).unwrap_or_default();
    let contents: Vec<&Value> = match (&data["page_contents"], item.kind) {
        (Value::Array(contents), ItemKind::Document) => contents.iter().collect(),
        (_, ItemKind::Page) => vec![&question.found["content"]],
        _ => Vec::new(),
    };
    let file = if item.kind == ItemKind::Document { item.parent } else { None };
    let siblings = match file {
        Some(_) => {
            let filter = ItemFilter { kind: Some(ItemKind::Page), parent: file, ..ItemFilter::default() };
            app.store().items(question.submission, filter).await?
        }
        None => Vec::new(),
    };
    let mut pages = Vec::new();
    for content in contents {
        let Some(hash) = content.as_str().and_then(|text| text.parse::<ContentHash>().ok()) else { continue };
        let Ok(page) = serde_json::from_value::<Page>(app.engine.blobs().get_json(hash).await?) else { continue };
        let own = siblings.iter().find(|sibling| usize::try_from(sibling.ordinal).ok() == page.number.checked_sub(1));
        pages.push((own.unwrap_or(item).public_id(), page));
    }
    Ok(pages)
}

async fn print(app: &App, question: &Question, pages: &[(String, Page)]) -> anyhow::Result<Exit> {
    let Question { submission, item, review, found } = question;
    if let Some(review) = review {
        let name = ItemNames::new(app).label(*submission, review.item).await?;
        output::line(format!("{}: {name} of {submission}, {}, in {}", review.id, status_text(review), review.queue))?;
        for reason in &review.reasons {
            output::line(format!("  because {reason}"))?;
        }
        output::line("")?;
    }
    let id = item.as_ref().map(Item::public_id);
    match found["extraction"].as_object() {
        Some(extraction) => result_tables::show_document(&json!({
            "document_id": id, "doc_type": found["doc_type"], "file": found["file"],
            "page_indices": found["page_indices"], "type_confidence": found["type_confidence"],
            "because": found["because"], "evidence": extraction["fields"], "rows": extraction["rows"],
            "needs_review": extraction["needs_review"], "decided": found["decided"],
        }))?,
        None => output::json(found)?,
    }
    for (id, page) in pages {
        output::line("")?;
        output::line(format!("page {} ({id}):", page.number))?;
        output::line(render::text(page).trim_end())?;
    }
    if let Some(review) = review.as_ref().filter(|review| review.is_open()) {
        let id = review.id;
        output::note(format!("`bindery review accept {id}`, `correct {id} field=value` or `reject {id} --reason …`"));
    }
    Ok(Exit::Ok)
}
