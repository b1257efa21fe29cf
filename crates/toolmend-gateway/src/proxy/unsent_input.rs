//! What a server has sent and the client has not received, as long as both are the same bytes.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};

/// The bytes of a stream that were not sent yet.
#[derive(Debug, Default)]
pub(super) struct UnsentInput {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    /// Whether the client has received something other than what the server sent.
    has_changed: bool,
}

impl UnsentInput {
    /// Adds bytes of the server.
    pub(super) fn add(&mut self, bytes: &Bytes) {
        if !self.has_changed {
            self.pieces.push_back(bytes.clone());
            self.bytes += bytes.len();
        }
    }

    /// Returns the number of bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Removes what is sent to the client.
    pub(super) fn remove_sent(&mut self, output: &[Bytes]) {
        for sent in output {
            let mut sent = &sent[..];
            while !sent.is_empty() && !self.has_changed {
                let Some(piece) = self.pieces.front_mut() else {
                    self.has_changed = true;
                    break;
                };
                let length = sent.len().min(piece.len());
                self.has_changed = sent[..length] != piece[..length];
                sent = &sent[length..];
                piece.advance(length);
                self.bytes -= length;
                if piece.is_empty() {
                    self.pieces.pop_front();
                }
            }
        }
        if self.has_changed {
            self.pieces.clear();
            self.bytes = 0;
        }
    }

    /// Takes what was not sent. `None` if it would not continue what the client has received.
    pub(super) fn take(&mut self) -> Option<VecDeque<Bytes>> {
        self.bytes = 0;
        (!self.has_changed).then(|| std::mem::take(&mut self.pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsent(input: &[&'static str], output: &[&'static str]) -> Option<String> {
        let mut unsent = UnsentInput::default();
        for piece in input {
            unsent.add(&Bytes::from_static(piece.as_bytes()));
        }
        let output: Vec<Bytes> = output.iter().map(|piece| Bytes::from_static(piece.as_bytes())).collect();
        unsent.remove_sent(&output);
        let rest = unsent.take()?;
        Some(rest.iter().map(|piece| String::from_utf8_lossy(piece)).collect())
    }

    #[test]
    fn what_was_sent_unchanged_is_removed() {
        assert_eq!(unsent(&["abc", "def"], &[]).as_deref(), Some("abcdef"));
        assert_eq!(unsent(&["abc", "def"], &["ab", "cd"]).as_deref(), Some("ef"));
        assert_eq!(unsent(&["abc"], &["abc"]).as_deref(), Some(""));
        assert_eq!(unsent(&["abc", "def"], &["abx"]), None);
        assert_eq!(unsent(&["abc"], &["abcd"]), None);
    }
}
