//! How many pixels make an inch. Files often do not say, or say what a program wrote without thinking.

/// Densities that scanners use.
const USUAL: [f32; 9] = [75.0, 100.0, 120.0, 150.0, 200.0, 240.0, 300.0, 400.0, 600.0];
/// Sheets that people scan, in inches, the shorter side first: A4, Letter, Legal, A5, A3.
const SHEETS: [(f32, f32); 5] = [(8.27, 11.69), (8.5, 11.0), (8.5, 14.0), (5.83, 8.27), (11.69, 16.54)];
/// What a screen shows.
const SCREEN: f32 = 96.0;
/// From this many pixels on the longer side a picture is taken for a page and not for a part of a screen.
const PAGE_PIXELS: u32 = 1500;

/// Pixels to an inch, across and down.
pub(super) type Density = (f32, f32);

/// The density to go by: the declared one unless it cannot be meant, otherwise what makes the picture a sheet of paper.
pub(super) fn sensible(declared: Option<Density>, width: u32, height: u32) -> Density {
    let longer = width.max(height);
    if let Some((across, down)) = declared {
        let meant = (30.0..=4800.0).contains(&across) && (30.0..=4800.0).contains(&down);
        // 72 and 96 are what programs write that do not know; a sheet of 20 inches is not what was scanned.
        let default_of_a_program = across <= SCREEN && longer > PAGE_PIXELS;
        if meant && !default_of_a_program {
            return (across, down);
        }
    }
    let guess = as_sheet(width, height).unwrap_or_else(|| {
        if longer >= PAGE_PIXELS { (longer as f32 / SHEETS[0].1).round().clamp(100.0, 600.0) } else { SCREEN }
    });
    (guess, guess)
}

/// The usual density at which the picture has the size of a usual sheet, within two per cent.
fn as_sheet(width: u32, height: u32) -> Option<f32> {
    let (shorter, longer) = (width.min(height) as f32, width.max(height) as f32);
    let near = |is: f32, wanted: f32| (is / wanted - 1.0).abs() < 0.02;
    USUAL.into_iter().rev().find(|density| {
        SHEETS.iter().any(|(short, long)| near(shorter / density, *short) && near(longer / density, *long))
    })
}

/// What a PNG says in its `pHYs` chunk.
pub(super) fn of_png(bytes: &[u8]) -> Option<Density> {
    let mut rest = bytes.get(8..)?;
    loop {
        let length = u32::from_be_bytes(rest.first_chunk::<4>().copied()?) as usize;
        match rest.get(4..8)? {
            b"pHYs" => {
                let data = rest.get(8..17)?;
                let across = u32::from_be_bytes(data.first_chunk::<4>().copied()?) as f32;
                let down = u32::from_be_bytes(data.get(4..8)?.try_into().ok()?) as f32;
                return (data.get(8) == Some(&1)).then_some((from_metre(across), from_metre(down)));
            }
            b"IDAT" | b"IEND" => return None,
            _ => rest = rest.get(length.checked_add(12)?..)?,
        }
    }
}

/// What a JPEG says: its JFIF header first, its Exif data otherwise.
pub(super) fn of_jpeg(bytes: &[u8]) -> Option<Density> {
    let mut rest = bytes.get(2..)?;
    let mut exif = None;
    loop {
        let [0xFF, marker] = rest.first_chunk::<2>().copied()? else { return exif };
        if marker == 0xFF {
            rest = rest.get(1..)?;
            continue;
        }
        // The picture itself begins: nothing is declared behind this.
        if marker == 0xDA || marker == 0xD9 {
            return exif;
        }
        let length = usize::from(u16::from_be_bytes(rest.get(2..4)?.try_into().ok()?));
        let segment = rest.get(4..2 + length.max(2)).unwrap_or_default();
        match marker {
            0xE0 if segment.starts_with(b"JFIF\0") => {
                let number = |at: usize| Some(f32::from(u16::from_be_bytes(segment.get(at..at + 2)?.try_into().ok()?)));
                match segment.get(7) {
                    Some(1) => return Some((number(8)?, number(10)?)),
                    Some(2) => return Some((number(8)? * 2.54, number(10)? * 2.54)),
                    _ => {}
                }
            }
            0xE1 if segment.starts_with(b"Exif\0\0") => exif = of_exif(segment.get(6..)?),
            _ => {}
        }
        rest = rest.get(2 + length.max(2)..)?;
    }
}

/// What a BMP says in its header.
pub(super) fn of_bmp(bytes: &[u8]) -> Option<Density> {
    let number = |at: usize| Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (across, down) = (number(38)?, number(42)?);
    (across > 0 && down > 0).then(|| (from_metre(across as f32), from_metre(down as f32)))
}

/// What Exif data, which has the form of a TIFF, says in its first directory.
pub(super) fn of_exif(tiff: &[u8]) -> Option<Density> {
    let little = match tiff.get(..2)? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let two = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) })
    };
    let long = |at: usize| {
        let four = tiff.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    };
    let fraction = |at: usize| {
        let below = long(at.checked_add(4)?)?;
        (below != 0).then(|| long(at).map(|above| above as f32 / below as f32)).flatten()
    };
    let directory = long(4)? as usize;
    let (mut across, mut down, mut unit) = (None, None, 2);
    for entry in 0..usize::from(short(directory)?) {
        let at = directory.checked_add(2 + entry * 12)?;
        match short(at)? {
            0x011A => across = fraction(long(at + 8)? as usize),
            0x011B => down = fraction(long(at + 8)? as usize),
            0x0128 => unit = short(at + 8)?,
            _ => {}
        }
    }
    with_unit(across?, down?, unit)
}

/// TIFF and Exif count in inches (2) or centimetres (3), or do not say (1).
pub(super) fn with_unit(across: f32, down: f32, unit: u16) -> Option<Density> {
    match unit {
        2 => Some((across, down)),
        3 => Some((across * 2.54, down * 2.54)),
        _ => None,
    }
}

fn from_metre(pixels: f32) -> f32 {
    pixels * 0.0254
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_a4_scan_that_says_nothing_counts_as_300_dpi() {
        assert_eq!(sensible(None, 2480, 3508), (300.0, 300.0));
        assert_eq!(sensible(Some((72.0, 72.0)), 2480, 3508), (300.0, 300.0), "72 is a program's default");
        assert_eq!(sensible(None, 3300, 2550), (300.0, 300.0), "letter, lying");
    }

    #[test]
    fn a_declared_density_counts_when_it_can_be_meant() {
        assert_eq!(sensible(Some((200.0, 100.0)), 1728, 1100), (200.0, 100.0));
        assert_eq!(sensible(Some((96.0, 96.0)), 800, 600), (96.0, 96.0));
        assert_eq!(sensible(Some((0.0, 0.0)), 800, 600), (96.0, 96.0));
        assert_eq!(sensible(None, 3024, 4032), (345.0, 345.0), "a photograph of a page is taken for a sheet of A4");
    }

    #[test]
    fn jfif_and_exif_are_understood() {
        let jfif = [&[0xFF, 0xD8, 0xFF, 0xE0, 0, 16][..], b"JFIF\0\x01\x02\x01\x01\x2C\x01\x2C\0\0"].concat();
        assert_eq!(of_jpeg(&jfif), Some((300.0, 300.0)));
        let mut exif = b"MM\0\x2A\0\0\0\x08\0\x03".to_vec();
        for (tag, kind, value) in [(0x011A_u16, 5_u16, 50_u32), (0x011B, 5, 50), (0x0128, 3, 3 << 16)] {
            exif.extend(tag.to_be_bytes());
            exif.extend(kind.to_be_bytes());
            exif.extend(1_u32.to_be_bytes());
            exif.extend(value.to_be_bytes());
        }
        exif.resize(50, 0);
        exif.extend(100_u32.to_be_bytes());
        exif.extend(1_u32.to_be_bytes());
        assert_eq!(of_exif(&exif), Some((254.0, 254.0)));
        for end in 0..exif.len() {
            assert_eq!(of_exif(&exif[..end]), None, "cut off at {end}");
        }
    }
}
