//! Repair by changing one type, for frameworks that own the parsing.

use std::ops::{Deref, DerefMut};

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A `T` that is read as [`from_value`](crate::from_value) reads it. Everything else about it is `T`'s.
///
/// ```
/// use toolmend::Lenient;
/// #[derive(serde::Deserialize)]
/// struct Args { paths: Vec<String> }
///
/// let args: Lenient<Args> = serde_json::from_str(r#"{"paths": "[\"a\", \"b\"]"}"#)?;
/// assert_eq!(args.paths, ["a", "b"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// The value is buffered on the way, so numbers beyond 64 bits are refused where `T` alone would take them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lenient<T>(pub T);

impl<T> Lenient<T> {
    /// The value itself.
    ///
    /// ```
    /// let days: toolmend::Lenient<u8> = serde_json::from_str("\"3\"")?;
    /// assert_eq!(days.into_inner(), 3);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Lenient<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Lenient<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Lenient<T> {
    fn from(value: T) -> Self {
        Lenient(value)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        super::from_value(value).map(Lenient).map_err(D::Error::custom)
    }
}

impl<T: Serialize> Serialize for Lenient<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Lenient<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}
