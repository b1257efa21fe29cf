//! The playground: mends a model's output with the library. No server is involved.

use std::time::Duration;

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde_json::{Value, json};
use toolmend::{Encoding, Finish, Mender, Part, Policy, Preset, Repair, TurnOptions};

use super::Dashboard;
use super::access::Access;
use super::api::uncached_json;
use super::explain::places;
use crate::guard::Lane;
use crate::http::Body;

/// The longest request, in bytes. Longer texts are for the command line.
const MAX_LENGTH: usize = 1 << 20;

/// What a visitor wants to try.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Trial {
    text: String,
    /// The tools, as JSON text that may still be incomplete.
    tools: String,
    /// If given, the text is the arguments of this tool and not a whole output.
    tool: String,
    model: String,
    dialect: String,
    finish: String,
    policy: String,
}

impl Dashboard {
    /// Answers with the mended text.
    pub(super) async fn answer_trial(&self, request: Request<Body>) -> Response<Body> {
        if let Some(denied) = self.deny(request.headers(), Access::Read) {
            return denied;
        }
        let Ok(body) = Limited::new(request.into_body(), MAX_LENGTH).collect().await else {
            let error = json!({"error": format!("expected at most {MAX_LENGTH} bytes")});
            return uncached_json(StatusCode::PAYLOAD_TOO_LARGE, &error);
        };
        let trial: Trial = match serde_json::from_slice(&body.to_bytes()) {
            Ok(trial) => trial,
            Err(error) => {
                return uncached_json(StatusCode::BAD_REQUEST, &json!({"error": error.to_string()}));
            }
        };
        let budget = Duration::from_millis(self.proxy.setup.load().config.limits.work_millis);
        match self.proxy.work.run(Lane::Slow, budget, move || trial.run()).await {
            Some(answer) => uncached_json(StatusCode::OK, &answer),
            None => uncached_json(
                StatusCode::SERVICE_UNAVAILABLE,
                &json!({"error": "the text could not be read in time"}),
            ),
        }
    }
}

impl Trial {
    fn run(&self) -> Value {
        let policy = self.policy.to_ascii_lowercase().parse::<Preset>().unwrap_or_default();
        let builder = Mender::builder().policy(Policy::preset(policy));
        let (tools, error) = match serde_json::from_str::<Value>(&self.tools) {
            Ok(tools) => (tools, None),
            Err(_) if self.tools.trim().is_empty() => (json!([]), None),
            Err(error) => (json!([]), Some(error.to_string())),
        };
        let (mender, notes) = builder.tools(&tools).build_lenient();
        let names: Vec<&str> = mender.tools().iter().map(toolmend::Tool::name).collect();
        let finish = if self.finish.is_empty() { Finish::Unknown } else { Finish::from_reason(&self.finish) };
        let mut answer =
            if self.tool.is_empty() { self.turn(&mender, finish) } else { self.arguments(&mender, finish) };
        answer["tools"] = json!({"names": names, "error": error, "notes": notes});
        answer
    }

    fn turn(&self, mender: &Mender, finish: Finish) -> Value {
        let mut options = TurnOptions::new();
        if !self.model.is_empty() {
            options = options.model(&self.model);
        }
        if !self.dialect.is_empty() {
            options = options.dialect(&self.dialect);
        }
        let turn = mender.turn(&self.text, &options, finish);
        let segment = |(part, at): (Part, std::ops::Range<usize>)| {
            let (name, call) = match part {
                Part::Content => ("content", None),
                Part::Reasoning => ("reasoning", None),
                Part::Call(index) => ("call", Some(index)),
                _ => ("markup", None),
            };
            json!({"part": name, "call": call, "text": self.text.get(at).unwrap_or_default()})
        };
        let mut answer = json!(Encoding::detailed().encode(&turn));
        answer["reasoning"] = json!(turn.reasoning);
        answer["notes"] = json!(turn.notes);
        answer["segments"] = turn.segments(&self.text).into_iter().map(segment).collect();
        for (shown, call) in answer["calls"].as_array_mut().into_iter().flatten().zip(&turn.calls) {
            show_positions(shown, call.verdict.repairs(), &call.raw, call.at.start);
        }
        answer
    }

    fn arguments(&self, mender: &Mender, finish: Finish) -> Value {
        let verdict = mender.mend_finished(&self.tool, &self.text, finish);
        let encoding = Encoding::detailed().value_field("arguments").input(&self.text);
        let mut call = json!(encoding.encode(&verdict));
        call["name"] = json!(verdict.tool().unwrap_or(&self.tool));
        call["raw"] = json!(self.text);
        show_positions(&mut call, verdict.repairs(), &self.text, 0);
        json!({
            "outcome": verdict.outcome().name(),
            "content": "",
            "reasoning": "",
            "notes": [],
            "segments": [{"part": "call", "call": 0, "text": self.text}],
            "calls": [call],
        })
    }
}

/// Gives the repairs of a call positions as browsers count them, in its text, which begins at `offset` of the output.
fn show_positions(call: &mut Value, repairs: &[Repair], text: &str, offset: usize) {
    call["repairs"] = json!(places(repairs, text, offset));
}
