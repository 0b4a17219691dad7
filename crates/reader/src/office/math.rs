//! Equations of Office (OMML) as LaTeX: `x=\frac{-b\pm \sqrt{b^{2}-4ac}}{2a}`.

use crate::{
    latex::{accent, append, bracket, escape, is_function, nary},
    package::Element,
};

/// What stands where a file has an equation in a form that is not read.
pub(super) const NOT_READ: &str = "[formula not read]";

/// Whether an object was made by an equation editor of old: its text is in a form of its own, beside a picture.
pub(super) fn is_old_equation(program: &str) -> bool {
    program.starts_with("Equation") || program.starts_with("MathType")
}

/// An equation of Office (`oMath`, or `oMathPara` with several).
pub(super) fn office_math(element: Element<'_>) -> String {
    if element.is("oMathPara") {
        let equations: Vec<String> = element.all("oMath").map(|equation| tex(equation, false)).collect();
        return equations.join(" \\\\ ");
    }
    tex(element, false)
}

/// What an element holds; `aligned`: the sign & says where lines are brought under each other.
fn tex(element: Element<'_>, aligned: bool) -> String {
    let mut out = String::new();
    for child in element.elements() {
        append(&mut out, &one(child, aligned));
    }
    out.trim().to_owned()
}

fn part(element: Element<'_>, name: &str) -> String {
    element.child(name).map(|part| tex(part, false)).unwrap_or_default()
}

/// What a power or an index may be set to without brackets around it.
fn base(element: Element<'_>) -> String {
    let base = part(element, "e");
    let command = base.strip_prefix('\\').is_some_and(|name| name.chars().all(|letter| letter.is_ascii_alphabetic()));
    if base.chars().count() <= 1 || command || base.ends_with([')', ']', '}']) { base } else { format!("{{{base}}}") }
}

/// An index or a power; nothing where there is none.
fn script(mark: char, element: Element<'_>, name: &str) -> String {
    let script = part(element, name);
    if script.is_empty() { script } else { format!("{mark}{{{script}}}") }
}

fn one(element: Element<'_>, aligned: bool) -> String {
    let value = |properties: &str, name: &str| {
        let found = element.path(&[properties, name]);
        found.map(|found| found.attribute("val").unwrap_or_default())
    };
    match element.name() {
        "r" => run(element, aligned),
        "br" => " ".to_owned(),
        "f" => fraction(element, value("fPr", "type")),
        "sSup" => format!("{}{}", base(element), script('^', element, "sup")),
        "sSub" => format!("{}{}", base(element), script('_', element, "sub")),
        "sSubSup" => format!("{}{}{}", base(element), script('_', element, "sub"), script('^', element, "sup")),
        "sPre" => format!("{{}}{}{}{}", script('_', element, "sub"), script('^', element, "sup"), part(element, "e")),
        "rad" => match part(element, "deg") {
            degree if degree.is_empty() => format!("\\sqrt{{{}}}", part(element, "e")),
            degree => format!("\\sqrt[{degree}]{{{}}}", part(element, "e")),
        },
        "nary" => {
            let sign = nary(value("naryPr", "chr").unwrap_or("∫"));
            let mut out = format!("{sign}{}{}", script('_', element, "sub"), script('^', element, "sup"));
            out.push(' ');
            out + &part(element, "e")
        }
        "d" => brackets(element, value("dPr", "begChr"), value("dPr", "endChr"), value("dPr", "sepChr")),
        "func" => {
            let mut out = function(&part(element, "fName"));
            append(&mut out, &part(element, "e"));
            out
        }
        "limLow" | "limUpp" => limit(element),
        "acc" => accent(value("accPr", "chr").unwrap_or("\u{302}"), &part(element, "e")),
        "bar" if value("barPr", "pos") == Some("top") => format!("\\overline{{{}}}", part(element, "e")),
        "bar" => format!("\\underline{{{}}}", part(element, "e")),
        "groupChr" => match value("groupChrPr", "chr").unwrap_or("⏟") {
            "⏞" => format!("\\overbrace{{{}}}", part(element, "e")),
            "⏟" => format!("\\underbrace{{{}}}", part(element, "e")),
            _ => part(element, "e"),
        },
        "borderBox" => format!("\\boxed{{{}}}", part(element, "e")),
        "m" => format!("\\begin{{matrix}}{}\\end{{matrix}}", rows(element)),
        "eqArr" => format!("\\begin{{aligned}}{}\\end{{aligned}}", lines(element)),
        name if name.ends_with("Pr") => String::new(),
        _ => tex(element, aligned),
    }
}

/// Letters, signs and words.
fn run(element: Element<'_>, aligned: bool) -> String {
    let text: String = element.all("t").map(Element::text).collect();
    if element.path(&["rPr", "nor"]).is_some() && text.chars().any(char::is_alphabetic) {
        return format!("\\text{{{}}}", text.replace(['{', '}', '\\', '$'], ""));
    }
    escape(&text, aligned)
}

fn fraction(element: Element<'_>, kind: Option<&str>) -> String {
    let (above, below) = (part(element, "num"), part(element, "den"));
    match kind {
        Some("noBar") => format!("{{{above} \\atop {below}}}"),
        Some("lin") => format!("{above}/{below}"),
        _ => format!("\\frac{{{above}}}{{{below}}}"),
    }
}

/// The name of a function, upright as such names are.
fn function(name: &str) -> String {
    if is_function(name) {
        return format!("\\{name}");
    }
    let is_word = name.chars().count() > 1 && name.chars().all(char::is_alphabetic);
    if is_word { format!("\\operatorname{{{name}}}") } else { name.to_owned() }
}

fn limit(element: Element<'_>) -> String {
    let (name, limit) = (function(&part(element, "e")), part(element, "lim"));
    let (mark, command) = if element.is("limLow") { ('_', "underset") } else { ('^', "overset") };
    if name.starts_with('\\') {
        format!("{name}{mark}{{{limit}}}")
    } else {
        format!("\\{command}{{{limit}}}{{{name}}}")
    }
}

/// Brackets around one or several things; around a matrix or a stack they have names of their own.
fn brackets(element: Element<'_>, begin: Option<&str>, end: Option<&str>, between: Option<&str>) -> String {
    let (begin, end) = (begin.unwrap_or("("), end.unwrap_or(")"));
    let parts: Vec<Element<'_>> = element.all("e").collect();
    if let [only] = parts.as_slice() {
        let mut inside = only.elements().filter(|inside| !inside.name().ends_with("Pr"));
        if let (Some(inside), None) = (inside.next(), inside.next()) {
            let named = match (inside.name(), begin, end) {
                ("m", "(", ")") => Some("pmatrix"),
                ("m", "[", "]") => Some("bmatrix"),
                ("m", "{", "}") => Some("Bmatrix"),
                ("m", "|", "|") => Some("vmatrix"),
                ("m", "‖", "‖") => Some("Vmatrix"),
                ("eqArr", "{", "") => Some("cases"),
                _ => None,
            };
            if let Some(name) = named {
                let inside = if inside.is("m") { rows(inside) } else { lines(inside) };
                return format!("\\begin{{{name}}}{inside}\\end{{{name}}}");
            }
            let is_stack =
                inside.is("f") && inside.path(&["fPr", "type"]).and_then(|kind| kind.attribute("val")) == Some("noBar");
            if is_stack && (begin, end) == ("(", ")") {
                return format!("\\binom{{{}}}{{{}}}", part(inside, "num"), part(inside, "den"));
            }
        }
    }
    let between = escape(between.unwrap_or("|"), false);
    let inside = parts.into_iter().map(|part| tex(part, false)).collect::<Vec<_>>().join(&between);
    let tall = ["\\frac", "\\begin", "\\sum", "\\prod", "\\int", "\\binom"].iter().any(|tall| inside.contains(tall));
    let (left, right) = (bracket(begin), bracket(end));
    if tall || begin.is_empty() || end.is_empty() {
        let mut out = format!("\\left{left}");
        append(&mut out, &inside);
        return format!("{out}\\right{right}");
    }
    let mut out = left.to_owned();
    append(&mut out, &inside);
    append(&mut out, right);
    out
}

fn rows(matrix: Element<'_>) -> String {
    let row = |row: Element<'_>| row.all("e").map(|cell| tex(cell, false)).collect::<Vec<_>>().join(" & ");
    matrix.all("mr").map(row).collect::<Vec<_>>().join(" \\\\ ")
}

fn lines(stack: Element<'_>) -> String {
    stack.all("e").map(|line| tex(line, true)).collect::<Vec<_>>().join(" \\\\ ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{options::Limits, package::Tree};

    fn latex(xml: &str) -> String {
        office_math(Tree::parse(&format!("<oMath>{xml}</oMath>"), &Limits::default()).unwrap().root())
    }

    #[test]
    fn powers_fractions_roots_and_sums() {
        let r = |text: &str| format!("<r><t>{text}</t></r>");
        let square = format!("{}<sSup><e>{}</e><sup>{}</sup></sSup>", r("a="), r("b"), r("2"));
        assert_eq!(latex(&square), "a=b^{2}");
        let fraction = format!("<f><num>{}</num><den><rad><radPr/><deg/><e>{}</e></rad></den></f>", r("a±β"), r("c"));
        assert_eq!(latex(&fraction), "\\frac{a\\pm \\beta}{\\sqrt{c}}");
        let cube = format!("<rad><deg>{}</deg><e>{}</e></rad>", r("3"), r("x"));
        assert_eq!(latex(&cube), "\\sqrt[3]{x}");
        let sum = format!(
            "<nary><naryPr><chr val='∑'/></naryPr><sub>{}</sub><sup>{}</sup><e><sSub><e>{}</e><sub>{}</sub></sSub></e></nary>",
            r("i=1"),
            r("n"),
            r("x"),
            r("i")
        );
        assert_eq!(latex(&sum), "\\sum_{i=1}^{n} x_{i}");
    }

    #[test]
    fn brackets_matrices_and_cases() {
        let r = |text: &str| format!("<r><t>{text}</t></r>");
        let matrix =
            format!("<m><mr><e>{}</e><e>{}</e></mr><mr><e>{}</e><e>{}</e></mr></m>", r("a"), r("b"), r("c"), r("d"));
        assert_eq!(latex(&format!("<d><e>{matrix}</e></d>")), "\\begin{pmatrix}a & b \\\\ c & d\\end{pmatrix}");
        assert_eq!(latex(&matrix), "\\begin{matrix}a & b \\\\ c & d\\end{matrix}");
        let norm = format!("<d><dPr><begChr val='|'/><endChr val='|'/></dPr><e>{}</e></d>", r("x"));
        assert_eq!(latex(&norm), "\\vert x\\vert");
        let half = format!("<d><e><f><num>{}</num><den>{}</den></f></e></d>", r("1"), r("2"));
        assert_eq!(latex(&half), "\\left(\\frac{1}{2}\\right)");
        let choose = half.replace("<f>", "<f><fPr><type val='noBar'/></fPr>");
        assert_eq!(latex(&choose), "\\binom{1}{2}");
        let cases = format!(
            "<d><dPr><begChr val='{{'/><endChr val=''/></dPr><e><eqArr><e>{}</e><e>{}</e></eqArr></e></d>",
            r("x&amp;=1"),
            r("y&amp;=2")
        );
        assert_eq!(latex(&cases), "\\begin{cases}x&=1 \\\\ y&=2\\end{cases}");
    }

    #[test]
    fn functions_accents_and_words() {
        let r = |text: &str| format!("<r><t>{text}</t></r>");
        assert_eq!(latex(&format!("<func><fName>{}</fName><e>{}</e></func>", r("sin"), r("x"))), "\\sin x");
        let limit = format!(
            "<func><fName><limLow><e>{}</e><lim>{}</lim></limLow></fName><e>{}</e></func>",
            r("lim"),
            r("n→∞"),
            r("a")
        );
        assert_eq!(latex(&limit), "\\lim_{n\\to \\infty}a");
        assert_eq!(latex(&format!("<acc><e>{}</e></acc>", r("x"))), "\\hat{x}");
        let arrow = format!("<acc><accPr><chr val='\u{20d7}'/></accPr><e>{}</e></acc>", r("v"));
        assert_eq!(latex(&arrow), "\\vec{v}");
        assert_eq!(latex("<r><rPr><nor/></rPr><t>if 5 %</t></r>"), "\\text{if 5 %}");
        assert_eq!(latex(&r("50% of {a_b} &amp; $")), "50\\% of \\{a\\_b\\} \\& \\$");
        let two = Tree::parse(
            "<oMathPara><oMath><r><t>a</t></r></oMath><oMath><r><t>b</t></r></oMath></oMathPara>",
            &Limits::default(),
        );
        assert_eq!(office_math(two.unwrap().root()), "a \\\\ b");
    }
}
