//! SVG.

use super::{
    drawing::{Colour, Drawing, Shape},
    places::{Point, Route},
};
use std::fmt::{self, Display, Write as _};

pub(super) fn write(drawing: &Drawing) -> String {
    let (width, height) = (Number(drawing.size.width), Number(drawing.size.height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n"
    );
    for shape in &drawing.shapes {
        svg.push_str(&element(shape));
        svg.push('\n');
    }
    svg.push_str("</svg>\n");
    svg
}

/// Two digits behind the point are enough, and none where there is nothing.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

fn at(point: Point) -> String {
    format!("{},{}", Number(point.x), Number(point.y))
}

fn painted(fill: Option<Colour>, edge: Option<(Colour, f64)>) -> String {
    let mut attributes = fill.map_or_else(|| " fill=\"none\"".to_owned(), |fill| format!(" fill=\"{fill}\""));
    if let Some((colour, width)) = edge {
        // Writing to a text does not fail.
        _ = write!(attributes, " stroke=\"{colour}\" stroke-width=\"{}\"", Number(width));
    }
    attributes
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Area { corner, size, radius, fill, edge } => format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"{}/>",
            Number(corner.x),
            Number(corner.y),
            Number(size.width),
            Number(size.height),
            Number(*radius),
            painted(Some(*fill), *edge)
        ),
        Shape::Corners { points, fill, edge } => {
            let points: Vec<String> = points.iter().map(|point| at(*point)).collect();
            format!("<polygon points=\"{}\"{}/>", points.join(" "), painted(Some(*fill), *edge))
        }
        Shape::Circle { middle, radius, fill, edge } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
            Number(middle.x),
            Number(middle.y),
            Number(*radius),
            painted(*fill, *edge)
        ),
        Shape::Curve { route, colour, width, dashed } => {
            let dashes = if *dashed { " stroke-dasharray=\"5 4\"" } else { "" };
            format!("<path d=\"{}\"{}{dashes}/>", way(route), painted(None, Some((*colour, *width))))
        }
        Shape::Text { at, size, colour, centred, text } => {
            let anchor = if *centred { " text-anchor=\"middle\"" } else { "" };
            format!(
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{colour}\"{anchor}>{}</text>",
                Number(at.x),
                Number(at.y),
                Number(*size),
                escape(text)
            )
        }
    }
}

fn way(route: &Route) -> String {
    let curves = route.curves.iter().map(|[first, second, end]| {
        if first.x.to_bits() == end.x.to_bits() && second.x.to_bits() == end.x.to_bits() {
            return format!(" V{}", Number(end.y));
        }
        format!(" C{} {} {}", at(*first), at(*second), at(*end))
    });
    std::iter::once(format!("M{}", at(route.start))).chain(curves).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
