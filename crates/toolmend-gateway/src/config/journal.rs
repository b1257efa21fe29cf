//! Where the journal is kept, and what stands in it.

use serde::{Deserialize, Serialize, Serializer};
use toolmend_journal::{Location, Options, StoredValues};

/// How calls that were not clean are written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JournalConfig {
    /// A path, a `PostgreSQL` URL, or `off`. `toolmend serve` has a file of its own where nothing is said; a gateway
    /// inside of another program keeps no journal then.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "without_password")]
    pub place: Option<String>,
    /// How much of the arguments is stored: `whole`, `masked` or `none`.
    pub values: StoredValues,
    /// Entries that are older go.
    pub days: u32,
    /// When entries take more, the oldest go.
    pub megabytes: u32,
}

impl Default for JournalConfig {
    fn default() -> Self {
        let Options { values, days, megabytes, .. } = Options::new(Location::Off);
        JournalConfig { place: None, values, days, megabytes }
    }
}

impl JournalConfig {
    /// The same in the words of the journal; none where it is off.
    pub(crate) fn options(&self) -> Option<Options> {
        let place = self.place.as_deref().map_or(Location::Off, Location::parse);
        let (values, days, megabytes) = (self.values, self.days, self.megabytes);
        (place != Location::Off).then_some(Options { location: place, values, days, megabytes })
    }
}

#[expect(clippy::ref_option, reason = "what serde calls it with")]
fn without_password<S: Serializer>(place: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    match place {
        Some(place) => serializer.collect_str(&Location::parse(place)),
        None => serializer.serialize_none(),
    }
}
