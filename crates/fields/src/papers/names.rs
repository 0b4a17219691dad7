//! Made-up companies, people, streets, towns and goods.

use super::country::Country;
use fastrand::Rng;

const STARTS: &[&str] = &[
    "ba", "be", "bro", "ca", "che", "da", "del", "du", "fa", "fer", "ga", "gra", "ha", "hol", "ja", "ka", "kel", "la",
    "lin", "ma", "mer", "na", "nor", "pa", "pel", "qua", "ra", "ro", "sa", "sol", "ta", "tre", "u", "va", "ver", "wa",
    "wen", "xi", "ya", "za", "ang", "chua", "lim", "ong", "tan", "yap", "koh",
];
const ENDS: &[&str] = &[
    "bo", "co", "dan", "der", "fin", "gas", "han", "kan", "la", "lo", "mar", "mo", "nas", "ner", "no", "pan", "ra",
    "rin", "ro", "sen", "ta", "tex", "ton", "tra", "vel", "wan", "win", "xa", "yu", "zo", "ng", "n", "s", "ck", "l",
];
const PLAIN: &[&str] = &[
    "Golden",
    "Sunny",
    "Royal",
    "Happy",
    "Lucky",
    "Green",
    "Blue",
    "City",
    "Star",
    "Ocean",
    "Garden",
    "Grand",
    "Prime",
    "Family",
    "Express",
    "Super",
    "Best",
    "New",
    "First",
    "Corner",
    "Mega",
    "Eastern",
    "Dragon",
    "Phoenix",
    "Lotus",
    "Harbour",
    "Urban",
    "Old Town",
    "Village",
    "Three Kings",
    "Seven",
    "Uncle",
    "Mr",
    "Big",
    "Little",
    "Union",
    "Ever",
];
const GOODS: &[&str] = &[
    "Milk 1L",
    "Bread",
    "Coffee",
    "Tea ice",
    "Nasi lemak",
    "Chicken rice",
    "Rice 5kg",
    "Plain rice",
    "A4 paper 80g",
    "Pen blue",
    "Envelope",
    "Battery AA",
    "Soap",
    "Shampoo 200ml",
    "Water 1.5L",
    "Screw 4x40",
    "Paint brush",
    "Cable tie",
    "Notebook",
    "Sugar 1kg",
    "Butter",
    "Cheese",
    "Apple",
    "Banana",
    "Salad",
    "Pizza Margherita",
    "Beer 0.5",
    "Soup",
    "Steak",
    "Fish & chips",
    "T-shirt M",
    "Socks",
    "Vitamin C",
    "Paracetamol",
    "Petrol 95",
    "Parking",
    "Stamp",
    "Flowers",
    "Candle",
    "Light bulb E27",
    "Hose",
    "Glue",
    "Tape 12mm",
    "Chocolate",
    "Juice",
    "Noodles",
    "Eggs 10pcs",
    "Tissue box",
    "Plastic bag",
    "Badge clip",
    "Mixed vege",
    "Spring roll",
    "Teh tarik",
    "Roti canai",
    "Mee goreng",
];
const FIRST: &[&str] =
    &["Tan", "Lim", "Anna", "Peter", "Wong", "Maria", "Ali", "Nur", "Lee", "Chris", "Eva", "Jan", "Siti", "Kumar"];

pub(super) fn pick<'t, T: ?Sized>(rng: &mut Rng, all: &[&'t T]) -> &'t T {
    all[rng.usize(..all.len())]
}

/// A word that no list has.
pub(super) fn invented_word(rng: &mut Rng) -> String {
    let mut word = pick(rng, STARTS).to_owned();
    for _ in 0..rng.usize(1..3) {
        word.push_str(pick(rng, ENDS));
    }
    capitalise(&word)
}

pub(super) fn capitalise(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

pub(super) fn person(rng: &mut Rng) -> String {
    let mut parts = vec![pick(rng, FIRST).to_owned(), invented_word(rng)];
    if rng.bool() {
        parts.push(invented_word(rng));
    }
    parts.join(" ")
}

/// The name of a company: its own words, and the legal form or nothing.
pub(super) fn company(rng: &mut Rng, country: &Country) -> String {
    let mut parts: Vec<String> = Vec::new();
    match rng.u32(..10) {
        0 => parts.push(rng.u32(2..100).to_string()),
        1 => parts.push(format!("{}.{}.", rng.char('A'..='Z'), rng.char('A'..='Z'))),
        2 => parts.push((0..rng.usize(2..5)).map(|_| rng.char('A'..='Z')).collect()),
        _ => {}
    }
    for _ in 0..rng.usize(1..4) {
        parts.push(if rng.u32(..3) == 0 { pick(rng, PLAIN).to_owned() } else { invented_word(rng) });
    }
    if rng.u32(..8) == 0 {
        parts.push("&".to_owned());
        parts.push(if rng.bool() { "Sons".to_owned() } else { invented_word(rng) });
    }
    // Some trades are words that no list has.
    match rng.u32(..10) {
        0..=5 => parts.push(pick(rng, country.trade).to_owned()),
        6 => parts.push(format!("{} {}", pick(rng, country.trade), pick(rng, country.trade))),
        7 => parts.push(invented_word(rng)),
        _ => {}
    }
    if rng.u32(..10) == 0 {
        parts.push(format!("({})", ["M", "KL", "S", "Asia", "UK"][rng.usize(..5)]));
    }
    if rng.u32(..12) == 0 {
        // The trade may come first.
        let last = parts.pop().unwrap_or_default();
        parts.insert(0, last);
    }
    if rng.u32(..100) < 68 {
        parts.push(pick(rng, country.legal).to_owned());
    }
    let name = parts.join(" ");
    if rng.u32(..100) < 65 { name.to_uppercase() } else { name }
}

/// The lines of an address.
pub(super) fn address(rng: &mut Rng, country: &Country) -> Vec<String> {
    let street = pick(rng, country.street);
    let house = rng.u32(1..300);
    let own = invented_word(rng);
    let is_joined = street.starts_with(char::is_lowercase) && !street.ends_with('.');
    let mut lines = vec![match rng.u32(..4) {
        _ if is_joined => format!("{own}{street} {house}"),
        0 => format!("No {house}, {street} {own} {}/{}", rng.u32(1..30), rng.u32(1..90)),
        1 => format!("{house} {own} {street}"),
        2 => format!("Lot {house}-{}, {street} {own},", rng.u32(1..30)),
        _ => format!("{street} {own} {house}"),
    }];
    if rng.bool() {
        lines.push(format!("{} {},", pick(rng, country.street), invented_word(rng)));
    }
    let town = invented_word(rng);
    lines.push(if rng.bool() {
        format!("{:05} {town}, {}", rng.u32(1000..99000), invented_word(rng))
    } else {
        format!("{:05} {town}", rng.u32(1000..99000))
    });
    if rng.u32(..4) == 0 {
        lines.push(invented_word(rng));
    }
    if rng.u32(..3) > 0 {
        lines = lines.iter().map(|line| line.to_uppercase()).collect();
    }
    lines
}

pub(super) fn goods(rng: &mut Rng) -> String {
    let name = if rng.u32(..3) == 0 {
        format!("{} {}", invented_word(rng), invented_word(rng))
    } else {
        pick(rng, GOODS).to_owned()
    };
    if rng.bool() { name.to_uppercase() } else { name }
}

pub(super) fn digits(rng: &mut Rng, count: usize) -> String {
    (0..count).map(|_| rng.char('0'..='9')).collect()
}
