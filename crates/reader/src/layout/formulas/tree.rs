//! From signs and bars to LaTeX: fractions by their bars, roots, sums with their limits, powers and indices.

use crate::latex::{accent, append, escape, is_function, nary};

/// A sign of a formula where it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sign {
    pub(super) text: String,
    pub(super) x0: f32,
    pub(super) x1: f32,
    pub(super) base: f32,
    pub(super) size: f32,
    /// It hangs below where it is placed instead of standing there.
    pub(super) hangs: bool,
    /// Letters of words and functions are; those of quantities are not.
    pub(super) upright: bool,
}

/// A line of a fraction, of a root, or above a letter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bar {
    pub(super) x0: f32,
    pub(super) x1: f32,
    pub(super) y: f32,
}

/// Deeper nests are not simple any more.
const DEEPEST: usize = 6;
/// Smaller signs are powers, indices and limits.
const SMALL: f32 = 0.86;

/// The formula; None if it is not made of what is known here.
pub(super) fn latex(signs: Vec<Sign>, bars: Vec<Bar>) -> Option<String> {
    row(signs, bars, 0)
}

/// Something that stands in the row: a sign, or what was put together already.
#[derive(Debug)]
struct Atom {
    x0: f32,
    x1: f32,
    latex: String,
    /// It may have limits above and below.
    is_large: bool,
    above: Vec<Sign>,
    below: Vec<Sign>,
}

impl Sign {
    fn middle(&self) -> f32 {
        if self.hangs { self.base + 0.7 * self.size } else { self.base - 0.25 * self.size }
    }

    fn center(&self) -> f32 {
        f32::midpoint(self.x0, self.x1)
    }

    fn is_large(&self) -> bool {
        matches!(self.text.as_str(), "∑" | "∏" | "∐" | "⋃" | "⋂" | "⋁" | "⋀" | "⨁" | "⨂")
    }

    fn is_integral(&self) -> bool {
        matches!(self.text.as_str(), "∫" | "∬" | "∭" | "∮")
    }

    /// Whether it stands on the line like a letter.
    fn stands(&self) -> bool {
        !self.hangs && !self.is_large() && !self.is_integral()
    }

    fn is_bracket(&self) -> bool {
        is_bracket(&self.text)
    }

    /// Pieces of brackets over several lines, and signs without a meaning.
    fn is_beyond(&self) -> bool {
        self.text.chars().any(|sign| matches!(sign, '\u{fffd}' | '⎛'..='⎭' | '\u{e000}'..='\u{f8ff}'))
            || self.text.is_empty()
    }
}

fn row(mut signs: Vec<Sign>, mut bars: Vec<Bar>, depth: usize) -> Option<String> {
    if signs.is_empty() || depth > DEEPEST || signs.iter().any(Sign::is_beyond) {
        return None;
    }
    let mut atoms = Vec::new();
    bars.sort_by(|one, other| (one.x1 - one.x0).total_cmp(&(other.x1 - other.x0)));
    // The widest bars hold the others.
    while let Some(bar) = bars.pop() {
        atoms.push(under_bar(bar, &mut signs, &mut bars, depth)?);
    }
    let fractions = atoms.len();
    let Some(base) = main_line(&signs) else {
        return if fractions == 1 { atoms.pop().map(|atom| atom.latex) } else { None };
    };
    let size = signs.iter().filter(|sign| sign.stands()).map(|sign| sign.size).fold(0.0, f32::max);
    let (mut in_line, mut scripts): (Vec<Sign>, Vec<Sign>) = signs.into_iter().partition(|sign| {
        let level = sign.size >= SMALL * size && (sign.base - base).abs() < 0.3 * size && !is_accent(&sign.text);
        !sign.stands() || level
    });
    if scripts.iter().any(|sign| sign.size >= SMALL * size && !is_accent(&sign.text)) {
        return None;
    }
    in_line.sort_by(|one, other| one.x0.total_cmp(&other.x0));
    scripts.sort_by(|one, other| one.x0.total_cmp(&other.x0));
    atoms.extend(words(&in_line));
    atoms.sort_by(|one, other| one.x0.total_cmp(&other.x0));
    for script in &scripts {
        place(script, &mut atoms, base, size)?;
    }
    let mut out = String::new();
    let mut last = f32::MAX;
    for atom in atoms {
        if atom.x0 - last > 1.6 * size {
            out.push_str("\\quad ");
        }
        let scripts = atom.above.iter().chain(&atom.below).map(|sign| sign.x1);
        last = scripts.fold(atom.x1, f32::max);
        append(&mut out, &atom.latex);
        for (mark, part) in [("_", atom.below), ("^", atom.above)] {
            if !part.is_empty() {
                let primes = part.iter().all(|sign| matches!(sign.text.as_str(), "′" | "'"));
                if mark == "^" && primes {
                    out.extend(part.iter().map(|_| '\''));
                } else {
                    let script = row(part, Vec::new(), depth + 1)?;
                    out.extend([mark, "{", &script, "}"]);
                }
            }
        }
    }
    Some(out.trim().to_owned())
}

/// What a bar makes of the signs above and below it: a fraction, a root, or something with a line over it.
fn under_bar(bar: Bar, signs: &mut Vec<Sign>, bars: &mut Vec<Bar>, depth: usize) -> Option<Atom> {
    let root = signs.iter().position(|sign| {
        let top = sign.base - sign.size..=sign.base + 0.4 * sign.size;
        sign.text == "√" && (sign.x1 - bar.x0).abs() < 0.35 * sign.size && top.contains(&bar.y)
    });
    let within = |x: f32| x > bar.x0 - 1.0 && x < bar.x1 + 1.0;
    let size = signs.iter().map(|sign| sign.size).fold(0.0, f32::max);
    let root = root.map(|at| signs.remove(at));
    let (over, left): (Vec<Sign>, Vec<Sign>) = signs
        .drain(..)
        .partition(|sign| within(sign.center()) && sign.middle() < bar.y && sign.middle() > bar.y - 3.0 * size);
    let (under, left): (Vec<Sign>, Vec<Sign>) = left
        .into_iter()
        .partition(|sign| within(sign.center()) && sign.middle() >= bar.y && sign.middle() < bar.y + 3.0 * size);
    let mut bars_of = |above: bool| {
        let (own, others) = bars
            .drain(..)
            .partition(|other: &Bar| within(f32::midpoint(other.x0, other.x1)) && (other.y < bar.y) == above);
        *bars = others;
        own
    };
    let atom =
        |latex: String, x0: f32| Atom { x0, x1: bar.x1, latex, is_large: false, above: Vec::new(), below: Vec::new() };
    if let Some(root) = root {
        *signs = left;
        signs.extend(over);
        let inside = row(under, bars_of(false), depth + 1)?;
        return Some(atom(format!("\\sqrt{{{inside}}}"), root.x0));
    }
    *signs = left;
    match (over.is_empty(), under.is_empty()) {
        (false, false) => {
            let (above, below) = (bars_of(true), bars_of(false));
            let latex = format!("\\frac{{{}}}{{{}}}", row(over, above, depth + 1)?, row(under, below, depth + 1)?);
            Some(atom(latex, bar.x0))
        }
        (true, false) => {
            let inside = row(under, bars_of(false), depth + 1)?;
            Some(atom(accent("\u{304}", &inside), bar.x0))
        }
        // A line below something, or beside it, means nothing here.
        _ => None,
    }
}

/// The line on which most of the large signs stand; None if there are none. Signs that hang tell nothing of it.
fn main_line(signs: &[Sign]) -> Option<f32> {
    let stands = |sign: &&Sign| sign.stands();
    let size = signs.iter().filter(stands).map(|sign| sign.size).fold(0.0, f32::max);
    let large = signs.iter().filter(stands).filter(|sign| sign.size >= SMALL * size).collect::<Vec<_>>();
    let near = |base: f32| large.iter().filter(|sign| (sign.base - base).abs() < 0.15 * size).count();
    large.iter().map(|sign| sign.base).max_by_key(|base| near(*base))
}

fn is_bracket(text: &str) -> bool {
    matches!(text, "(" | ")" | "[" | "]" | "{" | "}" | "|" | "‖" | "⟨" | "⟩" | "⌊" | "⌋" | "⌈" | "⌉")
}

fn is_accent(text: &str) -> bool {
    matches!(
        text,
        "ˆ" | "˜" | "¯" | "˙" | "¨" | "ˇ" | "\u{302}" | "\u{303}" | "\u{304}" | "\u{307}" | "\u{308}" | "\u{20d7}"
    )
}

/// Signs in line as atoms: letters of a word or function are one.
fn words(signs: &[Sign]) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::new();
    let mut at = 0;
    while let Some(first) = signs.get(at) {
        let letter = |sign: &Sign| sign.upright && sign.text.chars().all(char::is_alphabetic);
        let joined = |pair: &&[Sign]| letter(&pair[1]) && pair[1].x0 - pair[0].x1 < 0.12 * first.size;
        let rest = signs.get(at..).unwrap_or_default();
        let count = if letter(first) { 1 + rest.windows(2).take_while(joined).count() } else { 1 };
        let run = rest.get(..count).unwrap_or_default();
        let word = run.iter().map(|sign| sign.text.as_str()).collect::<String>();
        let latex = if is_function(&word) {
            format!("\\{word}")
        } else if letter(first) && word.chars().count() > 1 {
            format!("\\text{{{word}}}")
        } else if first.is_large() || first.is_integral() {
            nary(&word)
        } else {
            escape(&word, false)
        };
        // Signs that relate are read with space around them, and so LaTeX sets them: nothing is needed here.
        let limits = matches!(word.as_str(), "lim" | "max" | "min" | "sup" | "inf");
        let x1 = run.last().map_or(first.x1, |last| last.x1);
        let is_large = first.is_large() || first.is_integral() || limits;
        atoms.push(Atom { x0: first.x0, x1, latex, is_large, above: Vec::new(), below: Vec::new() });
        at += count;
    }
    atoms
}

/// Gives a small sign to what it belongs to: a sum whose limit it is, or what stands before it.
fn place(script: &Sign, atoms: &mut [Atom], base: f32, size: f32) -> Option<()> {
    if is_accent(&script.text) {
        let distance = |atom: &Atom| (f32::midpoint(atom.x0, atom.x1) - script.center()).abs();
        let letters = atoms.iter_mut().filter(|atom| !is_bracket(&atom.latex) && distance(atom) < 0.5 * size);
        let over = letters.min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
        over.latex = accent(&script.text, &over.latex);
        return Some(());
    }
    let above = script.base < base - 0.1 * size;
    if !above && script.base < base + 0.03 * size && !script.is_bracket() {
        return None;
    }
    let far = script.base > base + 0.55 * size || script.base < base - 0.75 * size;
    let limits = atoms.iter_mut().filter(|atom| far && atom.is_large).find(|atom| {
        let reach = 1.6 * size;
        script.center() > atom.x0 - reach && script.center() < atom.x1 + reach
    });
    let atom = match limits {
        Some(atom) => atom,
        None => atoms.iter_mut().rev().find(|atom| atom.x0 < script.x0 && script.x0 - atom.x1 < 4.0 * size)?,
    };
    if above { &mut atom.above } else { &mut atom.below }.push(script.clone());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(text: &str, x: f32, base: f32, size: f32) -> Sign {
        Sign { text: text.to_owned(), x0: x, x1: x + 0.5 * size, base, size, hangs: false, upright: false }
    }

    #[test]
    fn fractions_powers_roots_and_sums() {
        let mut signs = vec![sign("y", 0.0, 100.0, 10.0), sign("=", 10.0, 100.0, 10.0)];
        signs.extend([sign("a", 20.0, 93.0, 10.0), sign("+", 26.0, 93.0, 10.0), sign("b", 32.0, 93.0, 10.0)]);
        signs.extend([sign("c", 26.0, 107.0, 10.0), sign("+", 42.0, 100.0, 10.0), sign("∑", 52.0, 102.0, 14.0)]);
        signs.extend([
            sign("i", 50.0, 112.0, 6.0),
            sign("=", 53.0, 112.0, 6.0),
            sign("1", 57.0, 112.0, 6.0),
            sign("n", 54.0, 88.0, 6.0),
        ]);
        signs.extend([sign("x", 64.0, 100.0, 10.0), sign("2", 69.0, 96.0, 6.0), sign("i", 69.0, 103.0, 6.0)]);
        let bar = Bar { x0: 19.0, x1: 38.0, y: 97.0 };
        assert_eq!(latex(signs, vec![bar]).as_deref(), Some("y=\\frac{a+b}{c}+\\sum_{i=1}^{n}x_{i}^{2}"));
        let root = vec![
            sign("√", 0.0, 100.0, 10.0),
            sign("x", 6.0, 100.0, 10.0),
            sign("≤", 16.0, 100.0, 10.0),
            sign("α", 24.0, 100.0, 10.0),
        ];
        let bar = Bar { x0: 5.0, x1: 12.0, y: 92.0 };
        assert_eq!(latex(root, vec![bar]).as_deref(), Some("\\sqrt{x}\\le\\alpha"));
    }

    #[test]
    fn what_is_not_simple_is_not_guessed_at() {
        let rows = vec![sign("a", 0.0, 100.0, 10.0), sign("=", 8.0, 100.0, 10.0), sign("b", 16.0, 114.0, 10.0)];
        assert_eq!(latex(rows, Vec::new()), None);
        let bracket = vec![sign("⎛", 0.0, 100.0, 10.0), sign("a", 8.0, 100.0, 10.0)];
        assert_eq!(latex(bracket, Vec::new()), None);
        assert_eq!(latex(Vec::new(), Vec::new()), None);
    }

    #[test]
    fn names_of_functions_and_words_stand_upright() {
        let mut signs = vec![sign("m", 0.0, 100.0, 10.0), sign("a", 5.0, 100.0, 10.0), sign("x", 10.0, 100.0, 10.0)];
        for sign in &mut signs {
            sign.upright = true;
        }
        signs.extend([sign("i", 5.0, 109.0, 6.0), sign("f", 20.0, 100.0, 10.0), sign("′", 25.0, 96.0, 6.0)]);
        assert_eq!(latex(signs, Vec::new()).as_deref(), Some("\\max_{i}f'"));
    }
}
