//! The reader, the escaper and the unescaper agree with `serde_json` on random text.

use proptest::prelude::*;
use serde_json::Value;
use toolmend_json::strict::{self, MAX_DEPTH};
use toolmend_json::text::{escape_into, quote, quote_into_bytes, unquote};
use toolmend_json::tree::Tree;
use toolmend_json::{Document, DocumentMemory, Edits, Kind, TextBuffer, ValueRef, value};

/// Pieces that JSON consists of, and pieces that break it. All numbers fit a float, because `serde_json` asks for that.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec!["{", "}", "[", "]", ",", ":", " ", "\n", "\t"]),
        6 => prop::sample::select(vec!["\"a\"", "\"\"", "\"key\":", "\"a longer string than one vector has\""]),
        4 => prop::sample::select(vec!["0", "-1", "1.5", "2e3", "1E-400", "01", "1.", "-", "+1", ".5"]),
        3 => prop::sample::select(vec!["true", "false", "null", "nul", "True"]),
        3 => prop::sample::select(vec!["\"", "\\", "\"\\n\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\\x\"", "é"]),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Valid values of any shape.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a\"\\\\\n\u{1}é]{0,200}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-d\"\\\\é]{0,20}", inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The spelling of a string without its quotes: plain text, escapes, and broken escapes.
fn spellings() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-zé€😀/]{1,30}",
        6 => prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t"]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["\\u0041", "\\u00E9", "\\u20ac", "\\ud83d\\ude00", "\\u0000"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["\\ud83d", "\\ude00", "\\u12", "\\u12g4", "\\x", "\\U"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// The value that a document means, assembled from its parts.
fn meaning(part: ValueRef<'_>) -> Value {
    match part.kind() {
        Kind::Array => part.items().map(meaning).collect(),
        Kind::Object => {
            Value::Object(part.items().map(|item| (item.key().into_owned(), meaning(item))).collect())
        }
        Kind::String => part.text().unwrap().into_owned().into(),
        _ => part.value().unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_reader_accepts_what_serde_json_accepts(text in pieces()) {
        let accepted = strict::check(&text, MAX_DEPTH).is_ok();
        prop_assert_eq!(accepted, serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        prop_assert_eq!(Tree::parse(&text, MAX_DEPTH).is_ok(), accepted);
        // A document is at least as lenient.
        prop_assert!(!accepted || Document::parse(&text.as_str()).is_some(), "{}", text);
    }

    #[test]
    fn the_reader_accepts_what_serde_json_accepts_of_damaged_json(
        value in values(),
        position: prop::sample::Index,
        removed in 0..3_usize,
        added in prop::sample::select(vec!["", ",", "\"", "\\", "}", "]", "1", " ", "\u{1}"]),
    ) {
        let mut characters: Vec<char> = value.to_string().chars().collect();
        let at = position.index(characters.len());
        let end = (at + removed).min(characters.len());
        characters.splice(at..end, added.chars());
        let text: String = characters.into_iter().collect();
        let accepted = strict::check(&text, MAX_DEPTH).is_ok();
        match serde_json::from_str::<Value>(&text) {
            // The one deliberate difference: a number need not fit a float.
            Err(error) if error.to_string().starts_with("number out of range") => {}
            other => prop_assert_eq!(accepted, other.is_ok(), "{}", text),
        }
        prop_assert!(!accepted || Document::parse(&text.as_str()).is_some(), "{}", text);
    }

    #[test]
    fn a_document_judges_nothing_but_the_structure(spelling in spellings(), number in "[-+.eE0-9]{0,6}") {
        let text = format!("{{\"{spelling}\":[\"{spelling}\",-{number}]}}");
        let document = Document::parse(&text.as_str()).unwrap();
        let member = document.root().items().next().unwrap();
        prop_assert_eq!(member.raw(), format!("[\"{spelling}\",-{number}]"));
        let string = member.items().next().unwrap();
        prop_assert_eq!(string.text().map(String::from), serde_json::from_str(string.raw()).ok());
    }

    #[test]
    fn all_readings_of_a_value_are_the_same(expected in values(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&expected) } else { serde_json::to_string(&expected) };
        let text = text.unwrap();
        prop_assert_eq!(strict::check(&text, MAX_DEPTH), Ok(()));
        // White space makes it long enough to be read by the reader of this crate.
        for text in [text.clone(), format!("{}{text}", " ".repeat(2_000))] {
            prop_assert_eq!(value::parse(&text), serde_json::from_str(&text).ok());
            let tree = Tree::parse(&text, MAX_DEPTH).unwrap();
            prop_assert_eq!(tree.value(), serde_json::from_str(&text).ok());
            for id in 0..tree.nodes.len() {
                prop_assert_eq!(tree.find(&tree.pointer(id)), Some(id));
            }
        }
        let document = Document::parse(&text.as_str()).unwrap();
        prop_assert_eq!(Some(meaning(document.root())), serde_json::from_str(&text).ok());
    }

    #[test]
    fn nodes_of_trees_and_documents_are_the_same(expected in values()) {
        let text = expected.to_string();
        let tree = Tree::of_strict(&text);
        let document = Document::parse(&text.as_str()).unwrap();
        let mut open = vec![(0, document.root())];
        while let Some((id, part)) = open.pop() {
            prop_assert_eq!((tree.nodes[id].kind, tree.nodes[id].span.clone()), (part.kind(), part.span()));
            prop_assert_eq!(tree.key(id).unwrap_or_default(), part.key());
            prop_assert_eq!(tree.children(id).count(), part.items().count());
            open.extend(tree.children(id).zip(part.items()));
        }
    }

    #[test]
    fn escaping_is_that_of_serde_json_and_unescaping_is_its_inverse(
        text in prop_oneof![any::<String>(), "[a-z\"\\\\\n\u{0}-\u{1f}é😀]{0,300}"],
    ) {
        let quoted = quote(&text);
        prop_assert_eq!(&quoted, &serde_json::to_string(&text).unwrap());
        prop_assert_eq!(unquote(&quoted), text.as_str());
        let (mut bytes, mut escaped) = (Vec::new(), String::from("\""));
        quote_into_bytes(&mut bytes, &text);
        prop_assert_eq!(&bytes, quoted.as_bytes());
        escape_into(&mut escaped, &text);
        prop_assert_eq!(escaped + "\"", quoted.clone());
        let mut edits = Edits::default();
        edits.replace_quoted(0..1, &text);
        prop_assert_eq!(edits.apply("x"), quoted);
    }

    #[test]
    fn unescaping_is_that_of_serde_json(spellings in prop::collection::vec(spellings(), 1..4)) {
        let mut buffer = TextBuffer::default();
        let mut memory = DocumentMemory::decoding("text");
        for spelling in spellings {
            let literal = format!("\"{spelling}\"");
            let expected = serde_json::from_str::<String>(&literal).ok();
            prop_assert_eq!(buffer.unescape(spelling.as_bytes()), expected.as_deref(), "{}", spelling);
            if let Some(expected) = &expected {
                prop_assert_eq!(unquote(&literal), expected.as_str());
            }
            // Decoded while the document is read, it is the same.
            let row = format!("[{{\"text\":\"{spelling}\"}},{{\"text\":\"{spelling}\",\"more\":1}}]");
            if let Some(document) = Document::parse_in(&row.as_str(), &mut memory) {
                for item in document.root().items() {
                    let text = item.get("text").and_then(|text| text.text_in(&mut buffer).map(str::to_owned));
                    prop_assert_eq!(text, expected.clone());
                }
                document.recycle(&mut memory);
            } else {
                prop_assert_eq!(expected, None);
            }
        }
    }
}
