//! What a person reads on a page: without scripts and styles, and with its lines where a browser breaks them.

use super::{Element, Html};

/// A text without tags, with `&amp;` as what it stands for, on one line.
pub fn plain(text: &str) -> String {
    if text.contains(['<', '&']) {
        return Html::parse(text).root().text();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'a> Element<'a> {
    /// What a person reads here, on one line.
    pub fn text(&self) -> String {
        let mut words = String::new();
        for line in self.lines() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(&line);
        }
        words
    }

    /// What a person reads here, line by line; empty lines are left out.
    pub fn lines(&self) -> Vec<String> {
        let (mut lines, mut line) = (Vec::new(), String::new());
        let mut finish = |line: &mut String| {
            let neat = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if !neat.is_empty() {
                lines.push(neat);
            }
            line.clear();
        };
        self.walk(|visit| match visit {
            Visit::Text(text) => line.push_str(text),
            Visit::Enter(name) | Visit::Leave(name) if breaks_the_line(name) => finish(&mut line),
            Visit::Enter("td" | "th") => line.push(' '),
            Visit::Enter(_) | Visit::Leave(_) => {}
        });
        finish(&mut line);
        lines
    }

    /// Goes over everything that is shown.
    fn walk(&self, mut visit: impl FnMut(Visit<'a>)) {
        let tree = self.tree;
        let mut at = self.id;
        loop {
            if let Some(text) = tree.text(at) {
                visit(Visit::Text(text));
            }
            let name = tree.name(at);
            if let Some(name) = name {
                visit(Visit::Enter(name));
            }
            let hidden = matches!(name, Some("script" | "style" | "template" | "noscript"));
            if let Some(child) = tree.first_child(at).filter(|_| !hidden) {
                at = child;
                continue;
            }
            loop {
                if let Some(name) = tree.name(at) {
                    visit(Visit::Leave(name));
                }
                if at == self.id {
                    return;
                }
                if let Some(next) = tree.next(at) {
                    at = next;
                    break;
                }
                let Some(parent) = tree.parent(at) else { return };
                at = parent;
            }
        }
    }
}

enum Visit<'a> {
    Enter(&'a str),
    Text(&'a str),
    Leave(&'a str),
}

fn breaks_the_line(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "blockquote"
            | "br"
            | "dd"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "section"
            | "table"
            | "tr"
            | "ul"
    )
}

#[cfg(test)]
mod tests {
    use super::plain;
    use crate::html::{Html, tests::PAGE};

    #[test]
    fn text_is_what_a_person_reads() {
        let html = Html::parse(PAGE);
        assert_eq!(html.first("div").unwrap().lines(), ["One two", "Three", "four"]);
        assert_eq!(html.first("tr").unwrap().text(), "x y Agenda");
        assert!(!html.root().text().contains("hidden"));
        assert!(html.root().raw_text().contains("hidden"));
    }

    #[test]
    fn plain_text_has_no_tags() {
        assert_eq!(plain("Parks <b>&amp;</b>\n Trails &#8211; north"), "Parks & Trails – north");
        assert_eq!(plain("  two \t words "), "two words");
    }
}
