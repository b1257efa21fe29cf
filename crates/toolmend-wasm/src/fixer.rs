//! JSON text without tools.

use toolmend::{FixOptions, Outcome, Schema, fix_with};
use wasm_bindgen::prelude::*;

use crate::answers::{encoding, to_json};
use crate::options::{parse_finish, parse_json, parse_policy};

/// A schema, a policy and a finish reason, compiled once for many texts.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Fixer {
    options: FixOptions,
}

#[wasm_bindgen]
impl Fixer {
    /// Compiles a schema and a policy, which are JSON text.
    ///
    /// # Errors
    /// If they cannot be read. The light build can read no schema.
    #[wasm_bindgen(constructor)]
    pub fn new(
        schema: Option<String>,
        policy: &str,
        finish_reason: Option<String>,
    ) -> Result<Fixer, JsError> {
        let finish = parse_finish(finish_reason.as_deref());
        let mut options = FixOptions::new().policy(parse_policy(policy)?).finish(finish);
        if let Some(text) = schema {
            options = options.schema(Schema::new(&parse_json("schema", &text)?)?);
        }
        Ok(Fixer { options })
    }

    /// Returns the mended JSON, `null` if the text is valid as it is, or `undefined` if it is refused.
    pub fn parse(&self, text: &str) -> JsValue {
        let verdict = fix_with(text, &self.options);
        if verdict.outcome() == Outcome::Clean {
            return JsValue::NULL;
        }
        verdict.json().map_or(JsValue::UNDEFINED, JsValue::from_str)
    }

    /// Returns the verdict as JSON text.
    pub fn fix(&self, text: &str) -> String {
        to_json(&encoding(true).encode(&fix_with(text, &self.options)))
    }
}
