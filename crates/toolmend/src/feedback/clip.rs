//! Shortening of text to a number of characters. Never cuts inside a character.

/// Returns at most `limit` characters of the start. The last one is an ellipsis if anything was cut.
pub(super) fn clip(text: &str, limit: usize) -> String {
    if text.char_indices().nth(limit).is_none() {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// Returns the start and the end with an ellipsis between them: broken text often fails at its end.
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

/// Joins at most `count` items with commas, and says how many more there are.
pub(super) fn join_list(items: &[String], count: usize) -> String {
    let shown = &items[..items.len().min(count)];
    join_first(shown, items.len())
}

/// Joins the first items of a list of `total` items.
pub(super) fn join_first(shown: &[String], total: usize) -> String {
    let joined = shown.join(", ");
    match total - shown.len() {
        0 => joined,
        more => format!("{joined} and {more} more"),
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
        assert_eq!(join_list(&["a".into(), "b".into(), "c".into()], 2), "a, b and 1 more");
    }
}
