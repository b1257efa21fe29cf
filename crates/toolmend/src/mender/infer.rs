//! Finds the tool of a call without a name.
//!
//! Only an envelope or the exact set of keys counts. Similarity never does.

use serde_json::{Map, Value};

use super::{Arguments, Inner, Mender};
use crate::name::{NameMatch, ResolvedName};
use crate::repair::RepairKind;
use crate::schema::Schema;
use crate::schema::guide::Guide;
use crate::shape::envelope;
use crate::syntax::Finish;

impl Mender {
    /// The tool that an envelope names, or the only tool whose declared keys the arguments fill.
    pub(super) fn infer(&self, arguments: Arguments<'_>) -> Option<ResolvedName> {
        let read;
        let text = match arguments {
            Arguments::Text(text) => Some(text),
            Arguments::Value(value) => value.as_str(),
        };
        let value = match (text, arguments) {
            (None, Arguments::Value(value)) => value,
            (text, _) => {
                read = self.read(text?)?;
                &read
            }
        };
        let object = value.as_object().filter(|object| !object.is_empty())?;
        let index = self.inner.by_envelope(object).or_else(|| self.inner.by_keys(object))?;
        Some(ResolvedName { index, kinds: vec![RepairKind::ToolInferred], glued: None })
    }

    /// Whether the arguments are an envelope that names a declared tool.
    pub(super) fn names_a_tool(&self, arguments: &str) -> bool {
        let value = self.read(arguments);
        value
            .as_ref()
            .and_then(Value::as_object)
            .is_some_and(|object| self.inner.by_envelope(object).is_some())
    }

    /// The value of a text, as far as it can be read without a tool.
    pub(super) fn read(&self, text: &str) -> Option<Value> {
        self.unconstrained_task(Finish::Unknown).run(text).value()
    }
}

impl Inner {
    fn by_envelope(&self, object: &Map<String, Value>) -> Option<usize> {
        object.keys().find(|key| envelope::holds_arguments(key))?;
        let mut names = object.iter().filter(|(key, _)| envelope::holds_name(key));
        let name = names.find_map(|(_, value)| value.as_str())?;
        match self.names.resolve_tool_name(name) {
            NameMatch::One(resolved) if resolved.glued.is_none() => Some(resolved.index),
            _ => None,
        }
    }

    /// Required ⊆ keys ⊆ properties, for exactly one tool.
    pub(super) fn by_keys(&self, object: &Map<String, Value>) -> Option<usize> {
        let mut fitting = self.tools.iter().enumerate().filter(|(_, tool)| {
            tool.schema().map(Schema::guide).is_some_and(|guide| takes_exactly(guide, object))
        });
        match (fitting.next(), fitting.next()) {
            (Some((index, _)), None) => Some(index),
            _ => None,
        }
    }
}

fn takes_exactly(guide: &Guide, object: &Map<String, Value>) -> bool {
    let mut known = 0;
    for (name, _, required) in guide.properties(guide.root()) {
        match object.contains_key(name) {
            true => known += 1,
            false if required => return false,
            false => {}
        }
    }
    known == object.len()
}
