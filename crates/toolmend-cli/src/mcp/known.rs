//! The tools of the server, learnt from its own lists.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toolmend::{Mender, Policy};

use super::message::Message;

/// What the shim knows of the server.
#[derive(Debug)]
pub(crate) struct Known {
    policy: Policy,
    /// Lists that were asked for: the id of the request, and whether it is the first page.
    asked: BTreeMap<String, bool>,
    tools: Vec<Value>,
    mender: Option<Mender>,
}

/// A page of the list.
#[derive(Debug, Deserialize)]
struct Page {
    tools: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct Cursor {
    #[serde(default)]
    cursor: Option<Value>,
}

impl Known {
    pub(crate) fn new(policy: Policy) -> Self {
        Known { policy, asked: BTreeMap::new(), tools: Vec::new(), mender: None }
    }

    /// Remembers that the client asked for the list, or for a further page of it.
    pub(crate) fn asked(&mut self, message: &Message<'_>) {
        let Some(id) = message.id else { return };
        let cursor = message.params.and_then(|params| serde_json::from_str::<Cursor>(params.get()).ok());
        let first = cursor.is_none_or(|params| params.cursor.is_none());
        self.asked.insert(id.get().to_owned(), first);
    }

    /// Takes the tools out of the server's answer.
    pub(crate) fn learn(&mut self, message: &Message<'_>) {
        let (Some(id), Some(result)) = (message.id, message.result) else { return };
        let Some(first) = self.asked.remove(id.get()) else { return };
        let Ok(page) = serde_json::from_str::<Page>(result.get()) else { return };
        if first {
            self.tools.clear();
        }
        self.tools.extend(page.tools);
        // A broken schema is the server's business: its tool is unconstrained, and the others are not.
        let builder = Mender::builder().policy(self.policy.clone()).tools(&Value::from(self.tools.clone()));
        self.mender = Some(builder.build_lenient().0);
    }

    /// Nothing as long as no list was seen.
    pub(crate) fn mender(&self) -> Option<&Mender> {
        self.mender.as_ref()
    }
}
