//! Everything that a page needs, copied out of a PDF, and nothing else of it.
//!
//! From the page's dictionary every reference is followed, each object is copied once and gets a new number. References
//! that lead out of the page (to its parents, to other pages, to the structure of the document) are cut off.

use super::write::{self, Writer};
use crate::error::{ReadError, ReadResult};
use hayro_syntax::{
    Pdf,
    object::{Array, Dict, MaybeRef, Name, ObjRef, Object, Rect, Stream},
    page::{Page, Rotation},
};
use std::collections::{HashMap, VecDeque};

/// Objects in objects, without references between them; a parser that gives more is being misled.
const DEPTH: usize = 64;
/// No page consists of more objects.
const OBJECTS: usize = 1_000_000;
/// Keys of a page that lead to the rest of the document, or to what only the program that wrote it can use.
const LEFT_OUT: [&[u8]; 6] = [b"Parent", b"StructParents", b"B", b"PieceInfo", b"Thumb", b"Metadata"];
/// What a page may inherit from its parents.
const INHERITED: [&[u8]; 4] = [b"Resources", b"MediaBox", b"CropBox", b"Rotate"];

/// The numbers of the first two objects.
const CATALOG: usize = 1;
const PAGE_TREE: usize = 2;
const PAGE: usize = 3;

pub(super) fn page(pdf: &Pdf, page: &Page<'_>) -> ReadResult<Vec<u8>> {
    let mut copy = Copy { pdf, numbers: HashMap::new(), waiting: VecDeque::new(), next: PAGE + 1 };
    let catalog = copy.catalog(page)?;
    let body = copy.page(page)?;
    let mut writer = Writer::new();
    writer.object(&catalog);
    writer.object(format!("<< /Type /Pages /Kids [ {PAGE} 0 R ] /Count 1 >>").as_bytes());
    writer.object(&body);
    while let Some(reference) = copy.waiting.pop_front() {
        let mut out = Vec::new();
        match pdf.xref().get::<Object<'_>>(reference.into()) {
            Some(object) => copy.object(&mut out, &object, 0)?,
            None => out.extend_from_slice(b"null"),
        }
        writer.object(&out);
    }
    Ok(writer.finish(CATALOG))
}

struct Copy<'pdf> {
    pdf: &'pdf Pdf,
    /// New numbers by old ones.
    numbers: HashMap<ObjRef, usize>,
    /// Those that have a number and are not written yet, in the order of their numbers.
    waiting: VecDeque<ObjRef>,
    next: usize,
}

impl Copy<'_> {
    /// The catalog, with what decides how pages look: which layers are shown, and how forms are filled in.
    fn catalog(&mut self, page: &Page<'_>) -> ReadResult<Vec<u8>> {
        let mut out = format!("<< /Type /Catalog /Pages {PAGE_TREE} 0 R").into_bytes();
        let xref = self.pdf.xref();
        if let Some(root) = xref.get::<Dict<'_>>(xref.root_id()) {
            if let Some(layers) = root.get::<Dict<'_>>("OCProperties") {
                out.extend_from_slice(b" /OCProperties ");
                self.dictionary(&mut out, &layers, &[], 1)?;
            }
            if let Some(form) = root.get::<Dict<'_>>("AcroForm") {
                out.extend_from_slice(b" /AcroForm ");
                self.dictionary(&mut out, &form, &[b"Fields", b"XFA", b"CO"], 1)?;
                out.truncate(out.len().saturating_sub(3));
                out.extend_from_slice(b" /Fields [");
                for field in fields(page) {
                    out.push(b' ');
                    self.reference(&mut out, field)?;
                }
                out.extend_from_slice(b" ] >>");
            }
        }
        out.extend_from_slice(b" >>");
        Ok(out)
    }

    fn page(&mut self, page: &Page<'_>) -> ReadResult<Vec<u8>> {
        let mut out = format!("<< /Type /Page /Parent {PAGE_TREE} 0 R").into_bytes();
        rectangle(&mut out, b"MediaBox", page.media_box());
        rectangle(&mut out, b"CropBox", page.intersected_crop_box());
        let degrees = match page.rotation() {
            Rotation::None => 0,
            Rotation::Horizontal => 90,
            Rotation::Flipped => 180,
            Rotation::FlippedHorizontal => 270,
        };
        out.extend_from_slice(format!(" /Rotate {degrees} /Resources ").as_bytes());
        self.resources(&mut out, page)?;
        for (key, value) in page.raw().entries() {
            let key: &[u8] = &key;
            if key == b"Type" || INHERITED.contains(&key) || LEFT_OUT.contains(&key) {
                continue;
            }
            out.push(b' ');
            write::name(&mut out, key);
            out.push(b' ');
            self.value(&mut out, value, 1)?;
        }
        out.extend_from_slice(b" >>");
        Ok(out)
    }

    /// The resources, the page's own or those of its parents. The parser has looked for them in the parents and kept
    /// only what it found, so they are put together from its parts.
    fn resources(&mut self, out: &mut Vec<u8>, page: &Page<'_>) -> ReadResult<()> {
        if let Some(own) = page.raw().get_raw::<Object<'_>>("Resources") {
            return self.value(out, own, 1);
        }
        let found = page.resources();
        let parts: [(&[u8], &Dict<'_>); 7] = [
            (b"ExtGState", &found.ext_g_states),
            (b"Font", &found.fonts),
            (b"Properties", &found.properties),
            (b"ColorSpace", &found.color_spaces),
            (b"XObject", &found.x_objects),
            (b"Pattern", &found.patterns),
            (b"Shading", &found.shadings),
        ];
        out.extend_from_slice(b"<<");
        for (key, part) in parts {
            if !part.is_empty() {
                out.push(b' ');
                write::name(out, key);
                out.push(b' ');
                self.dictionary(out, part, &[], 1)?;
            }
        }
        out.extend_from_slice(b" >>");
        Ok(())
    }

    fn value(&mut self, out: &mut Vec<u8>, value: MaybeRef<Object<'_>>, depth: usize) -> ReadResult<()> {
        match value {
            MaybeRef::NotRef(object) => self.object(out, &object, depth),
            MaybeRef::Ref(reference) => self.reference(out, reference),
        }
    }

    fn reference(&mut self, out: &mut Vec<u8>, reference: ObjRef) -> ReadResult<()> {
        let number = if let Some(number) = self.numbers.get(&reference) {
            *number
        } else {
            if self.leads_out(reference) {
                out.extend_from_slice(b"null");
                return Ok(());
            }
            if self.next > OBJECTS {
                return Err(ReadError::too_large(format!("a page has more than {OBJECTS} objects")));
            }
            let number = self.next;
            self.next += 1;
            self.numbers.insert(reference, number);
            self.waiting.push_back(reference);
            number
        };
        out.extend_from_slice(format!("{number} 0 R").as_bytes());
        Ok(())
    }

    /// Whether a reference leads to another page or to the tree of pages.
    fn leads_out(&self, reference: ObjRef) -> bool {
        let Some(dictionary) = self.pdf.xref().get::<Dict<'_>>(reference.into()) else { return false };
        let kind = dictionary.get::<Name<'_>>("Type");
        kind.is_some_and(|kind| [b"Page".as_slice(), b"Pages", b"Catalog", b"StructTreeRoot"].contains(&kind.as_ref()))
    }

    fn object(&mut self, out: &mut Vec<u8>, object: &Object<'_>, depth: usize) -> ReadResult<()> {
        if depth > DEPTH {
            return Err(ReadError::too_large(format!("objects of a page are nested deeper than {DEPTH}")));
        }
        match object {
            Object::Null(_) => out.extend_from_slice(b"null"),
            Object::Boolean(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
            Object::Number(value) => write::number(out, value.as_f64()),
            Object::String(text) => write::string(out, text),
            Object::Name(name) => write::name(out, name),
            Object::Dict(dictionary) => {
                // A field of a form knows its parts on all pages; those on this page are reached from the page.
                let field = dictionary.contains_key("FT") || dictionary.contains_key("T");
                self.dictionary(out, dictionary, if field { &[b"Kids"] } else { &[] }, depth)?;
            }
            Object::Array(array) => self.array(out, array, depth)?,
            Object::Stream(stream) => self.stream(out, stream, depth)?,
        }
        Ok(())
    }

    fn array(&mut self, out: &mut Vec<u8>, array: &Array<'_>, depth: usize) -> ReadResult<()> {
        out.push(b'[');
        for value in array.raw_iter() {
            out.push(b' ');
            self.value(out, value, depth + 1)?;
        }
        out.extend_from_slice(b" ]");
        Ok(())
    }

    fn dictionary(
        &mut self,
        out: &mut Vec<u8>,
        dictionary: &Dict<'_>,
        without: &[&[u8]],
        depth: usize,
    ) -> ReadResult<()> {
        out.extend_from_slice(b"<<");
        for (key, value) in dictionary.entries() {
            let key: &[u8] = &key;
            if without.contains(&key) {
                continue;
            }
            out.push(b' ');
            write::name(out, key);
            out.push(b' ');
            self.value(out, value, depth + 1)?;
        }
        out.extend_from_slice(b" >>");
        Ok(())
    }

    /// A stream as it is stored, decrypted. Its length is that of what is written.
    fn stream(&mut self, out: &mut Vec<u8>, stream: &Stream<'_>, depth: usize) -> ReadResult<()> {
        let data = stream.raw_data();
        let start = out.len();
        self.dictionary(out, stream.dict(), &[b"Length"], depth)?;
        // The closing brackets of the dictionary make room for the length.
        out.truncate(out.len().saturating_sub(3).max(start));
        out.extend_from_slice(format!(" /Length {} >>\nstream\n", data.len()).as_bytes());
        out.extend_from_slice(&data);
        out.extend_from_slice(b"\nendstream");
        Ok(())
    }
}

/// The parts of forms that are on the page.
fn fields(page: &Page<'_>) -> Vec<ObjRef> {
    let annotations = page.raw().get::<Array<'_>>("Annots");
    let references = annotations.iter().flat_map(Array::raw_iter).filter_map(|entry| entry.as_obj_ref());
    let is_field = |reference: &ObjRef| {
        let annotation = page.xref().get::<Dict<'_>>((*reference).into());
        annotation.and_then(|dictionary| dictionary.get::<Name<'_>>("Subtype")).is_some_and(|kind| &*kind == b"Widget")
    };
    references.filter(is_field).collect()
}

fn rectangle(out: &mut Vec<u8>, key: &[u8], place: Rect) {
    out.push(b' ');
    write::name(out, key);
    out.extend_from_slice(b" [");
    for side in [place.x0, place.y0, place.x1, place.y1] {
        out.push(b' ');
        write::number(out, side);
    }
    out.extend_from_slice(b" ]");
}
