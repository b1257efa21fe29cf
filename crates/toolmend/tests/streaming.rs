//! The contract of the stream, S1 to S20, over the cases under `corpus/dialects`.
//!
//! - S1 any chunking gives the same events, S2 the whole text is one push and the end
//! - S3 nothing is taken back, S4 arguments are JSON, S5 nothing is lost, S6 no markup leaks, S7 data stays data
//! - S8 little is held back, S9 work is linear, S10 order is kept, S11 streams share no state, S12 no input is an error
//! - S13 what was reported early stays, S14 truncation never makes another call run, S15 what is written is read back
//! - S16 reasoning does not depend on chunks, S17 schemas do not move calls, S18 explicit calls of unknown tools are kept
//! - S19 ending a stream twice reports nothing, S20 valid JSON is passed on byte for byte
//!
//! S5 and S15 are checked for every case in `dialects.rs`, S16 by S1 over the cases with reasoning.

mod cases;
#[path = "support/joined_events.rs"]
mod joined_events;

use std::cell::Cell;
use std::sync::LazyLock;

use cases::{Case, CaseCall, CaseOutcome, CaseTurn, Checked, all, canonical, is_plain, markers};
use joined_events::join_events;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use toolmend::{
    Call, CallToRender, Delivery, Event, Finish, Mender, Outcome, Part, Source, Turn, TurnOptions,
};

const DELIVERIES: [Delivery; 2] = [Delivery::Held, Delivery::Live];

/// Longer inputs are split in fewer positions, so that the tests stay quick.
const MOST_SPLITS: usize = 120;
/// Inputs of at most this many bytes are split in two positions, in every combination.
const SHORT: usize = 48;

/// The events of a stream that gets the input in these pieces.
fn events<'p>(
    case: &Case,
    options: &TurnOptions,
    finish: Finish,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> Vec<Event> {
    let mut stream = case.mender.stream(options);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(stream.push(piece));
    }
    events.extend(stream.finish(finish));
    joined(events)
}

/// Joins adjacent text of the same kind, and leaves out empty text.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut out = join_events(events);
    out.retain(|event| match event {
        Event::Content(text) | Event::Reasoning(text) | Event::ArgumentsDelta { text, .. } => {
            !text.is_empty()
        }
        _ => true,
    });
    out
}

fn with(case: &Case, delivery: Delivery) -> TurnOptions {
    case.options.clone().delivery(delivery)
}

fn whole(case: &Case, delivery: Delivery) -> Vec<Event> {
    events(case, &with(case, delivery), case.finish, [case.input.as_bytes()])
}

/// The positions at which an input is split: all of them, or evenly spread over a long input.
fn places(input: &[u8]) -> impl Iterator<Item = usize> + Clone + use<> {
    (0..=input.len()).step_by(input.len().div_ceil(MOST_SPLITS).max(1))
}

/// Checks a property of every case, and shows all cases for which it does not hold.
fn for_every_case(property: &str, check: impl Fn(&Case) -> Checked) {
    let cases = all();
    let failures: Vec<_> = cases
        .iter()
        .filter_map(|case| Some(format!("{property} {case:?}: {}", check(case).err()?)))
        .collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

fn ensure(holds: bool, complaint: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(complaint().into()) }
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T, place: impl std::fmt::Debug) -> Checked {
    ensure(found == expected, || format!("{place:?}\n  expected {expected:?}\n  found    {found:?}"))
}

#[test]
fn s01_s13_any_split_gives_the_same_events_and_what_was_reported_early_stays() {
    for_every_case("split", |case| {
        let input = case.input.as_bytes();
        for delivery in DELIVERIES {
            let (options, expected) = (with(case, delivery), whole(case, delivery));
            for at in places(input) {
                let (one, two) = input.split_at(at);
                let mut stream = case.mender.stream(&options);
                let mut reported = joined(stream.push(one));
                let stays = begins(&reported, &expected);
                ensure(stays, || {
                    format!("{delivery:?}, at {at}: {reported:?}\n  is not the beginning of {expected:?}")
                })?;
                reported.extend(stream.push(two));
                reported.extend(stream.finish(case.finish));
                same(&joined(reported), &expected, (delivery, at))?;
            }
        }
        Ok(())
    });
}

#[test]
fn s01_byte_by_byte_and_with_nothing_between() {
    for_every_case("bytes", |case| {
        let input = case.input.as_bytes();
        for delivery in DELIVERIES {
            let (options, expected) = (with(case, delivery), whole(case, delivery));
            same(&events(case, &options, case.finish, input.chunks(1)), &expected, delivery)?;
            let empty: &[u8] = b"";
            let pieces = input.chunks(3).flat_map(|piece| [empty, piece, empty]);
            same(&events(case, &options, case.finish, pieces), &expected, delivery)?;
        }
        Ok(())
    });
}

#[test]
fn s01_every_pair_of_splits_of_short_inputs() {
    let tried = Cell::new(0);
    for_every_case("pairs", |case| {
        let input = case.input.as_bytes();
        if input.len() > SHORT {
            return Ok(());
        }
        let (options, expected) = (with(case, Delivery::Live), whole(case, Delivery::Live));
        for end in 0..=input.len() {
            for start in 0..=end {
                let pieces = [&input[..start], &input[start..end], &input[end..]];
                same(&events(case, &options, case.finish, pieces), &expected, (start, end))?;
                tried.set(tried.get() + 1);
            }
        }
        Ok(())
    });
    assert!(tried.get() > 20_000, "{} pairs are too few", tried.get());
}

#[test]
fn s02_the_whole_text_is_one_push_and_the_end() {
    for_every_case("whole", |case| {
        for delivery in DELIVERIES {
            let mut turn = Turn::default();
            turn.extend(whole(case, delivery));
            case.mender.settle_answer(&mut turn, &with(case, delivery), case.finish);
            same(&turn, &case.turn(), delivery)?;
        }
        Ok(())
    });
}

/// What a stream reported of one call.
#[derive(Debug, Default, Clone)]
struct ObservedCall {
    started: Option<(String, Option<String>)>,
    arguments: String,
    ended: Option<Call>,
}

/// Reads the events of a stream, and fails if they contradict each other.
fn listen(events: &[Event]) -> Checked<Vec<ObservedCall>> {
    let mut observed: Vec<ObservedCall> = Vec::new();
    for event in events {
        match event {
            Event::CallStart { index, name, id } => {
                same(index, &observed.len(), "calls are counted in their order")?;
                observed.push(ObservedCall {
                    started: Some((name.clone(), id.clone())),
                    ..ObservedCall::default()
                });
            }
            Event::ArgumentsDelta { index, text } => {
                let call = observed.get_mut(*index).ok_or("arguments of no call")?;
                ensure(call.ended.is_none(), || "arguments after the end".to_owned())?;
                call.arguments.push_str(text);
            }
            Event::CallEnd { index, call }
            | Event::CallCut { index, call }
            | Event::CallRejected { index, call } => {
                let runs = matches!(event, Event::CallEnd { .. });
                same(&runs, &call.outcome().runs(), "only what runs has an end")?;
                if observed.len() == *index {
                    ensure(!runs, || "a call that runs has a start".to_owned())?;
                    observed.push(ObservedCall::default());
                }
                let known = observed.get_mut(*index).ok_or("the end of no call")?;
                ensure(known.ended.is_none(), || "ended twice".to_owned())?;
                known.ended = Some((**call).clone());
            }
            _ => {}
        }
    }
    Ok(observed)
}

#[test]
fn s03_s04_s10_what_is_reported_of_a_call_is_true() {
    for_every_case("calls", |case| {
        for delivery in DELIVERIES {
            let mut last = 0;
            for observed in listen(&whole(case, delivery))? {
                let call = observed.ended.ok_or("a call without an end")?;
                ensure(call.at.start >= last, || "calls are not in the order of the bytes".to_owned())?;
                last = call.at.start;
                if let Some((name, id)) = observed.started {
                    same(&(&name, &id), &(&call.name, &call.id), "name and id are final")?;
                }
                match call.arguments() {
                    Some(json) => same(&observed.arguments.as_str(), &json, delivery)?,
                    None => ensure(begins_json(&observed.arguments), || observed.arguments.clone())?,
                }
            }
        }
        Ok(())
    });
}

/// Whether some JSON object begins like this.
fn begins_json(text: &str) -> bool {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => value.is_object(),
        Err(error) => error.is_eof() && (text.is_empty() || text.starts_with('{')),
    }
}

/// Texts that are markup elsewhere: every marker, and whole calls of other dialects.
fn foreign_texts() -> Vec<String> {
    let cases = all();
    let mut texts = markers(&cases, is_plain);
    texts.extend(cases.iter().filter(|case| case.name.ends_with("/single")).map(|case| case.input.clone()));
    texts
}

/// Markup in a string is text, in every dialect that can express it: the call that runs is the one that was written,
/// and it is the only one.
#[test]
fn s07_markup_in_a_string_is_text() {
    let tools = serde_json::json!([
        {"name": "keep_note", "parameters": {"type": "object", "properties": {
            "title": {"type": "string"}, "text": {"type": "string"}}, "required": ["title", "text"]}},
        {"name": "run_shell", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
        {"name": "board", "parameters": {"type": "object", "properties": {"station": {"type": "string"}}}},
    ]);
    let mender = Mender::new(&tools).expect("tools");
    let texts = foreign_texts();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for dialect in toolmend::dialects() {
        let options = TurnOptions::new().dialect(dialect.name());
        for text in &texts {
            let arguments =
                serde_json::json!({"title": "a", "text": format!("see {text} there")}).to_string();
            let Some(written) =
                dialect.render(&[CallToRender { name: "keep_note", arguments: &arguments, id: "call00000" }])
            else {
                continue;
            };
            tried += 1;
            let turn = mender.turn(&written, &options, Finish::Stop);
            let runs: Vec<_> = turn.calls.iter().filter(|call| call.outcome().runs()).collect();
            let same = |call: &&Call| call.arguments().is_some_and(|json| is_part(json, &arguments));
            let right =
                runs.len() <= 1 && runs.iter().all(|call| call.name == "keep_note") && runs.iter().all(same);
            if !right {
                wrong.push(format!("{} with {text:?}: {}", dialect.name(), CaseTurn::of(&turn)));
            }
        }
    }
    assert!(tried > 5_000, "only {tried} texts were tried");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn s08_plain_text_is_reported_immediately() {
    let longest = markers(&all(), is_plain).iter().map(String::len).max().unwrap_or(0);
    let text = "Die Züge nach Süden fahren um 8:07, 9:07 und 10:07 < 12:00 [siehe Tafel] ab.\n\n* Gleis 3\n"
        .repeat(4);
    for_every_case("plain", |case| {
        let mut stream = case.mender.stream(&case.options.clone().reasoning_open(false));
        let (mut pushed, mut reported) = (0, 0);
        for piece in text.as_bytes().chunks(5) {
            pushed += piece.len();
            for event in stream.push(piece) {
                if let Event::Content(text) | Event::Reasoning(text) = event {
                    reported += text.len();
                }
            }
            ensure(pushed - reported <= longest + 8, || {
                format!("{} bytes are held back", pushed - reported)
            })?;
        }
        Ok(())
    });
}

#[test]
fn s09_what_is_reported_grows_with_the_input_and_no_faster() {
    for_every_case("growth", |case| {
        for delivery in DELIVERIES {
            let (mut reported, mut count) = (0, 0);
            let pieces: Vec<&[u8]> = case.input.as_bytes().chunks(1).collect();
            for event in stream_events(&mut case.mender.stream(&with(case, delivery)), &pieces, case.finish) {
                count += 1;
                reported += match event {
                    Event::Content(text) | Event::Reasoning(text) | Event::ArgumentsDelta { text, .. } => {
                        text.len()
                    }
                    _ => 0,
                };
            }
            // A control character takes six bytes in a JSON string, and every tag has some punctuation.
            let bytes = case.input.len();
            ensure(reported <= bytes * 6 + 64, || format!("{reported} bytes reported of {bytes}"))?;
            ensure(count <= bytes * 2 + 8, || format!("{count} events of {bytes} bytes"))?;
        }
        Ok(())
    });
}

fn stream_events(stream: &mut toolmend::Stream, pieces: &[&[u8]], finish: Finish) -> Vec<Event> {
    let mut events: Vec<Event> = pieces.iter().flat_map(|piece| stream.push(piece)).collect();
    events.extend(stream.finish(finish));
    events
}

#[test]
fn s11_streams_do_not_know_of_each_other() {
    let cases = all();
    let others = Cell::new(0);
    for_every_case("isolation", |one| {
        others.set(others.get() + 1);
        let two = &cases[others.get() % cases.len()];
        let mut streams = [one, two].map(|case| case.mender.stream(&with(case, Delivery::Live)));
        let mut reported = [Vec::new(), Vec::new()];
        for start in (0..one.input.len().max(two.input.len())).step_by(4) {
            for (index, case) in [one, two].into_iter().enumerate() {
                let input = case.input.as_bytes();
                let piece = &input[start.min(input.len())..(start + 4).min(input.len())];
                reported[index].extend(streams[index].push(piece));
            }
        }
        for (index, case) in [one, two].into_iter().enumerate() {
            reported[index].extend(streams[index].finish(case.finish));
            let alone = case.input.as_bytes().chunks(4);
            let alone = events(case, &with(case, Delivery::Live), case.finish, alone);
            same(&joined(std::mem::take(&mut reported[index])), &alone, two)?;
        }
        Ok(())
    });
}

#[test]
fn s12_s19_ending_a_stream_twice_reports_nothing() {
    for_every_case("end", |case| {
        let mut stream = case.mender.stream(&case.options);
        stream.push(case.input.as_bytes());
        stream.finish(case.finish);
        same(&stream.finish(Finish::Length), &Vec::new(), "the end again")?;
        same(&stream.push("more <tool_call>"), &Vec::new(), "text after the end")?;
        same(&stream.finish(Finish::Stop), &Vec::new(), "the end once more")
    });
}

/// Whether a list of events is the beginning of another. Its last text may be the beginning of the other's.
fn begins(early: &[Event], all: &[Event]) -> bool {
    let Some((last, before)) = early.split_last() else { return true };
    if early.len() > all.len() || before != &all[..before.len()] {
        return false;
    }
    match (last, &all[before.len()]) {
        (Event::Content(part), Event::Content(text)) | (Event::Reasoning(part), Event::Reasoning(text)) => {
            text.starts_with(part.as_str())
        }
        (Event::ArgumentsDelta { index, text: part }, Event::ArgumentsDelta { index: other, text }) => {
            index == other && text.starts_with(part.as_str())
        }
        (last, other) => last == other,
    }
}

/// The calls that run, by name and arguments. An id may come after them.
fn running(turn: &Turn) -> Vec<(String, String)> {
    let runs = |call: &CaseCall| call.outcome == CaseOutcome::Call;
    CaseTurn::of(turn).calls.into_iter().filter(runs).map(|call| (call.name, call.arguments)).collect()
}

/// Whether the complete arguments of a truncated call are arguments of the whole call. Types come from the schema at
/// the end.
fn is_part(complete: &str, full: &str) -> bool {
    let [complete, full] = [complete, full].map(|json| serde_json::from_str(json).unwrap_or_default());
    let (serde_json::Value::Object(complete), serde_json::Value::Object(full)) = (complete, full) else {
        return false;
    };
    complete.iter().all(|(key, value)| {
        let whole = full.get(key);
        whole == Some(value) || whole.map(ToString::to_string).as_deref() == value.as_str()
    })
}

#[test]
fn s06_s14_a_cut_leaks_nothing_and_never_makes_another_call_run() {
    let markers = markers(&all(), is_plain);
    for_every_case("cut", |case| {
        let turn = case.turn();
        for at in places(case.input.as_bytes()).filter(|&at| case.input.is_char_boundary(at)) {
            for finish in [Finish::Length, Finish::Unknown] {
                let cut = case.mender.turn(&case.input[..at], &case.options, finish);
                check_cut(&turn, &cut, finish, &markers)
                    .map_err(|error| format!("cut at {at} ({finish:?}): {error}\n{}", CaseTurn::of(&cut)))?;
            }
        }
        Ok(())
    });
}

/// Checks what may come of the beginning of an output whose whole is this turn.
///
/// Without a finish reason the beginning counts as a whole output, and a truncated call shows that those before it are
/// meant. So a call without a marker may run that the words after it would have shown to be text. A call inside
/// reasoning stays visible there, so markers are looked for in the content alone.
fn check_cut(full: &Turn, cut: &Turn, finish: Finish, markers: &[String]) -> Checked {
    let may_be_whole =
        finish == Finish::Unknown || cut.calls.iter().any(|call| call.outcome() == Outcome::Truncated);
    if may_be_whole && cut.calls.iter().any(|call| is_unmarked(call) && !is_in(call, full)) {
        return Ok(());
    }
    let (runs, known) = (running(cut), running(full));
    ensure(runs.len() <= known.len() && runs == known[..runs.len()], || "another call runs".to_owned())?;
    let starts = cut.calls.iter().zip(&full.calls).map(|(cut, full)| cut.at.start == full.at.start);
    for ((call, full), is_same) in CaseTurn::of(cut).calls.iter().zip(&CaseTurn::of(full).calls).zip(starts) {
        let is_cut = call.outcome == CaseOutcome::Cut && full.outcome != CaseOutcome::Rejected;
        if is_same && is_cut && call.name == full.name {
            ensure(is_part(&call.arguments, &full.arguments), || format!("{} is not true", call.arguments))?;
        }
    }
    let leaks =
        |marker: &&String| cut.content.contains(marker.as_str()) && !full.content.contains(marker.as_str());
    match markers.iter().find(leaks) {
        Some(marker) => Err(format!("{marker} is shown").into()),
        None => Ok(()),
    }
}

/// Whether a call was recognised by its form: nothing else distinguishes it from text.
fn is_unmarked(call: &toolmend::Call) -> bool {
    call.source == Source::Inferred || call.raw.starts_with(['{', '[', '`'])
}

/// Whether a turn has this call.
fn is_in(call: &toolmend::Call, turn: &Turn) -> bool {
    turn.calls.iter().any(|known| known.at.start == call.at.start)
}

/// The same tools by name alone.
fn unconstrained(case: &Case) -> Mender {
    let names: Vec<_> = case.mender.tools().iter().map(|tool| serde_json::Value::from(tool.name())).collect();
    let tools = serde_json::Value::from(names);
    Mender::builder().tools(&tools).policy(case.policy.clone()).build().expect("names of tools")
}

#[test]
fn s17_schemas_do_not_move_explicit_calls() {
    for_every_case("schemas", |case| {
        let row = toolmend::dialects().iter().find(|dialect| dialect.name() == case.folder());
        if row.is_some_and(|dialect| dialect.source() == Source::Inferred) {
            return Ok(());
        }
        let other = unconstrained(case).turn(&case.input, &case.options, case.finish);
        // Arguments that only a schema makes readable, such as a code with leading zeros, have no certain end without it.
        let are_readable = other.calls.iter().all(|call| call.outcome().runs())
            || !case.turn().calls.iter().all(|call| call.outcome().runs());
        let places = |turn: &Turn| -> Vec<_> {
            let explicit = turn.calls.iter().filter(|call| call.source == Source::Explicit);
            let end = |at: &std::ops::Range<usize>| are_readable.then_some(at.end);
            explicit.map(|call| (call.name.clone(), call.at.start, end(&call.at))).collect()
        };
        same(&places(&other), &places(&case.turn()), "places")
    });
}

#[test]
fn s18_explicit_calls_of_unknown_tools_are_kept() {
    let nothing = Mender::new(&serde_json::json!(["nothing_of_this_name"])).expect("a name");
    let kept = Cell::new(0);
    for_every_case("unknown", |case| {
        for call in nothing.turn(&case.input, &case.options, case.finish).calls {
            same(&call.source, &Source::Explicit, call.raw)?;
            kept.set(kept.get() + 1);
        }
        Ok(())
    });
    assert!(kept.get() > 300, "only {} calls are explicit", kept.get());
}

#[test]
fn s20_valid_json_is_passed_on_byte_for_byte() {
    let seen = Cell::new(0);
    for_every_case("verbatim", |case| {
        for call in case.turn().calls {
            let (Some(json), Outcome::Clean) = (call.arguments(), call.outcome()) else { continue };
            // If an object in the call equals the arguments, they were written as JSON.
            let ends: Vec<_> = call.raw.match_indices('}').map(|(end, _)| end + 1).collect();
            let written = call
                .raw
                .match_indices('{')
                .flat_map(|(start, _)| ends.iter().map(move |&end| (start, end)))
                .filter_map(|(start, end)| call.raw.get(start..end))
                .find(|text| canonical(text).ok() == canonical(json).ok());
            if let Some(written) = written {
                same(&json, &written, "arguments")?;
                seen.set(seen.get() + 1);
            }
        }
        Ok(())
    });
    assert!(seen.get() > 100, "only {} calls were written as JSON", seen.get());
}

proptest! {
    // The inputs are the same every time. A failing run then says something about the change; the fuzzer searches for
    // new failures.
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// A random mix of markers, quotes and words, in any pieces: no panic, the same events, and arguments that are
    /// JSON.
    #[test]
    fn s12_no_input_is_an_error(
        parts in proptest::collection::vec(0usize..4096, 0..24),
        splits in proptest::collection::vec(0usize..400, 0..6),
        live: bool,
        tools in 0usize..3,
    ) {
        let (mender, text) = soup(&parts, tools);
        let delivery = if live { Delivery::Live } else { Delivery::Held };
        let options = TurnOptions::new().delivery(delivery);
        let bytes = text.as_bytes();
        let mut at: Vec<usize> = splits.iter().map(|split| split % (bytes.len() + 1)).collect();
        at.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for end in at.into_iter().chain([bytes.len()]) {
            pieces.push(&bytes[start..end]);
            start = end;
        }
        let whole = joined(stream_events(&mut mender.stream(&options), &[bytes], Finish::Unknown));
        let split = joined(stream_events(&mut mender.stream(&options), &pieces, Finish::Unknown));
        prop_assert_eq!(&split, &whole, "{}", text);
        let mut turn = Turn::default();
        turn.extend(whole);
        for call in &turn.calls {
            prop_assert_eq!(text.get(call.at.clone()), Some(call.raw.as_str()));
            if let Some(json) = call.arguments() {
                let value: serde_json::Value = serde_json::from_str(json).expect("arguments are JSON");
                prop_assert!(value.is_object(), "{}", text);
            }
        }
    }
}

/// Markers of all dialects, and text to put between them.
fn soup(parts: &[usize], tools: usize) -> (Mender, String) {
    const WORDS: [&str; 40] = [
        "save_file",
        "run_shell",
        "clock",
        "path",
        "text",
        "command",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        ",",
        "\n",
        " ",
        "=",
        "(",
        ")",
        "\\",
        "a",
        "é",
        "👋",
        "12",
        "true",
        "null",
        "<",
        ">",
        "|",
        "</",
        "```",
        "json\n",
        "{\"",
        "\": \"",
        "\", \"",
        "\"}",
        "}}",
        "</think>",
        "<think>",
        "arguments",
    ];
    const TOOLS: [&str; 3] = [
        r#"["save_file", "run_shell", "clock"]"#,
        r#"[{"name": "save_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}, "required": ["path"]}}, {"name": "clock", "parameters": {"type": "object", "properties": {}}}]"#,
        "[]",
    ];
    static MARKERS: LazyLock<Vec<String>> = LazyLock::new(|| markers(&all(), is_plain));
    let text = parts
        .iter()
        .map(|part| match part % 2 {
            0 => WORDS[part / 2 % WORDS.len()],
            _ => MARKERS[part / 2 % MARKERS.len()].as_str(),
        })
        .collect();
    (Mender::new(&serde_json::from_str(TOOLS[tools]).expect("tools")).expect("tools"), text)
}

#[test]
fn the_parts_are_the_whole_output() {
    let input =
        "<think>Why?</think>Because.<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\nDone.";
    let mender = Mender::new(&serde_json::json!(["f"])).unwrap();
    let turn = mender.turn(input, &TurnOptions::new(), Finish::Stop);
    let parts = turn.segments(input);
    let reported: String = parts.iter().map(|(_, range)| &input[range.clone()]).collect();
    assert_eq!(reported, input);
    let find = |part| parts.iter().find(|(kind, _)| *kind == part).map(|(_, range)| &input[range.clone()]);
    assert_eq!(find(Part::Reasoning), Some("Why?"));
    assert_eq!(find(Part::Content), Some("Because."));
    assert_eq!(find(Part::Markup), Some("<think>"));
    assert!(find(Part::Call(0)).unwrap().starts_with("<tool_call>"));
}
