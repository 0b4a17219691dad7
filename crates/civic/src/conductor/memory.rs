//! What one visit learns for the next, kept in the store: how pages looked and what was on them, and, where there is a
//! place for bytes, the pages themselves.

use super::Conductor;
use crate::records::{Civic as _, PageShape};
use crate::visit::{Known, KnownKind, KnownPage};
use bindery_core::ContentHash;
use bindery_store::StoreResult;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// Larger pages are asked for as a whole each time.
const LARGEST_PAGE: usize = 2_000_000;

/// Under which names things stand in the details of a page.
const SITE: &str = "site";
const PAGE: &str = "page";
const KIND: &str = "kind";

/// All that is remembered of a city's sites.
#[derive(Debug, Default)]
pub struct Memory {
    by_site: BTreeMap<String, Known>,
    /// Pages whose bytes are kept already.
    kept: HashSet<ContentHash>,
}

impl Memory {
    /// What is known of one site.
    pub fn site(&self, site: &str) -> Known {
        self.by_site.get(site).cloned().unwrap_or_default()
    }

    /// What a visit has learnt takes the place of what was known of that site.
    pub fn learn(&mut self, site: &str, known: Known) {
        self.by_site.insert(site.to_owned(), known);
    }

    /// Forgets sites that are not among these.
    pub fn keep_only(&mut self, sites: &[String]) {
        self.by_site.retain(|site, _| sites.contains(site));
    }

    fn recall(&mut self, shape: PageShape) {
        // What cannot be read is as good as forgotten: the page is fetched and looked at anew.
        let Some(site) = shape.details.get(SITE).and_then(Value::as_str) else { return };
        let known = self.by_site.entry(site.to_owned()).or_default();
        if let Some(page) = detail::<KnownPage>(&shape, PAGE) {
            known.pages.insert(shape.url, page);
        } else if let Some(KindOf { purpose, kind }) = detail(&shape, KIND) {
            known.kinds.insert(purpose, kind);
        }
    }

    fn shapes(&self, city_key: &str) -> Vec<PageShape> {
        let mut shapes = Vec::new();
        for (site, known) in &self.by_site {
            for (url, page) in &known.pages {
                let count = page.counts.meetings + page.counts.items;
                shapes.push(PageShape {
                    etag: page.etag.clone(),
                    last_modified: page.last_modified.clone(),
                    content_sha256: page.content.map(|hash| hash.to_string()),
                    ..shape(city_key, site, url.clone(), count, &page.landmarks, (PAGE, value(page)))
                });
            }
            for (purpose, kind) in &known.kinds {
                let count = kind.counts.meetings + kind.counts.items;
                let url = format!("{site}: {purpose}");
                let of = value(&KindOf { purpose: purpose.clone(), kind: kind.clone() });
                shapes.push(shape(city_key, site, url, count, &kind.landmarks, (KIND, of)));
            }
        }
        shapes
    }
}

/// The pages of one purpose.
#[derive(Debug, Serialize, Deserialize)]
struct KindOf {
    purpose: String,
    #[serde(flatten)]
    kind: KnownKind,
}

fn value(known: &impl Serialize) -> Value {
    serde_json::to_value(known).unwrap_or_default()
}

fn detail<T: DeserializeOwned>(shape: &PageShape, name: &str) -> Option<T> {
    serde_json::from_value(shape.details.get(name)?.clone()).ok()
}

fn shape(
    city_key: &str,
    site: &str,
    url: String,
    count: usize,
    landmarks: &BTreeMap<String, usize>,
    (name, known): (&str, Value),
) -> PageShape {
    let details = Map::from_iter([(SITE.to_owned(), site.into()), (name.to_owned(), known)]);
    PageShape {
        city_key: city_key.to_owned(),
        url,
        landmarks: landmarks.iter().map(|(name, count)| (name.clone(), (*count).into())).collect(),
        count: i64::try_from(count).unwrap_or(i64::MAX),
        details,
        ..PageShape::default()
    }
}

impl Conductor {
    /// What earlier visits to a city have learnt.
    pub(super) async fn remember(&self, city_key: &str) -> StoreResult<Memory> {
        let mut memory = Memory::default();
        for shape in self.store.civic().page_shapes(city_key).await? {
            memory.recall(shape);
        }
        let Some(kept) = &self.pages else { return Ok(memory) };
        for page in memory.by_site.values_mut().flat_map(|known| known.pages.values_mut()) {
            let Some(hash) = page.content else { continue };
            // Without its bytes, the page is asked for as a whole.
            page.body = kept.get(hash).await.ok();
            if page.body.is_some() {
                memory.kept.insert(hash);
            }
        }
        Ok(memory)
    }

    /// Keeps what this visit has learnt. The bytes first: what names them is stored after them.
    pub(super) async fn memorise(&self, city_key: &str, memory: &Memory) -> StoreResult<()> {
        if let Some(kept) = &self.pages {
            for page in memory.by_site.values().flat_map(|known| known.pages.values()) {
                let (Some(hash), Some(body)) = (page.content, &page.body) else { continue };
                if memory.kept.contains(&hash) || body.len() > LARGEST_PAGE {
                    continue;
                }
                if let Err(error) = kept.put(body.clone()).await {
                    tracing::warn!(%error, city_key, "a page is not kept and will be asked for as a whole");
                }
            }
        }
        self.store.civic().replace_page_shapes(city_key, memory.shapes(city_key)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visit::Counts;

    #[test]
    fn what_was_learnt_is_remembered_by_site() {
        let page = KnownPage {
            etag: Some("\"1\"".to_owned()),
            url: "https://example.com/a".to_owned(),
            counts: Counts { meetings: 2, items: 9 },
            landmarks: BTreeMap::from([("tr".to_owned(), 3)]),
            ..KnownPage::default()
        };
        let kind = KnownKind { layouts: ["tr".to_owned()].into(), counts: page.counts, ..KnownKind::default() };
        let known = Known {
            pages: [("https://example.com/a".to_owned(), page)].into(),
            kinds: [("listing".to_owned(), kind)].into(),
        };
        let mut memory = Memory::default();
        memory.learn("iqm2", known.clone());
        let mut again = Memory::default();
        for shape in memory.shapes("paloaltoCA") {
            assert_eq!((shape.city_key.as_str(), shape.count), ("paloaltoCA", 11));
            again.recall(shape);
        }
        assert_eq!((again.site("iqm2"), again.site("legistar")), (known, Known::default()));
        let strange = PageShape { url: "x".to_owned(), ..PageShape::default() };
        again.recall(strange);
        assert_eq!(again.by_site.len(), 1);
    }
}
