//! From a whole text to its value: removes encodings, finds where values are, reads each of them, and chooses.
//!
//! Every opening bracket is a candidate. An object that cannot be read is not prose, and what is inside it is never the
//! answer. What surrounds the chosen value is removed by name (`surrounding_text`). The readings themselves come from the
//! reader; this module only compares them.

use std::borrow::Cow;

use super::encoding::Peeled;
use super::fuel::OUT_OF_FUEL;
use super::grammar::TOO_DEEP;
use super::reader::Reader;
use super::reading::{Cut, Death, FrameKind, Run, Survivor};
use super::token::{self, Punctuation};
use super::unquoted_value::{NUMBER, PLACEHOLDER};
use super::{
    CorrectedText, DoubtfulReading, MendedText, ReadContext, Reading, SeveralValues, completed_cut,
    conservation, disputed_edits, doubtful, edited_strings, enclosing_members, enclosing_structure, encoding,
    framed_value, implausible_reading, near_strict, notation, other_meaning, plain_value, reasoning,
    rival_reading, surrounding_text, unbracketed, withdrawn_call,
};
use crate::json::pointer;
use crate::json::text::compact_into;
use crate::json::tree::{Kind, Tree};
use crate::patch::{Edit, Patch};
use crate::repair::{RepairKind, Tier};
use crate::schema::guide::{Guide, KeyFit, SchemaPosition, Types};
use crate::syntax::Finish;
use crate::verdict::{Reason, Refusal};

/// How many encodings are removed, one around the other.
const MAX_LAYERS: usize = 3;
/// The most values looked for in one text.
const MAX_VALUES: usize = 64;

/// Reads a text that is not strict JSON.
pub(super) fn read(text: &str, context: &ReadContext<'_>) -> Reading {
    if let Some(reading) = unbracketed::read_json_string(text, context) {
        return reading;
    }
    let mut layers: Vec<Patch> = Vec::new();
    let mut current = Cow::Borrowed(text);
    let mut unreadable = None;
    while layers.len() < MAX_LAYERS {
        let around = reasoning::peel(&current).or_else(|| surrounding_text::peel_cdata(&current));
        let peeled = around.map_or_else(|| encoding::peel_layer(&current), Peeled::Layer);
        let patch = match peeled {
            Peeled::Layer(patch) => patch,
            Peeled::None => break,
            // One slipped mark may look like half an encoding.
            // Case: syntax/escaped-delimiter
            Peeled::Refused(why) => {
                unreadable = Some(why);
                break;
            }
        };
        current = Cow::Owned(patch.apply(&current));
        layers.push(patch);
        if crate::json::strict::check(&current, context.policy.limits.depth).is_ok()
            && !current.trim_start().starts_with('"')
        {
            let patch = layers.last().map(Patch::edits).unwrap_or_default();
            if patch.iter().any(|edit| edit.kind == RepairKind::OverEscapingRemoved)
                && disputed_edits::has_rare_escape(&current)
            {
                return refuse(Reason::Syntax, "a backslash of an over-escaped text may be text".to_owned());
            }
            return Reading::One(MendedText { text: current.into_owned(), layers });
        }
    }
    let under = |mut mended: MendedText| {
        let mut all = layers.clone();
        all.append(&mut mended.layers);
        MendedText { text: mended.text, layers: all }
    };
    let plain = match unreadable {
        None => read_plain(&current, context),
        Some(why) => PlainReading {
            own: refuse(Reason::Syntax, why.to_owned()),
            start: memchr::memchr2(b'{', b'[', current.as_bytes()),
            marks: 0,
        },
    };
    let plain = refuse_completed_cut(&current, plain, context);
    let plain = object_to_plain(&current, plain, !layers.is_empty(), context);
    doubtful::compare_with_slips(&current, plain, context).map(&under)
}

/// Takes a reading that completes a text for what it is: a cut.
fn refuse_completed_cut(text: &str, plain: PlainReading, context: &ReadContext<'_>) -> PlainReading {
    let cut = match &plain.own {
        Reading::One(mended) => completed_cut::find_cut(text, mended, context.finish),
        _ => None,
    };
    let Some(path) = cut else { return plain };
    let position = if path.is_empty() { "the root" } else { &path };
    let message = format!("the text was cut off at {position}");
    PlainReading::certain(Reading::Cut(Refusal { message, cut: Some(path), ..Refusal::default() }))
}

/// Refuses a reading that nobody meant. No slip explains such a text either.
fn object_to_plain(
    text: &str,
    plain: PlainReading,
    encoded: bool,
    context: &ReadContext<'_>,
) -> PlainReading {
    let Reading::One(mended) = &plain.own else { return plain };
    let objection = implausible_reading::find_objection(text, mended, encoded, context)
        .or_else(|| other_meaning::find_objection(text, mended, context))
        .or_else(|| disputed_edits::find_dispute(text, mended, context))
        .or_else(|| edited_strings::find_objection(text, mended, context));
    match objection {
        Some(why) => PlainReading::certain(refuse(Reason::Syntax, why.to_owned())),
        None => plain,
    }
}

impl Reading {
    /// The same reading of a text that the readings' layers do not start from.
    fn map(self, change: &impl Fn(MendedText) -> MendedText) -> Reading {
        match self {
            Reading::One(mended) => Reading::One(change(mended)),
            Reading::Several(several) => {
                let SeveralValues { values, merged, words_between } = *several;
                let values = values.into_iter().map(change).collect();
                let merged = merged.map(change);
                Reading::Several(Box::new(SeveralValues { values, merged, words_between }))
            }
            Reading::Doubtful(doubtful) => {
                let DoubtfulReading { own, marks, corrected, incomplete } = *doubtful;
                let corrected = corrected
                    .into_iter()
                    .map(|text| CorrectedText { mended: change(text.mended), ..text })
                    .collect();
                let own = own.map(change);
                Reading::Doubtful(Box::new(DoubtfulReading { own, marks, corrected, incomplete }))
            }
            other @ (Reading::Cut(_) | Reading::Refused(_)) => other,
        }
    }
}

/// A reading by the tolerant reader alone.
pub(super) struct PlainReading {
    pub(super) own: Reading,
    /// Where the value starts, if it starts with a bracket or a key.
    pub(super) start: Option<usize>,
    /// How many marks the reading assumes to be lost, doubled or mistyped.
    pub(super) marks: usize,
}

impl PlainReading {
    fn certain(own: Reading) -> Self {
        PlainReading { own, start: None, marks: 0 }
    }
}

/// What was found in a text.
#[derive(Default)]
struct FoundValues {
    values: Vec<Survivor>,
    rival: Option<(Survivor, Survivor)>,
    cut: Option<Cut>,
    /// The cut of the first value that may also be truncated: a string in it may go on to the end of the text.
    open: Option<Cut>,
    death: Option<Death>,
    out_of_fuel: bool,
    too_deep: bool,
    /// Starts of objects that the model started over.
    restarts: Vec<usize>,
}

/// Reads a text with the tolerant reader alone.
pub(super) fn read_plain(text: &str, context: &ReadContext<'_>) -> PlainReading {
    if let Some(mended) = near_strict::read(text, context) {
        return PlainReading::certain(Reading::One(mended));
    }
    if let Some(reading) = notation::read(text, context) {
        return PlainReading::certain(reading);
    }
    if let Some(mended) = plain_value::read(text, context) {
        return PlainReading::certain(Reading::One(mended));
    }
    if is_unclosed_string(text) {
        let message = "the text was cut off at the root".to_owned();
        return PlainReading::certain(Reading::Cut(Refusal {
            message,
            cut: Some(String::new()),
            ..Refusal::default()
        }));
    }
    // Members without braces hold whatever brackets are in the text. None of those is the answer.
    if notation::begins_with_member(text, context.guide) {
        let own = unbracketed::read_members_only(text, context);
        return PlainReading { own, start: Some(first_content_byte(text)), marks: 1 };
    }
    let fresh = || Reader::new(text, context);
    let start = first_content_byte(text);
    // A quoted key at the very start is an object without its brace. Its strings may be full of brackets.
    // Case: syntax/missing-opener
    if unbracketed::starts_with_quote(text) && unbracketed::starts_with_key(&mut fresh(), context) {
        let mut found = FoundValues::default();
        if let Some(run) = unbracketed::read_unbracketed(&mut fresh(), context) {
            adopt_unbracketed(&mut found, run);
        }
        if found.values.iter().any(|value| value.cost.fit == 0) {
            return choose_reading(text, context, found);
        }
    }
    let mut found = read_bracketed_values(text, context);
    if found.values.is_empty()
        && found.cut.is_some()
        && let Some(stopped) = read_before_residue(text, context)
    {
        return choose_reading(text, context, stopped);
    }
    let settled = found.values.first().is_some_and(|value| value.start == start && value.cost.fit == 0);
    if !settled && let Some(other) = unbracketed::read_unbracketed(&mut fresh(), context) {
        adopt_unbracketed(&mut found, other);
    }
    choose_reading(text, context, found)
}

/// Whether the text starts with a quote that is never closed, and with words after it. Brackets in it are part of a string.
// Case: syntax/cut-in-a-root-string
fn is_unclosed_string(text: &str) -> bool {
    let Some(body) = text.trim_start().strip_prefix('"') else { return false };
    !body.contains('"') && body.contains(['{', '[']) && !body.trim_start().starts_with(['{', '[', '\\'])
}

/// What the text holds before the fence or the special token at its end. A model that wrote one had finished, so closers
/// that are missing before it were forgotten.
// Case: syntax/closer-missing-before-token
fn read_before_residue(text: &str, context: &ReadContext<'_>) -> Option<FoundValues> {
    let body = &text[..surrounding_text::last_residue(text)?];
    if context.finish == Finish::Length {
        return None;
    }
    let stopped = ReadContext { finish: Finish::Stop, ..*context };
    Some(read_bracketed_values(body, &stopped)).filter(|found| !found.values.is_empty())
}

/// The position of the first byte that is neither white space nor a byte order mark.
// Case: syntax/byte-order-mark
fn first_content_byte(text: &str) -> usize {
    text.len() - text.trim_start_matches(|ch: char| ch.is_whitespace() || ch == '\u{feff}').len()
}

/// Reads every value that starts with a bracket.
fn read_bracketed_values(text: &str, context: &ReadContext<'_>) -> FoundValues {
    let reader = &mut Reader::new(text, context);
    let guide = context.guide;
    let bytes = text.as_bytes();
    let mut found = FoundValues::default();
    let mut at = 0;
    let mut brackets = Brackets { bytes, ascii: 0, wide: 0 };
    let in_string = text.trim_start().starts_with(['"', '\'']);
    while found.values.len() < MAX_VALUES {
        let Some(start) = brackets.next(at) else { break };
        // A strict value is what the model wrote, whatever the schema says.
        // Case: syntax/strict-numbers-in-a-fence
        if let Some(end) = reader.strict_value(start).filter(|_| found.cut.is_none() && !in_string) {
            at = end;
            let mut value = Survivor::strict(text, start, end);
            value.cost.fit = rate_strict_value(&text[start..end], guide);
            found.values.push(value);
            continue;
        }
        let run = reader.read_from(start);
        if run.out_of_fuel {
            found.out_of_fuel = true;
        }
        let Run { best, rival, cut, death, .. } = run;
        // After a truncated value nothing is completed: it may be part of that value.
        // Case: syntax/cut-in-string-with-dots
        let text_end = bytes.len();
        let completed = |value: &Survivor| {
            value.end == text_end
                && value.edits.iter().any(|edit| edit.kind == RepairKind::MissingCloserAdded)
        };
        if best.as_ref().is_some_and(|value| is_bracketed_prose(text, value)) {
            at = start + 1;
        } else if let Some(mut best) =
            best.filter(|value| !(found.cut.is_some() || in_string) || !completed(value))
        {
            at = best.end.max(start + 1);
            let wanted = if bytes[start] == b'[' || text[start..].starts_with(['［', '【']) {
                Types::ARRAY
            } else {
                Types::OBJECT
            };
            if !guide.types(guide.root()).has(wanted) {
                best.cost.fit += 4;
            }
            if let Some(rival) = rival
                && found.rival.is_none()
                && compact_value(text, &rival) != compact_value(text, &best)
            {
                found.rival = Some((best.clone(), rival));
            }
            found.values.push(best);
            found.open = found.open.or(cut.filter(|cut| cut.had_member));
        } else {
            let restart = death.filter(|death| death.had_member && bytes.get(death.at) == Some(&b'{'));
            // Only words after the bracket make it prose; anything else is a value, however early it was truncated.
            // Case: syntax/prose-with-brackets
            let inside = crate::json::strict::skip_whitespace(bytes, start + 1);
            let worded = bytes.get(inside).is_some_and(u8::is_ascii_alphabetic);
            let quoted = bytes[start] == b'{'
                && bytes.get(inside) == Some(&b'"')
                && bytes.get(inside + 1) != Some(&b'{');
            let prose = !quoted
                && death.is_none_or(|death| !death.had_member)
                && cut.as_ref().is_none_or(|cut| !cut.had_member && worded);
            if found.death.is_none_or(|before| death.is_some_and(|death| death.at > before.at)) {
                found.death = death.or(found.death);
            }
            // If a string may have no end, the dots may be in it.
            let template = death
                .filter(|death| {
                    death.expected == PLACEHOLDER && cut.as_ref().is_none_or(|cut| !cut.had_member)
                })
                .and_then(|_| find_balanced_end(bytes, start));
            if let Some(cut) = cut.filter(|_| found.cut.is_none()) {
                found.cut = Some(cut);
            }
            if death.is_some_and(|death| death.expected == TOO_DEEP) {
                found.too_deep = true;
                found.values.clear();
                break;
            }
            if let Some(end) = template {
                // `{"a": ...}` shows a form; it is not a value.
                // Case: syntax/template-before-value
                at = end;
            } else if let Some(death) = restart {
                found.restarts.push(start);
                at = death.at;
            } else if prose {
                at = start + 1;
            } else {
                // An object that cannot be read is not prose, and what is inside it is not the answer.
                // Case: syntax/unreadable-object-around-value
                found.values.clear();
                break;
            }
        }
        if found.out_of_fuel {
            break;
        }
    }
    found
}

/// How badly the keys of a strict value fit the schema, counted as the reader counts them.
pub(super) fn rate_strict_value(text: &str, guide: &Guide) -> u32 {
    if guide.root() == SchemaPosition::ANY {
        return 0;
    }
    let tree = Tree::of_strict(text);
    // Half a surrogate is not strict, and has no tree.
    // Case: syntax/half-a-surrogate-before-a-key
    let Some(root) = tree.nodes.first() else { return u32::MAX / 2 };
    let wanted = Types::from(root.kind);
    let mut fit = if guide.types(guide.root()).has(wanted) { 0 } else { 4 };
    let mut positions = vec![SchemaPosition::ANY; tree.nodes.len()];
    positions[0] = guide.root();
    for id in 0..tree.nodes.len() {
        let position = positions[id];
        let is_object = tree.nodes[id].kind == Kind::Object;
        let mut used = 0u128;
        for (index, child) in tree.children(id).enumerate() {
            let Some(key) = tree.key(child).filter(|_| is_object) else {
                positions[child] = guide.element(position, index);
                continue;
            };
            positions[child] = guide.member(position, &key);
            match guide.match_key(position, &key) {
                KeyFit::Declared(index) => {
                    let bit = 1u128.checked_shl(u32::try_from(index).unwrap_or(u32::MAX)).unwrap_or(0);
                    fit += u32::from(used & bit != 0);
                    used |= bit;
                }
                KeyFit::Undeclared => fit += if guide.is_closed(position) { 3 } else { 1 },
                KeyFit::Unknown => {}
            }
        }
        if is_object {
            fit += 2 * (guide.required(position) & !used).count_ones();
        }
    }
    fit
}

/// Whether a list of words is in the middle of a line: `see [the notes](…)` holds no value.
fn is_bracketed_prose(text: &str, value: &Survivor) -> bool {
    let line = text[..value.start].rsplit('\n').next().unwrap_or_default();
    let in_line = !line.trim().is_empty() && text[value.start..].starts_with('[');
    in_line && value.edits.iter().any(|edit| edit.kind == RepairKind::ValueQuoted)
}

/// Where the bracket at `start` is closed, ignoring quotes.
fn find_balanced_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (offset, byte) in bytes[start..].iter().enumerate().take(512) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(start + offset + 1);
        }
    }
    None
}

/// Finds opening brackets, including full-width ones.
struct Brackets<'t> {
    bytes: &'t [u8],
    /// Where the next opener is, and the next full-width one, so that no byte is searched twice.
    ascii: usize,
    wide: usize,
}

impl Brackets<'_> {
    fn next(&mut self, from: usize) -> Option<usize> {
        if self.ascii < from || from == 0 {
            let rest = self.bytes.get(from..)?;
            self.ascii = memchr::memchr2(b'{', b'[', rest).map_or(self.bytes.len(), |offset| from + offset);
        }
        while self.wide < self.bytes.len() && (self.wide < from || !self.is_wide(self.wide)) {
            let next = self.wide.max(from.saturating_sub(1)) + 1;
            self.wide = memchr::memchr(0xEF, &self.bytes[next.min(self.bytes.len())..])
                .map_or(self.bytes.len(), |offset| next + offset);
        }
        Some(self.ascii.min(self.wide)).filter(|&next| next < self.bytes.len())
    }

    fn is_wide(&self, at: usize) -> bool {
        self.bytes[at] == 0xEF
            && matches!(
                token::punctuation_at(self.bytes, at),
                Some((Punctuation::OpenObject | Punctuation::OpenArray, _))
            )
    }
}

/// Takes a reading without brackets, unless one with brackets is better.
fn adopt_unbracketed(found: &mut FoundValues, other: Run) {
    let Run { best, cut, death, .. } = other;
    match best {
        Some(best) => {
            let beaten = found.values.iter().any(|value| {
                value.cost.fit < best.cost.fit || (value.cost.fit == best.cost.fit && value.edits.is_empty())
            });
            if !beaten {
                found.values = vec![best];
                found.cut = None;
                found.rival = None;
            }
        }
        None if found.values.is_empty() => {
            if found.cut.is_none() {
                found.cut = cut;
            }
            found.death = found.death.or(death);
        }
        None => {}
    }
}

/// The value of a reading, without white space between tokens.
fn compact_value(text: &str, survivor: &Survivor) -> String {
    let mut out = String::new();
    compact_into(&mut out, &apply_edits(text, survivor));
    out
}

/// The reading's own text, with its edits made.
fn apply_edits(text: &str, survivor: &Survivor) -> String {
    let shifted = survivor
        .edits
        .iter()
        .map(|edit| Edit {
            start: edit.start - survivor.start,
            end: edit.end - survivor.start,
            ..edit.clone()
        })
        .collect();
    Patch::new(shifted).apply(&text[survivor.start..survivor.end])
}

/// Why the text around the values takes them back, if it does. No slip makes such a value a call.
fn find_withdrawal(text: &str, context: &ReadContext<'_>, found: &FoundValues) -> Option<String> {
    let spans: Vec<_> = found.values.iter().map(|value| value.start..value.end).collect();
    let takes_lists = context.guide.types(context.guide.root()).has(Types::ARRAY);
    if withdrawn_call::is_list_in_words(text, &spans) && !takes_lists {
        return Some("an empty list in other text is no object".to_owned());
    }
    if withdrawn_call::is_footnote(text, &spans)
        && (!takes_lists || context.guide.root() == SchemaPosition::ANY)
    {
        return Some("a short list in a line of words is a footnote or a box".to_owned());
    }
    if withdrawn_call::is_empty_object_in_words(text, &spans) {
        return Some("an empty object in other text may be part of it".to_owned());
    }
    if spans.iter().any(|span| withdrawn_call::has_sign(text, span)) {
        return Some("a sign is before the value".to_owned());
    }
    if spans.iter().any(|span| withdrawn_call::is_quoted_in_text(text, span)) {
        return Some("the value is quoted inside other text".to_owned());
    }
    if spans.iter().any(|span| enclosing_structure::is_argument(text, span)) {
        return Some("the value is one of the arguments of a call".to_owned());
    }
    // Several values side by side are in one structure.
    let chosen = drop_unlikely_values(text, &found.values);
    if let (Some(first), Some(last)) = (chosen.first(), chosen.last()) {
        let (span, own) = (first.start..last.end.max(first.end), compact_value(text, first));
        if let Some(why) = enclosing_structure::find_structure(text, &span, &own, context.guide) {
            return Some(format!("the value is a part of a larger text: {why}"));
        }
    }
    if let [only] = &chosen[..]
        && let Some(why) = framed_value::find_frame(text, &(only.start..only.end), context)
    {
        return Some(format!("the value is no call: {why}"));
    }
    let cue = withdrawn_call::find_cue(text, &spans)?;
    Some(format!("the words around the value take it back: {cue:?}"))
}

/// The chosen reading, with what a search for slips needs to know about it.
fn choose_reading(text: &str, context: &ReadContext<'_>, found: FoundValues) -> PlainReading {
    if let Some(why) = find_withdrawal(text, context, &found) {
        return PlainReading::certain(refuse(Reason::Syntax, why));
    }
    let chosen = found.values.first().filter(|_| found.values.len() == 1);
    let bracket = memchr::memchr2(b'{', b'[', text.as_bytes());
    let start = match chosen {
        Some(value) if value.root == FrameKind::Call => None,
        Some(value) => Some(bracket.map_or(value.start, |bracket| bracket.min(value.start))),
        None => bracket,
    };
    let raw_strings = chosen.map_or(0, |value| value.raw_strings);
    // A slip may explain the object around it.
    let in_object =
        chosen.is_some_and(|value| enclosing_members::is_in_open_brace(text, &(value.start..value.end)));
    let own = if in_object && !context.guide.declares(context.guide.root()) {
        refuse(Reason::Syntax, "the value is inside an object that cannot be read".to_owned())
    } else {
        choose_value(text, context, found)
    };
    let marks = match &own {
        Reading::One(mended) => {
            raw_strings + mended.layers.iter().map(doubtful::count_guesses).sum::<usize>()
        }
        _ => 0,
    };
    PlainReading { own, start, marks }
}

fn choose_value(text: &str, context: &ReadContext<'_>, mut found: FoundValues) -> Reading {
    if found.too_deep {
        let message = format!("brackets are nested deeper than {}", context.policy.limits.depth);
        return refuse(Reason::Limit, message);
    }
    if found.out_of_fuel && found.values.is_empty() {
        return refuse(Reason::Limit, OUT_OF_FUEL.to_owned());
    }
    if let Some((first, second)) = found.rival.take() {
        return Reading::Refused(Refusal {
            reason: Some(Reason::Ambiguous),
            message: "two different readings are equally good".to_owned(),
            readings: vec![compact_value(text, &first), compact_value(text, &second)],
            ..Refusal::default()
        });
    }
    let cut_after = found
        .cut
        .as_ref()
        .is_some_and(|cut| cut.had_member && found.values.iter().all(|value| value.end <= cut.start));
    if (found.values.is_empty() || cut_after)
        && let Some(cut) = &found.cut
        && (cut.had_member || found.death.is_none())
    {
        return Reading::Cut(describe_cut(text, cut));
    }
    let chosen = drop_unlikely_values(text, &found.values);
    // A value that fits better than a truncated object around it may be part of a string in it.
    // Case: syntax/cut-in-string-with-object
    if let Some(open) = &found.open
        && chosen.iter().all(|value| value.start > open.start)
    {
        return Reading::Cut(describe_cut(text, open));
    }
    if let Some((value, at)) = chosen.iter().find_map(|value| Some((value, value.contested?))) {
        let message = describe_contest(text, at);
        if !context.explains {
            return refuse(Reason::Syntax, message);
        }
        // If no single character leads to the other reading, the refusal names the position instead.
        let own = compact_value(text, value);
        let Some(other) = rival_reading::other_reading(text, value, at, &own, context) else {
            return refuse(Reason::Syntax, message);
        };
        return Reading::Refused(Refusal {
            reason: Some(Reason::Ambiguous),
            message,
            readings: vec![own, other],
            ..Refusal::default()
        });
    }
    if !found.restarts.is_empty()
        && !chosen.iter().all(|value| restarts_agree(text, context, &found.restarts, value))
    {
        return refuse(Reason::Syntax, "an object was started over with other members".to_owned());
    }
    // A bracket after the value may be the start of another one.
    // Case: syntax/cut-in-a-second-value
    if context.finish == Finish::Length
        && chosen.last().is_some_and(|value| text[value.end..].contains(['{', '[']))
    {
        let message = "the text was cut off after its first value".to_owned();
        return Reading::Cut(Refusal { message, cut: Some(String::new()), ..Refusal::default() });
    }
    if let ([_], [_]) = (&chosen[..], &found.values[..]) {
        // The common case: one value, whose edits need no copy.
        drop(chosen);
        let edits = std::mem::take(&mut found.values[0].edits);
        let mended = extract_value(text, &found.values[0], edits, &found);
        if let Some(dropped) =
            mended.layers.first().and_then(|patch| conservation::dropped_value(text, patch))
        {
            let message = format!("text beside the value reads as another value, near {dropped:?}");
            return refuse(Reason::Syntax, message);
        }
        return Reading::One(mended);
    }
    let merged = merge_objects(text, &chosen, &found);
    // Case: syntax/two-values-with-words-between
    let words_between = chosen.iter().any(|value| framed_value::is_commented_out(text, value.start))
        || chosen.windows(2).any(|pair| {
            let between = text.get(pair[0].end..pair[1].start).unwrap_or_default();
            surrounding_text::skip_residue(between, 0) < between.trim_end().len()
        });
    let mended: Vec<MendedText> =
        chosen.iter().map(|value| extract_value(text, value, value.edits.clone(), &found)).collect();
    match <[MendedText; 1]>::try_from(mended) {
        Ok([one]) => Reading::One(one),
        Err(values) if !values.is_empty() => {
            Reading::Several(Box::new(SeveralValues { values, merged, words_between }))
        }
        Err(_) => {
            if let Some(mended) = unbracketed::read_plain_text(text, context) {
                Reading::One(mended)
            } else {
                let unfit = found.death.is_some_and(|death| death.expected == NUMBER);
                let reason = if unfit { Reason::Schema } else { Reason::Syntax };
                refuse(reason, describe_death(text, found.death))
            }
        }
    }
}

/// The readings that are left without those that cannot be meant: duplicates, empty objects beside real ones, and
/// bracketed prose beside values that fit better.
// Case: syntax/same-value-twice
// Case: syntax/empty-object-first
fn drop_unlikely_values<'s>(text: &str, values: &'s [Survivor]) -> Vec<&'s Survivor> {
    if let [one] = values {
        return vec![one];
    }
    let mut left: Vec<(&Survivor, String)> = Vec::new();
    for value in values {
        let meaning = compact_value(text, value);
        if !left.iter().any(|(_, known)| *known == meaning) {
            left.push((value, meaning));
        }
    }
    if left.iter().any(|(value, _)| !value.empty) {
        left.retain(|(value, _)| !value.empty);
    }
    let is_object =
        |value: &Survivor| text[value.start..].starts_with(['{', '｛']) || value.root != FrameKind::Object;
    // Words in square brackets beside a value are prose. An object has keys, so it is one however its values are written.
    // Case: syntax/several-objects-one-bare
    if left.iter().any(|(value, _)| !value.cost.assumed) {
        left.retain(|(value, _)| !value.cost.assumed || is_object(value) && !is_placeholder(text, value));
    }
    // `[1]` in a sentence is a footnote; an object is not.
    // Case: syntax/footnote-beside-object
    let footnote = |value: &Survivor| !is_object(value) && value.end - value.start <= 5;
    if left.iter().any(|(value, _)| is_object(value)) {
        left.retain(|(value, _)| !footnote(value));
    }
    // An array that fits worse may be prose. An object with members never is: dropping it would drop what was meant.
    // Case: syntax/second-object-with-other-members
    if let Some(fit) = left.iter().map(|(value, _)| value.cost.fit).min() {
        left.retain(|(value, _)| value.cost.fit == fit || is_object(value));
    }
    left.into_iter().map(|(value, _)| value).collect()
}

/// Whether an object without any quotes is in the middle of a line: `the format {name: value}` shows a form.
// Case: syntax/placeholder-in-a-sentence
fn is_placeholder(text: &str, value: &Survivor) -> bool {
    let line = text[..value.start].rsplit('\n').next().unwrap_or_default();
    !line.trim().is_empty() && !text[value.start..value.end].contains(['"', '\''])
}

/// The objects as one: the brackets between them become a comma. Only objects that nothing but white space or a comma
/// separates can be one object that was closed too early.
// Case: syntax/object-closed-too-early
fn merge_objects(text: &str, objects: &[&Survivor], found: &FoundValues) -> Option<MendedText> {
    let (first, last) = (objects.first()?, objects.last()?);
    let mut edits: Vec<Edit> = first.edits.clone();
    for pair in objects.windows(2) {
        let (left, right) = (pair[0], pair[1]);
        let between = text[left.end..right.start].trim();
        let braced = text[left.start..left.end].ends_with('}') && text[right.start..].starts_with('{');
        if !braced || !matches!(between, "" | "," | ";") {
            return None;
        }
        edits.push(Edit::new(left.end - 1..right.start + 1, ", ", RepairKind::ObjectsMerged));
        edits.extend(right.edits.iter().cloned());
    }
    let whole = Survivor { end: last.end, ..(*first).clone() };
    (objects.len() > 1).then(|| extract_value(text, &whole, edits, found))
}

/// Whether the members of an object that was started over all come again with the same values.
fn restarts_agree(text: &str, context: &ReadContext<'_>, restarts: &[usize], value: &Survivor) -> bool {
    let whole: Option<serde_json::Value> = serde_json::from_str(&apply_edits(text, value)).ok();
    restarts.iter().filter(|&&start| start < value.start).all(|&start| {
        let piece = &text[start..value.start];
        let mut reader = Reader::new(piece, &ReadContext { finish: Finish::Length, ..*context });
        let Some((edits, end)) = reader.read_from(0).cut.and_then(|cut| cut.partial) else { return false };
        let partial = Patch::new(edits).apply(&piece[..end]) + "}";
        let Ok(serde_json::Value::Object(first)) = serde_json::from_str(&partial) else { return false };
        whole.as_ref().is_some_and(|whole| first.iter().all(|(key, value)| whole.get(key) == Some(value)))
    })
}

/// The answer if this value is the only one in the text.
pub(super) fn take_value(text: &str, mut value: Survivor) -> Reading {
    let edits = std::mem::take(&mut value.edits);
    Reading::One(extract_value(text, &value, edits, &FoundValues::default()))
}

/// The text with everything but this value removed.
fn extract_value(text: &str, value: &Survivor, edits: Vec<Edit>, found: &FoundValues) -> MendedText {
    let mut edits = edits;
    for range in [0..value.start, value.end..text.len()] {
        let mut removed = Vec::new();
        remove_around_value(text, range.clone(), value, found, &mut removed);
        widen_over_white_space(&mut removed, &range);
        edits.append(&mut removed);
    }
    let patch = Patch::new(edits);
    let mut text = patch.apply(text);
    let mut layers = vec![patch];
    // White space that JSON does not know is removed at the edges; plain white space stays.
    if text.trim_matches([' ', '\n', '\r', '\t']).len() != text.trim().len() {
        let kept = text.trim().to_owned();
        let start = text.len() - text.trim_start().len();
        let end = start + kept.len();
        let kind = RepairKind::UnicodeSpaceReplaced;
        layers.push(Patch::new(vec![Edit::new(0..start, "", kind), Edit::new(end..text.len(), "", kind)]));
        text = kept;
    }
    MendedText { text, layers }
}

/// Extends the removed ranges over the white space beside them.
pub(super) fn widen_over_white_space(removed: &mut [Edit], range: &std::ops::Range<usize>) {
    let starts: Vec<usize> = removed.iter().map(|edit| edit.start).chain([range.end]).collect();
    for (edit, &next) in removed.iter_mut().zip(starts.iter().skip(1)) {
        edit.end = next;
    }
    if let Some(first) = removed.first_mut() {
        first.start = range.start;
    }
}

/// Removes what is in `range`; other values in it are named for what they are.
fn remove_around_value(
    text: &str,
    range: std::ops::Range<usize>,
    chosen: &Survivor,
    found: &FoundValues,
    edits: &mut Vec<Edit>,
) {
    let mut at = range.start;
    let own = if found.values.len() > 1 { compact_value(text, chosen) } else { String::new() };
    for value in &found.values {
        if value.start < at || value.end > range.end || value.start == chosen.start {
            continue;
        }
        let kind = if value.empty {
            RepairKind::EmptyValueRemoved
        } else if compact_value(text, value) == own {
            RepairKind::DuplicateValueRemoved
        } else {
            continue;
        };
        surrounding_text::remove_surroundings(text, at..value.start, edits);
        edits.push(Edit::new(value.start..value.end, "", kind));
        at = value.end;
    }
    for &start in &found.restarts {
        if start >= at && start < range.end && range.end == chosen.start {
            surrounding_text::remove_surroundings(text, at..start, edits);
            edits.push(Edit::new(start..range.end, "", RepairKind::RestartRemoved));
            at = range.end;
        }
    }
    surrounding_text::remove_surroundings(text, at..range.end, edits);
}

fn describe_cut(text: &str, cut: &Cut) -> Refusal {
    let mut path = String::new();
    for token in &cut.path {
        pointer::push(&mut path, token);
    }
    let partial = cut.partial.as_ref().and_then(|(edits, end)| {
        let shifted = edits
            .iter()
            .filter(|edit| edit.start >= cut.start)
            .map(|edit| Edit { start: edit.start - cut.start, end: edit.end - cut.start, ..edit.clone() })
            .collect();
        let body = Patch::new(shifted).apply(&text[cut.start..*end]);
        let closer = if body.starts_with('[') { "]" } else { "}" };
        let body = body + closer;
        crate::json::strict::check(&body, crate::json::strict::MAX_DEPTH).is_ok().then_some(body)
    });
    let position = if path.is_empty() { "the root" } else { &path };
    Refusal {
        message: format!("the text was cut off at {position}"),
        cut: Some(path.clone()),
        partial,
        ..Refusal::default()
    }
}

fn describe_death(text: &str, death: Option<Death>) -> String {
    let Some(death) = death else { return "no JSON value was found".to_owned() };
    let rest = text.get(death.at..).unwrap_or_default();
    let found: String = rest.chars().take(20).collect();
    let line = 1 + text[..death.at.min(text.len())].matches('\n').count();
    if found.is_empty() {
        format!("expected {} at the end of the text (line {line})", death.expected)
    } else {
        format!("expected {} at byte {} (line {line}), found {found:?}", death.expected, death.at)
    }
}

fn describe_contest(text: &str, at: usize) -> String {
    let line = 1 + text[..at.min(text.len())].matches('\n').count();
    let found: String = text.get(at..).unwrap_or_default().chars().take(20).collect();
    format!(
        "a quote, comma, colon or bracket may be missing or too many at byte {at} (line {line}), near {found:?}"
    )
}

fn refuse(reason: Reason, message: String) -> Reading {
    Reading::Refused(Refusal { reason: Some(reason), message, ..Refusal::default() })
}

/// Whether a reading needs a repair of the tier `assumed`.
pub(super) fn is_assumed(edits: &[Edit]) -> bool {
    edits.iter().any(|edit| edit.kind.tier() == Tier::Assumed)
}
