//! One page: its content streams and annotations, run into [`PageContent`].

use super::{
    annotations,
    interpreter::{Interpreter, Shared},
    links,
    matrix::Matrix,
    recode::recode,
    state::State,
    streams,
};
use crate::{layout::PageContent, model::Size};
use hayro_syntax::{
    object::{Array, Object, Stream},
    page::{Page, Rotation},
};
use std::rc::Rc;

/// Everything the page shows, in points from its top left corner.
pub(super) fn content(page: &Page<'_>, shared: &Shared) -> PageContent {
    let (width, height) = page.render_dimensions();
    let initial = transform(page);
    let bounds = [0.0, 0.0, f64::from(width), f64::from(height)];
    let mut interpreter = Interpreter::new(shared, page.xref(), bounds);
    let state = State::new(initial, bounds);
    let resources = Rc::new(page.resources().clone());
    let data = joined_streams(page, &mut interpreter.content.warnings);
    interpreter.run(&data, &resources, state);
    annotations::draw(page, &mut interpreter, &state, &resources);
    let mut content = interpreter.finish();
    content.size = Size { width, height };
    content.rotation = rotation(page);
    content.links = links::read(page, &initial);
    content.code_page = recode(&mut content);
    content
}

/// From the page's own space to points from the top left corner as shown.
pub(super) fn transform(page: &Page<'_>) -> Matrix {
    Matrix::new(page.initial_transform(true).as_coeffs())
}

pub(super) fn rotation(page: &Page<'_>) -> u16 {
    match page.rotation() {
        Rotation::None => 0,
        Rotation::Horizontal => 90,
        Rotation::Flipped => 180,
        Rotation::FlippedHorizontal => 270,
    }
}

/// The page's streams, one behind the other. They are not kept, so that a file costs no more memory than one page.
fn joined_streams(page: &Page<'_>, warnings: &mut Vec<String>) -> Vec<u8> {
    let parts = match page.raw().get::<Object<'_>>(b"Contents") {
        Some(Object::Stream(stream)) => vec![stream],
        Some(Object::Array(array)) => Array::iter::<Stream<'_>>(&array).collect(),
        _ => Vec::new(),
    };
    let mut data = Vec::new();
    for part in parts {
        match streams::unpack(&part, streams::MOST_BYTES) {
            Some(decoded) if data.len() as u64 <= streams::MOST_BYTES => {
                data.extend_from_slice(&decoded);
                data.push(b'\n');
            }
            _ => warnings.push("a part of the page is damaged and or too large, and was left out".to_owned()),
        }
    }
    data
}
