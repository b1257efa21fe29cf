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
    let mut doubtful = false;
    for pair in text.split('&') {
        let (key, value) = pair.split_once('=')?;
        let key = decode(key)?;
        let guide = context.guide;
        if !guide.declares_key(guide.root(), &key) {
            return None;
        }
        doubtful |= may_be_plus(value);
        events.extend([Event::Key(key), Event::Bare(decode(value)?)]);
    }
    events.push(Event::Close);
    events.extend(doubtful.then_some(Event::Doubt));
    Some(events)
}

/// Whether a plus sign in this value may be text: it is not between two words, or beside it is what every encoder encodes.
// Case: syntax/plus-sign-in-a-query-string
fn may_be_plus(value: &str) -> bool {
    if !value.contains('+') {
        return false;
    }
    let is_word = |word: &str| word.chars().all(|ch| ch.is_alphabetic() || ch == '%' || "-_.".contains(ch));
    let is_raw = value.contains(|ch: char| "/=@:,;?#[]{}|\\^".contains(ch));
    is_raw || value.split('+').any(|word| word.len() < 2 || !is_word(word))
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
