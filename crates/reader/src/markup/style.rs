//! How an element looks, by its name and its `style` attribute; style sheets are not followed.

use super::tree::{NodeId, Tree};
use crate::model::Style;

/// The looks of what is inside the element; None if it is not shown at all.
pub(super) fn style_of(tree: &Tree, node: NodeId, name: &str, outer: Style) -> Option<Style> {
    let mut style = outer;
    match name {
        "script" | "style" | "template" | "noscript" | "head" | "iframe" | "object" | "embed" | "video" | "audio"
        | "canvas" | "svg" | "datalist" | "map" | "noframes" | "noembed" | "dialog" | "annotation"
        | "annotation-xml" => {
            return None;
        }
        "b" | "strong" | "dt" => style.bold = true,
        "i" | "em" | "cite" | "dfn" | "var" => style.italic = true,
        "s" | "strike" | "del" => style.struck = true,
        "u" | "ins" => style.underlined = true,
        "sup" => style.superscript = true,
        "sub" => style.subscript = true,
        "code" | "kbd" | "samp" | "tt" => style.code = true,
        _ => {}
    }
    if tree.attribute(node, "hidden").is_some() {
        return None;
    }
    match tree.attribute(node, "style") {
        Some(declarations) => declared(declarations, style),
        None => Some(style),
    }
}

fn declared(declarations: &str, mut style: Style) -> Option<Style> {
    for declaration in declarations.split(';') {
        let Some((property, value)) = declaration.split_once(':') else { continue };
        let value = value.trim().to_ascii_lowercase();
        let value = value.trim_end_matches("!important").trim_end();
        match property.trim().to_ascii_lowercase().as_str() {
            "display" if value == "none" => return None,
            "visibility" if value == "hidden" => return None,
            "font-weight" => style.bold = matches!(value, "bold" | "bolder" | "600" | "700" | "800" | "900"),
            "font-style" => style.italic = value.starts_with("italic") || value.starts_with("oblique"),
            "text-decoration" | "text-decoration-line" => {
                style.struck |= value.contains("line-through");
                style.underlined |= value.contains("underline");
            }
            "vertical-align" if value == "super" => style.superscript = true,
            "vertical-align" if value == "sub" => style.subscript = true,
            _ => {}
        }
    }
    Some(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_followed() {
        let plain = Style::default();
        assert_eq!(declared("color:red; DISPLAY : none", plain), None);
        assert_eq!(declared("visibility:hidden!important", plain), None);
        let style = declared("font-weight:700;font-style: italic ;text-decoration: underline line-through", plain);
        let wanted = Style { bold: true, italic: true, struck: true, underlined: true, ..plain };
        assert_eq!(style, Some(wanted));
        assert_eq!(declared("font-weight:normal", Style { bold: true, ..plain }), Some(plain));
    }
}
