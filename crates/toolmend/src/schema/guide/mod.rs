//! The guide: what a schema says about one position in a value.
//!
//! It is a hint, not a judge. Unions are merged, so a position knows every key and type that some branch allows. It never
//! says whether a whole value fits: that is up to the validator.

mod compile;

use serde_json::Value;

use super::hints::Semantic;
use crate::json::tree::Kind;

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl From<Kind> for Types {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Null => Types::NULL,
            Kind::Bool => Types::BOOLEAN,
            Kind::Number => Types::NUMBER,
            Kind::String => Types::STRING,
            Kind::Array => Types::ARRAY,
            Kind::Object => Types::OBJECT,
        }
    }
}

impl Types {
    pub(crate) const NULL: Types = Types(1);
    pub(crate) const BOOLEAN: Types = Types(2);
    pub(crate) const NUMBER: Types = Types(4);
    pub(crate) const STRING: Types = Types(8);
    pub(crate) const ARRAY: Types = Types(16);
    pub(crate) const OBJECT: Types = Types(32);
    /// A number that need not be whole. Never without [`Types::NUMBER`].
    pub(crate) const FRACTION: Types = Types(64);
    pub(crate) const ALL: Types = Types(127);
    pub(crate) const NONE: Types = Types(0);

    /// Whether one of the other types is among these.
    pub(crate) const fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn union(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    const fn intersection(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(crate) fn named(name: &str) -> Types {
        match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "number" => Types::NUMBER.union(Types::FRACTION),
            "integer" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            _ => Types::NONE,
        }
    }

    fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            Value::Number(number) if number.is_f64() => Types::NUMBER.union(Types::FRACTION),
            Value::Number(_) => Types::NUMBER,
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        }
    }
}

/// A position in the schema. Nothing is known about [`SchemaPosition::ANY`], and everything is allowed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaPosition(u32);

impl SchemaPosition {
    pub(crate) const ANY: SchemaPosition = SchemaPosition(u32::MAX);
}

/// A declared property.
#[derive(Debug)]
struct Property {
    name: Box<str>,
    /// The name without case and separators, which models vary.
    folded: Box<str>,
    position: SchemaPosition,
}

/// Everything known about one position.
#[derive(Debug)]
struct Node {
    types: Types,
    properties: Vec<Property>,
    /// The first letters of the folded names, as bits. They rule out most words that are looked up.
    initials: u64,
    /// Bits of the required properties, for the first 128.
    required: u128,
    /// Whether undeclared keys are allowed.
    open: bool,
    additional: SchemaPosition,
    prefix: Vec<SchemaPosition>,
    items: SchemaPosition,
    /// The strings of `enum` and `const`; empty if there is no such list.
    words: Vec<Box<str>>,
    /// What the value means to its tool, if a hint says so.
    semantic: Option<Semantic>,
    /// The declared default, as JSON text; absent if branches declare different ones.
    default: Option<Box<str>>,
}

impl Node {
    /// Whether no declared name starts with the first letter or digit of this key.
    fn is_unlike(&self, key: &str) -> bool {
        let first = key.bytes().find(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        first.and_then(initial_bit).is_some_and(|bit| self.initials & bit == 0)
    }

    /// How a key that is not declared relates to this object.
    fn undeclared_fit(&self) -> KeyFit {
        if self.additional == SchemaPosition::ANY { KeyFit::Undeclared } else { KeyFit::Unknown }
    }
}

/// The letters and digits that some names start with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Initials(u64);

impl Initials {
    pub(crate) fn union(self, other: Initials) -> Initials {
        Initials(self.0 | other.0)
    }

    /// Whether a name starts with this letter or digit, whatever its case.
    pub(crate) fn has(self, first: u8) -> bool {
        initial_bit(first).is_some_and(|bit| self.0 & bit != 0)
    }
}

/// The bit of a name's first letter or digit; `None` beyond ASCII.
fn initial_bit(first: u8) -> Option<u64> {
    first.is_ascii_alphanumeric().then(|| 1 << (first.to_ascii_lowercase() & 63))
}

/// A schema as the reader sees it.
#[derive(Debug, Default)]
pub(crate) struct Guide {
    nodes: Vec<Node>,
}

/// How a key relates to the object it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyFit {
    /// Declared, with its index.
    Declared(usize),
    /// Not declared, in an object whose keys are declared.
    Undeclared,
    /// Nothing is known about the keys of this object.
    Unknown,
}

impl Guide {
    pub(crate) fn new(schema: &Value) -> Self {
        compile::compile(schema)
    }

    pub(crate) fn root(&self) -> SchemaPosition {
        if self.nodes.is_empty() { SchemaPosition::ANY } else { SchemaPosition(0) }
    }

    fn node(&self, position: SchemaPosition) -> Option<&Node> {
        self.nodes.get(position.0 as usize)
    }

    pub(crate) fn types(&self, position: SchemaPosition) -> Types {
        self.node(position).map_or(Types::ALL, |node| node.types)
    }

    /// Finds the declared property that this key means: by its exact name, otherwise by its folded one.
    pub(crate) fn match_key(&self, position: SchemaPosition, key: &str) -> KeyFit {
        let Some(node) = self.node(position) else { return KeyFit::Unknown };
        if node.properties.is_empty() {
            return KeyFit::Unknown;
        }
        if node.is_unlike(key) {
            return node.undeclared_fit();
        }
        if let Some(index) = node.properties.iter().position(|property| &*property.name == key) {
            return KeyFit::Declared(index);
        }
        // What is much longer than every name is text, and its letters need not be compared.
        let longest = node.properties.iter().map(|property| property.folded.len()).max().unwrap_or(0);
        if key.len() > 4 * longest + MAX_SEPARATORS {
            return node.undeclared_fit();
        }
        let letters = key.bytes().filter(u8::is_ascii_alphanumeric).count();
        let wide = (!key.is_ascii()).then(|| fold(key));
        let same_letters = |folded: &str| {
            if let Some(wide) = &wide {
                return folded == wide;
            }
            let key = key.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
            folded.len() == letters && folded.bytes().eq(key)
        };
        let mut matches =
            node.properties.iter().enumerate().filter(|(_, property)| same_letters(&property.folded));
        match (matches.next(), matches.next()) {
            (Some((index, _)), None) => KeyFit::Declared(index),
            _ => node.undeclared_fit(),
        }
    }

    /// The first letters of the declared names of an object, without the properties of these bits. `None` if a key that
    /// starts differently could mean something as well.
    pub(crate) fn initials(&self, position: SchemaPosition, without: u128) -> Option<Initials> {
        let Some(node) = self.node(position) else { return Some(Initials(0)) };
        if node.additional != SchemaPosition::ANY || node.initials == u64::MAX {
            return None;
        }
        let left = node
            .properties
            .iter()
            .enumerate()
            .filter(|(index, _)| *index >= 128 || without >> index & 1 == 0);
        let bits = left.filter_map(|(_, property)| initial_bit(*property.folded.as_bytes().first()?));
        Some(Initials(bits.fold(0, |all, bit| all | bit)))
    }

    /// The position of the value under this key.
    pub(crate) fn member(&self, position: SchemaPosition, key: &str) -> SchemaPosition {
        match (self.node(position), self.match_key(position, key)) {
            (Some(node), KeyFit::Declared(index)) => node.properties[index].position,
            (Some(node), _) => node.additional,
            (None, _) => SchemaPosition::ANY,
        }
    }

    /// The position of the array element with this index.
    pub(crate) fn element(&self, position: SchemaPosition, index: usize) -> SchemaPosition {
        self.node(position)
            .map_or(SchemaPosition::ANY, |node| node.prefix.get(index).copied().unwrap_or(node.items))
    }

    /// Whether the keys of this object are declared.
    pub(crate) fn declares(&self, position: SchemaPosition) -> bool {
        self.node(position).is_some_and(|node| !node.properties.is_empty())
    }

    /// Whether this key means a declared property.
    pub(crate) fn declares_key(&self, position: SchemaPosition, key: &str) -> bool {
        matches!(self.match_key(position, key), KeyFit::Declared(_))
    }

    /// Bits of the required properties.
    pub(crate) fn required(&self, position: SchemaPosition) -> u128 {
        self.node(position).map_or(0, |node| node.required)
    }

    /// Whether an undeclared key is an error here.
    pub(crate) fn is_closed(&self, position: SchemaPosition) -> bool {
        self.node(position).is_some_and(|node| !node.open)
    }

    /// Whether any position of the schema carries a hint about the meaning of its value.
    pub(crate) fn has_semantics(&self) -> bool {
        self.nodes.iter().any(|node| node.semantic.is_some())
    }

    /// What the value in this position means to its tool, if a hint says so.
    pub(crate) fn semantic(&self, position: SchemaPosition) -> Option<Semantic> {
        self.node(position)?.semantic
    }

    /// The default that the schema declares for this position, as JSON text.
    pub(crate) fn declared_default(&self, position: SchemaPosition) -> Option<&str> {
        self.node(position)?.default.as_deref()
    }

    /// Whether only listed strings are allowed here.
    pub(crate) fn has_list(&self, position: SchemaPosition) -> bool {
        self.node(position).is_some_and(|node| !node.words.is_empty())
    }

    /// Whether `word` is one of the listed strings here.
    pub(crate) fn lists(&self, position: SchemaPosition, word: &str) -> bool {
        self.node(position).is_some_and(|node| node.words.iter().any(|known| &**known == word))
    }

    /// The names of the declared properties, with whether each is required.
    pub(crate) fn properties(
        &self,
        position: SchemaPosition,
    ) -> impl Iterator<Item = (&str, SchemaPosition, bool)> + '_ {
        self.node(position).into_iter().flat_map(|node| {
            node.properties.iter().enumerate().map(|(index, property)| {
                (&*property.name, property.position, index < 128 && node.required >> index & 1 == 1)
            })
        })
    }
}

/// The characters of a key without case and separators: `userId`, `user-id` and `User Id` are alike.
pub(crate) fn fold_chars(key: &str) -> impl Iterator<Item = char> + '_ {
    key.chars().filter(|ch| ch.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// A key has no more separators than this, in bytes.
const MAX_SEPARATORS: usize = 128;

/// A key without case and separators.
pub(crate) fn fold(key: &str) -> String {
    fold_chars(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_and_unions_are_merged() {
        let guide = Guide::new(&json!({
            "$defs": {"Item": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Item"}}}},
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                "either": {"anyOf": [{"type": "string", "enum": ["on", "off"]}, {"type": "null"}]},
            },
            "allOf": [{"required": ["items"]}],
            "additionalProperties": false,
        }));
        let root = guide.root();
        assert_eq!(guide.match_key(root, "items"), KeyFit::Declared(1), "properties are sorted by name");
        assert_eq!(guide.required(root), 0b10);
        assert!(guide.is_closed(root));
        let item = guide.element(guide.member(root, "items"), 3);
        assert_eq!(guide.types(guide.member(item, "name")), Types::STRING);
        let deep = guide.member(guide.member(item, "next"), "next");
        assert_eq!(guide.types(guide.member(deep, "name")), Types::STRING);
        let either = guide.member(root, "either");
        assert!(guide.types(either).has(Types::NULL) && guide.types(either).has(Types::STRING));
        assert!(guide.lists(either, "on") && !guide.lists(either, "maybe"));
    }

    #[test]
    fn keys_are_known_by_their_letters() {
        let guide = Guide::new(&json!({"properties": {"user_id": {}, "a": {}, "A": {}}}));
        let at = |key| guide.match_key(guide.root(), key);
        assert_eq!(at("userId"), at("user_id"));
        assert_eq!(at("USER-ID"), at("user_id"));
        assert_eq!(at("userI"), KeyFit::Undeclared);
        assert_ne!(at("a"), at("A"), "an exact name wins");
    }

    #[test]
    fn without_a_schema_everything_is_allowed() {
        let guide = Guide::default();
        assert_eq!(guide.match_key(guide.root(), "x"), KeyFit::Unknown);
        assert_eq!(guide.types(guide.root()), Types::ALL);
    }
}
