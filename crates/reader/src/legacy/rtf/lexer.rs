//! The signs that RTF is made of. Nothing is an error: what makes no sense is text, or nothing.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'b> {
    Open,
    Close,
    /// `\word` with its number, if it has one.
    Word(&'b str, Option<i32>),
    /// `\` and a sign that is no letter.
    Symbol(u8),
    /// `\'hh`.
    Hex(u8),
    /// Bytes of text, without line breaks of the file.
    Text(&'b [u8]),
}

#[derive(Debug)]
pub(super) struct Lexer<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Where the last paragraph of the file ends.
    last_paragraph: usize,
}

impl<'b> Lexer<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        let last_paragraph = bytes.windows(4).rposition(|four| four == b"\\par").unwrap_or_default();
        Self { bytes, at: 0, last_paragraph }
    }

    /// Whether what is left looks like more of the document.
    pub(super) fn has_more_text(&self) -> bool {
        self.at <= self.last_paragraph
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take_while(&mut self, most: usize, wanted: impl Fn(u8) -> bool) -> &'b [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take(most).take_while(|byte| wanted(**byte)).count();
        self.at += count;
        rest.get(..count).unwrap_or_default()
    }

    fn control(&mut self) -> Option<Token<'b>> {
        let first = self.peek()?;
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            if first != b'\'' {
                return Some(Token::Symbol(first));
            }
            let digits = self.take_while(2, |byte| byte.is_ascii_hexdigit());
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            return Some(u8::from_str_radix(digits, 16).map_or(Token::Text(b""), Token::Hex));
        }
        let word = std::str::from_utf8(self.take_while(64, |byte| byte.is_ascii_alphabetic())).unwrap_or_default();
        let negative = self.peek() == Some(b'-') && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit);
        self.at += usize::from(negative);
        let digits = std::str::from_utf8(self.take_while(12, |byte| byte.is_ascii_digit())).unwrap_or_default();
        let number = digits.parse::<i64>().ok().map(|number| if negative { -number } else { number });
        let number = number.map(|number| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
        if self.peek() == Some(b' ') {
            self.at += 1;
        }
        if word == "bin" {
            // Bytes of anything; a count that leads out of the file is not believed.
            let count = usize::try_from(number.unwrap_or_default()).unwrap_or_default();
            if self.at.checked_add(count).is_some_and(|end| end <= self.bytes.len()) {
                self.at += count;
            }
        }
        Some(Token::Word(word, number))
    }
}

impl<'b> Iterator for Lexer<'b> {
    type Item = Token<'b>;

    fn next(&mut self) -> Option<Token<'b>> {
        loop {
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    return Some(Token::Open);
                }
                b'}' => {
                    self.at += 1;
                    return Some(Token::Close);
                }
                b'\\' => {
                    self.at += 1;
                    return self.control();
                }
                b'\r' | b'\n' | 0 => self.at += 1,
                _ => {
                    let text =
                        self.take_while(usize::MAX, |byte| !matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0));
                    return Some(Token::Text(text));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_text() {
        let tokens: Vec<_> = Lexer::new(b"{\\b0 a\\'e4\\u-10?\\~\\bin3 {}}\\x\r\nz}").collect();
        let wanted = [
            Token::Open,
            Token::Word("b", Some(0)),
            Token::Text(b"a"),
            Token::Hex(0xe4),
            Token::Word("u", Some(-10)),
            Token::Text(b"?"),
            Token::Symbol(b'~'),
            Token::Word("bin", Some(3)),
            Token::Word("x", None),
            Token::Text(b"z"),
            Token::Close,
        ];
        assert_eq!(tokens, wanted);
    }

    #[test]
    fn nonsense_ends() {
        for bytes in [&b"\\"[..], b"\\'", b"\\'z", b"\\bin99999999999999 x", b"\\-5", b"\\u99999999999999999999"] {
            assert!(Lexer::new(bytes).count() < 10);
        }
    }
}
