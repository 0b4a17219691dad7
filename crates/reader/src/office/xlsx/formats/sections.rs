//! Which section of a format code a value is shown by: codes have sections for positive numbers, negative ones and zero,
//! or say themselves for which numbers they are.

/// Splits at semicolons that are not quoted, escaped or within brackets.
pub(super) fn sections(code: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let mut from = 0;
    let (mut quoted, mut bracket, mut escaped) = (false, false, false);
    for (at, character) in code.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match character {
            '\\' if !quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => bracket = true,
            ']' if !quoted => bracket = false,
            ';' if !quoted && !bracket => {
                sections.push(code.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
    }
    sections.push(code.get(from..).unwrap_or_default());
    sections
}

/// The section for a value, and the value as that section shows it: a section of its own for negative numbers shows
/// them without a sign.
pub(super) fn choose<'c>(sections: &[&'c str], value: f64) -> (&'c str, f64) {
    let section = |at: usize| sections.get(at).copied().unwrap_or("General");
    if let Some(found) = sections.iter().take(2).find(|section| condition(section).is_some_and(|holds| holds(value))) {
        return (found, value.abs());
    }
    let has_condition = sections.iter().take(2).any(|section| condition(section).is_some());
    if has_condition {
        let other = sections.iter().take(3).find(|section| condition(section).is_none());
        return (other.copied().unwrap_or("General"), value);
    }
    match sections.len() {
        2.. if value < 0.0 => (section(1), -value),
        3.. if value == 0.0 => (section(2), value),
        _ => (section(0), value),
    }
}

/// `[>=100]` before a section.
fn condition(section: &str) -> Option<Box<dyn Fn(f64) -> bool>> {
    let mut rest = section.trim_start();
    while let Some(inside) = rest.strip_prefix('[') {
        let (inside, after) = inside.split_once(']')?;
        rest = after;
        let sign: String = inside.chars().take_while(|character| "<>=".contains(*character)).collect();
        let Ok(limit) = inside.get(sign.len()..)?.trim().parse::<f64>() else { continue };
        return Some(match sign.as_str() {
            "<" => Box::new(move |value| value < limit),
            "<=" => Box::new(move |value| value <= limit),
            ">" => Box::new(move |value| value > limit),
            ">=" => Box::new(move |value| value >= limit),
            "=" => Box::new(move |value| (value - limit).abs() < f64::EPSILON),
            "<>" => Box::new(move |value| (value - limit).abs() >= f64::EPSILON),
            _ => continue,
        });
    }
    None
}
