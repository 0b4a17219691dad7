//! Listings of programs: lines of a typewriter's font that say what programs say. Their columns are no table.

use super::{inlines::Writer, lines::Line};

/// Fewer lines are an example within a text, and no table either.
const FEWEST_LINES: usize = 3;

/// Which segments belong to a listing.
pub(crate) fn listings(segments: &[Line], writer: &Writer<'_>) -> Vec<bool> {
    let mut found = vec![false; segments.len()];
    if !writer.content.fonts.iter().any(|font| font.monospace) {
        return found;
    }
    // Segments in a typewriter's font, from top to bottom.
    let mut typed = (0..segments.len()).filter(|at| writer.is_monospace(&segments[*at])).collect::<Vec<_>>();
    typed.sort_by(|one, other| segments[*one].base.total_cmp(&segments[*other].base));
    let mut start = 0;
    while start < typed.len() {
        let follows = |pair: &&[usize]| {
            let (above, below) = (&segments[pair[0]], &segments[pair[1]]);
            below.base - above.base <= 3.0 * above.size.max(below.size)
        };
        let length = typed[start..].windows(2).take_while(follows).count() + 1;
        let block = &typed[start..start + length];
        if is_program(block, segments, writer) {
            for at in block {
                found[*at] = true;
            }
        }
        start += length;
    }
    found
}

/// Whether many lines of a block read as those of a program.
fn is_program(block: &[usize], segments: &[Line], writer: &Writer<'_>) -> bool {
    let mut lines: Vec<(f32, String)> = Vec::new();
    for at in block {
        let segment = &segments[*at];
        let text = writer.plain_line(segment);
        match lines.last_mut() {
            Some((base, line)) if (*base - segment.base).abs() <= 0.3 * segment.size => {
                line.push(' ');
                line.push_str(&text);
            }
            _ => lines.push((segment.base, text)),
        }
    }
    let programmed = lines.iter().filter(|(_, line)| is_statement(line)).count();
    lines.len() >= FEWEST_LINES && programmed * 5 >= lines.len() * 2
}

/// Whether a line reads as one of a program.
fn is_statement(line: &str) -> bool {
    let line = line.trim();
    let ends = line.ends_with([';', '{', '}']) || line.ends_with("):") || line.ends_with("*/");
    let begins = ["#include", "#define", "//", "/*", "import ", "from ", "def ", "return ", "for (", "if (", "while ("];
    let holds = ["()", " == ", " != ", " := ", "->", " += ", "::", " && ", "</"];
    ends || begins.iter().any(|word| line.starts_with(word)) || holds.iter().any(|sign| line.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::is_statement;

    #[test]
    fn programs_are_told_from_reports() {
        for line in ["int main() {", "x = 3;", "}", "def read(path):", "if (a == b)", "// sums", "std::vector<int> a"] {
            assert!(is_statement(line), "{line}");
        }
        for line in
            ["03/02/20 News 4 @10p 9:59 PM-10:34 PM :30 $15.00 NM", "Total: 12", "Mon-Fri (all day)", "Rate 0.00"]
        {
            assert!(!is_statement(line), "{line}");
        }
    }
}
