//! Scalars of YAML: quoted ones with their line folding, and block scalars with their chomping.

/// The length that a line of a scalar has at least before it goes on in the next one. Writers break long lines only; after a
/// short one, the line break may be text.
pub(super) const SHORTEST_FOLDED_LINE: usize = 20;

/// Reads the quoted scalar at `at`: its text and the position after the closing quote. `inside` is the indentation that a
/// continuation line must exceed; without it, any line may continue.
pub(super) fn read_quoted(text: &str, at: usize, inside: Option<usize>) -> Option<(String, usize)> {
    let quote = text[at..].chars().next()?;
    let mut out = String::new();
    // White space up to here was escaped and survives the end of its line.
    let mut kept = 0;
    let mut at = at + 1;
    loop {
        let ch = text[at..].chars().next()?;
        match ch {
            '\'' if quote == '\'' && text[at + 1..].starts_with('\'') => {
                out.push('\'');
                at += 2;
            }
            _ if ch == quote => return Some((out, at + 1)),
            '\\' if quote == '"' => {
                if let Some(rest) = text[at + 1..].strip_prefix("\r\n").or(text[at + 1..].strip_prefix('\n'))
                {
                    at = text.len() - rest.trim_start_matches([' ', '\t']).len();
                } else {
                    let (decoded, len) = decode_escape(&text[at..])?;
                    out.push(decoded);
                    at += len;
                }
                kept = out.len();
            }
            '\n' | '\r' => at = fold_lines(text, at, kept, inside, &mut out)?,
            _ => {
                out.push(ch);
                at += ch.len_utf8();
            }
        }
    }
}

/// Folds the line break at `at`: one becomes a space, each further one stays. Returns where the next line's text begins.
fn fold_lines(text: &str, at: usize, kept: usize, inside: Option<usize>, out: &mut String) -> Option<usize> {
    let trimmed = out.trim_end_matches([' ', '\t']).len().max(kept);
    out.truncate(trimmed);
    let rest = &text[at..];
    let content = rest.trim_start_matches([' ', '\t', '\r', '\n']);
    let gap = &rest[..rest.len() - content.len()];
    let breaks = gap.matches('\n').count();
    let indent = gap.rsplit('\n').next().map_or(0, str::len);
    if inside.is_some_and(|inside| indent <= inside) {
        return None;
    }
    let end_of_line = &out.as_bytes()[out.len().saturating_sub(SHORTEST_FOLDED_LINE)..];
    let is_short = end_of_line.len() < SHORTEST_FOLDED_LINE || end_of_line.contains(&b'\n');
    match breaks {
        0 => return None,
        1 if inside.is_some() && is_short => return None,
        1 => out.push(' '),
        _ => out.extend(std::iter::repeat_n('\n', breaks - 1)),
    }
    Some(text.len() - content.len())
}

/// The escapes of a double-quoted scalar that mean one character each.
const ESCAPES: &[(u8, char)] = &[
    (b'0', '\0'),
    (b'a', '\u{7}'),
    (b'b', '\u{8}'),
    (b't', '\t'),
    (b'n', '\n'),
    (b'v', '\u{b}'),
    (b'f', '\u{c}'),
    (b'r', '\r'),
    (b'e', '\u{1b}'),
    (b' ', ' '),
    (b'"', '"'),
    (b'/', '/'),
    (b'\\', '\\'),
];

/// The character that an escape means, and its length.
fn decode_escape(text: &str) -> Option<(char, usize)> {
    let letter = *text.as_bytes().get(1)?;
    if let Some((_, ch)) = ESCAPES.iter().find(|(known, _)| *known == letter) {
        return Some((*ch, 2));
    }
    let digits = match letter {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let unit = hex(text, 2, digits)?;
    if digits == 4 && (0xD800..0xDC00).contains(&unit) && text.get(6..8) == Some("\\u") {
        let low = hex(text, 8, 4).filter(|low| (0xDC00..0xE000).contains(low))?;
        return Some((char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))?, 12));
    }
    Some((char::from_u32(unit)?, 2 + digits))
}

fn hex(text: &str, at: usize, digits: usize) -> Option<u32> {
    let digits = text.get(at..at + digits)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The header of a block scalar: `|` or `>`, with chomping and indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHeader {
    folds: bool,
    /// `-` strips line breaks at the end, `+` keeps all of them, neither keeps one.
    chomping: Option<char>,
    indentation: Option<usize>,
}

impl BlockHeader {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        let folds = match chars.next()? {
            '|' => false,
            '>' => true,
            _ => return None,
        };
        let mut header = BlockHeader { folds, chomping: None, indentation: None };
        for ch in chars {
            match ch {
                '-' | '+' if header.chomping.is_none() => header.chomping = Some(ch),
                '1'..='9' if header.indentation.is_none() => {
                    header.indentation = ch.to_digit(10).map(|digit| digit as usize);
                }
                _ => return None,
            }
        }
        Some(header)
    }

    /// Reads the lines below the header: the text, and how many lines it takes. `parent` is the indentation of the
    /// collection that it is in.
    pub(super) fn read_lines(self, lines: &[&str], parent: usize) -> Option<(String, usize)> {
        let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let first = lines.iter().find(|line| !line.trim().is_empty()).map(|line| indent_of(line));
        let indent = self.indentation.map(|digit| parent + digit).or(first).filter(|&indent| indent > parent);
        let indent = indent.unwrap_or(parent + 1);
        let mut content: Vec<&str> = Vec::new();
        for line in lines {
            if line.trim_matches(' ').is_empty() {
                content.push(line.get(indent..).unwrap_or_default());
            } else if indent_of(line) >= indent {
                content.push(&line[indent..]);
            } else if indent_of(line) > parent {
                // Less indented than the text, but still inside it: YAML has no reading.
                return None;
            } else {
                break;
            }
        }
        let count = content.len();
        let blank = content.iter().rev().take_while(|line| line.is_empty()).count();
        let body = &content[..count - blank];
        let mut text = if self.folds { fold_block(body) } else { body.join("\n") };
        match self.chomping {
            Some('-') => {}
            Some(_) => text.extend(std::iter::repeat_n('\n', blank + usize::from(!body.is_empty()))),
            None if !body.is_empty() => text.push('\n'),
            None => {}
        }
        Some((text, count))
    }
}

/// Joins lines as `>` does: a line break between two lines of text is a space, and lines that are indented further keep theirs.
fn fold_block(lines: &[&str]) -> String {
    let mut out = String::new();
    let mut breaks = 0;
    let mut before: Option<bool> = None;
    for line in lines {
        if line.is_empty() {
            breaks += 1;
            continue;
        }
        let indented = line.starts_with([' ', '\t']);
        match before {
            Some(was_indented) if was_indented || indented => {
                out.extend(std::iter::repeat_n('\n', breaks + 1));
            }
            Some(_) if breaks == 0 => out.push(' '),
            _ => out.extend(std::iter::repeat_n('\n', breaks)),
        }
        out.push_str(line);
        breaks = 0;
        before = Some(indented);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn quoted(text: &str, expected: Option<&str>) {
        let read = read_quoted(text, 0, Some(0));
        assert_eq!(read.map(|(string, _)| string).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn quoted_scalars_fold() {
        quoted("'it''s'", Some("it's"));
        quoted(r"'C:\new'", Some(r"C:\new"));
        quoted("'a line with more text\n  b\n\n  c'", Some("a line with more text b\nc"));
        quoted("'a\n  b'", None);
        quoted(r#""a\tb\x41\u00e9\U0001f600""#, Some("a\tbAé😀"));
        quoted("\"a \\\n  b\"", Some("a b"));
        quoted("\"a\\\n  \\ b\"", Some("a b"));
        quoted(r#""\d""#, None);
        quoted("'a\nb'", None);
        quoted("'open", None);
    }

    #[test]
    fn block_scalars_chomp() {
        let read = |header: &str, lines: &[&str]| BlockHeader::parse(header).unwrap().read_lines(lines, 0);
        let lines = ["  a", "", "    b", "", "c: 1"];
        assert_eq!(read("|", &lines), Some(("a\n\n  b\n".to_owned(), 4)));
        assert_eq!(read("|-", &lines), Some(("a\n\n  b".to_owned(), 4)));
        assert_eq!(read("|+", &lines), Some(("a\n\n  b\n\n".to_owned(), 4)));
        assert_eq!(read("|1-", &lines), Some((" a\n\n   b".to_owned(), 4)));
        assert_eq!(
            read(">-", &["  a", "  b", "", "  c", "    d", "  e"]),
            Some(("a b\nc\n  d\ne".to_owned(), 6))
        );
        assert_eq!(BlockHeader::parse("| text"), None);
    }
}
