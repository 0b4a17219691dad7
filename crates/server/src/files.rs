//! Files for endpoints that work on a request: each under a token that ends with the call.

use axum::{
    body::Body,
    extract::Path,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse as _, Response},
};
use bindery_app::served;
use futures_util::stream;
use std::io;
use tokio::{fs::File, io::AsyncReadExt as _};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// The bytes, as they are read. Whoever has no token, or one whose call has ended, learns nothing.
pub(crate) async fn file(Path(token): Path<String>) -> Response {
    let Some(file) = served::find(&token) else { return unknown() };
    let Ok(opened) = File::open(&file.path).await else { return unknown() };
    let Ok(metadata) = opened.metadata().await else { return unknown() };
    let headers = [
        (CONTENT_TYPE, file.media_type),
        (CONTENT_LENGTH, metadata.len().to_string()),
        (CACHE_CONTROL, "no-store".to_owned()),
        // What was received is nobody's page.
        (X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    let chunks = stream::try_unfold(opened, |mut file| async move {
        let mut chunk = vec![0; CHUNK];
        let read = file.read(&mut chunk).await?;
        chunk.truncate(read);
        Ok::<_, io::Error>((read > 0).then_some((chunk, file)))
    });
    (headers, Body::from_stream(chunks)).into_response()
}

fn unknown() -> Response {
    (StatusCode::NOT_FOUND, "there is no such file, or the work that it was for has ended\n").into_response()
}
