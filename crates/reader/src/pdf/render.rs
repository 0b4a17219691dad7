//! Pages as pictures, rendered by hayro.
//!
//! The renderer cannot be stopped from outside, and a page may keep it busy for hours. It therefore works on a thread of
//! its own: who waits for a page goes on after the time that a page has for OCR, with an error. A page that was given up
//! goes on in its thread until it is done; once there are a few of those, no more pages of the file are rendered.

use super::guard::catch_panics;
use crate::{
    error::{ReadError, ReadResult},
    model::PageImage,
    options::Limits,
};
use hayro::{
    PixmapSettings, RenderCache, RenderSettings, hayro_interpret::InterpreterSettings,
    vello_cpu::color::palette::css::WHITE,
};
use hayro_syntax::{Pdf, page::Page};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
};

/// The renderer counts pixels of a side in 16 bits.
const LONGEST_SIDE: f32 = 65_000.0;

/// So many pages of a file that were given up may still be rendering.
const MOST_GIVEN_UP: usize = 4;

/// How many pages were given up and are still rendering.
pub(super) type GivenUp = Arc<AtomicUsize>;

/// A page of a file at that many dots per inch, in the time that a page has for OCR.
pub(super) fn image_in_time(
    pdf: &Arc<Pdf>,
    index: usize,
    dpi: f32,
    limits: &Limits,
    given_up: &GivenUp,
) -> ReadResult<PageImage> {
    let refused = |why: &str| ReadError::too_large(format!("page {} {why}", index + 1));
    if given_up.load(Ordering::Relaxed) >= MOST_GIVEN_UP {
        return Err(refused("is not rendered, because other pages of the file took too long"));
    }
    let broken = || ReadError::damaged("PDF", format!("page {} cannot be rendered", index + 1));
    let (send, receive) = sync_channel(1);
    // Set by whoever is first: the thread when it is done, or the one who waits when the time is over.
    let outcome = Arc::new(AtomicBool::new(false));
    let settled = Arc::clone(&outcome);
    let (pdf, for_thread, finished) = (Arc::clone(pdf), limits.clone(), Arc::clone(given_up));
    let started = thread::Builder::new().name(format!("render page {}", index + 1)).spawn(move || {
        let rendered = catch_panics(&format!("page {}", index + 1), || {
            let page =
                pdf.pages().get(index).ok_or(ReadError::NoSuchPage { page: index + 1, count: pdf.pages().len() })?;
            image(page, dpi, &for_thread)
        });
        if settled.swap(true, Ordering::AcqRel) {
            finished.fetch_sub(1, Ordering::Relaxed);
        } else {
            // Whoever asked still waits.
            _ = send.send(rendered);
        }
    });
    if started.is_err() {
        return Err(refused("cannot be rendered: there are too many threads"));
    }
    // Pages are rendered to be read by OCR or to be looked at, which takes seconds where reading their text does not.
    let time = limits.time_per_ocr_page;
    match receive.recv_timeout(time) {
        Ok(rendered) => rendered,
        Err(RecvTimeoutError::Disconnected) => Err(broken()),
        Err(RecvTimeoutError::Timeout) => {
            given_up.fetch_add(1, Ordering::Relaxed);
            if outcome.swap(true, Ordering::AcqRel) {
                // It was done in the last moment.
                given_up.fetch_sub(1, Ordering::Relaxed);
                return receive.recv().unwrap_or_else(|_| Err(broken()));
            }
            let seconds = time.as_secs();
            Err(refused(&format!("takes longer than {seconds} seconds to render")))
        }
    }
}

/// The page at that many dots per inch; fewer where the page would be larger than the limits allow.
fn image<'a>(page: &'a Page<'a>, dpi: f32, limits: &Limits) -> ReadResult<PageImage> {
    let (width, height) = page.render_dimensions();
    let scale = scale(width, height, dpi, limits);
    let settings = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let pixmap = hayro::render(
        page,
        &RenderCache::new(),
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &settings,
    );
    let (width, height) = (u32::from(pixmap.width()), u32::from(pixmap.height()));
    if width == 0 || height == 0 {
        return Err(ReadError::damaged("PDF", "a page has no size"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "dots per inch are few")]
    let dpi = (scale * 72.0).round().max(1.0) as u32;
    let rgba = pixmap.data_as_u8_slice().as_chunks::<4>().0;
    let grey = rgba.iter().all(|[red, green, blue, _]| red == green && green == blue);
    let pixels = if grey {
        rgba.iter().map(|pixel| pixel[0]).collect()
    } else {
        rgba.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect()
    };
    Ok(PageImage { width, height, channels: if grey { 1 } else { 3 }, pixels, dpi })
}

fn scale(width: f32, height: f32, dpi: f32, limits: &Limits) -> f32 {
    let wanted = dpi.clamp(1.0, 2400.0) / 72.0;
    let longest = width.max(height).max(1.0);
    // A page that is too long is rendered as if it had the longest side allowed.
    let wanted = wanted * (limits.page_points / longest).min(1.0);
    #[expect(clippy::cast_precision_loss, reason = "a limit need not be exact")]
    let most = (limits.image_pixels as f32 / (width * height).max(1.0)).sqrt();
    wanted.min(most).min(LONGEST_SIDE / longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_rendered_smaller() {
        let limits = Limits::default();
        assert!((scale(595.0, 842.0, 300.0, &limits) - 300.0 / 72.0).abs() < 1e-3);
        let metres = scale(56_693.0, 56_693.0, 300.0, &limits);
        assert!(metres * 56_693.0 * metres * 56_693.0 <= 200_100_000.0, "{metres}");
    }

    #[test]
    fn a_file_whose_pages_never_end_is_not_rendered_any_more() {
        let file =
            b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
            3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 36]>>endobj\ntrailer<</Root 1 0 R>>\n";
        let pdf = Arc::new(Pdf::new(Arc::new(file.to_vec())).unwrap());
        let given_up = GivenUp::default();
        let image = |given_up: &GivenUp| image_in_time(&pdf, 0, 72.0, &Limits::default(), given_up);
        let rendered = image(&given_up).unwrap();
        assert_eq!((rendered.width, rendered.height), (72, 36));
        given_up.store(MOST_GIVEN_UP, Ordering::Relaxed);
        let refused = image(&given_up).unwrap_err().to_string();
        assert_eq!(refused, "page 1 is not rendered, because other pages of the file took too long");
    }
}
