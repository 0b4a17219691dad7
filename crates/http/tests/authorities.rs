//! A server whose certificate an own authority has signed: refused until that authority is trusted, and every client that is
//! made afterwards trusts it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_http::{Client, HttpError, Limits, Request, authorities};
use rustls::{
    ServerConfig, ServerConnection, Stream,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

/// Makes an authority and a certificate for localhost that it has signed; false where openssl is missing.
fn make_certificates(folder: &Path) -> bool {
    let make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority -days 2 && \
        openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server && \
        printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\\n' > server.ext && \
        openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext \
        -out server.crt";
    let made = Command::new("sh").args(["-c", make]).current_dir(folder).stderr(Stdio::null()).status();
    made.is_ok_and(|status| status.success())
}

/// Answers every connection with `ok`, over TLS. Returns its port.
fn serve(folder: &Path) -> u16 {
    let certificate = CertificateDer::from_pem_file(folder.join("server.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut socket = connection.unwrap();
            let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = Stream::new(&mut session, &mut socket);
            let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
            // One that does not trust us goes away in the middle.
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                request.extend_from_slice(&buffer[..read]);
                if request.windows(4).any(|end| end == b"\r\n\r\n") {
                    let answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";
                    let _ = stream.write_all(answer);
                    session.send_close_notify();
                    let _ = session.write_tls(&mut socket);
                    break;
                }
            }
        }
    });
    port
}

fn get(port: u16) -> Result<Vec<u8>, HttpError> {
    let request = Request::get(format!("https://localhost:{port}/")).body(Vec::new()).unwrap();
    let limits = Limits::new(Duration::from_secs(20), 1_000);
    Client::default().exchange(request, &limits)?.whole().map(|answer| answer.body)
}

#[test]
fn an_own_authority_is_trusted_by_every_client_that_is_made_after_it_was_named() {
    let folder = tempfile::tempdir().unwrap();
    if !make_certificates(folder.path()) {
        bindery_testkit::missing("openssl cannot make certificates");
        return;
    }
    let port = serve(folder.path());
    let refused = get(port).unwrap_err();
    assert!(matches!(&refused, HttpError::Unreachable(why) if why.contains("UnknownIssuer")), "{refused:?}");

    let wrong = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        authorities::trust(&file).unwrap_err().to_string().replace(&file.display().to_string(), name)
    };
    assert_eq!(wrong("empty.pem", ""), "empty.pem holds no certificate, expected -----BEGIN CERTIFICATE-----");
    let broken = wrong("broken.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    assert!(broken.starts_with("broken.pem is no file of certificates in PEM: "), "{broken}");
    let key = fs::read_to_string(folder.path().join("ca.key")).unwrap();
    assert!(wrong("key.pem", &key).contains("holds no certificate"));
    let missing = authorities::trust(&folder.path().join("missing.pem")).unwrap_err().to_string();
    assert!(missing.contains("missing.pem cannot be read"), "{missing}");
    assert!(get(port).is_err(), "nothing is trusted by mistake");

    authorities::trust(&folder.path().join("ca.crt")).unwrap();
    assert_eq!(get(port).unwrap(), b"ok");
}
