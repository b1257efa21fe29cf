//! Streams for clients that asked for a whole answer. The other way round, a protocol writes its own answers as streams.

use toolmend_protocol::{Answer, Protocol};

use super::{StreamTranslator, Translation};

/// Writes a stream as a whole answer. `None` if it is not a complete stream of the protocol.
pub(crate) fn stream_to_whole(protocol: Protocol, body: &[u8], limit: usize) -> Option<String> {
    let translation = Translation::within(protocol, true)?;
    let write_answer = translation.protocols.client_side.write_answer;
    let mut translator = StreamTranslator::collecting(translation, limit);
    translator.push(body);
    translator.finish();
    let answer: Answer = translator.into_answer()?;
    Some(write_answer(&answer))
}
