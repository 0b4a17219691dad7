//! What a test works with: a prefix of its own on the server, a proxy of its own before it, and a client past both.

use super::{ACCESS_KEY, Proxy, SECRET_KEY, Server, options};
use bindery_core::ContentHash;
use bindery_store::blobs::{ObjectBlobs, ObjectOptions};
use object_store::{
    ObjectMeta, ObjectStoreExt,
    aws::{AmazonS3, AmazonS3Builder},
    path::Path as Key,
};

pub(crate) struct Stage {
    pub(crate) proxy: Proxy,
    prefix: String,
    raw: AmazonS3,
}

impl Stage {
    /// None where the server is not installed.
    pub(crate) async fn new() -> Option<Self> {
        let server = Server::get()?;
        // As the blobs do, but here nobody has opened any yet.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = AmazonS3Builder::new().with_endpoint(server.endpoint()).with_allow_http(true);
        let builder = builder.with_access_key_id(ACCESS_KEY).with_secret_access_key(SECRET_KEY);
        let raw = builder.with_region("us-east-1").with_bucket_name("papers").build().expect("a client");
        Some(Self { proxy: Proxy::start(server.address()).await, prefix: server.prefix(), raw })
    }

    /// Where its blobs are: `s3://papers/t7`.
    pub(crate) fn url(&self) -> String {
        format!("s3://papers/{}", self.prefix)
    }

    /// Options that lead through the proxy.
    pub(crate) fn options(&self) -> ObjectOptions {
        options(&self.proxy.endpoint)
    }

    pub(crate) async fn open(&self) -> ObjectBlobs {
        self.open_with(self.options()).await
    }

    pub(crate) async fn open_with(&self, options: ObjectOptions) -> ObjectBlobs {
        ObjectBlobs::open(&self.url(), options).await.expect("open")
    }

    fn key(&self, key: &str) -> Key {
        Key::parse(format!("{}/{key}", self.prefix)).expect("a key")
    }

    /// Writes an object past the blobs.
    pub(crate) async fn write(&self, key: &str, bytes: &[u8]) {
        self.raw.put(&self.key(key), bytes.to_vec().into()).await.expect("write an object");
    }

    /// What is at a key, if there is something.
    pub(crate) async fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        let found = self.raw.get(&self.key(key)).await.ok()?;
        Some(found.bytes().await.expect("the bytes of an object").to_vec())
    }

    pub(crate) async fn meta(&self, key: &str) -> ObjectMeta {
        self.raw.head(&self.key(key)).await.expect("an object")
    }

    pub(crate) async fn remove(&self, key: &str) {
        self.raw.delete(&self.key(key)).await.expect("delete an object");
    }

    /// The key of a blob below the prefix.
    pub(crate) fn blob_key(hash: ContentHash) -> String {
        let digits = hash.to_string();
        format!("sha256/{}/{}", &digits[..2], &digits[2..])
    }
}
