//! Arrays of PHP and hashes of Ruby: `['path' => 'a.txt']`, `array('a' => 1)`, `{:path => "a.txt"}`.

use super::members::Event;
use crate::syntax::ReadContext;

/// Reads a whole text as an array with keys.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<Vec<Event>> {
    let body = text.trim();
    let body = body.strip_suffix(';').unwrap_or(body).trim_end();
    let body = strip_assignment(body);
    let is_ruby = body.starts_with('{') && body[1..].trim_start().starts_with(':');
    let starts = is_ruby || open_len(body).is_some_and(|_| !body.starts_with('{'));
    if !starts || !body.contains("=>") {
        return None;
    }
    let mut parser = Parser { text: body, at: 0, open: Vec::new(), events: Vec::new() };
    parser.read(context.policy.limits.depth)?;
    (parser.at == body.len()).then_some(parser.events)
}

/// The text without `return` or `$name =` before it.
fn strip_assignment(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix("return ") {
        return rest.trim_start();
    }
    let named = text
        .strip_prefix('$')
        .map(|rest| rest.trim_start_matches(|ch: char| ch.is_alphanumeric() || ch == '_').trim_start());
    match named.and_then(|rest| rest.strip_prefix('=')) {
        Some(rest) if !rest.starts_with(['=', '>']) => rest.trim_start(),
        _ => text,
    }
}

/// The length of the bracket that opens an array here.
fn open_len(text: &str) -> Option<usize> {
    if text.starts_with(['[', '{']) {
        return Some(1);
    }
    let word = text.get(..5).filter(|word| word.eq_ignore_ascii_case("array"))?;
    let rest = text[word.len()..].trim_start();
    rest.starts_with('(').then(|| text.len() - rest.len() + 1)
}

/// An open bracket. Its first element says whether it has keys.
struct Open {
    event: usize,
    closer: char,
    has_keys: Option<bool>,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    open: Vec<Open>,
    events: Vec<Event>,
}

impl Parser<'_> {
    fn read(&mut self, depth: usize) -> Option<()> {
        // Whether a value has to come: after a key.
        let mut owed = false;
        self.open_bracket()?;
        while !self.open.is_empty() {
            self.skip_blanks();
            if !owed && self.close_bracket()? {
                continue;
            }
            if open_len(&self.text[self.at..]).is_some() {
                self.note_element(owed)?;
                owed = false;
                if self.open.len() >= depth {
                    return None;
                }
                self.open_bracket()?;
                continue;
            }
            let value = self.read_scalar()?;
            self.skip_blanks();
            if let Some(arrow) = self.arrow_len().filter(|_| !owed) {
                let (Event::Quoted(key) | Event::Bare(key)) = value else { return None };
                self.at += arrow;
                self.note_key()?;
                self.events.push(Event::Key(key));
                owed = true;
                continue;
            }
            self.note_element(owed)?;
            owed = false;
            self.events.push(value);
            self.end_element()?;
        }
        Some(())
    }

    /// The length of what separates a key from its value here. An object in braces may be JSON's.
    fn arrow_len(&self) -> Option<usize> {
        let rest = &self.text[self.at..];
        let in_braces = self.open.last().is_some_and(|open| open.closer == '}');
        if rest.starts_with("=>") { Some(2) } else { (in_braces && rest.starts_with(':')).then_some(1) }
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    fn open_bracket(&mut self) -> Option<()> {
        let len = open_len(&self.text[self.at..])?;
        let closer = match self.text.as_bytes().get(self.at)? {
            b'[' => ']',
            b'{' => '}',
            _ => ')',
        };
        // Braces hold members, and none if they are empty.
        // Case: syntax/empty-object-in-an-arrow-array
        let has_keys = (closer == '}').then_some(true);
        self.open.push(Open { event: self.events.len(), closer, has_keys });
        self.events.push(if closer == '}' { Event::Object(None) } else { Event::Array(None) });
        self.at += len;
        Some(())
    }

    /// Closes the bracket if its closer is here, and goes on behind the comma after it.
    fn close_bracket(&mut self) -> Option<bool> {
        let closer = self.open.last()?.closer;
        if !self.text[self.at..].starts_with(closer) {
            return Some(false);
        }
        self.at += 1;
        self.open.pop();
        self.events.push(Event::Close);
        if !self.open.is_empty() {
            self.end_element()?;
        }
        Some(true)
    }

    /// After an element comes a comma or the closer.
    fn end_element(&mut self) -> Option<()> {
        self.skip_blanks();
        let closer = self.open.last()?.closer;
        let rest = &self.text[self.at..];
        if rest.starts_with(',') {
            self.at += 1;
            return Some(());
        }
        rest.starts_with(closer).then_some(())
    }

    /// An array has keys for all of its elements or for none.
    fn note_element(&mut self, keyed: bool) -> Option<()> {
        let top = self.open.last_mut()?;
        if keyed {
            return Some(());
        }
        (!*top.has_keys.get_or_insert(false)).then_some(())
    }

    fn note_key(&mut self) -> Option<()> {
        let top = self.open.last_mut()?;
        let has_keys = *top.has_keys.get_or_insert(true);
        *self.events.get_mut(top.event)? = Event::Object(None);
        has_keys.then_some(())
    }

    fn read_scalar(&mut self) -> Option<Event> {
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        if matches!(first, '"' | '\'') {
            let (string, len) = read_string(rest, first)?;
            self.at += len;
            return Some(Event::Quoted(string));
        }
        let symbol = usize::from(first == ':');
        let word = &rest[symbol..];
        let len = word.find(|ch: char| !(ch.is_alphanumeric() || matches!(ch, '_' | '.' | '-' | '+')));
        let word = &word[..len.unwrap_or(word.len())];
        self.at += symbol + word.len();
        if symbol == 1 {
            return (!word.is_empty()).then(|| Event::Quoted(word.to_owned()));
        }
        if word == "nil" {
            return Some(Event::Missing);
        }
        // Anything but a literal or a number is a constant or an expression.
        crate::syntax::number::is_scalar(word).then(|| Event::Bare(word.to_owned()))
    }
}

/// The escapes in double quotes that PHP, Ruby and JSON share, and `\$` of PHP.
const ESCAPES: &[(char, char)] =
    &[('n', '\n'), ('t', '\t'), ('r', '\r'), ('"', '"'), ('\\', '\\'), ('$', '$'), ('f', '\u{c}')];

/// A string literal: its text and its length.
fn read_string(text: &str, quote: char) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, ch)) = chars.next() {
        if ch == quote {
            return Some((out, at + 1));
        }
        if ch != '\\' {
            out.push(ch);
            continue;
        }
        let (_, escaped) = chars.next()?;
        if quote == '\'' {
            if !matches!(escaped, '\'' | '\\') {
                out.push('\\');
            }
            out.push(escaped);
        } else if escaped == 'u' {
            // `\u00e9` is JSON's. PHP and Ruby write `\u{e9}`.
            let rest = &text[at + 2..];
            let (digits, len) = match rest.strip_prefix('{') {
                Some(braced) => {
                    let end = braced.find('}')?;
                    (braced.get(..end)?, end + 2)
                }
                None => (rest.get(..4)?, 4),
            };
            let valid =
                (1..=6).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            out.push(valid.then(|| u32::from_str_radix(digits, 16).ok()).flatten().and_then(char::from_u32)?);
            for _ in 0..len {
                chars.next();
            }
        } else {
            out.push(ESCAPES.iter().find(|(letter, _)| *letter == escaped)?.1);
        }
    }
    None
}
