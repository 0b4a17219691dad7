//! Arabic letters have shapes by their place in a word; text is written with the letters themselves.

const FORMS: &[(char, char, &str)] = &[
    ('\u{FB50}', '\u{FB51}', "ٱ"),
    ('\u{FB52}', '\u{FB55}', "ٻ"),
    ('\u{FB56}', '\u{FB59}', "پ"),
    ('\u{FB66}', '\u{FB69}', "ٹ"),
    ('\u{FB7A}', '\u{FB7D}', "چ"),
    ('\u{FB88}', '\u{FB89}', "ڈ"),
    ('\u{FB8A}', '\u{FB8B}', "ژ"),
    ('\u{FB8C}', '\u{FB8D}', "ڑ"),
    ('\u{FB8E}', '\u{FB91}', "ک"),
    ('\u{FB92}', '\u{FB95}', "گ"),
    ('\u{FB9E}', '\u{FB9F}', "ں"),
    ('\u{FBA6}', '\u{FBA9}', "ہ"),
    ('\u{FBAA}', '\u{FBAD}', "ھ"),
    ('\u{FBAE}', '\u{FBAF}', "ے"),
    ('\u{FBFC}', '\u{FBFF}', "ی"),
    ('\u{FE80}', '\u{FE80}', "ء"),
    ('\u{FE81}', '\u{FE82}', "آ"),
    ('\u{FE83}', '\u{FE84}', "أ"),
    ('\u{FE85}', '\u{FE86}', "ؤ"),
    ('\u{FE87}', '\u{FE88}', "إ"),
    ('\u{FE89}', '\u{FE8C}', "ئ"),
    ('\u{FE8D}', '\u{FE8E}', "ا"),
    ('\u{FE8F}', '\u{FE92}', "ب"),
    ('\u{FE93}', '\u{FE94}', "ة"),
    ('\u{FE95}', '\u{FE98}', "ت"),
    ('\u{FE99}', '\u{FE9C}', "ث"),
    ('\u{FE9D}', '\u{FEA0}', "ج"),
    ('\u{FEA1}', '\u{FEA4}', "ح"),
    ('\u{FEA5}', '\u{FEA8}', "خ"),
    ('\u{FEA9}', '\u{FEAA}', "د"),
    ('\u{FEAB}', '\u{FEAC}', "ذ"),
    ('\u{FEAD}', '\u{FEAE}', "ر"),
    ('\u{FEAF}', '\u{FEB0}', "ز"),
    ('\u{FEB1}', '\u{FEB4}', "س"),
    ('\u{FEB5}', '\u{FEB8}', "ش"),
    ('\u{FEB9}', '\u{FEBC}', "ص"),
    ('\u{FEBD}', '\u{FEC0}', "ض"),
    ('\u{FEC1}', '\u{FEC4}', "ط"),
    ('\u{FEC5}', '\u{FEC8}', "ظ"),
    ('\u{FEC9}', '\u{FECC}', "ع"),
    ('\u{FECD}', '\u{FED0}', "غ"),
    ('\u{FED1}', '\u{FED4}', "ف"),
    ('\u{FED5}', '\u{FED8}', "ق"),
    ('\u{FED9}', '\u{FEDC}', "ك"),
    ('\u{FEDD}', '\u{FEE0}', "ل"),
    ('\u{FEE1}', '\u{FEE4}', "م"),
    ('\u{FEE5}', '\u{FEE8}', "ن"),
    ('\u{FEE9}', '\u{FEEC}', "ه"),
    ('\u{FEED}', '\u{FEEE}', "و"),
    ('\u{FEEF}', '\u{FEF0}', "ى"),
    ('\u{FEF1}', '\u{FEF4}', "ي"),
    ('\u{FEF5}', '\u{FEF6}', "لآ"),
    ('\u{FEF7}', '\u{FEF8}', "لأ"),
    ('\u{FEF9}', '\u{FEFA}', "لإ"),
    ('\u{FEFB}', '\u{FEFC}', "لا"),
];

/// Appends a character, a shape as the letters that it stands for.
pub(crate) fn push_plain(character: char, text: &mut String) {
    if !('\u{FB50}'..='\u{FEFC}').contains(&character) {
        text.push(character);
        return;
    }
    match FORMS.iter().find(|(first, last, _)| (*first..=*last).contains(&character)) {
        Some((_, _, letters)) => text.push_str(letters),
        None => text.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_become_letters() {
        let mut text = String::new();
        for character in "\u{FEFB}\u{FE91}a".chars() {
            push_plain(character, &mut text);
        }
        assert_eq!(text, "لابa");
    }
}
