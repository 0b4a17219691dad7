//! Text of one code page that a file calls another: Chinese in GBK or Russian in Windows-1251 that comes out as accented
//! Latin letters (mojibake).

use crate::layout::{GlyphFlags, PageContent};

/// No language writes so many accented letters and signs in a row.
const LONGEST: usize = 4;
/// The same sign again and again is a rule or a row of dots.
const FEWEST_KINDS: usize = 3;

/// How many letters of a page are in long runs of signs from the upper half of a Latin code page.
pub(super) fn foreign(content: &PageContent) -> usize {
    let mut found = 0;
    let mut run: Vec<char> = Vec::new();
    for glyph in content.glyphs.iter().filter(|glyph| !glyph.flags.has(GlyphFlags::BLANK)) {
        let mut signs = content.glyph_text(glyph).chars();
        match (signs.next(), signs.next()) {
            (Some(sign), None) if is_upper_half(sign) => run.push(sign),
            _ => {
                found += counts(&run);
                run.clear();
            }
        }
    }
    found + counts(&run)
}

fn counts(run: &[char]) -> usize {
    let mut kinds = run.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    // A chart of characters has them one after the other.
    let counting = run.windows(2).filter(|pair| pair[1] as u32 == pair[0] as u32 + 1).count();
    let is_foreign = run.len() >= LONGEST && kinds.len() >= FEWEST_KINDS && counting * 2 < run.len();
    if is_foreign { run.len() } else { 0 }
}

/// What Windows-1252 has from 0x80 on.
pub(super) fn is_upper_half(sign: char) -> bool {
    matches!(
        sign,
        '\u{80}'
            ..='\u{ff}'
                | 'Œ'
                | 'œ'
                | 'Š'
                | 'š'
                | 'Ž'
                | 'ž'
                | 'Ÿ'
                | 'ƒ'
                | 'ˆ'
                | '˜'
                | '‚'
                | '„'
                | '†'
                | '‡'
                | '‰'
                | '‹'
                | '›'
                | '€'
                | '™'
    )
}

#[cfg(test)]
mod tests {
    use super::counts;

    fn count(text: &str) -> usize {
        counts(&text.chars().collect::<Vec<_>>())
    }

    #[test]
    fn accents_of_languages_are_no_code_page() {
        assert_eq!(count("ÏðèâåòÌèð"), 9);
        for text in ["éè", "····", "ÀÁÂÃÄÅÆÇ", "«»«»«»"] {
            assert_eq!(count(text), 0, "{text}");
        }
    }
}
