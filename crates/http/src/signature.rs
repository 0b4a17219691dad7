//! Standard Webhooks: the receiver computes the same signature over id, time and body, and so knows who sent it, that
//! nothing was changed on the way, and that it is not an old one sent again.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::fmt;

pub const ID: &str = "webhook-id";
pub const TIMESTAMP: &str = "webhook-timestamp";
pub const SIGNATURE: &str = "webhook-signature";

const PREFIX: &str = "whsec_";

/// A secret that both sides know. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The secrets in a text: one, or while it is being changed several with spaces between. None if it is not of that form.
pub fn secrets(text: &str) -> Option<Vec<Secret>> {
    let secrets: Option<Vec<Secret>> = text.split_whitespace().map(secret).collect();
    secrets.filter(|secrets| !secrets.is_empty())
}

fn secret(text: &str) -> Option<Secret> {
    let bytes = BASE64_STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
    (!bytes.is_empty()).then_some(Secret(bytes))
}

/// The value of the signature's header: one signature for each secret.
pub fn sign(secrets: &[Secret], id: &str, seconds: u64, body: &[u8]) -> String {
    let signatures: Vec<String> = secrets.iter().map(|secret| one(secret, id, seconds, body)).collect();
    signatures.join(" ")
}

fn one(secret: &Secret, id: &str, seconds: u64, body: &[u8]) -> String {
    // Keys may have any length, so this cannot fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&secret.0) else { return String::new() };
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(body);
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn the_specifications_example_comes_out() {
        let secrets = secrets("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = sign(&secrets, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn two_secrets_are_two_signatures() {
        let both = secrets("whsec_YQ== whsec_Yg==").unwrap();
        let signed = sign(&both, "id", 1, b"{}");
        let alone: Vec<String> = both.iter().map(|one| sign(std::slice::from_ref(one), "id", 1, b"{}")).collect();
        assert_eq!(signed, alone.join(" "));
        assert_ne!(alone[0], alone[1]);
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        for nonsense in ["", "secret", "whsec_", "whsec_*", "whsec_YQ== plain", "WHSEC_YQ=="] {
            assert_eq!(secrets(nonsense), None, "{nonsense:?}");
        }
        assert_eq!(format!("{:?}", secrets("whsec_YQ==").unwrap()), "[Secret]");
    }
}
