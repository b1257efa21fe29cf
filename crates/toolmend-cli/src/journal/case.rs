//! Turns an entry into a corpus case. `corpus/README.md` describes the format.
//!
//! The case expects what toolmend answers today, and that may be the bug. So it must be reviewed before it is added.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolmend::{Call, Finish, Layer, Mender, Outcome, REPAIRS, Tool, TurnOptions, Verdict};
use toolmend_journal::{Entry, StoredValues};

/// A case, with notes for the person who adds it.
#[derive(Debug)]
pub(super) struct CorpusCase {
    pub(super) text: String,
    pub(super) notes: Vec<String>,
}

const REVIEW_NOTE: &str = "the case expects what toolmend answers today; review it before you add it";

/// Builds the case of an entry, or says why that is not possible.
pub(super) fn build_case(entry: &Entry) -> Result<CorpusCase, String> {
    let (Some(before), StoredValues::Whole) = (&entry.before, entry.values) else {
        return Err("the values of this entry were not stored; run the gateway with --journal-values whole"
            .to_owned());
    };
    if entry.is_shortened() {
        return Err("the text of this entry was too long to be stored completely".to_owned());
    }
    if before.contains("\n--- output\n") {
        return Err("the text contains the line `--- output`, which ends the input of a case".to_owned());
    }
    let schema: Option<Value> = entry.schema.as_deref().and_then(|text| serde_json::from_str(text).ok());
    if entry.dialect.is_some() {
        return build_dialect_case(entry, before, schema);
    }
    if is_only_name_wrong(entry) {
        // A syntax case has no place for the name that the model wrote.
        let called = entry.called.as_deref().unwrap_or(&entry.series.tool);
        let call =
            format!("<tool_call>\n{{\"name\": {}, \"arguments\": {before}}}\n</tool_call>", json!(called));
        return build_dialect_case(entry, &call, schema);
    }
    build_syntax_case(entry, before, schema.as_ref())
}

/// Whether only the name of the tool was wrong.
fn is_only_name_wrong(entry: &Entry) -> bool {
    let is_name = |kind: &str| REPAIRS.iter().any(|row| row.name == kind && row.layer == Layer::Name);
    let renamed = !entry.repairs.is_empty() && entry.repairs.iter().all(|change| is_name(&change.kind));
    renamed || entry.reason.as_deref() == Some("unknown_tool")
}

/// Returns the first line of the head.
fn describe_entry(entry: &Entry) -> String {
    let model = entry.series.model.replace(['\n', '\r'], " ");
    let mut kinds: Vec<&str> = entry.repairs.iter().map(|change| change.kind.as_str()).collect();
    kinds.dedup();
    let why = entry.reason.as_deref().map_or_else(|| kinds.join(", "), ToOwned::to_owned);
    let why = if why.is_empty() { entry.series.outcome.to_string() } else { why };
    format!("what: seen from {model}: {why}\n")
}

/// Builds a case from the arguments of a call that the server had recognised.
fn build_syntax_case(entry: &Entry, before: &str, schema: Option<&Value>) -> Result<CorpusCase, String> {
    let name = &*entry.series.tool;
    let tool = match schema {
        Some(schema) => Tool::new(name, schema).map_err(|error| error.to_string())?,
        None => Tool::unconstrained(name),
    };
    let mender = Mender::builder().tool(tool).build().map_err(|error| error.to_string())?;
    let finish = entry.finish.as_deref().map_or(Finish::Unknown, Finish::from_reason);
    let verdict = mender.mend_finished(name, before, finish);
    let mut head = describe_entry(entry);
    if let Some(schema) = &schema {
        write_head_line(&mut head, "schema", &schema.to_string());
    }
    write_head_line(&mut head, "tool", name);
    if let Some(finish) = &entry.finish {
        write_head_line(&mut head, "finish", finish);
    }
    write_head_line(&mut head, "outcome", verdict.outcome().name());
    let mut kinds: Vec<&str> = Vec::new();
    for repair in verdict.repairs() {
        if !kinds.contains(&repair.kind.name()) {
            kinds.push(repair.kind.name());
        }
    }
    if !kinds.is_empty() {
        write_head_line(&mut head, "repairs", &kinds.join(", "));
    }
    if let Some(reason) = verdict.reason() {
        write_head_line(&mut head, "reason", reason.name());
    }
    if let Some(cut) = verdict.refusal().and_then(|refusal| refusal.cut.as_deref()) {
        write_head_line(&mut head, "cut", cut);
    }
    let output = verdict.json().map(|json| format!("--- output\n{json}\n")).unwrap_or_default();
    Ok(CorpusCase {
        text: format!("{head}--- input\n{before}\n{output}"),
        notes: collect_notes(entry, &verdict),
    })
}

/// Builds a case from a call in text.
fn build_dialect_case(entry: &Entry, text: &str, schema: Option<Value>) -> Result<CorpusCase, String> {
    let name = &*entry.series.tool;
    let tools = json!([{"name": name, "parameters": schema.unwrap_or_else(|| json!({"type": "object"}))}]);
    let mender = Mender::new(&tools).map_err(|error| error.to_string())?;
    let options = TurnOptions::new().model(&*entry.series.model);
    // The entry does not say how the turn ended, so the first ending that gives the same call is used.
    let ends = [("stop", Finish::Stop), ("length", Finish::Length), ("", Finish::Unknown)];
    let turns = ends.map(|(end, finish)| (end, mender.turn(text, &options, finish)));
    let fits = |call: &Call| call.name == name && call.outcome().runs() == entry.after.is_some();
    let same = |call: &Call| fits(call) && call.arguments() == entry.after.as_deref();
    let find = |wanted: &dyn Fn(&Call) -> bool| {
        turns.iter().find(|(_, turn)| matches!(&turn.calls[..], [call] if wanted(call)))
    };
    let Some((end, turn)) = find(&same).or_else(|| find(&fits)) else {
        return Err("the call cannot be read without the rest of the output".to_owned());
    };
    let mut head = describe_entry(entry);
    write_head_line(&mut head, "tools", &tools.to_string());
    write_head_line(&mut head, "model", &entry.series.model);
    if !end.is_empty() {
        write_head_line(&mut head, "finish", end);
    }
    let mut out = String::new();
    for (keyword, text) in [("content", &turn.content), ("reasoning", &turn.reasoning)] {
        if !text.trim().is_empty() {
            write_output_line(&mut out, keyword, &json!(text.trim()).to_string());
        }
    }
    let mut notes = Vec::new();
    for call in &turn.calls {
        let id = call.id.as_deref().map(|id| format!(" {id}")).unwrap_or_default();
        let partial = call.verdict.refusal().and_then(|refusal| refusal.partial.as_deref()).unwrap_or("{}");
        match call.outcome() {
            Outcome::Clean | Outcome::Mended => {
                let arguments = toolmend::compact_json(call.arguments().unwrap_or("{}"));
                write_output_line(&mut out, "call", &format!("{}{id} {arguments}", call.name));
            }
            Outcome::Truncated => {
                let partial = toolmend::compact_json(partial);
                write_output_line(&mut out, "cut", &format!("{}{id} {partial}", call.name));
            }
            _ => write_output_line(&mut out, "rejected", &format!("{}{id}", call.name)),
        }
        notes = collect_notes(entry, &call.verdict);
    }
    Ok(CorpusCase { text: format!("{head}--- input\n{text}\n--- output\n{out}"), notes })
}

fn collect_notes(entry: &Entry, verdict: &Verdict<'_>) -> Vec<String> {
    let mut notes = vec![REVIEW_NOTE.to_owned()];
    let same = verdict.outcome().runs() == entry.after.is_some()
        && (verdict.json().is_none() || verdict.json() == entry.after.as_deref());
    if !same {
        notes.push(format!("the answer was different then: {}", entry.series.outcome));
    }
    notes
}

/// Writes a line of the head.
fn write_head_line(head: &mut String, name: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(head, "{name}: {}", text.replace(['\n', '\r'], " "));
}

/// Writes a line of the output.
fn write_output_line(out: &mut String, keyword: &str, text: &str) {
    let _ = writeln!(out, "{keyword} {text}");
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
    fn arguments_become_a_syntax_case() {
        let case = build_case(&entry("{'path': 'a',}", Some("{\"path\": \"a\"}"), |_| {})).unwrap();
        assert_eq!(
            case.text,
            "what: seen from qwen3: mended\n\
             schema: {\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}\n\
             tool: read\noutcome: mended\nrepairs: quotes_replaced, trailing_comma_removed\n\
             --- input\n{'path': 'a',}\n--- output\n{\"path\": \"a\"}\n"
        );
        assert_eq!(case.notes, [REVIEW_NOTE]);
    }

    #[test]
    fn a_call_in_text_becomes_a_dialect_case() {
        let text = "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}</tool_call>";
        let entry =
            entry(text, Some("{\"path\": \"a\"}"), |entry| entry.dialect = Some("hermes_json".into()));
        let case = build_case(&entry).unwrap();
        assert!(
            case.text.ends_with(&format!("--- input\n{text}\n--- output\ncall read {{\"path\":\"a\"}}\n"))
        );
        assert!(case.text.contains("\nfinish: stop\n"), "{}", case.text);
    }

    #[test]
    fn an_entry_without_its_text_becomes_no_case() {
        for change in [
            (|entry: &mut Entry| entry.values = StoredValues::Masked) as fn(&mut Entry),
            |entry| entry.before = None,
            |entry| entry.before_bytes += 1,
            |entry| entry.before = Some("a\n--- output\nb".into()),
        ] {
            assert!(build_case(&entry("{}", None, change)).is_err());
        }
    }
}
