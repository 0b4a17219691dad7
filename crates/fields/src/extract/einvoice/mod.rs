//! Invoices for machines that come inside a file: ZUGFeRD, Factur-X and XRechnung (UN/CEFACT CII) and UBL 2.1.
//!
//! Their values are exact. Each comes with the path of its element, so that a person can look it up.

mod paths;
mod xml;

use super::{
    extraction::{Row, RowCell},
    schema::Column,
};
use bindery_reader::{Attachment, model::FileType};
use std::collections::BTreeMap;
use xml::Element;

/// Fields of this name hold the lines of an e-invoice.
pub(super) const LINE_FIELDS: &[&str] = &["line_items"];

/// What an e-invoice states, by the names that the shipped schemas use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EInvoice {
    /// "CII" or "UBL".
    pub format: &'static str,
    /// The shipped type of document that it is: "invoice" or "credit_note".
    pub doctype: &'static str,
    pub values: BTreeMap<&'static str, Stated>,
    /// Cells by column, for each line.
    pub lines: Vec<BTreeMap<&'static str, Stated>>,
}

/// A value and the element that states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    pub text: String,
    pub path: String,
}

/// Reads an attachment that is an e-invoice. None if it is something else; an error if it should be one and is broken.
pub fn read(attachment: &Attachment) -> Option<Result<EInvoice, String>> {
    let is_named = attachment.name.to_lowercase().ends_with(".xml");
    let is_typed = attachment
        .media_type
        .as_deref()
        .is_some_and(|media| media == FileType::Xml.media_type() || media == "text/xml");
    if !is_named && !is_typed {
        return None;
    }
    match xml::parse(&attachment.bytes) {
        Ok(root) => from_root(&root).map(Ok),
        Err(problem) => {
            let said = format!("the attached {} cannot be used: {problem}", attachment.name);
            looks_like_one(attachment).then_some(Err(said))
        }
    }
}

fn looks_like_one(attachment: &Attachment) -> bool {
    let start = String::from_utf8_lossy(&attachment.bytes[..attachment.bytes.len().min(4096)]);
    ["CrossIndustry", "ubl:schema", "factur-x", "zugferd"].iter().any(|word| start.contains(word))
}

fn from_root(root: &Element) -> Option<EInvoice> {
    let dialect = match root.name.as_str() {
        "CrossIndustryInvoice" | "CrossIndustryDocument" => &paths::CII,
        "Invoice" | "CreditNote" => &paths::UBL,
        _ => return None,
    };
    let values = dialect.values.iter().filter_map(|(name, path)| Some((*name, stated_value(root, path)?)));
    let mut values: BTreeMap<&'static str, Stated> = values.collect();
    for (name, path) in dialect.addresses {
        if let Some(address) = root.find(path).and_then(|address| postal(address, dialect.address_parts)) {
            values.insert(name, Stated { text: address, path: display_path(path) });
        }
    }
    let lines = root.all(dialect.line).into_iter().map(|line| {
        let cells = dialect.cells.iter().filter_map(|(name, path)| Some((*name, stated_value(line, path)?)));
        cells.collect::<BTreeMap<_, _>>()
    });
    let lines = lines.filter(|cells| !cells.is_empty()).collect();
    // Any invoice has a number; another document with such a root has none where it is looked for.
    values.contains_key("number").then(|| EInvoice { format: dialect.name, doctype: doctype(root), values, lines })
}

/// Codes of UNTDID 1001 that mean a credit note.
const CREDIT_NOTES: &[&str] = &["81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "532"];

fn doctype(root: &Element) -> &'static str {
    let code = root.find("ExchangedDocument|HeaderExchangedDocument/TypeCode");
    let is_credit = root.name == "CreditNote" || code.is_some_and(|code| CREDIT_NOTES.contains(&code.text.trim()));
    if is_credit { "credit_note" } else { "invoice" }
}

/// The one e-invoice among these files; None if there is none, or if they state different invoices.
pub fn only_invoice(attachments: &[Attachment]) -> Option<EInvoice> {
    let mut all = attachments.iter().filter_map(read).filter_map(Result::ok);
    let first = all.next()?;
    // The same invoice may be there in two formats.
    all.all(|other| other.values.get("number").map(|own| &own.text) == first.values.get("number").map(|own| &own.text))
        .then_some(first)
}

/// The first of several paths, parted by spaces, that holds a text.
fn stated_value(root: &Element, paths: &str) -> Option<Stated> {
    paths.split(' ').find_map(|path| {
        let text = root
            .all(path)
            .into_iter()
            .map(|element| element.text.split_whitespace().collect::<Vec<_>>().join(" "))
            .find(|text| !text.is_empty())?;
        Some(Stated { text, path: display_path(path) })
    })
}

/// A path as people write it: the newest of several names.
fn display_path(path: &str) -> String {
    path.split('/').map(|step| step.split('|').next().unwrap_or(step)).collect::<Vec<_>>().join("/")
}

fn postal(address: &Element, parts: &[&[&str]]) -> Option<String> {
    let lines: Vec<String> = parts
        .iter()
        .map(|line| {
            line.iter()
                .filter_map(|part| address.find(part))
                .map(|element| element.text.as_str())
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .filter(|line| !line.is_empty())
        .collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

impl EInvoice {
    /// The lines, with the cells that a schema has columns for.
    pub fn rows(&self, columns: &[Column]) -> Vec<Row> {
        let rows = self.lines.iter().map(|line| {
            let cells = columns.iter().filter_map(|column| {
                let stated = line.get(column.name.as_str())?;
                let parsed = super::parse_as(column.kind, &stated.text, &super::value::Habits::default())?;
                Some((
                    column.name.clone(),
                    RowCell { value: stated.text.clone(), normalised: parsed.normalised, bbox: None, entered_by: None },
                ))
            });
            Row { page: None, cells: cells.collect(), doubts: Vec::new() }
        });
        rows.filter(|row: &Row| !row.cells.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachment(text: &str) -> Attachment {
        Attachment { name: "factur-x.xml".to_owned(), media_type: None, bytes: text.as_bytes().to_vec() }
    }

    const UBL: &str = r#"<?xml version="1.0"?><Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:cbc="c" xmlns:cac="a">
      <cbc:ID>A &amp; 1</cbc:ID><cbc:IssueDate>2024-02-03</cbc:IssueDate><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
      <cac:AccountingSupplierParty><cac:Party><cac:PartyName><cbc:Name>Sample Ltd</cbc:Name></cac:PartyName>
      <cac:PostalAddress><cbc:StreetName>High Street 1</cbc:StreetName><cbc:CityName>Leeds</cbc:CityName><cbc:PostalZone>LS1 4AP</cbc:PostalZone></cac:PostalAddress>
      </cac:Party></cac:AccountingSupplierParty>
      <cac:LegalMonetaryTotal><cbc:TaxInclusiveAmount currencyID="EUR">119.00</cbc:TaxInclusiveAmount></cac:LegalMonetaryTotal>
      <cac:InvoiceLine><cbc:ID>1</cbc:ID><cbc:InvoicedQuantity>2</cbc:InvoicedQuantity><cac:Item><cbc:Name>Paper</cbc:Name></cac:Item></cac:InvoiceLine></Invoice>"#;

    #[test]
    fn ubl_is_read_with_paths() {
        let invoice = read(&attachment(UBL)).unwrap().unwrap();
        assert_eq!(invoice.format, "UBL");
        assert_eq!(invoice.values["number"].text, "A & 1");
        assert_eq!(invoice.values["seller"].text, "Sample Ltd");
        assert_eq!(invoice.values["seller_address"].text, "High Street 1, LS1 4AP Leeds");
        assert_eq!(
            invoice.values["grand_total"],
            Stated { text: "119.00".to_owned(), path: "LegalMonetaryTotal/TaxInclusiveAmount".to_owned() }
        );
        assert_eq!(invoice.lines[0]["description"].text, "Paper");
    }

    #[test]
    fn a_file_states_one_invoice_however_often_it_is_attached() {
        let credit = UBL.replace("Invoice xmlns", "CreditNote xmlns").replace("</Invoice>", "</CreditNote>");
        assert_eq!(only_invoice(&[attachment(UBL), attachment("<rss/>")]).map(|one| one.doctype), Some("invoice"));
        assert_eq!(only_invoice(&[attachment(&credit)]).map(|one| one.doctype), Some("credit_note"));
        assert!(only_invoice(&[attachment(UBL), attachment(UBL)]).is_some());
        assert_eq!(only_invoice(&[attachment(UBL), attachment(&UBL.replace("A &amp; 1", "A 2"))]), None);
        assert_eq!(only_invoice(&[]), None);
    }

    #[test]
    fn entities_and_document_types_are_refused() {
        let bomb = r#"<!DOCTYPE x [<!ENTITY a "b">]><CrossIndustryInvoice>&a;</CrossIndustryInvoice>"#;
        let problem = read(&attachment(bomb)).unwrap().unwrap_err();
        assert_eq!(problem, "the attached factur-x.xml cannot be used: it declares a document type, which is not read");
        let entity = "<CrossIndustryInvoice>&a;</CrossIndustryInvoice>";
        assert!(read(&attachment(entity)).unwrap().unwrap_err().contains("the entity &a;"));
        let deep = "<CrossIndustryInvoice>".to_owned() + &"<a>".repeat(100_000);
        assert!(read(&attachment(&deep)).unwrap().is_err());
    }

    #[test]
    fn other_xml_is_no_einvoice() {
        assert_eq!(read(&attachment("<rss><channel/></rss>")), None);
        assert_eq!(read(&attachment("no xml at all")), None);
    }
}
