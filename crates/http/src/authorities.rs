//! Own certificate authorities: root certificates that every client of this process trusts beside the public ones.
//!
//! They are said once, before the first client is made, because clients are made deep inside of what uses them.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};
use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

static TRUSTED: OnceLock<Arc<Vec<Certificate<'static>>>> = OnceLock::new();

/// Why certificates cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum AuthoritiesError {
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} is no file of certificates in PEM: {why}", path.display())]
    NotPem { path: PathBuf, why: String },
    #[error("{} holds no certificate, expected -----BEGIN CERTIFICATE-----", path.display())]
    Empty { path: PathBuf },
}

/// Reads the certificates of a file in PEM. Whatever else is in it, such as a key, is passed over.
fn read(path: &Path) -> Result<Vec<Certificate<'static>>, AuthoritiesError> {
    let bytes = std::fs::read(path).map_err(|error| AuthoritiesError::Unreadable { path: path.to_owned(), error })?;
    let mut own = Vec::new();
    for item in parse_pem(&bytes) {
        match item {
            Ok(PemItem::Certificate(certificate)) => own.push(certificate),
            Ok(_) => {}
            Err(error) => {
                return Err(AuthoritiesError::NotPem { path: path.to_owned(), why: error.to_string() });
            }
        }
    }
    if own.is_empty() { Err(AuthoritiesError::Empty { path: path.to_owned() }) } else { Ok(own) }
}

/// Trusts the certificates of a file from now on, in all clients that are made later. The first file that is said counts.
pub fn trust(path: &Path) -> Result<(), AuthoritiesError> {
    let roots = with_public(read(path)?);
    TRUSTED.get_or_init(|| Arc::new(roots));
    Ok(())
}

fn with_public(own: Vec<Certificate<'static>>) -> Vec<Certificate<'static>> {
    let public = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
    own.into_iter().chain(public.map(|der| Certificate::from_der(der.as_ref()))).collect()
}

/// What a client trusts.
pub(crate) fn roots() -> RootCerts {
    TRUSTED.get().map_or(RootCerts::WebPki, |trusted| RootCerts::Specific(Arc::clone(trusted)))
}
