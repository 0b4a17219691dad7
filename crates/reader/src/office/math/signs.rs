//! Signs of mathematics and their names in LaTeX.

/// Greek letters and operators; what is not here stands for itself.
const NAMES: [(char, &str); 78] = [
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
];

const FUNCTIONS: [&str; 24] = [
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "log", "ln", "lg",
    "exp", "lim", "max", "min", "sup", "inf", "det", "dim", "gcd",
];

pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Puts a piece behind others; the name of a command ends before a letter.
pub(super) fn append(out: &mut String, piece: &str) {
    let name = out.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let in_command = name.ends_with('\\') && name.len() < out.len();
    if in_command && piece.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        out.push(' ');
    }
    out.push_str(piece);
}

/// Text as LaTeX; `aligned`: the sign & is a command.
pub(super) fn escape(text: &str, aligned: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
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

/// A sign that gathers much, such as a sum.
pub(super) fn nary(sign: &str) -> String {
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
pub(super) fn bracket(sign: &str) -> &str {
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
pub(super) fn accent(sign: &str, base: &str) -> String {
    let wide = base.chars().count() > 1;
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
