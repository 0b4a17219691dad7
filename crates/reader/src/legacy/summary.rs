//! What a compound file says of itself: the stream of properties that all of them share.

use super::{
    bytes::{Bytes, u16_at, u32_at, wide_text},
    code_page::CodePage,
    compound::Compound,
    time,
};
use crate::model::Metadata;

const MOST_PROPERTIES: usize = 200;

pub(crate) fn metadata(file: &Compound) -> Metadata {
    let mut metadata = Metadata::default();
    if let Some(stream) = file.named("\u{5}SummaryInformation") {
        read(&stream, &mut metadata);
    }
    metadata
}

fn read(stream: &[u8], metadata: &mut Metadata) -> Option<()> {
    let section = stream.get(u32_at(stream, 44)? as usize..)?;
    let count = (u32_at(section, 4)? as usize).min(MOST_PROPERTIES);
    let place = |wanted: u32| {
        let mut list = Bytes::at(section, 8);
        (0..count).find_map(|_| {
            let (id, place) = (list.u32()?, list.u32()?);
            (id == wanted).then_some(place as usize)
        })
    };
    let page = place(1).and_then(|place| u16_at(section, place + 4)).and_then(|page| CodePage::by_number(page.into()));
    let page = page.unwrap_or(CodePage::WESTERN);
    let text = |id| {
        let place = place(id)?;
        let kind = u32_at(section, place)?;
        let length = u32_at(section, place + 4)? as usize;
        let text = match kind {
            30 => page.decode(section.get(place + 8..)?.get(..length)?),
            31 => wide_text(section.get(place + 8..)?.get(..length.checked_mul(2)?)?),
            _ => return None,
        };
        let text = text.split('\0').next().unwrap_or_default().trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let moment = |id| {
        let place = place(id)?;
        time::from_windows(Bytes::at(section, place + 4).u64()?)
    };
    metadata.title = text(2);
    metadata.subject = text(3);
    metadata.author = text(4);
    metadata.keywords = text(5);
    metadata.creator = text(18);
    metadata.created = moment(12);
    metadata.modified = moment(13);
    Some(())
}
