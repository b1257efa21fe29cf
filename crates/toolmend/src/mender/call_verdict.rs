//! From a call as it was written to a call with a verdict.

use std::borrow::Cow;
use std::ops::Range;

use super::partial_arguments;
use crate::dialect::block::CallJudge;
use crate::dialect::gemma;
use crate::dialect::raw_call::{Ending, Field, RawArguments, RawCall, Written};
use crate::dialect::tagged::ToolLookup;
use crate::dialect::untyped_values;
use crate::json::tree::Tree;
use crate::json::{pointer, strict};
use crate::mender::Mender;
use crate::policy::Preset;
use crate::repair::{Repair, RepairKind};
use crate::schema::Schema;
use crate::schema::guide::{Guide, KeyFit};
use crate::shape::envelope::holds_arguments;
use crate::syntax::Finish;
use crate::turn::{Call, Source};
use crate::verdict::{Outcome, Reason, Verdict};

impl ToolLookup for Mender {
    fn tool(&self, name: &str) -> bool {
        self.knows(name)
    }

    fn key(&self, tool: &str, key: &str) -> Option<bool> {
        let guide = self.schema_of(tool)?.guide();
        match guide.key(guide.root(), key) {
            KeyFit::Declared(_) => Some(true),
            KeyFit::Undeclared => Some(false),
            KeyFit::Unknown => None,
        }
    }

    fn name_before(&self, text: &str) -> Option<usize> {
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
}

impl CallJudge for Mender {
    fn mends(&self, tool: &str, arguments: &str) -> bool {
        self.written(tool, arguments, Finish::Unknown).outcome().runs()
    }

    fn fixed(&self, text: &str) -> Option<String> {
        self.read_strict(text)
    }

    fn by_keys(&self, arguments: &str) -> Option<String> {
        self.tool_by_keys(arguments)
    }

    fn has_tools(&self) -> bool {
        self.knows_tools()
    }

    fn is_argument(&self, key: &str) -> bool {
        let schemas = self.tools().iter().filter_map(crate::tools::Tool::schema).map(Schema::guide);
        schemas.into_iter().any(|guide| matches!(guide.key(guide.root(), key), KeyFit::Declared(_)))
    }

    fn begins_tool(&self, text: &str) -> bool {
        self.begins_name(text)
    }
}

/// Where the calls were found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallSite<'t> {
    /// The text that the places of the call are places in.
    pub(crate) text: &'t str,
    /// Where that text begins in the whole output.
    pub(crate) offset: usize,
    pub(crate) source: Source,
    pub(crate) finish: Finish,
    /// The arguments in tags that are certain, of a call that was cut off.
    pub(crate) known: &'t [Field],
}

/// The verdict on one written call. A text that holds several argument objects makes several calls.
pub(crate) fn judge(mender: &Mender, call: &RawCall, found: CallSite<'_>) -> Vec<Call> {
    let (verdict, resolved) = verdict(mender, call, found);
    let raw = found.text[call.at.clone()].to_owned();
    let at = shifted(&call.at, found.offset);
    let name = verdict.tool().map_or_else(|| resolved, str::to_owned);
    let id = call.id.clone();
    let made = Call { name, id, source: found.source, dialect: call.dialect, at, raw, verdict };
    // What is refused is one call, however many values its text could be.
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
        (mender.refused(&name, text, reason, why).into_owned(), name.clone())
    };
    let mut made = Vec::new();
    if call.damaged {
        made.push(RepairKind::MarkupMended);
    }
    let (text, place) = match &call.arguments {
        RawArguments::Text(range) => {
            (Cow::Borrowed(&found.text[range.clone()]), Place::Text(range.start + found.offset))
        }
        RawArguments::Decoded(text, range) => {
            (Cow::Borrowed(text.as_str()), Place::Whole(shifted(range, found.offset)))
        }
        RawArguments::Refused(reason, why) => return refused(*reason, why),
        RawArguments::Fields(_) if is_doubtful(mender, &name, call) => {
            return refused(
                Reason::Ambiguous,
                "a delimiter is missing, so nobody can tell where a text ends",
            );
        }
        RawArguments::Fields(fields) => {
            let open = Guide::default();
            let guide = mender.schema_of(&name).map_or(&open, Schema::guide);
            match with_keys(mender, &name, fields) {
                Keyed::Fields(keyed) => (
                    Cow::Owned(untyped_values::write_object(&keyed, guide)),
                    Place::Fields(fields, found.offset),
                ),
                Keyed::Placed(keyed) => {
                    made.push(RepairKind::ArgumentsPlaced);
                    (
                        Cow::Owned(untyped_values::write_object(&keyed, guide)),
                        Place::Fields(fields, found.offset),
                    )
                }
                Keyed::Object(only) => (Cow::Owned(only), Place::Whole(shifted(&call.at, found.offset))),
                Keyed::Wrapped(inner) => {
                    made.push(RepairKind::EnvelopeRemoved);
                    (Cow::Owned(inner), Place::Whole(shifted(&call.at, found.offset)))
                }
                Keyed::Unplaced => {
                    let why = "the arguments have no names, so nobody can tell which is which";
                    return refused(Reason::Ambiguous, why);
                }
            }
        }
    };
    let finish = match call.ending {
        Ending::Complete | Ending::Unclosed => Finish::Unknown,
        Ending::Open => found.finish,
        Ending::Cut => Finish::Length,
    };
    let mut verdict = mender.written(&name, &text, finish);
    let strict = || strict::check(&text, strict::MAX_DEPTH).is_ok();
    let cut = match call.ending {
        Ending::Complete => false,
        Ending::Cut => true,
        Ending::Unclosed => found.finish != Finish::Stop,
        // Values that are complete, and nothing that says that no more were to come.
        Ending::Open => {
            let fields = matches!(call.arguments, RawArguments::Fields(_));
            found.finish != Finish::Stop && (fields || !strict())
        }
    };
    if cut || verdict.outcome() == Outcome::Truncated {
        let refusal = verdict.refusal().cloned().unwrap_or_default();
        let partial = match &call.arguments {
            RawArguments::Fields(_) => match with_keys(mender, &name, found.known) {
                Keyed::Fields(keyed) | Keyed::Placed(keyed) => {
                    partial_arguments::of_fields(mender, &name, &keyed)
                }
                Keyed::Object(_) | Keyed::Wrapped(_) | Keyed::Unplaced => "{}".to_owned(),
            },
            _ => partial_arguments::of_text(mender, &name, &text, refusal.partial.as_deref()),
        };
        let inside = refusal.cut.filter(|_| verdict.outcome() == Outcome::Truncated);
        let place = inside.as_deref().unwrap_or_default();
        let partial = Some(partial).filter(|partial| partial != "{}");
        verdict = mender.cut_off(&name, &text, place, partial);
    }
    for repair in &mut verdict.repairs {
        repair.at = Some(place.of(repair, &shifted(&call.at, found.offset)));
    }
    if verdict.outcome().runs() && !made.is_empty() {
        if let Some(kind) = made.iter().find(|kind| !mender.allows(&name, **kind)) {
            return refused(Reason::Policy, forbidden(*kind));
        }
        verdict.outcome = Outcome::Mended;
        let at = shifted(&call.at, found.offset);
        let repairs = made.into_iter().map(|kind| Repair::new(kind, String::new(), Some(at.clone())));
        verdict.repairs.splice(0..0, repairs);
    }
    // Large arguments are not copied where the verdict is about them as they are.
    let whole: &str = &text;
    let same = matches!(&verdict.text, Cow::Borrowed(own) if std::ptr::eq(*own, whole));
    let mut verdict = if same { Verdict { text: "".into(), ..verdict } } else { verdict }.into_owned();
    if same {
        verdict.text = Cow::Owned(text.into_owned());
    }
    (verdict, name)
}

/// Whether the notation of the call lost a delimiter in a way that has two readings.
fn is_doubtful(mender: &Mender, name: &str, call: &RawCall) -> bool {
    let complete = !matches!(call.ending, Ending::Cut);
    let declared = |key: &str| ToolLookup::key(mender, name, key);
    complete && matches!(call.dialect, "gemma4" | "functiongemma") && gemma::is_doubtful(call, declared)
}

/// What to say where the policy forbids what the notation would need.
fn forbidden(kind: RepairKind) -> &'static str {
    match kind {
        RepairKind::ArgumentsPlaced => {
            "the arguments have no names, and the policy forbids to place them by their order"
        }
        RepairKind::EnvelopeRemoved => {
            "one argument holds all the others, and the policy forbids to take it off"
        }
        _ => "the markup of the call is broken, and the policy forbids to mend it",
    }
}

/// What arguments without keys turned out to be.
enum Keyed<'f> {
    Fields(Cow<'f, [Field]>),
    /// The same, where the order told the keys.
    Placed(Cow<'f, [Field]>),
    /// The only argument is all of them.
    Object(String),
    /// The only argument holds all of them under a key of its own.
    Wrapped(String),
    /// Nobody knows which is which.
    Unplaced,
}

/// The arguments inside a single argument that only wraps them.
fn unwrapped<'f>(mender: &Mender, tool: &str, field: &'f Field) -> Option<&'f str> {
    let wraps = holds_arguments(&field.key) && mender.knows(tool);
    if !wraps || ToolLookup::key(mender, tool, &field.key) == Some(true) {
        return None;
    }
    let text = field.value.text().trim();
    let tree = Tree::parse(text, strict::MAX_DEPTH).ok().filter(|_| text.starts_with('{'))?;
    let mut keys = tree.children(0).filter_map(|member| tree.key(member)).peekable();
    // Only the tool's own arguments are what a wrapper holds: anything else may be a value of that name.
    (keys.peek().is_some() && keys.all(|key| ToolLookup::key(mender, tool, &key) == Some(true)))
        .then_some(text)
}

fn with_keys<'f>(mender: &Mender, tool: &str, fields: &'f [Field]) -> Keyed<'f> {
    if let Some(inner) =
        fields.first().filter(|_| fields.len() == 1).and_then(|only| unwrapped(mender, tool, only))
    {
        return Keyed::Wrapped(inner.to_owned());
    }
    if fields.iter().all(|field| !field.key.is_empty()) {
        return Keyed::Fields(Cow::Borrowed(fields));
    }
    if let [only] = fields {
        match (&only.value, mender.main_key(tool)) {
            (Written::Json(json), _) if json.starts_with('{') => return Keyed::Object(json.clone()),
            (_, Some(key)) => return Keyed::Fields(vec![Field { key, ..only.clone() }].into()),
            _ => {}
        }
    }
    in_order(mender, tool, fields).map_or(Keyed::Unplaced, |placed| Keyed::Placed(placed.into()))
}

/// Arguments without keys stand in the order in which the schema asks for its members, before those with keys. Where two
/// of them could change places, nobody knows that the model had the same order in mind.
fn in_order(mender: &Mender, tool: &str, fields: &[Field]) -> Option<Vec<Field>> {
    let required = mender.schema_of(tool)?.source().get("required")?.as_array()?;
    let mut order = required.iter().filter_map(|key| key.as_str());
    let count = fields.iter().take_while(|field| field.key.is_empty()).count();
    if fields[count..].iter().any(|field| field.key.is_empty()) {
        return None;
    }
    let mut out = Vec::new();
    for field in fields {
        let key = if field.key.is_empty() { order.next()?.to_owned() } else { field.key.clone() };
        // A name that stands for two arguments stands for none.
        if out.iter().any(|before: &Field| before.key == key) {
            return None;
        }
        out.push(Field { key, ..field.clone() });
    }
    let guide = mender.schema_of(tool)?.guide();
    let types = |field: &Field| guide.types(guide.member(guide.root(), &field.key));
    let distinct = |at: usize| out[..at].iter().all(|before| !types(before).has(types(&out[at])));
    ((0..count).all(distinct) || mender.preset() == Preset::Eager).then_some(out)
}

fn shifted(range: &Range<usize>, offset: usize) -> Range<usize> {
    range.start + offset..range.end + offset
}

/// Where the arguments came from.
enum Place<'a> {
    /// They stand in the output, from here on.
    Text(usize),
    /// They were decoded from this range.
    Whole(Range<usize>),
    /// Each value has a place of its own.
    Fields(&'a [Field], usize),
}

impl Place<'_> {
    fn of(&self, repair: &Repair, call: &Range<usize>) -> Range<usize> {
        match self {
            Place::Text(offset) => repair.at.as_ref().map_or_else(|| call.clone(), |at| shifted(at, *offset)),
            Place::Whole(range) => range.clone(),
            Place::Fields(fields, offset) => {
                let key = pointer::tokens(&repair.path).next();
                let field = fields.iter().find(|field| Some(&field.key) == key.as_ref());
                field.map_or_else(|| call.clone(), |field| shifted(&field.at, *offset))
            }
        }
    }
}
