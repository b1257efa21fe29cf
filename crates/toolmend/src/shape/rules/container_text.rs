//! An object or array where text is wanted: a JSON file, or the JSON body of a request, that was not written as a string.
//!
//! Only the name of the field and its neighbours show that JSON is the text. Then the text is what the model wrote.

use crate::json::text::quote;
use crate::json::tree::Kind;
use crate::repair::RepairKind;
use crate::schema::guide::{Types, fold};
use crate::shape::mismatch::{Change, Mismatch};

use super::wrapper;

/// Fields that hold the text of a file, folded, and fields that name the file.
const CONTENTS: [&str; 9] =
    ["content", "contents", "text", "filetext", "filecontent", "filecontents", "body", "data", "json"];
const FILES: [&str; 7] = ["path", "file", "filepath", "filename", "absolutepath", "targetfile", "name"];
/// Fields that hold the body of a request, folded, and fields that name its receiver.
const BODIES: [&str; 5] = ["body", "payload", "requestbody", "data", "json"];
const ADDRESSES: [&str; 4] = ["url", "uri", "endpoint", "href"];
/// Extensions of files that hold JSON.
const JSON_EXTENSIONS: [&str; 8] =
    ["json", "jsonc", "json5", "geojson", "ipynb", "webmanifest", "prettierrc", "eslintrc"];

/// Whether the value is an object or array, and its JSON is the text that is wanted.
pub(super) fn is_wanted_as_text(mismatch: &Mismatch<'_>) -> bool {
    let is_container = matches!(mismatch.kind(), Kind::Object | Kind::Array);
    let takes_container = mismatch.wants(Types::OBJECT) || mismatch.wants(Types::ARRAY);
    if !is_container || !mismatch.wants(Types::STRING) || takes_container {
        return false;
    }
    let tree = mismatch.tree;
    let (Some(key), Some(object)) = (tree.key(mismatch.id), mismatch.node().parent) else { return false };
    let key = fold(&key);
    let neighbour = |names: &[&str], is_fit: fn(&str) -> bool| {
        tree.children(object).any(|member| {
            let is_named = tree.key(member).is_some_and(|key| names.contains(&fold(&key).as_str()));
            is_named && tree.string(member).is_some_and(|text| is_fit(&text))
        })
    };
    let is_file = CONTENTS.contains(&key.as_str()) && neighbour(&FILES, is_json_file);
    is_file || (BODIES.contains(&key.as_str()) && neighbour(&ADDRESSES, |text| text.contains("://")))
}

fn is_json_file(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| JSON_EXTENSIONS.contains(&extension.to_lowercase().as_str()))
}

/// `{"path": "a.json", "content": {"x": 1}}`: the content becomes its own text. An object that may only wrap the text, and a
/// list of one text, have two readings.
// Case: shape/object-for-json-file, shape/object-for-text
pub(super) fn container_to_text(mismatch: &Mismatch<'_>) -> Option<Change> {
    if !is_wanted_as_text(mismatch) {
        return None;
    }
    let is_list_of_text = mismatch.kind() == Kind::Array
        && mismatch.only_child().is_some_and(|only| mismatch.tree.nodes[only].kind == Kind::String);
    let is_doubtful = is_list_of_text || wrapper::wrapped_value(mismatch.tree, mismatch.id).is_some();
    (!is_doubtful).then(|| mismatch.replace(quote(mismatch.source()), RepairKind::ContainerToText))
}
