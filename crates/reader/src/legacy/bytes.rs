//! Numbers and pieces from bytes, little end first; whatever is not there is None.

#[derive(Debug, Clone)]
pub(crate) struct Bytes<'b> {
    rest: &'b [u8],
}

impl<'b> Bytes<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// From this place on; nothing if it is beyond the end.
    pub(crate) fn at(bytes: &'b [u8], place: usize) -> Self {
        Self { rest: bytes.get(place..).unwrap_or_default() }
    }

    pub(crate) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take(1).and_then(|bytes| bytes.first().copied())
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    pub(crate) fn i16(&mut self) -> Option<i16> {
        Some(i16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Up to a zero, which is taken too.
    pub(crate) fn until_zero(&mut self) -> Option<&'b [u8]> {
        let end = self.rest.iter().position(|byte| *byte == 0)?;
        let text = self.take(end);
        self.take(1);
        text
    }
}

pub(crate) fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    Bytes::at(bytes, place).u16()
}

pub(crate) fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Bytes::at(bytes, place).u32()
}

/// Text of two bytes a letter; an odd byte at the end is left out.
pub(crate) fn wide_text(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}')).collect()
}
