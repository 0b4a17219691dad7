//! Runs a page's content streams and collects what they show. Nothing is painted: text keeps its place and meaning,
//! paths are looked through for lines and boxes, pictures leave their place.

use super::{
    annotations,
    fonts::{Font, FontCache, FontPlace},
    layers::Layers,
    marks::Marks,
    matrix::Matrix,
    paths::{Path, intersection, rect},
    state::{Paint, State},
    streams,
};
use crate::layout::PageContent;
use hayro_syntax::{
    content::{TypedIter, ops::TypedInstruction as Op},
    object::{Array, Dict, Name, Number, Object, Stream},
    page::Resources,
    xref::XRef,
};
use std::{
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

/// Forms in forms; a file that goes deeper goes in circles.
const DEEPEST_FORM: usize = 24;
const DEEPEST_STATE: usize = 512;
/// A page with more glyphs was made to exhaust its reader.
pub(super) const MOST_GLYPHS: usize = 500_000;
const MOST_IMAGES: usize = 20_000;

/// What all pages of a file share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) fonts: FontCache,
    pub(super) layers: Layers,
    pub(super) time_per_page: Duration,
}

/// A font of the page, and where it was named.
pub(super) struct PageFont<'a> {
    pub(super) font: Arc<Font>,
    pub(super) name: Rc<[u8]>,
    pub(super) resources: Rc<Resources<'a>>,
}

pub(super) struct Interpreter<'s, 'a> {
    pub(super) shared: &'s Shared,
    pub(super) xref: &'a XRef,
    pub(super) content: PageContent,
    pub(super) fonts: Vec<PageFont<'a>>,
    /// Some glyphs have a font that the file does not have; it comes behind all others.
    pub(super) plain_font: bool,
    pub(super) marks: Marks,
    pub(super) text_matrix: Matrix,
    line_matrix: Matrix,
    /// Everything outside is off the page.
    pub(super) page: [f64; 4],
    deadline: Instant,
    operations: u64,
    stopped: bool,
    depth: usize,
}

impl<'s, 'a> Interpreter<'s, 'a> {
    pub(super) fn new(shared: &'s Shared, xref: &'a XRef, page: [f64; 4]) -> Self {
        Self {
            shared,
            xref,
            content: PageContent::default(),
            fonts: Vec::new(),
            plain_font: false,
            marks: Marks::default(),
            text_matrix: Matrix::IDENTITY,
            line_matrix: Matrix::IDENTITY,
            page,
            deadline: Instant::now() + shared.time_per_page,
            operations: 0,
            stopped: false,
            depth: 0,
        }
    }

    /// What was found. Fonts are named once, here.
    pub(super) fn finish(mut self) -> PageContent {
        self.content.fonts = self.fonts.iter().map(|font| Arc::clone(&font.font.facts)).collect();
        if self.plain_font {
            self.content.fonts.push(annotations::plain_facts());
        }
        self.content
    }

    /// Runs one stream. States that it leaves open are closed.
    pub(super) fn run(&mut self, data: &[u8], resources: &Rc<Resources<'a>>, state: State) {
        let mut state = state;
        let mut saved = Vec::new();
        let mut path = Path::default();
        let mut clips = false;
        let mut named_fonts: Vec<(Vec<u8>, Option<u16>)> = Vec::new();
        let marks_before = self.marks.depth();
        let mut operations = TypedIter::new(data);
        while let Some(operation) = operations.next() {
            if self.is_over() {
                break;
            }
            match operation {
                Op::SaveState(_) if saved.len() < DEEPEST_STATE => saved.push(state),
                Op::RestoreState(_) => state = saved.pop().unwrap_or(state),
                Op::Transform(m) => {
                    let matrix = matrix([&m.0, &m.1, &m.2, &m.3, &m.4, &m.5]).then(&state.ctm);
                    if matrix.is_finite() {
                        state.ctm = matrix;
                    }
                }
                Op::LineWidth(width) => state.line_width = width.0.as_f64().abs(),
                Op::SetGraphicsState(name) => Self::graphics_state(resources, name.0, &mut state),

                Op::MoveTo(p) => path.move_to(&state.ctm, p.0.as_f64(), p.1.as_f64()),
                Op::LineTo(p) => path.line_to(&state.ctm, p.0.as_f64(), p.1.as_f64()),
                Op::CubicTo(c) => path.curve_to(&state.ctm, c.4.as_f64(), c.5.as_f64()),
                Op::CubicStartTo(c) => path.curve_to(&state.ctm, c.2.as_f64(), c.3.as_f64()),
                Op::CubicEndTo(c) => path.curve_to(&state.ctm, c.2.as_f64(), c.3.as_f64()),
                Op::RectPath(r) => path.rectangle(&state.ctm, [&r.0, &r.1, &r.2, &r.3].map(Number::as_f64)),
                Op::ClosePath(_) => path.close(),
                Op::ClipNonZero(_) | Op::ClipEvenOdd(_) => clips = true,
                Op::FillPathNonZero(_) | Op::FillPathNonZeroCompatibility(_) | Op::FillPathEvenOdd(_) => {
                    self.paint(&mut path, &mut state, &mut clips, true, false);
                }
                Op::StrokePath(_) => self.paint(&mut path, &mut state, &mut clips, false, true),
                Op::CloseAndStrokePath(_) => {
                    path.close();
                    self.paint(&mut path, &mut state, &mut clips, false, true);
                }
                Op::FillAndStrokeNonZero(_) | Op::FillAndStrokeEvenOdd(_) => {
                    self.paint(&mut path, &mut state, &mut clips, true, true);
                }
                Op::CloseFillAndStrokeNonZero(_) | Op::CloseFillAndStrokeEvenOdd(_) => {
                    path.close();
                    self.paint(&mut path, &mut state, &mut clips, true, true);
                }
                Op::EndPath(_) => self.paint(&mut path, &mut state, &mut clips, false, false),

                Op::NonStrokeColorDeviceGray(c) => state.fill = Paint::grey(c.0.as_f32()),
                Op::StrokeColorDeviceGray(c) => state.stroke = Paint::grey(c.0.as_f32()),
                Op::NonStrokeColorDeviceRgb(c) => state.fill = Paint::rgb([&c.0, &c.1, &c.2].map(Number::as_f32)),
                Op::StrokeColorDeviceRgb(c) => state.stroke = Paint::rgb([&c.0, &c.1, &c.2].map(Number::as_f32)),
                Op::NonStrokeColorCmyk(c) => state.fill = Paint::cmyk([&c.0, &c.1, &c.2, &c.3].map(Number::as_f32)),
                Op::StrokeColorCmyk(c) => state.stroke = Paint::cmyk([&c.0, &c.1, &c.2, &c.3].map(Number::as_f32)),
                Op::ColorSpaceNonStroke(name) => state.fill = colour_space(resources, name.0),
                Op::ColorSpaceStroke(name) => state.stroke = colour_space(resources, name.0),
                Op::NonStrokeColor(c) => state.fill = with_numbers(state.fill, &c.0),
                Op::StrokeColor(c) => state.stroke = with_numbers(state.stroke, &c.0),
                Op::NonStrokeColorNamed(c) => state.fill = with_numbers(state.fill, &c.0),
                Op::StrokeColorNamed(c) => state.stroke = with_numbers(state.stroke, &c.0),

                Op::BeginText(_) => self.set_text_matrix(Matrix::IDENTITY),
                Op::SetTextMatrix(m) => self.set_text_matrix(matrix([&m.0, &m.1, &m.2, &m.3, &m.4, &m.5])),
                Op::NextLine(offset) => self.next_line(offset.0.as_f64(), offset.1.as_f64()),
                Op::NextLineAndSetLeading(offset) => {
                    state.text.leading = -offset.1.as_f64();
                    self.next_line(offset.0.as_f64(), offset.1.as_f64());
                }
                Op::NextLineUsingLeading(_) => self.next_line(0.0, -state.text.leading),
                Op::TextFont(font) => {
                    state.text.size = font.1.as_f64();
                    state.text.font = self.named_font(font.0, resources, &mut named_fonts);
                }
                Op::CharacterSpacing(spacing) => state.text.character_spacing = spacing.0.as_f64(),
                Op::WordSpacing(spacing) => state.text.word_spacing = spacing.0.as_f64(),
                Op::HorizontalScaling(scale) => state.text.horizontal_scale = scale.0.as_f64() / 100.0,
                Op::TextLeading(leading) => state.text.leading = leading.0.as_f64(),
                Op::TextRise(rise) => state.text.rise = rise.0.as_f64(),
                Op::TextRenderingMode(mode) => state.text.mode = mode.0.as_i64(),
                Op::ShowText(text) => self.show(text.0.as_bytes(), &state),
                Op::ShowTexts(texts) => {
                    for item in texts.0.iter::<Object<'_>>() {
                        match item {
                            Object::Number(number) => self.adjust(number.as_f64(), &state),
                            Object::String(text) => self.show(text.as_bytes(), &state),
                            _ => {}
                        }
                    }
                }
                Op::NextLineAndShowText(text) => {
                    self.next_line(0.0, -state.text.leading);
                    self.show(text.0.as_bytes(), &state);
                }
                Op::ShowTextWithParameters(text) => {
                    state.text.word_spacing = text.0.as_f64();
                    state.text.character_spacing = text.1.as_f64();
                    self.next_line(0.0, -state.text.leading);
                    self.show(text.2.as_bytes(), &state);
                }

                Op::XObject(name) => self.external(resources, name.0, &state),
                Op::InlineImage(_) => self.image(&state),
                Op::BeginMarkedContent(mark) => self.marks.begin(mark.0, None, false, &self.content),
                Op::BeginMarkedContentWithProperties(mark) => self.begin_mark(mark.0, mark.1, resources),
                Op::EndMarkedContent(_) if self.marks.depth() > marks_before => self.marks.end(&mut self.content),
                _ => {}
            }
        }
        while self.marks.depth() > marks_before {
            self.marks.end(&mut self.content);
        }
    }

    /// Looks at the clock now and then, and stops the page once its time is over.
    fn is_over(&mut self) -> bool {
        self.operations += 1;
        if self.operations.is_multiple_of(512) && !self.stopped {
            let full = self.content.glyphs.len() > MOST_GLYPHS;
            if full || Instant::now() > self.deadline {
                self.stopped = true;
                let why = if full { "it holds more text than any page can" } else { "it took too long" };
                self.content.warnings.push(format!("the page was read only in part, because {why}"));
            }
        }
        self.stopped
    }

    fn set_text_matrix(&mut self, matrix: Matrix) {
        self.text_matrix = matrix;
        self.line_matrix = matrix;
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.set_text_matrix(Matrix::translation(x, y).then(&self.line_matrix));
    }

    fn paint(&mut self, path: &mut Path, state: &mut State, clips: &mut bool, fill: bool, stroke: bool) {
        if !self.marks.hides() {
            if fill {
                path.fill(state, &mut self.content);
            }
            if stroke {
                path.stroke(state, &mut self.content);
            }
        }
        if *clips {
            state.clip = path.clip(state.clip);
            *clips = false;
        }
        path.clear();
    }

    fn named_font(
        &mut self,
        name: &Name<'_>,
        resources: &Rc<Resources<'a>>,
        named: &mut Vec<(Vec<u8>, Option<u16>)>,
    ) -> Option<u16> {
        let bytes: &[u8] = name.as_ref();
        if let Some((_, font)) = named.iter().find(|(known, _)| known == bytes) {
            return *font;
        }
        let place = FontPlace { name: bytes, resources, xref: self.xref };
        let font = self.shared.fonts.font(&place);
        let known = self.fonts.iter().position(|known| Arc::ptr_eq(&known.font, &font));
        let index = known.unwrap_or_else(|| {
            self.fonts.push(PageFont { font, name: Rc::from(bytes), resources: Rc::clone(resources) });
            self.fonts.len() - 1
        });
        let index = u16::try_from(index).ok();
        named.push((bytes.to_vec(), index));
        index
    }

    fn graphics_state(resources: &Resources<'_>, name: &Name<'_>, state: &mut State) {
        let Some(dict) = resources.get_ext_g_state(name) else { return };
        if let Some(width) = dict.get::<f32>(b"LW") {
            state.line_width = f64::from(width.abs());
        }
        if let Some(font) = dict.get::<Array<'_>>(b"Font") {
            let mut items = font.flex_iter();
            // The font itself has no name there, so only its size can be taken.
            let _ = items.next::<Dict<'_>>();
            if let Some(size) = items.next::<f32>() {
                state.text.size = f64::from(size);
            }
        }
    }

    fn external(&mut self, resources: &Rc<Resources<'a>>, name: &Name<'_>, state: &State) {
        let Some(stream) = resources.x_objects.get::<Stream<'_>>(name) else { return };
        let dict = stream.dict();
        if self.marks.hides() || self.shared.layers.hides(dict, b"OC") {
            return;
        }
        match dict.get::<Name<'_>>(b"Subtype").as_ref().map(AsRef::as_ref) {
            Some(b"Image") => self.image(state),
            Some(b"Form") => self.form(&stream, resources, state),
            _ => {}
        }
    }

    /// Draws a form: a stream with its own space and resources.
    pub(super) fn form(&mut self, stream: &Stream<'a>, resources: &Rc<Resources<'a>>, state: &State) {
        // Forms that draw forms multiply, so the clock is looked at for each.
        self.operations = self.operations.next_multiple_of(512).saturating_sub(1);
        if self.depth >= DEEPEST_FORM || self.is_over() {
            return;
        }
        let Some(data) = streams::unpack(stream, streams::MOST_BYTES) else {
            self.content.warnings.push("a part of the page is damaged and or too large, and was left out".to_owned());
            return;
        };
        let dict = stream.dict();
        let mut inner = *state;
        if let Some(matrix) = dict.get::<[f32; 6]>(b"Matrix") {
            inner.ctm = Matrix::new(matrix.map(f64::from)).then(&state.ctm);
        }
        if let Some(bounds) = dict.get::<[f32; 4]>(b"BBox") {
            inner.clip = intersection(inner.clip, inner.ctm.bounds(bounds.map(f64::from)));
        }
        if !inner.ctm.is_finite() {
            return;
        }
        let own = dict.get::<Dict<'_>>(b"Resources").map(|dict| Rc::new(Resources::new(dict)));
        let matrices = (self.text_matrix, self.line_matrix);
        self.depth += 1;
        self.run(&data, own.as_ref().unwrap_or(resources), inner);
        self.depth -= 1;
        (self.text_matrix, self.line_matrix) = matrices;
    }

    fn image(&mut self, state: &State) {
        let bounds = intersection(state.clip, state.ctm.bounds([0.0, 0.0, 1.0, 1.0]));
        let shown = bounds[0] < bounds[2] && bounds[1] < bounds[3];
        if shown && !self.marks.hides() && self.content.images.len() < MOST_IMAGES {
            self.content.images.push(rect(bounds));
        }
    }

    fn begin_mark(&mut self, tag: &Name<'_>, properties: &Object<'_>, resources: &Rc<Resources<'a>>) {
        let layers = &self.shared.layers;
        match properties {
            Object::Name(name) => {
                let hides = tag.as_ref() == b"OC" && layers.hides(&resources.properties, name.as_ref());
                let dict = resources.properties.get::<Dict<'_>>(name);
                self.marks.begin(tag, dict.as_ref(), hides, &self.content);
            }
            Object::Dict(dict) => self.marks.begin(tag, Some(dict), false, &self.content),
            _ => self.marks.begin(tag, None, false, &self.content),
        }
    }
}

fn matrix(numbers: [&Number; 6]) -> Matrix {
    Matrix::new(numbers.map(Number::as_f64))
}

fn with_numbers(paint: Paint, numbers: &[Number]) -> Paint {
    let mut components = [0.0f32; 4];
    for (slot, number) in components.iter_mut().zip(numbers) {
        *slot = number.as_f32();
    }
    paint.with_components(components.get(..numbers.len()).unwrap_or_default())
}

/// Spaces of one ink count the other way round.
fn colour_space(resources: &Resources<'_>, name: &Name<'_>) -> Paint {
    let inks = match resources.get_color_space(name) {
        Some(Object::Array(array)) => array
            .iter::<Object<'_>>()
            .next()
            .and_then(Object::into_name)
            .is_some_and(|kind| kind.as_ref() == b"Separation"),
        _ => false,
    };
    Paint { inks, ..Paint::BLACK }
}
