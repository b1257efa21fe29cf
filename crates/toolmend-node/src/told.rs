//! Verdicts, turns and events as the JSON that the JavaScript side reads. Values inside stay JSON text there, so that
//! they are read when somebody asks for them.

use serde_json::{Value, json};
use toolmend::{Call, Event, Turn, Verdict};

/// A verdict. Places mean something only where the input was text.
pub(crate) fn verdict(verdict: &Verdict<'_>, is_text: bool) -> Value {
    let repairs = verdict.repairs().iter().map(|repair| {
        let kind = repair.kind;
        json!({
            "kind": kind.name(),
            "layer": kind.layer().name(),
            "tier": kind.tier().name(),
            "summary": kind.info().summary,
            "path": repair.path,
            "at": repair.at.as_ref().filter(|_| is_text).map(|at| [at.start, at.end]),
        })
    });
    let mut told = json!({
        "outcome": verdict.outcome().name(),
        "tool": verdict.tool(),
        "json": verdict.json(),
        "text": verdict.text(),
        "repairs": repairs.collect::<Vec<_>>(),
        "values": verdict.values(),
        "notes": verdict.notes(),
        "feedback": verdict.feedback(),
    });
    if let (Some(refusal), Some(fields)) = (verdict.refusal(), told.as_object_mut()) {
        let violations = refusal.violations.iter().map(|found| {
            json!({
                "path": found.path,
                "keyword": found.keyword,
                "schemaPath": found.schema_path,
                "message": found.message,
            })
        });
        fields.insert("violations".to_owned(), violations.collect());
        for (name, value) in [
            ("reason", json!(verdict.reason().map(toolmend::Reason::name))),
            ("message", json!(refusal.message)),
            ("readings", json!(refusal.readings)),
            ("cut", json!(refusal.cut)),
            ("partial", json!(refusal.partial)),
        ] {
            fields.insert(name.to_owned(), value);
        }
    }
    told
}

fn call(call: &Call) -> Value {
    json!({
        "name": call.name,
        "id": call.id,
        "source": call.source.name(),
        "dialect": call.dialect,
        "at": [call.at.start, call.at.end],
        "raw": call.raw,
        "verdict": verdict(&call.verdict, true),
    })
}

/// A whole output.
pub(crate) fn turn(turn: &Turn) -> Value {
    json!({
        "outcome": turn.outcome().name(),
        "content": turn.content,
        "reasoning": turn.reasoning,
        "calls": turn.calls.iter().map(call).collect::<Vec<_>>(),
        "notes": turn.notes,
    })
}

/// What a stream tells.
pub(crate) fn event(event: &Event) -> Value {
    match event {
        Event::Content(text) => json!({"type": "content", "text": text}),
        Event::Reasoning(text) => json!({"type": "reasoning", "text": text}),
        Event::CallStart { index, name, id } => {
            json!({"type": "call-start", "index": index, "name": name, "id": id})
        }
        Event::ArgumentsDelta { index, text } => {
            json!({"type": "arguments-delta", "index": index, "text": text})
        }
        Event::CallEnd { index, call: ended } => {
            json!({"type": "call-end", "index": index, "call": call(ended)})
        }
        Event::CallCut { index, call: ended } => {
            json!({"type": "call-cut", "index": index, "call": call(ended)})
        }
        Event::CallRejected { index, call: ended } => {
            json!({"type": "call-rejected", "index": index, "call": call(ended)})
        }
        Event::Note(text) => json!({"type": "note", "text": text}),
        other => json!({"type": "note", "text": format!("{other:?}")}),
    }
}
