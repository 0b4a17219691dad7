//! Which of a meeting's documents is what.

use crate::vendor::{Attachment, VendorMeeting, address, json};
use serde_json::Value;

struct Document<'a> {
    name: String,
    lower: String,
    entry: &'a Value,
    is_html: bool,
    is_english: bool,
}

/// Gives a meeting its documents; answers with the addresses of its agendas as HTML. Those that were revised come last,
/// so that what they say counts.
pub(super) fn sort(root: &str, entry: &Value, meeting: &mut VendorMeeting) -> Vec<String> {
    let documents: Vec<Document<'_>> = json::entries(entry, "documentList")
        .iter()
        .filter(|document| json::number(document, "publishStatus").is_none_or(|status| status == 1))
        .filter_map(|entry| {
            let name = json::plain(entry, "templateName")?;
            let is_english = json::text(entry, "language").is_none_or(|language| language.starts_with("en"));
            let is_html = json::number(entry, "compileOutputType") == Some(3);
            Some(Document { lower: name.to_lowercase(), name, entry, is_html, is_english })
        })
        .collect();
    let address = |document: &Document<'_>| address_of(root, document);
    let mut agendas: Vec<&Document<'_>> =
        documents.iter().filter(|one| one.is_html && one.is_english && is_agenda(one)).collect();
    agendas.sort_by_key(|one| one.lower.contains("revised"));
    // Once an agenda was revised, the one before is history.
    if agendas.iter().any(|one| one.lower.contains("revised")) {
        agendas.retain(|one| one.lower.contains("revised") || !is_plain(one));
    }
    let files = |wanted: &dyn Fn(&Document<'_>) -> bool| best(&documents, wanted).and_then(address);
    let packet = |one: &Document<'_>| is_pdf(one) && is_agenda(one) && one.lower.contains("packet");
    let agenda = |one: &Document<'_>| !one.is_html && is_agenda(one) && !one.lower.contains("packet");
    meeting.packet_url = files(&packet).or_else(|| files(&|one| is_pdf(one) && agenda(one)));
    meeting.agenda_url =
        agendas.last().and_then(|one| address(one)).or_else(|| files(&agenda)).or_else(|| files(&packet));
    meeting.minutes_url = files(&|one| !one.is_html && one.lower == "minutes")
        .or_else(|| files(&|one| !one.is_html && is_minutes(one)))
        .or_else(|| files(&is_minutes));
    for document in &documents {
        let Some(url) = address(document) else { continue };
        let vendor_id = json::text(document.entry, "id");
        meeting.attach(Attachment { name: document.name.clone(), url, vendor_id, portal_url: None });
    }
    agendas.into_iter().filter_map(address).collect()
}

fn is_pdf(document: &Document<'_>) -> bool {
    json::number(document.entry, "compileOutputType") == Some(1)
}

fn is_minutes(document: &Document<'_>) -> bool {
    document.lower.contains("minutes") || document.lower.contains("journal")
}

/// Agendas and packets, of which a notice that the meeting is off and what was written afterwards are none.
fn is_agenda(document: &Document<'_>) -> bool {
    let has = |word: &str| document.lower.contains(word);
    (has("agenda") || has("packet")) && !is_minutes(document) && !has("cancel") && !has("recess") && !has("notice")
}

/// The agenda itself, as opposed to that of a continuation or a special one beside it.
fn is_plain(document: &Document<'_>) -> bool {
    !["continuation", "special", "packet"].iter().any(|word| document.lower.contains(word))
}

/// A revised document before the others, English before other languages, a PDF before other files.
fn best<'d, 'a>(documents: &'d [Document<'a>], wanted: &dyn Fn(&Document<'a>) -> bool) -> Option<&'d Document<'a>> {
    let fitting = documents.iter().filter(|document| wanted(document));
    fitting.min_by_key(|one| (!one.lower.contains("revised"), !one.is_english, !is_pdf(one)))
}

fn address_of(root: &str, document: &Document<'_>) -> Option<String> {
    if let Some(link) = json::text(document.entry, "link") {
        return address::absolute(root, &link);
    }
    let template = json::text(document.entry, "templateId")?;
    if document.is_html {
        return Some(format!("{root}/Portal/Meeting?meetingTemplateId={template}"));
    }
    let form = json::number(document.entry, "compileOutputType").unwrap_or(1);
    Some(format!("{root}/Public/CompiledDocument?meetingTemplateId={template}&compileOutputType={form}"))
}
