//! The tools of the server, collected from its answers to `tools/list`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toolmend::{Mender, Policy};

use super::message::Message;
use super::notes::CallNotes;

/// The tools that the server has listed so far, and the mender for them.
#[derive(Debug)]
pub(crate) struct ServerTools {
    policy: Policy,
    /// Requests that the server has not answered: the id, and whether it asks for the first page.
    open_requests: BTreeMap<String, bool>,
    tools: Vec<Value>,
    mender: Option<Mender>,
    /// What the model has to know about calls that the server has not answered.
    pub(crate) notes: CallNotes,
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

impl ServerTools {
    pub(crate) fn new(policy: Policy) -> Self {
        ServerTools {
            policy,
            open_requests: BTreeMap::new(),
            tools: Vec::new(),
            mender: None,
            notes: CallNotes::default(),
        }
    }

    /// Remembers a request for the list or for a further page of it.
    pub(crate) fn add_request(&mut self, message: &Message<'_>) {
        let Some(id) = message.id else { return };
        let cursor = message.params.and_then(|params| serde_json::from_str::<Cursor>(params.get()).ok());
        let first = cursor.is_none_or(|params| params.cursor.is_none());
        self.open_requests.insert(id.get().to_owned(), first);
    }

    /// Adds the tools of the server's answer to such a request. A first page replaces the list.
    pub(crate) fn add_answer(&mut self, message: &Message<'_>) {
        let (Some(id), Some(result)) = (message.id, message.result) else { return };
        let Some(first) = self.open_requests.remove(id.get()) else { return };
        let Ok(page) = serde_json::from_str::<Page>(result.get()) else { return };
        if first {
            self.tools.clear();
        }
        self.tools.extend(page.tools);
        // A tool with an invalid schema stays unconstrained, and the others are still checked.
        let builder = Mender::builder().policy(self.policy.clone()).tools(&Value::from(self.tools.clone()));
        self.mender = Some(builder.build_lenient().0);
    }

    /// Returns the mender, or `None` until the server has sent a list.
    pub(crate) fn mender(&self) -> Option<&Mender> {
        self.mender.as_ref()
    }
}
