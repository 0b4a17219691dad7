//! Addresses (URLs) as messages and logs show them.

/// An address without what may be a secret: user and password, query and fragment.
pub fn redact(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_tokens_are_left_out() {
        assert_eq!(redact("https://ann:s3cret@ocr.example:8080/v1/@x?token=abc#y"), "https://ocr.example:8080/v1/@x");
        assert_eq!(redact("http://127.0.0.1:1"), "http://127.0.0.1:1");
        assert_eq!(redact("https://a:p@ss@h"), "https://h");
        assert_eq!(redact("localhost/x?key=abc"), "localhost/x");
    }
}
