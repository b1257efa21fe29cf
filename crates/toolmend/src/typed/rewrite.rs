//! What can be done to a value that a type refused. One row of the table is one repair.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::fault::{Cause, Want};
use super::repair_rounds::Source;
use crate::json::text;
use crate::json::tree::{Kind, Tree};
use crate::patch::Edit;
use crate::policy::Policy;
use crate::repair::RepairKind;
use crate::schema::guide::fold;
use crate::shape::{embedded_json, enum_match, envelope, member_edits, number, scalar};

/// A refused value.
#[derive(Clone, Copy)]
pub(super) struct Site<'s, 't> {
    pub(super) tree: &'s Tree<'t>,
    pub(super) node: usize,
    pub(super) want: Want,
    /// Whether it is a field of a struct.
    pub(super) is_field: bool,
    pub(super) cause: &'s Cause,
    pub(super) source: Source,
}

/// The bytes to replace, and by what.
pub(super) type Change = (Range<usize>, Cow<'static, str>);

/// One way to rewrite a value.
pub(super) struct Rule {
    pub(super) kind: RepairKind,
    change: fn(&Site<'_, '_>) -> Option<Change>,
}

/// In order of preference: what the text already says, then what its shape says, then what can be left out.
pub(super) const RULES: &[Rule] = &[
    Rule { kind: RepairKind::StringToBoolean, change: string_to_boolean },
    Rule { kind: RepairKind::NumberToBoolean, change: number_to_boolean },
    Rule { kind: RepairKind::StringToNumber, change: string_to_number },
    Rule { kind: RepairKind::FloatToInteger, change: float_to_integer },
    Rule { kind: RepairKind::ScalarToString, change: scalar_to_string },
    Rule { kind: RepairKind::EnumMatched, change: enum_matched },
    Rule { kind: RepairKind::StringToContainer, change: string_to_container },
    Rule { kind: RepairKind::EmptyObjectToArray, change: empty_object_to_array },
    Rule { kind: RepairKind::EmptyArrayToObject, change: empty_array_to_object },
    Rule { kind: RepairKind::PlaceholderUnwrapped, change: placeholder_unwrapped },
    Rule { kind: RepairKind::ValueToArray, change: value_to_array },
    Rule { kind: RepairKind::NullDropped, change: null_dropped },
    Rule { kind: RepairKind::EmptyStringDropped, change: empty_string_dropped },
    Rule { kind: RepairKind::KeyRespelled, change: key_respelled },
    Rule { kind: RepairKind::EnvelopeRemoved, change: envelope_removed },
];

impl Rule {
    pub(super) fn edit(&self, site: &Site<'_, '_>) -> Option<Edit> {
        (self.change)(site).map(|(range, with)| Edit::new(range, with, self.kind))
    }
}

/// A float keeps every integer of so many digits.
const EXACT_DIGITS: usize = 15;

impl<'t> Site<'_, 't> {
    fn kind(&self) -> Option<Kind> {
        self.tree.nodes.get(self.node).map(|node| node.kind)
    }

    fn span(&self) -> Range<usize> {
        self.tree.nodes.get(self.node).map_or(0..0, |node| node.span.clone())
    }

    fn written(&self) -> &'t str {
        self.tree.source(self.node)
    }

    fn string(&self) -> Option<Cow<'t, str>> {
        self.tree.string(self.node)
    }

    fn here(&self, with: impl Into<Cow<'static, str>>) -> Change {
        (self.span(), with.into())
    }

    fn only_child(&self) -> Option<usize> {
        let mut children = self.tree.children(self.node);
        children.next().filter(|_| children.next().is_none())
    }

    fn is_empty(&self) -> bool {
        self.tree.children(self.node).next().is_none()
    }

    /// Without the member. Elements of arrays stay: their place has a meaning. So does a key that stands twice:
    /// dropping one would bring the other to life.
    fn dropped(&self) -> Option<Change> {
        let object = self.tree.nodes.get(self.node)?.parent?;
        let sure = self.is_field && member_edits::is_only(self.tree, object, self.node);
        let edit = member_edits::remove(self.tree, self.node, RepairKind::NullDropped).filter(|_| sure)?;
        Some((edit.start..edit.end, edit.with))
    }
}

fn string_to_boolean(site: &Site<'_, '_>) -> Option<Change> {
    let word = site.string().filter(|_| site.want == Want::Boolean)?;
    Some(site.here(scalar::boolean(&word)?))
}

fn number_to_boolean(site: &Site<'_, '_>) -> Option<Change> {
    match (site.want, site.written()) {
        (Want::Boolean, "1") => Some(site.here("true")),
        (Want::Boolean, "0") => Some(site.here("false")),
        _ => None,
    }
}

fn string_to_number(site: &Site<'_, '_>) -> Option<Change> {
    let fraction = match site.want {
        Want::Integer => false,
        Want::Float => true,
        _ => return None,
    };
    Some(site.here(number::from_text(&site.string()?, fraction)?))
}

fn float_to_integer(site: &Site<'_, '_>) -> Option<Change> {
    let wanted = site.want == Want::Integer && site.kind()? == Kind::Number;
    let whole = number::whole(site.written()).filter(|whole| wanted && whole != site.written())?;
    (site.source == Source::Text || whole.len() <= EXACT_DIGITS).then(|| site.here(whole))
}

fn scalar_to_string(site: &Site<'_, '_>) -> Option<Change> {
    let written = site.written();
    match (site.want, site.kind()?) {
        (Want::Text, Kind::Bool) => Some(site.here(text::quote(written))),
        // A parsed fraction may have been written otherwise: 1.10 is not 1.1 where it names a version.
        (Want::Text, Kind::Number) if site.source == Source::Text || !written.contains(['.', 'e', 'E']) => {
            Some(site.here(text::quote(written)))
        }
        _ => None,
    }
}

fn enum_matched(site: &Site<'_, '_>) -> Option<Change> {
    let Want::Variant(variants) = site.want else { return None };
    let (word, range) = if let Some(word) = site.string() {
        (word, site.span())
    } else {
        let member = site.only_child()?;
        (site.tree.key(member)?, site.tree.nodes[member].key.clone()?)
    };
    let known: Vec<Value> = variants.iter().map(|&variant| variant.into()).collect();
    let variant = enum_match::matching(&known, &word)?.as_str().filter(|variant| *variant != word)?;
    Some((range, text::quote(variant).into()))
}

fn string_to_container(site: &Site<'_, '_>) -> Option<Change> {
    let opener = match site.want {
        Want::List(_) => '[',
        Want::Map | Want::Struct(_) => '{',
        _ => return None,
    };
    let string = site.string().filter(|string| string.trim_start().starts_with(opener))?;
    let inside = embedded_json::read(&string, &Policy::default())?;
    Some(site.here(inside.layers.iter().fold(inside.text, |text, patch| patch.apply(&text))))
}

fn empty_object_to_array(site: &Site<'_, '_>) -> Option<Change> {
    let wanted = matches!(site.want, Want::List(None)) && site.kind()? == Kind::Object;
    (wanted && site.is_empty()).then(|| site.here("[]"))
}

fn empty_array_to_object(site: &Site<'_, '_>) -> Option<Change> {
    let wanted = matches!(site.want, Want::Map | Want::Struct(_)) && site.kind()? == Kind::Array;
    (wanted && site.is_empty()).then(|| site.here("{}"))
}

/// `{"item": [1]}` for a list, `{"value": 1}` for a number: the inner value has to be what is wanted.
fn placeholder_unwrapped(site: &Site<'_, '_>) -> Option<Change> {
    let inner = site.only_child().filter(|_| site.kind() == Some(Kind::Object))?;
    let wanted = match site.want {
        Want::List(_) => Kind::Array,
        Want::Text => Kind::String,
        Want::Integer | Want::Float => Kind::Number,
        Want::Boolean => Kind::Bool,
        _ => return None,
    };
    (site.tree.nodes[inner].kind == wanted).then(|| site.here(site.tree.source(inner).to_owned()))
}

fn value_to_array(site: &Site<'_, '_>) -> Option<Change> {
    let wanted = matches!(site.want, Want::List(None | Some(1)));
    let wraps = match site.kind()? {
        Kind::Null | Kind::Array => false,
        // Blank text is no item, and what looks like an array but cannot be read as one is none either.
        Kind::String => {
            site.string().is_some_and(|text| !text.trim().is_empty() && !text.trim().starts_with('['))
        }
        Kind::Object => !site.is_empty(),
        Kind::Bool | Kind::Number => true,
    };
    (wanted && wraps).then(|| site.here(format!("[{}]", site.written())))
}

/// Only a field can have a default; an entry of a map that goes is lost.
fn null_dropped(site: &Site<'_, '_>) -> Option<Change> {
    (site.kind()? == Kind::Null).then(|| site.dropped())?
}

fn empty_string_dropped(site: &Site<'_, '_>) -> Option<Change> {
    let text = matches!(site.want, Want::Text | Want::Anything | Want::Other | Want::Unseen);
    (!text && site.string()?.is_empty()).then(|| site.dropped())?
}

fn key_respelled(site: &Site<'_, '_>) -> Option<Change> {
    let Want::Struct(fields) = site.want else { return None };
    let members: Vec<(usize, Cow<'_, str>)> =
        site.tree.children(site.node).filter_map(|id| Some((id, site.tree.key(id)?))).collect();
    let taken = |field: &str| members.iter().any(|(_, key)| key == field);
    let (member, field) = match site.cause {
        Cause::MissingField(field) => {
            let strangers = members.iter().filter(|(_, key)| !fields.contains(&&**key));
            (only(strangers.filter(|(_, key)| fold(key) == fold(field)))?.0, *field)
        }
        Cause::UnknownField(unknown) => {
            let field = only(fields.iter().filter(|field| fold(field) == fold(unknown)))?;
            (only(members.iter().filter(|(_, key)| key == unknown))?.0, *field)
        }
        _ => return None,
    };
    let key = site.tree.nodes[member].key.clone()?;
    (!taken(field)).then(|| (key, text::quote(field).into()))
}

fn envelope_removed(site: &Site<'_, '_>) -> Option<Change> {
    let Want::Struct(fields) = site.want else { return None };
    if site.node != 0 || !matches!(site.cause, Cause::MissingField(_) | Cause::UnknownField(_)) {
        return None;
    }
    let mut wrapped = None;
    for member in site.tree.children(site.node) {
        let key = site.tree.key(member)?;
        let inner = matches!(site.tree.nodes[member].kind, Kind::Object | Kind::String);
        let is_envelope = envelope::holds_arguments(&key) && inner && wrapped.is_none();
        if fields.contains(&&*key) || !(is_envelope || envelope::is_label(&key)) {
            return None;
        }
        if is_envelope {
            wrapped = Some(member);
        }
    }
    Some(site.here(site.tree.source(wrapped?).to_owned()))
}

/// The one item, where there is exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}
