//! Writes values as Python's `json.dumps` does.

use std::io;

use minijinja::value::Value;
use minijinja::{Error, ErrorKind};
use serde::Serialize;
use serde_json::ser::Formatter;

/// The arguments of `json.dumps` that templates use.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) ensure_ascii: bool,
    pub(super) indent: Option<usize>,
    pub(super) sort_keys: bool,
    /// Between two items, and between a key and its value.
    pub(super) separators: Option<[String; 2]>,
}

/// Writes a value as JSON.
pub(super) fn dumps(value: &Value, layout: &Layout) -> Result<String, Error> {
    let error = |problem: String| Error::new(ErrorKind::InvalidOperation, format!("tojson: {problem}"));
    if value.is_undefined() {
        return Err(error("the value is undefined".to_owned()));
    }
    let mut out = Vec::new();
    let writer = DumpsFormatter { layout, depth: 0, has_items: false };
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, writer);
    if layout.sort_keys {
        let mut sorted = serde_json::to_value(value).map_err(|problem| error(problem.to_string()))?;
        sorted.sort_all_objects();
        sorted.serialize(&mut serializer)
    } else {
        value.serialize(&mut serializer)
    }
    .map_err(|problem| error(problem.to_string()))?;
    String::from_utf8(out).map_err(|problem| error(problem.to_string()))
}

struct DumpsFormatter<'l> {
    layout: &'l Layout,
    depth: usize,
    has_items: bool,
}

impl DumpsFormatter<'_> {
    fn begin<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_items = false;
        writer.write_all(bracket)
    }

    fn end<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_items {
            self.line(writer)?;
        }
        self.has_items = true;
        writer.write_all(bracket)
    }

    /// What comes before an item.
    fn item<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            let between = match (&self.layout.separators, self.layout.indent) {
                (Some([item, _]), _) => item.as_str(),
                // Python leaves the space out, because a line break follows.
                (None, Some(_)) => ",",
                (None, None) => ", ",
            };
            writer.write_all(between.as_bytes())?;
        }
        self.line(writer)
    }

    fn line<W: io::Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        match self.layout.indent {
            Some(indent) => write!(writer, "\n{:1$}", "", indent * self.depth),
            None => Ok(()),
        }
    }
}

impl Formatter for DumpsFormatter<'_> {
    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: io::Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        let between = self.layout.separators.as_ref().map_or(": ", |[_, key]| key.as_str());
        writer.write_all(between.as_bytes())
    }

    fn end_object_value<W: io::Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }

    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if !self.layout.ensure_ascii {
            return writer.write_all(fragment.as_bytes());
        }
        for ch in fragment.chars() {
            if ch.is_ascii() {
                write!(writer, "{ch}")?;
            } else {
                ch.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(writer, "\\u{unit:04x}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use minijinja::value::Serde;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_python_writes_them() {
        let value =
            Value::from(Serde(&json!({"b": [1, 2.5, true, null], "a": {"é": "<😀>'"}, "c": [], "d": {}})));
        let plain = dumps(&value, &Layout::default()).unwrap();
        assert_eq!(plain, r#"{"a": {"é": "<😀>'"}, "b": [1, 2.5, true, null], "c": [], "d": {}}"#);
        let ascii = dumps(&value, &Layout { ensure_ascii: true, ..Layout::default() }).unwrap();
        assert!(ascii.contains(r#"{"\u00e9": "<\ud83d\ude00>'"}"#), "{ascii}");
        let indented = dumps(&value, &Layout { indent: Some(2), ..Layout::default() }).unwrap();
        assert!(
            indented.starts_with("{\n  \"a\": {\n    \"é\": \"<😀>'\"\n  },\n  \"b\": [\n    1,\n"),
            "{indented}"
        );
        assert!(indented.ends_with("\n  ],\n  \"c\": [],\n  \"d\": {}\n}"), "{indented}");
        let compact = Layout { separators: Some([",".to_owned(), ":".to_owned()]), ..Layout::default() };
        assert!(dumps(&value, &compact).unwrap().starts_with(r#"{"a":{"é":"<😀>'"},"b":[1,2.5,"#));
    }
}
