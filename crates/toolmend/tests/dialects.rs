//! Runs every case under `corpus/dialects`. The README of the corpus describes the format and what is checked.

mod cases;

use std::path::Path;
use std::sync::LazyLock;

use cases::{Case, CaseCall, CaseOutcome, CaseTurn, Checked, all, canonical, markers};
use toolmend::{CallToRender, Finish, Outcome, Source, Turn, TurnOptions};

fn run(path: &Path) -> Checked {
    let case = Case::read(path)?;
    let turn = case.turn();
    check_expected(&case, &turn)?;
    check_calls(&case, &turn)?;
    check_nothing_lost(&case, &turn)?;
    check_rendering(&case, &turn)
}

/// Checks what the case asks for.
fn check_expected(case: &Case, turn: &Turn) -> Checked {
    let found = CaseTurn::of(turn);
    let framed = !found.calls.is_empty() || !found.reasoning.is_empty() || case.expected.content.is_empty();
    let expected = case.expected.clone();
    let (found, expected) = if framed { (found.trimmed(), expected.trimmed()) } else { (found, expected) };
    let same_calls = found.calls.len() == expected.calls.len()
        && found.calls.iter().zip(&expected.calls).all(|(found, expected)| is_as_expected(found, expected));
    if found.content != expected.content || found.reasoning != expected.reasoning || !same_calls {
        return Err(format!("\nexpected:\n{expected}\nfound:\n{found}").into());
    }
    if let Some(source) = &case.source {
        for call in &turn.calls {
            same("source", call.source.name(), source)?;
        }
    }
    Ok(())
}

/// Whether a call is the expected one. `?` stands for any name, in outputs that were truncated before the name was
/// known.
fn is_as_expected(found: &CaseCall, expected: &CaseCall) -> bool {
    let named = expected.name == "?" || (found.name == expected.name && found.id == expected.id);
    let filled = expected.outcome == CaseOutcome::Rejected || found.arguments == expected.arguments;
    found.outcome == expected.outcome && named && filled
}

/// Checks what holds for the calls of every turn.
fn check_calls(case: &Case, turn: &Turn) -> Checked {
    let mut end = 0;
    for call in &turn.calls {
        same("the call comes after the one before", &(call.at.start >= end), &true)?;
        end = call.at.end;
        let written = case.input.get(call.at.clone()).ok_or("a call that is not in the input")?;
        same("the bytes of the call", call.raw.as_str(), written)?;
        for repair in call.verdict.repairs() {
            let at = repair.at.clone().ok_or("a repair without its place")?;
            case.input.get(at).ok_or_else(|| format!("{repair:?} is not in the input"))?;
        }
        let declared = case.mender.tool(&call.name);
        if call.source == Source::Inferred {
            same("an inferred call names a declared tool", &declared.is_some(), &true)?;
        }
        let Some(json) = call.arguments() else { continue };
        let value: serde_json::Value = serde_json::from_str(json)?;
        same("arguments are an object", &value.is_object(), &true)?;
        if let Some(schema) = declared.and_then(toolmend::Tool::schema) {
            same("the arguments fit the schema", &schema.accepts(&value), &true)?;
        }
        let clean = call.outcome() == Outcome::Clean;
        same("repairs where something was repaired", &call.verdict.repairs().is_empty(), &clean)?;
    }
    Ok(())
}

/// Checks that every word of the input is in the content, in the reasoning, in a call, or part of the markup.
fn check_nothing_lost(case: &Case, turn: &Turn) -> Checked {
    if turn.calls.is_empty() && turn.reasoning.is_empty() && !turn.content.is_empty() {
        let inside = case.input.contains(turn.content.trim());
        same("the content stands in the input", &(inside || case.dropped.is_some()), &true)?;
    }
    if case.dropped.is_some() {
        return Ok(());
    }
    let mut between = String::new();
    let mut end = 0;
    for call in &turn.calls {
        between.push_str(case.input.get(end..call.at.start).unwrap_or_default());
        between.push(' ');
        end = call.at.end;
    }
    between.push_str(&case.input[end..]);
    for word in between.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3) {
        let kept = turn.content.contains(word) || turn.reasoning.contains(word) || is_markup(case, word);
        same(&format!("the word {word:?} is kept"), &kept, &true)?;
    }
    Ok(())
}

/// Whether a word occurs in a tag or token of some case, in the header of a channel, or in the name of a tool, which
/// such headers repeat.
fn is_markup(case: &Case, word: &str) -> bool {
    static MARKERS: LazyLock<Vec<String>> = LazyLock::new(|| markers(&all(), |_| true));
    const HEADERS: [&str; 9] =
        ["assistant", "analysis", "commentary", "final", "thought", "functions", "self", "user", "code"];
    HEADERS.contains(&word)
        || MARKERS.iter().any(|marker| marker.contains(word))
        || case.mender.tools().iter().any(|tool| tool.name().contains(word))
}

/// Checks that the calls that run, written in the dialect of the case and read again, are the same calls.
fn check_rendering(case: &Case, turn: &Turn) -> Checked {
    let Some(dialect) = toolmend::dialects().iter().find(|dialect| dialect.name() == case.folder()) else {
        return Ok(());
    };
    let calls: Vec<_> = turn
        .calls
        .iter()
        .filter_map(|call| {
            let id = call.id.as_deref().unwrap_or("call00000");
            Some(CallToRender { name: &call.name, arguments: call.arguments()?, id })
        })
        .collect();
    let Some(written) = dialect.render(&calls).filter(|_| !calls.is_empty()) else { return Ok(()) };
    let options = TurnOptions::new().dialect(dialect.name());
    let again = case.mender.turn(&written, &options, Finish::Stop);
    let found: Vec<_> =
        again.calls.iter().map(|call| (call.name.as_str(), call.arguments().map(canonical_or_not))).collect();
    let expected: Vec<_> =
        calls.iter().map(|call| (call.name, Some(canonical_or_not(call.arguments)))).collect();
    same(&format!("written again as {written:?}"), &found, &expected)?;
    same("nothing is left over", again.content.trim(), "")
}

fn canonical_or_not(json: &str) -> String {
    canonical(json).unwrap_or_else(|error| error.to_string())
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, found: &T, expected: &T) -> Checked {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}\n   expected: {expected:?}\n      found: {found:?}").into())
}

datatest_stable::harness! {
    { test = run, root = "../../corpus/dialects", pattern = r"\.case$" },
}
