//! The native half of the Node package: text goes in and JSON text comes out.
//!
//! V8 parses JSON faster than a binding can build objects, and frameworks want text anyway. The classes that users see
//! are JavaScript, in `js/`. Nothing is decided here that the library does not decide.

use std::sync::{Mutex, PoisonError};

use napi::bindgen_prelude::{Buffer, Either, Null, Undefined};
use napi::{Error, Result, Status};
use napi_derive::napi;
use serde::Serialize;
use toolmend::{
    Delivery, Encoding, Event, Finish, FixOptions, Outcome, Policy, Schema, TurnOptions, fix_with,
};
use toolmend_json::strict::{self, Fault};

/// An error that the caller made.
fn invalid_argument(message: impl ToString) -> Error {
    Error::new(Status::InvalidArg, message.to_string())
}

fn parse_finish(reason: Option<&str>) -> Finish {
    reason.map_or(Finish::Unknown, Finish::from_reason)
}

/// Reads a policy from the JSON text that the JavaScript side writes.
fn parse_policy(text: &str) -> Result<Policy> {
    // Through a value, so that errors do not point into text that the caller never saw.
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(serde_json::from_value)
        .map_err(|error| invalid_argument(format!("policy: {error}")))
}

/// Writes a verdict, a turn or events. All of them have a JSON form, so this does not fail.
fn to_json(encoded: &impl Serialize) -> String {
    serde_json::to_string(encoded).unwrap_or_default()
}

/// The encoding that the classes in `js/verdict.cjs` read. JSON values stay text there until they are asked for.
fn encoding<'a>(is_text: bool) -> Encoding<'a> {
    let encoding = Encoding::detailed().value_field("json");
    if is_text { encoding } else { encoding.without_positions() }
}

/// A schema, a policy and a finish reason, compiled once for many texts.
#[napi]
pub struct Fixer {
    options: FixOptions,
}

#[napi]
impl Fixer {
    /// Compiles a schema and a policy, which are JSON text.
    ///
    /// # Errors
    /// If they cannot be read.
    #[napi(constructor)]
    pub fn new(schema: Option<String>, policy: String, finish_reason: Option<String>) -> Result<Self> {
        let finish = parse_finish(finish_reason.as_deref());
        let mut options = FixOptions::new().policy(parse_policy(&policy)?).finish(finish);
        if let Some(text) = schema {
            let source = serde_json::from_str(&text).map_err(invalid_argument)?;
            options = options.schema(Schema::new(&source).map_err(invalid_argument)?);
        }
        Ok(Fixer { options })
    }

    /// Returns the mended JSON, `null` if the text is valid as it is, or `undefined` if it is refused.
    #[napi]
    pub fn parse(&self, text: String) -> Either<String, Either<Null, Undefined>> {
        let verdict = fix_with(&text, &self.options);
        if verdict.outcome() == Outcome::Clean {
            return Either::B(Either::A(Null));
        }
        match verdict.json() {
            Some(json) => Either::A(json.to_owned()),
            None => Either::B(Either::B(())),
        }
    }

    /// Returns the verdict as JSON text.
    #[napi]
    pub fn fix(&self, text: String) -> String {
        to_json(&encoding(true).encode(&fix_with(&text, &self.options)))
    }
}

/// Mends the calls of a set of tools.
#[napi]
pub struct Mender {
    inner: toolmend::Mender,
    notes: Vec<String>,
}

#[napi]
impl Mender {
    /// Compiles tools and a policy, which are JSON text.
    ///
    /// # Errors
    /// If they cannot be read, or if a schema is broken and `lenient` is false.
    #[napi(constructor)]
    pub fn new(tools: String, policy: String, feedback_limit: Option<u32>, lenient: bool) -> Result<Self> {
        let mut builder = toolmend::Mender::builder().policy(parse_policy(&policy)?);
        if let Some(characters) = feedback_limit.and_then(|characters| usize::try_from(characters).ok()) {
            builder = builder.feedback_limit(characters);
        }
        builder = builder.tools(&serde_json::from_str(&tools).map_err(invalid_argument)?);
        let (inner, notes) = if lenient {
            builder.build_lenient()
        } else {
            (builder.build().map_err(invalid_argument)?, Vec::new())
        };
        Ok(Mender { inner, notes })
    }

    /// Returns what is wrong with the tools, one line each.
    #[napi]
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Returns the names of the declared tools.
    #[napi]
    pub fn tool_names(&self) -> Vec<String> {
        self.inner.tools().iter().map(|tool| tool.name().to_owned()).collect()
    }

    /// Returns the verdict on one call as JSON text.
    #[napi]
    pub fn mend(
        &self,
        tool: String,
        arguments: String,
        is_text: bool,
        finish_reason: Option<String>,
    ) -> String {
        let finish = parse_finish(finish_reason.as_deref());
        to_json(&encoding(is_text).encode(&self.inner.mend_finished(&tool, &arguments, finish)))
    }

    /// Judges an answer by a response format, which is JSON text, and returns the verdict as JSON text.
    ///
    /// # Errors
    /// If the format cannot be read.
    #[napi]
    pub fn answer(&self, text: String, format: String, finish_reason: Option<String>) -> Result<String> {
        let format = serde_json::from_str(&format).map_err(invalid_argument)?;
        let finish = parse_finish(finish_reason.as_deref());
        Ok(to_json(&encoding(true).encode(&self.inner.answer(&text, &format, finish))))
    }

    /// Splits a whole model output into content, reasoning and calls, and returns them as JSON text.
    #[napi]
    pub fn turn(
        &self,
        text: String,
        dialect: Option<String>,
        model: Option<String>,
        reasoning_open: bool,
        finish_reason: Option<String>,
        request: Option<String>,
    ) -> String {
        let options = turn_options(dialect, model, reasoning_open, false, request);
        let finish = parse_finish(finish_reason.as_deref());
        to_json(&encoding(true).encode(&self.inner.turn(&text, &options, finish)))
    }

    /// Starts to read a model output piece by piece.
    #[napi]
    pub fn stream(
        &self,
        dialect: Option<String>,
        model: Option<String>,
        reasoning_open: bool,
        live: bool,
        previews: bool,
        request: Option<String>,
    ) -> Stream {
        let options = turn_options(dialect, model, reasoning_open, live, request).previews(previews);
        Stream { inner: Mutex::new(self.inner.stream(&options)) }
    }
}

fn turn_options(
    dialect: Option<String>,
    model: Option<String>,
    reasoning_open: bool,
    live: bool,
    request: Option<String>,
) -> TurnOptions {
    let delivery = if live { Delivery::Live } else { Delivery::Held };
    let options = dialect.into_iter().fold(TurnOptions::new(), TurnOptions::dialect);
    let options = model.into_iter().fold(options, TurnOptions::model);
    // The wrapper writes it, so it is JSON.
    let request = request.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let options = options.delivery(delivery).request(&request);
    if reasoning_open { options.reasoning_open(true) } else { options }
}

/// Returns where a text stops being JSON, in UTF-16 units, or 0 if it is JSON.
#[napi]
pub fn find_first_error(text: String) -> u32 {
    let valid = match strict::check(&text, strict::MAX_DEPTH) {
        Ok(()) => "",
        Err(Fault::Syntax(at) | Fault::Depth(at)) => text.get(..at).unwrap_or(&text),
    };
    u32::try_from(valid.encode_utf16().count()).unwrap_or(u32::MAX)
}

/// Reads JSON piece by piece, for display.
#[napi]
#[derive(Default)]
pub struct Preview {
    inner: Mutex<toolmend::Preview>,
}

#[napi]
impl Preview {
    /// Begins a text.
    #[napi(constructor)]
    pub fn new() -> Self {
        Preview::default()
    }

    /// Reads the next piece.
    #[napi]
    pub fn push(&self, piece: String) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).push(&piece);
    }

    /// Returns the value so far as JSON text, or `undefined` before its first bracket.
    #[napi]
    pub fn json(&self) -> Option<String> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).json()
    }
}

/// Reads a model output piece by piece.
#[napi]
pub struct Stream {
    inner: Mutex<toolmend::Stream>,
}

#[napi]
impl Stream {
    /// Reads the next piece and returns the events that it completes, as JSON text.
    #[napi]
    pub fn push(&self, piece: Either<String, Buffer>) -> String {
        self.write_events(|stream| match &piece {
            Either::A(text) => stream.push(text),
            Either::B(bytes) => stream.push(&bytes[..]),
        })
    }

    /// Ends the output and returns the remaining events as JSON text.
    #[napi]
    pub fn finish(&self, finish_reason: Option<String>) -> String {
        self.write_events(|stream| stream.finish(parse_finish(finish_reason.as_deref())))
    }

    fn write_events(&self, read: impl FnOnce(&mut toolmend::Stream) -> Vec<Event>) -> String {
        let events = read(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner));
        to_json(&events.iter().map(|event| encoding(true).encode(event)).collect::<Vec<_>>())
    }
}
