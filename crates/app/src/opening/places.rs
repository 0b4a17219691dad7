//! Where things are kept: the state in a folder or a database, the blobs in a folder or a bucket.

use crate::{
    env_vars,
    error::{AppResult, OpenError, SettingsError},
    settings::Setting,
};
use bindery_core::ContentHash;
use bindery_store::{
    blobs::{self, BlobError, Blobs, BlobsPlace},
    postgres::PostgresOptions,
};
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

const DATABASE: &str = "bindery.db";
const BLOBS: &str = "blobs";

/// Where the state is.
#[derive(Debug, Clone)]
pub(crate) enum StorePlace {
    /// A folder, which may not exist yet.
    Folder(PathBuf),
    Postgres(PostgresOptions),
}

impl StorePlace {
    pub(crate) fn parse(said: &str) -> AppResult<Self> {
        if PostgresOptions::is_url(said) {
            let password = std::env::var(env_vars::PGPASSWORD).ok().filter(|password| !password.is_empty());
            return Ok(Self::Postgres(PostgresOptions { password, ..PostgresOptions::from_url(said) }));
        }
        if let Some((scheme, _)) = said.split_once("://") {
            return Err(OpenError::StoreScheme { scheme: scheme.to_owned() }.into());
        }
        if said.is_empty() {
            let expected = "a folder or postgres://…";
            return Err(SettingsError::Empty { setting: Setting::Store, expected }.into());
        }
        let folder = PathBuf::from(said);
        if folder.is_file() {
            return Err(OpenError::StoreIsFile { path: folder }.into());
        }
        Ok(Self::Folder(folder))
    }

    /// The file with the state, in a store that is a folder.
    pub(super) fn database(folder: &Path) -> PathBuf {
        folder.join(DATABASE)
    }
}

/// Without a password.
impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Postgres(options) => write!(f, "{}, schema {}", options.place(), options.schema),
        }
    }
}

/// Where the blobs are: a path, or a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlobPlace(PathBuf);

impl BlobPlace {
    pub(crate) fn parse(said: &str) -> AppResult<Self> {
        if said.is_empty() {
            return Err(SettingsError::Empty { setting: Setting::Blobs, expected: "a folder or a bucket" }.into());
        }
        let Some((scheme, rest)) = said.split_once("://") else { return Ok(Self(said.into())) };
        if scheme.eq_ignore_ascii_case("file") {
            if !rest.starts_with('/') || rest.contains('%') {
                return Err(SettingsError::BlobsUrl { url: said.to_owned() }.into());
            }
            return Ok(Self(rest.into()));
        }
        Ok(Self(said.into()))
    }

    /// Where blobs are unless somebody says otherwise. Beside a database there is no such place: each machine would
    /// have a part of them.
    pub(crate) fn next_to(store: &StorePlace) -> Result<Self, OpenError> {
        match store {
            StorePlace::Folder(folder) => Ok(Self(folder.join(BLOBS))),
            StorePlace::Postgres(_) => Err(OpenError::BlobsNotStated),
        }
    }

    /// As children of the processes runner are told: with the rows of this store for small ones.
    pub(crate) fn for_children(&self, store: &StorePlace) -> BlobsPlace {
        let rows = match store {
            StorePlace::Folder(folder) => Some(StorePlace::database(folder)),
            StorePlace::Postgres(_) => None,
        };
        BlobsPlace { place: self.0.clone(), rows }
    }

    /// The folder, if it is one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        url(&self.0).is_none().then_some(&*self.0)
    }

    /// Where a blob is kept, to show.
    pub(crate) fn location(&self, hash: ContentHash) -> String {
        let digits = hash.to_string();
        let (first, rest) = digits.split_at(2);
        match url(&self.0) {
            Some(url) => {
                let bucket = url.split('?').next().unwrap_or(url).trim_end_matches('/');
                format!("{bucket}/sha256/{first}/{rest}")
            }
            None => self.0.join("sha256").join(first).join(rest).display().to_string(),
        }
    }

    pub(super) async fn open(&self) -> Result<Arc<dyn Blobs>, OpenError> {
        blobs::open_blobs(&self.0.to_string_lossy()).await.map_err(OpenError::Blobs)
    }

    /// The same where nothing can be written.
    pub(super) async fn open_to_read(&self) -> Result<Arc<dyn Blobs>, OpenError> {
        blobs::open_blobs_to_read(&self.0.to_string_lossy()).await.map_err(OpenError::Blobs)
    }
}

fn url(place: &Path) -> Option<&str> {
    place.to_str().filter(|text| text.contains("://"))
}

/// Opens blobs in a child of the processes runner, whose threads may wait for it.
pub(crate) fn open_blobs_blocking(place: &BlobsPlace) -> Result<Arc<dyn Blobs>, BlobError> {
    let opened = tokio::runtime::Handle::current().block_on(blobs::open_blobs(&place.place.to_string_lossy()))?;
    Ok(place.with_rows(opened))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_beside_a_folder_and_never_beside_a_database() {
        let folder = StorePlace::parse("data").unwrap();
        assert_eq!(BlobPlace::next_to(&folder).unwrap().folder(), Some(Path::new("data/blobs")));
        let error = BlobPlace::next_to(&StorePlace::parse("postgres://ann:s3cret@db/b").unwrap()).unwrap_err();
        assert!(error.to_string().contains("every machine must see the same blobs"), "{error}");
    }

    #[test]
    fn a_folder_may_be_a_path_or_a_url() {
        let folder = |said: &str| BlobPlace::parse(said).unwrap().folder().map(Path::to_owned);
        assert_eq!(folder("/srv/blobs"), Some("/srv/blobs".into()));
        assert_eq!(folder("file:///srv/blobs"), Some("/srv/blobs".into()));
        assert_eq!(folder("s3://bucket/blobs"), None);
        for bad in ["", "file://host/x", "file:///a%20b"] {
            assert!(BlobPlace::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_blob_is_shown_where_it_is() {
        let hash = ContentHash::of(b"");
        let shown = |said: &str| BlobPlace::parse(said).unwrap().location(hash);
        assert!(shown("blobs").starts_with("blobs/sha256/e3/b0c4"), "{}", shown("blobs"));
        assert!(shown("s3://bucket/b/").starts_with("s3://bucket/b/sha256/e3/b0c4"));
    }

    #[test]
    fn a_store_is_shown_without_its_password() {
        let place = StorePlace::parse("postgres://ann:s3cret@db/b?schema=two").unwrap();
        assert_eq!(place.to_string(), "postgres://db:5432/b, schema two");
        assert!(!format!("{place:?}").contains("s3cret"));
    }
}
