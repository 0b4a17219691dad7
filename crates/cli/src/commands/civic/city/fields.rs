//! The flags that say something about a city.

use bindery_app::councils::{
    CouncilRefused,
    records::Jurisdiction,
    register::{Entry, vendor_place},
};
use clap::ValueEnum;
use serde_json::{Map, Value};

#[derive(Debug, clap::Args)]
pub(super) struct Fields {
    /// Its name, e.g. 'Palo Alto'; no two of a state have the same
    #[arg(long)]
    name: Option<String>,

    /// The vendor of its site, e.g. legistar
    #[arg(long)]
    vendor: Option<String>,

    /// What the vendor knows it by; docs/civic-vendors.md says what each vendor's look like
    #[arg(long)]
    slug: Option<String>,

    /// Its time zone, e.g. America/Chicago; a state with a single one needs none
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,

    /// What it is: city, county, school_district, transit … [default: city]
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    /// active: it is visited; paused or closed: it is not [default: active]
    #[arg(long)]
    status: Option<String>,

    /// A further place where meetings of it are published; again for each
    #[arg(long, value_name = "VENDOR:SLUG")]
    extra: Vec<String>,

    /// The county that it lies in
    #[arg(long, value_name = "BANANA")]
    county: Option<String>,

    /// How many people live there
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    population: Option<i64>,

    /// What the vendor's adapter has to know besides, e.g. view_id=2; lists and objects as JSON
    #[arg(long = "setting", value_name = "KEY=VALUE")]
    settings: Vec<String>,

    /// Its zip codes, separated by commas, the main one first
    #[arg(long = "zip", value_name = "CODES", value_delimiter = ',')]
    zipcodes: Vec<String>,
}

/// What can be taken away again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Cleared {
    Extra,
    County,
    Population,
    Settings,
    Zip,
}

impl Fields {
    /// What the flags say. Settings are laid over those that are known, unless the vendor changes.
    pub(super) fn entry(
        &self,
        city_key: &str,
        cleared: &[Cleared],
        known: Option<&Jurisdiction>,
    ) -> Result<Entry, CouncilRefused> {
        let is_cleared = |field| cleared.contains(&field);
        let keeps_vendor = |city: &&Jurisdiction| self.vendor.as_ref().is_none_or(|vendor| *vendor == city.vendor);
        let mut settings = match known.filter(keeps_vendor) {
            Some(city) if !is_cleared(Cleared::Settings) => city.settings.clone(),
            _ => Map::new(),
        };
        for setting in &self.settings {
            let (key, value) = key_value(setting)?;
            settings.insert(key, value);
        }
        let extra = self.extra.iter().map(|place| vendor_place(place)).collect::<Result<Vec<_>, _>>();
        let extra = extra.map_err(|message| CouncilRefused::Invalid(format!("extra: {message}")))?;
        Ok(Entry {
            city_key: city_key.to_owned(),
            name: self.name.clone(),
            vendor: self.vendor.clone(),
            slug: self.slug.clone(),
            extra: (!extra.is_empty() || is_cleared(Cleared::Extra)).then_some(extra),
            kind: self.kind.clone(),
            county: self.county.clone().map(Some).or(is_cleared(Cleared::County).then_some(None)),
            status: self.status.clone(),
            tz: self.tz.clone(),
            population: self.population.map(Some).or(is_cleared(Cleared::Population).then_some(None)),
            settings: (!self.settings.is_empty() || is_cleared(Cleared::Settings)).then_some(settings),
            zipcodes: (!self.zipcodes.is_empty() || is_cleared(Cleared::Zip)).then(|| self.zipcodes.clone()),
            ..Entry::default()
        })
    }
}

/// A value is a text, unless it is written as JSON and cannot be one.
fn key_value(setting: &str) -> Result<(String, Value), CouncilRefused> {
    let wrong = |why: &str| CouncilRefused::Invalid(format!("setting: expected KEY=VALUE{why}, found {setting:?}"));
    let (key, value) = setting.split_once('=').filter(|(key, _)| !key.trim().is_empty()).ok_or_else(|| wrong(""))?;
    let is_json = value.starts_with(['[', '{', '"']) || matches!(value, "true" | "false" | "null");
    let value = if is_json {
        serde_json::from_str(value).map_err(|_| wrong(", with valid JSON as its value"))?
    } else {
        Value::from(value)
    };
    Ok((key.trim().to_owned(), value))
}
