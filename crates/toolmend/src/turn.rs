//! What a model's output turned out to be: content, reasoning and calls, as a whole or event by event.

use std::ops::Range;

use crate::verdict::{Outcome, Verdict};

/// Whether the model wrote a call in a form that cannot be anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Behind a marker that means a call.
    Explicit,
    /// Recognised by its shape alone; such a call always names a declared tool.
    Inferred,
}

impl Source {
    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Explicit => "explicit",
            Source::Inferred => "inferred",
        }
    }
}

/// One call that was found in a model's output, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The declared tool, or the name as it was written where no declared tool is meant.
    pub name: String,
    /// The id that the model gave the call, in the dialects that have one.
    pub id: Option<String>,
    /// How the call was recognised.
    pub source: Source,
    /// The dialect that it was written in.
    pub dialect: &'static str,
    /// Where the call stands in the output, in bytes, its own markup included.
    pub at: Range<usize>,
    /// The bytes of the call as the model wrote them.
    pub raw: String,
    /// The arguments, or why there are none. Repairs are placed in the whole output.
    pub verdict: Verdict<'static>,
}

impl Call {
    /// What became of the call.
    pub fn outcome(&self) -> Outcome {
        self.verdict.outcome()
    }

    /// The arguments as JSON text, where the call runs.
    pub fn arguments(&self) -> Option<&str> {
        self.verdict.json()
    }
}

/// What a stream tells while it reads.
///
/// Adjacent pieces of the same kind belong together: however the output was cut into pieces, joining them gives the
/// same list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Text for the user.
    Content(String),
    /// The model's thoughts.
    Reasoning(String),
    /// A call begins. Name and id are final. Held delivery tells it only for calls that run.
    CallStart {
        /// Counts the calls of the turn.
        index: usize,
        /// The name of the tool.
        name: String,
        /// The id that the model gave the call.
        id: Option<String>,
    },
    /// The next piece of the call's arguments. All pieces together are the JSON text of the arguments.
    ArgumentsDelta {
        /// Which call.
        index: usize,
        /// The piece.
        text: String,
    },
    /// The call is complete and may run.
    CallEnd {
        /// Which call.
        index: usize,
        /// The call in full.
        call: Box<Call>,
    },
    /// The call was cut off. Whatever was told of it must not run.
    CallCut {
        /// Which call.
        index: usize,
        /// What is known of it.
        call: Box<Call>,
    },
    /// The call was refused. Whatever was told of it must not run.
    CallRejected {
        /// Which call.
        index: usize,
        /// What is known of it.
        call: Box<Call>,
    },
    /// Something worth knowing that is no part of the turn.
    Note(String),
}

/// A whole model output, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Turn {
    /// Text for the user.
    pub content: String,
    /// The model's thoughts.
    pub reasoning: String,
    /// The calls in the order in which they were written, those that do not run included.
    pub calls: Vec<Call>,
    /// Things worth knowing that are no part of the turn.
    pub notes: Vec<String>,
}

impl Turn {
    /// The worst outcome of the calls; clean where there are none.
    pub fn outcome(&self) -> Outcome {
        self.calls.iter().map(Call::outcome).max().unwrap_or(Outcome::Clean)
    }

    /// Adds what a stream told.
    pub fn extend(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            self.event(event);
        }
    }
}

/// Who is told what a stream finds, as it comes.
///
/// Text comes by itself where a piece is nothing else, and as an [`Event`] where it had to be held: joined in the order in which
/// it comes, it is the same text however the output was cut.
///
/// ```
/// use toolmend::{Event, Listener, Mender, TurnOptions};
/// struct Shown(String);
/// impl Listener for Shown {
///     fn event(&mut self, event: Event) {
///         if let Event::Content(text) = event {
///             self.0.push_str(&text);
///         }
///     }
/// }
/// let mut stream = Mender::new(&serde_json::json!([])).unwrap().stream(&TurnOptions::new());
/// let mut shown = Shown(String::new());
/// stream.push_to("It rains", &mut shown);
/// stream.push_to(" in Voss.", &mut shown);
/// assert_eq!(shown.0, "It rains in Voss.");
/// ```
pub trait Listener {
    /// Something was found.
    fn event(&mut self, event: Event);

    /// Text for the user.
    fn content(&mut self, text: &str) {
        self.event(Event::Content(text.to_owned()));
    }

    /// The model's thoughts.
    fn reasoning(&mut self, text: &str) {
        self.event(Event::Reasoning(text.to_owned()));
    }
}

/// Text goes on the text that the list ends with.
impl Listener for Vec<Event> {
    fn event(&mut self, event: Event) {
        match (self.last_mut(), event) {
            (Some(Event::Content(text)), Event::Content(more))
            | (Some(Event::Reasoning(text)), Event::Reasoning(more)) => text.push_str(&more),
            (_, event) => self.push(event),
        }
    }

    fn content(&mut self, text: &str) {
        match self.last_mut() {
            Some(Event::Content(last)) => last.push_str(text),
            _ => self.push(Event::Content(text.to_owned())),
        }
    }

    fn reasoning(&mut self, text: &str) {
        match self.last_mut() {
            Some(Event::Reasoning(last)) => last.push_str(text),
            _ => self.push(Event::Reasoning(text.to_owned())),
        }
    }
}

impl Listener for Turn {
    fn event(&mut self, event: Event) {
        match event {
            Event::Content(text) => append(&mut self.content, text),
            Event::Reasoning(text) => append(&mut self.reasoning, text),
            Event::CallEnd { call, .. } | Event::CallCut { call, .. } | Event::CallRejected { call, .. } => {
                self.calls.push(*call);
            }
            Event::Note(text) => self.notes.push(text),
            Event::CallStart { .. } | Event::ArgumentsDelta { .. } => {}
        }
    }

    fn content(&mut self, text: &str) {
        self.content.push_str(text);
    }

    fn reasoning(&mut self, text: &str) {
        self.reasoning.push_str(text);
    }
}

/// The first piece is moved, the others are copied.
fn append(all: &mut String, text: String) {
    if all.is_empty() {
        *all = text;
    } else {
        all.push_str(&text);
    }
}

/// When a stream tells the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// When the call is complete and mended.
    #[default]
    Held,
    /// Strings of string-typed fields flow while what was told is certain to begin the final arguments.
    Live,
}

/// What is known about an output beside its bytes.
///
/// ```
/// use toolmend::TurnOptions;
/// let options = TurnOptions::new().model("Qwen/Qwen3-Coder-30B").reasoning_open(true);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnOptions {
    pub(crate) dialect: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) reasoning_open: bool,
    pub(crate) delivery: Delivery,
}

impl TurnOptions {
    /// Everything is found out from the output.
    pub fn new() -> Self {
        Self::default()
    }

    /// The dialect to try first, by its name in the table of dialects. `auto` is the same as none.
    #[must_use]
    pub fn dialect(mut self, name: impl Into<String>) -> Self {
        self.dialect = Some(name.into());
        self
    }

    /// The model's id, which tells how forms without a marker are meant.
    #[must_use]
    pub fn model(mut self, id: impl Into<String>) -> Self {
        self.model = Some(id.into());
        self
    }

    /// Whether the prompt had already opened the reasoning block.
    #[must_use]
    pub fn reasoning_open(mut self, open: bool) -> Self {
        self.reasoning_open = open;
        self
    }

    /// When arguments are told.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }
}
