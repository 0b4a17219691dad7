//! What word processors call a heading, in the names of their styles.

/// "Heading" in the languages that programs name their styles in; a level follows it.
pub(crate) const HEADING_WORDS: &[&str] = &[
    "heading",
    "überschrift",
    "titre",
    "título",
    "titolo",
    "kop",
    "rubrik",
    "overskrift",
    "otsikko",
    "nagłówek",
    "nadpis",
    "başlık",
    "címsor",
    "заголовок",
    "titlu",
    "επικεφαλίδα",
    "כותרת",
    "عنوان",
    "標題",
    "标题",
    "見出し",
    "제목",
];
