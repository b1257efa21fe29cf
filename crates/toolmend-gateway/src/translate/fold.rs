//! System prompts in the middle of a conversation, for servers whose templates take one in front only.

use crate::wire::doc::{View, array, quote};

/// Whether a request may hold one: a word that stands as a value. Most requests are not looked into any further.
pub(super) fn is_likely(body: &[u8]) -> bool {
    const WORD: &[u8] = b"\"system\"";
    memchr::memmem::find_iter(body, WORD).any(|at| {
        let behind = body[at + WORD.len()..].iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(behind, Some(b',' | b'}'))
    })
}

/// The request with its system prompts as reminders in the turns of the user. None where there is nothing to do;
/// everything else stays as it came.
pub(super) fn fold(root: View<'_>) -> Option<String> {
    let mut messages: Vec<String> = Vec::new();
    // The last message of the user, where it is the last one.
    let mut open: Option<View<'_>> = None;
    let mut folded = false;
    for message in root.get("messages")?.items() {
        let role = message.get_text("role").unwrap_or_default();
        if role != "system" {
            open = (role == "user").then_some(message);
            messages.push(message.raw().to_owned());
            continue;
        }
        folded = true;
        let text = match message.get("content").map(|content| (content, content.text())) {
            Some((_, Some(text))) => text.into_owned(),
            Some((blocks, None)) => {
                let texts: Vec<_> = blocks.items().filter_map(|block| block.get_text("text")).collect();
                texts.join("\n\n")
            }
            None => String::new(),
        };
        let reminder = block(&format!("<system-reminder>\n{text}\n</system-reminder>"));
        let last = open.take().and_then(|user| Some((user, user.get("content")?)));
        if let (Some((user, content)), Some(place)) = (last, messages.last_mut()) {
            let before = match content.text() {
                Some(text) => vec![block(&text)],
                None => content.items().map(|block| block.raw().to_owned()).collect(),
            };
            *place = user.with(&[("content", Some(array(before.into_iter().chain([reminder]))))]);
        } else {
            messages.push(format!(r#"{{"role":"user","content":[{reminder}]}}"#));
        }
    }
    folded.then(|| root.with(&[("messages", Some(array(messages)))]))
}

fn block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::doc::Doc;
    use bytes::Bytes;

    #[test]
    fn reminders_stand_where_the_prompts_stood() {
        let body = Bytes::from_static(
            br#"{"max_tokens": 1.0, "system": "x", "messages": [{"role": "user", "content": "a", "z": 1}, {"role": "system", "content": "b"}, {"role":"assistant","content":"c"}, {"content": [{"type": "text", "text": "d"}], "role": "system" }]}"#,
        );
        assert!(is_likely(&body));
        let folded = fold(Doc::parse(&body).unwrap().root()).unwrap();
        assert_eq!(
            folded,
            r#"{"max_tokens":1.0,"system":"x","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"<system-reminder>\nb\n</system-reminder>"}],"z":1},{"role":"assistant","content":"c"},{"role":"user","content":[{"type":"text","text":"<system-reminder>\nd\n</system-reminder>"}]}]}"#
        );
        let plain = Bytes::from_static(
            br#"{"system": "x", "messages": [{"role": "user", "content": "the system"}]}"#,
        );
        assert!(!is_likely(&plain));
        assert_eq!(fold(Doc::parse(&plain).unwrap().root()), None);
    }
}
