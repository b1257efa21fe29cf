//! Block mappings and sequences of YAML, by indentation.
//!
//! What is not read here is refused: comments, anchors, aliases, tags, directives, several documents, complex keys, tabs as
//! indentation.

use super::key_lines::has_lost_quote;
use super::members::Event;
use super::yaml_flow;
use super::yaml_scalar::{self, BlockHeader};
use crate::syntax::ReadContext;

/// Reads a whole text as one YAML document with a mapping at its root.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Option<Vec<Event>> {
    // A mapping has a colon; most text that is no YAML fails here or in its first line.
    let first = text.trim_start().lines().next()?;
    if !first.contains(':') && first.trim_end() != "---" || first.starts_with(['{', '[', '<', '#', '%']) {
        return None;
    }
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let depth = context.policy.limits.depth;
    let mut parser = Parser { text, lines, at: 0, frames: Vec::new(), events: Vec::new(), depth };
    parser.skip_document_start();
    while parser.at < parser.lines.len() {
        parser.read_line()?;
    }
    while !parser.frames.is_empty() {
        parser.close();
    }
    Some(parser.events)
}

#[derive(Clone, Copy)]
struct Frame {
    is_mapping: bool,
    indent: usize,
    /// Whether a key or a dash still needs its value.
    awaits: bool,
}

struct Parser<'t> {
    text: &'t str,
    lines: Vec<&'t str>,
    /// The line that comes next.
    at: usize,
    frames: Vec<Frame>,
    events: Vec<Event>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn skip_document_start(&mut self) {
        while self.lines.get(self.at).is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
        if self.lines.get(self.at).is_some_and(|line| line.trim_end() == "---") {
            self.at += 1;
        }
    }

    /// Reads what begins in the next line: an entry of a mapping or a sequence, with its value.
    fn read_line(&mut self) -> Option<()> {
        let line = self.lines[self.at];
        if line.trim().is_empty() {
            self.at += 1;
            return Some(());
        }
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        if content.starts_with(['#', '\t', '%']) || matches!(content.trim_end(), "---" | "...") {
            return None;
        }
        self.close_deeper(indent, is_dash(content))?;
        let mut column = indent;
        loop {
            let rest = &line[column..];
            if is_dash(rest) {
                self.enter(false, column)?;
                let after = rest[1..].trim_start();
                if after.is_empty() {
                    self.at += 1;
                    return Some(());
                }
                column = line.len() - after.len();
            } else if let Some((key, value)) = split_key(rest) {
                self.enter(true, column)?;
                self.events.push(Event::Key(key));
                let value = rest[value..].trim_start();
                if value.trim_end().is_empty() {
                    self.at += 1;
                    return Some(());
                }
                return self.read_value(line, line.len() - value.len());
            } else {
                return self.read_value(line, column);
            }
        }
    }

    /// Closes what a line with this indentation is not part of, and checks that the line can stand here.
    fn close_deeper(&mut self, indent: usize, dash: bool) -> Option<()> {
        while self.frames.last().is_some_and(|frame| frame.indent > indent) {
            self.close();
        }
        // The entries of a sequence may be indented like the key that it belongs to.
        if self.frames.last().is_some_and(|frame| !frame.is_mapping && frame.indent == indent && !dash) {
            self.close();
        }
        let Some(top) = self.frames.last_mut() else { return self.events.is_empty().then_some(()) };
        if top.indent < indent {
            return top.awaits.then_some(());
        }
        if top.awaits && !(top.is_mapping && dash) {
            top.awaits = false;
            self.events.push(Event::Missing);
        }
        (top.indent == indent).then_some(())
    }

    fn close(&mut self) {
        if self.frames.pop().is_some_and(|frame| frame.awaits) {
            self.events.push(Event::Missing);
        }
        self.events.push(Event::Close);
    }

    /// Goes on with the mapping or sequence at this column, or opens one there.
    fn enter(&mut self, is_mapping: bool, column: usize) -> Option<()> {
        if let Some(top) = self.frames.last_mut() {
            if top.indent == column && top.is_mapping == is_mapping && !top.awaits {
                top.awaits = true;
                return Some(());
            }
            if !top.awaits {
                return None;
            }
            top.awaits = false;
        }
        if self.frames.len() >= self.depth {
            return None;
        }
        self.frames.push(Frame { is_mapping, indent: column, awaits: true });
        self.events.push(if is_mapping { Event::Object(None) } else { Event::Array(None) });
        Some(())
    }

    /// Reads the value that begins at this column of the line, and moves behind its last line.
    fn read_value(&mut self, line: &'t str, column: usize) -> Option<()> {
        let frame = self.frames.last_mut().filter(|frame| frame.awaits)?;
        frame.awaits = false;
        let indent = frame.indent;
        let start = self.offset_of(line) + column;
        let rest = &line[column..];
        let event = match rest.chars().next()? {
            '"' | '\'' => {
                let (string, end) = yaml_scalar::read_quoted(self.text, start, Some(indent))?;
                self.finish_line(end)?;
                Event::Quoted(string)
            }
            '{' | '[' => {
                let flow = yaml_flow::read(self.text, start, self.depth)?;
                if flow.breaks {
                    return None;
                }
                self.finish_line(flow.end)?;
                self.events.extend(flow.events);
                return Some(());
            }
            '|' | '>' => {
                let header = BlockHeader::parse(rest.trim_end())?;
                let (string, count) = header.read_lines(&self.lines[self.at + 1..], indent)?;
                self.at += 1 + count;
                Event::Quoted(string)
            }
            '&' | '*' | '!' | '%' | '@' | '`' | ',' | ']' | '}' | '#' => return None,
            '?' if rest[1..].starts_with([' ', '\t']) => return None,
            _ => match self.read_plain(rest, indent)? {
                home if home == "~" => Event::Missing,
                plain => Event::Bare(plain),
            },
        };
        self.events.push(event);
        Some(())
    }

    /// A plain scalar, folded over the lines that are indented further than what it is in.
    fn read_plain(&mut self, first: &str, indent: usize) -> Option<String> {
        let mut out = String::new();
        let mut breaks = 0;
        let mut last = 0;
        let mut line = first;
        loop {
            let piece = line.trim();
            if piece.is_empty() {
                breaks += 1;
            } else {
                let structured = piece.contains(": ") || piece.ends_with(':') || piece.contains(" #");
                let continues = !out.is_empty();
                if structured || piece.starts_with('#') || continues && is_dash(piece) {
                    return None;
                }
                // Writers break long lines only. After a short one, the line break may be text.
                if continues && last < yaml_scalar::SHORTEST_FOLDED_LINE {
                    return None;
                }
                last = piece.len();
                match breaks {
                    0 => {}
                    1 => out.push(' '),
                    _ => out.extend(std::iter::repeat_n('\n', breaks - 1)),
                }
                out.push_str(piece);
                breaks = 1;
            }
            self.at += 1;
            let Some(next) = self.lines.get(self.at) else { break };
            let content = next.trim_start_matches(' ');
            if !content.trim().is_empty() && next.len() - content.len() <= indent {
                break;
            }
            line = next;
        }
        (!has_lost_quote(&out)).then_some(out)
    }

    /// Moves behind the line that holds `end`. Nothing but blanks may follow there.
    fn finish_line(&mut self, end: usize) -> Option<()> {
        while self.lines.get(self.at).is_some_and(|line| self.offset_of(line) + line.len() < end) {
            self.at += 1;
        }
        let line = *self.lines.get(self.at)?;
        let after = end.checked_sub(self.offset_of(line))?;
        self.at += 1;
        line.get(after..)?.trim().is_empty().then_some(())
    }

    /// Where a line of the text begins in it.
    fn offset_of(&self, line: &str) -> usize {
        line.as_ptr().addr() - self.text.as_ptr().addr()
    }
}

fn is_dash(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// The key of an entry, and the position after its colon.
fn split_key(entry: &str) -> Option<(String, usize)> {
    if entry.starts_with(['"', '\'']) {
        let (key, end) = yaml_scalar::read_quoted(entry, 0, Some(usize::MAX))?;
        let after = entry[end..].trim_start().strip_prefix(':')?;
        return (after.is_empty() || after.starts_with([' ', '\t']))
            .then_some((key, entry.len() - after.len()));
    }
    if entry.starts_with(['{', '[', '|', '>', '&', '*', '!', '%', '@', '`', '#', '?', ',', ']', '}']) {
        return None;
    }
    let colon = entry.find(": ").or_else(|| entry.trim_end().strip_suffix(':').map(str::len))?;
    let key = entry[..colon].trim_end();
    (!key.is_empty() && !key.contains(" #")).then(|| (key.to_owned(), colon + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::schema::guide::Guide;
    use crate::syntax::{Finish, Fuel};

    fn events(text: &str) -> Option<String> {
        let (guide, policy) = (Guide::default(), Policy::default());
        let context = ReadContext {
            guide: &guide,
            policy: &policy,
            finish: Finish::Stop,
            tool: None,
            main_field: None,
            explains: false,
            fuel: &Fuel::for_text(text),
        };
        let mut out = String::new();
        for event in read(text, &context)? {
            match event {
                Event::Object(_) => out.push('{'),
                Event::Array(_) => out.push('['),
                Event::Close => out.push('.'),
                Event::Key(key) => out.extend([key.as_str(), "="]),
                Event::Quoted(string) => out.extend([format!("{string:?}").as_str(), " "]),
                Event::Bare(word) => out.extend([word.as_str(), " "]),
                Event::Missing => out.push_str("~ "),
                Event::Doubt => out.push('?'),
            }
        }
        Some(out)
    }

    #[track_caller]
    fn reads(text: &str, expected: &str) {
        assert_eq!(events(text).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn nested_collections() {
        reads("a: 1\nb:\n- x\n- y: 2\n  z: 3\nc: d", "{a=1 b=[x {y=2 z=3 ..c=d .");
        reads("a:\n  - - 1\n    - 2\n  -\n    b: c\n", "{a=[[1 2 .{b=c ...");
        reads("---\na:\n  b:\n    c: |\n      x\n       y\nd: e", "{a={b={c=\"x\\n y\\n\" ..d=e .");
        reads(
            "a: twenty bytes or more of text\n  and no blank line here\n\n  three\nb:",
            "{a=twenty bytes or more of text and no blank line here\nthree b=~ .",
        );
        reads("a: {b: [c, 'd']}\n\"e f\": 'g''h'", "{a={b=[c \"d\" ..e f=\"g'h\" .");
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        for text in [
            "a: &x 1",
            "a: !tag 1",
            "a: 1 # one",
            "a: b: c",
            "a: 1\n  b: 2",
            "a: 1\n b: 2",
            "a: |\nb",
            "a: 'x' y",
            "a: 1\n---\na: 2",
            "a: 1\ntext",
            "? a\n: b",
            "a: x\n  - y",
            "a: x\n  y",
        ] {
            assert_eq!(events(text), None, "{text}");
        }
    }
}
