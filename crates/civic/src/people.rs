//! Names of people as councils write them, folded so that one person is one person.
//!
//! `Council Member Smith, John Q., Jr.`, `JOHN SMITH` and `Ald. John "Jack" Smith` are the same. The vendor's own id of a
//! person counts more than any name; names seen before are kept as aliases.

use crate::{city_key::CityKey, ids};

/// Titles in front of a name, longest first where one begins another.
const TITLES: &[&str] = &[
    "council president pro tempore",
    "council president pro tem",
    "council vice president",
    "council vice-president",
    "council president",
    "council member",
    "councilmember",
    "council-member",
    "councilman",
    "councilwoman",
    "councilperson",
    "councillor",
    "councilor",
    "council",
    "city council member",
    "mayor pro tempore",
    "mayor pro tem",
    "mayor pro-tem",
    "vice mayor",
    "vice-mayor",
    "deputy mayor",
    "mayor",
    "aldermanic",
    "alderman",
    "alderwoman",
    "alderperson",
    "alder",
    "ald",
    "supervisor",
    "commissioner",
    "vice chairperson",
    "vice chairman",
    "vice chair",
    "vice-chair",
    "chairperson",
    "chairman",
    "chairwoman",
    "chair",
    "president pro tem",
    "vice president",
    "vice-president",
    "president",
    "trustee",
    "board member",
    "boardmember",
    "director",
    "assemblymember",
    "assembly member",
    "member",
    "senator",
    "representative",
    "delegate",
    "selectman",
    "selectwoman",
    "selectperson",
    "judge",
    "cm",
    "the honorable",
    "honorable",
    "hon",
    "mr",
    "mrs",
    "ms",
    "mx",
    "dr",
    "rev",
];
const SUFFIXES: &[&str] = &["jr", "sr", "ii", "iii", "iv", "v", "esq", "esquire", "phd", "md", "jd", "cpa", "mmc"];

/// The form of a name that is the same however it is written: first names before the last, without titles, suffixes,
/// nicknames and middle initials. None where nothing is left.
pub fn fold(name: &str) -> Option<String> {
    let lowered = name.replace(['\u{2018}', '\u{2019}', '`'], "'").to_lowercase();
    let mut parts: Vec<Vec<String>> =
        without_asides(&lowered).split(',').map(words).filter(|words| !words.is_empty()).collect();
    if let Some(first) = parts.first_mut() {
        strip_titles(first);
    }
    // "Smith, Jr., John" and "John Smith, Jr.": what is only suffixes says nothing of the order.
    for part in &mut parts {
        part.retain(|word| !SUFFIXES.contains(&word.as_str()));
    }
    parts.retain(|part| !part.is_empty());
    let mut ordered: Vec<String> = match parts.as_mut_slice() {
        [last, first, ..] => {
            strip_titles(first);
            first.iter().chain(last.iter()).cloned().collect()
        }
        [only] => only.clone(),
        [] => return None,
    };
    let last = ordered.len().saturating_sub(1);
    let mut at = 0;
    ordered.retain(|word| {
        let is_middle = at > 0 && at < last;
        at += 1;
        !(is_middle && word.chars().count() == 1)
    });
    Some(ordered.join(" ")).filter(|name| name.chars().any(char::is_alphabetic))
}

/// Without what stands in brackets or quotation marks, and behind a dash with spaces around it.
fn without_asides(name: &str) -> String {
    let name = name.split(" - ").next().unwrap_or_default().split(" – ").next().unwrap_or_default();
    let (mut kept, mut depth, mut quoted) = (String::new(), 0_u32, false);
    for c in name.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '"' | '\u{201c}' | '\u{201d}' => quoted = !quoted,
            _ if depth == 0 && !quoted => kept.push(c),
            _ => {}
        }
    }
    kept
}

fn words(text: &str) -> Vec<String> {
    let neat = text.replace(". ", " ").replace('.', "");
    neat.split_whitespace().map(str::to_owned).collect()
}

/// Takes titles off the front, as long as something is left.
fn strip_titles(words: &mut Vec<String>) {
    loop {
        let longest = TITLES.iter().map(|title| title.split(' ').collect::<Vec<_>>()).filter(|title| {
            title.len() < words.len() && title.iter().zip(words.iter()).all(|(left, right)| left == right)
        });
        let Some(count) = longest.map(|title| title.len()).max() else { return };
        words.drain(..count);
    }
}

/// Somebody who is known already.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownPerson {
    pub id: String,
    pub vendor_person_id: Option<String>,
    /// Folded names under which the person was seen.
    pub aliases: Vec<String>,
}

/// Who a name belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPerson {
    pub id: String,
    /// The folded name, to be kept among the aliases.
    pub alias: String,
    pub is_new: bool,
}

/// Finds the person by the vendor's id, else by a name seen before; somebody with another id of the vendor is somebody
/// else, whatever the name. None where the text is no name.
pub fn resolve(
    city_key: &CityKey,
    vendor: &str,
    name: &str,
    vendor_person_id: Option<&str>,
    known: &[KnownPerson],
) -> Option<ResolvedPerson> {
    let alias = fold(name)?;
    let given = vendor_person_id.map(str::trim).filter(|id| !id.is_empty());
    let by_id = known.iter().find(|one| given.is_some() && one.vendor_person_id.as_deref() == given);
    let by_name = || {
        known.iter().find(|one| {
            let may_be = given.is_none() || one.vendor_person_id.is_none();
            may_be && one.aliases.contains(&alias)
        })
    };
    let found = by_id.or_else(by_name);
    let id = found.map_or_else(|| ids::person_id(city_key, vendor, given, &alias), |one| one.id.clone());
    Some(ResolvedPerson { id, alias, is_new: found.is_none() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_is_one_person_however_written() {
        for name in [
            "John Smith",
            "JOHN  SMITH",
            "Smith, John",
            "Smith, John Q.",
            "Council Member John Q. Smith",
            "CM Smith, John",
            "Ald. John Smith, Jr.",
            "Smith, Jr., John",
            "Smith III, John",
            "Supervisor John \"Jack\" Smith",
            "Mayor Pro Tem John Smith (District 4)",
            "Vice Chair Commissioner John Smith - District 4",
            "The Honorable John Smith",
        ] {
            assert_eq!(fold(name).as_deref(), Some("john smith"), "{name}");
        }
        assert_eq!(fold("Beverly O\u{2019}Brien-Lee").as_deref(), Some("beverly o'brien-lee"));
        assert_eq!(fold("Supervisor Peskin").as_deref(), Some("peskin"));
        assert_eq!(fold("J. Smith").as_deref(), Some("j smith"));
        assert_eq!(fold("Mayor").as_deref(), Some("mayor"));
        assert_eq!(fold("Maria de la Cruz").as_deref(), Some("maria de la cruz"));
        assert_eq!((fold(" , "), fold("(vacant)"), fold("---")), (None, None, None));
    }

    #[test]
    fn the_vendors_id_counts_more_than_a_name() {
        let city_key = CityKey::parse("paloaltoCA").unwrap();
        let who = |name: &str, id: Option<&str>, known: &[KnownPerson]| {
            resolve(&city_key, "legistar", name, id, known).unwrap()
        };
        let first = who("Smith, John", None, &[]);
        assert!(first.is_new && first.id.starts_with("paloaltoCA_cm_"));
        let known = KnownPerson { id: first.id.clone(), vendor_person_id: None, aliases: vec![first.alias] };
        assert_eq!(who("Ald. John Smith", Some("7"), std::slice::from_ref(&known)).id, first.id);
        // Seen with the vendor's id by now: married, and renamed.
        let known = [KnownPerson { vendor_person_id: Some("7".to_owned()), ..known }];
        assert_eq!(who("John Smith-Lee", Some("7"), &known).id, first.id);
        assert_eq!(who("John Smith", None, &known).id, first.id);
        // Another John Smith.
        let other = who("John Smith", Some("8"), &known);
        assert!(other.is_new && other.id != first.id);
        assert!(resolve(&city_key, "legistar", " ", None, &known).is_none());
    }
}
