//! Pages that are found by their words: the same questions find the same pages in every store.

use super::Fixture;
use bindery_store::{
    StoreError, StoreResult,
    search::{CollectionView, Hit, IndexedDocument, Query, SearchRequest, TextChunk},
};

const LETTERS: &str = "letters";

/// A document with these texts as chunks, each with its page.
fn document(collection: &str, id: &str, chunks: &[(u32, &str)]) -> IndexedDocument {
    let chunk = |(ordinal, (page, text)): (u32, &(u32, &str))| TextChunk { page: *page, ordinal, text: (*text).into() };
    IndexedDocument {
        collection: collection.to_owned(),
        document_id: id.to_owned(),
        file_guid: format!("guid of {id}"),
        file_name: format!("{id}.pdf"),
        metadata: r#"{"docType":"pdf"}"#.to_owned(),
        chunks: (0..).zip(chunks).map(chunk).collect(),
        submission: None,
        owner: None,
    }
}

async fn index(f: &Fixture, collection: &str, id: &str, chunks: &[(u32, &str)]) {
    f.store.index_document(document(collection, id, chunks)).await.unwrap();
}

fn request(query: &str) -> SearchRequest {
    SearchRequest { query: Query::parse(query).unwrap(), collection: None, limit: 100, offset: 0 }
}

async fn hits(f: &Fixture, query: &str) -> Vec<Hit> {
    f.store.search(request(query)).await.unwrap()
}

/// The pages that a question finds, in the order of their names: `document/page`.
async fn pages(f: &Fixture, query: &str) -> Vec<String> {
    let mut found: Vec<String> =
        hits(f, query).await.iter().map(|hit| format!("{}/{}", hit.document_id, hit.page)).collect();
    found.sort();
    found
}

async fn library(f: &Fixture) {
    index(f, LETTERS, "a", &[(1, "The late payment of the invoice."), (2, "A penalty applies."), (4, "Yours, Élodie")])
        .await;
    index(f, LETTERS, "b", &[(1, "Payment came late: no penalty."), (2, "First draft of the invoice")]).await;
    index(f, "contracts", "c", &[(1, "Invoices are paid within 30 days."), (1, "Größe und Maß")]).await;
}

pub async fn words_phrases_exclusions_beginnings_and_alternatives(f: &Fixture) {
    library(f).await;
    assert_eq!(pages(f, "invoice").await, ["a/1", "b/2"]);
    assert_eq!(pages(f, "late PAYMENT").await, ["a/1", "b/1"]);
    assert_eq!(pages(f, "\"late payment\"").await, ["a/1"]);
    assert_eq!(pages(f, "\"payment late\"").await, [] as [&str; 0], "there is a word between");
    assert_eq!(pages(f, "invoice -draft").await, ["a/1"]);
    assert_eq!(pages(f, "invoice -\"late payment\"").await, ["b/2"]);
    assert_eq!(pages(f, "invoice*").await, ["a/1", "b/2", "c/1"]);
    assert_eq!(pages(f, "\"the inv\"*").await, ["a/1", "b/2"]);
    assert_eq!(pages(f, "penalty OR draft").await, ["a/2", "b/1", "b/2"]);
    assert_eq!(pages(f, "late penalty OR invoice draft").await, ["b/1", "b/2"]);
    assert_eq!(pages(f, "late -came OR draft -invoice").await, ["a/1"]);
    assert_eq!(pages(f, "elephant").await, [] as [&str; 0]);
}

pub async fn accents_capitals_and_scripts_make_no_difference(f: &Fixture) {
    library(f).await;
    let japanese = "東京都は日本の首都です。";
    index(f, LETTERS, "d", &[(1, "Приказ №5 от 2024 года"), (2, japanese), (3, "mail to desk@example.com, 3.50 EUR")])
        .await;
    assert_eq!(pages(f, "elodie").await, ["a/4"]);
    assert_eq!(pages(f, "ÉLODIE").await, ["a/4"]);
    assert_eq!(pages(f, "grosse mass").await, ["c/1"]);
    assert_eq!(pages(f, "приказ 2024").await, ["d/1"]);
    assert_eq!(pages(f, "日本").await, ["d/2"]);
    assert_eq!(pages(f, "本日").await, [] as [&str; 0]);
    assert_eq!(pages(f, "example").await, ["d/3"]);
    assert_eq!(pages(f, "desk@example.com 3.50").await, ["d/3"]);
}

pub async fn the_words_of_a_page_may_be_in_several_chunks(f: &Fixture) {
    index(f, LETTERS, "a", &[(1, "alpha beta"), (1, "beta gamma"), (2, "gamma delta")]).await;
    let found = hits(f, "alpha gamma").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&*found[0].document_id, found[0].page), ("a", 1));
    assert_eq!(pages(f, "beta").await, ["a/1"], "a page is found once");
    assert_eq!(pages(f, "gamma -alpha").await, ["a/2"]);
    assert_eq!(pages(f, "alpha delta").await, [] as [&str; 0]);
}

pub async fn a_hit_says_where_and_why(f: &Fixture) {
    library(f).await;
    let found = hits(f, "\"late payment\"").await;
    let hit = &found[0];
    assert_eq!((&*hit.collection, &*hit.file_guid, &*hit.file_name), (LETTERS, "guid of a", "a.pdf"));
    assert_eq!(hit.snippet.marked("[", "]"), "The [late payment] of the invoice.");
    assert!(hit.score > 0.0, "{hit:?}");
}

pub async fn the_best_page_comes_first_and_pages_go_on(f: &Fixture) {
    let filler = "some other words that nobody looks for stand on this page, many of them ".repeat(4);
    for number in 0..6 {
        let text = format!("{}{filler}", "zebra ".repeat(number));
        index(f, LETTERS, &format!("d{number}"), &[(1, &text)]).await;
    }
    let ids = async |limit, offset| -> Vec<String> {
        let asked = SearchRequest { limit, offset, ..request("zebra") };
        f.store.search(asked).await.unwrap().into_iter().map(|hit| hit.document_id).collect()
    };
    assert_eq!(ids(100, 0).await, ["d5", "d4", "d3", "d2", "d1"]);
    assert_eq!((ids(2, 0).await.len(), ids(2, 2).await), (2, vec!["d3".to_owned(), "d2".to_owned()]));
    assert_eq!((ids(2, 4).await.len(), ids(2, 5).await.len(), ids(0, 0).await.len()), (1, 0, 0));
}

pub async fn indexing_twice_is_indexing_once(f: &Fixture) {
    library(f).await;
    library(f).await;
    assert_eq!(pages(f, "invoice").await, ["a/1", "b/2"]);
    index(f, LETTERS, "a", &[(7, "Something else")]).await;
    assert_eq!(pages(f, "invoice").await, ["b/2"], "what was there before is gone");
    assert_eq!(pages(f, "something").await, ["a/7"]);
    assert_eq!(f.store.collections().await.unwrap()[1].documents, 2);
}

pub async fn the_same_document_indexed_at_once_is_there_once(f: &Fixture) {
    let one = async |number: u32| index(f, LETTERS, "a", &[(number, "alpha")]).await;
    tokio::join!(one(1), one(2), one(3));
    assert_eq!(hits(f, "alpha").await.len(), 1);
    let view = CollectionView { collection: LETTERS.to_owned(), documents: 1, pages: 1, chunks: 1 };
    assert_eq!(f.store.collections().await.unwrap(), [view]);
}

pub async fn collections_are_apart_and_counted(f: &Fixture) {
    assert_eq!(f.store.collections().await.unwrap(), []);
    library(f).await;
    index(f, "contracts", "a", &[(1, "late invoice")]).await;
    let inside = SearchRequest { collection: Some("contracts".to_owned()), ..request("invoice*") };
    let found = f.store.search(inside).await.unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|hit| hit.collection == "contracts"));
    let nowhere = SearchRequest { collection: Some("elsewhere".to_owned()), ..request("invoice") };
    assert_eq!(f.store.search(nowhere).await.unwrap(), []);
    let view = |collection: &str, documents, pages, chunks| CollectionView {
        collection: collection.to_owned(),
        documents,
        pages,
        chunks,
    };
    assert_eq!(f.store.collections().await.unwrap(), [view("contracts", 2, 2, 3), view(LETTERS, 2, 5, 5)]);
}

pub async fn a_removed_document_is_not_found_any_more(f: &Fixture) {
    library(f).await;
    assert!(f.store.remove_document(LETTERS, "a").await.unwrap());
    assert!(!f.store.remove_document(LETTERS, "a").await.unwrap());
    assert!(!f.store.remove_document("contracts", "b").await.unwrap());
    assert_eq!(pages(f, "late").await, ["b/1"]);
    assert_eq!(f.store.collections().await.unwrap()[1].documents, 1);
}

pub async fn documents_of_a_person_leave_the_index_with_everything_of_theirs(f: &Fixture) {
    for (id, owner) in [("hers", Some("ann")), ("hers-too", Some("ann")), ("his", Some("bob")), ("nobodys", None)] {
        let owner = owner.map(str::to_owned);
        f.store.index_document(IndexedDocument { owner, ..document("letters", id, &[(1, "harbour")]) }).await.unwrap();
    }
    assert_eq!(f.store.owned_documents("ann").await, Ok(2));
    assert_eq!(f.store.remove_documents_of("ann", 1).await, Ok(1));
    assert_eq!(f.store.remove_documents_of("ann", 10).await, Ok(1));
    assert_eq!(f.store.remove_documents_of("ann", 10).await, Ok(0));
    assert_eq!(f.store.owned_documents("ann").await, Ok(0));
    assert_eq!(pages(f, "harbour").await, ["his/1", "nobodys/1"]);
}

pub async fn a_document_that_cannot_be_indexed_changes_nothing(f: &Fixture) {
    library(f).await;
    let refused = async |wrong: IndexedDocument, why: &str| {
        let answer: StoreResult<()> = f.store.index_document(wrong).await;
        let Err(StoreError::Invalid(message)) = answer else { panic!("{answer:?} for {why}") };
        assert!(message.contains(why), "{message}");
    };
    let good = document(LETTERS, "a", &[(1, "new"), (2, "text")]);
    refused(IndexedDocument { collection: String::new(), ..good.clone() }, "not empty").await;
    refused(IndexedDocument { metadata: "{".to_owned(), ..good.clone() }, "not JSON").await;
    refused(IndexedDocument { file_name: "a\0".to_owned(), ..good.clone() }, "zero characters").await;
    refused(document(LETTERS, "a", &[(0, "x")]), "pages count from 1").await;
    refused(document(LETTERS, "a", &[(1, &"x ".repeat(16_001))]), "more than 16000 words").await;
    let mut twice = good;
    twice.chunks[1].ordinal = 0;
    refused(twice, "every place is taken once").await;
    assert_eq!(pages(f, "late").await, ["a/1", "b/1"]);
}

pub async fn any_text_can_be_indexed(f: &Fixture) {
    let texts =
        ["", " \n ", "a\0b", "'quoted' \"text\" \\ : & | ! <-> *", "🙂", &"long".repeat(5_000), "x:1A 'y':2B,3"];
    for (number, text) in (0..).zip(texts) {
        index(f, LETTERS, &format!("d{number}"), &[(1, text)]).await;
    }
    assert_eq!(pages(f, "quoted text").await, ["d3/1"]);
    assert_eq!(pages(f, "long*").await, ["d5/1"]);
    assert_eq!(pages(f, "\"y 2b\"").await, ["d6/1"]);
    assert_eq!(pages(f, "b").await, ["d2/1"]);
}

pub async fn no_question_can_break_it(f: &Fixture) {
    library(f).await;
    for query in [
        "a' OR 1=1 --",
        "NEAR(late payment)",
        "words:late",
        "la\" te",
        "(((",
        "late & !payment",
        "\\'x",
        "AND",
        "NOT x",
        "^late",
        "{late}",
    ] {
        if let Ok(query) = Query::parse(query) {
            f.store.search(SearchRequest { query, collection: None, limit: 5, offset: 0 }).await.unwrap();
        }
    }
}
