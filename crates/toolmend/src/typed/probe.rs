//! A deserialiser that watches a type read a document: what it expects of each value, and where it stops.
//!
//! It decides nothing, and its values never leave this module. Values that leave the library were read by `serde_json`.

use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::probe_error::ProbeError;
use crate::json::tree::{Kind, Tree};
use crate::shape::{Expectation, RefusalCause};

/// The name under which `serde_json` asks itself for unparsed JSON.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Where a type stopped, and what it expected on the way.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) node: usize,
    pub(super) cause: RefusalCause,
    /// What was expected of each node.
    pub(super) expected: Vec<Expectation>,
}

impl Failure {
    /// What was expected of a node.
    pub(super) fn expected(&self, node: usize) -> Expectation {
        self.expected.get(node).copied().unwrap_or(Expectation::Unseen)
    }
}

/// Lets `T` read the tree. Returns what it expected of each node, and where it stopped if it did.
pub(super) fn probe_type<'de, T: Deserialize<'de>>(tree: &Tree<'_>) -> Result<Vec<Expectation>, Failure> {
    let expected = RefCell::new(vec![Expectation::Unseen; tree.nodes.len()]);
    let result = T::deserialize(ProbedValue { tree, expected: &expected, id: 0 });
    let expected = expected.into_inner();
    match result {
        Ok(_) => Ok(expected),
        Err(ProbeError { node, cause }) => Err(Failure { node: node.unwrap_or(0), cause, expected }),
    }
}

/// A node that the type is shown.
#[derive(Clone, Copy)]
struct ProbedValue<'p, 't> {
    tree: &'p Tree<'t>,
    expected: &'p RefCell<Vec<Expectation>>,
    id: usize,
}

impl<'p> ProbedValue<'p, '_> {
    fn child(self, id: usize) -> Self {
        ProbedValue { id, ..self }
    }

    fn kind(self) -> Kind {
        self.tree.nodes.get(self.id).map_or(Kind::Null, |node| node.kind)
    }

    fn record(self, expected: Expectation) {
        if let Some(slot) = self.expected.borrow_mut().get_mut(self.id) {
            *slot = expected;
        }
    }

    fn children(self) -> Children<'p, impl Iterator<Item = usize> + 'p> {
        Children { parent: self, rest: self.tree.children(self.id), value: None }
    }

    /// Shows the value to the visitor, if it is what was expected: `serde_json` is as strict.
    fn show<'de, V: Visitor<'de>>(self, expected: Expectation, visitor: V) -> Result<V::Value, ProbeError> {
        self.record(expected);
        if !expected.takes(self.kind()) {
            return Err(ProbeError::new(RefusalCause::Unfit).at(self.id));
        }
        let shown = match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool => visitor.visit_bool(self.tree.source(self.id) == "true"),
            Kind::Number => show_number(self.tree.source(self.id), visitor),
            Kind::String => visitor.visit_str(&self.tree.string(self.id).unwrap_or_default()),
            Kind::Array => visitor.visit_seq(self.children()),
            Kind::Object => visitor.visit_map(self.children()),
        };
        shown.map_err(|error: ProbeError| error.at(self.id))
    }
}

fn show_number<'de, V: Visitor<'de>>(source: &str, visitor: V) -> Result<V::Value, ProbeError> {
    if let Ok(number) = source.parse::<u64>() {
        visitor.visit_u64(number)
    } else if let Ok(number) = source.parse::<i64>() {
        visitor.visit_i64(number)
    } else {
        source.parse::<f64>().map_err(ProbeError::custom).and_then(|number| visitor.visit_f64(number))
    }
}

/// Methods that differ only in what is expected.
macro_rules! show_as {
    ($($expected:expr => $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
            self.show($expected, visitor)
        }
    )*)*};
}

/// 128-bit integers, which `show_number` would turn into floats.
macro_rules! wide_integer {
    ($method:ident, $visit:ident, $type:ty) => {
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
            match self.tree.source(self.id).parse::<$type>() {
                Ok(number) if self.kind() == Kind::Number => {
                    self.record(Expectation::Integer);
                    visitor.$visit(number).map_err(|error: ProbeError| error.at(self.id))
                }
                _ => self.show(Expectation::Integer, visitor),
            }
        }
    };
}

impl<'de> Deserializer<'de> for ProbedValue<'_, '_> {
    type Error = ProbeError;

    show_as! {
        Expectation::Anything => deserialize_any;
        Expectation::Boolean => deserialize_bool;
        Expectation::Integer => deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        Expectation::Float => deserialize_f32 deserialize_f64;
        Expectation::Text => deserialize_char deserialize_str deserialize_string deserialize_identifier;
        Expectation::List(None) => deserialize_seq;
        Expectation::Map => deserialize_map;
        Expectation::Other => deserialize_bytes deserialize_byte_buf deserialize_unit;
    }
    wide_integer!(deserialize_i128, visit_i128, i128);
    wide_integer!(deserialize_u128, visit_u128, u128);

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        match self.kind() {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
        .map_err(|error: ProbeError| error.at(self.id))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        if name != RAW_VALUE {
            return visitor.visit_newtype_struct(self).map_err(|error: ProbeError| error.at(self.id));
        }
        self.record(Expectation::Other);
        // Only `serde_json` knows its own protocol. The copy is for the lifetime; this code runs only after a failure.
        let source = self.tree.source(self.id).to_owned();
        serde_json::Deserializer::from_reader(source.as_bytes())
            .deserialize_newtype_struct(name, visitor)
            .map_err(|error| ProbeError::custom(error).at(self.id))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, ProbeError> {
        self.show(Expectation::List(Some(len)), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        self.show(Expectation::Struct(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        self.record(Expectation::Variant(variants));
        let (name, value) = match self.kind() {
            Kind::String => (self.tree.string(self.id), None),
            Kind::Object => {
                let mut members = self.tree.children(self.id);
                match (members.next(), members.next()) {
                    (Some(only), None) => (self.tree.key(only), Some(self.child(only))),
                    _ => (None, None),
                }
            }
            _ => (None, None),
        };
        let unfit = || ProbeError::new(RefusalCause::Unfit).at(self.id);
        let name = name.ok_or_else(unfit)?;
        visitor.visit_enum(Variant { name: &name, value }).map_err(|error| error.at(self.id))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        visitor.visit_unit()
    }
}

/// The members or elements of a node.
struct Children<'p, I> {
    parent: ProbedValue<'p, 'p>,
    rest: I,
    value: Option<usize>,
}

impl<'de, I: Iterator<Item = usize>> SeqAccess<'de> for Children<'_, I> {
    type Error = ProbeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ProbeError> {
        self.rest
            .next()
            .map(|id| seed.deserialize(self.parent.child(id)).map_err(|error| error.at(id)))
            .transpose()
    }
}

impl<'de, I: Iterator<Item = usize>> MapAccess<'de> for Children<'_, I> {
    type Error = ProbeError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ProbeError> {
        self.value = self.rest.next();
        self.value.map(|id| seed.deserialize(Key(&self.parent.tree.key(id).unwrap_or_default()))).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ProbeError> {
        let id = self.value.take().ok_or_else(|| ProbeError::new(RefusalCause::Unfit))?;
        seed.deserialize(self.parent.child(id)).map_err(|error| error.at(id))
    }
}

/// A member's key: text, or a number or boolean written as text, as `serde_json` reads it.
struct Key<'k>(&'k str);

macro_rules! parsed_key {
    ($($method:ident $visit:ident $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
            match self.0.parse::<$type>() {
                Ok(key) => visitor.$visit(key),
                Err(_) => visitor.visit_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = ProbeError;

    parsed_key! {
        deserialize_bool visit_bool bool;
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        visitor.visit_enum(Variant { name: self.0, value: None })
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// An enum's variant: a name alone, or a name with its content.
struct Variant<'p, 't> {
    name: &'p str,
    value: Option<ProbedValue<'p, 't>>,
}

impl<'de, 'p, 't> EnumAccess<'de> for Variant<'p, 't> {
    type Error = ProbeError;
    type Variant = Content<'p, 't>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'p, 't>), ProbeError> {
        let name: StrDeserializer<'_, ProbeError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Content(self.value)))
    }
}

/// The content of a variant, if it has any.
struct Content<'p, 't>(Option<ProbedValue<'p, 't>>);

impl<'p, 't> Content<'p, 't> {
    fn value(self) -> Result<ProbedValue<'p, 't>, ProbeError> {
        self.0.ok_or_else(|| ProbeError::new(RefusalCause::Unfit))
    }
}

impl<'de> VariantAccess<'de> for Content<'_, '_> {
    type Error = ProbeError;

    fn unit_variant(self) -> Result<(), ProbeError> {
        match self.0 {
            Some(value) => <()>::deserialize(value),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ProbeError> {
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, ProbeError> {
        self.value()?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        self.value()?.deserialize_struct("", fields, visitor)
    }
}
