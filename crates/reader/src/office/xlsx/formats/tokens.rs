//! A section of a format code, taken apart.

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Literal(String),
    /// `0`, `#` or `?`.
    Digit(char),
    Point,
    Comma,
    Percent,
    /// `E+`; whether a plus sign is shown.
    Exponent(bool),
    Slash,
    General,
    Text,
    /// A letter of a date or time, and how often it is repeated.
    Date(char, usize),
    Elapsed(char, usize),
    Fraction(usize),
    /// Whether in full ("AM/PM") or as one letter.
    HalfDay(bool),
}

pub(super) fn tokens(section: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let characters: Vec<char> = section.chars().collect();
    let mut at = 0;
    let lower = |at: usize| characters.get(at).map(char::to_ascii_lowercase);
    let matches_at = |at: usize, word: &str| word.chars().enumerate().all(|(n, c)| lower(at + n) == Some(c));
    while let Some(&character) = characters.get(at) {
        at += 1;
        match character {
            '"' => {
                let end = characters.iter().skip(at).position(|c| *c == '"').unwrap_or(characters.len() - at);
                tokens.push(Token::Literal(characters.iter().skip(at).take(end).collect()));
                at += end + 1;
            }
            '\\' => {
                tokens.extend(characters.get(at).map(|next| Token::Literal(next.to_string())));
                at += 1;
            }
            // As wide as the next character; only a space is shown.
            '_' => {
                tokens.push(Token::Literal(" ".to_owned()));
                at += 1;
            }
            '*' => at += 1,
            '[' => {
                let end = characters.iter().skip(at).position(|c| *c == ']').unwrap_or(characters.len() - at);
                let inside: String = characters.iter().skip(at).take(end).collect();
                at += end + 1;
                let first = inside.chars().next().map_or(' ', |c| c.to_ascii_lowercase());
                if let Some(currency) = inside.strip_prefix('$') {
                    tokens.push(Token::Literal(currency.split('-').next().unwrap_or_default().to_owned()));
                } else if "hms".contains(first) && inside.chars().all(|c| c.eq_ignore_ascii_case(&first)) {
                    tokens.push(Token::Elapsed(first, inside.len()));
                }
            }
            '0' | '#' | '?' => tokens.push(Token::Digit(character)),
            '.' if matches!(tokens.last(), Some(Token::Date('s', _) | Token::Elapsed('s', _))) => {
                let digits = characters.iter().skip(at).take_while(|c| **c == '0').count();
                at += digits;
                tokens.push(if digits > 0 { Token::Fraction(digits) } else { Token::Literal(".".to_owned()) });
            }
            '.' => tokens.push(Token::Point),
            ',' => tokens.push(Token::Comma),
            '%' => tokens.push(Token::Percent),
            '@' => tokens.push(Token::Text),
            '/' => tokens.push(Token::Slash),
            'E' | 'e' if matches!(characters.get(at), Some('+' | '-')) => {
                tokens.push(Token::Exponent(characters.get(at) == Some(&'+')));
                at += 1;
            }
            'G' | 'g' if matches_at(at - 1, "general") => {
                tokens.push(Token::General);
                at += 6;
            }
            'A' | 'a' if matches_at(at - 1, "am/pm") => {
                tokens.push(Token::HalfDay(true));
                at += 4;
            }
            'A' | 'a' if matches_at(at - 1, "a/p") => {
                tokens.push(Token::HalfDay(false));
                at += 2;
            }
            _ if "ymdhsYMDHS".contains(character) => {
                let letter = character.to_ascii_lowercase();
                let more = characters.iter().skip(at).take_while(|c| c.to_ascii_lowercase() == letter).count();
                at += more;
                tokens.push(Token::Date(letter, more + 1));
            }
            _ => tokens.push(Token::Literal(character.to_string())),
        }
    }
    tokens
}
