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
