//! A deserialiser that watches a type read a document: what it asks for at each place, and where it stops.
//!
//! It decides nothing. Values that leave the library were read by `serde_json`.

use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::fault::{Cause, Fault, Want};
use crate::json::tree::{Kind, Tree};

/// The name under which `serde_json` asks itself for unparsed JSON.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Where a type stopped, and what it asked for on the way.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) node: usize,
    pub(super) cause: Cause,
    /// What was asked for at each node.
    pub(super) wants: Vec<Want>,
}

impl Failure {
    /// What was asked for at a node.
    pub(super) fn want(&self, node: usize) -> Want {
        self.wants.get(node).copied().unwrap_or(Want::Unseen)
    }
}

/// Has `T` read the tree: what it asked for at each node, and where it stopped if it did.
pub(super) fn probe<'de, T: Deserialize<'de>>(tree: &Tree<'_>) -> Result<Vec<Want>, Failure> {
    let wants = RefCell::new(vec![Want::Unseen; tree.nodes.len()]);
    let result = T::deserialize(Place { tree, wants: &wants, id: 0 });
    let wants = wants.into_inner();
    match result {
        Ok(_) => Ok(wants),
        Err(Fault { node, cause }) => Err(Failure { node: node.unwrap_or(0), cause, wants }),
    }
}

#[derive(Clone, Copy)]
struct Place<'p, 't> {
    tree: &'p Tree<'t>,
    wants: &'p RefCell<Vec<Want>>,
    id: usize,
}

impl<'p> Place<'p, '_> {
    fn child(self, id: usize) -> Self {
        Place { id, ..self }
    }

    fn kind(self) -> Kind {
        self.tree.nodes.get(self.id).map_or(Kind::Null, |node| node.kind)
    }

    fn asked(self, want: Want) {
        if let Some(slot) = self.wants.borrow_mut().get_mut(self.id) {
            *slot = want;
        }
    }

    fn children(self) -> Children<'p, impl Iterator<Item = usize> + 'p> {
        Children { place: self, rest: self.tree.children(self.id), value: None }
    }

    /// Shows the visitor what stands here, where it is what was asked for: `serde_json` is as strict.
    fn show<'de, V: Visitor<'de>>(self, want: Want, visitor: V) -> Result<V::Value, Fault> {
        self.asked(want);
        if !want.takes(self.kind()) {
            return Err(Fault::new(Cause::Unfit).at(self.id));
        }
        let shown = match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool => visitor.visit_bool(self.tree.source(self.id) == "true"),
            Kind::Number => show_number(self.tree.source(self.id), visitor),
            Kind::String => visitor.visit_str(&self.tree.string(self.id).unwrap_or_default()),
            Kind::Array => visitor.visit_seq(self.children()),
            Kind::Object => visitor.visit_map(self.children()),
        };
        shown.map_err(|fault: Fault| fault.at(self.id))
    }
}

fn show_number<'de, V: Visitor<'de>>(source: &str, visitor: V) -> Result<V::Value, Fault> {
    if let Ok(number) = source.parse::<u64>() {
        visitor.visit_u64(number)
    } else if let Ok(number) = source.parse::<i64>() {
        visitor.visit_i64(number)
    } else {
        source.parse::<f64>().map_err(Fault::custom).and_then(|number| visitor.visit_f64(number))
    }
}

/// Methods that differ only in what is asked for.
macro_rules! show_as {
    ($($want:expr => $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.show($want, visitor)
        }
    )*)*};
}

/// 128-bit integers, which the generic way would turn into floats.
macro_rules! wide_integer {
    ($method:ident, $visit:ident, $type:ty) => {
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.tree.source(self.id).parse::<$type>() {
                Ok(number) if self.kind() == Kind::Number => {
                    self.asked(Want::Integer);
                    visitor.$visit(number).map_err(|fault: Fault| fault.at(self.id))
                }
                _ => self.show(Want::Integer, visitor),
            }
        }
    };
}

impl<'de> Deserializer<'de> for Place<'_, '_> {
    type Error = Fault;

    show_as! {
        Want::Anything => deserialize_any;
        Want::Boolean => deserialize_bool;
        Want::Integer => deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        Want::Float => deserialize_f32 deserialize_f64;
        Want::Text => deserialize_char deserialize_str deserialize_string deserialize_identifier;
        Want::List(None) => deserialize_seq;
        Want::Map => deserialize_map;
        Want::Other => deserialize_bytes deserialize_byte_buf deserialize_unit;
    }
    wide_integer!(deserialize_i128, visit_i128, i128);
    wide_integer!(deserialize_u128, visit_u128, u128);

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.kind() {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
        .map_err(|fault: Fault| fault.at(self.id))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name != RAW_VALUE {
            return visitor.visit_newtype_struct(self).map_err(|fault: Fault| fault.at(self.id));
        }
        self.asked(Want::Other);
        // Only `serde_json` knows its own protocol. The copy is for the lifetime; this runs after a failure.
        let source = self.tree.source(self.id).to_owned();
        serde_json::Deserializer::from_reader(source.as_bytes())
            .deserialize_newtype_struct(name, visitor)
            .map_err(|error| Fault::custom(error).at(self.id))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.show(Want::List(Some(len)), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.show(Want::Struct(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.asked(Want::Variant(variants));
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
        let fault = || Fault::new(Cause::Unfit).at(self.id);
        let name = name.ok_or_else(fault)?;
        visitor.visit_enum(Variant { name: &name, value }).map_err(|fault| fault.at(self.id))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }
}

/// The members or elements of a node.
struct Children<'p, I> {
    place: Place<'p, 'p>,
    rest: I,
    value: Option<usize>,
}

impl<'de, I: Iterator<Item = usize>> SeqAccess<'de> for Children<'_, I> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        self.rest
            .next()
            .map(|id| seed.deserialize(self.place.child(id)).map_err(|fault| fault.at(id)))
            .transpose()
    }
}

impl<'de, I: Iterator<Item = usize>> MapAccess<'de> for Children<'_, I> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        self.value = self.rest.next();
        self.value.map(|id| seed.deserialize(Key(&self.place.tree.key(id).unwrap_or_default()))).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let id = self.value.take().ok_or_else(|| Fault::new(Cause::Unfit))?;
        seed.deserialize(self.place.child(id)).map_err(|fault| fault.at(id))
    }
}

/// A member's key: text, or a number or boolean written as text, as `serde_json` has it.
struct Key<'k>(&'k str);

macro_rules! parsed_key {
    ($($method:ident $visit:ident $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.0.parse::<$type>() {
                Ok(key) => visitor.$visit(key),
                Err(_) => visitor.visit_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = Fault;

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

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(Variant { name: self.0, value: None })
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// An enum's variant: a name alone, or a name with what it holds.
struct Variant<'p, 't> {
    name: &'p str,
    value: Option<Place<'p, 't>>,
}

impl<'de, 'p, 't> EnumAccess<'de> for Variant<'p, 't> {
    type Error = Fault;
    type Variant = Content<'p, 't>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Content<'p, 't>), Fault> {
        let name: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Content(self.value)))
    }
}

struct Content<'p, 't>(Option<Place<'p, 't>>);

impl<'p, 't> Content<'p, 't> {
    fn held(self) -> Result<Place<'p, 't>, Fault> {
        self.0.ok_or_else(|| Fault::new(Cause::Unfit))
    }
}

impl<'de> VariantAccess<'de> for Content<'_, '_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.0 {
            Some(place) => <()>::deserialize(place),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        seed.deserialize(self.held()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.held()?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.held()?.deserialize_struct("", fields, visitor)
    }
}
