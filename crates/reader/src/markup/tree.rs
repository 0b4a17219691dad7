//! The tree of an HTML document, in one flat list: nothing here recurses, so that no nesting can exhaust the stack.
//!
//! The HTML parser takes time that grows with the nesting at every tag, and repeats open formatting in every block. A
//! document that is deeper than people write is therefore flattened: tags beyond the limit are left out, their text is kept.

use crate::options::Limits;
use html5ever::{
    Attribute, LocalName, Namespace, QualName, TokenizerResult,
    interface::tree_builder::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink},
    tendril::StrTendril,
    tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts},
    tree_builder::{TreeBuilder, TreeBuilderOpts},
};
use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    time::Instant,
};

/// No document of people has more; each costs memory.
const MOST_NODES: usize = 2_000_000;

/// What is parsed between two looks at the clock: some tags take time that grows with their length squared.
const PIECE_BYTES: usize = 16 * 1024;

/// How much deeper than the limit the parser's own repairs may get before every further tag is left out.
const SLACK: u32 = 64;

/// A place in a [`Tree`].
pub type NodeId = u32;

#[derive(Debug)]
pub(crate) enum Content {
    Document,
    Element {
        name: QualName,
        attributes: Vec<Attribute>,
        template: Option<NodeId>,
    },
    Text(String),
    /// Comments and instructions.
    Nothing,
}

#[derive(Debug)]
struct Node {
    parent: Option<NodeId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
    first_child: Option<NodeId>,
    last_child: Option<NodeId>,
    depth: u32,
    content: Content,
}

/// A parsed document.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Tags were left out, because the document is nested too deeply or has too many of them.
    pub flattened: bool,
    /// Parsing took too long, and what was left was not parsed.
    pub cut: bool,
}

impl Tree {
    pub const ROOT: NodeId = 0;

    pub fn parse(html: &str, limits: &Limits) -> Self {
        let (started, patience, mut cut) = (Instant::now(), limits.time_per_page / 2, false);
        let deepest = u32::try_from(limits.xml_depth).unwrap_or(u32::MAX).clamp(16, 4096);
        let builder = TreeBuilder::new(Sink::new(), TreeBuilderOpts { scripting_enabled: false, ..Default::default() });
        let tokenizer =
            Tokenizer::new(Guard { builder, deepest, flattened: Cell::new(false) }, TokenizerOpts::default());
        let input = BufferQueue::default();
        for piece in pieces(html) {
            if started.elapsed() > patience {
                cut = true;
                break;
            }
            input.push_back(StrTendril::from_slice(piece));
            while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        }
        tokenizer.end();
        let guard = tokenizer.sink;
        let flattened = guard.flattened.get();
        Self { nodes: guard.builder.sink.finish(), flattened, cut }
    }

    pub(crate) fn content(&self, id: NodeId) -> &Content {
        self.node(id).map_or(&Content::Nothing, |node| &node.content)
    }

    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.first_child
    }

    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.next
    }

    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.parent
    }

    /// The element's name, e.g. "td"; None if it is no element.
    pub fn name(&self, id: NodeId) -> Option<&str> {
        match self.content(id) {
            Content::Element { name, .. } => Some(&*name.local),
            _ => None,
        }
    }

    /// What a piece of text says; None if it is none.
    pub fn text(&self, id: NodeId) -> Option<&str> {
        match self.content(id) {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn attribute(&self, id: NodeId, wanted: &str) -> Option<&str> {
        let Content::Element { attributes, .. } = self.content(id) else { return None };
        attributes.iter().find(|attribute| &*attribute.name.local == wanted).map(|attribute| &*attribute.value)
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id as usize)
    }
}

/// The text in pieces.
fn pieces(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len().min(PIECE_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

/// Stands before the tree builder and leaves out tags that nest too deeply.
struct Guard {
    builder: TreeBuilder<NodeId, Sink>,
    deepest: u32,
    flattened: Cell<bool>,
}

impl Guard {
    fn leaves_out(&self, tag: &Tag) -> bool {
        let sink = &self.builder.sink;
        if sink.nodes.borrow().len() > MOST_NODES || sink.deepest.get() > self.deepest + SLACK {
            return true;
        }
        // Of these the tokenizer must know that what follows is no markup; they do not nest.
        let raw =
            matches!(&*tag.name, "script" | "style" | "title" | "textarea" | "xmp" | "iframe" | "noembed" | "noframes");
        sink.depth.get() > self.deepest && !raw
    }
}

impl TokenSink for Guard {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if let Token::TagToken(tag) = &token {
            let sink = &self.builder.sink;
            match tag.kind {
                TagKind::StartTag if self.leaves_out(tag) => {
                    self.flattened.set(true);
                    return TokenSinkResult::Continue;
                }
                TagKind::StartTag => {}
                TagKind::EndTag => sink.depth.set(sink.depth.get().saturating_sub(1)),
            }
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Takes what the tree builder makes.
struct Sink {
    nodes: RefCell<Vec<Node>>,
    /// How deep the place is that was written to last, as near as can be told.
    depth: Cell<u32>,
    /// How deep it ever was.
    deepest: Cell<u32>,
}

impl Sink {
    fn new() -> Self {
        let sink = Self { nodes: RefCell::new(Vec::new()), depth: Cell::new(0), deepest: Cell::new(0) };
        sink.add(Content::Document);
        sink
    }

    fn add(&self, content: Content) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        let id = nodes.len() as NodeId;
        let (parent, previous, next, first_child, last_child) = (None, None, None, None, None);
        nodes.push(Node { parent, previous, next, first_child, last_child, depth: 0, content });
        id
    }

    fn unlink(&self, id: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(node) = nodes.get_mut(id as usize) else { return };
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        match previous {
            Some(previous) => nodes[previous as usize].next = next,
            None => {
                if let Some(parent) = parent {
                    nodes[parent as usize].first_child = next;
                }
            }
        }
        match next {
            Some(next) => nodes[next as usize].previous = previous,
            None => {
                if let Some(parent) = parent {
                    nodes[parent as usize].last_child = previous;
                }
            }
        }
    }

    /// Puts a node, or text, below `parent`, before `next` or at the end.
    fn insert(&self, parent: NodeId, next: Option<NodeId>, child: NodeOrText<NodeId>) {
        let previous = match next {
            Some(next) => self.nodes.borrow()[next as usize].previous,
            None => self.nodes.borrow()[parent as usize].last_child,
        };
        let child = match child {
            NodeOrText::AppendNode(child) => child,
            NodeOrText::AppendText(text) => {
                if let Some(previous) = previous
                    && let Content::Text(before) = &mut self.nodes.borrow_mut()[previous as usize].content
                {
                    before.push_str(&text);
                    return;
                }
                self.add(Content::Text(text.to_string()))
            }
        };
        self.unlink(child);
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[parent as usize].depth + 1;
        let is_text = matches!(nodes[child as usize].content, Content::Text(_));
        self.depth.set(if is_text { depth - 1 } else { depth });
        self.deepest.set(self.deepest.get().max(depth));
        let node = &mut nodes[child as usize];
        (node.parent, node.previous, node.next, node.depth) = (Some(parent), previous, next, depth);
        match previous {
            Some(previous) => nodes[previous as usize].next = Some(child),
            None => nodes[parent as usize].first_child = Some(child),
        }
        match next {
            Some(next) => nodes[next as usize].previous = Some(child),
            None => nodes[parent as usize].last_child = Some(child),
        }
    }

    fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes.borrow()[id as usize].parent
    }
}

#[derive(Debug)]
struct OwnedName(QualName);

impl ElemName for OwnedName {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// Every id that comes in was given out by [`Sink::add`], and nodes are never removed from the list.
impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Vec<Node>;
    type ElemName<'a> = OwnedName;

    fn finish(self) -> Vec<Node> {
        self.nodes.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        Tree::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> OwnedName {
        match &self.nodes.borrow()[*target as usize].content {
            Content::Element { name, .. } => OwnedName(name.clone()),
            _ => OwnedName(QualName::new(None, Namespace::default(), LocalName::default())),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        // What is in a template is not shown; it hangs on no tree.
        let template = flags.template.then(|| self.add(Content::Nothing));
        self.add(Content::Element { name, attributes, template })
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.add(Content::Nothing)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.add(Content::Nothing)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.insert(*parent, None, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        match self.parent(*element) {
            Some(parent) => self.insert(parent, Some(*element), child),
            None => self.insert(*previous, None, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        match &self.nodes.borrow()[*target as usize].content {
            Content::Element { template: Some(contents), .. } => *contents,
            _ => *target,
        }
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        if let Some(parent) = self.parent(*sibling) {
            self.insert(parent, Some(*sibling), child);
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, more: Vec<Attribute>) {
        if let Content::Element { attributes, .. } = &mut self.nodes.borrow_mut()[*target as usize].content {
            for attribute in more {
                if !attributes.iter().any(|known| known.name == attribute.name) {
                    attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.unlink(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        loop {
            let Some(child) = self.nodes.borrow()[*node as usize].first_child else { return };
            self.insert(*new_parent, None, NodeOrText::AppendNode(child));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_text(tree: &Tree) -> String {
        tree.nodes
            .iter()
            .filter_map(|node| if let Content::Text(text) = &node.content { Some(text.as_str()) } else { None })
            .collect()
    }

    /// However busy the machine is.
    fn patient() -> Limits {
        Limits { time_per_page: std::time::Duration::from_secs(3600), ..Limits::default() }
    }

    #[test]
    fn deep_nesting_is_flattened_and_its_text_kept() {
        let html = format!("{}deep{}<p>after</p>", "<div>".repeat(50_000), "</div>".repeat(50_000));
        let tree = Tree::parse(&html, &patient());
        assert!(tree.flattened);
        assert_eq!(all_text(&tree), "deepafter");
        let last = tree
            .nodes
            .iter()
            .rposition(|node| matches!(&node.content, Content::Element { name, .. } if &*name.local == "p"));
        assert!(last.is_some(), "what comes after is parsed as ever");
    }

    #[test]
    fn open_formatting_is_not_repeated_without_end() {
        let paragraph = |number: usize| ["<p><font size=", &number.to_string(), ">x"].concat();
        let html: String = (0..5000).map(paragraph).collect();
        let tree = Tree::parse(&html, &patient());
        assert!(tree.nodes.len() < 2_000_000, "{}", tree.nodes.len());
        assert_eq!(all_text(&tree).len(), 5000);
    }

    #[test]
    fn a_page_without_end_is_cut() {
        let limits = Limits { time_per_page: std::time::Duration::ZERO, ..Limits::default() };
        let tree = Tree::parse("<p>never</p>", &limits);
        assert!(tree.cut);
        assert_eq!(all_text(&tree), "");
    }

    #[test]
    fn ordinary_pages_are_not_touched() {
        let tree = Tree::parse("<p>a<b>b</p><p>c</b>", &Limits::default());
        assert!(!tree.flattened);
        assert_eq!(all_text(&tree), "abc");
    }
}
