//! The queue of one choice: items that wait until every one of their pieces is decided.

use std::collections::VecDeque;

use toolmend_protocol::{MendedItem, OutgoingPart};

/// The position of a piece in its choice: the number of its item, and its position in the item.
pub(in crate::mend) type PiecePosition = (usize, usize);

/// What is decided about a piece of an item.
#[derive(Debug)]
pub(super) enum PieceState {
    /// Nothing yet.
    Waiting(Option<OutgoingPart>),
    /// It stays. If another piece of its item does not, this is written instead.
    Unchanged(Option<OutgoingPart>),
    /// These parts replace it.
    Replaced(Vec<OutgoingPart>),
}

/// An item in the queue: the smallest unit of the protocol.
#[derive(Debug)]
struct QueuedItem<T> {
    /// What arrived; `None` for an item that the mender added.
    received: Option<T>,
    pieces: Vec<PieceState>,
    bytes: usize,
    /// About how much memory it takes.
    memory: usize,
}

/// What an item takes beside its bytes and texts.
const ITEM_OVERHEAD: usize = 400;

/// Items in the order in which they leave.
#[derive(Debug)]
pub(super) struct ItemQueue<T> {
    items: VecDeque<QueuedItem<T>>,
    /// The number of the first item in the queue.
    first_number: usize,
    held_bytes: usize,
    memory: usize,
    /// Whether something that the client can see has left.
    has_spoken: bool,
}

impl<T> ItemQueue<T> {
    pub(super) fn new() -> Self {
        ItemQueue { items: VecDeque::new(), first_number: 0, held_bytes: 0, memory: 0, has_spoken: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the number of bytes that are held back.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Returns about how much memory the items take.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Whether something that the client can see has left.
    pub(super) fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// Records that something visible leaves with the item that is being added.
    pub(super) fn set_spoken(&mut self) {
        self.has_spoken = true;
    }

    /// Adds an item that arrived, and returns its number. Its pieces follow.
    pub(super) fn push_item(&mut self, received: T, bytes: usize, pieces: usize) -> usize {
        let number = self.first_number + self.items.len();
        let memory = bytes + ITEM_OVERHEAD;
        self.held_bytes += bytes;
        self.memory += memory;
        self.items.push_back(QueuedItem {
            received: Some(received),
            pieces: Vec::with_capacity(pieces),
            bytes,
            memory,
        });
        number
    }

    /// Adds a piece to the last item.
    pub(super) fn push_piece(&mut self, piece: PieceState) {
        if let Some(item) = self.items.back_mut() {
            if let PieceState::Waiting(Some(OutgoingPart::Text(text) | OutgoingPart::Reasoning(text))) =
                &piece
            {
                // The search for calls has a copy.
                item.memory += 2 * text.len();
                self.memory += 2 * text.len();
            }
            item.pieces.push(piece);
        }
    }

    /// Returns the piece at a position, if its item has not left.
    pub(super) fn piece_mut(&mut self, position: PiecePosition) -> Option<&mut PieceState> {
        let item = self.items.get_mut(position.0.checked_sub(self.first_number)?)?;
        item.pieces.get_mut(position.1)
    }

    /// Decides that pieces stay unchanged.
    pub(super) fn keep_pieces(&mut self, positions: impl IntoIterator<Item = PiecePosition>) {
        for position in positions {
            if let Some(piece) = self.piece_mut(position)
                && let PieceState::Waiting(part) = piece
            {
                *piece = PieceState::Unchanged(part.take());
            }
        }
    }

    /// Replaces the first of these pieces by parts, and the others by nothing. Returns the parts if there are no pieces.
    pub(super) fn replace_pieces(
        &mut self,
        positions: Vec<PiecePosition>,
        parts: Vec<OutgoingPart>,
    ) -> Vec<OutgoingPart> {
        let mut parts = Some(parts);
        for position in positions {
            let parts = parts.take().unwrap_or_default();
            // Parts for an item that has left follow everything that is in the queue.
            if !parts.is_empty() || self.piece_mut(position).is_some() {
                self.extend_replacement(Some(position), parts);
            }
        }
        parts.unwrap_or_default()
    }

    /// Adds parts to the replacement of a piece, or to the end of the queue if the piece is gone.
    pub(super) fn extend_replacement(&mut self, position: Option<PiecePosition>, parts: Vec<OutgoingPart>) {
        match position.and_then(|position| self.piece_mut(position)) {
            Some(PieceState::Replaced(before)) => before.extend(parts),
            Some(piece) => *piece = PieceState::Replaced(parts),
            None => self.append_parts(parts),
        }
    }

    /// Adds parts to the end of the queue.
    pub(super) fn append_parts(&mut self, parts: Vec<OutgoingPart>) {
        let pieces = vec![PieceState::Replaced(parts)];
        self.items.push_back(QueuedItem { received: None, pieces, bytes: 0, memory: 0 });
    }

    /// Returns all items up to the first that waits.
    pub(super) fn take_decided(&mut self) -> Vec<MendedItem<T>> {
        let mut out = Vec::new();
        while let Some(item) = self.items.front() {
            if item.pieces.iter().any(|piece| matches!(piece, PieceState::Waiting(_))) {
                break;
            }
            let Some(item) = self.items.pop_front() else { break };
            self.first_number += 1;
            self.held_bytes -= item.bytes;
            self.memory -= item.memory;
            let unchanged = item.pieces.iter().all(|piece| matches!(piece, PieceState::Unchanged(_)));
            match item.received {
                Some(received) if unchanged => {
                    let is_visible = |piece: &PieceState| matches!(piece, PieceState::Unchanged(Some(_)));
                    self.has_spoken |= item.pieces.iter().any(is_visible);
                    out.push(MendedItem::Unchanged(received));
                }
                received => {
                    let mut all = Vec::new();
                    for piece in item.pieces {
                        match piece {
                            PieceState::Unchanged(part) => all.extend(part),
                            PieceState::Replaced(parts) => all.extend(parts),
                            PieceState::Waiting(_) => {}
                        }
                    }
                    self.has_spoken |= !all.is_empty();
                    out.push(MendedItem::Rewritten(received, all));
                }
            }
        }
        out
    }
}
