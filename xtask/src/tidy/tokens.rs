//! Rust source as a list of words and signs: just enough to find paths, attributes and modules.
//!
//! Comments, strings, characters and lifetimes are left out, so nothing that is only written about counts
//! as code.

/// A word, `::`, or a single sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    pub(super) line: usize,
}

/// Splits source into tokens and leaves out every item that only tests compile.
pub(super) fn tokenize_without_tests(source: &str) -> Vec<Token<'_>> {
    remove_test_items(&tokenize(source))
}

/// Splits source into tokens.
pub(super) fn tokenize(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = measure_token(rest, first);
        let (text, after) = rest.split_at(length);
        if is_token {
            // A raw identifier means the same word.
            tokens.push(Token { text: text.strip_prefix("r#").unwrap_or(text), line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

/// Returns the length of whatever begins here, and whether it is a token.
fn measure_token(rest: &str, first: char) -> (usize, bool) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), false);
    }
    if rest.starts_with("/*") {
        return (measure_block_comment(rest), false);
    }
    if let Some(length) = measure_string(rest) {
        return (length, false);
    }
    if first == '\'' {
        return (measure_quote(rest), false);
    }
    if let Some(byte) = rest.strip_prefix('b').filter(|byte| byte.starts_with('\'')) {
        return (1 + measure_quote(byte), false);
    }
    if is_word(first) {
        let word = rest.strip_prefix("r#").filter(|word| word.starts_with(is_word));
        let prefix = if word.is_some() { 2 } else { 0 };
        let word = word.unwrap_or(rest);
        return (prefix + word.find(|letter| !is_word(letter)).unwrap_or(word.len()), true);
    }
    if rest.starts_with("::") {
        return (2, true);
    }
    (first.len_utf8(), !first.is_whitespace())
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

/// Block comments nest.
fn measure_block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Measures a string literal of any kind, with its prefix.
fn measure_string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = rest.strip_prefix(prefix);
        after.is_some_and(|after| {
            after.starts_with('"') || prefix.ends_with('r') && after.trim_start_matches('#').starts_with('"')
        })
    })?;
    let hashes = rest[prefix.len()..].bytes().take_while(|byte| *byte == b'#').count();
    let start = prefix.len() + hashes + 1;
    if prefix.ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len()));
    }
    Some(measure_escaped(rest, start, b'"'))
}

/// Measures up to the closing quote, which a backslash before it would hide.
fn measure_escaped(rest: &str, start: usize, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Measures a character literal or a lifetime.
fn measure_quote(rest: &str) -> usize {
    let mut after = rest[1..].chars();
    match (after.next(), after.next()) {
        (Some('\\'), _) => measure_escaped(rest, 1, b'\''),
        (Some(letter), Some('\'')) => 2 + letter.len_utf8(),
        _ => 1 + rest[1..].find(|letter| !is_word(letter)).unwrap_or(rest.len() - 1),
    }
}

fn remove_test_items<'s>(tokens: &[Token<'s>]) -> Vec<Token<'s>> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        match attribute_end(tokens, at) {
            Some(end) if is_test_attribute(&tokens[at..end]) => at = item_end(tokens, end),
            Some(end) => {
                kept.extend_from_slice(&tokens[at..end]);
                at = end;
            }
            None => {
                kept.push(tokens[at]);
                at += 1;
            }
        }
    }
    kept
}

fn text_at<'s>(tokens: &[Token<'s>], at: usize) -> &'s str {
    tokens.get(at).map_or("", |token| token.text)
}

/// Returns where the outer attribute that begins here ends.
fn attribute_end(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let begins = text_at(tokens, at) == "#" && text_at(tokens, at + 1) == "[";
    begins.then(|| group_end(tokens, at + 1))
}

/// Returns the position after the bracket that closes the one at `open`.
pub(super) fn group_end(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Whether the attribute is `#[test]`, or a `#[cfg(…)]` that only holds in tests.
fn is_test_attribute(attribute: &[Token<'_>]) -> bool {
    let words: Vec<&str> = attribute.iter().map(|token| token.text).collect();
    match words.as_slice() {
        ["#", "[", "test", "]"] | ["#", "[", "cfg", "(", "test", ")", "]"] => true,
        // `any(test, …)` and `not(test)` are compiled without tests too.
        ["#", "[", "cfg", "(", "all", "(", inner @ ..] => {
            inner.contains(&"test") && !inner.contains(&"not") && !inner.contains(&"any")
        }
        _ => false,
    }
}

/// The words that items begin with, after their visibility.
const ITEM_KEYWORDS: [&str; 14] = [
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
];

/// Returns the position after the item, field or statement that begins here, which may have further attributes.
fn item_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    while let Some(end) = attribute_end(tokens, at) {
        at = end;
    }
    let start = at;
    let is_use = loop {
        match text_at(tokens, at) {
            "pub" if text_at(tokens, at + 1) == "(" => at = group_end(tokens, at + 1),
            "pub" => at += 1,
            word => break word == "use",
        }
    };
    let is_item = ITEM_KEYWORDS.contains(&text_at(tokens, at));
    let mut at = start;
    while at < tokens.len() {
        match tokens[at].text {
            "{" if is_item => return group_end(tokens, at),
            "(" | "[" | "{" => at = group_end(tokens, at),
            ";" => return at + 1,
            "," if !is_item && !is_use => return at + 1,
            // The end of whatever holds the field or statement.
            ")" | "]" | "}" => return at,
            _ => at += 1,
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        tokenize_without_tests(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_literals_are_left_out() {
        let source =
            "a // crate::b\n/* c /* d */ e */ f \"crate::\\\" g\" r#\"h\" i\"# b'\"' '\\'' 'j' k<'l>";
        assert_eq!(words(source), ["a", "f", "k", "<", ">"]);
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let tokens = tokenize("/*\n*/ \"\n\" a\nb");
        assert_eq!(tokens, [Token { text: "a", line: 3 }, Token { text: "b", line: 4 }]);
    }

    #[test]
    fn paths_and_raw_identifiers_are_words() {
        assert_eq!(words("crate::r#type::b_1"), ["crate", "::", "type", "::", "b_1"]);
    }

    #[test]
    fn items_of_tests_are_left_out() {
        let source = "
            #[cfg(test)] mod tests { mod inner {} }
            #[cfg(test)] use a::{b, c};
            #[test] #[ignore] fn d<A, B>(e: [u8; 2]) { f }
            #[cfg(all(test, unix))] pub(crate) const G: [u8; 1] = [1];
            struct H { #[cfg(test)] i: [u8; 2], j: K, #[cfg(test)] l: M }
            #[cfg(not(test))] fn n() {}
            #[cfg(any(test, o))] fn p() {}
        ";
        let kept = "struct H { j : K , } # [ cfg ( not ( test ) ) ] fn n ( ) { } # [ cfg ( any ( test , o ) ) ] fn p ( ) { }";
        assert_eq!(words(source).join(" "), kept);
    }
}
