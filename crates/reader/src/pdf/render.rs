//! Pages as pictures, rendered by hayro.

use crate::{
    error::{ReadError, ReadResult},
    model::PageImage,
    options::Limits,
};
use hayro::{
    PixmapSettings, RenderCache, RenderSettings, hayro_interpret::InterpreterSettings,
    vello_cpu::color::palette::css::WHITE,
};
use hayro_syntax::page::Page;

/// The renderer counts pixels of a side in 16 bits.
const LONGEST_SIDE: f32 = 65_000.0;

/// The page at that many dots per inch; fewer where the page would be larger than the limits allow.
pub(super) fn image<'a>(page: &'a Page<'a>, dpi: f32, limits: &Limits) -> ReadResult<PageImage> {
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
}
