//! Papers of markup: pages without boxes, whose blocks and cells are all that is known of their layout.

mod made_page;

use bindery_fields::{DocTypes, extract::Extraction};
use bindery_reader::{ReadOptions, Reader};

/// The fields of an HTML invoice, as the reader hands it on.
fn read(html: &str) -> Extraction {
    let reader = Reader::new(ReadOptions::default(), None);
    let file = reader.open(html.as_bytes().to_vec(), Some("invoice.html")).expect("an HTML file");
    let page = reader.read_page(&*file, 0).expect("a page");
    let types = DocTypes::shipped().expect("the shipped types are good");
    made_page::read(types.get("invoice").expect("a shipped type"), page)
}

fn value<'e>(found: &'e Extraction, field: &str) -> Option<&'e str> {
    found.fields.get(field).map(|value| value.normalised.as_str())
}

#[test]
fn amounts_that_markup_alone_parts_from_their_labels_are_read() {
    let found = read(
        "<h2>INVOICE</h2><p>Fernhill Joinery Ltd</p><p>Invoice number: INV-4711</p><p>Invoice date: 14 March 2026</p>\
         <div><span>Subtotal</span><span>£400.00</span></div><div><span>VAT (20%)</span><span>£80.00</span></div>\
         <div><span>Total</span><span>£480.00</span></div>",
    );
    assert_eq!(value(&found, "net_total"), Some("400.00"));
    assert_eq!(value(&found, "tax_total"), Some("80.00"));
    assert_eq!(value(&found, "grand_total"), Some("480.00"));
    assert!(found.needs_review.is_empty(), "{:?}", found.needs_review);
}

#[test]
fn what_follows_an_address_in_a_table_of_its_own_is_not_the_partys() {
    let found = read(
        "<div>Fernhill Joinery Ltd</div><div>12 Mill Lane</div><div>York YO1 7HB</div><h1>Invoice</h1>\
         <table><tr><td><b>Bill to</b><br>Harbour Books Ltd<br>9 Castle Street<br>Leeds LS2 8JR</td><td><table>\
         <tr><td>Invoice no.</td><td>INV-4711</td></tr><tr><td>Invoice date</td><td>14 March 2026</td></tr></table></td></tr>\
         </table><table><tr><th>Description</th><th>Qty</th><th>Unit price</th><th>Amount</th></tr>\
         <tr><td>Oak shelf</td><td>2</td><td>£120.00</td><td>£240.00</td></tr>\
         <tr><td>Fitting</td><td>1</td><td>£160.00</td><td>£160.00</td></tr></table>\
         <table><tr><td>Subtotal</td><td>£400.00</td></tr><tr><td>VAT 20%</td><td>£80.00</td></tr>\
         <tr><td>Total due</td><td>£480.00</td></tr></table>",
    );
    let number = &found.fields["number"];
    assert_eq!(number.normalised, "INV-4711");
    assert!(number.confidence >= 0.75, "{number:?}");
    assert_eq!(value(&found, "buyer"), Some("Harbour Books Ltd"));
    assert_eq!(value(&found, "grand_total"), Some("480.00"));
    assert!(found.needs_review.is_empty(), "{:?}", found.needs_review);
}

#[test]
fn numbers_above_a_list_head_none_of_its_columns() {
    let found = read(
        "<p><b>Rechnung</b></p><p>Nordwind Papier GmbH · Kaistraße 1 · 24103 Kiel</p><p>Rechnungsnummer: <b>2026-0117</b><br>\
         Rechnungsdatum: <b>14.03.2026</b><br>Kundennummer: <b>10042</b></p><table><tr><td>Pos</td><td>Bezeichnung</td>\
         <td>Menge</td><td>Einzelpreis</td><td>Gesamt</td></tr><tr><td>1</td><td>Papier A4</td><td>10</td><td>4,50 €</td>\
         <td>45,00 €</td></tr><tr><td>2</td><td>Umschläge</td><td>5</td><td>11,00 €</td><td>55,00 €</td></tr></table>\
         <p>Nettobetrag: 100,00 €</p><p>MwSt 19 %: 19,00 €</p><p>Gesamtbetrag: 119,00 €</p>",
    );
    let cells = |name: &str| -> Vec<&str> {
        found.rows["line_items"]
            .iter()
            .map(|row| row.cells.get(name).map_or("", |cell| cell.normalised.as_str()))
            .collect()
    };
    assert_eq!(cells("description"), ["Papier A4", "Umschläge"]);
    assert_eq!((cells("position"), cells("amount")), (vec!["1", "2"], vec!["45.00", "55.00"]));
    assert_eq!(value(&found, "number"), Some("2026-0117"));
}

/// An HTML invoice, the fields that it states and the amounts of its rows.
type MadeInvoice<'p> = (&'p str, &'p [(&'p str, &'p str)], &'p [&'p str]);

/// HTML invoices as shops and web tools write them: tables of labels, lists of definitions, nested tables, no table at all.
#[test]
fn html_invoices_of_several_countries_are_read() {
    let papers: &[MadeInvoice<'_>] = &[
        (
            "<h1>FATTURA</h1><p>Officine Riva S.r.l.<br>Via Roma 12<br>20121 Milano<br>P.IVA IT00743110157</p>\
             <table><tr><td>Fattura n.</td><td>2026/118</td></tr><tr><td>Data</td><td>14/03/2026</td></tr></table>\
             <p>Cliente:<br>Libreria Porto S.p.A.<br>Corso Garibaldi 3<br>16121 Genova</p>\
             <table><thead><tr><th>Descrizione</th><th>Quantità</th><th>Prezzo unitario</th><th>Importo</th></tr></thead><tbody>\
             <tr><td>Mensola in rovere</td><td>2</td><td>120,00 €</td><td>240,00 €</td></tr>\
             <tr><td>Montaggio</td><td>1</td><td>160,00 €</td><td>160,00 €</td></tr></tbody></table>\
             <table><tr><td>Imponibile</td><td>400,00 €</td></tr><tr><td>IVA 22%</td><td>88,00 €</td></tr>\
             <tr><td>Totale fattura</td><td>488,00 €</td></tr></table>",
            &[
                ("number", "2026/118"),
                ("issue_date", "2026-03-14"),
                ("net_total", "400.00"),
                ("tax_total", "88.00"),
                ("grand_total", "488.00"),
            ],
            &["240.00", "160.00"],
        ),
        (
            "<div><strong>Noordkade Papier B.V.</strong><br>Kade 14<br>1011 AB Amsterdam</div><h2>Factuur</h2>\
             <dl><dt>Factuurnummer</dt><dd>F-20260117</dd><dt>Factuurdatum</dt><dd>14 maart 2026</dd><dt>Vervaldatum</dt><dd>28 maart 2026</dd></dl>\
             <table><tr><th>Omschrijving</th><th>Aantal</th><th>Prijs</th><th>Bedrag</th></tr>\
             <tr><td>Papier A4</td><td>10</td><td>€ 4,50</td><td>€ 45,00</td></tr>\
             <tr><td>Enveloppen</td><td>5</td><td>€ 11,00</td><td>€ 55,00</td></tr></table>\
             <p>Subtotaal: € 100,00<br>BTW 21%: € 21,00<br>Totaal: € 121,00</p>",
            &[
                ("number", "F-20260117"),
                ("issue_date", "2026-03-14"),
                ("due_date", "2026-03-28"),
                ("grand_total", "121.00"),
            ],
            &["45.00", "55.00"],
        ),
        (
            "<p>Papier Północ Sp. z o.o.<br>ul. Portowa 14<br>80-001 Gdańsk</p><h1>Faktura VAT</h1>\
             <p>Numer faktury: FV/17/2026</p><p>Data wystawienia: 14.03.2026</p>\
             <table><tr><td>Nazwa</td><td>Ilość</td><td>Cena</td><td>Wartość</td></tr>\
             <tr><td>Papier A4</td><td>10</td><td>4,50</td><td>45,00</td></tr>\
             <tr><td>Koperty</td><td>5</td><td>11,00</td><td>55,00</td></tr></table>\
             <table><tr><td>Razem netto</td><td>100,00 zł</td></tr><tr><td>VAT 23%</td><td>23,00 zł</td></tr>\
             <tr><td>Razem brutto</td><td>123,00 zł</td></tr></table>",
            &[("number", "FV/17/2026"), ("issue_date", "2026-03-14"), ("grand_total", "123.00"), ("currency", "PLN")],
            &["45.00", "55.00"],
        ),
        (
            "<table><tr><td><b>Harbor Press LLC</b><br>12 Elm Street<br>Springfield, IL 62704</td><td><h1>INVOICE</h1>\
             <table><tr><td>Invoice #</td><td>1047</td></tr><tr><td>Invoice Date</td><td>03/04/2026</td></tr>\
             <tr><td>Due Date</td><td>04/03/2026</td></tr></table></td></tr></table>\
             <table><tr><th>Item</th><th>Qty</th><th>Rate</th><th>Line total</th></tr>\
             <tr><td>Business cards</td><td>4</td><td>$25.00</td><td>$100.00</td></tr>\
             <tr><td>Flyers</td><td>2</td><td>$60.00</td><td>$120.00</td></tr></table>\
             <table><tr><td>Subtotal</td><td>$220.00</td></tr><tr><td>Sales tax (8%)</td><td>$17.60</td></tr>\
             <tr><td>Total</td><td>$237.60</td></tr><tr><td>Amount due</td><td>$237.60</td></tr></table>",
            &[("number", "1047"), ("issue_date", "2026-03-04"), ("due_date", "2026-04-03"), ("grand_total", "237.60")],
            &["100.00", "120.00"],
        ),
        (
            "<p>Papelaria do Cais, Lda<br>Rua do Porto 14<br>1100-001 Lisboa<br>NIF: PT501964843</p><h1>Fatura</h1>\
             <ul><li>Fatura n.º: FT 2026/17</li><li>Data: 14/03/2026</li></ul>\
             <table><tr><th>Descrição</th><th>Quantidade</th><th>Preço unitário</th><th>Valor</th></tr>\
             <tr><td>Papel A4</td><td>10</td><td>4,50 €</td><td>45,00 €</td></tr>\
             <tr><td>Envelopes</td><td>5</td><td>11,00 €</td><td>55,00 €</td></tr></table>\
             <p>Total líquido: 100,00 €</p><p>IVA (23%): 23,00 €</p><p>Total a pagar: 123,00 €</p>",
            &[("issue_date", "2026-03-14"), ("grand_total", "123.00")],
            &["45.00", "55.00"],
        ),
    ];
    let mut wrong: Vec<String> = Vec::new();
    for (html, wanted, amounts) in papers {
        let found = read(html);
        for (field, wanted) in *wanted {
            let read = value(&found, field);
            if read != Some(wanted) {
                wrong.push(format!("{field} {read:?} should be {wanted:?}"));
            }
        }
        let rows = found.rows.get("line_items").map_or(&[][..], Vec::as_slice);
        let read: Vec<&str> =
            rows.iter().map(|row| row.cells.get("amount").map_or("", |cell| cell.normalised.as_str())).collect();
        if read != *amounts {
            wrong.push(format!("amounts {read:?} should be {amounts:?}"));
        }
        if !found.needs_review.is_empty() {
            wrong.push(format!("flagged: {:?}", found.needs_review));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
