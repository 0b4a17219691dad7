//! `bindery doctypes learn`: a template from what people have corrected, and what it would change.

use crate::{exit::Exit, output};
use bindery_app::{
    AppError, Settings,
    doctypes::{LearnRefused, Learned, Learning, SenderName, SuggestError},
};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Words that stand on every document of the sender, such as their name; or their VAT id
    #[arg(value_name = "SENDER")]
    sender: String,

    /// The type of their documents; without it, the one of which most were corrected
    #[arg(long = "type", value_name = "NAME")]
    doctype: Option<String>,

    /// Store the template in this file; without a name, in the folder of templates (--templates)
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "not asked for, asked for, asked for with a name: as clap tells them")]
    write: Option<Option<PathBuf>>,

    /// Look at the documents of so many submissions, the newest first
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    submissions: u32,
}

pub(super) async fn run(settings: &Settings, args: Args, as_json: bool) -> anyhow::Result<Exit> {
    let sender = SenderName::parse(&args.sender).map_err(AppError::from)?;
    settings.check_doctype_name(args.doctype.as_deref())?;
    let target = match args.write {
        Some(None) => Some(settings.template_file(&sender).map_err(AppError::from)?),
        Some(named) => named,
        None => None,
    };
    let app = settings.existing().await?;
    let learning = Learning { sender, doctype: args.doctype, submissions: args.submissions as usize, target };
    let learned = Learned::from_corrections(&app, settings, learning).await?;
    if as_json {
        output::json(&learned.to_json())?;
        return Ok(Exit::Ok);
    }
    output::line(learned.yaml().trim_end())?;
    tell(&learned);
    Ok(Exit::Ok)
}

/// What can be done instead.
pub(crate) fn hint(refused: &LearnRefused) -> Option<&'static str> {
    let correct = "`bindery review correct sub_1 doc_1_1 number=2026-7` corrects one";
    match refused {
        LearnRefused::NothingCorrected { .. } | LearnRefused::Suggest(SuggestError::TooFew { .. }) => Some(correct),
        LearnRefused::Suggest(SuggestError::NothingInCommon { .. }) => {
            Some("docs/fields.md says how a template is written by hand")
        }
        LearnRefused::Doctype(_) => Some("--doctypes names a folder with types of your own"),
        LearnRefused::NoFolder => Some("`--templates ./templates`, or `--write FILE`"),
        LearnRefused::WrittenByHand { .. } => Some("--write FILE stores it under another name"),
        LearnRefused::NoSender { .. } | LearnRefused::Unwritable { .. } => None,
    }
}

fn tell(learned: &Learned) {
    for (field, because) in learned.not_learned() {
        output::note(format!("not learned: {field}: {because}"));
    }
    let documents = output::count(learned.documents as u64, "earlier document");
    let [right, wrong, open] = [Some(true), Some(false), None].map(|confirmed| learned.count(confirmed));
    let values = output::count((right + wrong + open) as u64, "value");
    output::note(format!(
        "it would change {} of {documents}, {values} in all: {right} to what a person confirmed, {wrong} away from it, {open} that nobody has looked at",
        learned.would_change()
    ));
    if let Some(name) = &learned.standing {
        output::note(format!("the template {name} counts for such documents already; the first file by name counts"));
    }
    match &learned.target {
        Some(file) => output::note(format!("wrote {}", file.display())),
        None => output::note("nothing was stored; --write stores it"),
    }
}
