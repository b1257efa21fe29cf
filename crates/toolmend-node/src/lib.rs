//! The native half of the Node package. Texts go in and JSON texts come out: V8 reads JSON faster than any binding can
//! build objects, and what frameworks want is text anyway.

mod told;

use std::sync::{Mutex, PoisonError};

use napi::bindgen_prelude::{Buffer, Either, Null, Undefined};
use napi::{Error, Result, Status};
use napi_derive::napi;
use serde_json::Value;
use toolmend::{
    Delivery, Finish, FixOptions, Limits, Outcome, Policy, Preset, RepairKind, Schema, Tier, TurnOptions,
    fix_with,
};

/// An error of the caller.
fn refused(message: impl ToString) -> Error {
    Error::new(Status::InvalidArg, message.to_string())
}

fn finish(reason: Option<&str>) -> Finish {
    reason.map_or(Finish::Unknown, Finish::from_reason)
}

fn named<T>(what: &str, name: &str, found: Option<T>) -> Result<T> {
    found.ok_or_else(|| refused(format!("{what}: {name:?} is not known")))
}

/// What may be repaired, as the JavaScript side writes it down.
fn policy(rules: &str) -> Result<Policy> {
    let rules: Value = serde_json::from_str(rules).map_err(refused)?;
    let text = |name: &str| rules.get(name).and_then(Value::as_str);
    let names = |name: &str| {
        let list = rules.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        list.into_iter().filter_map(|name| name.as_str().map(str::to_owned))
    };
    let number =
        |name: &str| rules.get(name).and_then(Value::as_u64).and_then(|number| number.try_into().ok());
    let mut policy = match text("preset") {
        Some(name) => Policy::preset(named("preset", name, Preset::from_name(name))?),
        None => Policy::default(),
    };
    if let Some(name) = text("maxTier") {
        policy = policy.max_tier(named("maxTier", name, Tier::from_name(name))?);
    }
    for (tool, name) in rules.get("tiers").and_then(Value::as_object).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        policy = policy.max_tier_for(tool, named("tiers", name, Tier::from_name(name))?);
    }
    for name in names("on") {
        policy = policy.with(named("on", &name, RepairKind::from_name(&name))?);
    }
    for name in names("off") {
        policy = policy.without(named("off", &name, RepairKind::from_name(&name))?);
    }
    let mut limits = Limits::default();
    limits.bytes = number("maxBytes").unwrap_or(limits.bytes);
    limits.depth = number("maxDepth").unwrap_or(limits.depth);
    Ok(policy.limits(limits))
}

/// What a text is mended under, compiled once.
#[napi]
pub struct Fixer {
    options: FixOptions,
}

#[napi]
impl Fixer {
    /// Schema and rules are JSON text.
    ///
    /// # Errors
    /// Where they cannot be read.
    #[napi(constructor)]
    pub fn new(schema: Option<String>, rules: String, finish_reason: Option<String>) -> Result<Self> {
        let mut options = FixOptions::new().policy(policy(&rules)?).finish(finish(finish_reason.as_deref()));
        if let Some(text) = schema {
            let source = serde_json::from_str(&text).map_err(refused)?;
            options = options.schema(Schema::new(&source).map_err(refused)?);
        }
        Ok(Fixer { options })
    }

    /// The mended JSON, `null` where the text is fine as it is, nothing where it is refused.
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

    /// The verdict, as JSON text.
    #[napi]
    pub fn fix(&self, text: String) -> String {
        told::verdict(&fix_with(&text, &self.options), true).to_string()
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
    /// Tools and rules are JSON text.
    ///
    /// # Errors
    /// Where they cannot be read, or a schema is broken and that matters.
    #[napi(constructor)]
    pub fn new(tools: String, rules: String, feedback_limit: Option<u32>, lenient: bool) -> Result<Self> {
        let mut builder = toolmend::Mender::builder().policy(policy(&rules)?);
        if let Some(characters) = feedback_limit.and_then(|characters| usize::try_from(characters).ok()) {
            builder = builder.feedback_limit(characters);
        }
        builder = builder.tools(&serde_json::from_str(&tools).map_err(refused)?);
        let (inner, notes) =
            if lenient { builder.build_lenient() } else { (builder.build().map_err(refused)?, Vec::new()) };
        Ok(Mender { inner, notes })
    }

    /// What is wrong with the tools.
    #[napi]
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The names of the declared tools.
    #[napi]
    pub fn tool_names(&self) -> Vec<String> {
        self.inner.tools().iter().map(|tool| tool.name().to_owned()).collect()
    }

    /// The verdict on one call, as JSON text.
    #[napi]
    pub fn mend(
        &self,
        tool: String,
        arguments: String,
        is_text: bool,
        finish_reason: Option<String>,
    ) -> String {
        let verdict = self.inner.mend_finished(&tool, &arguments, finish(finish_reason.as_deref()));
        told::verdict(&verdict, is_text).to_string()
    }

    /// A whole output taken apart, as JSON text.
    #[napi]
    pub fn turn(
        &self,
        text: String,
        dialect: Option<String>,
        model: Option<String>,
        reasoning_open: bool,
        finish_reason: Option<String>,
    ) -> String {
        let options = options(dialect, model, reasoning_open, false);
        told::turn(&self.inner.turn(&text, &options, finish(finish_reason.as_deref()))).to_string()
    }

    /// Starts to read an output piece by piece.
    #[napi]
    pub fn stream(
        &self,
        dialect: Option<String>,
        model: Option<String>,
        reasoning_open: bool,
        live: bool,
    ) -> Stream {
        Stream { inner: Mutex::new(self.inner.stream(&options(dialect, model, reasoning_open, live))) }
    }
}

fn options(dialect: Option<String>, model: Option<String>, reasoning_open: bool, live: bool) -> TurnOptions {
    let delivery = if live { Delivery::Live } else { Delivery::Held };
    let known = dialect.into_iter().fold(TurnOptions::new(), TurnOptions::dialect);
    let known = model.into_iter().fold(known, TurnOptions::model);
    known.reasoning_open(reasoning_open).delivery(delivery)
}

/// Reads an output piece by piece.
#[napi]
pub struct Stream {
    inner: Mutex<toolmend::Stream>,
}

#[napi]
impl Stream {
    /// Takes the next piece, and tells the events as JSON text.
    #[napi]
    pub fn push(&self, piece: Either<String, Buffer>) -> String {
        self.tell(|stream| match &piece {
            Either::A(text) => stream.push(text),
            Either::B(bytes) => stream.push(&bytes[..]),
        })
    }

    /// Ends the output, and tells what was held.
    #[napi]
    pub fn finish(&self, finish_reason: Option<String>) -> String {
        self.tell(|stream| stream.finish(finish(finish_reason.as_deref())))
    }

    fn tell(&self, read: impl FnOnce(&mut toolmend::Stream) -> Vec<toolmend::Event>) -> String {
        let events = read(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner));
        Value::from(events.iter().map(told::event).collect::<Vec<_>>()).to_string()
    }
}
