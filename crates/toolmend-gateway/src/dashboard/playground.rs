//! The playground: a model's output and tools in, what the library makes of it out. No server is needed.

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde_json::{Value, json};
use toolmend::{Call, Finish, Mender, Part, Policy, TurnOptions, Verdict};

use super::Dashboard;
use super::access::Access;
use super::api::send;
use super::explain::places;
use crate::config::PolicyName;
use crate::http::Body;

/// Longer texts are for the command line.
const LONGEST: usize = 1 << 20;

/// What is to be tried.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Trial {
    text: String,
    /// The tools, as JSON text: people are in the middle of typing it.
    tools: String,
    /// The text is the arguments of this tool, not a whole output.
    tool: String,
    model: String,
    dialect: String,
    finish: String,
    policy: String,
}

impl Dashboard {
    /// Mends what is to be tried.
    pub(super) async fn mend(&self, request: Request<Body>) -> Response<Body> {
        if let Some(refused) = self.refuse(request.headers(), Access::Look) {
            return refused;
        }
        let Ok(body) = Limited::new(request.into_body(), LONGEST).collect().await else {
            let why = json!({"error": format!("expected at most {LONGEST} bytes")});
            return send(StatusCode::PAYLOAD_TOO_LARGE, &why);
        };
        let trial: Trial = match serde_json::from_slice(&body.to_bytes()) {
            Ok(trial) => trial,
            Err(error) => return send(StatusCode::BAD_REQUEST, &json!({"error": error.to_string()})),
        };
        match tokio::task::spawn_blocking(move || trial.run()).await {
            Ok(answer) => send(StatusCode::OK, &answer),
            Err(_) => {
                send(StatusCode::INTERNAL_SERVER_ERROR, &json!({"error": "the text could not be read"}))
            }
        }
    }
}

impl Trial {
    fn run(&self) -> Value {
        let policy = PolicyName::from_name(&self.policy).unwrap_or_default();
        let builder = Mender::builder().policy(Policy::preset(policy.preset()));
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
        json!({
            "outcome": turn.outcome().name(),
            "content": turn.content,
            "reasoning": turn.reasoning,
            "notes": turn.notes,
            "segments": turn.segments(&self.text).into_iter().map(segment).collect::<Vec<_>>(),
            "calls": turn.calls.iter().map(call).collect::<Vec<_>>(),
        })
    }

    fn arguments(&self, mender: &Mender, finish: Finish) -> Value {
        let verdict = mender.mend_finished(&self.tool, &self.text, finish);
        let mut told = judged(&verdict, &self.text, 0);
        told["name"] = json!(verdict.tool().unwrap_or(&self.tool));
        json!({
            "outcome": verdict.outcome().name(),
            "content": "",
            "reasoning": "",
            "notes": [],
            "segments": [{"part": "call", "call": 0, "text": self.text}],
            "calls": [told],
        })
    }
}

fn call(call: &Call) -> Value {
    let mut told = judged(&call.verdict, &call.raw, call.at.start);
    told["name"] = json!(call.name);
    told["id"] = json!(call.id);
    told["dialect"] = json!(call.dialect);
    told["source"] = json!(call.source.name());
    told
}

/// A verdict on a text that begins at `offset` of what its repairs are placed in.
fn judged(verdict: &Verdict<'_>, text: &str, offset: usize) -> Value {
    let refusal = verdict.refusal();
    json!({
        "outcome": verdict.outcome().name(),
        "raw": text,
        "arguments": verdict.json(),
        "values": verdict.values(),
        "repairs": places(verdict.repairs(), text, offset),
        "reason": verdict.reason().map(toolmend::Reason::name),
        "message": refusal.map(|refusal| refusal.message.as_str()),
        "readings": refusal.map(|refusal| refusal.readings.as_slice()),
        "cut": refusal.and_then(|refusal| refusal.cut.as_deref()),
        "partial": refusal.and_then(|refusal| refusal.partial.as_deref()),
        "feedback": verdict.feedback(),
        "notes": verdict.notes(),
    })
}
