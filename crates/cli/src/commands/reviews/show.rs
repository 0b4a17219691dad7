//! What is asked, with everything that is needed to decide it.

use super::list::status_text;
use crate::{exit::Exit, output, result_tables};
use bindery_app::{
    App,
    items::ItemNames,
    reviews::{Question, ReviewPage, Subject},
};
use bindery_core::item::Item;
use serde_json::{Value, json};

pub(super) async fn run(app: &App, subject: Subject, as_json: bool) -> anyhow::Result<Exit> {
    let question = Question::find(app, subject).await?;
    if as_json {
        let text = |page: &ReviewPage| json!({"id": page.id, "text": page.text});
        let texts: Vec<Value> = question.pages.iter().map(text).collect();
        let item = question.item.as_ref().map(Item::public_id);
        output::json(&json!({
            "submission": question.submission, "item": item, "review": question.review, "result": question.found,
            "pages": texts,
        }))?;
        return Ok(Exit::Ok);
    }
    print(app, &question).await
}

async fn print(app: &App, question: &Question) -> anyhow::Result<Exit> {
    let Question { submission, item, review, found, pages } = question;
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
    for page in pages {
        output::line("")?;
        output::line(format!("page {} ({}):", page.number, page.id))?;
        output::line(page.text.trim_end())?;
    }
    if let Some(review) = review.as_ref().filter(|review| review.is_open()) {
        let id = review.id;
        output::note(format!("`bindery review accept {id}`, `correct {id} field=value` or `reject {id} --reason …`"));
    }
    Ok(Exit::Ok)
}
