//! Valid calls of a few tools, as tokens, so that each token can be damaged in its own way.

use serde_json::{Value, json};
use toolmend::{Mender, Schema, Tool};

use crate::content;
use crate::random::Random;
use crate::write_file_schema::write_file_schema;

/// A token of a valid document. Strings are their meaning, not their spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Open(char),
    Close(char),
    Comma,
    Colon,
    Key(String),
    Text(String),
    /// A number or a literal.
    Bare(String),
    Space(String),
}

/// A valid call and the tool that it calls.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) tool: &'static str,
    pub(crate) schema: Schema,
    pub(crate) mender: Mender,
    pub(crate) tokens: Vec<Token>,
    pub(crate) value: Value,
}

impl Document {
    /// The call as strict JSON.
    pub(crate) fn text(&self) -> String {
        self.tokens.iter().map(strict).collect()
    }

    /// The call with each token spelled by `spell`.
    pub(crate) fn spelled(&self, spell: impl FnMut(&Token) -> String) -> String {
        self.tokens.iter().map(spell).collect()
    }

    /// The indices of the tokens that `wanted` accepts.
    pub(crate) fn places(&self, wanted: impl Fn(&Token) -> bool) -> Vec<usize> {
        (0..self.tokens.len()).filter(|&at| wanted(&self.tokens[at])).collect()
    }

    /// The call with one of the wanted tokens spelled by `spell`; `None` if there is none.
    pub(crate) fn spelled_once(
        &self,
        random: &mut Random,
        wanted: impl Fn(&Token) -> bool,
        spell: impl Fn(&Token) -> String,
    ) -> Option<String> {
        let places = self.places(wanted);
        let place = *places.get(random.below(places.len().max(1)))?;
        let pieces = self.tokens.iter().enumerate();
        Some(pieces.map(|(at, token)| if at == place { spell(token) } else { strict(token) }).collect())
    }
}

/// A token as JSON spells it.
pub(crate) fn strict(token: &Token) -> String {
    match token {
        Token::Open(ch) | Token::Close(ch) => ch.to_string(),
        Token::Comma => ",".to_owned(),
        Token::Colon => ":".to_owned(),
        Token::Key(text) | Token::Text(text) => quoted(text),
        Token::Bare(text) | Token::Space(text) => text.clone(),
    }
}

/// A string as JSON spells it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The white space between tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Compact,
    Spaced,
    Lines,
}

/// Builds tokens in one layout.
struct Builder {
    tokens: Vec<Token>,
    layout: Layout,
    depth: usize,
}

impl Builder {
    fn line(&mut self) {
        if self.layout == Layout::Lines {
            self.tokens.push(Token::Space(format!("\n{}", "  ".repeat(self.depth))));
        }
    }

    fn separate(&mut self) {
        let after_opener = matches!(self.tokens.last(), Some(Token::Open(_)) | None);
        if !after_opener {
            self.tokens.push(Token::Comma);
            if self.layout == Layout::Spaced {
                self.tokens.push(Token::Space(" ".to_owned()));
            }
        }
        self.line();
    }

    fn open(&mut self, ch: char) {
        self.tokens.push(Token::Open(ch));
        self.depth += 1;
    }

    fn close(&mut self, ch: char) {
        self.depth -= 1;
        self.line();
        self.tokens.push(Token::Close(ch));
    }

    fn member(&mut self, key: &str) {
        self.separate();
        self.tokens.extend([Token::Key(key.to_owned()), Token::Colon]);
        if self.layout != Layout::Compact {
            self.tokens.push(Token::Space(" ".to_owned()));
        }
    }

    fn text(&mut self, key: &str, text: String) {
        self.member(key);
        self.tokens.push(Token::Text(text));
    }

    fn bare(&mut self, key: &str, text: &str) {
        self.member(key);
        self.tokens.push(Token::Bare(text.to_owned()));
    }

    fn texts(&mut self, key: &str, texts: Vec<String>) {
        self.member(key);
        self.array(texts.into_iter().map(Token::Text));
    }

    fn numbers(&mut self, key: &str, numbers: Vec<String>) {
        self.member(key);
        self.array(numbers.into_iter().map(Token::Bare));
    }

    fn array(&mut self, items: impl Iterator<Item = Token>) {
        self.open('[');
        for item in items {
            self.separate();
            self.tokens.push(item);
        }
        self.close(']');
    }
}

/// A random call of one of the tools.
pub(crate) fn random(random: &mut Random) -> Document {
    let layout = [Layout::Compact, Layout::Spaced, Layout::Lines][random.below(3)];
    let mut out = Builder { tokens: Vec::new(), layout, depth: 0 };
    out.open('{');
    let (tool, source) = match random.below(7) {
        0 => search(&mut out, random),
        1 => write_file(&mut out, random),
        2 => edit_file(&mut out, random),
        3 => list_folder(&mut out, random),
        4 => order(&mut out, random),
        5 => move_rows(&mut out, random),
        _ => query(&mut out, random),
    };
    out.close('}');
    let mender = Mender::builder().tool(Tool::new(tool, &source).unwrap()).build().unwrap();
    let schema = Schema::new(&source).unwrap();
    let text: String = out.tokens.iter().map(strict).collect();
    Document { tool, schema, mender, value: serde_json::from_str(&text).unwrap(), tokens: out.tokens }
}

fn search(out: &mut Builder, random: &mut Random) -> (&'static str, Value) {
    out.text("query", content::phrase(random));
    out.bare("limit", &random.below(500).to_string());
    if random.once_in(2) {
        out.bare("exact", random.pick(&["true", "false"]));
    }
    let tags = (0..random.between(1, 3)).map(|_| content::word(random)).collect();
    out.texts("tags", tags);
    if random.once_in(2) {
        out.bare("min_score", random.pick(&["0.5", "-2.25", "1e3", "12"]));
    }
    out.text("source", content::reference(random));
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "exact": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "min_score": {"type": "number"},
            "source": {"type": "string"},
        },
        "required": ["query", "source"],
        "additionalProperties": false,
    });
    ("search", schema)
}

fn write_file(out: &mut Builder, random: &mut Random) -> (&'static str, Value) {
    out.text("path", content::reference(random));
    out.text("content", content::file(random));
    if random.once_in(2) {
        out.bare("overwrite", random.pick(&["true", "false"]));
    }
    ("write_file", write_file_schema())
}

fn edit_file(out: &mut Builder, random: &mut Random) -> (&'static str, Value) {
    out.text("file", content::reference(random));
    out.text("old_text", content::file(random));
    out.text("new_text", content::file(random));
    let schema = json!({
        "type": "object",
        "properties": {
            "file": {"type": "string"},
            "old_text": {"type": "string"},
            "new_text": {"type": "string"},
            "count": {"type": "integer"},
        },
        "required": ["file", "old_text", "new_text"],
    });
    ("edit_file", schema)
}

fn list_folder(out: &mut Builder, random: &mut Random) -> (&'static str, Value) {
    out.text("folder", content::folder(random));
    out.bare("depth", &random.below(9).to_string());
    if random.once_in(2) {
        out.bare("hidden", random.pick(&["true", "false"]));
    }
    let schema = json!({
        "type": "object",
        "properties": {
            "folder": {"type": "string"},
            "depth": {"type": "integer"},
            "hidden": {"type": "boolean"},
        },
        "required": ["folder"],
    });
    ("list_folder", schema)
}

fn query(out: &mut Builder, random: &mut Random) -> (&'static str, Value) {
    out.text("table", content::word(random));
    out.member("where");
    out.open('{');
    out.text("column", content::word(random));
    out.text("is", content::phrase(random));
    out.bare("negated", random.pick(&["true", "false", "null"]));
    out.close('}');
    out.texts("columns", vec![content::word(random), content::word(random)]);
    out.bare("first", &random.between(1, 90).to_string());
    let schema = json!({
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "where": {
                "type": "object",
                "properties": {
                    "column": {"type": "string"},
                    "is": {"type": "string"},
                    "negated": {"type": ["boolean", "null"]},
                },
                "required": ["column", "is"],
            },
            "columns": {"type": "array", "items": {"type": "string"}},
            "first": {"type": "integer"},
        },
        "required": ["table", "where"],
    });
    ("query", schema)
}

/// Short texts with one quote each: inches and abbreviations.
fn order(out: &mut Builder, random: &mut Random) -> (&'static str, Value) {
    out.text("item", content::measure(random));
    out.text("note", content::measure(random));
    if random.once_in(2) {
        out.bare("amount", &random.between(1, 90).to_string());
    }
    out.texts("parts", vec![content::measure(random), content::measure(random)]);
    if random.once_in(2) {
        out.text("unit", content::measure(random));
    }
    let schema = json!({
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "note": {"type": "string"},
            "amount": {"type": "integer"},
            "parts": {"type": "array", "items": {"type": "string"}},
            "unit": {"type": "string"},
        },
        "required": ["item"],
    });
    ("order", schema)
}

/// Arrays of numbers, also nested and empty ones.
fn move_rows(out: &mut Builder, random: &mut Random) -> (&'static str, Value) {
    let count = |random: &mut Random| random.between(1, 900).to_string();
    let ids = (0..random.between(1, 4)).map(|_| count(random)).collect();
    out.numbers("ids", ids);
    out.member("blocks");
    out.open('[');
    for size in [random.below(3), 2] {
        out.separate();
        out.array((0..size).map(|_| Token::Bare(count(random))));
    }
    out.close(']');
    let weights = (0..random.between(1, 3)).map(|_| random.pick(&["0.5", "-2.25", "1e3", "12"]).to_owned());
    out.numbers("weights", weights.collect());
    out.text("table", content::word(random));
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    let schema = json!({
        "type": "object",
        "properties": {
            "ids": integers,
            "blocks": {"type": "array", "items": integers},
            "weights": {"type": "array", "items": {"type": "number"}},
            "table": {"type": "string"},
        },
        "required": ["ids", "table"],
        "additionalProperties": false,
    });
    ("move_rows", schema)
}
