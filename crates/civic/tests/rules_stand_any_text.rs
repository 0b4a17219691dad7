//! Vendors write anything: no rule may fall over it, and each keeps what it promises.

use bindery_civic::{
    city_key::{CityKey, parse_targets},
    committees::committee_of,
    filter::{
        FILTER_VERSION, attachments, compilation,
        items::{ItemFacts, decide},
        matters, meetings, title, versions,
    },
    hash::{HashedDocument, canonical_url, hash_attachments_fast},
    ids,
    participation::Participation,
    people::fold,
    splitter,
    vendor::{Ballot, ItemVote},
    votes::{VoteValue, record},
};
use bindery_reader::{
    Block, BlockKind, Page,
    model::{Inlines, OutlineEntry, Span},
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn titles(text in "\\PC{0,120}", section in "\\PC{0,40}", name in "\\PC{0,40}") {
        prop_assert!(title::plain(&text).len() <= title::lowered(&text).len());
        let item = ItemFacts { title: &text, section: Some(&section), attachments: &[&name], ..ItemFacts::default() };
        let decision = decide(&item);
        prop_assert_eq!(decision.filter_reason().is_some(), decision.is_skipped());
        meetings::decide(&text);
        matters::decide(&text);
        let _ = compilation::decide(&text, 12, 3, &compilation::CompilationLimits::strict());
    }

    #[test]
    fn something_is_always_left_to_read(names in prop::collection::vec("\\PC{0,30}|Public Comment|Master Agreement|FEIR", 1..6)) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert!(attachments::decide(&names).iter().any(|decision| !decision.is_skipped()));
        let documents: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
        prop_assert!(versions::superseded(&documents).iter().any(|older| !older));
    }

    #[test]
    fn names_and_bodies(text in "\\PC{0,80}") {
        prop_assert!(fold(&text).is_none_or(|name| !name.is_empty()));
        prop_assert!(committee_of(Some(&text), Some(&text)).is_none_or(|name| !name.is_empty()));
        let meeting = format!("{text}_0123456789ab");
        prop_assert_eq!(CityKey::parse(&text).is_ok(), ids::is_meeting_id(&meeting));
        let _ = parse_targets(&text, "the list");
        let _ = (ids::is_item_id(&text), ids::is_matter_id(&text), ids::city_key_of(&text));
    }

    #[test]
    fn addresses(url in "\\PC{0,100}", name in "\\PC{0,30}") {
        let canonical = canonical_url(&url);
        let again = format!("https://{canonical}");
        prop_assert_eq!(canonical_url(&again), canonical);
        let hash = hash_attachments_fast(&[HashedDocument { name: &name, url: &url, ..HashedDocument::default() }]);
        let prefix = format!("v{FILTER_VERSION}:");
        prop_assert!(hash.starts_with(&prefix));
    }

    #[test]
    fn votes(motion in "\\PC{0,60}", result in "\\PC{0,20}", tally in "\\PC{0,12}|[0-9]{1,12}-[0-9]{1,12}", votes in prop::collection::vec("\\PC{0,12}|Aye|Nay|", 0..9)) {
        let ballot = |(at, vote): (usize, &String)| Ballot { name: format!("Member {at}"), vote: vote.clone(), person_id: None };
        let ballots: Vec<_> = votes.iter().enumerate().map(ballot).collect();
        let kept = record(&ItemVote { motion: Some(motion), result: Some(result), tally: Some(tally), ballots, ..ItemVote::default() }, false);
        prop_assert_eq!(kept.ballots.len(), votes.iter().filter(|vote| VoteValue::parse(vote).is_some()).count());
    }

    #[test]
    fn ways_to_take_part(text in "(\\PC{0,60}\n|Zoom https://zoom.us/j/\\PC{0,20}\n|Passcode:\\PC{0,9}|\\(213\\) 555-01\\d\\d|a@b.example\\PC?){0,12}") {
        let found = Participation::of_text(&text);
        let mut known = found.clone();
        known.absorb(Participation::default());
        prop_assert_eq!(known, found);
    }

    #[test]
    fn agendas(paragraphs in prop::collection::vec("\\PC{0,80}|[0-9]{1,3}\\. [A-Z]\\PC{0,40}|[A-Za-z]\\. [A-Z]\\PC{0,40}|[IVX]{1,4}\\. [A-Z]{3,20}|ITEM [0-9]: \\PC{0,30}|.{0,20} page [0-9]{1,4}", 0..25), levels in prop::collection::vec((1_u8..5, 0_usize..40), 0..8)) {
        let block = |text: &String| {
            let span = Span { text: text.clone(), link: Some(format!("https://a.example/{}.pdf", text.len())), ..Span::default() };
            Block::body(BlockKind::Paragraph { text: Inlines(vec![span]) })
        };
        let mut page = Page::converted(1);
        page.blocks = paragraphs.iter().map(block).collect();
        let outline: Vec<_> = levels.iter().zip(&paragraphs).map(|((level, page), title)| OutlineEntry { title: title.clone(), level: *level, page: Some(*page) }).collect();
        let split = splitter::split(&[page], &outline);
        prop_assert_eq!(split.way.is_none(), split.items.is_empty());
        prop_assert!(split.items.len() <= 300);
    }
}
