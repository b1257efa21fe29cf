//! Indented JSON: every token as it is written, with other white space between them.

/// The white space of one level.
const LEVEL: &str = "  ";

/// Puts every member and every element of strict JSON on a line of its own.
pub(crate) fn indent_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth: usize = 0;
    let mut rest = json;
    // A bracket is written when it is known whether something is inside.
    let mut is_empty = false;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' { string_length(rest) } else { first.len_utf8() };
        let (token, after) = rest.split_at(length);
        rest = after;
        if first.is_ascii_whitespace() {
            continue;
        }
        match first {
            ']' | '}' => {
                depth = depth.saturating_sub(1);
                if !is_empty {
                    break_line(&mut out, depth);
                }
            }
            _ if is_empty => break_line(&mut out, depth),
            _ => {}
        }
        is_empty = matches!(first, '[' | '{');
        out.push_str(token);
        match first {
            '[' | '{' => depth += 1,
            ',' => break_line(&mut out, depth),
            ':' => out.push(' '),
            _ => {}
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(LEVEL, depth));
}

/// The length of the string that the text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_keep_their_spelling() {
        let json = r#"{"a":[1.50,{ },[],"x, \"y\": {é}\\"] , "b" : {"c":null}}"#;
        let expected = "{\n  \"a\": [\n    1.50,\n    {},\n    [],\n    \"x, \\\"y\\\": {é}\\\\\"\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}";
        assert_eq!(indent_json(json), expected);
        assert_eq!(indent_json(expected), expected, "indenting again changes nothing");
        assert_eq!(indent_json(" \"text\" "), "\"text\"");
    }
}
