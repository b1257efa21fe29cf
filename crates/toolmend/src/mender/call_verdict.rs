//! From a raw call to a call with a verdict.
//!
//! This module types the values of a call, decides whether the call was truncated, and maps repairs to positions in the
//! output. The mender decides everything else. It never reads markup.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{partial_arguments, swallowed_call};
use crate::dialect::block::CallJudge;
use crate::dialect::gemma;
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, RawValue};
use crate::dialect::table::Form;
use crate::dialect::tagged::ToolLookup;
use crate::dialect::untyped_values;
use crate::json::tree::Tree;
use crate::json::{pointer, strict};
use crate::mender::Mender;
use crate::policy::Preset;
use crate::repair::{Repair, RepairKind};
use crate::schema::Schema;
use crate::schema::guide::{Guide, KeyFit, Types};
use crate::shape::envelope::holds_arguments;
use crate::syntax::Finish;
use crate::turn::{Call, Source};
use crate::verdict::{Outcome, Reason, Verdict};

impl ToolLookup for Mender {
    fn has_tool(&self, name: &str) -> bool {
        self.knows_tool(name)
    }

    fn declares_key(&self, tool: &str, key: &str) -> Option<bool> {
        let guide = self.schema_of(tool)?.guide();
        match guide.match_key(guide.root(), key) {
            KeyFit::Declared(_) => Some(true),
            KeyFit::Undeclared => Some(false),
            KeyFit::Unknown => None,
        }
    }

    fn longest_name_prefix(&self, text: &str) -> Option<usize> {
        let names = self.tools().iter().map(crate::tools::Tool::name);
        names.filter(|name| !name.is_empty() && text.starts_with(*name)).map(str::len).max()
    }

    fn main_key(&self, tool: &str) -> Option<String> {
        let guide = self.schema_of(tool)?.guide();
        let only = |mut keys: Vec<&str>| (keys.len() == 1).then(|| keys.remove(0).to_owned());
        let required =
            guide.properties(guide.root()).filter(|(_, _, required)| *required).map(|(name, ..)| name);
        only(required.collect())
            .or_else(|| only(guide.properties(guide.root()).map(|(name, ..)| name).collect()))
    }

    fn pay(&self, _work: usize) {}
}

impl CallJudge for Mender {
    fn can_mend(&self, tool: &str, arguments: &str) -> bool {
        self.mend_found_call(tool, arguments, Finish::Unknown).outcome().runs()
    }

    fn read_as_json(&self, text: &str) -> Option<String> {
        self.read_strict(text)
    }

    fn tool_with_keys(&self, arguments: &str) -> Option<String> {
        self.tool_by_keys(arguments)
    }

    fn interpreter(&self) -> Option<(String, String)> {
        self.code_tool()
    }

    fn has_tools(&self) -> bool {
        self.has_named_tools()
    }

    fn is_argument_key(&self, key: &str) -> bool {
        let schemas = self.tools().iter().filter_map(crate::tools::Tool::schema).map(Schema::guide);
        schemas.into_iter().any(|guide| matches!(guide.match_key(guide.root(), key), KeyFit::Declared(_)))
    }

    fn may_begin_tool_name(&self, text: &str) -> bool {
        self.begins_name(text)
    }
}

/// Where a call was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallSite<'t> {
    /// The text that the positions of the call refer to.
    pub(crate) text: &'t str,
    /// Where that text begins in the output.
    pub(crate) offset: usize,
    pub(crate) source: Source,
    pub(crate) finish: Finish,
    /// The arguments of a truncated call that no further text could change.
    pub(crate) known: &'t [Field],
}

/// Judges one raw call. If the text of its arguments contains several objects, it becomes several calls.
pub(crate) fn judge(mender: &Mender, call: &RawCall, found: CallSite<'_>) -> Vec<Call> {
    let (verdict, resolved) = verdict(mender, call, found);
    let raw = found.text[call.at.clone()].to_owned();
    let at = shift(&call.at, found.offset);
    let name = verdict.tool().map_or_else(|| resolved, str::to_owned);
    let id = call.id.clone();
    let made = Call { name, id, source: found.source, dialect: call.dialect.name, at, raw, verdict };
    // A refused call stays one call, however many values its text could be.
    // Case: dialects/mistral_name_args/two-values-of-no-tool
    if made.verdict.values().is_empty() || !made.verdict.outcome().runs() {
        return vec![made];
    }
    let single = |json: &String| {
        let verdict = Verdict { values: Vec::new(), text: json.clone().into(), ..made.verdict.clone() };
        Call { verdict, ..made.clone() }
    };
    made.verdict.values().iter().map(single).collect()
}

fn verdict(mender: &Mender, call: &RawCall, found: CallSite<'_>) -> (Verdict<'static>, String) {
    let name = call.name.trim().to_owned();
    let refused = |reason, why| {
        let text = &found.text[call.at.clone()];
        (mender.refused_verdict(&name, text, reason, why).into_owned(), name.clone())
    };
    let mut made = Vec::new();
    if call.damaged {
        made.push(RepairKind::MarkupMended);
    }
    let (text, origin) = match read_arguments(mender, &name, call, found, &mut made) {
        Ok(arguments) => arguments,
        Err((reason, why)) => return refused(reason, why),
    };
    let finish = match call.ending {
        Ending::Complete | Ending::Unclosed => Finish::Unknown,
        Ending::Open => found.finish,
        Ending::Cut => Finish::Length,
    };
    let mut verdict = mender.mend_found_call(&name, &text, finish);
    if verdict.outcome() == Outcome::Mended && !matches!(call.arguments, RawArguments::Fields(_)) {
        let is_tool = |name: &str| mender.knows_tool(name);
        let holds = |json: &str| swallowed_call::holds_next_call(&text, json, call.dialect, &is_tool);
        let decoded = matches!(call.arguments, RawArguments::Decoded(..));
        if decoded && swallowed_call::lost_letter(&text)
            || verdict.json().is_some_and(holds)
            || verdict.values().iter().any(|json| holds(json))
            || swallowed_call::begins_as_next_call(&text, &name, verdict.tool(), &|name| {
                mender.tool_named(name)
            })
            || swallowed_call::drops_next_call(&text, &jsons(&verdict), call.dialect)
        {
            return refused(Reason::Ambiguous, swallowed_call::SWALLOWED);
        }
    }
    if is_truncated(call, found, &text) || verdict.outcome() == Outcome::Truncated {
        verdict = truncated_verdict(mender, &name, call, found, &text, &verdict);
    }
    for repair in &mut verdict.repairs {
        repair.at = Some(origin.locate(repair, &shift(&call.at, found.offset)));
    }
    if verdict.outcome().runs() && !made.is_empty() {
        if let Some(kind) = made.iter().find(|kind| !mender.allows(&name, **kind)) {
            return refused(Reason::Policy, describe_forbidden_repair(*kind));
        }
        verdict.outcome = Outcome::Mended;
        let at = shift(&call.at, found.offset);
        let repairs = made.into_iter().map(|kind| Repair::new(kind, String::new(), Some(at.clone())));
        verdict.repairs.splice(0..0, repairs);
    }
    // Large arguments are moved, not copied, if the verdict is about them unchanged.
    let whole: &str = &text;
    let same = matches!(&verdict.text, Cow::Borrowed(judged) if std::ptr::eq(*judged, whole));
    let mut verdict = if same { Verdict { text: "".into(), ..verdict } } else { verdict }.into_owned();
    if same {
        verdict.text = Cow::Owned(text.into_owned());
    }
    (verdict, name)
}

/// The arguments of each call that a text was mended to.
fn jsons<'v>(verdict: &'v Verdict<'_>) -> impl Iterator<Item = &'v str> + Clone {
    let several = verdict.values();
    let only = verdict.json().filter(|_| several.is_empty());
    only.into_iter().chain(several.iter().map(String::as_str))
}

/// The arguments of a call as text and where they come from, or why the call is refused. Repairs that the notation
/// needed are added to `made`.
fn read_arguments<'a>(
    mender: &Mender,
    name: &str,
    call: &'a RawCall,
    found: CallSite<'a>,
    made: &mut Vec<RepairKind>,
) -> Result<(Cow<'a, str>, ArgumentsOrigin<'a>), (Reason, &'static str)> {
    let fields = match &call.arguments {
        RawArguments::Text(range) => {
            let text = &found.text[range.clone()];
            if repeats_member(text) {
                return Err((Reason::Ambiguous, ARGUMENT_TWICE));
            }
            let origin = ArgumentsOrigin::Text(range.start + found.offset);
            return Ok((Cow::Borrowed(text), origin));
        }
        RawArguments::Decoded(text, _) if repeats_member(text) => {
            return Err((Reason::Ambiguous, ARGUMENT_TWICE));
        }
        RawArguments::Decoded(text, range) => {
            let origin = ArgumentsOrigin::Whole(shift(range, found.offset));
            return Ok((Cow::Borrowed(text.as_str()), origin));
        }
        RawArguments::Refused(reason, why) => return Err((*reason, *why)),
        RawArguments::Fields(_) if is_ambiguous(mender, name, call) => {
            return Err((Reason::Ambiguous, "a delimiter is missing, so the end of a text is not known"));
        }
        RawArguments::Fields(fields) => fields,
    };
    if let Some(why) = fields.iter().find_map(|field| match field.value {
        RawValue::Doubtful(why) => Some(why),
        _ => None,
    }) {
        return Err((Reason::Ambiguous, why));
    }
    let is_tool = |name: &str| mender.knows_tool(name);
    let spans = |field: &Field| {
        swallowed_call::spans_next_call(&found.text[field.at.clone()], call.dialect, &is_tool)
    };
    if call.damaged && call.dialect.form == Form::Python && fields.iter().any(spans) {
        return Err((Reason::Ambiguous, swallowed_call::SWALLOWED));
    }
    if repeats_argument(fields) {
        return Err((Reason::Ambiguous, ARGUMENT_TWICE));
    }
    let open = Guide::default();
    let guide = mender.schema_of(name).map_or(&open, Schema::guide);
    let whole = || ArgumentsOrigin::Whole(shift(&call.at, found.offset));
    let each = || ArgumentsOrigin::Fields(fields, found.offset);
    Ok(match assign_keys(mender, name, fields) {
        KeyedFields::Fields(keyed) => (Cow::Owned(untyped_values::write_object(&keyed, guide)), each()),
        KeyedFields::Placed(keyed) => {
            made.push(RepairKind::ArgumentsPlaced);
            (Cow::Owned(untyped_values::write_object(&keyed, guide)), each())
        }
        KeyedFields::Object(only) => (Cow::Owned(only), whole()),
        KeyedFields::Wrapped(inner) => {
            made.push(RepairKind::EnvelopeRemoved);
            (Cow::Owned(inner), whole())
        }
        KeyedFields::Unplaced => {
            let why = "the arguments have no names, so it is not known which is which";
            return Err((Reason::Ambiguous, why));
        }
    })
}

const ARGUMENT_TWICE: &str = "an argument is there twice, with different values";

/// Whether two arguments have the same name and different values.
// Case: dialects/pythonic/argument-twice
fn repeats_argument(fields: &[Field]) -> bool {
    let mut first_values = HashMap::new();
    fields.iter().filter(|field| !field.key.is_empty()).any(|field| {
        let first = first_values.entry(field.key.as_str()).or_insert(&field.value);
        **first != field.value
    })
}

/// The same for strict JSON. Text that is not strict is read by the pipeline, which refuses what it does not know.
// Case: dialects/hermes_json/argument-twice
fn repeats_member(text: &str) -> bool {
    let mut members: Vec<(&str, &str)> = Vec::new();
    let bytes = text.as_bytes();
    let skip = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut at = skip(0);
    if bytes.get(at) != Some(&b'{') {
        return false;
    }
    loop {
        let key_at = skip(at + 1);
        let Ok(key_end) = strict::check_string(bytes, key_at) else { return false };
        let colon = skip(key_end);
        if bytes.get(colon) != Some(&b':') {
            return false;
        }
        let value_at = skip(colon + 1);
        let Ok(value_end) = strict::check_value(text, value_at, strict::MAX_DEPTH) else { return false };
        let (key, value) = (&text[key_at..key_end], &text[value_at..value_end]);
        if members.iter().any(|(before, other)| *before == key && *other != value) {
            return true;
        }
        // An object with many members is data, and comparing them all would be slow.
        if members.len() >= MAX_COMPARED {
            return false;
        }
        members.push((key, value));
        at = skip(value_end);
        if bytes.get(at) != Some(&b',') {
            return false;
        }
    }
}

/// How many members are compared.
const MAX_COMPARED: usize = 64;

/// Whether the call may be truncated, judged by how it ends and how the output ended.
fn is_truncated(call: &RawCall, found: CallSite<'_>, text: &str) -> bool {
    match call.ending {
        Ending::Complete => false,
        Ending::Cut => true,
        // The body is complete.
        Ending::Unclosed => match found.finish {
            Finish::Length => true,
            Finish::Stop => false,
            // Servers drop the closing marker of some families. Even then only JSON shows that it is complete.
            // Case: dialects/harmony/closer-dropped-by-the-server
            // Case: dialects/hermes_json/closer-missing-without-reason
            Finish::Unknown => {
                let is_json = matches!(call.arguments, RawArguments::Text(_));
                let is_dropped = call.dialect.closer_is_dropped && !call.damaged;
                !is_dropped || !is_json || strict::check(text, strict::MAX_DEPTH).is_err()
            }
        },
        // The values are complete, but more of them could have followed.
        Ending::Open => {
            let fields = matches!(call.arguments, RawArguments::Fields(_));
            found.finish != Finish::Stop && (fields || strict::check(text, strict::MAX_DEPTH).is_err())
        }
    }
}

/// The verdict on a truncated call, with the arguments that are complete.
fn truncated_verdict<'t>(
    mender: &Mender,
    name: &str,
    call: &RawCall,
    found: CallSite<'_>,
    text: &'t str,
    verdict: &Verdict<'_>,
) -> Verdict<'t> {
    let refusal = verdict.refusal().cloned().unwrap_or_default();
    let partial = match &call.arguments {
        RawArguments::Fields(_) => match assign_keys(mender, name, found.known) {
            KeyedFields::Fields(keyed) | KeyedFields::Placed(keyed) => {
                partial_arguments::of_fields(mender, name, &keyed)
            }
            KeyedFields::Object(_) | KeyedFields::Wrapped(_) | KeyedFields::Unplaced => "{}".to_owned(),
        },
        _ => partial_arguments::of_text(mender, name, text, refusal.partial.as_deref()),
    };
    let cut = refusal.cut.filter(|_| verdict.outcome() == Outcome::Truncated);
    let partial = Some(partial).filter(|partial| partial != "{}");
    mender.truncated_verdict(name, text, cut.as_deref().unwrap_or_default(), partial)
}

/// Whether a lost delimiter leaves the call with two readings.
fn is_ambiguous(mender: &Mender, name: &str, call: &RawCall) -> bool {
    let complete = !matches!(call.ending, Ending::Cut);
    let declared = |key: &str| ToolLookup::declares_key(mender, name, key);
    complete && call.dialect.form == Form::Gemma && gemma::is_ambiguous(call, declared)
}

/// The message if the policy forbids a repair that the notation needs.
fn describe_forbidden_repair(kind: RepairKind) -> &'static str {
    match kind {
        RepairKind::ArgumentsPlaced => {
            "the arguments have no names, and the policy forbids assigning them by order"
        }
        RepairKind::EnvelopeRemoved => {
            "one argument contains all the others, and the policy forbids removing it"
        }
        _ => "the markup of the call is broken, and the policy forbids mending it",
    }
}

/// What arguments without keys are.
enum KeyedFields<'f> {
    Fields(Cow<'f, [Field]>),
    /// The same, and the order of the schema gave the keys.
    Placed(Cow<'f, [Field]>),
    /// The only argument is the whole object.
    Object(String),
    /// The only argument contains all of them under a key of its own.
    // Case: dialects/dsml_v4/wrapped-arguments
    Wrapped(String),
    /// It is not known which is which.
    Unplaced,
}

/// The arguments inside a single argument that only wraps them.
fn unwrap_argument<'f>(mender: &Mender, tool: &str, field: &'f Field) -> Option<&'f str> {
    let wraps = holds_arguments(&field.key) && mender.knows_tool(tool);
    if !wraps || ToolLookup::declares_key(mender, tool, &field.key) == Some(true) {
        return None;
    }
    let text = field.value.text().trim();
    let tree = Tree::parse(text, strict::MAX_DEPTH).ok().filter(|_| text.starts_with('{'))?;
    let mut keys = tree.children(0).filter_map(|member| tree.key(member)).peekable();
    // A wrapper contains only the tool's own arguments. Anything else may be a value of that name.
    (keys.peek().is_some() && keys.all(|key| ToolLookup::declares_key(mender, tool, &key) == Some(true)))
        .then_some(text)
}

fn assign_keys<'f>(mender: &Mender, tool: &str, fields: &'f [Field]) -> KeyedFields<'f> {
    if let Some(inner) =
        fields.first().filter(|_| fields.len() == 1).and_then(|only| unwrap_argument(mender, tool, only))
    {
        return KeyedFields::Wrapped(inner.to_owned());
    }
    if fields.iter().all(|field| !field.key.is_empty()) {
        return KeyedFields::Fields(Cow::Borrowed(fields));
    }
    if let [only] = fields {
        match (&only.value, mender.main_key(tool)) {
            (RawValue::Json(json), _) if json.starts_with('{') => return KeyedFields::Object(json.clone()),
            (_, Some(key)) => return KeyedFields::Fields(vec![Field { key, ..only.clone() }].into()),
            _ => {}
        }
    }
    place_by_order(mender, tool, fields)
        .map_or(KeyedFields::Unplaced, |placed| KeyedFields::Placed(placed.into()))
}

/// Assigns keys to arguments without keys. They come before those with keys. The order is that of the schema's required
/// members; if there is only one other member, it comes last.
///
/// An order in which two arguments could change places counts only if the tool's author chose it: an alphabetical one may come from
/// a program that sorts.
// Case: dialects/pythonic/positional
// Case: dialects/pythonic/positional-by-type
// Case: dialects/pythonic/positional-by-order
fn place_by_order(mender: &Mender, tool: &str, fields: &[Field]) -> Option<Vec<Field>> {
    let schema = mender.schema_of(tool)?;
    let guide = schema.guide();
    let required: Vec<&str> =
        schema.source().get("required")?.as_array()?.iter().filter_map(|key| key.as_str()).collect();
    let mut others =
        guide.properties(guide.root()).map(|(name, ..)| name).filter(|name| !required.contains(name));
    let only_other = others.next().filter(|_| others.next().is_none());
    let count = fields.iter().take_while(|field| field.key.is_empty()).count();
    if fields[count..].iter().any(|field| field.key.is_empty()) {
        return None;
    }
    let mut order = required.iter().copied().chain(only_other);
    let mut out: Vec<Field> = Vec::new();
    let mut keys = HashSet::new();
    for field in fields {
        let key = if field.key.is_empty() { order.next()?.to_owned() } else { field.key.clone() };
        // A name that would belong to two arguments belongs to none.
        if !keys.insert(key.clone()) {
            return None;
        }
        out.push(Field { key, ..field.clone() });
    }
    let types = |field: &Field| guide.types(guide.member(guide.root(), &field.key));
    let fits = out[..count].iter().all(|field| types(field).has(type_of(&field.value)));
    let distinct = |at: usize| out[..at].iter().all(|before| !types(before).has(types(&out[at])));
    let settled = (0..count).all(distinct) || fits && !required.is_sorted();
    (settled || mender.preset() == Preset::Eager).then_some(out)
}

/// The type that the notation of a value shows.
fn type_of(value: &RawValue) -> Types {
    match value {
        RawValue::Json(json) => match json.as_bytes().first() {
            Some(b'{') => Types::OBJECT,
            Some(b'[') => Types::ARRAY,
            Some(b't' | b'f') => Types::BOOLEAN,
            Some(b'n') => Types::NULL,
            Some(b'"') => Types::STRING,
            _ => Types::NUMBER,
        },
        _ => Types::STRING,
    }
}

fn shift(range: &Range<usize>, offset: usize) -> Range<usize> {
    range.start + offset..range.end + offset
}

/// Where the text of the arguments came from.
enum ArgumentsOrigin<'a> {
    /// It is part of the output, from this position on.
    Text(usize),
    /// It was decoded from this range.
    Whole(Range<usize>),
    /// Each value has its own position.
    Fields(&'a [Field], usize),
}

impl ArgumentsOrigin<'_> {
    fn locate(&self, repair: &Repair, call: &Range<usize>) -> Range<usize> {
        match self {
            ArgumentsOrigin::Text(offset) => {
                repair.at.as_ref().map_or_else(|| call.clone(), |at| shift(at, *offset))
            }
            ArgumentsOrigin::Whole(range) => range.clone(),
            ArgumentsOrigin::Fields(fields, offset) => {
                let key = pointer::tokens(&repair.path).next();
                let field = fields.iter().find(|field| Some(&field.key) == key.as_ref());
                field.map_or_else(|| call.clone(), |field| shift(&field.at, *offset))
            }
        }
    }
}
