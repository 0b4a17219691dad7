//! `bindery search`: which page speaks of something.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::{
    App, Settings,
    search::{CollectionView, Hit, Query, SearchRefused, SearchRequest, Snippet},
};
use serde_json::{Value, json};

/// Find pages by their words
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery search invoice overdue                pages with both words
  bindery search '\"late payment\" -draft'        this phrase, and not that word
  bindery search 'pay* OR bill' --limit 5       words that begin so, or that one; the five best
  bindery search penalty --collection letters --json
  bindery search --collections                  what can be searched
  bindery search --add sub_3                    make the texts of a submission findable
  bindery search --remove doc_7 --collection letters
A word that is excluded stands inside of quotation marks, so that it is not taken for a flag.
Capitals and accents do not matter. A page is found when all words stand somewhere on it.
Documents that are ingested into a collection can be searched, and what --add names.")]
pub(crate) struct Args {
    /// Words, a "phrase", -excluded, beginnings*; OR between alternatives
    #[arg(required_unless_present_any = ["collections", "add", "remove"])]
    query: Vec<String>,

    /// Only in this collection; with --add: into this one instead of the one named after the workflow
    #[arg(long, value_name = "NAME")]
    collection: Option<String>,

    /// At most so many pages
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,

    /// Leave out so many of the best: those that were seen already
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u32,

    /// List the collections
    #[arg(long, conflicts_with_all = ["query", "add", "collection"])]
    collections: bool,

    /// Index the texts that a submission has read: sub_N, or your own id
    #[arg(long, value_name = "SUBMISSION", conflicts_with = "query")]
    add: Vec<String>,

    /// Take documents out of the collection: what `--json` calls document_id
    #[arg(long, value_name = "DOCUMENT", requires = "collection", conflicts_with_all = ["query", "add", "collections"])]
    remove: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    if args.collections {
        return list(&settings.existing().await?, args.json).await;
    }
    if !args.add.is_empty() {
        return add(&settings.existing().await?, &args).await;
    }
    if let (false, Some(collection)) = (args.remove.is_empty(), &args.collection) {
        return remove(&settings.existing().await?, collection, &args.remove).await;
    }
    let query = Query::parse(&args.query.join(" ")).map_err(|why| {
        Failure::usage(why).hint("`bindery search 'invoice -draft'` finds pages with the first word and not the second")
    })?;
    let app = settings.existing().await?;
    app.check_collection(args.collection.as_deref()).await?;
    let (limit, offset) = (args.limit as usize, args.offset as usize);
    let hits = app.store().search(SearchRequest { query, collection: args.collection, limit, offset }).await?;
    if args.json {
        output::json(&hits.iter().map(hit_json).collect::<Vec<_>>())?;
        return Ok(Exit::Ok);
    }
    if hits.is_empty() {
        output::note(nothing(&app, offset).await?);
        return Ok(Exit::Ok);
    }
    let several = hits.iter().any(|hit| hit.collection != hits[0].collection);
    let row = |hit: &Hit| {
        let mut row = vec![output::short_in_the_middle(&hit.file_name, 40), hit.page.to_string()];
        if several {
            row.push(hit.collection.clone());
        }
        row.push(hit.snippet.marked(output::BOLD, output::NOT_BOLD));
        row
    };
    let header: &[&str] = if several { &["FILE", "PAGE#", "COLLECTION", "TEXT"] } else { &["FILE", "PAGE#", "TEXT"] };
    output::table_with_bold(header, hits.iter().map(row))?;
    if hits.len() == limit {
        output::note(format!("there may be more: --offset {} shows what comes next", offset + limit));
    }
    Ok(Exit::Ok)
}

/// The exit code, and what can be done instead.
pub(crate) fn of_search(refused: &SearchRefused) -> (Exit, Option<String>) {
    let hint = match refused {
        SearchRefused::UnknownCollection { known, .. } if known.is_empty() => "nothing is indexed yet".to_owned(),
        SearchRefused::UnknownCollection { known, .. } => format!("known are {}", known.join(", ")),
        SearchRefused::NoTexts(_) => {
            "the workflows documents, read and idp leave texts, once their files were read".to_owned()
        }
        SearchRefused::NotIndexed(_) => return (Exit::Usage, None),
        SearchRefused::Failed(_) => return (Exit::StoreUnavailable, None),
    };
    (Exit::Usage, Some(hint))
}

async fn nothing(app: &App, offset: usize) -> anyhow::Result<String> {
    let views = app.store().collections().await?;
    let pages: u64 = views.iter().map(|view| view.pages).sum();
    Ok(match (views.is_empty(), offset) {
        (true, _) => "nothing is indexed yet; `bindery search --add SUBMISSION` makes its texts findable".to_owned(),
        (false, 0) => format!("nothing was found on {}", output::count(pages, "indexed page")),
        (false, _) => "there is no more".to_owned(),
    })
}

async fn list(app: &App, as_json: bool) -> anyhow::Result<Exit> {
    let views = app.store().collections().await?;
    if as_json {
        output::json(&views)?;
    } else if views.is_empty() {
        output::note(nothing(app, 0).await?);
    } else {
        let row = |view: &CollectionView| {
            [view.collection.clone(), view.documents.to_string(), view.pages.to_string(), view.chunks.to_string()]
        };
        output::table(&["COLLECTION", "DOCUMENTS#", "PAGES#", "CHUNKS#"], views.iter().map(row))?;
    }
    Ok(Exit::Ok)
}

async fn remove(app: &App, collection: &str, documents: &[String]) -> anyhow::Result<Exit> {
    app.check_collection(Some(collection)).await?;
    let mut missing = 0;
    for document in documents {
        if app.store().remove_document(collection, document).await? {
            output::line(format!("removed {document}"))?;
        } else {
            missing += 1;
            output::note(format!("{document:?} is not in the collection {collection}"));
        }
    }
    Ok(match missing {
        0 => Exit::Ok,
        all if all == documents.len() => Exit::Usage,
        _ => Exit::Partial,
    })
}

async fn add(app: &App, args: &Args) -> anyhow::Result<Exit> {
    let mut all = Vec::new();
    for named in &args.add {
        let done = app.index_texts(named, args.collection.as_deref()).await?;
        output::note(format!(
            "{}: {} of {} can be found in collection {}",
            done.submission,
            output::count(done.pages, "page"),
            output::count(done.files.len() as u64, "file"),
            done.collection,
        ));
        all.extend(done.files);
    }
    if args.json {
        output::json(&all)?;
    }
    Ok(Exit::Ok)
}

fn hit_json(hit: &Hit) -> Value {
    json!({
        "collection": hit.collection, "document_id": hit.document_id, "file_guid": hit.file_guid,
        "file_name": hit.file_name, "page": hit.page, "score": hit.score, "snippet": hit.snippet.text,
        "matches": matches(&hit.snippet),
    })
}

/// Where the matches are in the snippet, in characters.
fn matches(snippet: &Snippet) -> Vec<Value> {
    let characters = |bytes: usize| snippet.text[..bytes].chars().count();
    snippet
        .matches
        .iter()
        .map(|range| json!({"start": characters(range.start), "end": characters(range.end)}))
        .collect()
}
