//! What is known about the protocols that a server speaks.

use std::sync::atomic::{AtomicU8, Ordering};

use toolmend_protocol::Protocol;

const SPOKEN: u8 = 1;
const NOT_SPOKEN: u8 = 2;

/// What is known about the protocols that a server speaks. Requests read it without waiting for each other.
#[derive(Debug)]
pub(crate) struct KnownProtocols {
    states: Vec<(Protocol, AtomicU8)>,
}

impl Default for KnownProtocols {
    fn default() -> Self {
        let states = Protocol::ALL.iter().map(|protocol| (*protocol, AtomicU8::default()));
        KnownProtocols { states: states.collect() }
    }
}

impl KnownProtocols {
    /// Returns whether the server speaks a protocol, if that is known.
    pub(crate) fn get(&self, protocol: Protocol) -> Option<bool> {
        match self.state(protocol)?.load(Ordering::Relaxed) {
            SPOKEN => Some(true),
            NOT_SPOKEN => Some(false),
            _ => None,
        }
    }

    /// Remembers whether the server speaks a protocol.
    pub(crate) fn set(&self, protocol: Protocol, is_spoken: bool) {
        if let Some(state) = self.state(protocol) {
            state.store(if is_spoken { SPOKEN } else { NOT_SPOKEN }, Ordering::Relaxed);
        }
    }

    /// Returns the preferred protocol among those that the server is known to speak.
    pub(crate) fn preferred(&self) -> Option<Protocol> {
        Protocol::conversational().find(|protocol| self.get(*protocol) == Some(true))
    }

    fn state(&self, protocol: Protocol) -> Option<&AtomicU8> {
        self.states.iter().find(|(known, _)| *known == protocol).map(|(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_remembered_by_itself() {
        for protocol in Protocol::ALL {
            let known = KnownProtocols::default();
            assert_eq!(known.get(*protocol), None);
            known.set(*protocol, true);
            for other in Protocol::ALL {
                assert_eq!(known.get(*other), (other == protocol).then_some(true));
            }
            known.set(*protocol, false);
            assert_eq!(known.get(*protocol), Some(false));
        }
    }
}
