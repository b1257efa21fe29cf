//! Texts cut to a number of characters, never inside one.

/// The first `limit` characters, the last of them an ellipsis where something was cut.
pub(super) fn clip(text: &str, limit: usize) -> String {
    if text.char_indices().nth(limit).is_none() {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// The start and the end, with an ellipsis between them: the end of a broken text is often what is wrong.
pub(super) fn clip_middle(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let tail = limit.saturating_sub(1) / 3;
    let mut out = clip(text, limit - tail);
    out.extend(text.chars().skip(length - tail));
    out
}

/// At most `count` items, and how many more there are.
pub(super) fn list(items: &[String], count: usize) -> String {
    let shown = items.iter().take(count).map(String::as_str).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(count) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!(clip("añb", 3), "añb");
        assert_eq!(clip("añbc", 3), "añ…");
        assert_eq!(clip("añbc", 0), "…");
        assert_eq!(clip_middle("0123456789", 7), "0123…89");
        assert_eq!(clip_middle("ééééé", 5), "ééééé");
        assert_eq!(list(&["a".into(), "b".into(), "c".into()], 2), "a, b and 1 more");
    }
}
