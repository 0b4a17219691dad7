//! `bindery civic explain` and `bindery civic filters explain`: why an item is read, or is not.

use crate::{exit::Exit, output};
use bindery_app::{
    Settings,
    councils::{
        filter::{
            Decision, FILTER_VERSION, Treatment,
            stored::{Verdict, verdict},
        },
        records::{AgendaItem, Attachment},
    },
};
use serde_json::{Value, json};

/// Say why an item is read or not: the rule, its tier, and what the guard says
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic explain paloaltoCA_3c961ffe17f6_17864
  bindery civic explain paloaltoCA_3c961ffe17f6_17864 --json | jq .decision.rule
Shows what was stored beside what the rules of today say. docs/civic-filters.md describes the rules.")]
pub(super) struct Args {
    /// The id of the item
    item: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let (item, meeting) = app.find_agenda_item(&args.item).await?;
    let today = verdict(&meeting.title, &item);
    let is_same = agrees(&item, &today.item);
    if args.json {
        let mut answer = as_json(&item, &today);
        answer["item_id"] = json!(item.id);
        answer["meeting_id"] = json!(meeting.id);
        answer["stored"] = json!({
            "filter_reason": item.filter_reason, "filter_rule": item.filter_rule, "filter_version": stored_version(&item),
        });
        answer["agrees"] = json!(is_same);
        output::json(&answer)?;
        return Ok(Exit::Ok);
    }
    output::line(format!("{}  {}", item.id, item.title))?;
    output::line("")?;
    show(&item, &today)?;
    output::line("")?;
    let rule = item.filter_rule.as_deref().unwrap_or("no rule");
    let version = stored_version(&item).map(|version| format!(", rules v{version}")).unwrap_or_default();
    let reason = item.filter_reason.as_deref().unwrap_or("read");
    let beside = match (is_same, item.summary.is_some()) {
        (true, _) => "the rules of today say the same",
        (false, true) => "the rules of today say otherwise; it was summarised and stays as it was",
        (false, false) => "the rules of today say otherwise; the next visit stores that",
    };
    output::line(format!("stored: {reason} ({rule}{version}); {beside} (v{FILTER_VERSION})"))?;
    Ok(Exit::Ok)
}

fn agrees(item: &AgendaItem, today: &Decision) -> bool {
    item.filter_reason.as_deref() == today.filter_reason() && item.filter_rule.as_deref() == Some(today.rule)
}

/// The version of the rules that was in force when the item was last seen, which its hash begins with.
fn stored_version(item: &AgendaItem) -> Option<u32> {
    item.attachment_hash.as_deref()?.strip_prefix('v')?.split_once(':')?.0.parse().ok()
}

/// What the tiers say, in one form for both commands.
fn as_json(item: &AgendaItem, today: &Verdict) -> Value {
    let documents: Vec<Value> = item
        .attachments
        .iter()
        .zip(&today.documents)
        .map(|(document, decision)| {
            let mut told = json!(decision);
            told["name"] = json!(document.name);
            told["url"] = json!(document.url);
            told
        })
        .collect();
    let mut decision = json!(today.item);
    decision["filter_reason"] = json!(today.item.filter_reason());
    decision["is_guarded"] = json!(is_guarded(&today.item));
    json!({
        "title": item.title, "filter_version": FILTER_VERSION, "decision": decision, "meeting": today.meeting,
        "documents": documents, "matter": today.matter,
    })
}

/// The guard has spoken against a rule.
fn is_guarded(decision: &Decision) -> bool {
    decision.rule.starts_with("guard.")
}

fn show(item: &AgendaItem, today: &Verdict) -> anyhow::Result<()> {
    let row = |decision: &Decision, about: &str| {
        let tier = json!(decision.tier).as_str().unwrap_or_default().replace('_', " ");
        let word = match decision.treatment {
            Treatment::Full if is_guarded(decision) => "read (guard)",
            Treatment::Full => "read",
            Treatment::Brief => "one line",
            Treatment::Skip => "not read",
        };
        let colon = if about.is_empty() { "" } else { ": " };
        [tier, decision.rule.to_owned(), word.to_owned(), format!("{about}{colon}{}", decision.reason)]
    };
    let mut rows = vec![row(&today.meeting, ""), row(&today.item, "")];
    let documents = item.attachments.iter().zip(&today.documents);
    rows.extend(documents.map(|(document, decision)| row(decision, &output::short(&document.name, 40))));
    rows.extend(today.matter.as_ref().map(|decision| row(decision, "")));
    output::fitted_table(&["TIER", "RULE", "SAYS", "WHY"], rows)?;
    Ok(())
}

/// The rules by which items are read or not
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic filters explain \"Approval of the minutes of March 3\"")]
pub(super) struct FilterArgs {
    #[command(subcommand)]
    action: FilterAction,
}

#[derive(Debug, clap::Subcommand)]
enum FilterAction {
    Explain(TitleArgs),
}

/// Say what the rules would make of a title; needs no store
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery civic filters explain \"Roll Call\"
  bindery civic filters explain \"Proclamation\" --attachment \"Staff Report\" --attachment \"Public Comment\"
  bindery civic filters explain \"March 3, 2026\" --section \"Approval of Minutes\" --json")]
struct TitleArgs {
    /// The title of an item
    title: String,

    /// The heading that it stands under
    #[arg(long)]
    section: Option<String>,

    /// The public number of its matter
    #[arg(long, value_name = "NUMBER")]
    matter_file: Option<String>,

    /// The type of its matter
    #[arg(long, value_name = "TYPE")]
    matter_type: Option<String>,

    /// The name of a document of it; several times for several
    #[arg(long, value_name = "NAME")]
    attachment: Vec<String>,

    /// The title of the meeting
    #[arg(long, value_name = "TITLE", default_value = "City Council")]
    meeting: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn filters(args: FilterArgs) -> anyhow::Result<Exit> {
    let FilterAction::Explain(args) = args.action;
    let named = |name: String| Attachment { name, ..Attachment::default() };
    let item = AgendaItem {
        title: args.title,
        section: args.section,
        matter_file: args.matter_file,
        matter_type: args.matter_type,
        attachments: args.attachment.into_iter().map(named).collect(),
        ..AgendaItem::default()
    };
    let today = verdict(&args.meeting, &item);
    if args.json {
        output::json(&as_json(&item, &today))?;
    } else {
        show(&item, &today)?;
    }
    Ok(Exit::Ok)
}
