//! Query strings: `path=a.txt&limit=10`, with percent-encoding.

use super::members::Event;
use crate::syntax::ReadContext;

/// Reads a whole text as a query string. It is one line without blanks, and every byte that is encoded is decoded.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<Vec<Event>> {
    let text = text.trim();
    let text = text.strip_prefix('?').unwrap_or(text);
    if text.contains(|ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '`' | '<' | '>')) {
        return None;
    }
    // Encoders write a blank as `+` or as `%20`. Where both occur, one of them is something else.
    if text.contains('+') && text.contains("%20") {
        return None;
    }
    let mut events = vec![Event::Object(None)];
    for pair in text.split('&') {
        let (key, value) = pair.split_once('=')?;
        let key = decode(key)?;
        let guide = context.guide;
        if !guide.declares_key(guide.root(), &key) {
            return None;
        }
        events.extend([Event::Key(key), Event::Bare(decode(value)?)]);
    }
    events.push(Event::Close);
    Some(events)
}

fn decode(part: &str) -> Option<String> {
    let mut out = Vec::with_capacity(part.len());
    let mut bytes = part.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let (high, low) = (hex(bytes.next()?)?, hex(bytes.next()?)?);
                out.push(high << 4 | low);
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
