//! Equations as one line of text, close to how they would be typed: `x = (-b ± √(b^2 - 4ac))/(2a)`.

use crate::package::{Child, Element};

/// An equation of Office (`oMath`) as text.
pub(super) fn office_math(element: Element<'_>) -> String {
    let mut out = String::new();
    write(element, &mut out);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn part(element: Element<'_>, name: &str) -> String {
    let mut out = String::new();
    if let Some(part) = element.child(name) {
        write(part, &mut out);
    }
    out.trim().to_owned()
}

/// Brackets around what is more than one sign.
fn grouped(text: &str) -> String {
    let bracketed = text.starts_with('(') && text.find(')') == Some(text.len() - 1);
    let single = bracketed || text.chars().count() <= 1 || text.chars().all(char::is_alphanumeric);
    if single { text.to_owned() } else { format!("({text})") }
}

fn write(element: Element<'_>, out: &mut String) {
    for child in element.children() {
        if let Child::Element(child) = child {
            write_one(child, out);
        }
    }
}

fn write_one(element: Element<'_>, out: &mut String) {
    match element.name() {
        "t" => out.push_str(&element.text()),
        "br" => out.push(' '),
        name if name.ends_with("Pr") => {}
        name => match structure(element, name) {
            Some(shown) => out.push_str(&shown),
            None => write(element, out),
        },
    }
}

/// An element that puts its parts together in its own way; None for those that only group.
fn structure(element: Element<'_>, name: &str) -> Option<String> {
    let value = |properties: &str, name: &str, usual: &str| {
        let found = element.path(&[properties, name]).and_then(|found| found.attribute("val"));
        found.unwrap_or(usual).to_owned()
    };
    let base = || part(element, "e");
    let part_in_brackets = |name: &str| grouped(&part(element, name));
    Some(match name {
        "f" if value("fPr", "type", "bar") == "noBar" => {
            format!("{} over {}", part(element, "num"), part(element, "den"))
        }
        "f" => format!("{}/{}", part_in_brackets("num"), part_in_brackets("den")),
        "sSup" => format!("{}^{}", base(), part_in_brackets("sup")),
        "sSub" => format!("{}_{}", base(), part_in_brackets("sub")),
        "sSubSup" | "sPre" => format!("{}_{}^{}", base(), part_in_brackets("sub"), part_in_brackets("sup")),
        "rad" => format!("{}√{}", part(element, "deg"), part_in_brackets("e")),
        "nary" => {
            let bound = |mark: &str, name: &str| {
                let bound = part_in_brackets(name);
                if bound.is_empty() { bound } else { format!("{mark}{bound}") }
            };
            format!("{}{}{} {}", value("naryPr", "chr", "∫"), bound("_", "sub"), bound("^", "sup"), base())
        }
        "d" => {
            let inside = joined(element, "e", &value("dPr", "sepChr", "|"));
            format!("{}{inside}{}", value("dPr", "begChr", "("), value("dPr", "endChr", ")"))
        }
        "func" => format!("{} {}", part(element, "fName"), part_in_brackets("e")),
        "limLow" => format!("{}_{}", base(), part_in_brackets("lim")),
        "limUpp" => format!("{}^{}", base(), part_in_brackets("lim")),
        "acc" => format!("{}{}", base(), value("accPr", "chr", "\u{302}")),
        "bar" => format!("{}\u{305}", base()),
        "m" => {
            let rows: Vec<String> = element.all("mr").map(|row| joined(row, "e", ", ")).collect();
            format!("[{}]", rows.join("; "))
        }
        "eqArr" => joined(element, "e", "; "),
        _ => return None,
    })
}

fn joined(element: Element<'_>, name: &str, between: &str) -> String {
    let parts: Vec<String> = element
        .all(name)
        .map(|part| {
            let mut out = String::new();
            write(part, &mut out);
            out.trim().to_owned()
        })
        .collect();
    parts.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{options::Limits, package::Tree};

    fn shown(xml: &str) -> String {
        office_math(Tree::parse(xml, &Limits::default()).unwrap().root())
    }

    #[test]
    fn equations_read_as_they_would_be_typed() {
        let square = "<oMath><r><t>a</t></r><r><t>=</t></r><sSup><e><r><t>b</t></r></e><sup><r><t>2</t></r></sup></sSup></oMath>";
        assert_eq!(shown(square), "a=b^2");
        let fraction = "<oMath><f><num><r><t>a+b</t></r></num><den><rad><radPr/><deg/><e><r><t>c</t></r></e></rad></den></f></oMath>";
        assert_eq!(shown(fraction), "(a+b)/(√c)");
        let sum = "<oMath><nary><naryPr><chr val='∑'/></naryPr><sub><r><t>i=1</t></r></sub><sup><r><t>n</t></r></sup><e><d><e><r><t>x</t></r></e></d></e></nary></oMath>";
        assert_eq!(shown(sum), "∑_(i=1)^n (x)");
    }
}
