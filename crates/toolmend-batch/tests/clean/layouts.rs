//! Calls are mended in every layout, and everything else stays the same.

use serde_json::json;
use toolmend_batch::Layout;

use crate::support::{TestFolder, rules, run};

/// Cleans a row, and asserts that exactly these parts of it were replaced.
#[track_caller]
fn assert_changes(layout: Layout, row: &str, changes: &[(&str, &str)]) {
    let folder = TestFolder::new();
    let (out, outcomes) = folder.clean(&format!("{row}\n"), |job| {
        job.layout = layout;
        job.rules = rules(None);
    });
    let expected = changes.iter().fold(row.to_owned(), |row, (from, to)| {
        assert_eq!(row.matches(from).count(), 1, "{from}");
        row.replace(from, to)
    });
    assert_eq!(out, format!("{expected}\n"), "{layout}");
    assert_eq!(folder.read_rejects(), Vec::<serde_json::Value>::new());
    assert!(changes.is_empty() || outcomes[1] > 0);
}

const PARAMETERS: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}"#;

#[test]
fn chats_keep_every_other_byte() {
    let row = format!(
        r#"{{"id": 1.50,  "n":12345678901234567890123, "messages":[{{"role":"user","content":"{{a: 1}}"}}, {{"role":"assistant","content":null,"tool_calls":[{{"id":"1","type":"function","function":{{"name":"Get_Weather","arguments":"{{city: 'Oslo', days: \"3\",}}"}}}}]}},{{"role":"tool","content":"\ud83d"}}],"tools":[{{"type":"function","function":{{"name":"get_weather","parameters":{PARAMETERS}}}}}]}}"#
    );
    let changes = [
        ("\"Get_Weather\"", "\"get_weather\""),
        (r#""{city: 'Oslo', days: \"3\",}""#, r#""{\"city\": \"Oslo\", \"days\": 3}""#),
    ];
    assert_changes(Layout::Auto, &row, &changes);
    assert_changes(Layout::OpenAi, &row, &changes);
    assert_changes(Layout::Anthropic, &row, &[]);
}

#[test]
fn inputs_of_blocks_are_mended_as_values() {
    let row = format!(
        r#"{{"model":"c","system":"s","messages":[{{"role":"assistant","content":[{{"type":"text","text":"x"}},{{"type":"tool_use","id":"t","name":"get_weather","input":{{ "city":"Oslo","days":"3" }}}}]}}],"tools":[{{"name":"get_weather","input_schema":{PARAMETERS}}}]}}"#
    );
    let changes = [(r#"{ "city":"Oslo","days":"3" }"#, r#"{ "city":"Oslo","days":3 }"#)];
    assert_changes(Layout::Auto, &row, &changes);
    assert_changes(Layout::Anthropic, &row, &changes);
    assert_changes(Layout::OpenAi, &row, &[]);
    let answer = r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","name":"f","input":"{a: 1}"}],"stop_reason":"tool_use"}"#;
    assert_changes(Layout::Auto, answer, &[(r#""{a: 1}""#, r#"{"a": 1}"#)]);
}

#[test]
fn requests_and_answers_are_found_where_logs_put_them() {
    let call = r#"{"function":{"name":"f","arguments":"{a: 1}"}}"#;
    let changes = [("{a: 1}", r#"{\"a\": 1}"#)];
    for row in [
        format!(r#"{{"choices":[{{"message":{{"role":"assistant","tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}"#),
        format!(r#"{{"custom_id":"1","response":{{"body":{{"choices":[{{"message":{{"tool_calls":[{call}]}}}}]}}}}}}"#),
        format!(r#"{{"request":{{"tools":[{{"name":"f"}}]}},"response":{{"choices":[{{"message":{{"tool_calls":[{call}]}}}}]}}}}"#),
        r#"{"messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{a: 1}"}}],"functions":[{"name":"f"}]}"#.to_owned(),
        r#"{"output":[{"type":"function_call","name":"f","arguments":"{a: 1}"}]}"#.to_owned(),
    ] {
        assert_changes(Layout::Auto, &row, &changes);
    }
}

#[test]
fn conversations_keep_their_dialect() {
    let tools =
        format!(r#"[{{\"name\":\"get_weather\",\"parameters\":{}}}]"#, PARAMETERS.replace('"', "\\\""));
    let row = |tools: &str, value: &str| {
        format!(
            r#"{{"conversations":[{{"from":"system","value":"Use <tools></tools>: <tools>{tools}</tools>"}},{{"from":"human","value":"{{a: 1}}"}},{{"from":"gpt","value":"{value}","weight":1.0}}],"source":"x"}}"#
        )
    };
    assert_changes(
        Layout::Auto,
        &row(
            &tools,
            r#"Sure.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": 'Oslo', \"days\": \"3\",}}\n</tool_call>\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rom\"}}\n</tool_call>"#,
        ),
        &[(r#"{\"city\": 'Oslo', \"days\": \"3\",}"#, r#"{\"city\": \"Oslo\", \"days\": 3}"#)],
    );
    assert_changes(
        Layout::ShareGpt,
        &row(
            &tools,
            r"<tool_call>\n<function=Get_Weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        ),
        &[("<function=Get_Weather>", "<function=get_weather>")],
    );
    assert_changes(Layout::ShareGpt, &row(&tools, "No call, 'just' text."), &[]);
    let row = format!(
        r#"{{"conversations":[{{"from":"function_call","value":"{{'name': 'get_weather', 'arguments': {{'city': 'Oslo'}}}}"}}],"tools":"{tools}"}}"#
    );
    assert_changes(
        Layout::Auto,
        &row,
        &[(
            "{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}",
            r#"{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}"#,
        )],
    );
}

#[test]
fn a_field_is_mended_with_the_schema_next_to_it() {
    let folder = TestFolder::new();
    let row = format!(
        r#"{{"x":[ 1 ],"call":"{{city: 'Oslo', days: '2'}}","tool":"get_weather","schema":{PARAMETERS}}}"#
    );
    let (out, outcomes) = folder.clean(&row, |job| {
        job.rules = rules(None);
        job.fields.column = Some("call".into());
    });
    assert_eq!(out, row.replace("{city: 'Oslo', days: '2'}", r#"{\"city\": \"Oslo\", \"days\": 2}"#));
    assert_eq!(outcomes, [0, 1, 0, 0]);
}

#[test]
fn records_are_answered_as_on_standard_input() {
    let folder = TestFolder::new();
    let records = "{\"id\":\"1\",\"json\":\"{a: 1}\"}\n{\"id\":\"2\",\"tool\":\"get_weather\",\"arguments\":\"{}\",\"model\":\"m\"}\nno record\n";
    let (out, outcomes) = folder.clean(records, |_| ());
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with(r#"{"id":"1","outcome":"mended","value":{"a":1},"#), "{}", lines[0]);
    assert!(lines[1].contains("\"outcome\":\"rejected\""), "{}", lines[1]);
    assert_eq!(lines[2], r#"{"id":null,"error":"line 3: expected a JSON object, found no JSON"}"#);
    assert_eq!(outcomes, [0, 1, 0, 1]);
    let rejects = folder.read_rejects();
    assert_eq!(
        (&rejects[0]["row"], &rejects[0]["model"], &rejects[0]["reason"]),
        (&json!(2), &json!("m"), &json!("schema"))
    );
    assert_eq!(rejects[1]["row"], 3);
}

#[test]
fn refused_calls_and_broken_rows_are_unchanged_and_reported() {
    let folder = TestFolder::new();
    let call = |arguments: &str| {
        format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":[{{"function":{{"name":"get_weather","arguments":"{arguments}"}}}}]}}]}}"#
        )
    };
    let mut input = format!("\u{feff}{}\r\n", call(r#"{\"city\": \"Os"#)).into_bytes();
    input.extend_from_slice(b"{\"messages\": [\n\n{\"messages\":\"\xff\"}\n[1]\n");
    input.extend_from_slice(
        format!("{}\n{}", call(r#"{\"days\": 3}"#), call("{city: 'Rom'}{city: 'Oslo'}")).as_bytes(),
    );
    let path = folder.write("in.jsonl", &input);
    let mut job = folder.job(&path, "out.jsonl");
    job.layout = Layout::Chat;
    let summary = run(&job).unwrap();
    assert_eq!(std::fs::read(folder.path("out.jsonl")).unwrap(), input);
    assert_eq!((summary.counts.rows, summary.counts.unreadable), (7, 3));
    let rejects = folder.read_rejects();
    let reported: Vec<_> = rejects
        .iter()
        .map(|line| {
            (
                line["row"].as_u64().unwrap(),
                line.get("outcome").or(line.get("error")).unwrap().as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        reported,
        [
            (1, "truncated"),
            (2, "expected a JSON object, found no JSON"),
            (4, "not UTF-8 at byte 13"),
            (5, "expected a JSON object, found another value"),
            (6, "rejected"),
            (7, "unwritten"),
        ]
    );
    assert_eq!(rejects[0]["at"], "/messages/0/tool_calls/0/function/arguments");
    assert_eq!(rejects[0]["cut"], "/city");
    assert!(rejects[4]["feedback"].as_str().unwrap().contains("`city` is required"));
}

#[test]
fn lines_that_are_too_long_are_unchanged() {
    let folder = TestFolder::new();
    let long = format!("{{\"messages\":[],\"x\":\"{}\"}}", "y".repeat(30_000));
    let call = r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"get_weather","arguments":"{city: 'Oslo'}"}}]}]}"#;
    let input = format!("{call}\n{long}\n{call}\n{long}");
    let (out, outcomes) = folder.clean(&input, |job| job.longest_line = 10_000);
    assert_eq!(out, input.replace("{city: 'Oslo'}", r#"{\"city\": \"Oslo\"}"#));
    assert_eq!(outcomes, [0, 2, 0, 0]);
    assert_eq!(
        folder.read_rejects().iter().map(|line| line["row"].as_u64().unwrap()).collect::<Vec<_>>(),
        [2, 4]
    );
    let (out, _) =
        folder.clean("{\"id\":1,\"json\":\"[1]\"}\n{\"id\":2,\"json\":\"[1111111111111]\"}\n", |job| {
            job.longest_line = 22;
        });
    assert!(
        out.ends_with(
            "{\"id\":null,\"error\":\"line 2: longer than 22 bytes; raise --max-line-bytes to read it\"}\n"
        ),
        "{out}"
    );
}

#[test]
fn a_layout_that_cannot_be_detected_must_be_named() {
    let folder = TestFolder::new();
    for (input, expected) in
        [("{\"a\": 1, \"b\": 2}", "rows with a, b; name it with --layout"), ("[1]", "not a JSON object")]
    {
        let path = folder.write("in.jsonl", input);
        let message = run(&folder.job(&path, "out.jsonl")).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert!(!folder.path("out.jsonl").exists());
}
