//! Answers in another form than the client asked for: a whole answer to a request for a stream, or the other way round.

use bytes::Bytes;
use toolmend_protocol::{Answer, AnswerMeta, Document, Protocol};

use super::{StreamTranslator, Translation};

/// Writes a whole answer as a stream. `summary` says what was mended. `None` if it is not an answer of the protocol.
pub(crate) fn whole_to_stream(
    protocol: Protocol,
    body: &Bytes,
    wants_usage: bool,
    summary: Option<&str>,
) -> Option<Bytes> {
    let doc = Document::parse(body)?;
    let translation = Translation::within(protocol, wants_usage)?;
    let mut answer = (translation.protocols.upstream_side.read_answer)(doc.root())?;
    let id = doc.root().get_text("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned);
    let new = translation.new_meta();
    answer.meta = AnswerMeta { id: id.unwrap_or(new.id), created: new.created, ..answer.meta };
    let mut translator = StreamTranslator::new(translation, usize::MAX);
    translator.write_answer(answer, summary);
    Some(translator.take_output().concat().into())
}

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
