//! An answer in neutral terms.

use crate::turn::ReadyCall;

/// Something that the model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    Text(String),
    Reasoning(String),
    Call(ReadyCall),
}

/// Why the turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum End {
    #[default]
    Done,
    /// A text at which the client wanted it to stop; which one is not always told.
    StopText(Option<String>),
    Calls,
    Length,
    /// The server did not like what was said.
    Filtered,
}

/// How many tokens there were. The input counts everything, what was cached too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    /// Of the input, what was read from a cache.
    pub(crate) cached: u64,
    /// Of the input, what was written to a cache.
    pub(crate) stored: u64,
    pub(crate) output: u64,
    /// Of the output, what was thought.
    pub(crate) reasoning: u64,
}

/// What an answer says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Meta {
    /// In the client's form.
    pub(crate) id: String,
    pub(crate) model: String,
    /// Seconds since 1970.
    pub(crate) created: u64,
}

/// An answer that is complete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Answer {
    pub(crate) meta: Meta,
    pub(crate) said: Vec<Said>,
    pub(crate) end: End,
    pub(crate) usage: Usage,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        self.said
            .iter()
            .filter_map(|said| match said {
                Said::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn reasoning(&self) -> String {
        self.said
            .iter()
            .filter_map(|said| match said {
                Said::Reasoning(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &ReadyCall> {
        self.said.iter().filter_map(|said| match said {
            Said::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// What a frame of a stream tells beside text, thoughts and function calls.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    pub(crate) model: Option<String>,
    pub(crate) end: Option<End>,
    /// Things said that the neutral turn has no part for.
    pub(crate) said: Vec<Said>,
    /// Whether what the decoder heard in this frame is in `said` already.
    pub(crate) instead: bool,
}

impl End {
    /// The end of a turn that made calls is for their sake, whatever the server calls it.
    pub(crate) fn with_calls(self, calls: bool) -> End {
        match self {
            End::Done | End::StopText(_) if calls => End::Calls,
            End::Calls if !calls => End::Done,
            other => other,
        }
    }
}

/// The number of a member, 0 where there is none.
pub(crate) fn count(of: Option<crate::wire::doc::View<'_>>, name: &str) -> u64 {
    of.and_then(|of| of.get(name)).and_then(crate::wire::doc::View::number).unwrap_or(0)
}
