//! Columns of text, whatever Arrow keeps them in.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::{ArrowError, DataType};
use arrow_select::interleave::interleave;

/// Texts by their row.
#[derive(Debug)]
pub(crate) enum Texts<'a> {
    Small(&'a StringArray),
    Large(&'a GenericStringArray<i64>),
    View(&'a StringViewArray),
    /// Rows are numbers of texts.
    Words(Vec<Option<usize>>, Box<Texts<'a>>),
}

impl<'a> Texts<'a> {
    /// The texts of a column, where it has any.
    pub(crate) fn of(array: &'a dyn Array) -> Option<Texts<'a>> {
        match array.data_type() {
            DataType::Utf8 => Some(Texts::Small(array.as_string())),
            DataType::LargeUtf8 => Some(Texts::Large(array.as_string())),
            DataType::Utf8View => Some(Texts::View(array.as_string_view())),
            DataType::Dictionary(_, _) => {
                let words = array.as_any_dictionary();
                // Without words, all rows are null.
                let keys = if words.values().is_empty() { Vec::new() } else { words.normalized_keys() };
                let key = |row| keys.get(row).copied().filter(|_| words.keys().is_valid(row));
                let rows = (0..array.len()).map(key).collect();
                Some(Texts::Words(rows, Box::new(Texts::of(words.values().as_ref())?)))
            }
            _ => None,
        }
    }

    /// Whether a row has its text for itself, so that it can get another.
    pub(crate) fn are_own(&self) -> bool {
        !matches!(self, Texts::Words(_, _))
    }

    /// The text of a row; none where it is null.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        match self {
            Texts::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::View(array) => array.is_valid(row).then(|| array.value(row)),
            Texts::Words(rows, words) => words.get((*rows.get(row)?)?),
        }
    }
}

/// New texts for some rows of a column, in the order of the rows.
#[derive(Debug, Default)]
pub(crate) struct New {
    rows: Vec<usize>,
    /// One behind the other.
    text: String,
    ends: Vec<usize>,
}

impl New {
    /// Replaces the text of a row behind all others.
    pub(crate) fn replace(&mut self, row: usize, text: &str) {
        debug_assert!(self.rows.last().is_none_or(|last| *last < row));
        self.rows.push(row);
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut start, end)..end])
    }
}

impl<T: AsRef<str>> FromIterator<(usize, T)> for New {
    fn from_iter<I: IntoIterator<Item = (usize, T)>>(texts: I) -> New {
        let mut new = New::default();
        texts.into_iter().for_each(|(row, text)| new.replace(row, text.as_ref()));
        new
    }
}

/// Whether a column of this type holds texts that can be replaced one by one.
pub(crate) fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether a column of this type holds texts.
pub(crate) fn has_text(kind: &DataType) -> bool {
    is_text(kind) || matches!(kind, DataType::Dictionary(_, words) if is_text(words))
}

/// The column with some texts replaced. Where there are none this is the column that came. Views of what stays look at it where
/// it is.
pub(crate) fn replaced(array: &ArrayRef, new: &New) -> Result<ArrayRef, ArrowError> {
    let texts: ArrayRef = match array.data_type() {
        _ if new.rows.is_empty() => return Ok(Arc::clone(array)),
        DataType::Utf8 => Arc::new(StringArray::from_iter_values(new.texts())),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from_iter_values(new.texts())),
        DataType::Utf8View => Arc::new(StringViewArray::from_iter_values(new.texts())),
        _ => return Ok(Arc::clone(array)),
    };
    // Where each text comes from, and its place there.
    let mut places: Vec<(usize, usize)> = (0..array.len()).map(|row| (0, row)).collect();
    new.rows.iter().enumerate().for_each(|(place, row)| places[*row] = (1, place));
    interleave(&[array.as_ref(), texts.as_ref()], &places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, types::Int8Type};

    #[test]
    fn texts_are_replaced_in_their_rows() {
        let rows = [Some("a"), None, Some("c")];
        let new = New::from_iter([(2, "new")]);
        let arrays: [ArrayRef; 3] = [
            Arc::new(StringArray::from_iter(rows)),
            Arc::new(LargeStringArray::from_iter(rows)),
            Arc::new(StringViewArray::from_iter(rows)),
        ];
        for array in arrays {
            let after = replaced(&array, &new).unwrap();
            let sliced = replaced(&array.slice(1, 2), &New::from_iter([(1, "z")])).unwrap();
            let texts = Texts::of(after.as_ref()).unwrap();
            assert_eq!([texts.get(0), texts.get(1), texts.get(2)], [Some("a"), None, Some("new")]);
            assert_eq!(Texts::of(sliced.as_ref()).unwrap().get(1), Some("z"));
            assert_eq!(after.data_type(), array.data_type());
        }
        let words: DictionaryArray<Int8Type> = rows.into_iter().collect();
        let texts = Texts::of(&words).unwrap();
        assert_eq!([texts.get(0), texts.get(1), texts.get(2)], [Some("a"), None, Some("c")]);
        let none: DictionaryArray<Int8Type> = [None::<&str>; 2].into_iter().collect();
        assert_eq!(Texts::of(&none).unwrap().get(1), None);
    }
}
