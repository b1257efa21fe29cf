//! The vocabulary of a turn: content, reasoning and calls, as a whole or event by event.
//!
//! These are plain types. They know nothing about how output is read.

use std::ops::Range;

use serde_json::Value;

use crate::intent::{self, Calls, Evidence, RequestContext, ToolChoice};
use crate::repair::Repair;
use crate::verdict::{Outcome, Verdict};

/// How certain it is that text was meant as a call.
///
/// ```
/// use toolmend::{Finish, Mender, Source, TurnOptions};
/// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
/// let turn = mender.turn("[get_time()]", &TurnOptions::new(), Finish::Stop);
/// assert_eq!(turn.calls[0].source, Source::Inferred);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// It follows a marker that means a call and nothing else, or it has the form that the prompt asked for.
    Explicit,
    /// It was recognised by its shape alone. Such a call always names a declared tool.
    Inferred,
}

impl Source {
    /// How a call with this evidence is reported.
    pub(crate) fn of(evidence: Evidence) -> Self {
        match evidence {
            Evidence::Marked | Evidence::AskedFor => Source::Explicit,
            Evidence::Named | Evidence::Nameless => Source::Inferred,
        }
    }

    /// The name used in JSON.
    ///
    /// ```
    /// assert_eq!(toolmend::Source::Explicit.name(), "explicit");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Source::Explicit => "explicit",
            Source::Inferred => "inferred",
        }
    }
}

/// One call in a model's output, with its verdict.
///
/// ```
/// use toolmend::{Finish, Mender, Outcome, TurnOptions};
/// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
/// let text = r#"<tool_call>{"name": "get_time", "arguments": {"zone": "CET",}}</tool_call>"#;
/// let turn = mender.turn(text, &TurnOptions::new(), Finish::Stop);
/// let call = &turn.calls[0];
/// assert_eq!((call.name.as_str(), call.outcome()), ("get_time", Outcome::Mended));
/// assert_eq!(call.arguments(), Some(r#"{"zone": "CET"}"#));
/// assert_eq!(call.dialect, "hermes_json");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The name of the declared tool, or the name in the output if no declared tool is meant.
    pub name: String,
    /// The id that the model gave the call, in dialects that have ids.
    pub id: Option<String>,
    /// How the call was recognised.
    pub source: Source,
    /// The dialect of the call, by its name in [`dialects`](crate::dialects).
    pub dialect: &'static str,
    /// The position of the call in the output, in bytes, including its markup.
    pub at: Range<usize>,
    /// The call as the model wrote it.
    pub raw: String,
    /// The arguments, or why there are none. Positions of repairs refer to the whole output.
    pub verdict: Verdict<'static>,
}

impl Call {
    /// The outcome of the call.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
    /// let turn = mender.turn("<tool_call>{\"name\": \"get_time\"}</tool_call>", &TurnOptions::new(), Finish::Stop);
    /// assert!(turn.calls[0].outcome().runs());
    /// ```
    pub fn outcome(&self) -> Outcome {
        self.verdict.outcome()
    }

    /// The arguments as JSON text, if the call runs.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
    /// let text = "<tool_call>{\"name\": \"get_time\", \"arguments\": {\"zone\": ";
    /// let turn = mender.turn(text, &TurnOptions::new(), Finish::Length);
    /// assert_eq!(turn.calls[0].arguments(), None, "a truncated call never runs");
    /// ```
    pub fn arguments(&self) -> Option<&str> {
        self.verdict.json()
    }
}

/// What a stream reports while it reads.
///
/// Adjacent events with the same kind of text belong together. However the output is split into pieces, joining them
/// gives the same list.
///
/// ```
/// use toolmend::{Event, Finish, Mender, TurnOptions};
/// let mut stream = Mender::new(&serde_json::json!(["get_time"])).unwrap().stream(&TurnOptions::new());
/// let mut events = stream.push(r#"Sure.<tool_call>{"name": "get_time", "arguments": {}}</tool_call>"#);
/// events.extend(stream.finish(Finish::Stop));
/// assert_eq!(events[0], Event::Content("Sure.".to_owned()));
/// assert!(matches!(&events[1], Event::CallStart { name, .. } if name == "get_time"));
/// assert!(matches!(&events[2], Event::ArgumentsDelta { text, .. } if text == "{}"));
/// assert!(matches!(&events[3], Event::CallEnd { .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Text for the user.
    Content(String),
    /// The model's reasoning.
    Reasoning(String),
    /// A call begins. Its name and id are final. Held delivery reports it only for calls that run.
    CallStart {
        /// The number of the call in the turn, from zero.
        index: usize,
        /// The name of the tool.
        name: String,
        /// The id that the model gave the call.
        id: Option<String>,
    },
    /// The next piece of the call's arguments. All pieces joined are the JSON text of the arguments.
    ArgumentsDelta {
        /// The number of the call.
        index: usize,
        /// The piece of JSON text.
        text: String,
    },
    /// The arguments so far of a call that is being written, if [`TurnOptions::previews`] asked for it. For display only: the call
    /// is incomplete, and it may be refused. Each preview replaces the one before it, and how many there are depends on the pieces.
    Preview {
        /// The number of the call.
        index: usize,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The arguments so far, as JSON. A string that is still open is shown as far as it goes.
        json: String,
    },
    /// The call is complete and may run.
    CallEnd {
        /// The number of the call.
        index: usize,
        /// The complete call.
        call: Box<Call>,
    },
    /// The call was truncated. It must not run, whatever was reported of it.
    CallCut {
        /// The number of the call.
        index: usize,
        /// What is known of the call.
        call: Box<Call>,
    },
    /// The call was refused. It must not run, whatever was reported of it.
    CallRejected {
        /// The number of the call.
        index: usize,
        /// What is known of the call.
        call: Box<Call>,
    },
    /// Something was removed from the text that belongs to no call and to no frame. Reported at the end of the output.
    Removed(Repair),
    /// A remark that is not part of the turn.
    Note(String),
}

impl Event {
    /// The call that ends with this event, whether or not it runs.
    pub(crate) fn ended_call(&self) -> Option<&Call> {
        match self {
            Event::CallEnd { call, .. } | Event::CallCut { call, .. } | Event::CallRejected { call, .. } => {
                Some(call)
            }
            _ => None,
        }
    }
}

/// A whole model output, split into its parts.
///
/// ```
/// use toolmend::{Finish, Mender, TurnOptions};
/// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
/// let text = "<think>Time?</think>Sure.\n<tool_call>{\"name\": \"get_time\", \"arguments\": {}}</tool_call>";
/// let turn = mender.turn(text, &TurnOptions::new(), Finish::Stop);
/// assert_eq!((turn.reasoning.as_str(), turn.content.as_str()), ("Time?", "Sure."));
/// assert_eq!(turn.calls.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Turn {
    /// Text for the user.
    pub content: String,
    /// The model's reasoning.
    pub reasoning: String,
    /// The calls in the order of the output, including those that do not run.
    pub calls: Vec<Call>,
    /// What was removed from the text: markers that belong to no call, and special tokens. Their positions refer to the
    /// whole output.
    pub repairs: Vec<Repair>,
    /// The verdict on the content, if the request asked for an answer in JSON and there are no calls. If it is mended,
    /// [`Turn::content`] is the mended text.
    pub answer: Option<Verdict<'static>>,
    /// Remarks that are not part of the turn.
    pub notes: Vec<String>,
}

impl Turn {
    /// The worst outcome of the calls. Without calls it is `Clean`, or `Mended` if something was removed from the text.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, Outcome, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
    /// let turn = mender.turn("It is noon.<|im_end|>", &TurnOptions::new(), Finish::Stop);
    /// assert_eq!((turn.content.as_str(), turn.outcome()), ("It is noon.", Outcome::Mended));
    /// assert_eq!(turn.repairs[0].at, Some(11..21));
    /// ```
    pub fn outcome(&self) -> Outcome {
        let text = if self.repairs.is_empty() { Outcome::Clean } else { Outcome::Mended };
        self.calls.iter().map(Call::outcome).fold(text, Outcome::max)
    }

    /// Adds what a stream reported.
    ///
    /// ```
    /// use toolmend::{Event, Turn};
    /// let mut turn = Turn::default();
    /// turn.extend([Event::Content("Hello, ".to_owned()), Event::Content("world.".to_owned())]);
    /// assert_eq!(turn.content, "Hello, world.");
    /// ```
    pub fn extend(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            self.event(event);
        }
    }
}

/// Receives what a stream finds, while it reads. See [`Stream::push_to`](crate::Stream::push_to).
///
/// A piece that is only text is passed on directly; text that had to wait comes as an [`Event`]. Joined in the order in
/// which it comes, it is the same text however the output was split.
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
    /// Takes an event.
    fn event(&mut self, event: Event);

    /// Takes text for the user.
    fn content(&mut self, text: &str) {
        self.event(Event::Content(text.to_owned()));
    }

    /// Takes reasoning.
    fn reasoning(&mut self, text: &str) {
        self.event(Event::Reasoning(text.to_owned()));
    }
}

/// Joins text with the text that the list ends with.
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
            Event::Removed(repair) => self.repairs.push(repair),
            Event::Note(text) => self.notes.push(text),
            Event::CallStart { .. } | Event::ArgumentsDelta { .. } | Event::Preview { .. } => {}
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

/// When a stream reports the arguments of a call.
///
/// ```
/// use toolmend::{Delivery, Event, Mender, TurnOptions};
/// let tools = serde_json::json!([{"name": "save", "parameters": {"properties": {"text": {"type": "string"}}}}]);
/// let options = TurnOptions::new().delivery(Delivery::Live);
/// let mut stream = Mender::new(&tools).unwrap().stream(&options);
/// let events = stream.push(r#"<tool_call>{"name": "save", "arguments": {"text": "Once upon"#);
/// assert!(matches!(&events[1], Event::ArgumentsDelta { text, .. } if text == r#"{"text": "Once upon"#));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// When the call is complete and mended.
    #[default]
    Held,
    /// While the call is written, as far as no further text can change what was reported: its first arguments, as long
    /// as they are strings.
    Live,
}

/// What is known about an output apart from its text: the model, and what the request says.
///
/// ```
/// use toolmend::TurnOptions;
/// let options = TurnOptions::new().model("Qwen/Qwen3-Coder-30B").parallel_tool_calls(false);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnOptions {
    pub(crate) dialect: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) reasoning_open: Option<bool>,
    pub(crate) delivery: Delivery,
    pub(crate) previews: bool,
    pub(crate) calls: Option<Calls>,
    pub(crate) request: RequestContext,
    /// The format of the answer, if it is JSON.
    pub(crate) answer_format: Option<Value>,
}

impl TurnOptions {
    /// Takes everything from the output.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let turn = Mender::new(&serde_json::json!([])).unwrap().turn("Hello.", &TurnOptions::new(), Finish::Stop);
    /// assert_eq!(turn.content, "Hello.");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds events with the arguments so far of a call that is being written, at every depth, for user interfaces.
    ///
    /// ```
    /// use toolmend::{Event, Mender, TurnOptions};
    /// let mut stream = Mender::new(&serde_json::json!(["plan"])).unwrap().stream(&TurnOptions::new().previews(true));
    /// let events = stream.push(r#"<tool_call>{"name": "plan", "arguments": {"steps": [{"say": "Once up"#);
    /// let json = r#"{"steps": [{"say": "Once up"}]}"#.to_owned();
    /// assert_eq!(events, [Event::Preview { index: 0, name: "plan".to_owned(), json }]);
    /// ```
    #[must_use]
    pub fn previews(mut self, on: bool) -> Self {
        self.previews = on;
        self
    }

    /// The dialect that the prompt asked for, by its name in [`dialects`](crate::dialects). `auto` means none.
    ///
    /// Its form counts as a call wherever it is, also in a fence and with words around it, unless the words take it
    /// back. Other markers are still read.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
    /// let options = TurnOptions::new().dialect("yaml");
    /// assert_eq!(mender.turn("tool: get_time\n", &options, Finish::Stop).calls[0].dialect, "yaml");
    /// ```
    #[must_use]
    pub fn dialect(mut self, name: impl Into<String>) -> Self {
        self.dialect = Some(name.into());
        self
    }

    /// The model's id, which shows how to read forms without a marker and whether the prompt opens the reasoning. See
    /// [`dialect_of`](crate::dialect_of).
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!([])).unwrap();
    /// let options = TurnOptions::new().model("deepseek-ai/DeepSeek-R1");
    /// assert_eq!(mender.turn("Hm.</think>Yes.", &options, Finish::Stop).reasoning, "Hm.");
    /// ```
    #[must_use]
    pub fn model(mut self, id: impl Into<String>) -> Self {
        self.model = Some(id.into());
        self
    }

    /// Whether the prompt had already opened the reasoning.
    ///
    /// If this is not set, the model decides. The text of a model whose template opens the reasoning waits until the
    /// reasoning is closed or the output ends, because only that shows what it is.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!([])).unwrap();
    /// let options = TurnOptions::new().reasoning_open(true);
    /// assert_eq!(mender.turn("Hm.</think>Yes.", &options, Finish::Stop).reasoning, "Hm.");
    /// ```
    #[must_use]
    pub fn reasoning_open(mut self, open: bool) -> Self {
        self.reasoning_open = Some(open);
        self
    }

    /// When arguments are reported.
    ///
    /// ```
    /// use toolmend::{Delivery, Event, Mender, TurnOptions};
    /// let tools = serde_json::json!([{"name": "save", "parameters": {"properties": {"text": {"type": "string"}}}}]);
    /// let begun = r#"<tool_call>{"name": "save", "arguments": {"text": "Once upon"#;
    /// let mut stream = Mender::new(&tools).unwrap().stream(&TurnOptions::new().delivery(Delivery::Held));
    /// assert!(!stream.push(begun).iter().any(|event| matches!(event, Event::ArgumentsDelta { .. })));
    /// ```
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// The weakest evidence that makes text a call. The default is that of the [`Policy`](crate::Policy).
    ///
    /// ```
    /// use toolmend::{Calls, Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
    /// let options = TurnOptions::new().calls(Calls::Marked);
    /// assert_eq!(mender.turn("[get_time()]", &options, Finish::Stop).content, "[get_time()]");
    /// ```
    #[must_use]
    pub fn calls(mut self, lowest: Calls) -> Self {
        self.calls = Some(lowest);
        self
    }

    /// What the request says: its `tool_choice`, `response_format` and `parallel_tool_calls`, and `calls` as
    /// [`TurnOptions::calls`] takes it. Other fields, and values that mean nothing, are ignored.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolmend::{ToolChoice, TurnOptions};
    /// let request = json!({"model": "m", "messages": [], "tool_choice": "none"});
    /// assert_eq!(TurnOptions::new().request(&request), TurnOptions::new().tool_choice(ToolChoice::None));
    /// ```
    #[must_use]
    pub fn request(mut self, request: &Value) -> Self {
        if let Some(choice) = request.get("tool_choice").and_then(ToolChoice::from_value) {
            self = self.tool_choice(choice);
        }
        if let Some(format) = request.get("response_format") {
            self = self.response_format(format);
        }
        if let Some(allowed) = request.get("parallel_tool_calls").and_then(Value::as_bool) {
            self = self.parallel_tool_calls(allowed);
        }
        if let Some(lowest) = request.get("calls").and_then(Value::as_str).and_then(Calls::from_name) {
            self = self.calls(lowest);
        }
        self
    }

    /// The `tool_choice` of the request.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, ToolChoice, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
    /// let text = r#"<tool_call>{"name": "get_time", "arguments": {}}</tool_call>"#;
    /// let turn = mender.turn(text, &TurnOptions::new().tool_choice(ToolChoice::None), Finish::Stop);
    /// assert_eq!((turn.content.as_str(), turn.calls.len()), (text, 0));
    /// ```
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.request.choice = choice;
        self
    }

    /// The `response_format` of the request. If it asks for JSON, JSON in the content is the answer and never a call, and
    /// [`Mender::turn`](crate::Mender::turn) judges it as [`Mender::answer`](crate::Mender::answer) does.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolmend::{Finish, Mender, TurnOptions};
    /// let mender = Mender::new(&json!(["get_time"])).unwrap();
    /// let options = TurnOptions::new().response_format(&json!({"type": "json_object"}));
    /// let text = r#"{"name": "get_time", "arguments": {}}"#;
    /// assert_eq!(mender.turn(text, &options, Finish::Stop).content, text);
    /// ```
    #[must_use]
    pub fn response_format(mut self, format: &Value) -> Self {
        self.request.structured_answer = intent::asks_for_json(format);
        self.answer_format = self.request.structured_answer.then(|| format.clone());
        self
    }

    /// The `parallel_tool_calls` of the request. If it is `false`, only the first call runs and the others are refused.
    ///
    /// ```
    /// use toolmend::{Finish, Mender, Reason, TurnOptions};
    /// let mender = Mender::new(&serde_json::json!(["get_time"])).unwrap();
    /// let options = TurnOptions::new().parallel_tool_calls(false);
    /// let turn = mender.turn("[get_time(), get_time()]", &options, Finish::Stop);
    /// assert_eq!(turn.calls[1].verdict.reason(), Some(Reason::Policy));
    /// ```
    #[must_use]
    pub fn parallel_tool_calls(mut self, allowed: bool) -> Self {
        self.request.single_call = !allowed;
        self
    }
}
