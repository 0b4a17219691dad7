//! Words that stand beside or above a value, and how a print of them is recognised.
//!
//! Labels are compared part by part after both sides were made plain: no case, no accents, no punctuation, every way to
//! write "number" is one, and German compounds are taken apart. So `Rechnungsnummer` in a schema also means
//! `Rechnungs-Nr.` and `RECHNUNG NR`, and `invoice number` also means `Invoice #`.

use bindery_core::fold::fold_letter;

/// A label of a schema. `…` stands for up to seven parts in between: `rechnung … vom`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// As written in the schema.
    pub text: String,
    parts: Vec<LabelPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LabelPart {
    Word(String),
    Gap,
}

/// How many parts a gap may take; a number with slashes has several: `93/00/M/00/N`.
const LONGEST_GAP: usize = 7;
const NUMBER: &str = "nr";
const NUMBER_WORDS: &[&str] = &["no", "nr", "num", "number", "numero", "nummer", "n", "nos"];
/// Ends of German compounds that are words of labels.
const COMPOUND_ENDS: &[&str] = &[
    "nummer",
    "nr",
    "datum",
    "betrag",
    "summe",
    "rechnung",
    "preis",
    "bezeichnung",
    "wahrung",
    "empfanger",
    "adresse",
];

impl Label {
    /// None if the text has no letter or digit at all.
    pub fn new(text: &str) -> Option<Self> {
        let parts: Vec<LabelPart> = text
            .split_whitespace()
            .flat_map(|word| if word == "…" || word == "..." { vec![LabelPart::Gap] } else { words(word) })
            .collect();
        let has_word = parts.iter().any(|part| matches!(part, LabelPart::Word(_)));
        let is_closed = !matches!(parts.last(), Some(LabelPart::Gap)) && !matches!(parts.first(), Some(LabelPart::Gap));
        (has_word && is_closed).then(|| Self { text: text.to_owned(), parts })
    }

    /// How many words it has.
    pub fn len(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part, LabelPart::Word(_))).count()
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether it means the same print as another, however both are written.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.parts == other.parts
    }

    /// Whether it names words that do not follow each other.
    pub(crate) fn has_gap(&self) -> bool {
        self.parts.contains(&LabelPart::Gap)
    }

    /// The first word, by which labels are looked up.
    pub(crate) fn first(&self) -> &str {
        match self.parts.first() {
            Some(LabelPart::Word(word)) => word,
            _ => "",
        }
    }

    /// How many of these parts it takes from their beginning, if it stands there.
    pub(crate) fn matches<'p>(&self, printed: impl Fn(usize) -> Option<&'p str>) -> Option<usize> {
        match_from(&self.parts, &printed, 0)
    }
}

fn match_from<'p>(parts: &[LabelPart], printed: &impl Fn(usize) -> Option<&'p str>, at: usize) -> Option<usize> {
    match parts.split_first() {
        None => Some(at),
        Some((LabelPart::Word(word), rest)) => {
            (printed(at) == Some(word.as_str())).then(|| match_from(rest, printed, at + 1)).flatten()
        }
        Some((LabelPart::Gap, rest)) => (0..=LONGEST_GAP)
            .take_while(|skipped| !skipped.checked_sub(1).and_then(|last| printed(at + last)).is_some_and(names_paper))
            .find_map(|skipped| match_from(rest, printed, at + skipped)),
    }
}

/// Whether a word names another paper, so that what follows is of that one: the date of "Rechnung zur Bestellung vom" is
/// the order's.
fn names_paper(word: &str) -> bool {
    const PAPERS: &[&str] = &[
        "order",
        "quote",
        "quotation",
        "contract",
        "agreement",
        "bestellung",
        "auftrag",
        "angebot",
        "vertrag",
        "lieferschein",
        "lieferung",
        "commande",
        "devis",
        "contrat",
        "livraison",
        "pedido",
        "presupuesto",
        "contrato",
        "albaran",
        "ordine",
        "offerta",
        "contratto",
        "bestelling",
        "offerte",
        "overeenkomst",
        "zamowienie",
        "umowa",
        "bestallning",
        "offert",
        "avtal",
        "ordre",
        "tilbud",
        "objednavka",
        "smlouva",
        "encomenda",
    ];
    PAPERS.contains(&word)
}

fn words(word: &str) -> Vec<LabelPart> {
    plain_parts(word).into_iter().map(LabelPart::Word).collect()
}

/// The comparable parts of one printed word.
pub(crate) fn plain_parts(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut current = String::new();
    for c in word.chars() {
        // "n.º" is one word, as "nº" is.
        let ends_number =
            matches!(c, 'º' | 'ª') && current.is_empty() && parts.last().is_some_and(|last| last == NUMBER);
        if ends_number {
            continue;
        }
        if c == '#' {
            close(&mut current, &mut parts);
            parts.push(NUMBER.to_owned());
        } else if c.is_alphanumeric() || c == '%' {
            fold(c, &mut current);
        } else {
            close(&mut current, &mut parts);
        }
    }
    close(&mut current, &mut parts);
    parts
}

fn close(current: &mut String, parts: &mut Vec<String>) {
    if current.is_empty() {
        return;
    }
    let mut word = std::mem::take(current);
    // No word begins with "ln"; OCR reads a capital I so: "lnvoice".
    if word.starts_with("ln") {
        word.replace_range(..1, "i");
    }
    if NUMBER_WORDS.contains(&&*word) {
        parts.push(NUMBER.to_owned());
        return;
    }
    for end in COMPOUND_ENDS {
        if let Some(start) = word.strip_suffix(end).filter(|start| start.len() >= 3 && start.is_ascii()) {
            parts.push(without_linking_letter(start));
            parts.push(if NUMBER_WORDS.contains(end) { NUMBER.to_owned() } else { (*end).to_owned() });
            return;
        }
    }
    parts.push(without_linking_letter(&word));
}

/// Without the letter that links German compounds: "rechnungs" is "rechnung".
fn without_linking_letter(word: &str) -> String {
    word.strip_suffix('s').filter(|start| start.ends_with("ung")).unwrap_or(word).to_owned()
}

/// Lower case without accents; a raised letter, as in "Nº", is the letter.
fn fold(c: char, into: &mut String) {
    match c {
        'ª' => into.push('a'),
        'º' => into.push('o'),
        other => fold_letter(other, into),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(label: &str, print: &str) -> bool {
        let parts: Vec<String> = print.split_whitespace().flat_map(plain_parts).collect();
        Label::new(label).unwrap().matches(|index| parts.get(index).map(String::as_str)) == Some(parts.len())
    }

    #[test]
    fn one_label_stands_for_all_the_ways_to_print_it() {
        for print in ["Rechnungsnummer", "Rechnungs-Nr.:", "RECHNUNG NR", "Rechnung #", "RechnungsNr"] {
            assert!(fits("Rechnungsnummer", print), "{print}");
        }
        for print in ["Fatura n.º:", "Fatura nº", "FATURA N.º"] {
            assert!(fits("fatura n.º", print), "{print}");
        }
        for print in ["Invoice No.", "INVOICE NUMBER:", "invoice #"] {
            assert!(fits("invoice number", print), "{print}");
        }
        for print in ["N° de facture", "Nº DE FACTURE", "Numéro de facture"] {
            assert!(fits("numéro de facture", print), "{print}");
        }
        assert!(!fits("invoice date", "Invoice No."));
    }

    #[test]
    fn a_gap_takes_a_few_parts_and_no_more() {
        assert!(fits("rechnung … vom", "Rechnung # RE-20140522/501 vom"));
        assert!(fits("rechnung … vom", "Rechnung vom"));
        assert!(!fits("rechnung … vom", "Rechnung a b c d e f g h vom"));
        // The date is the order's.
        assert!(!fits("rechnung … vom", "Rechnung gemäß Bestellung vom"));
        assert!(!fits("invoice … of", "Invoice for your order of"));
    }

    #[test]
    fn a_label_without_words_is_none() {
        assert_eq!(Label::new("…"), None);
        assert_eq!(Label::new(" - "), None);
    }
}
