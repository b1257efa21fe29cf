use serde_json::{Value, json};

use super::Mender;
use crate::policy::{Policy, Preset};
use crate::repair::{RepairKind, Tier};
use crate::syntax::Finish;
use crate::tools::Tool;
use crate::verdict::{Outcome, Reason};

fn tools() -> Value {
    json!([
        {"type": "function", "function": {"name": "read_file", "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["path"], "additionalProperties": false}}},
        {"name": "write_file", "input_schema": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"]}},
        {"name": "list_dir", "inputSchema": {"type": "object", "properties": {"dir": {"type": "string"}}}},
        {"name": "drop_table", "inputSchema": {
            "type": "object", "properties": {"table": {"type": "string"}}, "required": ["table"]},
            "annotations": {"destructiveHint": true}},
        "ping",
    ])
}

/// The resolved tool, the arguments, the repairs.
fn check_runs(tool: &str, arguments: &str, expected: (&str, &str, &[RepairKind])) {
    let mender = Mender::new(&tools()).unwrap();
    let verdict = mender.mend(tool, arguments);
    let kinds: Vec<_> = verdict.repairs().iter().map(|repair| repair.kind).collect();
    assert_eq!(
        (verdict.tool(), verdict.json(), kinds.as_slice()),
        (Some(expected.0), Some(expected.1), expected.2),
        "{tool} {arguments}: {:?}",
        verdict.refusal()
    );
    let outcome = if kinds.is_empty() { Outcome::Clean } else { Outcome::Mended };
    assert_eq!(verdict.outcome(), outcome, "{tool} {arguments}");
    assert_eq!(verdict.feedback(), None);
    assert_eq!(
        mender.mend(expected.0, expected.1).outcome(),
        Outcome::Clean,
        "mended twice: {tool} {arguments}"
    );
    assert!(verdict.repairs().iter().all(|repair| repair.path.is_empty()), "{tool} {arguments}");
}

fn check_refused(mender: &Mender, tool: &str, arguments: &str, reason: Reason) {
    let verdict = mender.mend(tool, arguments);
    assert_eq!(verdict.outcome(), Outcome::Rejected, "{tool} {arguments}");
    assert_eq!(verdict.reason(), Some(reason), "{tool} {arguments}");
    assert_eq!((verdict.json(), verdict.refused_input()), (None, Some(arguments)));
    assert_eq!(verdict.repairs(), []);
    assert!(verdict.feedback().is_some_and(|text| text.contains("\nNext: ")), "{:?}", verdict.feedback());
}

#[test]
fn a_call_that_fits_is_left_alone() {
    check_runs("read_file", r#"{ "path": "a" }"#, ("read_file", r#"{ "path": "a" }"#, &[]));
    check_runs("ping", r#"{"any": 1.10}"#, ("ping", r#"{"any": 1.10}"#, &[]));
}

#[test]
fn no_arguments_are_an_empty_object_if_that_fits() {
    for blank in ["", " \n", "null"] {
        check_runs("list_dir", blank, ("list_dir", "{}", &[RepairKind::EmptyArgumentsFilled]));
        check_refused(&Mender::new(&tools()).unwrap(), "read_file", blank, Reason::Schema);
    }
    let mender = Mender::new(&tools()).unwrap();
    assert_eq!(mender.mend("list_dir", " ").repairs()[0].at, Some(0..1));
    let cut = mender.mend_finished("list_dir", " ", Finish::Length);
    assert_eq!(cut.outcome(), Outcome::Truncated);
    assert_eq!(cut.refusal().unwrap().cut.as_deref(), Some(""));
}

#[test]
fn arguments_are_an_object_whatever_else_is_known() {
    let mender = Mender::new(&json!(["ping", {"name": "any", "parameters": {}}])).unwrap();
    for tool in ["ping", "any"] {
        for arguments in ["42", "[1]", "true"] {
            check_refused(&mender, tool, arguments, Reason::Schema);
        }
        let verdict = mender.mend(tool, r#""{\"a\": 1}""#);
        assert_eq!(verdict.value(), Some(json!({"a": 1})), "{:?}", verdict.refusal());
        assert_eq!(mender.mend(tool, "null").json(), Some("{}"));
    }
    let feedback = mender.mend("ping", "42").feedback().map(str::to_owned).unwrap_or_default();
    assert!(feedback.contains("must be an object in { }"), "{feedback}");
}

#[test]
fn names_are_mended_before_arguments() {
    check_runs("ReadFile", r#"{"path":"a"}"#, ("read_file", r#"{"path":"a"}"#, &[RepairKind::NameRespelled]));
    let mender = Mender::new(&tools()).unwrap();
    check_refused(&mender, "cat", r#"{"path":"a"}"#, Reason::UnknownTool);
    check_refused(&mender, "read_file", r#"{"path":5,"bogus":1}"#, Reason::Schema);
    assert_eq!(mender.mend("cat", "{}").tool(), None);
    assert_eq!(mender.mend("ReadFile", r#"{"path":[]}"#).tool(), Some("read_file"));
}

#[test]
fn arguments_in_the_name_are_used_if_there_are_no_others() {
    let glued = r#"read_file{"path":"a"}"#;
    for blank in ["", "{}", "null"] {
        check_runs(glued, blank, ("read_file", r#"{"path":"a"}"#, &[RepairKind::ArgumentsTakenFromName]));
    }
    check_runs(
        glued,
        r#"{ "path": "a" }"#,
        ("read_file", r#"{ "path": "a" }"#, &[RepairKind::ArgumentsTakenFromName]),
    );
    check_runs("list_dir()", "", ("list_dir", "{}", &[RepairKind::ArgumentsTakenFromName]));
    let mender = Mender::new(&tools()).unwrap();
    check_refused(&mender, glued, r#"{"path":"b"}"#, Reason::Ambiguous);
    let readings = mender.mend(glued, r#"{"path":"b"}"#).refusal().unwrap().readings.clone();
    assert_eq!(readings, [r#"{"path":"b"}"#, r#"{"path":"a"}"#]);
}

#[test]
fn a_call_without_a_name_goes_to_the_one_tool_that_it_fits() {
    let inferred: &[_] = &[RepairKind::ToolInferred];
    check_runs(
        "",
        r#"{"path":"a","content":"b"}"#,
        ("write_file", r#"{"path":"a","content":"b"}"#, inferred),
    );
    check_runs(" ", r#"{"path":"a"}"#, ("read_file", r#"{"path":"a"}"#, inferred));
    let mender = Mender::new(&tools()).unwrap();
    for arguments in ["{}", "", r#"{"path":"a","colour":1}"#, "[1]", r#"{"content":"b"}"#] {
        check_refused(&mender, "", arguments, Reason::UnknownTool);
    }
    // A guess is not good enough for a tool that destroys.
    check_refused(&mender, "", r#"{"table":"t"}"#, Reason::Policy);
}

#[test]
fn the_policy_binds_names_too() {
    let strict = Mender::builder().tools(&tools()).policy(Policy::preset(Preset::Strict)).build().unwrap();
    assert_eq!(strict.mend("read_file", r#"{"path":"a"}"#).outcome(), Outcome::Clean);
    check_refused(&strict, "ReadFile", r#"{"path":"a"}"#, Reason::Policy);
    check_refused(&strict, "list_dir", "", Reason::Syntax);
    let off = Mender::builder().tools(&tools()).policy(Policy::preset(Preset::Off)).build().unwrap();
    assert_eq!(off.mend("nobody", "][").json(), Some("]["));
    let brave = Policy::default().max_tier_for("drop_table", Tier::Assumed);
    let brave = Mender::builder().tools(&tools()).policy(brave).build().unwrap();
    assert_eq!(brave.mend("", r#"{"table":"t"}"#).tool(), Some("drop_table"));
}

#[test]
fn values_are_judged_like_text() {
    let mender = Mender::new(&tools()).unwrap();
    let check = |tool: &str, arguments: Value, expected: Option<Value>, kinds: &[RepairKind]| {
        let verdict = mender.mend_value(tool, &arguments);
        assert_eq!(verdict.value(), expected, "{arguments}");
        assert_eq!(
            verdict.repairs().iter().map(|repair| repair.kind).collect::<Vec<_>>(),
            kinds,
            "{arguments}"
        );
        assert!(verdict.repairs().iter().all(|repair| repair.at.is_none()), "{arguments}");
    };
    let path = || Some(json!({"path": "a"}));
    check("read_file", json!({"path": "a"}), path(), &[]);
    check("Read-File", json!({"path": "a"}), path(), &[RepairKind::NameRespelled]);
    check("read_file", json!("{\"path\": \"a\"}"), path(), &[RepairKind::DoubleEncodingRemoved]);
    check("list_dir", json!(null), Some(json!({})), &[RepairKind::EmptyArgumentsFilled]);
    check("list_dir", json!(""), Some(json!({})), &[RepairKind::EmptyArgumentsFilled]);
    check("", json!({"path": "a"}), path(), &[RepairKind::ToolInferred]);
    check("read_file", json!({"path": []}), None, &[]);
    check("nobody", json!({}), None, &[]);
    let string = Mender::new(&json!({"type": "string"})).unwrap();
    assert_eq!(string.mend_value("", &json!("5")).outcome(), Outcome::Clean);
}

#[test]
fn a_bare_schema_applies_to_every_name() {
    let mender = Mender::new(&json!({"type": "object", "required": ["a"]})).unwrap();
    for name in ["", "anything at all"] {
        let verdict = mender.mend(name, r#"{"a":1}"#);
        assert_eq!(verdict.outcome(), Outcome::Clean);
        assert_eq!(verdict.tool(), (!name.is_empty()).then_some(name));
    }
    check_refused(&mender, "x", "{}", Reason::Schema);
}

#[test]
fn a_broken_schema_is_an_error_that_names_the_tool_and_the_position() {
    let broken = json!({"tools": [{"name": "ok"}, {"type": "function", "function": {
        "name": "bad", "parameters": {"properties": {"a": {"type": "strng"}}}}}]});
    let error = Mender::new(&broken).unwrap_err();
    assert_eq!(error.tool.as_deref(), Some("bad"));
    assert_eq!(error.path, "/tools/1/function/parameters/properties/a/type");
    assert!(error.to_string().starts_with("tool \"bad\": at /tools/1/function/"), "{error}");
    let (mender, notes) = Mender::lenient(&broken);
    assert_eq!(notes, [error.to_string()]);
    assert_eq!(mender.mend("bad", r#"{"a": 5}"#).outcome(), Outcome::Clean);

    let twice = json!([{"name": "f", "parameters": {"type": "object"}}, {"name": "f", "parameters": {"type": "array"}}]);
    assert_eq!(Mender::new(&twice).unwrap_err().path, "/1");
    assert!(Mender::new(&json!(["f", "f"])).is_ok_and(|mender| mender.tools().len() == 1));

    let (anything, notes) = Mender::lenient(&json!(7));
    assert_eq!((notes.len(), anything.mend("x", "{}").outcome()), (1, Outcome::Clean));
}

#[test]
fn a_mender_can_be_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    let mender = Mender::new(&tools()).unwrap();
    shared(&mender);
    assert!(mender.tool("drop_table").is_some_and(Tool::is_destructive));
    assert!(mender.tool("Drop_Table").is_none());
}

#[cfg(feature = "schemars")]
#[test]
fn a_type_can_be_a_tool() {
    use crate::typed::Lenient;

    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Read {
        path: String,
        limit: Option<u32>,
    }
    let plain = Tool::for_type::<Read>("read").unwrap();
    let lenient = Tool::for_type::<Lenient<Read>>("read").unwrap();
    let source = |tool: &Tool| tool.schema().map(|schema| schema.source().clone());
    assert_eq!(source(&plain), source(&lenient));
    let mender = Mender::builder().tool(lenient).build().unwrap();
    check_refused(&mender, "read", r#"{"limit": 5}"#, Reason::Schema);
    assert_eq!(mender.mend("read", r#"{"path": "a"}"#).outcome(), Outcome::Clean);
}
