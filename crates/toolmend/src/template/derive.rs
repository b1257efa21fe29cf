//! Derives a row from what a template writes.
//!
//! The words of the probes are searched in the text and replaced by holes. What stands between the holes are the markers
//! of the row. One call and two calls show what is around all calls; one argument and two show what is around each.

use serde_json::Value;

use super::markers::{common_end, common_start, pieces};
use super::probes::{self, A_NUMBER, NUMBER, NUMBER_KEY, ONE_CALL, ProbeCall, TWO_ARGUMENTS, TWO_CALLS};
use super::turns::{ProbeTurn, Turns};

/// The templates of a derived row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DerivedRow {
    pub(super) section: (String, String),
    pub(super) call: String,
    pub(super) join: String,
    pub(super) parameter: String,
    pub(super) reasoning: (String, String),
}

impl DerivedRow {
    /// Derives the row.
    ///
    /// # Errors
    /// If the notation is not one of names, keys and values between markers. The message names the probe and its text.
    pub(super) fn new(turns: &Turns) -> Result<Self, String> {
        let one = holes(turns, ONE_CALL)?;
        let parameter = if one.contains("{arguments}") { None } else { Some(Parameter::new(turns)?) };
        let with_parameters = |text: String| match &parameter {
            Some(parameter) => parameter.replace_in(&text),
            None => Ok(text),
        };
        let one = with_parameters(one)?;
        let two =
            turns.of(TWO_CALLS).map(|_| holes(turns, TWO_CALLS).and_then(with_parameters)).transpose()?;
        let mut row = frame(&one, two.as_deref())?;
        row.parameter = parameter.map(|parameter| parameter.template).unwrap_or_default();
        row.reasoning = turns.reasoning.markers.clone().unwrap_or_default();
        Ok(row)
    }
}

/// The text of a probe with holes for its words, without the reasoning that may be before the calls.
fn holes(turns: &Turns, name: &str) -> Result<String, String> {
    let turn = turns.of(name).ok_or_else(|| format!("the template cannot write the probe {name:?}"))?;
    let mut text = turn.text.trim();
    if let Some((open, close)) = &turns.reasoning.markers {
        let inner = text.strip_prefix(open.as_str()).unwrap_or(text).trim_start();
        text = inner.strip_prefix(close.as_str()).unwrap_or(text).trim_start();
    }
    Ok(fill_holes(text, turn, turns))
}

fn fill_holes(text: &str, turn: &ProbeTurn, turns: &Turns) -> String {
    let mut text = text.to_owned();
    for (index, call) in turn.probe.calls.iter().enumerate() {
        text = with_arguments_hole(&text, call);
        text = text.replace(&probes::call_id(turns.shape, call, index), "{id}").replace(call.name, "{name}");
        for (key, value) in call.arguments.as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text = text.replace(key.as_str(), "{key}").replace(&value, "{value}");
        }
    }
    text
}

/// Replaces the JSON object that is the arguments of a call.
fn with_arguments_hole(text: &str, call: &ProbeCall) -> String {
    for (at, _) in text.match_indices('{') {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        if values.next().is_some_and(|value| value.is_ok_and(|value| value == call.arguments)) {
            let end = at + values.byte_offset();
            return format!("{}{{arguments}}{}", &text[..at], &text[end..]);
        }
    }
    text.to_owned()
}

/// How one argument is written.
struct Parameter {
    template: String,
    /// The pieces before the key, and after the value, that belong to the argument.
    before: usize,
    after: usize,
}

impl Parameter {
    fn new(turns: &Turns) -> Result<Self, String> {
        let one = holes(turns, ONE_CALL)?;
        let two = holes(turns, TWO_ARGUMENTS)?;
        let not_found = |text: &str| format!("expected each key before its value, found {text:?}");
        let pieces_of_two = pieces(&two);
        let places = argument_places(&pieces_of_two);
        let [(first, first_end), (second, second_end)] = places[..] else { return Err(not_found(&two)) };
        let between = &pieces_of_two[first_end + 1..second];
        let mut before = common_end(&pieces_of_two[..first], between);
        let after = common_start(&pieces_of_two[second_end + 1..], between);
        // A piece that can belong to both belongs to the end of the first argument.
        before = before.min(between.len() - after.min(between.len()));
        let separator = between[after..between.len() - before].concat();
        let all = pieces(&one);
        let [(start, end)] = argument_places(&all)[..] else { return Err(not_found(&one)) };
        if start < before || end + after >= all.len() {
            return Err(not_found(&one));
        }
        let text = all[start - before..=end + after].concat();
        let number = turns.of(A_NUMBER).map(|turn| {
            fill_holes(turn.text.trim(), turn, turns).replace(NUMBER_KEY, "{key}").replace(NUMBER, "{value}")
        });
        let number = number.as_deref().map(pieces).unwrap_or_default();
        // A number has no quotes, so that one piece less comes after it.
        let is_quoted = after > 0 && matches!(all[end + 1], "\"" | "'") && all[end - 1] == all[end + 1];
        let after_number = after - usize::from(is_quoted);
        let number = match argument_places(&number)[..] {
            [(start, end)] if start >= before && end + after_number < number.len() => {
                number[start - before..=end + after_number].concat()
            }
            _ => text.clone(),
        };
        let mut template = typed(&text, &number)?;
        if !separator.trim().is_empty() && separator.trim() != "," {
            return Err(format!("expected arguments one after the other, found {separator:?} between them"));
        }
        if separator.contains('\n') {
            template.push('\n');
        }
        Ok(Parameter { template, before, after })
    }

    /// Replaces every argument of a text.
    fn replace_in(&self, text: &str) -> Result<String, String> {
        let all = pieces(text);
        let mut out = String::new();
        let mut at = 0;
        for (start, end) in argument_places(&all) {
            let (start, end) = (start.saturating_sub(self.before), (end + self.after + 1).min(all.len()));
            let skipped = all.get(at..start).ok_or_else(|| format!("arguments overlap in {text:?}"))?;
            out.extend(skipped.iter().copied());
            out.push_str("{parameters}");
            at = end;
        }
        out.extend(all[at..].iter().copied());
        Ok(out)
    }
}

/// The pieces of each argument: the one with its key and the one with its value.
fn argument_places(pieces: &[&str]) -> Vec<(usize, usize)> {
    let holding = |hole: &'static str| move |(at, piece): (usize, &&str)| piece.contains(hole).then_some(at);
    let values: Vec<usize> = pieces.iter().enumerate().filter_map(holding("{value}")).collect();
    let mut keys: Vec<usize> = pieces.iter().enumerate().filter_map(holding("{key}")).collect();
    let mut places = Vec::new();
    let mut from = 0;
    for value in values {
        // A closing tag may repeat the key, so only the first key before each value counts.
        let Some(&key) = keys.iter().find(|&&key| key >= from && key <= value) else { return Vec::new() };
        from = value + 1;
        let closing = keys.iter().position(|&key| key > value && pieces[key].starts_with("</"));
        let end = closing.map_or(value, |index| keys.remove(index));
        places.push((key, if end == value || places_follow(&keys, value, end) { end } else { value }));
    }
    places
}

/// Whether no other key is between a value and the tag that closes it.
fn places_follow(keys: &[usize], value: usize, end: usize) -> bool {
    !keys.iter().any(|&key| key > value && key < end)
}

/// The template of an argument, from that of a string and that of a number.
fn typed(string: &str, number: &str) -> Result<String, String> {
    if string == number {
        return Ok(string.to_owned());
    }
    for quote in ['"', '\''] {
        if string.replace(&format!("{quote}{{value}}{quote}"), "{value}") == number {
            return Ok(number.to_owned());
        }
    }
    for (of_string, of_number, hole) in
        [("true", "false", "{string}"), ("string", "integer", "{type}"), ("string", "number", "{type}")]
    {
        // The last occurrence: the name of an attribute may be the same word.
        let typed = replace_last(string, of_string, hole);
        if typed.is_some() && typed == replace_last(number, of_number, hole) {
            return Ok(typed.unwrap_or_default());
        }
    }
    Err(format!("expected strings and numbers in the same markers, found {string:?} and {number:?}"))
}

fn replace_last(text: &str, word: &str, hole: &str) -> Option<String> {
    let at = text.rfind(word)?;
    Some(format!("{}{hole}{}", &text[..at], &text[at + word.len()..]))
}

/// Splits one call and two calls into what is around all calls, a call, and what is between calls.
fn frame(one: &str, two: Option<&str>) -> Result<DerivedRow, String> {
    let all = pieces(one);
    let is_hole = |piece: &&str| {
        ["{name}", "{arguments}", "{parameters}", "{id}"].iter().any(|hole| piece.contains(hole))
    };
    let first = all.iter().position(is_hole).ok_or("expected the name of the tool in the call")?;
    let last = all.iter().rposition(is_hole).unwrap_or(first);
    let core = &all[first..=last];
    let (before, after) = (&all[..first], &all[last + 1..]);
    let two = two.map(pieces).unwrap_or_default();
    let middle = two.get(first..first + core.len()).filter(|found| *found == core).and_then(|_| {
        let end = two.len().checked_sub(after.len() + core.len())?;
        let is_second = two.get(end..end + core.len()) == Some(core) && two[end + core.len()..] == *after;
        two.get(first + core.len()..end).filter(|_| is_second)
    });
    let Some(middle) = middle else {
        if two.is_empty() {
            return Ok(DerivedRow { call: one.to_owned(), ..DerivedRow::default() });
        }
        return Err(format!("expected two calls to be written like one, found {:?}", two.concat()));
    };
    let is_space = |piece: &&&str| piece.trim().is_empty();
    let mut opening = common_end(before, middle);
    let mut closing = common_start(after, &middle[..middle.len() - opening]);
    // White space around a call is not part of it.
    opening -= before[before.len() - opening..].iter().take_while(is_space).count();
    closing -= after[..closing].iter().rev().take_while(is_space).count();
    let call = [&before[before.len() - opening..], core, &after[..closing]].concat();
    Ok(DerivedRow {
        section: (before[..before.len() - opening].concat(), after[closing..].concat()),
        call: call.concat(),
        join: middle[closing..middle.len() - opening].concat(),
        ..DerivedRow::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_told_from_calls() {
        for (one, two, section, call, join) in [
            (
                "<T>[{\"n\": \"{name}\", \"a\": {arguments}}]</T>",
                "<T>[{\"n\": \"{name}\", \"a\": {arguments}}, {\"n\": \"{name}\", \"a\": {arguments}}]</T>",
                ("<T>[", "]</T>"),
                "{\"n\": \"{name}\", \"a\": {arguments}}",
                ", ",
            ),
            (
                "<calls>\n<call>{name}\n{arguments}</call>\n</calls>",
                "<calls>\n<call>{name}\n{arguments}</call>\n<call>{name}\n{arguments}</call>\n</calls>",
                ("<calls>\n", "\n</calls>"),
                "<call>{name}\n{arguments}</call>",
                "\n",
            ),
            (
                "<a><b>{name}{parameters}</b></a>",
                "<a><b>{name}{parameters}</b></a><a><b>{name}{parameters}</b></a>",
                ("", ""),
                "<a><b>{name}{parameters}</b></a>",
                "",
            ),
        ] {
            let row = frame(one, Some(two)).unwrap();
            assert_eq!((row.section.0.as_str(), row.section.1.as_str()), section, "{one}");
            assert_eq!((row.call.as_str(), row.join.as_str()), (call, join), "{one}");
        }
    }

    #[test]
    fn types_are_found_in_attributes() {
        let typed_string = typed(
            "<p n=\"{key}\" string=\"true\">{value}</p>",
            "<p n=\"{key}\" string=\"false\">{value}</p>",
        );
        assert_eq!(typed_string.unwrap(), "<p n=\"{key}\" string=\"{string}\">{value}</p>");
        let named = typed("<k>{key}</k><t>string</t>{value}", "<k>{key}</k><t>integer</t>{value}");
        assert_eq!(named.unwrap(), "<k>{key}</k><t>{type}</t>{value}");
        assert_eq!(typed("{key}=\"{value}\"", "{key}={value}").unwrap(), "{key}={value}");
        assert!(typed("{key}=<q>{value}<q>", "{key}={value}").is_err());
    }
}
