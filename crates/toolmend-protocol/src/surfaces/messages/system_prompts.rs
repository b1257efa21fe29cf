//! System prompts between other messages, for servers whose templates accept only one at the front.
//!
//! A prompt becomes a reminder in the user's turn at the same position. Moved to the front, it would speak of things that
//! have not been said yet.

use super::text_block;
use crate::json::{ValueRef, array};

/// Whether the word `system` appears as a value. Most requests do not have it and are not parsed.
pub(super) fn may_have_inner_prompts(body: &[u8]) -> bool {
    const WORD: &[u8] = b"\"system\"";
    memchr::memmem::find_iter(body, WORD).any(|at| {
        let next = body[at + WORD.len()..].iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(next, Some(b',' | b'}'))
    })
}

/// Rewrites system prompts as reminders in the user's turns. `None` if there are none.
pub(super) fn inline_prompts(root: ValueRef<'_>) -> Option<String> {
    let mut messages: Vec<String> = Vec::new();
    // The last message, if it is the user's.
    let mut last_user_message: Option<ValueRef<'_>> = None;
    let mut changed = false;
    for message in root.get("messages")?.items() {
        let role = message.get_lossy_text("role").unwrap_or_default();
        if role != "system" {
            last_user_message = (role == "user").then_some(message);
            messages.push(message.raw().to_owned());
            continue;
        }
        changed = true;
        let text = match message.get("content").map(|content| (content, content.lossy_text())) {
            Some((_, Some(text))) => text.into_owned(),
            Some((blocks, None)) => {
                let texts: Vec<_> = blocks.items().filter_map(|block| block.get_lossy_text("text")).collect();
                texts.join("\n\n")
            }
            None => String::new(),
        };
        let reminder = text_block(&format!("<system-reminder>\n{text}\n</system-reminder>"));
        let last = last_user_message.take().and_then(|user| Some((user, user.get("content")?)));
        if let (Some((user, content)), Some(place)) = (last, messages.last_mut()) {
            let before = match content.lossy_text() {
                Some(text) => vec![text_block(&text)],
                None => content.items().map(|block| block.raw().to_owned()).collect(),
            };
            *place = user.with(&[("content", Some(array(before.into_iter().chain([reminder]))))]);
        } else {
            messages.push(format!(r#"{{"role":"user","content":[{reminder}]}}"#));
        }
    }
    changed.then(|| root.with(&[("messages", Some(array(messages)))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use bytes::Bytes;

    #[test]
    fn reminders_replace_prompts_at_their_position() {
        let body = Bytes::from_static(
            br#"{"max_tokens": 1.0, "system": "x", "messages": [{"role": "user", "content": "a", "z": 1}, {"role": "system", "content": "b"}, {"role":"assistant","content":"c"}, {"content": [{"type": "text", "text": "d"}], "role": "system" }]}"#,
        );
        assert!(may_have_inner_prompts(&body));
        let rewritten = inline_prompts(Document::parse(&body).unwrap().root()).unwrap();
        assert_eq!(
            rewritten,
            r#"{"max_tokens":1.0,"system":"x","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"<system-reminder>\nb\n</system-reminder>"}],"z":1},{"role":"assistant","content":"c"},{"role":"user","content":[{"type":"text","text":"<system-reminder>\nd\n</system-reminder>"}]}]}"#
        );
        let plain = Bytes::from_static(
            br#"{"system": "x", "messages": [{"role": "user", "content": "the system"}]}"#,
        );
        assert!(!may_have_inner_prompts(&plain));
        assert_eq!(inline_prompts(Document::parse(&plain).unwrap().root()), None);
    }
}
