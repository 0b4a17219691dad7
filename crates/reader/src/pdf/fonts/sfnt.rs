//! The two tables of a `TrueType` or `OpenType` font that say what its glyphs mean: `cmap`, read backwards, and the
//! names in `post`.

use super::names;
use std::collections::HashMap;

/// What each glyph means, as far as the font says it.
pub(super) fn glyph_characters(font: &[u8]) -> Option<HashMap<u32, char>> {
    let mut found = HashMap::new();
    if let Some(cmap) = table(font, *b"cmap") {
        read_cmap(cmap, &mut found);
    }
    if let Some(post) = table(font, *b"post") {
        read_post(post, &mut found);
    }
    (!found.is_empty()).then_some(found)
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_be_bytes)
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes)
}

fn table(font: &[u8], tag: [u8; 4]) -> Option<&[u8]> {
    let count = u16_at(font, 4)?;
    let records = font.get(12..)?.as_chunks::<16>().0.iter().take(count.into());
    let record = records.into_iter().find(|record| record.starts_with(&tag))?;
    let start = u32_at(record, 8)? as usize;
    let length = u32_at(record, 12)? as usize;
    font.get(start..start.checked_add(length)?.min(font.len()))
}

fn read_cmap(cmap: &[u8], found: &mut HashMap<u32, char>) {
    let count = u16_at(cmap, 2).unwrap_or(0).min(64);
    let mut subtables = (0..usize::from(count))
        .filter_map(|index| {
            let record = 4 + index * 8;
            let key = (u16_at(cmap, record)?, u16_at(cmap, record + 2)?);
            let rank = match key {
                (3, 10) | (0, 4..=6) => 0,
                (3, 1) | (0, _) => 1,
                (3, 0) => 2,
                (1, 0) => 3,
                _ => return None,
            };
            Some((rank, cmap.get(u32_at(cmap, record + 4)? as usize..)?))
        })
        .collect::<Vec<_>>();
    subtables.sort_by_key(|(rank, _)| *rank);
    for (rank, subtable) in subtables {
        let mut put = |code: u32, glyph: u32| {
            let character = match rank {
                // Symbol fonts keep their codes in a private area.
                2 => char::from_u32(if code >= 0xF000 { code - 0xF000 } else { code }).filter(char::is_ascii_graphic),
                3 => u8::try_from(code).ok().and_then(|code| names::Base::MacRoman.character(code)),
                _ => char::from_u32(code),
            };
            if let Some(character) = character.filter(|_| glyph != 0) {
                found.entry(glyph).or_insert(character);
            }
        };
        let _ = read_subtable(subtable, &mut put);
    }
}

fn read_subtable(data: &[u8], put: &mut impl FnMut(u32, u32)) -> Option<()> {
    match u16_at(data, 0)? {
        0 => {
            for (code, glyph) in (0u32..256).zip(data.get(6..)?) {
                put(code, u32::from(*glyph));
            }
        }
        4 => read_segments(data, put)?,
        6 => {
            let first = u32::from(u16_at(data, 6)?);
            for (code, glyph) in (first..).zip(data.get(10..)?.as_chunks::<2>().0.iter().take(u16_at(data, 8)?.into()))
            {
                put(code, u16::from_be_bytes(*glyph).into());
            }
        }
        12 => {
            let groups = data.get(16..)?.as_chunks::<12>().0.iter().take(u32_at(data, 12)? as usize);
            for group in groups {
                let (first, last, glyph) = (u32_at(group, 0)?, u32_at(group, 4)?, u32_at(group, 8)?);
                for code in first..=last.min(first.saturating_add(0xFFFF)) {
                    put(code, glyph.saturating_add(code - first));
                }
            }
        }
        _ => {}
    }
    Some(())
}

fn read_segments(data: &[u8], put: &mut impl FnMut(u32, u32)) -> Option<()> {
    let bytes = usize::from(u16_at(data, 6)?);
    for segment in (0..bytes).step_by(2) {
        let last = u16_at(data, 14 + segment)?;
        let first = u16_at(data, 16 + bytes + segment)?;
        let delta = u16_at(data, 16 + 2 * bytes + segment)?;
        let offset_at = 16 + 3 * bytes + segment;
        let offset = u16_at(data, offset_at)?;
        for code in first..=last {
            if code == 0xFFFF {
                break;
            }
            let glyph = if offset == 0 {
                code.wrapping_add(delta)
            } else {
                let at = offset_at + usize::from(offset) + 2 * usize::from(code - first);
                match u16_at(data, at) {
                    Some(0) | None => 0,
                    Some(glyph) => glyph.wrapping_add(delta),
                }
            };
            put(code.into(), glyph.into());
        }
    }
    Some(())
}

/// Only format 2 has names of its own; its first 258 are those of the Macintosh order and left to `cmap`.
fn read_post(post: &[u8], found: &mut HashMap<u32, char>) {
    if u32_at(post, 0) != Some(0x0002_0000) {
        return;
    }
    let count = usize::from(u16_at(post, 32).unwrap_or(0));
    let Some(mut rest) = post.get(34 + 2 * count..) else { return };
    let mut own_names = Vec::new();
    while let Some((length, tail)) = rest.split_first() {
        let Some((name, tail)) = tail.split_at_checked(usize::from(*length)) else { break };
        own_names.push(name);
        rest = tail;
    }
    for glyph in 0..count {
        let index = usize::from(u16_at(post, 34 + 2 * glyph).unwrap_or(0));
        let name = index.checked_sub(258).and_then(|index| own_names.get(index));
        if let (Some(character), Ok(glyph)) = (name.and_then(|name| names::character(name)), u32::try_from(glyph)) {
            found.entry(glyph).or_insert(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cmap_is_read_backwards() {
        let mut cmap = vec![0, 0, 0, 1, 0, 3, 0, 1, 0, 0, 0, 12];
        cmap.extend([0, 6, 0, 14, 0, 0, 0, 65, 0, 2, 0, 7, 0, 9]);
        let mut font = vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        font.extend(b"cmap");
        font.extend([0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, u8::try_from(cmap.len()).unwrap_or(0)]);
        font.extend(cmap);
        let found = glyph_characters(&font).unwrap_or_default();
        assert_eq!((found.get(&7), found.get(&9)), (Some(&'A'), Some(&'B')));
    }

    #[test]
    fn rubbish_is_no_font() {
        assert_eq!(glyph_characters(b"no font at all"), None);
        assert_eq!(glyph_characters(&[0xFF; 200]), None);
    }
}
