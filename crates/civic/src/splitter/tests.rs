use super::*;
use bindery_reader::{
    Block, BlockKind,
    model::{Inlines, Span, Style},
};

/// A page of paragraphs. `[words](address)` at the end of one is a link, `**` in front of one makes it bold.
fn page(number: usize, paragraphs: &[&str]) -> Page {
    let mut page = Page::converted(number);
    for paragraph in paragraphs {
        let bold = paragraph.starts_with("**");
        let plain = paragraph.trim_start_matches("**");
        let (words, link) = match plain.split_once('[') {
            Some((words, link)) => (words, link.trim_end_matches(')').split_once("](")),
            None => (plain, None),
        };
        let style = Style { bold, ..Style::default() };
        let mut text = Inlines(vec![Span { text: words.to_owned(), style, link: None }]);
        if let Some((label, url)) = link {
            text.push(Span { text: label.to_owned(), style: Style::default(), link: Some(url.to_owned()) });
        }
        page.blocks.push(Block::body(BlockKind::Paragraph { text }));
    }
    page
}

fn titles(split: &Split) -> Vec<(Option<&str>, &str, Option<&str>)> {
    split.items.iter().map(|item| (item.number.as_deref(), item.title.as_str(), item.section.as_deref())).collect()
}

#[test]
fn items_are_found_by_their_numbers_and_carry_their_links() {
    let pages = [
        page(1, &["BROOKFIELD COUNCIL", "Rules: 1. Speak up. 2. Be kind."]),
        page(
            2,
            &[
                "CALL TO ORDER",
                "CONSENT CALENDAR",
                "**3. SUBJECT: LEASE OF THE OLD MILL 2026-0147",
                "**AND ITS YARD",
                "AUTHORIZE the manager to sign.",
                "Attachments: [Terms](https://a.example/gateway.aspx?M=F&ID=1.pdf)",
                "5. Purchase of a pump",
                "A. One pump",
                "B. Spare parts",
                "[Report](https://a.example/files/pump.pdf)",
                "ADJOURNMENT",
                "9. Not an item",
            ],
        ),
    ];
    let split = split(&pages, &[]);
    assert_eq!(split.way, Some(Way::Links));
    assert_eq!(
        titles(&split),
        [
            (Some("3"), "LEASE OF THE OLD MILL AND ITS YARD", Some("CONSENT CALENDAR")),
            (Some("5"), "Purchase of a pump", Some("CONSENT CALENDAR")),
        ]
    );
    assert_eq!(split.items[0].matter_file.as_deref(), Some("2026-0147"));
    assert_eq!(split.items[0].attachments[0].name, "Terms");
    assert_eq!(split.items[1].text, "\u{2022} A. One pump\n\u{2022} B. Spare parts");
    assert_eq!(split.items[1].attachments.len(), 1);
}

#[test]
fn numbers_nest_and_sections_are_no_items() {
    let pages = [page(
        1,
        &[
            "I. ROLL CALL",
            "II. COMMITTEE REPORTS",
            "A. PARKS",
            "1. Approval of a grant for the new playground",
            "2. Purchase of two benches",
            "B. FINANCE",
            "1. Transfer between funds",
            "III. ADJOURNMENT",
        ],
    )];
    let split = split(&pages, &[]);
    assert_eq!(split.way, Some(Way::Text));
    assert_eq!(
        titles(&split),
        [
            (Some("I"), "ROLL CALL", None),
            (Some("1"), "Approval of a grant for the new playground", Some("PARKS")),
            (Some("2"), "Purchase of two benches", Some("PARKS")),
            (Some("1"), "Transfer between funds", Some("FINANCE")),
            (Some("III"), "ADJOURNMENT", None),
        ]
    );
}

#[test]
fn links_without_numbers_are_grouped_below_what_stands_above_them() {
    let pages = [page(
        1,
        &[
            "Purchase of a pump",
            "[Report](https://a.example/a.pdf)",
            "[Map](https://a.example/b.pdf)",
            "Lease of the mill",
            "[Lease](https://a.example/c.pdf)",
        ],
    )];
    let split = split(&pages, &[]);
    assert_eq!(split.way, Some(Way::Links));
    let counts: Vec<(&str, usize)> =
        split.items.iter().map(|item| (item.title.as_str(), item.attachments.len())).collect();
    assert_eq!(counts, [("Purchase of a pump", 2), ("Lease of the mill", 1)]);
}

fn packet(pages: usize, first: &[&str]) -> Vec<Page> {
    let mut all = vec![page(1, first)];
    all.extend((2..=pages).map(|number| page(number, &["A report of many words."])));
    all
}

#[test]
fn bookmarks_make_items_with_the_pages_of_their_documents() {
    let entry = |title: &str, level: u8, page: usize| OutlineEntry { title: title.to_owned(), level, page: Some(page) };
    let outline = [
        entry("Packet", 1, 1),
        entry("Agenda", 2, 1),
        entry("CONSENT CALENDAR", 2, 3),
        entry("4.A Minutes.pdf", 3, 3),
        entry("4.B Purchase of a pump", 3, 6),
        entry("Attachment 1 - Map", 4, 9),
        entry("Att. 2", 4, 11),
        entry("PUBLIC HEARINGS", 2, 12),
        entry("5.A Rezoning of the mill", 3, 12),
    ];
    let split = split(&packet(30, &["A meeting"]), &outline);
    assert_eq!(split.way, Some(Way::Outline));
    assert_eq!(
        titles(&split),
        [
            (Some("4.A"), "Minutes", Some("CONSENT CALENDAR")),
            (Some("4.B"), "Purchase of a pump", Some("CONSENT CALENDAR")),
            (Some("5.A"), "Rezoning of the mill", Some("PUBLIC HEARINGS")),
        ]
    );
    let pages: Vec<(usize, usize)> =
        split.items[1].parts.iter().map(|part| (part.first_page, part.last_page)).collect();
    assert_eq!(pages, [(6, 8), (9, 10), (11, 11)]);
    assert_eq!(split.items[2].parts[0].last_page, 30);
}

#[test]
fn pages_that_an_agenda_points_to_make_items() {
    let first = ["1. Purchase of a pump (Page 16)", "2. Lease of the mill ........ 20", "3. Budget, page 24"];
    let split = split(&packet(30, &first), &[]);
    assert_eq!(split.way, Some(Way::PageReferences));
    assert_eq!(split.items[1].title, "Lease of the mill");
    assert_eq!((split.items[1].parts[0].first_page, split.items[1].parts[0].last_page), (20, 23));
}

#[test]
fn minutes_above_the_items_do_not_speak_against_a_split() {
    let pages = [page(
        1,
        &[
            "**APPROVAL OF THE MINUTES",
            "[June 9](https://a.example/min-6.pdf)",
            "[July 7](https://a.example/min-7.pdf)",
            "[August 18](https://a.example/min-8.pdf)",
            "**AGENDA ITEMS",
            "**ITEM 1: MAST AT MILL ROAD",
            "[Report 1](https://a.example/mast.pdf)",
            "**ITEM 2: WORKSHOP ON THE PLAN",
            "[Report 2](https://a.example/plan.pdf)",
            "**ADJOURNMENT",
        ],
    )];
    let split = split(&pages, &[]);
    assert_eq!((split.way, split.items.len()), (Some(Way::Links), 2), "{split:?}");
    assert_eq!(split.items[0].attachments[0].url, "https://a.example/mast.pdf");
}

#[test]
fn what_cannot_be_true_is_refused_with_its_reason() {
    let one = split(&[page(1, &["1. Only item of the day"])], &[]);
    assert_eq!(one.way, None);
    assert!(one.refused[0].reason.contains("1 items were found"), "{:?}", one.refused);
    let wild = split(&[page(1, &["9. Ninth thing", "4. Fourth thing", "2. Second thing", "1. First thing"])], &[]);
    assert!(wild.refused[0].reason.contains("do not go up"), "{:?}", wild.refused);
    assert_eq!(split(&[], &[]).way, None);
}
