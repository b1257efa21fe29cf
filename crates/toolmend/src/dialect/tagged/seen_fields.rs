//! The arguments that were read so far, so that another one can be compared with all of them at once.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::dialect::raw_call::Field;

/// An index of fields by their keys and by their values. A call may have thousands of arguments.
#[derive(Debug, Default)]
pub(super) struct SeenFields {
    keys: HashSet<String>,
    /// Positions in the list of fields, by the hash of key and value.
    values: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
}

impl SeenFields {
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Whether one of these fields has this key and this value.
    pub(super) fn has_value(&self, fields: &[Field], key: &str, text: &str) -> bool {
        let alike = self.values.get(&self.hasher.hash_one((key, text))).into_iter().flatten();
        alike
            .filter_map(|&index| fields.get(index))
            .any(|field| field.key == key && field.value.text() == text)
    }

    /// Notes the field that comes after `count` others.
    pub(super) fn note(&mut self, count: usize, key: &str, text: &str) {
        self.values.entry(self.hasher.hash_one((key, text))).or_default().push(count);
        self.keys.insert(key.to_owned());
    }
}
