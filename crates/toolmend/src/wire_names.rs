//! The stable names of enum variants: one list per enum, used by JSON, the command line and messages.
//!
//! [`wire_names!`] turns such a list into conversions in both directions. It holds no names itself, and it never
//! accepts a name that is not in the list: a near miss only becomes a suggestion in [`UnknownName`].

use std::fmt;

use crate::spelling::closest_names;

/// Longer vocabularies are not listed in a message.
const MAX_LISTED: usize = 8;

/// The error for a name that a vocabulary does not contain, such as a misspelt repair kind.
///
/// ```
/// let error = "trailing_coma_removed".parse::<toolmend::RepairKind>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "expected the name of a repair kind, found \"trailing_coma_removed\"; did you mean \"trailing_comma_removed\"?"
/// );
/// assert_eq!(error.suggestion(), Some("trailing_comma_removed"));
///
/// let error = "bold".parse::<toolmend::Preset>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "expected \"off\", \"strict\", \"balanced\" or \"eager\" as the policy preset, found \"bold\""
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    vocabulary: &'static str,
    known: Vec<&'static str>,
    found: String,
    suggestion: Option<&'static str>,
}

impl UnknownName {
    /// The name `found` is not among the `known` names of this vocabulary.
    pub(crate) fn new(vocabulary: &'static str, known: Vec<&'static str>, found: &str) -> Self {
        let suggestion = closest_names(found, known.iter().copied(), 1).first().copied();
        UnknownName { vocabulary, known, found: found.to_owned(), suggestion }
    }

    /// Returns the name that was not recognised.
    ///
    /// ```
    /// let error = "bold".parse::<toolmend::Preset>().unwrap_err();
    /// assert_eq!(error.found(), "bold");
    /// ```
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns the known name that is spelt most like the one that was not recognised, if any is similar.
    ///
    /// ```
    /// let error = "bolanced".parse::<toolmend::Preset>().unwrap_err();
    /// assert_eq!(error.suggestion(), Some("balanced"));
    /// ```
    pub fn suggestion(&self) -> Option<&'static str> {
        self.suggestion
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownName { vocabulary, known, found, suggestion } = self;
        match known.as_slice() {
            [others @ .., last] if known.len() <= MAX_LISTED => {
                let others: Vec<String> = others.iter().map(|name| format!("{name:?}")).collect();
                let others = others.join(", ");
                write!(f, "expected {others} or {last:?} as the {vocabulary}, found {found:?}")
            }
            _ => {
                write!(f, "expected the name of a {vocabulary}, found {found:?}")?;
                match suggestion {
                    Some(name) => write!(f, "; did you mean {name:?}?"),
                    None => write!(f, "; `toolmend repairs` lists them"),
                }
            }
        }
    }
}

impl std::error::Error for UnknownName {}

/// Implements `name`, `from_name`, `ALL`, [`fmt::Display`], [`std::str::FromStr`] and serde's traits for an enum from
/// the names of its variants.
macro_rules! wire_names {
    ($type:ident, $vocabulary:literal, $($variant:ident => $name:literal),+ $(,)?) => {
        impl $type {
            /// Every variant, in order of declaration.
            ///
            #[doc = concat!("```\nuse toolmend::", stringify!($type), ";")]
            #[doc = concat!("let names: Vec<_> = ", stringify!($type), "::ALL.iter().map(|known| known.name()).collect();")]
            #[doc = concat!("assert_eq!(names, [", $("\"", $name, "\", ",)+ "]);\n```")]
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// Returns the stable name, as JSON, the command line and the packages spell it.
            ///
            #[doc = concat!("```\nuse toolmend::", stringify!($type), ";")]
            $(#[doc = concat!("assert_eq!(", stringify!($type), "::", stringify!($variant), ".name(), \"", $name, "\");")])+
            /// ```
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }

            /// Returns the variant with exactly this name.
            ///
            #[doc = concat!("```\nuse toolmend::", stringify!($type), ";")]
            $(#[doc = concat!("assert_eq!(", stringify!($type), "::from_name(\"", $name, "\"), Some(", stringify!($type), "::", stringify!($variant), "));")])+
            #[doc = concat!("assert_eq!(", stringify!($type), "::from_name(\"other\"), None);\n```")]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }

        $crate::wire_names::conversions!($type, $vocabulary, Self::ALL.iter().map(|known| known.name()));
    };
}

/// Implements the standard conversions on top of `name` and `from_name`.
macro_rules! conversions {
    ($type:ident, $vocabulary:literal, $names:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::wire_names::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::from_name(name)
                    .ok_or_else(|| $crate::wire_names::UnknownName::new($vocabulary, $names.collect(), name))
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = std::borrow::Cow::<str>::deserialize(from)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use {conversions, wire_names};
