//! What is written is read back: properties of requests and answers on every surface.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::select;

use super::answer::{Answer, End, Meta, Said, Usage};
use super::fit::{Can, fit};
use super::request::{
    Block, Call, Choice, Form, Format, Group, Losses, Media, Message, Request, Role, Seal, Source, Thinking,
    Tool,
};
use super::stream::Translator;
use super::{Names, Plan, Wire};
use crate::turn::ReadyCall;
use crate::wire::doc::Doc;

const WIRES: [Wire; 4] = [Wire::Chat, Wire::Messages, Wire::Responses, Wire::Ollama];
const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"number","maximum":1.50}}}"#;

fn text() -> impl Strategy<Value = String> {
    select(vec!["", "hi", "say \"hi\"\n", "C:\\dir\\x", "ünï 😀", "<tool_call>", "{\"a\": 1}"])
        .prop_map(str::to_owned)
}

fn words() -> impl Strategy<Value = String> {
    select(vec!["one", "two words", "three\nlines\n\nof it"]).prop_map(str::to_owned)
}

fn media() -> impl Strategy<Value = Block> {
    let png = Source::Base64 { kind: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let pdf = Source::Base64 { kind: "application/pdf".into(), data: "JVBERi0=".into() };
    let note = Source::Base64 { kind: "text/plain".into(), data: "bm90ZXM=".into() };
    let image = |source: Source, detail: Option<&str>| {
        Block::Image(Media { source, name: None, detail: detail.map(str::to_owned) })
    };
    let file = |source: Source| Block::File(Media { source, name: Some("n".into()), detail: None });
    select(vec![
        image(png.clone(), None),
        image(png, Some("low")),
        image(Source::Url("https://h/i.png".into()), None),
        file(pdf),
        file(note),
    ])
}

fn form() -> impl Strategy<Value = Form> {
    select(vec![Form::Function, Form::Function, Form::Custom, Form::Grouped("group".into())])
}

fn said() -> impl Strategy<Value = Vec<Block>> {
    let block = prop_oneof![3 => text().prop_map(Block::Text), 1 => media()];
    prop::collection::vec(block, 0..3)
}

/// A turn of the assistant with calls, and their results.
fn exchange(number: usize) -> impl Strategy<Value = Vec<Message>> {
    let seal = prop::option::of(select(vec![Wire::Messages, Wire::Responses]));
    let thoughts = prop::option::of((text(), seal));
    let call = (form(), select(vec!["read", "a.b"]), text(), any::<bool>(), said());
    (thoughts, text(), prop::collection::vec(call, 0..3), text()).prop_map(
        move |(thoughts, before, calls, after)| {
            let mut blocks = Vec::new();
            if let Some((text, wire)) = thoughts {
                let seal = wire.map(|wire| Seal { wire, data: "seal".into(), hidden: false });
                blocks.push(Block::Reasoning { text, seal });
            }
            blocks.push(Block::Text(before));
            let mut results = Vec::new();
            for (at, (form, name, text, error, content)) in calls.into_iter().enumerate() {
                let id = format!("call_{number}_{at}");
                let custom = form == Form::Custom;
                let arguments = if custom { text } else { r#"{"a": 1.50, "b": "\u00e9"}"#.to_owned() };
                results.push(Block::Result { id: id.clone(), name: None, content, error, custom });
                blocks.push(Block::Call(Call { id, name: name.to_owned(), form, arguments }));
            }
            blocks.push(Block::Text(after));
            vec![Message::new(Role::Assistant, blocks), Message::new(Role::Tool, results)]
        },
    )
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let system = select(vec![Role::System, Role::Developer]);
    let leading = prop::collection::vec((system, words()), 0..3);
    let user = || said().prop_map(|blocks| vec![Message::new(Role::User, blocks)]);
    let mid = words().prop_map(|text| vec![Message::text(Role::System, text)]);
    let turn = |number| prop_oneof![2 => user(), 2 => exchange(number)];
    (leading, user(), turn(0), mid, turn(1), user()).prop_map(|(leading, first, a, mid, b, last)| {
        let leading = leading.into_iter().map(|(role, text)| Message::text(role, text));
        leading.chain(first).chain(a).chain(mid).chain(b).chain(last).collect()
    })
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    let function = |name: &str, group: Option<&str>, strict| Tool::Function {
        name: name.into(),
        group: group.map(|name| Group { name: name.into(), description: Some("More.".into()) }),
        description: Some("Does.".into()),
        schema: SCHEMA.into(),
        strict,
    };
    let list = vec![
        function("read", None, Some(true)),
        function("read", Some("group"), None),
        function("a.b", None, None),
        Tool::Custom { name: "patch".into(), description: None, format: Some(r#"{"type":"text"}"#.into()) },
        Tool::Hosted {
            wire: Wire::Responses,
            name: "web_search".into(),
            raw: r#"{"type":"web_search"}"#.into(),
        },
    ];
    proptest::sample::subsequence(list, 0..=5)
}

fn choice() -> impl Strategy<Value = Option<Choice>> {
    prop::option::of(select(vec![
        Choice::Auto,
        Choice::None,
        Choice::Required,
        Choice::Tool("read".into(), Form::Function),
        Choice::Tool("patch".into(), Form::Custom),
        Choice::Allowed { names: vec!["read".into()], required: true },
    ]))
}

prop_compose! {
    fn request()(
        messages in messages(),
        tools in tools(),
        choice in choice(),
        parallel in any::<Option<bool>>(),
        limit in prop::option::of(1..100_000_u64),
        stream in any::<bool>(),
        stop in select(vec![vec![], vec!["END".to_owned()], vec!["a\"".to_owned(), "b".to_owned()]]),
        knobs in proptest::sample::subsequence(vec![("temperature", "0.70"), ("top_p", "1"), ("top_k", "40"), ("seed", "12345678901234567890")], 0..=4),
        thinking in select(vec![
            Thinking::default(),
            Thinking { effort: Some("high".into()), ..Thinking::default() },
            Thinking { effort: Some("low".into()), summary: Some("auto".into()), ..Thinking::default() },
            Thinking { on: Some(true), budget: Some(5000), ..Thinking::default() },
            Thinking { on: Some(false), ..Thinking::default() },
        ]),
        format in select(vec![None, Some(Format::Json), Some(Format::Schema { name: Some("n".into()), schema: SCHEMA.into(), strict: Some(true) })]),
        user in prop::option::of(words()),
        model in select(vec!["m", "gpt-oss:20b"]),
    ) -> Request {
        Request {
            model: model.to_owned(), stream, messages, tools, choice, parallel, limit, stop, thinking, format,
            knobs: knobs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            cache_key: user.clone(), user, ..Request::default()
        }
    }
}

fn parse(text: &str) -> Doc {
    Doc::parse(&Bytes::copy_from_slice(text.as_bytes())).unwrap_or_else(|| panic!("no JSON: {text}"))
}

fn answer() -> impl Strategy<Value = Answer> {
    let call = (words(), any::<bool>()).prop_map(|(text, empty)| {
        let arguments =
            if empty { "{}".to_owned() } else { format!("{{\"a\":{}}}", crate::wire::doc::quote(&text)) };
        ReadyCall { id: "call_1".into(), name: "read".into(), arguments, form: Form::Function }
    });
    let end = select(vec![End::Done, End::Length, End::Filtered]);
    let usage = (0..1000_u64, 0..1000_u64, 0..500_u64);
    (prop::option::of(words()), prop::option::of(words()), prop::collection::vec(call, 0..3), end, usage)
        .prop_map(|(thoughts, text, calls, end, (fresh, cached, output))| {
            let said = thoughts.map(Said::Reasoning).into_iter().chain(text.map(Said::Text));
            let calls = calls
                .into_iter()
                .enumerate()
                .map(|(at, call)| Said::Call(ReadyCall { id: format!("call_{at}"), ..call }));
            let said: Vec<Said> = said.chain(calls).collect();
            let ran = said.iter().any(|said| matches!(said, Said::Call(_)));
            let usage = Usage { input: fresh + cached, cached, output, ..Usage::default() };
            let meta = Meta { id: "x".into(), model: "m".into(), created: 5 };
            Answer { meta, said, end: end.with_calls(ran), usage }
        })
}

/// What a surface can say about an answer: one knows no cache, and not every end.
fn sayable(mut answer: Answer, wire: Wire) -> Answer {
    if wire == Wire::Ollama {
        answer.usage.cached = 0;
        if answer.end == End::Filtered {
            answer.end = End::Done;
        }
    }
    let ran = answer.calls().next().is_some();
    answer.end = answer.end.with_calls(ran);
    answer.meta = Meta { model: answer.meta.model, ..Meta::default() };
    answer
}

/// The frames that a surface streams an answer in: a translator from chat writes them.
fn streamed(answer: &Answer, wire: Wire) -> Vec<u8> {
    let plan = plan(Wire::Chat, wire);
    let mut translator = Translator::new(plan, 1 << 20);
    let chunk = |delta: String, reason: &str| {
        format!(
            r#"data: {{"id":"c","model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{reason}}}]}}"#
        ) + "\n\n"
    };
    let quote = crate::wire::doc::quote;
    let mut text = chunk(r#"{"role":"assistant"}"#.to_owned(), "null");
    for said in &answer.said {
        let delta = match said {
            Said::Text(said) => format!(r#"{{"content":{}}}"#, quote(said)),
            Said::Reasoning(said) => format!(r#"{{"reasoning_content":{}}}"#, quote(said)),
            Said::Call(call) => {
                let at = call.id.trim_start_matches("call_");
                let function = format!(r#"{{"name":"read","arguments":{}}}"#, quote(&call.arguments));
                format!(
                    r#"{{"tool_calls":[{{"index":{at},"id":"{}","type":"function","function":{function}}}]}}"#,
                    call.id
                )
            }
        };
        text += &chunk(delta, "null");
    }
    let reason = match answer.end {
        End::Length => "length",
        End::Filtered => "content_filter",
        End::Calls => "tool_calls",
        _ => "stop",
    };
    text += &chunk("{}".to_owned(), &quote(reason));
    let usage = crate::surface::chat::answer::counts(answer.usage);
    text += &["data: {\"choices\":[],\"usage\":", &usage, "}\n\ndata: [DONE]\n\n"].concat();
    translator.push(text.as_bytes());
    translator.finish();
    translator.take().concat()
}

fn plan(upstream: Wire, client: Wire) -> Plan {
    Plan {
        client,
        upstream,
        names: Names::default(),
        model: "m".into(),
        counts: true,
        losses: Losses::default(),
        store: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_request_that_is_fit_is_read_back_as_it_was(request in request()) {
        for wire in WIRES {
            let vendor = Can { mid_system: wire != Wire::Ollama, ..Can::of(wire).vendor() };
            for can in [Can::of(wire), vendor] {
                let mut losses = Losses::default();
                // What cannot be carried over is refused, which is another test.
                let Ok((fitted, _)) = fit(request.clone(), &can, &mut losses) else { continue };
                let text = wire.encode(&fitted, can.vendor);
                prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
                let mut read = wire.decode(parse(&text).root(), &mut losses).unwrap();
                // The server is always asked for its counts.
                read.counts = fitted.counts;
                prop_assert_eq!(&read, &fitted, "{:?}: {}", wire, text);
                let (again, _) = fit(fitted.clone(), &can, &mut losses).unwrap();
                prop_assert_eq!(&again, &fitted, "what is fit stays as it is");
            }
        }
    }

    #[test]
    fn an_answer_is_read_back_as_it_was(answer in answer()) {
        for wire in WIRES {
            let text = wire.write(&answer);
            let mut read = wire.read(parse(&text).root()).unwrap();
            let ran = read.calls().next().is_some();
            read.end = read.end.with_calls(ran);
            prop_assert_eq!(&read, &sayable(answer.clone(), wire), "{:?}: {}", wire, text);
        }
    }

    #[test]
    fn a_stream_says_what_the_answer_says_in_any_pieces(answer in answer(), size in 1_usize..60) {
        for wire in WIRES {
            let bytes = streamed(&answer, wire);
            // Back to chat, where everything that a stream says has a place.
            let read = |pieces: &[&[u8]]| {
                let mut translator = Translator::new(plan(wire, Wire::Chat), 1 << 20);
                for piece in pieces {
                    translator.push(piece);
                }
                translator.finish();
                let text = String::from_utf8(translator.take().concat()).unwrap();
                let data: Vec<serde_json::Value> = text
                    .lines()
                    .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
                    .map(|mut chunk: serde_json::Value| {
                        chunk["id"] = "".into();
                        chunk["created"] = 0.into();
                        chunk
                    })
                    .collect();
                data
            };
            let whole = read(&[&bytes]);
            let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(&read(&pieces), &whole, "{:?} in pieces of {}", wire, size);
            let wanted = sayable(answer.clone(), wire);
            let join = |name: &str| -> String {
                whole.iter().filter_map(|chunk| chunk["choices"][0]["delta"][name].as_str()).collect()
            };
            prop_assert_eq!(join("content"), wanted.text());
            prop_assert_eq!(join("reasoning_content"), wanted.reasoning());
            let calls: Vec<&str> = whole
                .iter()
                .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str())
                .collect();
            let meant: Vec<&str> = wanted.calls().map(|call| call.arguments.as_str()).collect();
            prop_assert_eq!(calls, meant);
            let usage = &whole.last().unwrap()["usage"];
            prop_assert_eq!(usage["prompt_tokens"].as_u64(), Some(wanted.usage.input));
            prop_assert_eq!(usage["prompt_tokens_details"]["cached_tokens"].as_u64(), Some(wanted.usage.cached));
        }
    }
}
