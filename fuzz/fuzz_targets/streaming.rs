//! Any bytes in any pieces give the same events as in one piece, arguments are valid, and nothing is invented or lost.
#![no_main]

#[path = "../../crates/toolmend/tests/support/joined_events.rs"]
mod joined_events;

use joined_events::join_events;
use libfuzzer_sys::fuzz_target;
use toolmend::{Event, Stream, Turn};
use toolmend_fuzz::{StreamSetup, is_json, split_setup};

fuzz_target!(|data: &[u8]| {
    let Some((setup, bytes)) = split_setup(data) else { return };
    let whole = read_events(&setup, [bytes]);
    assert_eq!(read_events(&setup, split_pieces(bytes, setup.piece_sizes)), whole);
    let mut turn = Turn::default();
    turn.extend(whole);
    let text = String::from_utf8_lossy(bytes);
    let mut last = 0..0;
    for call in &turn.calls {
        // Several values in one text are several calls with the same range.
        assert!(call.at.start >= last.end || call.at == last, "calls are in order and do not overlap");
        last = call.at.clone();
        assert_eq!(text.get(call.at.clone()), Some(call.raw.as_str()));
        let Some(json) = call.arguments() else { continue };
        assert!(is_json(json) && json.trim_start().starts_with('{'), "{json}");
        let schema = setup.mender.tool(&call.name).and_then(|tool| tool.schema());
        if let (Some(schema), Some(value)) = (schema, call.verdict.value()) {
            assert!(schema.accepts(&value), "{json}");
        }
    }
    assert!(is_subsequence(&turn.content, &text), "the content is not in the output: {:?}", turn.content);
    assert!(
        is_subsequence(&turn.reasoning, &text),
        "the reasoning is not in the output: {:?}",
        turn.reasoning
    );
    // Without a character that can begin a marker, everything is content.
    if text.chars().all(|c| c.is_ascii_lowercase() || c == ' ') && !setup.reasoning_open {
        assert_eq!(turn.content, text);
    }
});

fn split_pieces(mut bytes: &[u8], sizes: [usize; 3]) -> Vec<&[u8]> {
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

/// Reads the pieces and joins consecutive events of the same text.
fn read_events<'b>(setup: &StreamSetup, pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<Event> {
    let mut stream: Stream = setup.mender.stream(&setup.options);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(stream.push(piece));
    }
    events.extend(stream.finish(setup.finish));
    join_events(events)
}

/// Whether another text contains all characters of a text in the same order.
fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|wanted| whole.any(|found| found == wanted))
}
