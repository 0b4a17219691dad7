//! Files that are embedded in the file, such as the data of an invoice.

use super::{streams, strings, tree};
use crate::{
    error::{ReadError, ReadResult, check_limit},
    model::Attachment,
    options::Limits,
};
use hayro_syntax::object::{self, Array, Dict, Name, Object, Stream};
use std::collections::HashSet;

pub(super) fn read(catalog: &Dict<'_>, limits: &Limits) -> ReadResult<Vec<Attachment>> {
    let mut specifications = Vec::new();
    if let Some(root) = catalog.get::<Dict<'_>>(b"Names").and_then(|names| names.get::<Dict<'_>>(b"EmbeddedFiles")) {
        specifications.extend(tree::names(&root).into_iter().filter_map(|(name, value)| match value {
            Object::Dict(dict) => Some((strings::line(&name), dict)),
            _ => None,
        }));
    }
    if let Some(associated) = catalog.get::<Array<'_>>(b"AF") {
        specifications.extend(associated.iter::<Dict<'_>>().map(|dict| (None, dict)));
    }
    check_limit("the number of embedded files", specifications.len() as u64, limits.archive_entries as u64)?;

    let mut attachments = Vec::new();
    let mut seen = HashSet::new();
    let mut total = 0;
    for (listed_name, specification) in specifications {
        let Some(files) = specification.get::<Dict<'_>>(b"EF") else { continue };
        let Some(stream) = files.get::<Stream<'_>>(b"UF").or_else(|| files.get::<Stream<'_>>(b"F")) else { continue };
        let id = stream.obj_id();
        if !seen.insert((id.obj_number, id.gen_number)) {
            continue;
        }
        if !streams::fits(&stream, limits.part_bytes) {
            return Err(ReadError::too_large(format!(
                "an embedded file unpacks to more than {} bytes",
                limits.part_bytes
            )));
        }
        let Ok(data) = stream.decoded_data() else { continue };
        total += data.len() as u64;
        check_limit("the size of the embedded files", total, limits.unpacked_bytes)?;
        let name = [b"UF".as_slice(), b"F", b"Desc"]
            .iter()
            .find_map(|key| {
                specification.get::<object::String<'_>>(key).and_then(|name| strings::line(name.as_bytes()))
            })
            .or(listed_name)
            .unwrap_or_else(|| format!("embedded-{}", attachments.len() + 1));
        let media_type =
            stream.dict().get::<Name<'_>>(b"Subtype").map(|name| String::from_utf8_lossy(name.as_ref()).into_owned());
        attachments.push(Attachment {
            name: safe(&name),
            media_type: media_type.filter(|kind| kind.contains('/')),
            bytes: data.into_owned(),
        });
    }
    Ok(attachments)
}

/// A name that stays in the folder that it is put into.
fn safe(name: &str) -> String {
    let parts = name
        .split(['/', '\\'])
        .filter(|part| !part.is_empty() && *part != "." && *part != ".." && !part.ends_with(':'));
    let name = parts.collect::<Vec<_>>().join("/");
    if name.is_empty() { "embedded".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn names_do_not_lead_out() {
        assert_eq!(safe("../../etc/passwd"), "etc/passwd");
        assert_eq!(safe("C:\\data\\factur-x.xml"), "data/factur-x.xml");
        assert_eq!(safe(".."), "embedded");
    }
}
