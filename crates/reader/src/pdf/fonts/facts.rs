//! A font's name and looks, from its dictionary and its name.

use crate::layout::FontFacts;
use hayro_syntax::object::{Dict, Name};

const FIXED_PITCH: u32 = 1;
const SERIF: u32 = 1 << 1;
const ITALIC: u32 = 1 << 6;
const FORCE_BOLD: u32 = 1 << 18;

pub(super) fn read(dict: &Dict<'_>, descendant: Option<&Dict<'_>>) -> FontFacts {
    let descriptor = descendant.unwrap_or(dict).get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
    let name = dict
        .get::<Name<'_>>(b"BaseFont")
        .or_else(|| descriptor.get::<Name<'_>>(b"FontName"))
        .or_else(|| dict.get::<Name<'_>>(b"Name"))
        .map(|name| String::from_utf8_lossy(name.as_ref()).into_owned())
        .unwrap_or_default();
    let name = without_subset_prefix(&name).to_owned();
    let flags = descriptor.get::<u32>(b"Flags").unwrap_or(0);
    let weight = descriptor.get::<f32>(b"FontWeight").unwrap_or(400.0);
    let slant = descriptor.get::<f32>(b"ItalicAngle").unwrap_or(0.0);
    let (ascent, descent) = heights(&descriptor);
    FontFacts {
        bold: flags & FORCE_BOLD != 0 || weight >= 600.0 || names_bold(&name),
        italic: flags & ITALIC != 0 || slant.abs() > 1.0 || names_italic(&name),
        monospace: flags & FIXED_PITCH != 0 || names_monospace(&name),
        serif: flags & SERIF != 0 || name.starts_with("Times") || name.starts_with("CM"),
        ascent,
        descent,
        name,
    }
}

/// Many files say nonsense here, so only what a font can have is believed.
fn heights(descriptor: &Dict<'_>) -> (f32, f32) {
    let ascent = descriptor.get::<f32>(b"Ascent").unwrap_or(0.0) / 1000.0;
    let descent = -descriptor.get::<f32>(b"Descent").unwrap_or(0.0).abs() / 1000.0;
    let ascent = if (0.4..=1.3).contains(&ascent) { ascent } else { 0.8 };
    let descent = if (-0.6..=-0.02).contains(&descent) { descent } else { -0.2 };
    (ascent, descent)
}

fn without_subset_prefix(name: &str) -> &str {
    match name.split_once('+') {
        Some((prefix, rest)) if prefix.len() == 6 && prefix.bytes().all(|byte| byte.is_ascii_uppercase()) => rest,
        _ => name,
    }
}

fn names_bold(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["bold", "black", "heavy", "demi", "-bd", ",bd"].iter().any(|word| lower.contains(word))
        || ["CMBX", "CMB1", "CMSSBX", "SFBX", "LMBX", "NimbusSanL-Bo", "NimbusRomNo9L-Med"]
            .iter()
            .any(|start| name.starts_with(start))
}

fn names_italic(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["italic", "oblique", "-ital", "slanted"].iter().any(|word| lower.contains(word))
        || ["CMTI", "CMSL", "CMBXTI", "CMMI", "SFTI", "LMTI"].iter().any(|start| name.starts_with(start))
        || name.ends_with("-It")
}

fn names_monospace(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["courier", "mono", "consol", "menlo", "typewriter", "fixed", "inconsolata"].iter().any(|word| lower.contains(word))
        || ["CMTT", "SFTT", "LMTT", "CMSLTT"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_looks() {
        assert_eq!(without_subset_prefix("ABCDEF+Arial-BoldMT"), "Arial-BoldMT");
        assert_eq!(without_subset_prefix("A+B"), "A+B");
        assert!(names_bold("Arial-BoldMT") && names_bold("CMBX12") && !names_bold("CMR10"));
        assert!(names_italic("Times-Italic") && names_italic("CMTI10") && !names_italic("Times-Roman"));
        assert!(names_monospace("CourierNew") && !names_monospace("Helvetica"));
    }
}
