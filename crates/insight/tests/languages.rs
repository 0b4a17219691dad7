//! Invoices in languages beside English, German, French and Spanish: their type, and the fields that every invoice has.

use bindery_insight::{
    DocTypes,
    classify::Classifier,
    fields::{self, Extraction, Sources, Templates},
};
use bindery_reader::{
    Block, BlockKind, Page, Rect, Size, Word,
    model::{Inlines, ReadBy},
};

/// Words of an invoice: title, number, date, due date, four headings, net, tax, total, currency.
struct Words {
    language: &'static str,
    title: &'static str,
    number: &'static str,
    date: &'static str,
    due: &'static str,
    headings: [&'static str; 4],
    sums: [&'static str; 3],
    currency: &'static str,
}

const ALL: &[Words] = &[
    Words {
        language: "it",
        title: "Fattura",
        number: "Numero fattura:",
        date: "Data fattura:",
        due: "Scadenza:",
        headings: ["Descrizione", "Quantità", "Prezzo", "Importo"],
        sums: ["Imponibile", "IVA 20%", "Totale da pagare"],
        currency: "EUR",
    },
    Words {
        language: "nl",
        title: "Factuur",
        number: "Factuurnummer:",
        date: "Factuurdatum:",
        due: "Vervaldatum:",
        headings: ["Omschrijving", "Aantal", "Prijs", "Bedrag"],
        sums: ["Totaal excl. btw", "Btw 20%", "Totaal incl. btw"],
        currency: "EUR",
    },
    Words {
        language: "pt",
        title: "Fatura",
        number: "Fatura n.º",
        date: "Data de emissão:",
        due: "Data de vencimento:",
        headings: ["Descrição", "Quantidade", "Preço unitário", "Valor"],
        sums: ["Total sem IVA", "IVA 20%", "Total a pagar"],
        currency: "EUR",
    },
    Words {
        language: "pl",
        title: "Faktura VAT",
        number: "Numer faktury:",
        date: "Data wystawienia:",
        due: "Termin płatności:",
        headings: ["Opis", "Ilość", "Cena netto", "Wartość netto"],
        sums: ["Razem netto", "Kwota VAT", "Do zapłaty"],
        currency: "PLN",
    },
    Words {
        language: "sv",
        title: "Faktura",
        number: "Fakturanummer:",
        date: "Fakturadatum:",
        due: "Förfallodatum:",
        headings: ["Beskrivning", "Antal", "Pris", "Belopp"],
        sums: ["Summa exkl. moms", "Moms 20%", "Att betala"],
        currency: "SEK",
    },
    Words {
        language: "da",
        title: "Faktura",
        number: "Fakturanummer:",
        date: "Fakturadato:",
        due: "Forfaldsdato:",
        headings: ["Beskrivelse", "Antal", "Stykpris", "Beløb"],
        sums: ["Total ekskl. moms", "Moms 20%", "Beløb i alt"],
        currency: "DKK",
    },
    Words {
        language: "cs",
        title: "Faktura",
        number: "Číslo faktury:",
        date: "Datum vystavení:",
        due: "Datum splatnosti:",
        headings: ["Popis", "Množství", "Cena", "Celkem"],
        sums: ["Základ daně", "DPH 20%", "Celkem k úhradě"],
        currency: "CZK",
    },
];

fn page(words: &Words) -> Page {
    let [text, count, price, amount] = words.headings;
    let [net, tax, total] = words.sums;
    let money = |amount: &str| format!("{amount} {}", words.currency);
    let lines: Vec<Vec<(f32, String)>> = vec![
        vec![(40.0, "Harjula Paper AB".to_owned())],
        vec![(40.0, "Kastanjelaan 4".to_owned())],
        vec![],
        vec![(40.0, words.title.to_owned())],
        vec![],
        vec![(40.0, words.number.to_owned()), (200.0, "2026-17".to_owned())],
        vec![(40.0, words.date.to_owned()), (200.0, "03.02.2026".to_owned())],
        vec![(40.0, words.due.to_owned()), (200.0, "05.03.2026".to_owned())],
        vec![],
        vec![(40.0, text.to_owned()), (250.0, count.to_owned()), (350.0, price.to_owned()), (470.0, amount.to_owned())],
        vec![
            (40.0, "A4".to_owned()),
            (250.0, "10".to_owned()),
            (350.0, "4,00".to_owned()),
            (470.0, "40,00".to_owned()),
        ],
        vec![
            (40.0, "A3".to_owned()),
            (250.0, "2".to_owned()),
            (350.0, "30,00".to_owned()),
            (470.0, "60,00".to_owned()),
        ],
        vec![],
        vec![(300.0, net.to_owned()), (470.0, money("100,00"))],
        vec![(300.0, tax.to_owned()), (470.0, money("20,00"))],
        vec![(300.0, total.to_owned()), (470.0, money("120,00"))],
    ];
    let mut page = Page::converted(1);
    page.size = Some(Size { width: 595.0, height: 842.0 });
    page.read_by = ReadBy::Embedded;
    for (row, texts) in lines.iter().enumerate() {
        let text = texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ");
        let text = Inlines::plain(text);
        let is_title = texts.first().is_some_and(|(_, text)| text == words.title);
        let kind = if is_title { BlockKind::Heading { level: 1, text } } else { BlockKind::Paragraph { text } };
        page.blocks.push(Block::body(kind));
        for (left, text) in texts {
            let mut x = *left;
            for word in text.split(' ') {
                let width = word.chars().count() as f32 * 5.0;
                let y = 20.0 + row as f32 * 18.0;
                let bbox = Rect::new(x, y, x + width, y + 10.0);
                page.words.push(Word { text: word.to_owned(), bbox, confidence: None });
                x += width + 4.0;
            }
        }
    }
    page
}

fn value<'e>(found: &'e Extraction, field: &str) -> &'e str {
    found.fields.get(field).map_or("", |value| value.normalised.as_str())
}

#[test]
fn invoices_of_seven_more_languages_are_read() {
    let types = DocTypes::shipped().expect("the shipped types are good");
    let classifier = Classifier::new(&types);
    let templates = Templates::default();
    let mut wrong = Vec::new();
    for words in ALL {
        let page = page(words);
        let class = classifier.classify(&page);
        let doctype = types.get("invoice").expect("a shipped type");
        let found = fields::extract(doctype, &[page], &Sources { attachments: &[], templates: &templates });
        let read = ["number", "issue_date", "due_date", "net_total", "tax_total", "grand_total", "currency"]
            .map(|field| value(&found, field));
        let wanted = ["2026-17", "2026-02-03", "2026-03-05", "100.00", "20.00", "120.00", words.currency];
        let amounts: Vec<&str> = found
            .rows
            .get("line_items")
            .into_iter()
            .flatten()
            .filter_map(|row| Some(row.cells.get("amount")?.normalised.as_str()))
            .collect();
        if &*class.doctype != "invoice" || class.confidence < 0.8 || read != wanted || amounts != ["40.00", "60.00"] {
            let read = format!("{read:?} {amounts:?}");
            wrong.push((words.language, class.doctype.to_string(), class.confidence, read));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
