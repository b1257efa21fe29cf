//! Where the journal is kept, and what it records.

use serde::{Deserialize, Serialize, Serializer};
use toolmend_journal::{Location, Options, StoredValues};

/// How calls that were not clean are recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JournalConfig {
    /// A path, a `PostgreSQL` URL, or `off`. By default `toolmend serve` uses its own file, and a gateway inside of another
    /// program keeps no journal.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "without_password")]
    pub place: Option<String>,
    /// How much of the arguments is stored: `whole`, `masked` or `none`. By default, everything if only this machine can reach
    /// the gateway, otherwise only their shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<StoredValues>,
    /// Older entries are deleted.
    pub days: u32,
    /// If the entries take more space, the oldest are deleted.
    pub megabytes: u32,
}

impl Default for JournalConfig {
    fn default() -> Self {
        let Options { days, megabytes, .. } = Options::new(Location::Off);
        JournalConfig { place: None, values: None, days, megabytes }
    }
}

impl JournalConfig {
    /// Returns the options of the journal. `None` if it is off. `is_local`: only this machine can reach the gateway.
    pub(crate) fn options(&self, is_local: bool) -> Option<Options> {
        let place = self.place.as_deref().map_or(Location::Off, Location::parse);
        let default = if is_local { StoredValues::Whole } else { StoredValues::Masked };
        let (values, days, megabytes) = (self.values.unwrap_or(default), self.days, self.megabytes);
        (place != Location::Off).then_some(Options { location: place, values, days, megabytes })
    }
}

#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn without_password<S: Serializer>(place: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    match place {
        Some(place) => serializer.collect_str(&Location::parse(place)),
        None => serializer.serialize_none(),
    }
}

#[test]
fn values_are_masked_where_other_machines_can_read_them() {
    let config = JournalConfig { place: Some("j.db".to_owned()), ..JournalConfig::default() };
    let stored = |config: &JournalConfig, is_local| config.options(is_local).map(|options| options.values);
    assert_eq!(stored(&config, true), Some(StoredValues::Whole));
    assert_eq!(stored(&config, false), Some(StoredValues::Masked));
    let whole = JournalConfig { values: Some(StoredValues::Whole), ..config };
    assert_eq!(stored(&whole, false), Some(StoredValues::Whole));
}
