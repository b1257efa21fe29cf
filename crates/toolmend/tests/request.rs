//! What the request and the end of an output say about calls and answers.

use serde_json::json;
use toolmend::{Finish, Mender, Outcome, TurnOptions};

fn mender() -> Mender {
    let schema =
        json!({"type": "object", "properties": {"station": {"type": "string"}}, "required": ["station"]});
    Mender::new(&json!([{"name": "board", "parameters": schema}])).unwrap()
}

#[test]
fn a_call_without_its_opener_runs_only_if_the_output_is_whole() {
    let text = r#"[{"name": "board", "arguments": {"station": "Voss"}}]</tool_calls></tool_calls>"#;
    for (finish, outcome) in [(Finish::Stop, Outcome::Mended), (Finish::Length, Outcome::Truncated)] {
        assert_eq!(mender().turn(text, &TurnOptions::new(), finish).outcome(), outcome, "{finish:?}");
    }
}

#[test]
fn an_asked_for_list_runs_whole_or_not_at_all() {
    let options = TurnOptions::new().dialect("pythonic");
    for (text, finish, outcomes) in [
        (r#"[board(station="Voss"), board(limit=3)]"#, Finish::Stop, [Outcome::Rejected; 2]),
        (r#"[board(station="Voss"), board(station="Gol")"#, Finish::Unknown, [Outcome::Truncated; 2]),
        // A call that was cut shows that the ones before it are meant.
        (r#"[board(station="Voss"), board(sta"#, Finish::Length, [Outcome::Mended, Outcome::Truncated]),
        (r#"[board(station="Voss"), board(station="Gol")]"#, Finish::Stop, [Outcome::Clean; 2]),
    ] {
        let turn = mender().turn(text, &options, finish);
        let found: Vec<Outcome> = turn.calls.iter().map(toolmend::Call::outcome).collect();
        assert_eq!(found, outcomes, "{text}");
    }
}

#[test]
fn an_answer_that_fits_stays_as_it_is() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let format = json!({"type": "json_schema", "json_schema": {"name": "count", "schema": schema}});
    let options = TurnOptions::new().response_format(&format);
    for (text, content, outcome) in [
        (r#"{"n": 3}"#, r#"{"n": 3}"#, Outcome::Clean),
        ("```json\n{\"n\": 3}\n```", "```json\n{\"n\": 3}\n```", Outcome::Clean),
        (r#"Here it is: {"n": 3}."#, r#"Here it is: {"n": 3}."#, Outcome::Clean),
        (r#"{n: "3",}"#, r#"{"n": 3}"#, Outcome::Mended),
        (r#"{"m": 3}"#, r#"{"m": 3}"#, Outcome::Rejected),
        (r#"{"n": 3} or {"n": 4}"#, r#"{"n": 3} or {"n": 4}"#, Outcome::Rejected),
    ] {
        let turn = mender().turn(text, &options, Finish::Stop);
        let answer = turn.answer.unwrap();
        assert_eq!((turn.content.as_str(), answer.outcome()), (content, outcome), "{text}");
        assert_eq!(answer.repairs().is_empty(), outcome != Outcome::Mended, "{text}");
    }
}

#[test]
fn what_leaves_the_text_is_listed() {
    for (text, content, removed) in [
        ("It is noon.<|im_end|>", "It is noon.", Some(11..21)),
        ("It is noon.", "It is noon.", None),
        ("<think>Noon.</think>It is noon.", "It is noon.", None),
    ] {
        let turn = mender().turn(text, &TurnOptions::new(), Finish::Stop);
        let at = turn.repairs.first().and_then(|repair| repair.at.clone());
        assert_eq!((turn.content.as_str(), at), (content, removed), "{text}");
        assert_eq!(turn.outcome() == Outcome::Clean, turn.repairs.is_empty(), "{text}");
    }
}
