//! LaTeX of formulas: signs of mathematics and their names, and what a formula says as plain text.

/// Greek letters and operators; what is not here stands for itself.
const NAMES: [(char, &str); 102] = [
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "varepsilon"),
    ('ϵ', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ϑ', "vartheta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "varphi"),
    ('ϕ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
    ('±', "pm"),
    ('∓', "mp"),
    ('×', "times"),
    ('⋅', "cdot"),
    ('·', "cdot"),
    ('÷', "div"),
    ('≤', "le"),
    ('≥', "ge"),
    ('≠', "ne"),
    ('≈', "approx"),
    ('≡', "equiv"),
    ('∼', "sim"),
    ('∝', "propto"),
    ('∞', "infty"),
    ('∂', "partial"),
    ('∇', "nabla"),
    ('∑', "sum"),
    ('∏', "prod"),
    ('∫', "int"),
    ('→', "to"),
    ('←', "leftarrow"),
    ('↔', "leftrightarrow"),
    ('⇒', "Rightarrow"),
    ('⇔', "Leftrightarrow"),
    ('∈', "in"),
    ('∉', "notin"),
    ('⊂', "subset"),
    ('⊆', "subseteq"),
    ('∪', "cup"),
    ('∩', "cap"),
    ('∅', "emptyset"),
    ('∀', "forall"),
    ('∃', "exists"),
    ('¬', "neg"),
    ('∧', "wedge"),
    ('∨', "vee"),
    ('∘', "circ"),
    ('…', "dots"),
    ('⋯', "cdots"),
    ('|', "vert"),
    ('‖', "Vert"),
    ('ℏ', "hbar"),
    ('⊤', "top"),
    ('⊥', "perp"),
    ('†', "dagger"),
    ('‡', "ddagger"),
    ('⊗', "otimes"),
    ('⊕', "oplus"),
    ('⊙', "odot"),
    ('≪', "ll"),
    ('≫', "gg"),
    ('≃', "simeq"),
    ('≅', "cong"),
    ('⩽', "leqslant"),
    ('⩾', "geqslant"),
    ('≲', "lesssim"),
    ('≳', "gtrsim"),
    ('⟨', "langle"),
    ('⟩', "rangle"),
    ('ℓ', "ell"),
    ('∗', "ast"),
    ('⊃', "supset"),
    ('⊇', "supseteq"),
    ('∖', "setminus"),
    ('↦', "mapsto"),
    ('∐', "coprod"),
];

const FUNCTIONS: [&str; 24] = [
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log", "ln", "lg",
    "exp", "lim", "max", "min", "sup", "inf", "det", "dim", "gcd",
];

pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Puts a piece behind others; the name of a command ends before a letter.
pub(crate) fn append(out: &mut String, piece: &str) {
    let name = out.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let in_command = name.ends_with('\\') && name.len() < out.len();
    if in_command && piece.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        out.push(' ');
    }
    out.push_str(piece);
}

/// Text as LaTeX; `aligned`: the sign & is a command.
pub(crate) fn escape(text: &str, aligned: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars().map(letter) {
        match sign {
            '&' if aligned => out.push('&'),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => out.extend(['\\', sign]),
            '\\' => append(&mut out, "\\backslash "),
            '^' => out.push_str("\\hat{}"),
            '~' => append(&mut out, "\\sim "),
            '−' => out.push('-'),
            '′' => out.push('\''),
            // Signs that only tell Word how to set others.
            '\u{2061}'..='\u{2064}' | '\u{200b}' => {}
            _ => match NAMES.iter().find(|(known, _)| *known == sign) {
                Some((_, name)) => {
                    out.push('\\');
                    out.push_str(name);
                    out.push(' ');
                }
                None => out.push(sign),
            },
        }
    }
    // A command needs the space only before a letter.
    let bare = out.trim_end();
    if text.ends_with(char::is_whitespace) { out } else { bare.to_owned() }
}

/// The letter or digit that a sign of the mathematical alphabets is a style of; any other sign is itself.
fn letter(sign: char) -> char {
    const GREEK: &str = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΘΣΤΥΦΧΨΩ∇αβγδεζηθικλμνξοπρςστυφχψω∂ϵϑϰϕϱϖ";
    let code = u32::from(sign);
    let of = |first: char, place: u32| char::from_u32(u32::from(first) + place).unwrap_or(sign);
    match code {
        0x1d400..=0x1d6a3 => match (code - 0x1d400) % 52 {
            place @ 0..26 => of('A', place),
            place => of('a', place - 26),
        },
        0x1d6a8..=0x1d7c9 => GREEK.chars().nth((code as usize - 0x1d6a8) % 58).unwrap_or(sign),
        0x1d7ce..=0x1d7ff => of('0', (code - 0x1d7ce) % 10),
        0x210e => 'h',
        // The signs of units.
        0x2126 => 'Ω',
        0x2206 => 'Δ',
        0xb5 => 'μ',
        _ => sign,
    }
}

/// A sign that gathers much, such as a sum.
pub(crate) fn nary(sign: &str) -> String {
    let name = match sign {
        "∑" => "sum",
        "∏" => "prod",
        "∐" => "coprod",
        "∫" | "" => "int",
        "∬" => "iint",
        "∭" => "iiint",
        "∮" => "oint",
        "⋃" => "bigcup",
        "⋂" => "bigcap",
        "⋁" => "bigvee",
        "⋀" => "bigwedge",
        "⨁" => "bigoplus",
        "⨂" => "bigotimes",
        other => return escape(other, false),
    };
    format!("\\{name}")
}

/// One side of brackets; a point stands for none.
pub(crate) fn bracket(sign: &str) -> &str {
    match sign {
        "" => ".",
        "{" => "\\{",
        "}" => "\\}",
        "|" => "\\vert",
        "‖" => "\\Vert",
        "⌊" => "\\lfloor",
        "⌋" => "\\rfloor",
        "⌈" => "\\lceil",
        "⌉" => "\\rceil",
        "⟨" | "〈" => "\\langle",
        "⟩" | "〉" => "\\rangle",
        other => other,
    }
}

/// A sign above letters.
pub(crate) fn accent(sign: &str, base: &str) -> String {
    // A letter with a name is one letter.
    let named = base.strip_prefix('\\').is_some_and(|name| name.chars().all(|letter| letter.is_ascii_alphabetic()));
    let wide = base.chars().count() > 1 && !named;
    let name = match sign {
        "\u{303}" | "~" if wide => "widetilde",
        "\u{303}" | "~" => "tilde",
        "\u{304}" | "\u{305}" | "¯" if wide => "overline",
        "\u{304}" | "\u{305}" | "¯" => "bar",
        "\u{307}" | "˙" => "dot",
        "\u{308}" | "¨" => "ddot",
        "\u{30c}" => "check",
        "\u{306}" => "breve",
        "\u{300}" => "grave",
        "\u{301}" => "acute",
        "\u{20d7}" | "→" if wide => "overrightarrow",
        "\u{20d7}" | "→" => "vec",
        _ if wide => "widehat",
        _ => "hat",
    };
    format!("\\{name}{{{base}}}")
}

/// A formula in one line without commands: `(a+b)/c`, as it is read in plain text.
pub(crate) fn plain(latex: &str) -> String {
    let mut out = String::with_capacity(latex.len());
    let mut rest = latex;
    while let Some(sign) = rest.chars().next() {
        rest = match sign {
            '\\' => command(rest, &mut out),
            '{' | '}' | '_' | '^' | '$' => &rest[1..],
            '&' => {
                out.push(' ');
                &rest[1..]
            }
            _ => {
                out.push(sign);
                &rest[sign.len_utf8()..]
            }
        };
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes what a command at the beginning of a text stands for; what is left behind it.
fn command<'t>(text: &'t str, out: &mut String) -> &'t str {
    let behind = text.strip_prefix('\\').unwrap_or(text);
    let length = behind.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(behind.len());
    let (name, rest) = behind.split_at(length);
    match name {
        "" => {
            let sign = rest.chars().next().unwrap_or(' ');
            out.push(if matches!(sign, '\\' | ',' | ';' | '!' | ':') { ' ' } else { sign });
            rest.get(sign.len_utf8()..).unwrap_or_default()
        }
        "frac" => {
            let (above, rest) = group(rest);
            let (below, rest) = group(rest);
            for (part, sign) in [(above, "/"), (below, "")] {
                let part = plain(part);
                let simple = part.chars().all(char::is_alphanumeric);
                let (open, close) = if simple { ("", "") } else { ("(", ")") };
                out.extend([open, &part, close, sign]);
            }
            rest
        }
        "sqrt" => {
            out.push('√');
            rest
        }
        "begin" | "end" => {
            out.push(' ');
            group(rest).1
        }
        "tag" => {
            let (number, rest) = group(rest);
            out.extend([" (", number, ")"]);
            rest
        }
        "left" | "right" | "text" | "operatorname" => rest.strip_prefix('.').unwrap_or(rest),
        "quad" | "qquad" => {
            out.push(' ');
            rest
        }
        _ => {
            match NAMES.iter().find(|(_, known)| *known == name) {
                Some((sign, _)) => out.push(*sign),
                // The names of functions are read; those of accents and brackets are not.
                None if is_function(name) => {
                    out.push_str(name);
                    out.push(' ');
                }
                None => {}
            }
            rest.strip_prefix(' ').unwrap_or(rest)
        }
    }
}

/// What stands in the braces at the beginning of a text, and what is behind them.
fn group(text: &str) -> (&str, &str) {
    let Some(inside) = text.strip_prefix('{') else { return ("", text) };
    let mut depth = 1;
    let mut escaped = false;
    for (at, sign) in inside.char_indices() {
        match sign {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&inside[..at], &inside[at + 1..]);
        }
    }
    (inside, "")
}

#[cfg(test)]
mod tests {
    use super::{escape, plain};

    #[test]
    fn styles_of_letters_are_the_letters() {
        assert_eq!(escape("𝑥𝐀𝟏𝛼ℎ𝜕", false), "xA1\\alpha h\\partial");
    }

    #[test]
    fn formulas_are_read_in_one_line() {
        for (latex, said) in [
            ("y=\\frac{a+b}{c}+\\sum_{i=1}^{n}x^{2}", "y=(a+b)/c+∑i=1nx2"),
            ("\\sqrt{x}\\le \\alpha \\tag{3}", "√x≤α (3)"),
            ("\\left(\\frac{1}{2}\\right)", "(1/2)"),
            ("\\begin{pmatrix}a & b \\\\ c & d\\end{pmatrix}", "a b c d"),
            ("\\sin x=50\\%\\text{ if }\\hat{y}", "sin x=50% if y"),
            ("{\\frac{", "/"),
        ] {
            assert_eq!(plain(latex), said, "{latex}");
        }
    }
}
