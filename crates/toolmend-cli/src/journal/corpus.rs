//! An entry as a case for the corpus; `corpus/README.md` describes the format.
//!
//! A case says what the program answers today. Whoever adds it reads it first: the answer may be what is wrong.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolmend::{Call, Finish, Layer, Mender, Outcome, REPAIRS, Tool, TurnOptions, Verdict};
use toolmend_journal::{Entry, StoredValues};

/// A case, and what should be known about it.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) text: String,
    pub(super) notes: Vec<String>,
}

const REVIEW: &str = "the case says what toolmend answers today: read it before you add it";

/// The case of an entry, or why there is none.
pub(super) fn case(entry: &Entry) -> Result<Case, String> {
    let (Some(before), StoredValues::Whole) = (&entry.before, entry.values) else {
        return Err("the values of this entry were not stored; serve with --journal-values whole".to_owned());
    };
    if entry.is_shortened() {
        return Err("the text of this entry was too long to be stored as a whole".to_owned());
    }
    if before.contains("\n--- output\n") {
        return Err("the text holds the line that ends the input of a case".to_owned());
    }
    let schema: Option<Value> = entry.schema.as_deref().and_then(|text| serde_json::from_str(text).ok());
    if entry.dialect.is_some() {
        return in_text(entry, before, schema);
    }
    if needs_its_name(entry) {
        // The name is part of the case, so it has to be written down with the arguments.
        let called = entry.called.as_deref().unwrap_or(&entry.series.tool);
        let call =
            format!("<tool_call>\n{{\"name\": {}, \"arguments\": {before}}}\n</tool_call>", json!(called));
        return in_text(entry, &call, schema);
    }
    arguments(entry, before, schema.as_ref())
}

/// Whether nothing but the name was wrong.
fn needs_its_name(entry: &Entry) -> bool {
    let is_name = |kind: &str| REPAIRS.iter().any(|row| row.name == kind && row.layer == Layer::Name);
    let renamed = !entry.repairs.is_empty() && entry.repairs.iter().all(|change| is_name(&change.kind));
    renamed || entry.reason.as_deref() == Some("unknown_tool")
}

fn what(entry: &Entry) -> String {
    let model = entry.series.model.replace(['\n', '\r'], " ");
    let mut kinds: Vec<&str> = entry.repairs.iter().map(|change| change.kind.as_str()).collect();
    kinds.dedup();
    let why = entry.reason.as_deref().map_or_else(|| kinds.join(", "), ToOwned::to_owned);
    let why = if why.is_empty() { entry.series.outcome.to_string() } else { why };
    format!("what: seen from {model}: {why}\n")
}

/// The arguments of a call that the server had recognised.
fn arguments(entry: &Entry, before: &str, schema: Option<&Value>) -> Result<Case, String> {
    let name = &*entry.series.tool;
    let tool = match schema {
        Some(schema) => Tool::new(name, schema).map_err(|error| error.to_string())?,
        None => Tool::unconstrained(name),
    };
    let mender = Mender::builder().tool(tool).build().map_err(|error| error.to_string())?;
    let finish = entry.finish.as_deref().map_or(Finish::Unknown, Finish::from_reason);
    let verdict = mender.mend_finished(name, before, finish);
    let mut head = what(entry);
    if let Some(schema) = &schema {
        line(&mut head, "schema", &schema.to_string());
    }
    line(&mut head, "tool", name);
    if let Some(finish) = &entry.finish {
        line(&mut head, "finish", finish);
    }
    line(&mut head, "outcome", verdict.outcome().name());
    let mut kinds: Vec<&str> = Vec::new();
    for repair in verdict.repairs() {
        if !kinds.contains(&repair.kind.name()) {
            kinds.push(repair.kind.name());
        }
    }
    if !kinds.is_empty() {
        line(&mut head, "repairs", &kinds.join(", "));
    }
    if let Some(reason) = verdict.reason() {
        line(&mut head, "reason", reason.name());
    }
    if let Some(cut) = verdict.refusal().and_then(|refusal| refusal.cut.as_deref()) {
        line(&mut head, "cut", cut);
    }
    let output = verdict.json().map(|json| format!("--- output\n{json}\n")).unwrap_or_default();
    Ok(Case { text: format!("{head}--- input\n{before}\n{output}"), notes: notes(entry, &verdict) })
}

/// A call that stood in text.
fn in_text(entry: &Entry, text: &str, schema: Option<Value>) -> Result<Case, String> {
    let name = &*entry.series.tool;
    let tools = json!([{"name": name, "parameters": schema.unwrap_or_else(|| json!({"type": "object"}))}]);
    let mender = Mender::new(&tools).map_err(|error| error.to_string())?;
    let options = TurnOptions::new().model(&*entry.series.model);
    // How its turn ended is not known any more: the first that gives the same call.
    let ends = [("stop", Finish::Stop), ("length", Finish::Length), ("", Finish::Unknown)];
    let turns = ends.map(|(end, finish)| (end, mender.turn(text, &options, finish)));
    let fits = |call: &Call| call.name == name && call.outcome().runs() == entry.after.is_some();
    let same = |call: &Call| fits(call) && call.arguments() == entry.after.as_deref();
    let find = |wanted: &dyn Fn(&Call) -> bool| {
        turns.iter().find(|(_, turn)| matches!(&turn.calls[..], [call] if wanted(call)))
    };
    let Some((end, turn)) = find(&same).or_else(|| find(&fits)) else {
        return Err("the call cannot be understood without the output that it stood in".to_owned());
    };
    let mut head = what(entry);
    line(&mut head, "tools", &tools.to_string());
    line(&mut head, "model", &entry.series.model);
    if !end.is_empty() {
        line(&mut head, "finish", end);
    }
    let mut out = String::new();
    for (word, text) in [("content", &turn.content), ("reasoning", &turn.reasoning)] {
        if !text.trim().is_empty() {
            line_of(&mut out, word, &json!(text.trim()).to_string());
        }
    }
    let mut told = Vec::new();
    for call in &turn.calls {
        let id = call.id.as_deref().map(|id| format!(" {id}")).unwrap_or_default();
        let partial = call.verdict.refusal().and_then(|refusal| refusal.partial.as_deref()).unwrap_or("{}");
        match call.outcome() {
            Outcome::Clean | Outcome::Mended => {
                let arguments = toolmend::compact_json(call.arguments().unwrap_or("{}"));
                line_of(&mut out, "call", &format!("{}{id} {arguments}", call.name));
            }
            Outcome::Truncated => {
                let partial = toolmend::compact_json(partial);
                line_of(&mut out, "cut", &format!("{}{id} {partial}", call.name));
            }
            _ => line_of(&mut out, "rejected", &format!("{}{id}", call.name)),
        }
        told = notes(entry, &call.verdict);
    }
    Ok(Case { text: format!("{head}--- input\n{text}\n--- output\n{out}"), notes: told })
}

fn notes(entry: &Entry, verdict: &Verdict<'_>) -> Vec<String> {
    let mut notes = vec![REVIEW.to_owned()];
    let same = verdict.outcome().runs() == entry.after.is_some()
        && (verdict.json().is_none() || verdict.json() == entry.after.as_deref());
    if !same {
        notes.push(format!("the answer was another one then: {}", entry.series.outcome));
    }
    notes
}

/// A line of the head.
fn line(head: &mut String, name: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(head, "{name}: {}", text.replace(['\n', '\r'], " "));
}

/// A line of the output.
fn line_of(out: &mut String, word: &str, text: &str) {
    let _ = writeln!(out, "{word} {text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use toolmend_journal::Series;

    fn entry(before: &str, after: Option<&str>, change: impl FnOnce(&mut Entry)) -> Entry {
        let series = Series {
            surface: "chat".into(),
            upstream: "http://h".into(),
            model: "qwen3".into(),
            tool: "read".into(),
            outcome: if after.is_some() { "mended" } else { "rejected" }.into(),
        };
        let mut entry = Entry::new(series);
        entry.before = Some(before.to_owned());
        entry.before_bytes = before.len();
        entry.after = after.map(ToOwned::to_owned);
        entry.after_bytes = after.map_or(0, str::len);
        entry.schema = Some(Arc::from(r#"{"properties":{"path":{"type":"string"}},"required":["path"]}"#));
        change(&mut entry);
        entry
    }

    #[test]
    fn arguments_become_a_case_of_syntax() {
        let case = case(&entry("{'path': 'a',}", Some("{\"path\": \"a\"}"), |_| {})).unwrap();
        assert_eq!(
            case.text,
            "what: seen from qwen3: mended\n\
             schema: {\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}\n\
             tool: read\noutcome: mended\nrepairs: quotes_replaced, trailing_comma_removed\n\
             --- input\n{'path': 'a',}\n--- output\n{\"path\": \"a\"}\n"
        );
        assert_eq!(case.notes, [REVIEW]);
    }

    #[test]
    fn a_call_in_text_becomes_a_case_of_its_dialect() {
        let text = "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}</tool_call>";
        let entry =
            entry(text, Some("{\"path\": \"a\"}"), |entry| entry.dialect = Some("hermes_json".into()));
        let case = case(&entry).unwrap();
        assert!(
            case.text.ends_with(&format!("--- input\n{text}\n--- output\ncall read {{\"path\":\"a\"}}\n"))
        );
        assert!(case.text.contains("\nfinish: stop\n"), "{}", case.text);
    }

    #[test]
    fn what_was_not_stored_becomes_no_case() {
        for change in [
            (|entry: &mut Entry| entry.values = StoredValues::Masked) as fn(&mut Entry),
            |entry| entry.before = None,
            |entry| entry.before_bytes += 1,
            |entry| entry.before = Some("a\n--- output\nb".into()),
        ] {
            assert!(case(&entry("{}", None, change)).is_err());
        }
    }
}
