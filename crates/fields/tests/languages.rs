//! Invoices, bank statements and receipts in languages beside English, German, French and Spanish, and forms of the
//! United States: their type, and the fields that every one of them has.

use bindery_fields::{
    DocTypes,
    classify::Classifier,
    extract::{self, Extraction, Sources, Templates},
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
    lay_out(&lines, words.title, 595.0)
}

/// A page of lines, each with texts that begin at some place.
fn lay_out(lines: &[Vec<(f32, String)>], title: &str, width: f32) -> Page {
    let mut page = Page::converted(1);
    page.size = Some(Size { width, height: 842.0 });
    page.read_by = ReadBy::Embedded;
    for (row, texts) in lines.iter().enumerate() {
        let text = texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ");
        let text = Inlines::plain(text);
        let is_title = texts.first().is_some_and(|(_, text)| text == title);
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
        let found = extract::extract(doctype, &[page], &Sources { attachments: &[], templates: &templates });
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

#[test]
fn credit_notes_of_seven_more_languages_are_read() {
    let notes = [
        ["Nota di credito", "Nota di credito n°:", "Data:", "Totale da pagare"],
        ["Creditnota", "Creditnotanummer:", "Factuurdatum:", "Totaal incl. btw"],
        ["Nota de crédito", "Nota de crédito n.º:", "Data de emissão:", "Total a pagar"],
        ["Faktura korygująca", "Numer faktury korygującej:", "Data wystawienia:", "Razem brutto"],
        ["Kreditnota", "Kreditnotanummer:", "Fakturadatum:", "Summa att betala"],
        ["Kreditnota", "Kreditnota nr.:", "Fakturadato:", "Beløb i alt"],
        ["Dobropis", "Číslo dobropisu:", "Datum vystavení:", "Celkem k úhradě"],
    ];
    let types = DocTypes::shipped().expect("the shipped types are good");
    let (classifier, templates) = (Classifier::new(&types), Templates::default());
    let mut wrong = Vec::new();
    for [title, number, date, total] in notes {
        let line = |label: &str, value: &str| vec![(50.0, label.to_owned()), (250.0, value.to_owned())];
        let lines = vec![
            vec![(50.0, "Birch Paper Ltd".to_owned())],
            vec![(50.0, title.to_owned())],
            line(number, "CN-2026-17"),
            line(date, "13.02.2026"),
            line(total, "-120,00 EUR"),
        ];
        let page = lay_out(&lines, title, 595.0);
        let class = classifier.classify(&page);
        let doctype = types.get("credit_note").expect("a shipped type");
        let found = extract::extract(doctype, &[page], &Sources { attachments: &[], templates: &templates });
        let read = ["number", "issue_date", "grand_total"].map(|field| value(&found, field));
        if &*class.doctype != "credit_note" || read != ["CN-2026-17", "2026-02-13", "-120.00"] {
            wrong.push((title, class.doctype.to_string(), class.confidence, format!("{read:?}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Words of a bank statement: title, number of the account, first and last balance, five headings, currency.
struct StatementWords {
    language: &'static str,
    title: &'static str,
    account: &'static str,
    balances: [&'static str; 2],
    headings: [&'static str; 5],
    currency: &'static str,
}

const STATEMENTS: &[StatementWords] = &[
    StatementWords {
        language: "it",
        title: "Estratto conto",
        account: "Numero conto:",
        balances: ["Saldo iniziale", "Saldo finale"],
        headings: ["Data", "Descrizione", "Addebiti", "Accrediti", "Saldo"],
        currency: "EUR",
    },
    StatementWords {
        language: "nl",
        title: "Rekeningafschrift",
        account: "Rekeningnummer:",
        balances: ["Beginsaldo", "Eindsaldo"],
        headings: ["Datum", "Omschrijving", "Af", "Bij", "Saldo"],
        currency: "EUR",
    },
    StatementWords {
        language: "pt",
        title: "Extrato bancário",
        account: "Número da conta:",
        balances: ["Saldo inicial", "Saldo final"],
        headings: ["Data", "Descrição", "Débito", "Crédito", "Saldo"],
        currency: "EUR",
    },
    StatementWords {
        language: "pl",
        title: "Wyciąg bankowy",
        account: "Numer rachunku:",
        balances: ["Saldo początkowe", "Saldo końcowe"],
        headings: ["Data", "Opis operacji", "Obciążenia", "Uznania", "Saldo"],
        currency: "PLN",
    },
    StatementWords {
        language: "sv",
        title: "Kontoutdrag",
        account: "Kontonummer:",
        balances: ["Ingående saldo", "Utgående saldo"],
        headings: ["Datum", "Beskrivning", "Uttag", "Insättningar", "Saldo"],
        currency: "SEK",
    },
    StatementWords {
        language: "da",
        title: "Kontoudskrift",
        account: "Kontonummer:",
        balances: ["Saldo primo", "Saldo ultimo"],
        headings: ["Dato", "Tekst", "Hævet", "Indsat", "Saldo"],
        currency: "DKK",
    },
    StatementWords {
        language: "cs",
        title: "Výpis z účtu",
        account: "Číslo účtu:",
        balances: ["Počáteční zůstatek", "Konečný zůstatek"],
        headings: ["Datum", "Popis", "Na vrub", "Ve prospěch", "Zůstatek"],
        currency: "CZK",
    },
];

fn statement(words: &StatementWords) -> Page {
    let own = str::to_owned;
    let [date, text, debit, credit, balance] = words.headings;
    let [opening, closing] = words.balances;
    let columns = [40.0, 120.0, 300.0, 390.0, 490.0];
    let row = |texts: [&str; 5]| -> Vec<(f32, String)> {
        columns.into_iter().zip(texts).filter(|(_, text)| !text.is_empty()).map(|(x, text)| (x, own(text))).collect()
    };
    let lines = vec![
        vec![(40.0, own("Harjula Bank AB"))],
        vec![],
        vec![(40.0, own(words.title))],
        vec![],
        vec![(40.0, own(words.account)), (200.0, own("4455667788"))],
        vec![(40.0, own(opening)), (470.0, format!("1.000,00 {}", words.currency))],
        vec![],
        row([date, text, debit, credit, balance]),
        row(["03.02.2026", "Harbour Books", "40,00", "", "960,00"]),
        row(["05.02.2026", "Mill Lane Studio", "", "250,00", "1.210,00"]),
        row(["09.02.2026", "Castle Garage", "110,00", "", "1.100,00"]),
        vec![],
        vec![(40.0, own(closing)), (470.0, format!("1.100,00 {}", words.currency))],
    ];
    lay_out(&lines, words.title, 595.0)
}

#[test]
fn bank_statements_of_seven_more_languages_are_read() {
    let types = DocTypes::shipped().expect("the shipped types are good");
    let classifier = Classifier::new(&types);
    let templates = Templates::default();
    let mut wrong = Vec::new();
    for words in STATEMENTS {
        let page = statement(words);
        let class = classifier.classify(&page);
        let doctype = types.get("bank_statement").expect("a shipped type");
        let found = extract::extract(doctype, &[page], &Sources { attachments: &[], templates: &templates });
        let read =
            ["account_number", "opening_balance", "closing_balance", "currency"].map(|field| value(&found, field));
        let cells = |column: &str| -> Vec<String> {
            let rows = found.rows.get("transactions").into_iter().flatten();
            rows.filter_map(|row| Some(row.cells.get(column)?.normalised.clone())).collect()
        };
        let columns = (cells("debit"), cells("credit"), cells("balance").len());
        let wanted = (vec!["40.00".to_owned(), "110.00".to_owned()], vec!["250.00".to_owned()], 3);
        let is_right = read == ["4455667788", "1000.00", "1100.00", words.currency] && columns == wanted;
        if &*class.doctype != "bank_statement" || class.confidence < 0.8 || !is_right {
            let read = format!("{read:?} {columns:?}");
            wrong.push((words.language, class.doctype.to_string(), class.confidence, read));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Language, title, number of the slip, total, cash, change, thanks.
const RECEIPTS: &[[&str; 7]] = &[
    ["it", "Scontrino", "Scontrino n.", "Totale", "Contanti", "Resto", "Grazie e arrivederci"],
    ["nl", "Kassabon", "Bonnummer", "Totaal", "Contant", "Wisselgeld", "Bedankt voor uw bezoek"],
    ["pt", "Fatura simplificada", "Talão n.º", "Total a pagar", "Numerário", "Troco", "Obrigado pela sua visita"],
    ["pl", "Paragon fiskalny", "Nr paragonu", "Suma PLN", "Gotówka", "Reszta", "Dziękujemy za zakupy"],
    ["sv", "Kvitto", "Kvittonr", "Att betala", "Kontant", "Växel", "Välkommen åter"],
    ["da", "Kvittering", "Bonnr", "I alt", "Kontant", "Byttepenge", "Tak for besøget"],
    ["cs", "Účtenka", "Číslo účtenky", "Celkem", "Hotovost", "Vráceno", "Děkujeme za nákup"],
];

fn receipt([_, title, number, total, cash, change, thanks]: &[&str; 7]) -> Page {
    let pair = |name: &str, amount: &str| vec![(10.0, name.to_owned()), (170.0, amount.to_owned())];
    let lines = vec![
        vec![(10.0, "Harjula Paper AB".to_owned())],
        vec![(10.0, "Kastanjelaan 4".to_owned())],
        vec![],
        vec![(10.0, (*title).to_owned())],
        vec![(10.0, format!("{number} 004711"))],
        vec![(10.0, "03.02.2026 14:05".to_owned())],
        vec![],
        pair("A4 80 g", "12,50"),
        pair("A3 80 g", "7,40"),
        vec![],
        pair(total, "19,90"),
        pair(cash, "50,00"),
        pair(change, "30,10"),
        vec![],
        vec![(10.0, (*thanks).to_owned())],
    ];
    lay_out(&lines, title, 226.0)
}

#[test]
fn receipts_of_seven_more_languages_are_read() {
    let types = DocTypes::shipped().expect("the shipped types are good");
    let classifier = Classifier::new(&types);
    let templates = Templates::default();
    let mut wrong = Vec::new();
    for words in RECEIPTS {
        let page = receipt(words);
        let class = classifier.classify(&page);
        let doctype = types.get("receipt").expect("a shipped type");
        let found = extract::extract(doctype, &[page], &Sources { attachments: &[], templates: &templates });
        let read = ["number", "date", "grand_total"].map(|field| value(&found, field));
        if &*class.doctype != "receipt" || class.confidence < 0.8 || read != ["004711", "2026-02-03", "19.90"] {
            wrong.push((words[0], class.doctype.to_string(), class.confidence, format!("{read:?}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn forms_of_the_united_states_are_forms() {
    let types = DocTypes::shipped().expect("the shipped types are good");
    let classifier = Classifier::new(&types);
    let papers: [&[&str]; 3] = [
        &[
            "Certificate of Exempt Status",
            "Form 4411-X (Rev. March 2024)    Department of the Treasury    Internal Revenue Service",
            "OMB No. 1545-9999",
            "Print or type. See instructions on page 3.",
            "1 Name of entity or individual",
            "2 Business name, if different from above",
            "3 Employer identification number",
            "Under penalties of perjury, I certify that the number shown is correct.",
            "Sign Here    Signature    Date",
        ],
        &[
            "Change of Beneficiary",
            "Form Approved    OMB Control Number 3206-9999",
            "Type or print in black ink. Do not write in this space.",
            "Last name    First name    Date of birth",
            "Social Security Number",
            "Street    City    Zip code",
            "Privacy Act Statement",
            "Signature    Date",
        ],
        &[
            "Petition for a Relative",
            "OMB No. 1615-9999    Expires 12/31/2027",
            "Type or print in black ink.",
            "Alien Registration Number",
            "Last name    First name    Telephone",
            "Paperwork Reduction Act",
            "Under penalty of perjury, I declare that this is true.",
            "Signature    Date",
        ],
    ];
    for paper in papers {
        let lines: Vec<Vec<(f32, String)>> = paper
            .iter()
            .map(|line| line.split("    ").zip([40.0, 240.0, 420.0]).map(|(text, x)| (x, text.to_owned())).collect())
            .collect();
        let class = classifier.classify(&lay_out(&lines, paper[0], 612.0));
        assert_eq!(&*class.doctype, "form", "{}: {:?}", paper[0], class.runners_up);
    }
}
