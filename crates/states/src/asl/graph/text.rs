//! How wide texts are, in Helvetica.

/// Thousandths of the font's size, from the space to the tilde.
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(letter).sum::<f64>() * size / 1_000.0
}

fn letter(letter: char) -> f64 {
    let place = (letter as usize).checked_sub(32);
    match place.and_then(|place| WIDTHS.get(place)) {
        Some(width) => f64::from(*width),
        // An ellipsis or a letter of East Asia is as wide as it is high; Latin letters with accents are narrower.
        None if letter == '…' || letter >= '\u{1100}' => 1_000.0,
        None => 600.0,
    }
}

/// The beginning of a text that fits, with an ellipsis if something is left out. Control characters become spaces.
pub(super) fn fitted(text: &str, size: f64, most: f64) -> String {
    let flat: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if width(&flat, size) <= most {
        return flat;
    }
    let mut left = most - width("…", size);
    let fits = |letter: &char| {
        left -= self::letter(*letter) * size / 1_000.0;
        left >= 0.0
    };
    let start: String = flat.chars().take_while(fits).collect();
    format!("{}…", start.trim_end())
}

/// A text on a few lines, broken at spaces where there are some, with an ellipsis if it does not fit.
pub(super) fn wrapped(text: &str, size: f64, most: f64, lines: usize) -> Vec<String> {
    let flat: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let mut wrapped = Vec::new();
    let mut rest = flat.trim();
    while !rest.is_empty() {
        if wrapped.len() + 1 == lines || width(rest, size) <= most {
            wrapped.push(fitted(rest, size, most));
            break;
        }
        let mut used = 0.0;
        let end = rest.char_indices().find_map(|(place, letter)| {
            used += self::letter(letter) * size / 1_000.0;
            (used > most && place > 0).then_some(place)
        });
        let end = end.unwrap_or(rest.len());
        // A line is not broken in its first third, however long its words are.
        let space = rest[..end].rfind(' ').filter(|space| space * 3 > end);
        let (line, others) = rest.split_at(space.unwrap_or(end));
        wrapped.push(line.trim_end().to_owned());
        rest = others.trim_start();
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_wrapped_where_they_do_not_fit() {
        assert!((width("Wait", 10.0) - 20.0).abs() < 0.01, "{}", width("Wait", 10.0));
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        assert_eq!(fitted("a\nb", 10.0, 100.0), "a b");
        let cut = fitted("a text that is much too long", 10.0, 60.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0) <= 60.0, "{cut}");
        let lines = wrapped("one two three four five six seven", 10.0, 60.0, 2);
        assert_eq!(lines, ["one two", "three four f…"]);
        assert_eq!(wrapped("", 10.0, 60.0, 2), Vec::<String>::new());
        assert_eq!(wrapped("漢字漢字", 10.0, 25.0, 3), ["漢字", "漢字"]);
    }
}
