//! Accents that are drawn as signs of their own over a letter, as TeX does it: "ˇ" and "s" in one place are "š".

use super::words::Placed;

/// Letters with their accents: for each accent, pairs of a letter and the letter with it.
const ACCENTED: [(&str, &str); 12] = [
    ("´\u{301}", "aáeéiíoóuúyýcćnńsśzźlĺrŕAÁEÉIÍOÓUÚYÝCĆNŃSŚZŹLĹRŔ"),
    ("`\u{300}", "aàeèiìoòuùAÀEÈIÌOÒUÙ"),
    ("¨\u{308}", "aäeëiïoöuüyÿAÄEËIÏOÖUÜYŸ"),
    ("ˆ^\u{302}", "aâeêiîoôuûcĉgĝhĥjĵsŝwŵyŷAÂEÊIÎOÔUÛCĈGĜHĤJĴSŜWŴYŶ"),
    ("˜~\u{303}", "aãnñoõiĩuũAÃNÑOÕIĨUŨ"),
    ("ˇ\u{30c}", "cčdďeěnňrřsštťzžlľCČDĎEĚNŇRŘSŠTŤZŽLĽ"),
    ("˚°\u{30a}", "aåuůAÅUŮ"),
    ("¸\u{327}", "cçsştţCÇSŞTŢ"),
    ("˘\u{306}", "aăgğAĂGĞ"),
    ("˝\u{30b}", "oőuűOŐUŰ"),
    ("¯\u{304}", "aāeēiīoōuūAĀEĒIĪOŌUŪ"),
    ("˙\u{307}", "zżeėgġcċZŻEĖGĠCĊIİ"),
];

/// The letter that an accent and a letter make, in whatever order they are drawn; None if they do not lie over each other.
pub(crate) fn combined(one: &Placed, other: &Placed) -> Option<char> {
    let over = |accent: &Placed, letter: &Placed| {
        let middle = f32::midpoint(accent.x0, accent.x1);
        letter.x0 - 0.05 * letter.size <= middle && middle <= letter.x1 + 0.05 * letter.size
    };
    if !over(one, other) && !over(other, one) {
        return None;
    }
    with_accent(one.first, other.first).or_else(|| with_accent(other.first, one.first))
}

fn with_accent(accent: char, letter: char) -> Option<char> {
    let (_, letters) = ACCENTED.iter().find(|(accents, _)| accents.contains(accent))?;
    let letter = if letter == 'ı' { 'i' } else { letter };
    let mut letters = letters.chars();
    while let (Some(plain), Some(accented)) = (letters.next(), letters.next()) {
        if plain == letter {
            return Some(accented);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(first: char, x0: f32, x1: f32) -> Placed {
        Placed { glyph: 0, x0, x1, base: 0.0, size: 10.0, first }
    }

    #[test]
    fn accents_over_letters_are_theirs() {
        assert_eq!(combined(&placed('ˇ', 0.5, 4.5), &placed('s', 0.0, 4.0)), Some('š'));
        assert_eq!(combined(&placed('ı', 0.0, 3.0), &placed('´', 0.0, 3.3)), Some('í'));
        assert_eq!(combined(&placed('ˇ', 0.0, 4.0), &placed('s', 5.0, 9.0)), None, "they stand beside each other");
        assert_eq!(combined(&placed('^', 0.0, 4.0), &placed('x', 0.0, 4.0)), None);
        assert!(ACCENTED.iter().all(|(_, letters)| letters.chars().count() % 2 == 0));
    }
}
