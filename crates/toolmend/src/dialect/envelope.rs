//! JSON objects that name the tool they call: `{"name": …, "arguments": …}` and its many relatives.
//!
//! This module finds the name, the id and the arguments of calls in strict JSON, and the name in JSON that is not
//! strict. It never repairs JSON and never validates arguments.

use std::ops::Range;

use super::beside_arguments::{self, Beside};
use super::raw_call::RawArguments;
use crate::json::text;
use crate::json::tree::{Kind, Tree};
use crate::text_parts::first_part;
use crate::verdict::Reason;

pub(super) const NAME_KEYS: &[&str] = &[
    "name",
    "tool_name",
    "tool",
    "function",
    "function_name",
    "func",
    "action",
    "recipient_name",
    "tool_call",
    "toolName",
];
const ARGUMENT_KEYS: &[&str] = &[
    "arguments",
    "parameters",
    "args",
    "input",
    "params",
    "kwargs",
    "action_input",
    "tool_input",
    "tool_args",
    "tool_arguments",
    "arg",
    "argument",
    "parameter",
];
const ID_KEYS: &[&str] = &["id", "call_id", "tool_call_id", "tool_use_id"];
/// Keys whose value is a call.
const CALL_KEYS: &[&str] = &[
    "function",
    "function_call",
    "functionCall",
    "tool_call",
    "toolCall",
    "tool_use",
    "toolUse",
    "call",
    "tool",
    "name",
];
/// Keys whose value is a list of calls.
const LIST_KEYS: &[&str] = &["tool_calls", "tool_uses", "calls", "toolCalls", "function_calls"];
/// Keys that a call has once.
const PARTS: [&[&str]; 4] = [NAME_KEYS, ARGUMENT_KEYS, CALL_KEYS, LIST_KEYS];
/// Keys beside the name that are not arguments, unless the tool declares them.
pub(super) const SIDE_KEYS: &[&str] =
    &["id", "call_id", "tool_call_id", "tool_use_id", "type", "index", "role", "thought", "content"];
/// Those of them that are not arguments of a tool about which nothing is known.
const PLAIN_SIDE_KEYS: &[&str] = &["id", "call_id", "tool_call_id", "tool_use_id", "type"];
/// Those of them that never are arguments if they are beside the arguments.
pub(super) const ENVELOPE_KEYS: &[&str] =
    &["id", "call_id", "tool_call_id", "tool_use_id", "type", "index", "role"];

/// Keys of records of calls, and of declarations.
pub(super) const RECORD_KEYS: &[&str] = &[
    "status",
    "state",
    "result",
    "results",
    "output",
    "response",
    "error",
    "approved",
    "allowed",
    "denied",
    "success",
    "description",
    "timestamp",
    "duration",
    "duration_ms",
    "returns",
];

/// Authors of messages with calls.
const CALLERS: &[&str] = &["assistant", "model", "ai", "agent", "bot"];
/// Kinds of objects that are calls.
const CALL_KINDS: &[&str] = &["function", "tool", "call", "action", "custom", "use", "invoke", "mcp"];

/// Why a call without a key for its arguments is refused.
const BURIED: &str = "the key of the arguments is unknown, so they may be one argument or all of them";

/// What a reader of envelopes asks about tools.
#[derive(Clone, Copy)]
pub(crate) struct KnownTools<'a> {
    /// Whether a declared tool has this name.
    pub(crate) named: &'a dyn Fn(&str) -> bool,
    /// Whether the tool declares this argument. `None` if its arguments are not known.
    pub(crate) declares: &'a dyn Fn(&str, &str) -> Option<bool>,
}

/// Whether an object that may be a call can begin with this key.
pub(crate) fn is_call_key(key: &str) -> bool {
    [NAME_KEYS, ARGUMENT_KEYS, ID_KEYS, CALL_KEYS, LIST_KEYS, SIDE_KEYS]
        .iter()
        .any(|keys| keys.contains(&key))
        || matches!(key, "jsonrpc" | "method")
}

/// How deep calls may be nested in wrappers.
const MAX_NESTING: usize = 6;

/// One call inside an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnvelopeCall {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) arguments: RawArguments,
    /// Arguments are beside the name instead of under a key of their own.
    // Case: dialects/hermes_json/malformed-flat
    pub(crate) flat: bool,
    /// There is no key for arguments.
    pub(crate) bare: bool,
    /// There are members that no call has, as in a record of a call or in a declaration.
    pub(crate) foreign: bool,
    /// Where the call is.
    pub(crate) at: Range<usize>,
}

impl EnvelopeCall {
    /// A call whose arguments have a place of their own.
    fn new(name: String, id: Option<String>, arguments: RawArguments, at: Range<usize>) -> Self {
        EnvelopeCall { name, id, arguments, flat: false, bare: false, foreign: false, at }
    }
}

/// What an object is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Calls, and the content of the message around them.
    Calls(Vec<EnvelopeCall>, Option<String>),
    /// The declaration of the tool of this name. It is not a call.
    Declaration(String),
    /// Two names, or two sets of arguments, that disagree, so the call is ambiguous.
    Ambiguous(String),
    /// Something else.
    Other,
}

/// Reads a strict object. `base` is added to every position.
///
/// `keyed`: the name of the tool may be the only key.
pub(crate) fn read(json: &str, base: usize, keyed: bool, known: KnownTools<'_>) -> Reading {
    let Ok(tree) = Tree::parse(json, crate::json::strict::MAX_DEPTH) else { return Reading::Other };
    let reader = Reader { tree: &tree, base, keyed, known };
    let mut calls = Vec::new();
    match reader.read_node(0, 0, &mut calls) {
        Lookup::Yes if !calls.is_empty() => Reading::Calls(calls, message_content(&tree)),
        Lookup::Declaration(name) => Reading::Declaration(name),
        Lookup::Ambiguous(name) => Reading::Ambiguous(name),
        _ => Reading::Other,
    }
}

/// The content of the message around the calls, in the wire formats that have room for it.
fn message_content(tree: &Tree<'_>) -> Option<String> {
    let message =
        tree.nodes[0].kind == Kind::Object && LIST_KEYS.iter().any(|key| tree.member(0, key).is_some());
    let text = tree.member(0, "content").filter(|_| message).and_then(|child| tree.string(child))?;
    (!text.trim().is_empty()).then(|| text.into_owned())
}

enum Lookup {
    Yes,
    No,
    Declaration(String),
    Ambiguous(String),
}

struct Reader<'a, 't> {
    tree: &'a Tree<'t>,
    base: usize,
    keyed: bool,
    known: KnownTools<'a>,
}

impl Reader<'_, '_> {
    fn read_node(&self, id: usize, depth: usize, out: &mut Vec<EnvelopeCall>) -> Lookup {
        if depth > MAX_NESTING {
            return Lookup::No;
        }
        match self.tree.nodes[id].kind {
            Kind::Array => {
                for child in self.tree.children(id) {
                    match self.read_node(child, depth + 1, out) {
                        Lookup::Yes => {}
                        other => return other,
                    }
                }
                Lookup::Yes
            }
            Kind::Object => self.read_object(id, depth, out),
            // A call in a string: the wire format of some hosts.
            Kind::String if depth > 0 => {
                let inner = self.tree.string(id).unwrap_or_default();
                let at = self.span_of(id);
                match read(&inner, 0, self.keyed, self.known) {
                    Reading::Calls(calls, _) => {
                        out.extend(calls.into_iter().map(|call| lift_out_of_string(call, &inner, &at)));
                        Lookup::Yes
                    }
                    _ => Lookup::No,
                }
            }
            _ => Lookup::No,
        }
    }

    fn read_object(&self, id: usize, depth: usize, out: &mut Vec<EnvelopeCall>) -> Lookup {
        if self.declares(id) {
            let name = self.member(id, "name").or_else(|| self.member(self.member(id, "function")?, "name"));
            let name = name.and_then(|name| self.tree.string(name)).unwrap_or_default();
            return Lookup::Declaration(name.into_owned());
        }
        if self.contradicts(id) {
            let name = NAME_KEYS.iter().find_map(|key| self.tree.string(self.member(id, key)?));
            return Lookup::Ambiguous(name.unwrap_or_default().into_owned());
        }
        if let Some(list) = LIST_KEYS.iter().find_map(|key| self.member(id, key))
            && self.tree.nodes[list].kind == Kind::Array
            && self.tree.nodes[list].after > list + 1
        {
            return self.read_node(list, depth + 1, out);
        }
        // MCP: the call is the parameters of a method.
        // Case: dialects/wire_json/mcp
        if self
            .member(id, "method")
            .and_then(|method| self.tree.string(method))
            .is_some_and(|m| m == "tools/call")
            && let Some(params) = self.member(id, "params")
        {
            return self.read_node(params, depth + 1, out);
        }
        let name = NAME_KEYS.iter().find_map(|key| {
            self.member(id, key).filter(|&child| self.tree.nodes[child].kind == Kind::String)
        });
        let nested = CALL_KEYS.iter().find_map(|key| {
            self.member(id, key)
                .filter(|&child| self.tree.nodes[child].kind == Kind::Object && self.names_a_call(child))
        });
        if let Some(nested) = nested {
            let before = out.len();
            let found = self.read_node(nested, depth + 1, out);
            // The call is ambiguous if two names disagree.
            // Case: dialects/hostile/two-names
            if let (Some(name), Some(call)) = (name, out.get(before)) {
                let own = self.tree.string(name).unwrap_or_default();
                if !matches!(&*own, "function") && own != call.name {
                    out.truncate(before);
                    return Lookup::Ambiguous(own.into_owned());
                }
            }
            if let Some(call) = out.get(before)
                && self.has_argument_outside(id, nested, &call.name)
            {
                let name = call.name.clone();
                out.truncate(before);
                return Lookup::Ambiguous(name);
            }
            if let (Some(call), Some(own)) = (out.get_mut(before), self.id(id)) {
                call.id.get_or_insert(own);
            }
            let is_other_kind = self.is_other_kind(id);
            out[before..].iter_mut().for_each(|call| call.foreign |= is_other_kind);
            // Arguments beside a nested name belong to it.
            if let (Some(call), Some(arguments)) = (out.get_mut(before), self.arguments(id))
                && call.bare
            {
                call.arguments = arguments;
                call.bare = false;
            }
            return found;
        }
        match name {
            Some(name) => self.read_call(id, name, out),
            None => self.read_by_type_or_key(id, out),
        }
    }

    /// Reads the call of an object that has a name.
    fn read_call(&self, id: usize, name: usize, out: &mut Vec<EnvelopeCall>) -> Lookup {
        let called = self.tree.string(name).unwrap_or_default().into_owned();
        // In `{"type": "function", "function": "f"}` the name is under `function`. A bare `"function"` is a kind, not a
        // name.
        if let Some(several) = self.argument_sets(id) {
            let call = |(arguments, at)| EnvelopeCall::new(called.clone(), None, arguments, at);
            out.extend(several.into_iter().map(call));
            return Lookup::Yes;
        }
        let call_id = self.id(id).filter(|_| !ID_KEYS.iter().any(|key| self.is_argument(id, &called, key)));
        if let Some(arguments) = self.arguments(id).filter(|_| !self.holds_own_argument(id, &called)) {
            let (arguments, flat) = match self.look_beside(id, &called) {
                Beside::Nothing => (arguments, false),
                Beside::Arguments(joined) => (RawArguments::Decoded(joined, self.span_of(id)), true),
                Beside::Contradiction => return Lookup::Ambiguous(called),
            };
            let foreign = self.has_foreign_member(id);
            let call = EnvelopeCall::new(called, self.id(id), arguments, self.span_of(id));
            out.push(EnvelopeCall { flat, foreign, ..call });
            return Lookup::Yes;
        }
        let others: Vec<usize> = self
            .tree
            .children(id)
            .filter(|&child| child != name)
            .filter(|&child| self.tree.key(child).is_some_and(|key| !self.is_beside(&called, &key)))
            .collect();
        if self.buries_arguments(&called, &others) {
            let refused = RawArguments::Refused(Reason::Ambiguous, BURIED);
            out.push(EnvelopeCall::new(called, call_id, refused, self.span_of(id)));
            return Lookup::Yes;
        }
        let bare = others.is_empty();
        let mut flat = String::from("{");
        for child in &others {
            if flat.len() > 1 {
                flat.push_str(", ");
            }
            flat.push_str(&self.tree.text[self.tree.start(*child)..self.tree.nodes[*child].span.end]);
        }
        flat.push('}');
        let arguments = RawArguments::Decoded(flat, self.span_of(id));
        let call = EnvelopeCall::new(called, call_id, arguments, self.span_of(id));
        let is_argument = |key| self.is_argument(id, &call.name, key);
        let foreign = !is_argument("role") && !is_argument("type") && self.is_other_kind(id);
        out.push(EnvelopeCall { flat: !bare, bare, foreign, ..call });
        Lookup::Yes
    }

    /// Whether a member that the tool does not declare may hold all arguments under a key that is not theirs. Beside a member
    /// that the tool declares, it is an argument like that one.
    // Case: dialects/hermes_json/key-of-the-arguments-misspelt
    fn buries_arguments(&self, tool: &str, members: &[usize]) -> bool {
        let declares = |&member: &usize| (self.known.declares)(tool, &self.tree.key(member)?);
        members.iter().all(|member| declares(member) == Some(false))
            && members.iter().any(|&member| {
                matches!(self.tree.nodes[member].kind, Kind::Object | Kind::Array)
                    || self.encodes_object(member)
            })
    }

    /// Whether a member is a string with an object in it.
    fn encodes_object(&self, member: usize) -> bool {
        self.tree.string(member).is_some_and(|text| text.trim_start().starts_with('{'))
    }

    /// Looks at the members beside the arguments of a call.
    fn look_beside(&self, id: usize, called: &str) -> Beside {
        let Some(arguments) = self.arguments_node(id) else { return Beside::Nothing };
        let is_argument = |key: &str| (self.known.declares)(called, key) == Some(true);
        beside_arguments::look(self.tree, id, called, arguments, is_argument)
    }

    /// Whether a member beside a nested call is an argument of its tool.
    // Case: dialects/wire_json/argument-outside-the-function
    fn has_argument_outside(&self, id: usize, nested: usize, tool: &str) -> bool {
        let known = [SIDE_KEYS, RECORD_KEYS, NAME_KEYS, ARGUMENT_KEYS, CALL_KEYS];
        self.tree.children(id).filter(|&child| child != nested).any(|child| {
            let key = self.tree.key(child).unwrap_or_default();
            !known.iter().any(|keys| keys.contains(&&*key)) && self.is_argument(id, tool, &key)
        })
    }

    /// Whether a member beside the name and the arguments tells the outcome of a call, or what the tool is for.
    // Case: dialects/hostile/record-of-a-call
    fn has_foreign_member(&self, id: usize) -> bool {
        self.tree
            .children(id)
            .filter_map(|child| self.tree.key(child))
            .any(|key| RECORD_KEYS.contains(&&*key))
            || self.is_other_kind(id)
    }

    /// Whether a member says that another than the model wrote this, or that it is something else than a call.
    // Case: dialects/hostile/message-of-a-tool
    // Case: dialects/hostile/object-of-another-type
    fn is_other_kind(&self, id: usize) -> bool {
        let says = |key: &str, known: &dyn Fn(&str) -> bool| {
            let word = self.member(id, key).and_then(|child| self.tree.string(child));
            word.is_some_and(|word| !known(&word.to_lowercase()))
        };
        let is_call = |kind: &str| {
            (self.known.named)(kind)
                || kind
                    .split(|ch: char| !ch.is_alphanumeric())
                    .any(|word| CALL_KINDS.iter().any(|known| word.starts_with(known)))
        };
        says("role", &|role| CALLERS.contains(&role)) || says("type", &is_call)
    }

    /// Whether a member beside the name is not one of the arguments.
    // Case: dialects/hermes_json/flat-with-declared-members
    // Case: dialects/hermes_json/flat-without-schema
    fn is_beside(&self, tool: &str, key: &str) -> bool {
        match (self.known.declares)(tool, key) {
            Some(true) => false,
            Some(false) => SIDE_KEYS.contains(&key),
            None => PLAIN_SIDE_KEYS.contains(&key),
        }
    }

    /// Whether the object has this member, and the tool declares it.
    fn is_argument(&self, id: usize, tool: &str, key: &str) -> bool {
        self.member(id, key).is_some() && (self.known.declares)(tool, key) == Some(true)
    }

    /// Whether the member that should hold all arguments is one of them, because the tool declares it and it is not an
    /// object.
    fn holds_own_argument(&self, id: usize, tool: &str) -> bool {
        self.arguments_node(id).is_some_and(|child| {
            let object = matches!(self.tree.nodes[child].kind, Kind::Object) || self.encodes_object(child);
            let key = self.tree.key(child).unwrap_or_default();
            let folded = !ARGUMENT_KEYS.contains(&&*key);
            (!object || folded) && self.is_argument(id, tool, &key)
        })
    }

    /// Reads `{"type": "NAME", "arguments": …}` and `{"NAME": {…}}`.
    fn read_by_type_or_key(&self, id: usize, out: &mut Vec<EnvelopeCall>) -> Lookup {
        if let Some(arguments) = self.arguments(id) {
            let name = self.member(id, "type").and_then(|child| self.tree.string(child));
            return match name.filter(|name| (self.known.named)(name)) {
                Some(name) => {
                    let name = name.into_owned();
                    out.push(EnvelopeCall::new(name, self.id(id), arguments, self.span_of(id)));
                    Lookup::Yes
                }
                None => Lookup::No,
            };
        }
        let mut children = self.tree.children(id);
        let (Some(only), None) = (children.next(), children.next()) else { return Lookup::No };
        let key = self.tree.key(only).unwrap_or_default().into_owned();
        if self.tree.nodes[only].kind != Kind::Object || !(self.keyed || (self.known.named)(&key)) {
            return Lookup::No;
        }
        let arguments = RawArguments::Text(self.span_of(only));
        out.push(EnvelopeCall::new(key, None, arguments, self.span_of(id)));
        Lookup::Yes
    }

    /// Whether a part of the call is there twice and differs: the name, the arguments, or what contains them.
    // Case: dialects/hermes_json/arguments-twice
    // Case: dialects/hermes_json/name-twice
    fn contradicts(&self, id: usize) -> bool {
        let mut parts: Vec<(&str, usize)> = Vec::new();
        for child in self.tree.children(id) {
            let Some(key) = self.tree.key(child) else { continue };
            let is_part = |part: &&&str| {
                **part == key || ARGUMENT_KEYS.contains(part) && part.eq_ignore_ascii_case(&key)
            };
            let Some(key) = PARTS.iter().copied().flatten().find(is_part) else { continue };
            let is_same = |other: usize| self.tree.source(other) == self.tree.source(child);
            let is_tool = |node: usize| self.tree.string(node).is_some_and(|name| (self.known.named)(&name));
            let is_object = |node: usize| {
                self.tree.nodes[node].kind == Kind::Object && self.tree.nodes[node].after > node + 1
            };
            let differs = |&(part, other): &(&str, usize)| {
                let rivals = part == *key
                    || [part, key].iter().all(|key| NAME_KEYS.contains(key))
                        && is_tool(other)
                        && is_tool(child)
                    || [part, key].iter().all(|key| ARGUMENT_KEYS.contains(key))
                        && is_object(other)
                        && is_object(child);
                rivals && !is_same(other)
            };
            if parts.iter().any(differs) {
                return true;
            }
            // Each part once is enough, however often it is repeated.
            if !parts.iter().any(|(part, _)| part == key) {
                parts.push((key, child));
            }
        }
        false
    }

    fn names_a_call(&self, id: usize) -> bool {
        NAME_KEYS.iter().chain(CALL_KEYS).any(|key| self.member(id, key).is_some())
    }

    /// Whether this is a declaration: it has a schema in place of arguments.
    // Case: dialects/llama3_json/schema-echo
    fn declares(&self, id: usize) -> bool {
        let schema = |key: &str| {
            self.member(id, key).is_some_and(|child| {
                self.member(child, "properties").is_some()
                    && self
                        .member(child, "type")
                        .and_then(|kind| self.tree.string(kind))
                        .is_some_and(|kind| kind == "object")
            })
        };
        schema("parameters") || schema("input_schema") || schema("inputSchema") || {
            self.member(id, "function")
                .is_some_and(|inner| self.tree.nodes[inner].kind == Kind::Object && self.declares(inner))
        }
    }

    fn member(&self, id: usize, key: &str) -> Option<usize> {
        (self.tree.nodes[id].kind == Kind::Object).then(|| self.tree.member(id, key)).flatten()
    }

    fn id(&self, id: usize) -> Option<String> {
        ID_KEYS
            .iter()
            .find_map(|key| self.member(id, key))
            .and_then(|child| self.tree.string(child))
            .map(Into::into)
    }

    fn span_of(&self, id: usize) -> Range<usize> {
        let span = &self.tree.nodes[id].span;
        span.start + self.base..span.end + self.base
    }

    /// The member for the arguments. An object may be there in capital letters.
    // Case: dialects/hermes_json/key-of-the-arguments-in-capitals
    fn arguments_node(&self, id: usize) -> Option<usize> {
        let exact = ARGUMENT_KEYS.iter().find_map(|key| self.member(id, key));
        let is_folded = |&child: &usize| {
            let key = self.tree.key(child).unwrap_or_default();
            (self.tree.nodes[child].kind == Kind::Object || self.encodes_object(child))
                && ARGUMENT_KEYS.iter().any(|known| known.eq_ignore_ascii_case(&key))
        };
        exact.or_else(|| {
            let is_object = self.tree.nodes[id].kind == Kind::Object;
            is_object.then(|| self.tree.children(id).find(is_folded)).flatten()
        })
    }

    /// The arguments under one of their keys.
    fn arguments(&self, id: usize) -> Option<RawArguments> {
        let child = self.arguments_node(id)?;
        Some(match self.tree.nodes[child].kind {
            Kind::String => {
                let inner = self.tree.string(child).unwrap_or_default().into_owned();
                RawArguments::Decoded(inner, self.span_of(child))
            }
            Kind::Null => RawArguments::Decoded("{}".to_owned(), self.span_of(child)),
            _ => RawArguments::Text(self.span_of(child)),
        })
    }

    /// A list of argument objects calls the same tool several times.
    fn argument_sets(&self, id: usize) -> Option<Vec<(RawArguments, Range<usize>)>> {
        let child = ARGUMENT_KEYS.iter().find_map(|key| self.member(id, key))?;
        if self.tree.nodes[child].kind != Kind::Array {
            return None;
        }
        let sets: Vec<usize> = self.tree.children(child).collect();
        let objects = sets.len() > 1 && sets.iter().all(|&set| self.tree.nodes[set].kind == Kind::Object);
        objects.then(|| {
            sets.into_iter().map(|set| (RawArguments::Text(self.span_of(set)), self.span_of(set))).collect()
        })
    }
}

/// Turns a call inside a string into a call of the output. Its text is not in the output in this form.
pub(crate) fn lift_out_of_string(call: EnvelopeCall, inner: &str, at: &Range<usize>) -> EnvelopeCall {
    let arguments = match call.arguments {
        RawArguments::Text(range) => RawArguments::Decoded(inner[range].to_owned(), at.clone()),
        RawArguments::Decoded(text, _) => RawArguments::Decoded(text, at.clone()),
        other @ (RawArguments::Fields(_) | RawArguments::Refused(..)) => other,
    };
    EnvelopeCall { arguments, at: at.clone(), ..call }
}

/// The name of an object that is not strict, and where its arguments begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) arguments: Option<usize>,
}

/// Reads the members before the arguments, tolerantly. `keyed`: the name of the tool may be the only key.
pub(crate) fn read_head(json: &str, keyed: bool) -> Option<Head> {
    let bytes = json.as_bytes();
    let mut at =
        json.len() - json.trim_start_matches(|ch: char| ch.is_whitespace() || ch == '{' || ch == '[').len();
    let mut head = Head { name: String::new(), id: None, arguments: None };
    let mut name_key = "";
    for _ in 0..8 {
        at += json[at..].len()
            - json[at..].trim_start_matches(|ch: char| ch.is_whitespace() || ch == ',').len();
        // `{"name": "f", {…}}`: the key of the arguments is missing.
        // Case: dialects/hermes_json/malformed-no-key
        if bytes.get(at) == Some(&b'{') && !head.name.is_empty() {
            head.arguments = Some(at);
            return Some(head);
        }
        let (key, after) = read_key(json, at)?;
        at = after;
        if keyed && head.name.is_empty() && bytes.get(at) == Some(&b'{') {
            return Some(Head { name: key.to_owned(), id: None, arguments: Some(at) });
        }
        // A message with a list of calls. The first call is the one that is meant.
        if LIST_KEYS.contains(&key) && head.name.is_empty() && bytes.get(at) == Some(&b'[') {
            at = json.len() - json[at + 1..].trim_start().trim_start_matches('{').len();
            continue;
        }
        if ARGUMENT_KEYS.contains(&key) {
            head.arguments = Some(at);
            return (!head.name.is_empty()).then_some(head);
        }
        if key == "function" && bytes.get(at) == Some(&b'{') {
            // One name outside and another one inside: the call is ambiguous.
            if !head.name.is_empty() {
                return None;
            }
            at += 1;
            continue;
        }
        let quoted = json[at..].starts_with(['"', '\'']);
        let Some((value, after)) = read_simple_value(json, at) else { break };
        at = after;
        if !quoted {
            continue;
        }
        if NAME_KEYS.contains(&key) && head.name.is_empty() {
            name_key = key;
            head.name = value.into_owned();
        } else if key == name_key && head.name != value {
            return None;
        } else if ID_KEYS.contains(&key) {
            head.id = Some(value.into_owned());
        }
    }
    (!head.name.is_empty()).then_some(head)
}

/// Whether the members at the start of a text name a tool, or are a name and arguments.
pub(crate) fn names_tool(members: &str, is_tool: &dyn Fn(&str) -> bool) -> bool {
    // Every bracket of a text is asked about.
    const REACH: usize = 2048;
    let members = first_part(members, REACH);
    let mut start = members.len() - members.trim_start().len();
    // The name may come after an id and the like.
    let at = loop {
        let Some((key, at)) = read_key(members, start) else { return false };
        if NAME_KEYS.contains(&key) {
            break at;
        }
        let Some((_, after)) = read_simple_value(members, at).filter(|_| SIDE_KEYS.contains(&key)) else {
            return false;
        };
        let rest = members[after..].trim_start_matches(|ch: char| ch.is_whitespace() || ch == ',');
        start = members.len() - rest.len();
    };
    let Some(rest) = members[at..].strip_prefix(['"', '\'']) else { return false };
    let length = rest.find(['"', '\'', '\n']).unwrap_or(rest.len());
    let next = rest[length..].trim_start_matches(['"', '\'']).trim_start();
    let arguments = next.strip_prefix(',').map(str::trim_start).and_then(|next| read_key(next, 0));
    length <= 160 && is_tool(&rest[..length])
        || arguments.is_some_and(|(key, _)| ARGUMENT_KEYS.contains(&key))
}

/// Reads a key in any quotes or none. Returns it with the position of its value.
pub(super) fn read_key(json: &str, at: usize) -> Option<(&str, usize)> {
    let quotes = ['"', '\'', '`', '“', '”', '‘', '’'];
    let rest = json[at..].trim_start_matches(quotes);
    let length = rest.find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == '-'))?;
    let after = rest[length..].trim_start_matches(quotes).trim_start();
    let value =
        after.strip_prefix(':').or_else(|| after.strip_prefix("=>")).or_else(|| after.strip_prefix('='))?;
    (length > 0).then_some((&rest[..length], json.len() - value.trim_start().len()))
}

/// Reads a short string or a scalar. Returns it with the position after it.
pub(super) fn read_simple_value(json: &str, at: usize) -> Option<(std::borrow::Cow<'_, str>, usize)> {
    let rest = &json[at..];
    let quote = rest.chars().next().filter(|ch| matches!(ch, '"' | '\''));
    let Some(quote) = quote else {
        let length = rest.find([',', '}', '\n'])?;
        return Some((rest[..length].trim().into(), at + length));
    };
    let length = rest[1..].find([quote, '\n'])?;
    let literal = &rest[..length + 2];
    let after = at + literal.len();
    if rest.as_bytes().get(length + 1) != Some(&(quote as u8)) || literal.len() > 300 {
        return None;
    }
    let escaped = literal.contains('\\');
    match (quote, escaped) {
        ('"', true) => serde_json::from_str::<String>(literal).ok().map(|value| (value.into(), after)),
        (_, true) => None,
        _ => Some((literal[1..literal.len() - 1].into(), after)),
    }
}

/// Decodes a string literal that contains JSON.
pub(crate) fn decode_string(json: &str) -> Option<String> {
    let literal = json.trim();
    let strict =
        literal.len() > 1 && literal.starts_with('"') && crate::json::strict::check(literal, 1).is_ok();
    strict.then(|| text::unquote(literal).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(json: &str) -> Vec<(String, String)> {
        let named = |name: &str| name == "f" || name == "g";
        match read(json, 0, false, KnownTools { named: &named, declares: &|_, _| None }) {
            Reading::Calls(calls, _) => calls
                .into_iter()
                .map(|call| {
                    let arguments = match call.arguments {
                        RawArguments::Text(range) => json[range].to_owned(),
                        RawArguments::Decoded(text, _) => text,
                        other => unreachable!("objects have no {other:?}"),
                    };
                    (call.name, arguments)
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    fn check(json: &str, expected: &[(&str, &str)]) {
        let found = calls(json);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, arguments)| (&**name, &**arguments)).collect();
        assert_eq!(found, expected, "{json}");
    }

    #[test]
    fn all_relatives_of_the_envelope_are_read() {
        check(r#"{"name": "f", "arguments": {"a": 1}}"#, &[("f", r#"{"a": 1}"#)]);
        check(r#"{"tool_name": "f", "parameters": {}}"#, &[("f", "{}")]);
        check(
            r#"{"type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}"#,
            &[("f", r#"{"a": 1}"#)],
        );
        check(r#"{"type": "function", "function": "f", "parameters": {"a": 1}}"#, &[("f", r#"{"a": 1}"#)]);
        check(r#"{"name": {"name": {"name": "f", "arguments": {}}}}"#, &[("f", "{}")]);
        check(r#"{"name": "f", "a": 1, "id": "x"}"#, &[("f", r#"{"a": 1}"#)]);
        check(r#"{"name": "f"}"#, &[("f", "{}")]);
        check(
            r#"{"content": "", "tool_calls": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]}"#,
            &[("f", "{}"), ("g", "{}")],
        );
        check(r#"{"method": "tools/call", "params": {"name": "f", "arguments": {}}}"#, &[("f", "{}")]);
        check(
            r#"{"name": "f", "arguments": [{"a": 1}, {"a": 2}]}"#,
            &[("f", r#"{"a": 1}"#), ("f", r#"{"a": 2}"#)],
        );
        check(r#"{"arguments": {"a": 1}, "type": "f"}"#, &[("f", r#"{"a": 1}"#)]);
        check(r#"{"f": {"a": 1}}"#, &[("f", r#"{"a": 1}"#)]);
    }

    #[test]
    fn other_objects_are_not_calls() {
        check(r#"{"city": "Oslo"}"#, &[]);
        check(
            r#"{"name": "f", "description": "x", "parameters": {"type": "object", "properties": {}}}"#,
            &[],
        );
        check(r#"{"name": "g", "function": {"name": "f", "arguments": {}}}"#, &[]);
        check(r#"{"x": {"a": 1}}"#, &[]);
        check(r#"{"name": "f", "arguments": {"a": 1}, "arguments": {"a": 2}}"#, &[]);
        check(r#"{"name": "f", "arguments": {"a": 1}, "parameters": {"a": 2}}"#, &[]);
        check(r#"{"name": "f", "name": "g", "arguments": {}}"#, &[]);
        check(r#"{"name": "f", "tool": "g", "arguments": {}}"#, &[]);
        check(r#"{"name": "f", "arguments": {}, "arguments": {}}"#, &[("f", "{}")]);
    }

    #[test]
    fn heads_of_broken_objects_are_read() {
        let at = |json: &str| {
            read_head(json, false).map(|head| (head.name, head.arguments.map(|at| json[at..].to_owned())))
        };
        let found = |name: &str, rest: &str| Some((name.to_owned(), Some(rest.to_owned())));
        assert_eq!(at(r#"{"name": "f", {"a": 1}}"#), found("f", r#"{"a": 1}}"#));
        assert_eq!(at(r#"{"name": "f", arguments": {"a"#), found("f", r#"{"a"#));
        assert_eq!(at("{'name': 'f', 'arguments': {'a': 1}}"), found("f", "{'a': 1}}"));
        assert_eq!(at(r#"{{"name": "f", "arguments": {"a": "x"y""#), found("f", r#"{"a": "x"y""#));
        assert_eq!(at(r#"{"arguments": {}, "name": "f"}"#), None);
    }
}
