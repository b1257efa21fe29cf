//! The JSON form of a row, as `toolmend dialects --format json` prints it.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Dialect;

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut row = to.serialize_map(Some(7))?;
        row.serialize_entry("name", self.name())?;
        row.serialize_entry("families", self.families())?;
        row.serialize_entry("markers", &self.markers())?;
        row.serialize_entry("reasoning", self.reasoning())?;
        row.serialize_entry("source", &self.source())?;
        row.serialize_entry("on_by_default", &self.on_by_default())?;
        row.serialize_entry("example", &self.example())?;
        row.end()
    }
}
