//! The two parties that the opening sentence of a contract names: "by and between … and …", "Parties: … (Employee) …"; and
//! those of contracts that one party signs or that are written as letters, which give a party a name of its own: "Birch
//! Paper, Inc., a Delaware corporation (the “Company”)".

use crate::extract::{
    sheet::{Line, Sheet},
    value::address,
};
use std::ops::Range;

/// A party as the sentence names it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProseParty {
    pub text: String,
    pub spans: Vec<Range<usize>>,
    /// Why it may be no whole party, or not the only one.
    pub doubt: Option<String>,
}

/// Words that announce the parties, and those between the two.
const BETWEEN: &[&str] = &["between", "among", "zwischen", "entre", "tra", "tussen"];
/// The same as a label, with a colon.
const PARTIES: &[&str] = &["parties:", "parteien:", "partes:"];
const AND: &[&str] = &["and", "und", "et", "y", "e", "en"];
/// Words that go on with what a party is, not with its name.
const DESCRIPTIONS: &[&str] = &[
    "a",
    "an",
    "having",
    "located",
    "with",
    "whose",
    "its",
    "organized",
    "incorporated",
    "acting",
    "on",
    "as",
    "residing",
    "herein",
    "hereinafter",
    "including",
    "mit",
    "vertreten",
    "ayant",
    "dont",
    "con",
    "represented",
    "which",
    "who",
    "at",
    "individually",
    "effective",
    "dated",
    "geb",
    "wohnhaft",
    "domicilié",
];
/// Words in small letters that stand within names.
const WITHIN: &[&str] = &[
    "of", "the", "for", "de", "la", "le", "les", "du", "des", "sur", "sous", "van", "von", "der", "den", "am", "im",
    "an", "zum", "zur", "bei", "auf", "del", "el", "los", "las", "do", "da", "dos", "das", "aan", "op", "het", "&",
    "and", "y", "et", "und", "e", "og", "och", "di", "d/b/a",
];
/// Openings that name nobody.
const NOBODY: &[&str] =
    &["the parties", "the company", "you", "us", "the undersigned", "the following", "them", "me", "company"];
/// The parties stand in the first sentences, and each is described in no more words than this.
const LAST_LINE: usize = 70;
const LONGEST_NAME: usize = 12;
const LONGEST_DESCRIPTION: usize = 90;

struct ProseWords<'s> {
    sheet: &'s Sheet,
    end: usize,
}

impl ProseWords<'_> {
    fn text(&self, at: usize) -> Option<&str> {
        (at < self.end).then(|| self.sheet.tokens[at].text.as_str())
    }

    fn plain(&self, at: usize) -> String {
        self.text(at).unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric() && c != '&').to_lowercase()
    }
}

/// The opening sentence of a contract.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opening {
    pub first: ProseParty,
    /// None where it is left blank.
    pub second: Option<ProseParty>,
    /// The words before the parties, where the day stands: "This Agreement is made this 1st day of February, 2011, by and".
    pub before: Range<usize>,
}

/// How many words before the parties belong to the same sentence, at most.
const LONGEST_BEFORE: usize = 40;

/// The opening sentence, with both parties or the first alone.
pub(crate) fn opening(sheet: &Sheet) -> Option<Opening> {
    let last = sheet.lines.get(LAST_LINE.min(sheet.lines.len()).checked_sub(1)?)?;
    let words = ProseWords { sheet, end: last.tokens.end };
    let announces = |at: &usize| {
        BETWEEN.contains(&words.plain(*at).as_str())
            || words.text(*at).is_some_and(|text| PARTIES.contains(&text.to_lowercase().as_str()))
    };
    (0..words.end).filter(announces).find_map(|at| {
        let first = name_at(&words, at + 1)?;
        let in_block =
            || block_party(&words, &first).filter(|_| words.text(at).is_some_and(|text| text.ends_with(':')));
        let second = in_block().or_else(|| next_party(&words, first.end).and_then(|start| name_at(&words, start)));
        // "between January and March" is no opening: names have a legal form or several words.
        let has_form = |name: &Range<usize>| address::has_legal_form(&sheet.quote(name));
        let is_opening = match &second {
            Some(second) => [&first, second].into_iter().all(|name| has_form(name) || name.len() >= 2),
            None => has_form(&first),
        };
        let before = at.saturating_sub(LONGEST_BEFORE)..at;
        let third = second.as_ref().and_then(|second| {
            listed_party(&words, &(first.end..second.start)).or_else(|| third_party(&words, second.end))
        });
        is_opening.then(|| {
            let mut second = second.map(|second| party(sheet, second));
            if let (Some(second), Some(third)) = (&mut second, third) {
                second.doubt = Some(format!("{} is named as a party, too", sheet.quote(&third)));
            }
            Opening { first: party(sheet, first), second, before }
        })
    })
}

/// The words of a name that begins here.
fn name_at(words: &ProseWords<'_>, start: usize) -> Option<Range<usize>> {
    let mut start = start;
    // "between: (1) …"
    while words.text(start).is_some_and(|text| !text.chars().any(char::is_alphabetic)) && start < words.end {
        start += 1;
    }
    let opening = format!("{} {}", words.plain(start), words.plain(start + 1));
    if NOBODY.iter().any(|nobody| *nobody == opening || *nobody == words.plain(start)) {
        return None;
    }
    let mut end = start;
    while let Some(text) = words.text(end) {
        let plain = words.plain(end);
        let has_name = end > start;
        let is_capital =
            text.trim_start_matches(['“', '"', '*']).starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let is_within = WITHIN.contains(&plain.as_str());
        if text.starts_with(['(', '“', '"', '[']) && has_name {
            break;
        }
        if AND.contains(&plain.as_str()) && has_name {
            // "Smith and Sons Ltd" goes on; "Bank of Logan and Peter Miller" ends.
            let so_far = words.sheet.quote(&(start..end));
            let ahead = end + 1..(end + 4).min(words.end);
            let is_joined = !address::has_legal_form(&so_far)
                && ahead
                    .into_iter()
                    .any(|next| address::has_legal_form(&format!("X {}", words.text(next).unwrap_or_default())));
            if !is_joined {
                break;
            }
        } else if !is_capital && (DESCRIPTIONS.contains(&plain.as_str()) || !is_within) {
            break;
        }
        end += 1;
        let ends_clause = text.ends_with([',', ';', ':']) && {
            let next = words.text(end).unwrap_or_default();
            !address::has_legal_form(&format!("X {next}"))
        };
        if ends_clause || end - start > LONGEST_NAME {
            break;
        }
    }
    // A name does not end with "of" or "the".
    while end > start && WITHIN.contains(&words.plain(end - 1).as_str()) {
        end -= 1;
    }
    let letters = words.sheet.quote(&(start..end)).chars().filter(|c| c.is_alphabetic()).count();
    (end > start && end - start <= LONGEST_NAME && letters >= 4).then_some(start..end)
}

/// A company between the first party and the one behind the "and": three are listed with commas.
fn listed_party(words: &ProseWords<'_>, between: &Range<usize>) -> Option<Range<usize>> {
    let starts = between.clone().filter(|at| {
        let before = at.checked_sub(1).and_then(|before| words.text(before)).unwrap_or_default();
        before.ends_with("),") && is_start_of_name(words, *at)
    });
    let mut names = starts.filter_map(|at| name_at(words, at)).filter(|name| name.end <= between.end);
    names.find(|name| address::has_legal_form(&words.sheet.quote(name)))
}

/// A third company that the opening sentence joins with "and".
fn third_party(words: &ProseWords<'_>, from: usize) -> Option<Range<usize>> {
    let start = next_party(words, from)?;
    // The sentence must not have ended in between.
    let is_one_sentence = !(from..start).any(|at| {
        let text = words.text(at).unwrap_or_default();
        let ends = text.ends_with('.') && !address::has_legal_form(&format!("X {text}")) && text.len() > 3;
        ends || words.plain(at).starts_with("whereas") || words.plain(at).starts_with("recital")
    });
    let name = name_at(words, start).filter(|_| is_one_sentence)?;
    address::has_legal_form(&words.sheet.quote(&name)).then_some(name)
}

/// Roles that contracts give to their parties in brackets: `(the “Company”)`, `(collectively, the "Employer")`.
const ROLES: &[&str] = &[
    "company",
    "employer",
    "employee",
    "corporation",
    "executive",
    "recipient",
    "purchaser",
    "buyer",
    "seller",
    "lender",
    "borrower",
    "landlord",
    "tenant",
    "lessor",
    "lessee",
    "licensor",
    "licensee",
    "contractor",
    "consultant",
    "provider",
    "customer",
    "client",
    "bank",
    "disclosing party",
    "receiving party",
    "parent",
    "director",
    "you",
];
/// How far before its role in brackets a party is named.
const LONGEST_WAY_BACK: usize = 30;

/// The parties that get a role in brackets in the opening sentences, and whom a letter is written to; at most two.
pub(crate) fn defined_parties(sheet: &Sheet) -> Vec<ProseParty> {
    let Some(last) = LAST_LINE.min(sheet.lines.len()).checked_sub(1).and_then(|last| sheet.lines.get(last)) else {
        return Vec::new();
    };
    let words = ProseWords { sheet, end: last.tokens.end };
    let mut found: Vec<ProseParty> = addressee(sheet).into_iter().collect();
    let is_role = |at: usize| {
        let text = words.text(at).unwrap_or_default();
        let is_quoted = text.contains(['“', '”', '"']);
        is_quoted && ROLES.contains(&words.plain(at).as_str())
    };
    let mut end_of_last = 0;
    for role in (0..words.end).filter(|at| is_role(*at)) {
        // The nearest name before the role, without the office that it has: "the Board of Directors of Birch, Inc.": a run of words with a legal form.
        let first = role.saturating_sub(LONGEST_WAY_BACK).max(end_of_last);
        let names = (first..role).filter(|at| is_start_of_name(&words, *at)).filter_map(|at| name_at(&words, at));
        let with_form = names.filter(|name| name.end <= role && address::has_legal_form(&sheet.quote(name)));
        let names_office =
            |name: &Range<usize>| words.plain(name.start) == "board" || words.plain(name.start) == "directors";
        let nearest = with_form.filter(|name| !names_office(name));
        let Some(name) = nearest.min_by_key(|name| (std::cmp::Reverse(name.end), name.start)) else { continue };
        end_of_last = role;
        let named = party(sheet, name);
        let key = address::name_key(&named.text);
        if found.iter().all(|other| address::name_key(&other.text) != key) {
            found.push(named);
        }
    }
    found.truncate(2);
    found
}

/// Whether a name may begin here: a capital behind a word in small letters, or at the beginning of a line.
fn is_start_of_name(words: &ProseWords<'_>, at: usize) -> bool {
    let starts_capital = |text: &str| text.starts_with(|c: char| c.is_uppercase());
    let before = at.checked_sub(1).and_then(|before| words.text(before)).unwrap_or_default();
    words.text(at).is_some_and(starts_capital) && (!starts_capital(before) || before.ends_with([',', '.', ':', ';']))
}

/// The company that a letter is written to: its name stands alone on a line above the salutation.
fn addressee(sheet: &Sheet) -> Option<ProseParty> {
    const SALUTATIONS: &[&str] = &["ladies and gentlemen", "gentlemen", "dear ", "sehr geehrte", "madame, monsieur"];
    let first_page = sheet.pages.first()?.lines.clone();
    let quote = |line: usize| sheet.quote(&sheet.lines[line].tokens);
    let salutation = first_page.clone().find(|line| {
        let text = quote(*line).to_lowercase();
        SALUTATIONS.iter().any(|own| text.starts_with(own)) && text.len() < 60
    })?;
    let line = (first_page.start..salutation).rev().take(10).find(|line| {
        let text = quote(*line);
        address::has_legal_form(&text) && text.split_whitespace().count() <= LONGEST_NAME
    })?;
    Some(party(sheet, sheet.lines[line].tokens.clone()))
}

/// Where the second party begins: behind the "and" that ends the description of the first, or right behind its role in
/// brackets: "Parties: Ann Birch (EMPLOYEE) Harbour, Inc.".
fn next_party(words: &ProseWords<'_>, from: usize) -> Option<usize> {
    let is_bracket = words.text(from).is_some_and(|text| text.starts_with('(') && text.ends_with(')'));
    let is_capital = words.text(from + 1).is_some_and(|text| text.starts_with(char::is_uppercase));
    if is_bracket
        && is_capital
        && name_at(words, from + 1).is_some_and(|name| address::has_legal_form(&words.sheet.quote(&name)))
    {
        return Some(from + 1);
    }
    let mut depth = 0usize;
    let mut fallback = None;
    for at in from..(from + LONGEST_DESCRIPTION).min(words.end) {
        let text = words.text(at)?;
        let is_and = depth == 0 && AND.contains(&words.plain(at).as_str());
        depth = (depth + text.matches(['(', '[']).count()).saturating_sub(text.matches([')', ']']).count());
        if !is_and {
            continue;
        }
        let next = words.text(at + 1).unwrap_or_default();
        let starts_name = next.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        let before = words.text(at - 1).unwrap_or_default();
        let ends_party = at == from || before.ends_with([')', ',', ';', ']', '”', '"']);
        if starts_name && ends_party {
            return Some(at + 1);
        }
        if starts_name && fallback.is_none() {
            fallback = Some(at + 1);
        }
    }
    fallback
}

/// The company at the beginning of one of the next lines: "Parties:" heads two blocks, each of a name and an address.
fn block_party(words: &ProseWords<'_>, first: &Range<usize>) -> Option<Range<usize>> {
    let lines = words.sheet.lines.iter().filter(|line| line.tokens.start >= first.end);
    let name_of_line = |line: &Line| {
        let name = name_at(words, line.tokens.start)?;
        (name.start == line.tokens.start && name.end <= line.tokens.end).then_some(name)
    };
    let names = lines.take(LONGEST_BLOCK).filter_map(name_of_line);
    let mut companies = names.filter(|name| address::has_legal_form(&words.sheet.quote(name)));
    companies.find(|name| words.text(name.end).is_none_or(|next| next.starts_with('(')) || ends_line(words.sheet, name))
}

/// Whether a name takes all of its line.
fn ends_line(sheet: &Sheet, name: &Range<usize>) -> bool {
    sheet.lines.iter().any(|line| line.tokens.start == name.start && line.tokens.end <= name.end)
}

/// A name with its address has no more lines.
const LONGEST_BLOCK: usize = 8;

/// Words of those that need no legal form.
const INSTITUTIONS: &[&str] = &[
    "bank",
    "university",
    "college",
    "trust",
    "foundation",
    "institute",
    "hospital",
    "authority",
    "association",
    "council",
    "commission",
    "ministry",
    "church",
    "school",
    "society",
    "sparkasse",
    "stiftung",
    "universität",
    "université",
    "fondation",
    "mairie",
    "universidad",
    "fundación",
    "ayuntamiento",
    "gemeente",
    "comune",
    "fondazione",
];

fn party(sheet: &Sheet, tokens: Range<usize>) -> ProseParty {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for line in sheet.lines.iter().filter(|line| line.tokens.start < tokens.end && line.tokens.end > tokens.start) {
        spans.push(line.tokens.start.max(tokens.start)..line.tokens.end.min(tokens.end));
    }
    let text = sheet.quote(&tokens);
    let text = text.trim_matches(|c: char| matches!(c, ',' | ';' | ':' | '*' | '“' | '”' | '"'));
    let words: Vec<&str> = text.split_whitespace().collect();
    // Companies have a legal form, people two to four words with a capital.
    let is_capital = |word: &&str| word.starts_with(|c: char| c.is_uppercase() || c == '(');
    let is_person = (2..=4).contains(&words.len()) && words.iter().all(is_capital) && words[0].to_lowercase() != "the";
    let is_institution = words.iter().any(|word| {
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        INSTITUTIONS.contains(&plain.as_str())
    });
    let is_whole = address::has_legal_form(text) || is_person || is_institution;
    let doubt = (!is_whole).then(|| format!("{text} has neither a legal form nor the look of a person's name"));
    ProseParty { text: text.to_owned(), spans, doubt }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_reader::{Block, BlockKind, Page, model::Inlines};

    fn read(text: &str) -> Option<(String, Option<String>)> {
        let mut page = Page::converted(1);
        for line in text.lines() {
            page.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(line) }));
        }
        opening(&Sheet::new(&[page])).map(|opening| (opening.first.text, opening.second.map(|second| second.text)))
    }

    #[expect(clippy::unnecessary_wraps, reason = "what is read is optional")]
    fn pair(first: &str, second: &str) -> Option<(String, Option<String>)> {
        Some((first.to_owned(), Some(second.to_owned())))
    }

    #[test]
    fn the_opening_sentence_names_both_parties() {
        assert_eq!(
            read(
                "This Agreement is made by and between Birch Paper, Inc., a Delaware corporation, with places of\nbusiness in Dover (“Birch”), and Harbour Books Ltd., a company of York (“Harbour”)."
            ),
            pair("Birch Paper, Inc.", "Harbour Books Ltd.")
        );
        assert_eq!(
            read(
                "THIS AGREEMENT made this 1st day of May, 2020, between The Savings Bank of Kiel, a bank having its\noffices at 1 Quay (the “Bank”), and John Demo, an individual (Demo)."
            ),
            pair("The Savings Bank of Kiel", "John Demo")
        );
        assert_eq!(
            read(
                "between\nLagerhaus am Kai GmbH, Kaistraße 14, 24103 Kiel, hereinafter the Lessor,\nand\nHarbour Street Library Trust, Kaistraße 22, 24103 Kiel, hereinafter the Lessee."
            ),
            pair("Lagerhaus am Kai GmbH", "Harbour Street Library Trust")
        );
        assert_eq!(
            read("Vertrag zwischen Muster GmbH (Auftraggeber) und Beispiel AG (Auftragnehmer)"),
            pair("Muster GmbH", "Beispiel AG")
        );
        assert_eq!(
            read("is between Lignite Corp., a Texas corporation, and (“Employee”). Lignite Corp. will"),
            Some(("Lignite Corp.".to_owned(), None))
        );
    }

    #[test]
    fn a_third_party_and_names_that_look_like_none_are_doubted() {
        let doubts = |text: &str| {
            let mut page = Page::converted(1);
            page.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(text) }));
            let opening = opening(&Sheet::new(&[page]));
            opening.map(|own| (own.first.doubt.is_some(), own.second.is_some_and(|second| second.doubt.is_some())))
        };
        let two =
            "by and between Birch Paper, Inc., a Delaware corporation, and Harbour Books Ltd., a company of York.";
        assert_eq!(doubts(two), Some((false, false)));
        let three =
            "by and between Birch Paper, Inc. (“Birch”), Harbour Books Ltd. (“Harbour”), and Quay Mills, LLC (“Quay”).";
        assert_eq!(doubts(three).map(|(_, second)| second), Some(true));
        let person = "between Birch Paper, Inc. (the “Company”) and Ann B. Harbour (the “Executive”).";
        assert_eq!(doubts(person), Some((false, false)));
        let strange =
            "between The Savings House of the County of Kiel (the “Bank”) and Birch Paper, Inc. (the “Borrower”).";
        assert_eq!(doubts(strange).map(|(first, _)| first), Some(true));
    }

    #[test]
    fn parties_behind_a_label_need_no_and() {
        assert_eq!(
            read(
                "COVENANT NOT TO COMPETE PARTIES: Ann B. Birch (EMPLOYEE) HARBOUR, Inc., an Oregon corporation, and its\ndivisions (HARBOUR) DATE: October 6, 2014"
            ),
            pair("Ann B. Birch", "HARBOUR, Inc.")
        );
    }

    fn defined(text: &str) -> Vec<String> {
        let mut page = Page::converted(1);
        for line in text.lines() {
            page.blocks.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(line) }));
        }
        defined_parties(&Sheet::new(&[page])).into_iter().map(|party| party.text).collect()
    }

    #[test]
    fn letters_name_the_company_they_are_about_and_the_one_they_are_written_to() {
        assert_eq!(
            defined(
                "March 17, 2010\nHarbour Systems, Inc.\n27 Quay Ave.\nWilsonville, OR 97070\nAttention: Mr. Craig Birch\nLadies and Gentlemen:\nIn connection with your consideration of a possible transaction (a “Transaction”) involving Birch Technologies,\nInc. or certain of its affiliates (collectively, the “Company”), you have requested information."
            ),
            ["Harbour Systems, Inc.", "Birch Technologies, Inc."]
        );
    }

    #[test]
    fn an_agreement_that_one_party_signs_names_the_other_by_its_role() {
        assert_eq!(
            defined(
                "As a condition of my becoming a member of the Board of Directors of Birch Data Corporation, a Delaware\ncorporation (the “Company”), and in consideration of my service to the Company, I agree to the following:"
            ),
            ["Birch Data Corporation"]
        );
        assert_eq!(
            defined("The Company means what the “Company” has always meant, a corporation."),
            Vec::<String>::new()
        );
    }

    #[test]
    fn between_in_prose_names_nobody() {
        assert_eq!(
            read("a possible transaction between you and the Company will be discussed between the parties"),
            None
        );
        assert_eq!(read("the time between January and March"), None);
    }
}
