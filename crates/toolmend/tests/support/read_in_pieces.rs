//! A model output that arrives in pieces.

use toolmend::{Finish, Mender, Turn, TurnOptions};

/// Returns the turn of a text that arrives in pieces of this many characters.
pub(crate) fn read_in_pieces(mender: &Mender, options: &TurnOptions, text: &str, size: usize) -> Turn {
    let mut stream = mender.stream(options);
    let mut turn = Turn::default();
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(size) {
        stream.push_to(piece.iter().collect::<String>(), &mut turn);
    }
    turn.extend(stream.finish(Finish::Stop));
    turn
}
