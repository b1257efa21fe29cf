//! Calls of declared tools.

use toolmend::{Delivery, TurnOptions};
use wasm_bindgen::prelude::*;

use crate::answers::{encoding, to_json};
use crate::options::{parse_finish, parse_json, parse_policy};
use crate::stream::Stream;

/// Mends the calls of a set of tools.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Mender {
    inner: toolmend::Mender,
    notes: Vec<String>,
}

#[wasm_bindgen]
impl Mender {
    /// Compiles tools and a policy, which are JSON text.
    ///
    /// # Errors
    /// If they cannot be read, or if a schema is broken and `lenient` is false.
    #[wasm_bindgen(constructor)]
    pub fn new(
        tools: &str,
        policy: &str,
        feedback_limit: Option<u32>,
        lenient: bool,
    ) -> Result<Mender, JsError> {
        let mut builder = toolmend::Mender::builder().policy(parse_policy(policy)?);
        if let Some(characters) = feedback_limit.and_then(|characters| usize::try_from(characters).ok()) {
            builder = builder.feedback_limit(characters);
        }
        builder = builder.tools(&parse_json("tools", tools)?);
        let (inner, notes) = if lenient { builder.build_lenient() } else { (builder.build()?, Vec::new()) };
        Ok(Mender { inner, notes })
    }

    /// Returns what is wrong with the tools, one line each.
    pub fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Returns the names of the declared tools.
    #[wasm_bindgen(js_name = toolNames)]
    pub fn tool_names(&self) -> Vec<String> {
        self.inner.tools().iter().map(|tool| tool.name().to_owned()).collect()
    }

    /// Returns the verdict on one call as JSON text.
    pub fn mend(&self, tool: &str, arguments: &str, is_text: bool, finish_reason: Option<String>) -> String {
        let finish = parse_finish(finish_reason.as_deref());
        to_json(&encoding(is_text).encode(&self.inner.mend_finished(tool, arguments, finish)))
    }

    /// Judges an answer by a response format, which is JSON text, and returns the verdict as JSON text.
    ///
    /// # Errors
    /// If the format cannot be read.
    pub fn answer(&self, text: &str, format: &str, finish_reason: Option<String>) -> Result<String, JsError> {
        let format = parse_json("format", format)?;
        let finish = parse_finish(finish_reason.as_deref());
        Ok(to_json(&encoding(true).encode(&self.inner.answer(text, &format, finish))))
    }

    /// Splits a whole model output into content, reasoning and calls, and returns them as JSON text.
    ///
    /// # Errors
    /// If the request cannot be read.
    pub fn turn(
        &self,
        text: &str,
        dialect: Option<String>,
        model: Option<String>,
        reasoning_open: bool,
        finish_reason: Option<String>,
        request: Option<String>,
    ) -> Result<String, JsError> {
        let options = turn_options(dialect, model, reasoning_open, request)?;
        let finish = parse_finish(finish_reason.as_deref());
        Ok(to_json(&encoding(true).encode(&self.inner.turn(text, &options, finish))))
    }

    /// Starts to read a model output piece by piece.
    ///
    /// # Errors
    /// If the request cannot be read.
    pub fn stream(
        &self,
        dialect: Option<String>,
        model: Option<String>,
        reasoning_open: bool,
        live: bool,
        previews: bool,
        request: Option<String>,
    ) -> Result<Stream, JsError> {
        let delivery = if live { Delivery::Live } else { Delivery::Held };
        let options =
            turn_options(dialect, model, reasoning_open, request)?.delivery(delivery).previews(previews);
        Ok(Stream::new(self.inner.stream(&options)))
    }
}

fn turn_options(
    dialect: Option<String>,
    model: Option<String>,
    reasoning_open: bool,
    request: Option<String>,
) -> Result<TurnOptions, JsError> {
    let options = dialect.into_iter().fold(TurnOptions::new(), TurnOptions::dialect);
    let options = model.into_iter().fold(options, TurnOptions::model);
    let request: serde_json::Value =
        request.map_or(Ok(serde_json::Value::Null), |text| parse_json("request", &text))?;
    let options = options.request(&request);
    Ok(if reasoning_open { options.reasoning_open(true) } else { options })
}
