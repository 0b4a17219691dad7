//! Mails in mails. They are attachments, so the parser is kept from opening them: a chain of a hundred thousand would
//! exhaust its stack.

/// What a nested mail is called while the outer one is parsed; of the same length, so that no place moves.
const HIDDEN: [(&[u8], &[u8]); 3] = [
    (b"message/rfc822", b"message/x-mail"),
    (b"message/global", b"message/x-glob"),
    (b"multipart/digest", b"multipart/mixed "),
];

/// Renames the types of nested mails.
pub(super) fn hide(mail: &mut [u8]) {
    replace(mail, |bytes| HIDDEN.iter().find(|(name, _)| starts_with(bytes, name)).map(|(_, hidden)| *hidden));
}

/// Gives them back their names.
pub(super) fn unhide(mail: &mut [u8]) {
    replace(mail, |bytes| HIDDEN.iter().take(2).find(|(_, hidden)| starts_with(bytes, hidden)).map(|(name, _)| *name));
}

/// Whether a content type is that of a nested mail.
pub(super) fn is_hidden(media_type: &str) -> bool {
    media_type.eq_ignore_ascii_case("message/x-mail") || media_type.eq_ignore_ascii_case("message/x-glob")
}

fn starts_with(bytes: &[u8], name: &[u8]) -> bool {
    bytes.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// Changes the values of all Content-Type headers that `other` has another name for.
fn replace(mail: &mut [u8], other: impl Fn(&[u8]) -> Option<&'static [u8]>) {
    const HEADER: &[u8] = b"content-type:";
    let mut line = 0;
    while line < mail.len() {
        let rest = mail.get(line..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(mail.len(), |end| line + end + 1);
        if starts_with(rest, HEADER) {
            let blank = rest.iter().skip(HEADER.len()).take(100).take_while(|byte| byte.is_ascii_whitespace()).count();
            let value = line + HEADER.len() + blank;
            if let Some(new) = other(mail.get(value..).unwrap_or_default())
                && let Some(old) = mail.get_mut(value..value + new.len())
            {
                old.copy_from_slice(new);
            }
        }
        line = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_hidden_and_given_back() {
        let original =
            b"Content-Type:\r\n Message/RFC822; name=x\r\n\r\nabout message/rfc822\r\ncontent-type: message/rfc822"
                .to_vec();
        let mut mail = original.clone();
        hide(&mut mail);
        assert_eq!(mail.len(), original.len());
        assert!(!mail.windows(24).any(|part| part.eq_ignore_ascii_case(b"type:\r\n message/rfc822; n")));
        assert!(String::from_utf8_lossy(&mail).contains("about message/rfc822"));
        unhide(&mut mail);
        assert_eq!(mail.to_ascii_lowercase(), original.to_ascii_lowercase());
    }
}
