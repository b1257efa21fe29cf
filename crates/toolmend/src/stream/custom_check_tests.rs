use serde_json::{Value, json};

use super::{CustomDialects, Dialect};
use crate::{Delivery, Event, Finish, Mender, Outcome, Turn, TurnOptions};

fn parse_row(row: &Value) -> Result<CustomDialects, String> {
    serde_json::from_value(json!({"dialect": [row]})).map_err(|error| error.to_string())
}

fn read(custom: CustomDialects, text: &str, finish: Finish) -> Turn {
    let tools = json!([
        {"name": "write", "parameters": {"type": "object", "properties": {
            "path": {"type": "string"}, "text": {"type": "string"}, "mode": {"type": "integer"},
        }, "required": ["path"]}},
    ]);
    let mender = Mender::builder().tools(&tools).dialects(custom).build().unwrap();
    mender.turn(text, &TurnOptions::new(), finish)
}

/// Rows of every form, each with a damaged call that it reads.
fn rows() -> Vec<(Value, &'static str)> {
    vec![
        (
            json!({"name": "tokens", "call": "<|do|>{name}<|with|>{arguments}<|done|>"}),
            "Fine.<|do|>write<|with|>{'path': 'a', mode: '7'}<|done|>",
        ),
        (
            json!({"name": "section", "section": ["[ACTS]", "[/ACTS]"], "join": "\n",
                "call": "{\"name\": \"{name}\", \"arguments\": {arguments}}"}),
            "Fine.[ACTS]{\"name\": \"write\", \"arguments\": {\"path\": \"a\", \"mode\": 7,}}[/ACTS]",
        ),
        (
            json!({"name": "tags", "call": "<act name=\"{name}\">\n{parameters}</act>",
                "parameter": "<slot name=\"{key}\">{value}</slot>\n"}),
            "Fine.\n<act name=\"write\"><slot name=\"path\">a</slot><slot name=\"mode\">7</slot></act>",
        ),
        (
            json!({"name": "pairs", "call": "<act>{name}\n{parameters}</act>",
                "parameter": "<slot_key>{key}</slot_key><slot_value>{value}</slot_value>\n"}),
            "Fine.<act>write\n<slot_key>path</slot_key><slot_value>a</slot_value>\
             <slot_key>mode</slot_key><slot_value>7</slot_value></act>",
        ),
        (
            json!({"name": "python", "section": ["<acts>", "</acts>"], "call": "{name}({parameters})",
                "parameter": "{key}={value}", "join": "\n"}),
            "Fine.<acts>write(path='a', mode=7)</acts>",
        ),
        (
            json!({"name": "flowers", "call": "✿DO✿ {name}\n✿WITH✿ {arguments}", "join": "\n"}),
            "Fine.\n✿DO✿ write\n✿WITH✿ {\"path\": \"a\", \"mode\": 7}",
        ),
        (
            json!({"name": "bars", "section": ["<｜ACME｜calls>\n", "</｜ACME｜calls>"],
                "call": "<｜ACME｜run name=\"{name}\">\n{parameters}</｜ACME｜run>\n",
                "parameter": "<｜ACME｜value string=\"{string}\" name=\"{key}\">{value}</｜ACME｜value>\n"}),
            "Fine.<|ACME|calls><｜ACME｜run name=\"write\"><｜ACME｜value name=\"path\" string=\"true\">a</｜ACME｜value>\
             <｜ACME｜value name=\"mode\" string=\"false\">7</｜ACME｜value></｜ACME｜run></｜ACME｜calls>",
        ),
        (
            json!({"name": "colon", "call": "<acme:run name=\"{name}\">{parameters}</acme:run>",
                "parameter": "<acme:in name=\"{key}\" kind=\"plain\">{value}</acme:in>"}),
            "Fine.\n<acme:run name=\"write\"><acme:in name=\"path\">a</acme:in><acme:in name=\"mode\">7</acme:in></acme:run>",
        ),
        (
            json!({"name": "typed", "call": "<act>{name}\n{parameters}</act>", "parameter":
                "<slot_key>{key}</slot_key><slot_kind>{type}</slot_kind><slot_value>{value}</slot_value>\n"}),
            "Fine.<act>write\n<slot_key>path</slot_key><slot_kind>string</slot_kind><slot_value>a</slot_value>\
             <slot_key>mode</slot_key><slot_kind>integer</slot_kind><slot_value>7</slot_value></act>",
        ),
        (
            json!({"name": "one_element", "call": "<|run:start|>{name}\n{parameters}<|run:end|>",
                "parameter": "<|in:start|>{key}<|in:value|>{value}<|in:end|>\n"}),
            "Fine.<|run:start|>write\n<|in:start|>path<|in:value|>a<|in:end|><|in:start|>mode<|in:value|>7<|in:end|>\
             <|run:end|>",
        ),
        (
            json!({"name": "lead", "call": "<|run|>function\n{name}\n{arguments}<|ran|>", "stop": ["<|bye|>", "</bye>"]}),
            "Fine.<|run|>function\nwrite\n{\"path\": \"a\", \"mode\": 7}<|ran|><|bye|></bye>",
        ),
        (
            json!({"name": "prefix", "call": "<|run|>my-{name}<|with|>{arguments}<|ran|>"}),
            "Fine.<|run|>my-write<|with|>{\"path\": \"a\", \"mode\": 7}<|ran|>",
        ),
        (
            json!({"name": "child", "call": "<act><act_name>{name}</act_name><act_input>{arguments}</act_input></act>"}),
            "Fine.\n<act><act_name>write</act_name>\n<act_input>{\"path\": \"a\", \"mode\": 7}</act_input></act>",
        ),
        (
            json!({"name": "key", "section": ["<|do|>[", "]<|done|>"], "call": "{\"{name}\": {arguments}}", "join": ", "}),
            "Fine.<|do|>[{\"write\": {\"path\": \"a\", \"mode\": 7}}]<|done|>",
        ),
        (
            json!({"name": "nested", "call": "<|do|>{\"fn\": {\"is\": \"{name}\"}, \"with\": {arguments}}<|done|>"}),
            "Fine.<|do|>{\"fn\": {\"is\": \"write\",}, \"with\": {\"path\": \"a\", \"mode\": 7}}<|done|>",
        ),
        (
            json!({"name": "list", "call": "[Run tool=\"{name}\"{parameters}]", "parameter": " {key}=\"{value}\""}),
            "Fine.\n[Run tool=\"write\" path=\"a\" mode=\"7\"]",
        ),
        (
            json!({"name": "quoted", "values": "json", "call": "<act>{name}\n{parameters}</act>",
                "parameter": "<slot_key>{key}</slot_key><slot_value>{value}</slot_value>\n"}),
            "Fine.<act>write\n<slot_key>path</slot_key><slot_value>\"a\"</slot_value>\
             <slot_key>mode</slot_key><slot_value>7</slot_value></act>",
        ),
        (
            json!({"name": "elements", "call": "<|do|>{name}\n{parameters}<|done|>",
                "parameter": "<{key}>{value}</{key}>\n"}),
            "Fine.<|do|>write\n<path>a</path><mode>7</mode><|done|>",
        ),
    ]
}

#[test]
fn a_row_of_any_notation_reads_its_calls() {
    for (row, text) in rows() {
        let custom = parse_row(&row).unwrap();
        let turn = read(custom.clone(), text, Finish::Stop);
        let name = custom.rows().next().unwrap().name();
        assert_eq!(turn.content, "Fine.", "{name}");
        assert_eq!(turn.calls.len(), 1, "{name}: {turn:?}");
        assert_eq!(turn.calls[0].dialect, name);
        assert_eq!(turn.calls[0].verdict.value(), Some(json!({"path": "a", "mode": 7})), "{name}");
        // The built-in table has none of these markers.
        assert_ne!(read(CustomDialects::default(), text, Finish::Stop).content, "Fine.", "{name}");
    }
}

#[test]
fn pieces_of_any_size_give_the_same_calls() {
    for (row, text) in rows() {
        let custom = parse_row(&row).unwrap();
        let whole = read(custom.clone(), text, Finish::Stop);
        let tools = json!([{"name": "write"}]);
        let mender = Mender::builder().tools(&tools).dialects(custom.clone()).build().unwrap();
        for delivery in [Delivery::Held, Delivery::Live] {
            let options = TurnOptions::new().delivery(delivery);
            let mut stream = mender.stream(&options);
            let mut events: Vec<Event> = text.chars().flat_map(|ch| stream.push(ch.to_string())).collect();
            events.extend(stream.finish(Finish::Stop));
            let mut turn = Turn::default();
            turn.extend(events);
            assert_eq!((turn.content, turn.calls.len()), (whole.content.clone(), 1), "{text}");
        }
    }
}

#[test]
fn a_truncated_call_of_a_custom_row_never_runs() {
    for (row, text) in rows() {
        let custom = parse_row(&row).unwrap();
        for cut in (6..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
            for call in read(custom.clone(), &text[..cut], Finish::Length).calls {
                let whole = call.verdict.value() == Some(json!({"path": "a", "mode": 7}));
                assert!(whole || call.outcome() == Outcome::Truncated, "{:?} gives {call:?}", &text[..cut]);
            }
        }
    }
}

#[test]
fn a_row_that_cannot_work_is_refused_with_the_reason() {
    for (row, expected) in [
        (json!({"name": "hermes_json", "call": "<|x|>{name}<|y|>{arguments}"}), "no other row has"),
        (json!({"name": "a", "call": "<|x|>{arguments}"}), "expected {name} in the call"),
        (json!({"name": "a", "call": "<|x|>{name}"}), "expected {arguments} or {parameters}"),
        (json!({"name": "a", "call": "<tool_call>{name}\n{arguments}</tool_call>"}), "under [[model]]"),
        (json!({"name": "a", "call": "<think>{name}<|y|>{arguments}"}), "has another one already"),
        (json!({"name": "a", "call": "#{name} {arguments}"}), "no other row has"),
        (json!({"name": "a", "call": "<fn:{name}>{arguments}</fn>"}), "\"<fn:{name}>\" with ':'"),
        (
            json!({"name": "a", "call": "<fn:{name}>{parameters}</fn>",
                "parameter": "<slot name=\"{key}\">{value}</slot>"}),
            "\"<fn:{name}>\" with ':'",
        ),
        (
            json!({"name": "a", "call": "<act name=\"{name}\">{parameters}</act>",
                "parameter": "<slot:{key}>{value}</slot>"}),
            "\"<slot:{key}>\" with ':'",
        ),
        // The tools would be found, but only by a repair of their names.
        (json!({"name": "a", "call": "<|do|>{name}-now<|with|>{arguments}<|done|>"}), "to read back"),
        (
            json!({"name": "a", "call": "#do#{name}<|with|>{arguments}", "stop": ["#bye#"]}),
            "found '#' at the start",
        ),
        (
            json!({"name": "a", "call": "<|do|>{name}{parameters}<|done|>", "parameter": "[K]{key}[V]{value}[E]"}),
            "found '[' in \"[K]\"",
        ),
        (
            json!({"name": "a", "call": "<act id=\"{id}\">{name}{parameters}</act>", "parameter": "{key}={value}"}),
            "found {id} in",
        ),
        (
            json!({"name": "a", "call": "<act nom=\"{name}\">{parameters}</act>",
                "parameter": "<slot name=\"{key}\">{value}</slot>"}),
            "expected to read back",
        ),
        (json!({"name": "a", "call": "<|x|>{name}<|y|>{arguments}", "model": "x"}), "unknown field"),
        (json!({"name": "a", "call": "<|x|>{name}<|y|>{arguments}", "models": ["("]}), "unclosed group"),
    ] {
        let error = parse_row(&row).unwrap_err();
        assert!(error.contains(expected), "{row}: {error}");
    }
}

#[test]
fn ids_of_models_choose_the_dialect() {
    let custom: CustomDialects = serde_json::from_value(json!({
        "dialect": [{"name": "a", "call": "<|x|>{name}<|y|>{arguments}", "models": ["^acme-", "zeta-.*-chat$"]}],
        "model": [{"id": "our-tune", "dialect": "kimi_k3"}],
    }))
    .unwrap();
    let named = |id: &str| custom.table().of_model(id).map(Dialect::name);
    assert_eq!(named("ACME_7b"), Some("a"));
    assert_eq!(named("org/zeta-7b-chat"), Some("a"));
    assert_eq!(named("org/zeta-é-chat"), Some("a"));
    assert_eq!(named("org/zeta-7b-base"), None);
    assert_eq!(named("x/Our-Tune-3"), Some("kimi_k3"));
    assert_eq!(named("qwen3-coder"), Some("qwen3_xml"));
    let unknown =
        serde_json::from_value::<CustomDialects>(json!({"model": [{"id": "x", "dialect": "nope"}]}));
    assert!(unknown.unwrap_err().to_string().contains("found \"nope\""));
}
