//! What is written is read back: properties of requests and answers in every protocol.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::select;

use toolmend_json::quote;
use toolmend_protocol::{
    Answer, AnswerEnd, AnswerMeta, AnswerPart, Block, Call, CallExtras, CallForm, Capabilities, Document,
    DroppedFields, Format, Media, Message, Protocol, ReadyCall, ReasoningSignature, Request, Role, Source,
    Thinking, Tool, ToolChoice, ToolGroup, Usage,
};

use super::names::ToolNames;
use super::restrict::restrict_request;
use super::stream::StreamTranslator;
use super::{ProtocolPair, Translation};

const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"number","maximum":1.50}}}"#;

fn text() -> impl Strategy<Value = String> {
    select(vec!["", "hi", "say \"hi\"\n", "C:\\dir\\x", "ünï 😀", "<tool_call>", "{\"a\": 1}"])
        .prop_map(str::to_owned)
}

fn prose() -> impl Strategy<Value = String> {
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

fn form() -> impl Strategy<Value = CallForm> {
    select(vec![CallForm::Function, CallForm::Function, CallForm::Custom, CallForm::Grouped("group".into())])
}

fn content() -> impl Strategy<Value = Vec<Block>> {
    let block = prop_oneof![3 => text().prop_map(Block::Text), 1 => media()];
    prop::collection::vec(block, 0..3)
}

/// A turn of the assistant with calls, and their results.
fn exchange(number: usize) -> impl Strategy<Value = Vec<Message>> {
    let seal = prop::option::of(select(vec![Protocol::Messages, Protocol::Responses]));
    let reasoning = prop::option::of((text(), seal));
    let call = (form(), select(vec!["read", "a.b"]), text(), any::<bool>(), content());
    (reasoning, text(), prop::collection::vec(call, 0..3), text()).prop_map(
        move |(reasoning, before, calls, after)| {
            let mut blocks = Vec::new();
            if let Some((text, protocol)) = reasoning {
                let seal = protocol.map(|protocol| ReasoningSignature {
                    protocol,
                    data: "seal".into(),
                    hidden: false,
                });
                blocks.push(Block::Reasoning { text, seal });
            }
            blocks.push(Block::Text(before));
            let mut results = Vec::new();
            for (at, (form, name, text, error, content)) in calls.into_iter().enumerate() {
                let id = format!("call_{number}_{at}");
                let custom = form == CallForm::Custom;
                let arguments = if custom { text } else { r#"{"a": 1.50, "b": "\u00e9"}"#.to_owned() };
                results.push(Block::Result { id: id.clone(), name: None, content, error, custom });
                blocks.push(Block::Call(Call {
                    id,
                    name: name.to_owned(),
                    form,
                    arguments,
                    extras: CallExtras::default(),
                }));
            }
            blocks.push(Block::Text(after));
            vec![Message::new(Role::Assistant, blocks), Message::new(Role::Tool, results)]
        },
    )
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let system = select(vec![Role::System, Role::Developer]);
    let leading = prop::collection::vec((system, prose()), 0..3);
    let user = || content().prop_map(|blocks| vec![Message::new(Role::User, blocks)]);
    let mid = prose().prop_map(|text| vec![Message::from_text(Role::System, text)]);
    let turn = |number| prop_oneof![2 => user(), 2 => exchange(number)];
    (leading, user(), turn(0), mid, turn(1), user()).prop_map(|(leading, first, a, mid, b, last)| {
        let leading = leading.into_iter().map(|(role, text)| Message::from_text(role, text));
        leading.chain(first).chain(a).chain(mid).chain(b).chain(last).collect()
    })
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    let function = |name: &str, group: Option<&str>, strict| Tool::Function {
        name: name.into(),
        group: group.map(|name| ToolGroup { name: name.into(), description: Some("More.".into()) }),
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
            protocol: Protocol::Responses,
            name: "web_search".into(),
            raw: r#"{"type":"web_search"}"#.into(),
        },
    ];
    proptest::sample::subsequence(list, 0..=5)
}

fn choice() -> impl Strategy<Value = Option<ToolChoice>> {
    prop::option::of(select(vec![
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Tool("read".into(), CallForm::Function),
        ToolChoice::Tool("patch".into(), CallForm::Custom),
        ToolChoice::Allowed { names: vec!["read".into()], required: true },
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
        sampling in proptest::sample::subsequence(vec![("temperature", "0.70"), ("top_p", "1"), ("top_k", "40"), ("seed", "12345678901234567890")], 0..=4),
        thinking in select(vec![
            Thinking::default(),
            Thinking { effort: Some("high".into()), ..Thinking::default() },
            Thinking { effort: Some("low".into()), summary: Some("auto".into()), ..Thinking::default() },
            Thinking { on: Some(true), budget: Some(5000), ..Thinking::default() },
            Thinking { on: Some(false), ..Thinking::default() },
        ]),
        format in select(vec![None, Some(Format::Json), Some(Format::Schema { name: Some("n".into()), schema: SCHEMA.into(), strict: Some(true) })]),
        user in prop::option::of(prose()),
        model in select(vec!["m", "gpt-oss:20b"]),
    ) -> Request {
        Request {
            model: model.to_owned(), stream, messages, tools, tool_choice: choice, parallel_calls: parallel, limit, stop, thinking, format,
            sampling: sampling.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            cache_key: user.clone(), user, ..Request::default()
        }
    }
}

fn parse(text: &str) -> Document {
    Document::parse(&Bytes::copy_from_slice(text.as_bytes())).unwrap_or_else(|| panic!("no JSON: {text}"))
}

fn answer() -> impl Strategy<Value = Answer> {
    let call = (prose(), any::<bool>()).prop_map(|(text, empty)| {
        let arguments = if empty { "{}".to_owned() } else { format!("{{\"a\":{}}}", quote(&text)) };
        ReadyCall { id: "call_1".into(), name: "read".into(), arguments, ..ReadyCall::default() }
    });
    let end = select(vec![AnswerEnd::Done, AnswerEnd::Length, AnswerEnd::Filtered]);
    let usage = (0..1000_u64, 0..1000_u64, 0..500_u64);
    (prop::option::of(prose()), prop::option::of(prose()), prop::collection::vec(call, 0..3), end, usage)
        .prop_map(|(reasoning, text, calls, end, (fresh, cached, output))| {
            let parts = reasoning.map(AnswerPart::Reasoning).into_iter().chain(text.map(AnswerPart::Text));
            let calls = calls
                .into_iter()
                .enumerate()
                .map(|(at, call)| AnswerPart::Call(ReadyCall { id: format!("call_{at}"), ..call }));
            let parts: Vec<AnswerPart> = parts.chain(calls).collect();
            let has_calls = parts.iter().any(|part| matches!(part, AnswerPart::Call(_)));
            let usage = Usage { input: fresh + cached, cached, output, ..Usage::default() };
            let meta = AnswerMeta { id: "x".into(), model: "m".into(), created: 5 };
            Answer { meta, parts, end: end.with_calls(has_calls), usage }
        })
}

/// Returns what a protocol can express of an answer: Ollama has no cache and not every end.
fn expressible(mut answer: Answer, protocol: Protocol) -> Answer {
    if protocol == Protocol::OllamaChat {
        answer.usage.cached = 0;
        if answer.end == AnswerEnd::Filtered {
            answer.end = AnswerEnd::Done;
        }
    }
    let has_calls = answer.calls().next().is_some();
    answer.end = answer.end.with_calls(has_calls);
    answer.meta = AnswerMeta { model: answer.meta.model, ..AnswerMeta::default() };
    answer
}

/// Returns the frames of an answer in a protocol, as a translation from chat writes them.
fn stream_answer(answer: &Answer, protocol: Protocol) -> Vec<u8> {
    let mut translator = StreamTranslator::new(translation(Protocol::Chat, protocol), 1 << 20);
    let chunk = |delta: String, reason: &str| {
        format!(
            r#"data: {{"id":"c","model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{reason}}}]}}"#
        ) + "\n\n"
    };
    let mut text = chunk(r#"{"role":"assistant"}"#.to_owned(), "null");
    for part in &answer.parts {
        let delta = match part {
            AnswerPart::Text(text) => format!(r#"{{"content":{}}}"#, quote(text)),
            AnswerPart::Reasoning(text) => format!(r#"{{"reasoning_content":{}}}"#, quote(text)),
            AnswerPart::Call(call) => {
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
        AnswerEnd::Length => "length",
        AnswerEnd::Filtered => "content_filter",
        AnswerEnd::Calls => "tool_calls",
        _ => "stop",
    };
    text += &chunk("{}".to_owned(), &quote(reason));
    let Usage { input, cached, output, .. } = answer.usage;
    let details = format!(r#"{{"cached_tokens":{cached}}}"#);
    let usage = format!(
        r#"{{"prompt_tokens":{input},"completion_tokens":{output},"prompt_tokens_details":{details}}}"#
    );
    text += &["data: {\"choices\":[],\"usage\":", &usage, "}\n\ndata: [DONE]\n\n"].concat();
    translator.push(text.as_bytes());
    translator.finish();
    translator.take_output().concat()
}

fn translation(upstream: Protocol, client: Protocol) -> Translation {
    Translation {
        protocols: ProtocolPair::new(client, upstream).unwrap(),
        names: ToolNames::default(),
        model: "m".into(),
        wants_usage: true,
        dropped: DroppedFields::default(),
        conversation: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_restricted_request_is_read_back_unchanged(request in request()) {
        for protocol in Protocol::conversational() {
            let (client, upstream) = (protocol.client_side().unwrap(), protocol.upstream_side().unwrap());
            let capabilities = Capabilities { inner_system_prompts: false, ..upstream.capabilities };
            let vendor = Capabilities {
                inner_system_prompts: protocol != Protocol::OllamaChat,
                ..capabilities.for_vendor()
            };
            for target in [capabilities, vendor] {
                let mut dropped = DroppedFields::default();
                // Requests that cannot be translated are the subject of other tests.
                let Ok((restricted, _)) = restrict_request(request.clone(), &target, &mut dropped) else { continue };
                let text = (upstream.encode_request)(&restricted, target.vendor);
                prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
                let mut read = (client.decode_request)(parse(&text).root(), &mut dropped).unwrap();
                // The server is always asked for token counts.
                read.wants_usage = restricted.wants_usage;
                prop_assert_eq!(&read, &restricted, "{:?}: {}", protocol, text);
                let (again, _) = restrict_request(restricted.clone(), &target, &mut dropped).unwrap();
                prop_assert_eq!(&again, &restricted, "a restricted request stays as it is");
            }
        }
    }

    #[test]
    fn an_answer_is_read_back_unchanged(answer in answer()) {
        for protocol in Protocol::conversational() {
            let text = (protocol.client_side().unwrap().write_answer)(&answer);
            let mut read = (protocol.upstream_side().unwrap().read_answer)(parse(&text).root()).unwrap();
            let has_calls = read.calls().next().is_some();
            read.end = read.end.with_calls(has_calls);
            prop_assert_eq!(&read, &expressible(answer.clone(), protocol), "{:?}: {}", protocol, text);
        }
    }

    #[test]
    fn a_stream_carries_the_answer_in_any_pieces(answer in answer(), size in 1_usize..60) {
        for protocol in Protocol::conversational() {
            let bytes = stream_answer(&answer, protocol);
            // Back to chat, which can express everything that a stream carries.
            let read = |pieces: &[&[u8]]| {
                let mut translator = StreamTranslator::new(translation(protocol, Protocol::Chat), 1 << 20);
                for piece in pieces {
                    translator.push(piece);
                }
                translator.finish();
                let text = String::from_utf8(translator.take_output().concat()).unwrap();
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
            prop_assert_eq!(&read(&pieces), &whole, "{:?} in pieces of {}", protocol, size);
            let wanted = expressible(answer.clone(), protocol);
            let join = |name: &str| -> String {
                whole.iter().filter_map(|chunk| chunk["choices"][0]["delta"][name].as_str()).collect()
            };
            prop_assert_eq!(join("content"), wanted.text());
            prop_assert_eq!(join("reasoning_content"), wanted.reasoning());
            let calls: Vec<&str> = whole
                .iter()
                .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str())
                .collect();
            let expected: Vec<&str> = wanted.calls().map(|call| call.arguments.as_str()).collect();
            prop_assert_eq!(calls, expected);
            let usage = &whole.last().unwrap()["usage"];
            prop_assert_eq!(usage["prompt_tokens"].as_u64(), Some(wanted.usage.input));
            prop_assert_eq!(usage["prompt_tokens_details"]["cached_tokens"].as_u64(), Some(wanted.usage.cached));
        }
    }
}
