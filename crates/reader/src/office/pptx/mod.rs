//! PowerPoint files: a page for each slide, in the order in which they are shown.

mod slide;

use super::{attached, flatten::flattened, properties::office_metadata};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    model::{Block, BlockKind, FileType, Inlines, OutlineEntry, Page, Role, Size, Span},
    options::ReadOptions,
    package::{Element, Package, Relations, Tree},
};
use slide::{SlideContext, comment_text, notes_blocks, slide_blocks};
use std::{collections::HashMap, rc::Rc};

/// English Metric Units in a point.
const EMU: f32 = 12_700.0;

/// Reads a PowerPoint file.
pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let package = Package::open(bytes, "pptx", &options.limits, options.password.as_deref())?;
    let mut warnings = package.warnings().to_vec();
    let of_package = Relations::read(&package, "", &mut warnings);
    let metadata = office_metadata(&package, &of_package, &mut warnings);
    let main = of_package.part("officeDocument").unwrap_or("ppt/presentation.xml").to_owned();
    let Some(presentation) = package.tree(&main)? else {
        return Err(ReadError::damaged("pptx", format!("\"{main}\", which lists the slides, is missing")));
    };
    let relations = Relations::read(&package, &main, &mut warnings);
    let root = presentation.root();
    let size = root.child("sldSz").and_then(size_of);
    let authors = authors(&package, &relations, &mut warnings);

    let mut slides = Slides { package: &package, trees: HashMap::new(), authors, hidden: Vec::new() };
    let mut pages = Vec::new();
    let listed: Vec<Element<'_>> = root.child("sldIdLst").map(|list| list.all("sldId").collect()).unwrap_or_default();
    for entry in listed {
        let number = pages.len() + 1;
        let part = entry.prefixed_attribute("id").and_then(|id| relations.get(id));
        let mut page = match part {
            Some(part) => slides.page(&part.target, number),
            None => failed(number, "the presentation does not say where this slide is"),
        };
        page.size = size;
        pages.push(page);
        if pages.len() > options.limits.pages {
            break;
        }
    }
    if !slides.hidden.is_empty() {
        warnings.push(format!("hidden slides are included: {}", slides.hidden.join(", ")));
    }
    let outline = pages
        .iter()
        .filter_map(|page| Some(OutlineEntry { title: page.label.clone()?, level: 1, page: Some(page.number) }))
        .collect();
    let mut attachments = attached::embedded_files(&package, &["ppt/embeddings/"], &mut warnings);
    if pages.iter().all(|page| page.blocks.is_empty()) {
        attachments.extend(attached::pictures(&package, "ppt/media/", &mut warnings));
    }
    Ok(ConvertedFile::new(FileType::Pptx, metadata, pages)
        .with_attachments(attachments)
        .with_outline(outline)
        .with_warnings(warnings)
        .limit_pages(&options.limits))
}

fn size_of(element: Element<'_>) -> Option<Size> {
    let points = |name: &str| element.attribute(name).and_then(|emu| emu.parse::<f32>().ok()).map(|emu| emu / EMU);
    Some(Size { width: points("cx")?, height: points("cy")? })
}

fn failed(number: usize, why: &str) -> Page {
    let mut page = Page::converted(number);
    page.warnings.push(why.to_owned());
    page
}

/// The names of those who commented, by their ids, in the old and the new form.
fn authors(package: &Package<'_>, relations: &Relations, warnings: &mut Vec<String>) -> HashMap<String, String> {
    let mut authors = HashMap::new();
    for part in relations.parts("commentAuthors").chain(relations.parts("authors")) {
        let Some(tree) = package.tree_or_warn(part, warnings) else { continue };
        for author in tree.root().elements() {
            if let (Some(id), Some(name)) = (author.attribute("id"), author.attribute("name")) {
                authors.insert(id.to_owned(), name.to_owned());
            }
        }
    }
    authors
}

/// Reads slides one after the other; layouts and masters, which many slides share, are kept.
#[derive(Debug)]
struct Slides<'p> {
    package: &'p Package<'p>,
    trees: HashMap<String, Option<Rc<Tree>>>,
    authors: HashMap<String, String>,
    hidden: Vec<String>,
}

impl Slides<'_> {
    fn page(&mut self, part: &str, number: usize) -> Page {
        let mut warnings = Vec::new();
        let tree = match self.package.tree(part) {
            Ok(Some(tree)) => tree,
            Ok(None) => return failed(number, "the slide is missing in the file"),
            Err(error) => return failed(number, &format!("the slide could not be read: {error}")),
        };
        if let Some(damage) = tree.damage() {
            warnings.push(format!("the slide was read only in part: {damage}"));
        }
        let relations = Relations::read(self.package, part, &mut warnings);
        let layout_part = relations.part("slideLayout").map(str::to_owned);
        let layout = layout_part.as_deref().and_then(|part| self.shared(part));
        let master = layout_part.and_then(|part| {
            let of_layout = Relations::read(self.package, &part, &mut Vec::new());
            of_layout.part("slideMaster").and_then(|part| self.shared(part))
        });
        if matches!(tree.root().attribute("show"), Some("0" | "false")) {
            self.hidden.push(number.to_string());
        }
        let mut context = SlideContext {
            package: self.package,
            relations: &relations,
            layout: layout.as_deref(),
            master: master.as_deref(),
            warnings,
        };
        let mut page = Page::converted(number);
        page.blocks = slide_blocks(tree.root(), &mut context);
        let mut warnings = context.warnings;
        page.label = title_of(&page.blocks);
        if let Some(notes) = relations.part("notesSlide")
            && let Some(tree) = self.package.tree_or_warn(notes, &mut warnings)
        {
            let of_notes = Relations::read(self.package, notes, &mut warnings);
            page.blocks.extend(notes_blocks(tree.root(), &of_notes));
        }
        page.blocks.extend(self.comments(&relations, &mut warnings));
        page.warnings = warnings;
        page
    }

    fn shared(&mut self, part: &str) -> Option<Rc<Tree>> {
        let package = self.package;
        self.trees.entry(part.to_owned()).or_insert_with(|| package.tree(part).ok().flatten().map(Rc::new)).clone()
    }

    fn comments(&self, relations: &Relations, warnings: &mut Vec<String>) -> Vec<Block> {
        let mut blocks = Vec::new();
        for part in relations.parts("comments") {
            let Some(tree) = self.package.tree_or_warn(part, warnings) else { continue };
            let written = tree.root().descendants().filter(|element| element.is("cm") || element.is("reply"));
            for comment in written {
                let text = comment_text(comment, relations);
                if text.is_blank() {
                    continue;
                }
                let author = comment.attribute("authorId").and_then(|id| self.authors.get(id));
                let mut signed = Inlines::default();
                if let Some(author) = author {
                    signed.push(Span { text: format!("{author}: "), ..Span::default() });
                }
                signed.0.extend(text.0);
                let kind = BlockKind::Paragraph { text: signed };
                blocks.push(Block { kind, role: Role::Comment, bbox: None });
            }
        }
        blocks
    }
}

fn title_of(blocks: &[Block]) -> Option<String> {
    let heading = blocks.iter().find(|block| matches!(block.kind, BlockKind::Heading { .. }))?;
    let title = flattened(std::slice::from_ref(heading)).text();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}
