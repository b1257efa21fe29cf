//! Any bytes in any pieces: the same events as in one piece, arguments that are JSON and fit, and nothing invented or lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmend::{Event, Stream, Turn};
use toolmend_fuzz::{Reading, is_json, reading};

fuzz_target!(|data: &[u8]| {
    let Some((reading, bytes)) = reading(data) else { return };
    let whole = joined(&reading, [bytes]);
    assert_eq!(joined(&reading, pieces(bytes, reading.sizes)), whole);
    let mut turn = Turn::default();
    turn.extend(whole);
    let text = String::from_utf8_lossy(bytes);
    let mut last = 0..0;
    for call in &turn.calls {
        // Several values in one text are several calls of one place.
        assert!(call.at.start >= last.end || call.at == last, "calls stand one behind the other");
        last = call.at.clone();
        assert_eq!(text.get(call.at.clone()), Some(call.raw.as_str()));
        let Some(json) = call.arguments() else { continue };
        assert!(is_json(json) && json.trim_start().starts_with('{'), "{json}");
        let schema = reading.mender.tool(&call.name).and_then(|tool| tool.schema());
        if let (Some(schema), Some(value)) = (schema, call.verdict.value()) {
            assert!(schema.accepts(&value), "{json}");
        }
    }
    assert!(is_part_of(&turn.content, &text), "content that nobody wrote: {:?}", turn.content);
    assert!(is_part_of(&turn.reasoning, &text), "a thought that nobody had: {:?}", turn.reasoning);
    // Where no sign can begin a marker, nothing can be anything but content.
    if text.chars().all(|c| c.is_ascii_lowercase() || c == ' ') && !reading.open {
        assert_eq!(turn.content, text);
    }
});

fn pieces(mut bytes: &[u8], sizes: [usize; 3]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    for size in sizes.into_iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at(size.min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// The events, with neighbouring pieces of the same text as one.
fn joined<'b>(reading: &Reading, pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<Event> {
    let mut stream: Stream = reading.mender.stream(&reading.options);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(stream.push(piece));
    }
    events.extend(stream.finish(reading.finish));
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        match (out.last_mut(), event) {
            (Some(Event::Content(text)), Event::Content(more))
            | (Some(Event::Reasoning(text)), Event::Reasoning(more)) => text.push_str(&more),
            (Some(Event::ArgumentsDelta { index, text }), Event::ArgumentsDelta { index: other, text: more })
                if *index == other =>
            {
                text.push_str(&more);
            }
            (_, event) => out.push(event),
        }
    }
    out
}

/// Whether all characters of a text stand in another, in the same order.
fn is_part_of(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|wanted| whole.any(|found| found == wanted))
}
