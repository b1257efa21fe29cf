//! Events without the places where their text was split. The tests and the fuzz target of streams compare these.

use toolmend::Event;

/// Joins adjacent text of the same kind: where text was split is not part of what it says.
pub(crate) fn join_events(events: Vec<Event>) -> Vec<Event> {
    let mut out: Vec<Event> = Vec::new();
    for event in events {
        match (out.last_mut(), event) {
            (Some(Event::Content(text)), Event::Content(more))
            | (Some(Event::Reasoning(text)), Event::Reasoning(more)) => text.push_str(&more),
            (
                Some(Event::ArgumentsDelta { index, text }),
                Event::ArgumentsDelta { index: other, text: more },
            ) if *index == other => text.push_str(&more),
            (_, event) => out.push(event),
        }
    }
    out
}
