//! Links: where they are and where they lead.

use super::{matrix::Matrix, paths::rect, strings};
use crate::layout::Link;
use hayro_syntax::{
    object::{self, Array, Dict, Name},
    page::Page,
};

const MOST_LINKS: usize = 10_000;

/// The links of a page that lead to an address.
pub(super) fn read(page: &Page<'_>, transform: &Matrix) -> Vec<Link> {
    let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return Vec::new() };
    let links = annotations
        .iter::<Dict<'_>>()
        .take(MOST_LINKS)
        .filter(|dict| dict.get::<Name<'_>>(b"Subtype").is_some_and(|subtype| subtype.as_ref() == b"Link"));
    links
        .filter_map(|dict| {
            let bounds = dict.get::<[f32; 4]>(b"Rect")?;
            let target = dict.get::<Dict<'_>>(b"A")?.get::<object::String<'_>>(b"URI")?;
            let target = strings::line(target.as_bytes())?;
            Some(Link { bbox: rect(transform.bounds(bounds.map(f64::from))), target })
        })
        .collect()
}
