//! What users rely on when pages are recognised and put together to documents.

use bindery_core::Name;
use bindery_fields::{
    DocType, DocTypes,
    classify::{Classifier, Document, PageClass, group},
};
use bindery_reader::{
    Block, OpenFile, Page, Size, Table,
    model::{BlockKind, Inlines, PageKind},
};
use proptest::prelude::*;
use std::{fs, sync::OnceLock};

const A4: Size = Size { width: 595.0, height: 842.0 };

/// A page of paragraphs; a line that begins with `# ` is a heading, and lines with ` | ` make a table.
fn page(number: usize, text: &str) -> Page {
    let mut page = Page::converted(number);
    page.size = Some(A4);
    let mut rows: Vec<Vec<Inlines>> = Vec::new();
    for line in text.lines().map(str::trim).chain([""]) {
        if line.contains(" | ") {
            rows.push(line.split(" | ").map(Inlines::plain).collect());
            continue;
        }
        if !rows.is_empty() {
            let table = Table::from_rows(std::mem::take(&mut rows), 1);
            page.blocks.push(Block::body(BlockKind::Table { table }));
        }
        let kind = match line.strip_prefix("# ") {
            Some(title) => BlockKind::Heading { level: 1, text: Inlines::plain(title) },
            None => BlockKind::Paragraph { text: Inlines::plain(line) },
        };
        if !line.is_empty() {
            page.blocks.push(Block::body(kind));
        }
    }
    page
}

fn classifier() -> &'static Classifier {
    static SHIPPED: OnceLock<Classifier> = OnceLock::new();
    SHIPPED.get_or_init(|| Classifier::new(&DocTypes::shipped().expect("the shipped types are sound")))
}

fn class_of(text: &str) -> PageClass {
    classifier().classify(&page(1, text))
}

fn grouped(texts: &[&str]) -> Vec<Document> {
    let classifier = classifier();
    let pages: Vec<Page> = texts.iter().enumerate().map(|(index, text)| page(index + 1, text)).collect();
    let classes: Vec<PageClass> = pages.iter().map(|page| classifier.classify(page)).collect();
    group(&pages.iter().zip(&classes).collect::<Vec<_>>())
}

fn spans(documents: &[Document]) -> Vec<(&[usize], &str)> {
    documents.iter().map(|document| (document.pages.as_slice(), &*document.doctype)).collect()
}

const GERMAN_INVOICE: &str = "# Rechnung
    Rechnungsnummer: RE-2024-00871
    Rechnungsdatum: 12.06.2024
    Bezeichnung | Menge | Einzelpreis | Gesamtpreis
    Papier | 2 | 4,00 € | 8,00 €
    Versand | 1 | 5,00 € | 5,00 €
    Gesamtbetrag 13,00 €
    Seite 1 von 2";
const GERMAN_INVOICE_GOES_ON: &str = "Rechnungsnummer: RE-2024-00871
    Übertrag 13,00 €
    Bezeichnung | Menge | Einzelpreis | Gesamtpreis
    Kabel | 2 | 4,00 € | 8,00 €
    Lampe | 1 | 5,00 € | 5,00 €
    Zahlbar innerhalb von 14 Tagen ohne Abzug
    Seite 2 von 2";
const LETTER: &str = "Example Tools Ltd
    Subject: Your order
    Dear Sir or Madam,
    Thank you for your letter of last week. Please find enclosed the documents that you have asked for.
    Yours sincerely,";

#[test]
fn a_page_says_what_it_is_how_sure_that_is_and_why() {
    let class = class_of(GERMAN_INVOICE);
    assert_eq!(class.doctype, "invoice");
    assert!(class.confidence > 0.9 && class.confidence < 1.0, "{}", class.confidence);
    let reasons: Vec<String> = class.because.iter().map(ToString::to_string).collect();
    assert!(reasons.contains(&"because the title says \"Rechnung\"".to_owned()), "{reasons:?}");
    assert!(class.because.is_sorted_by(|a, b| a.weight >= b.weight));
}

#[test]
fn the_types_are_known_in_four_languages() {
    for (text, doctype) in [
        ("# FACTURA\nNúmero de factura: 12\nBase imponible 10,00\nIVA 2,10", "invoice"),
        ("# Avoir\nNuméro d'avoir 12\nFacture d'origine 11\nTotal avoir -12,00 €", "credit_note"),
        (
            "# Nómina\nSalario base 1.500,00\nTotal devengado 1.500,00\nIRPF 200,00\nLíquido a percibir 1.300,00",
            "payslip",
        ),
        ("# Relevé de compte\nSolde initial 12,00\nSolde final 15,00", "bank_statement"),
        (
            "# Contrato de arrendamiento\nLas partes acuerdan. El presente contrato se rige por la legislación.",
            "contract",
        ),
        ("# Tagesordnung\n1. Begrüßung\n2. Genehmigung des Protokolls\n3. Verschiedenes", "agenda"),
        (
            "# Compte rendu\nÉtaient présents: trois membres\nLa séance est levée à 20 h. Adopté à l'unanimité.",
            "minutes",
        ),
        ("# Lebenslauf\nBerufserfahrung\n2016 - 2019 Verkauf\n2012 - 2016 Lager\nAusbildung", "resume"),
        ("# Informe anual\n# Introducción\n# Metodología\n# Conclusiones\nLa Tabla 1 resume los resultados.", "report"),
        (
            "# Registration Form\nPlease fill in and tick the box\nName: ________\nCity: ________\n[ ] yes [ ] no",
            "form",
        ),
        ("# Quittung\nErhalten von: Beispiel GmbH\nBetrag: 12,00 €", "receipt"),
    ] {
        let class = class_of(text);
        assert_eq!(class.doctype, doctype, "{class:?}");
    }
}

#[test]
fn a_mail_about_an_invoice_is_a_mail() {
    let mut mail = page(1, "# Invoice 2041 and delivery note\n\nThe invoice is attached.");
    let head = "From: Birch Paper Ltd <office@birch.example>\nTo: desk@books.example\nDate: 2026-01-15T09:12:00+01:00";
    mail.blocks.insert(1, Block::body(BlockKind::Paragraph { text: Inlines::plain(head) }));
    let class = classifier().classify(&mail);
    assert_eq!(&*class.doctype, "email");
    assert!(class.because[0].text.contains("the head of a mail"), "{:?}", class.because);
}

#[test]
fn an_identity_card_is_known_by_its_size_and_its_lines_for_machines() {
    let mut card = page(1, "Familienname\nMUSTER\nGeburtsdatum\n01.01.1990\nGültig bis\nIDEXA123456789<<<<<<<<<<<<<<<");
    card.size = Some(Size { width: 242.6, height: 153.0 });
    let class = classifier().classify(&card);
    assert_eq!(class.doctype, "id_card");
    assert!(class.because.iter().any(|reason| reason.text == "it has the size of a card or a passport"));
}

#[test]
fn pages_that_say_little_are_other_and_the_reason_says_so() {
    let mut blank = Page::converted(1);
    blank.kind = PageKind::Blank;
    let class = classifier().classify(&blank);
    assert_eq!((&*class.doctype, class.because[0].to_string().as_str()), ("other", "because the page is blank"));

    let mut unread = Page::converted(1);
    unread.kind = PageKind::Scan;
    let class = classifier().classify(&unread);
    assert_eq!(class.doctype, "other");
    assert!(class.confidence <= 0.5, "a person should look at a picture that could not be read");

    let class = class_of("Hello there");
    assert_eq!((&*class.doctype, class.because[0].text.as_str()), ("other", "there are only 2 words on the page"));
}

#[test]
fn pages_that_follow_each_other_become_documents() {
    let documents = grouped(&[GERMAN_INVOICE, GERMAN_INVOICE_GOES_ON, LETTER]);
    assert_eq!(spans(&documents), [(&[1, 2][..], "invoice"), (&[3][..], "letter")]);
    let reasons: Vec<&str> = documents[0].because.iter().map(|reason| reason.text.as_str()).collect();
    assert!(reasons.contains(&"page 2 goes on: page number 2 follows 1"), "{reasons:?}");
    assert!(reasons.contains(&"the title says \"Rechnung\""), "{reasons:?}");
    assert!(documents.iter().all(|document| document.confidence > 0.8));
}

#[test]
fn two_documents_of_one_type_are_not_one() {
    let other = GERMAN_INVOICE.replace("00871", "00999").replace("Seite 1 von 2", "Seite 1 von 1");
    let documents = grouped(&[GERMAN_INVOICE, GERMAN_INVOICE_GOES_ON, &other, LETTER, LETTER]);
    let pages: Vec<_> = documents.iter().map(|document| document.pages.clone()).collect();
    assert_eq!(pages, [vec![1, 2], vec![3], vec![4], vec![5]]);
}

#[test]
fn the_empty_backs_of_sheets_stay_in_their_document() {
    let documents = grouped(&[GERMAN_INVOICE, "", GERMAN_INVOICE_GOES_ON, "", LETTER]);
    assert_eq!(spans(&documents), [(&[1, 2, 3][..], "invoice"), (&[4][..], "other"), (&[5][..], "letter")]);
}

#[test]
fn a_type_of_ones_own_is_a_name_and_three_phrases() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name: delivery_note\nrecognise:\n  says: [delivery note, goods received, driver]\n";
    fs::write(folder.path().join("delivery_note.yaml"), text).unwrap();
    let doctypes = DocTypes::shipped().unwrap().with_folder(folder.path()).unwrap();
    let class = Classifier::new(&doctypes).classify(&page(1, "# Delivery Note 17\nGoods received: yes\nDriver: A"));
    assert_eq!(class.doctype, "delivery_note");
    assert!(class.confidence > 0.9, "{class:?}");
}

#[test]
fn every_mistake_in_a_file_is_told_at_once_with_its_line_and_a_hint() {
    let text = "name: x\nrecognise:\n  says:\n    - 12\n    - {any: [a], pattern: b}\n    - {pattern: '('}\n    \
                - {any: [a], where: titel}\n    - {any: [a], weight: 99}\n    - {any: []}\n    - '!!'\n  looks:\n    mony_table: 1\n";
    let error = DocType::parse(text, "x.yaml").unwrap_err().to_string();
    for part in [
        "x.yaml:4:7: recognise.says[0]: expected a mapping, found",
        "x.yaml:5:7: recognise.says[1]: expected exactly one of `any`, `each` and `pattern`",
        "recognise.says[2].pattern: not a regular expression: unclosed group",
        "recognise.says[3].where: expected title, top, bottom, table_header or anywhere",
        "recognise.says[4].weight: expected a number from -20 to 20, found 99",
        "recognise.says[5].any: the list is empty\n  hint: give at least one phrase",
        "recognise.says[6]: expected a phrase with at least one word",
        "x.yaml:12:17: recognise.looks: unknown signal \"mony_table\"\n  hint: did you mean `money_table`?",
    ] {
        assert!(error.contains(part), "{part}\nis not in\n{error}");
    }
}

#[test]
fn without_types_every_page_is_other() {
    let class = Classifier::new(&DocTypes::default()).classify(&page(1, GERMAN_INVOICE));
    assert_eq!(class.doctype, "other");
}

#[test]
fn nothing_at_all_makes_no_document() {
    assert!(group(&[]).is_empty());
}

#[test]
fn classes_survive_being_stored() {
    let class = class_of(LETTER);
    let stored = serde_json::to_string(&class).unwrap();
    assert_eq!(serde_json::from_str::<PageClass>(&stored).unwrap().doctype, class.doctype);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_text_is_too_odd(texts in prop::collection::vec("\\PC{0,200}", 0..6)) {
        let classifier = classifier();
        let pages: Vec<Page> = texts.iter().enumerate().map(|(index, text)| page(index + 1, text)).collect();
        let classes: Vec<PageClass> = pages.iter().map(|page| classifier.classify(page)).collect();
        let documents = group(&pages.iter().zip(&classes).collect::<Vec<_>>());
        let numbers: Vec<usize> = documents.iter().flat_map(|document| document.pages.clone()).collect();
        prop_assert_eq!(numbers, (1..=pages.len()).collect::<Vec<_>>(), "every page is in one document, in order");
        for class in &classes {
            prop_assert!((0.0..=1.0).contains(&class.confidence));
            prop_assert!(!class.because.is_empty());
        }
        prop_assert_eq!(classes, pages.iter().map(|page| classifier.classify(page)).collect::<Vec<_>>());
    }
}

#[test]
fn real_invoices_are_recognised() {
    let Some(folder) = bindery_testkit::shared("fixtures/documents/einvoices") else { return };
    let files = fs::read_dir(folder).unwrap();
    let classifier = classifier();
    let mut files: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.sort();
    let bills = [Name::from("invoice"), Name::from("credit_note")];
    let (mut right, mut all) = (0, 0);
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "pdf")).step_by(5) {
        let Ok(open) = bindery_reader::pdf::open(fs::read(file).unwrap(), &bindery_reader::ReadOptions::default())
        else {
            continue;
        };
        let Ok(first) = open.page(0) else { continue };
        all += 1;
        right += usize::from(bills.contains(&classifier.classify(&first).doctype));
    }
    assert!(right * 20 >= all * 19, "{right} of {all} first pages are invoices or credit notes");
}
