//! One page of PDF, which every viewer can show and which can be turned into pixels.

use super::{
    drawing::{Colour, Drawing, Shape},
    places::{Point, Size},
    text,
};
use std::fmt::Write as _;

/// How far the handles of a quarter of a circle are, for a radius of 1.
const QUARTER: f64 = 0.552_284_75;

pub(super) fn write(drawing: &Drawing) -> Vec<u8> {
    let mut page = Page { content: Vec::new(), height: drawing.size.height };
    for shape in &drawing.shapes {
        page.shape(shape);
    }
    let Size { width, height } = drawing.size;
    let content = page.content;
    let head = format!("<</Length {}>>stream\n", content.len());
    let objects: [Vec<u8>; 5] = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width:.2} {height:.2}]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>"
        )
        .into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
        [head.as_bytes(), &content, b"\nendstream"].concat(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let table = file.len();
    let mut end = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        // Writing to a text does not fail.
        _ = writeln!(end, "{place:010} 00000 n ");
    }
    _ = write!(end, "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    file.extend_from_slice(end.as_bytes());
    file
}

struct Page {
    content: Vec<u8>,
    height: f64,
}

impl Page {
    fn put(&mut self, text: &str) {
        self.content.extend_from_slice(text.as_bytes());
        self.content.push(b'\n');
    }

    /// Pages count from below.
    fn at(&self, point: Point) -> String {
        format!("{:.2} {:.2}", point.x, self.height - point.y)
    }

    fn paint(&mut self, fill: Option<Colour>, edge: Option<(Colour, f64)>) {
        let operator = match (fill, edge) {
            (Some(_), Some(_)) => "b",
            (Some(_), None) => "f",
            (None, _) => "S",
        };
        self.put(operator);
    }

    fn colours(&mut self, fill: Option<Colour>, edge: Option<(Colour, f64)>) {
        let parts = |Colour(red, green, blue): Colour| {
            [red, green, blue].map(|part| format!("{:.3}", f64::from(part) / 255.0)).join(" ")
        };
        if let Some(fill) = fill {
            self.put(&format!("{} rg", parts(fill)));
        }
        if let Some((colour, width)) = edge {
            self.put(&format!("{} RG {width:.2} w", parts(colour)));
        }
    }

    fn curve(&mut self, points: [Point; 3]) {
        let [first, second, end] = points.map(|point| self.at(point));
        self.put(&format!("{first} {second} {end} c"));
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Area { corner, size, radius, fill, edge } => {
                self.colours(Some(*fill), *edge);
                self.rounded(*corner, *size, *radius);
                self.paint(Some(*fill), *edge);
            }
            Shape::Corners { points, fill, edge } => {
                self.colours(Some(*fill), *edge);
                for (number, point) in points.iter().enumerate() {
                    let line = format!("{} {}", self.at(*point), if number == 0 { "m" } else { "l" });
                    self.put(&line);
                }
                self.put("h");
                self.paint(Some(*fill), *edge);
            }
            Shape::Circle { middle, radius, fill, edge } => {
                self.colours(*fill, *edge);
                let corner = Point { x: middle.x - radius, y: middle.y - radius };
                self.rounded(corner, Size { width: radius * 2.0, height: radius * 2.0 }, *radius);
                self.paint(*fill, *edge);
            }
            Shape::Curve { route, colour, width, dashed } => {
                self.colours(None, Some((*colour, *width)));
                self.put(if *dashed { "[5 4] 0 d" } else { "[] 0 d" });
                let start = format!("{} m", self.at(route.start));
                self.put(&start);
                route.curves.iter().for_each(|points| self.curve(*points));
                self.put("S [] 0 d");
            }
            Shape::Text { at, size, colour, centred, text } => {
                self.colours(Some(*colour), None);
                let left = if *centred { text::width(text, *size) / 2.0 } else { 0.0 };
                let start = self.at(Point { x: at.x - left, y: at.y });
                self.put(&format!("BT /F {size:.2} Tf {start} Td"));
                self.content.push(b'(');
                self.content.extend(text.chars().flat_map(encoded));
                self.content.extend_from_slice(b") Tj ET\n");
            }
        }
    }

    fn rounded(&mut self, corner: Point, size: Size, radius: f64) {
        let radius = radius.min(size.width / 2.0).min(size.height / 2.0);
        let (left, top) = (corner.x, corner.y);
        let (right, bottom) = (left + size.width, top + size.height);
        let at = |x: f64, y: f64| Point { x, y };
        let start = self.at(at(left + radius, top));
        self.put(&format!("{start} m"));
        // Each side is followed by the corner at its end: where the side ends, the corner itself, where the next begins.
        for (end, turn, next) in [
            (at(right - radius, top), at(right, top), at(right, top + radius)),
            (at(right, bottom - radius), at(right, bottom), at(right - radius, bottom)),
            (at(left + radius, bottom), at(left, bottom), at(left, bottom - radius)),
            (at(left, top + radius), at(left, top), at(left + radius, top)),
        ] {
            let line = format!("{} l", self.at(end));
            self.put(&line);
            if radius > 0.0 {
                let handle =
                    |from: Point| at(from.x + (turn.x - from.x) * QUARTER, from.y + (turn.y - from.y) * QUARTER);
                self.curve([handle(end), handle(next), next]);
            }
        }
        self.put("h");
    }
}

/// A letter as the font numbers it.
fn encoded(letter: char) -> Vec<u8> {
    match letter {
        '(' | ')' | '\\' => vec![b'\\', letter as u8],
        ' '..='~' | '\u{a0}'..='\u{ff}' => vec![letter as u32 as u8],
        '…' => vec![0x85],
        '€' => vec![0x80],
        '–' => vec![0x96],
        '—' => vec![0x97],
        '‘' => vec![0x91],
        '’' => vec![0x92],
        '“' => vec![0x93],
        '”' => vec![0x94],
        _ => vec![b'?'],
    }
}
