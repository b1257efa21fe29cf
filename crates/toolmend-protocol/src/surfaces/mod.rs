//! The protocols, one folder each, and how a [`Protocol`] finds its folder.
//!
//! A folder holds everything about its protocol: the adapter (`mod.rs`), streams (`decode.rs`, `encode.rs`), whole answers
//! (`whole_answer.rs`), earlier turns (`history.rs`), and translation (`request.rs`, `answer.rs`). Code outside of a folder
//! never asks which protocol it has in hand.

mod chat;
mod completions;
mod messages;
mod ollama;
mod responses;

mod chunk;
mod single_message;
mod stop_words;

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use crate::adapter::ProtocolAdapter;
use crate::protocol::Protocol;
use crate::registry::for_each_protocol;

macro_rules! define_adapters {
    ($($(#[$doc:meta])* $name:ident => $adapter:expr,)*) => {
        impl Deref for Protocol {
            type Target = ProtocolAdapter;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Protocol::$name => &$adapter,)*
                }
            }
        }
    };
}

for_each_protocol!(define_adapters);

impl Protocol {
    /// Returns the protocol of the requests that are posted to a path.
    pub fn from_path(path: &str) -> Option<Protocol> {
        let path = path.trim_end_matches('/');
        Protocol::ALL.iter().copied().find(|protocol| protocol.paths().contains(&path))
    }

    /// Returns the protocol whose errors the clients of a path read, even if requests to it only pass through.
    pub fn nearest_to_path(path: &str) -> Protocol {
        let is_near =
            |protocol: &Protocol| protocol.facts().path_prefix.is_some_and(|prefix| path.starts_with(prefix));
        Protocol::ALL.iter().copied().find(is_near).unwrap_or(Protocol::Chat)
    }

    /// Returns the protocols that a server can be configured to speak.
    pub fn configurable() -> impl Iterator<Item = Protocol> {
        Protocol::ALL.iter().copied().filter(|protocol| protocol.config_name().is_some())
    }

    /// Returns the protocols that both clients and servers can be translated between, in the order in which a server is
    /// asked for them.
    pub fn conversational() -> impl Iterator<Item = Protocol> {
        let is_conversational =
            |protocol: &Protocol| protocol.client_side().is_some() && protocol.upstream_side().is_some();
        Protocol::ALL.iter().copied().filter(is_conversational)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.config_name().unwrap_or(self.name()))
    }
}

/// The error for a name that is not a protocol's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProtocol(String);

impl fmt::Display for UnknownProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = Protocol::configurable().map(|protocol| format!("`{protocol}`")).collect();
        write!(f, "expected one of {}, found `{}`", names.join(", "), self.0)
    }
}

impl std::error::Error for UnknownProtocol {}

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Protocol::configurable()
            .find(|protocol| protocol.config_name() == Some(name))
            .ok_or_else(|| UnknownProtocol(name.to_owned()))
    }
}

impl serde::Serialize for Protocol {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Protocol {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    macro_rules! list_folders {
        ($($(#[$doc:meta])* $name:ident => $adapter:expr,)*) => {
            const REGISTERED: &[&str] = &[$(stringify!($adapter)),*];
        };
    }

    for_each_protocol!(list_folders);

    #[test]
    fn every_folder_is_registered() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/surfaces");
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let prefix = format!("{name}::");
            let is_registered =
                REGISTERED.iter().any(|adapter| adapter.replace(' ', "").starts_with(&prefix));
            assert!(
                !entry.path().is_dir() || is_registered,
                "src/registry.rs has no row for the folder src/surfaces/{name}"
            );
        }
    }

    #[test]
    fn names_and_paths_are_unique() {
        let mut seen = HashSet::new();
        for protocol in Protocol::ALL {
            assert!(
                !protocol.paths().is_empty(),
                "{protocol:?}: `paths` in its src/surfaces/*/mod.rs is empty"
            );
            for path in protocol.paths() {
                assert!(
                    seen.insert(*path),
                    "{protocol:?}: another folder of src/surfaces has the path {path}"
                );
                assert_eq!(Protocol::from_path(path), Some(*protocol));
            }
            let names =
                [Some(protocol.name()), protocol.config_name().filter(|name| *name != protocol.name())];
            for name in names.into_iter().flatten() {
                assert!(
                    seen.insert(name),
                    "{protocol:?}: another folder of src/surfaces has the name {name}"
                );
            }
        }
    }

    #[test]
    fn configured_names_parse_and_print() {
        for protocol in Protocol::configurable() {
            assert_eq!(protocol.to_string().parse(), Ok(protocol));
            assert!(
                protocol.upstream_side().is_some(),
                "{protocol:?} is configurable but cannot be translated to"
            );
        }
        let error = "ollama_generate".parse::<Protocol>().unwrap_err().to_string();
        assert!(error.contains("`ollama`") && error.contains("`ollama_generate`"), "{error}");
    }

    #[test]
    fn a_row_of_capabilities_names_its_own_protocol() {
        for protocol in Protocol::ALL {
            if let Some(side) = protocol.upstream_side() {
                assert_eq!(
                    side.capabilities.protocol, *protocol,
                    "`capabilities` in its src/surfaces/*/mod.rs"
                );
            }
        }
    }
}
