//! Columns of strings, in any representation of Arrow.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::{ArrowError, DataType};
use arrow_select::interleave::interleave;

/// The strings of a column, by row.
#[derive(Debug)]
pub(crate) enum TextColumn<'a> {
    Small(&'a StringArray),
    Large(&'a GenericStringArray<i64>),
    View(&'a StringViewArray),
    /// For each row, the index of its string in the dictionary.
    Dictionary(Vec<Option<usize>>, Box<TextColumn<'a>>),
}

impl<'a> TextColumn<'a> {
    /// Returns the strings of a column, or `None` if it holds something else.
    pub(crate) fn from_array(array: &'a dyn Array) -> Option<TextColumn<'a>> {
        match array.data_type() {
            DataType::Utf8 => Some(TextColumn::Small(array.as_string())),
            DataType::LargeUtf8 => Some(TextColumn::Large(array.as_string())),
            DataType::Utf8View => Some(TextColumn::View(array.as_string_view())),
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary();
                // If the dictionary is empty, all rows are null.
                let keys =
                    if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
                let key = |row| keys.get(row).copied().filter(|_| dictionary.keys().is_valid(row));
                let rows = (0..array.len()).map(key).collect();
                let values = TextColumn::from_array(dictionary.values().as_ref())?;
                Some(TextColumn::Dictionary(rows, Box::new(values)))
            }
            _ => None,
        }
    }

    /// Whether a string can be replaced for one row. In a dictionary, several rows share a string.
    pub(crate) fn is_replaceable(&self) -> bool {
        !matches!(self, TextColumn::Dictionary(_, _))
    }

    /// Returns the string of a row, or `None` if it is null.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        match self {
            TextColumn::Small(array) => array.is_valid(row).then(|| array.value(row)),
            TextColumn::Large(array) => array.is_valid(row).then(|| array.value(row)),
            TextColumn::View(array) => array.is_valid(row).then(|| array.value(row)),
            TextColumn::Dictionary(rows, values) => values.get((*rows.get(row)?)?),
        }
    }
}

/// New strings for some rows of a column, in the order of the rows.
#[derive(Debug, Default)]
pub(crate) struct Replacements {
    rows: Vec<usize>,
    /// All strings, one after the other.
    text: String,
    /// Where each string ends.
    ends: Vec<usize>,
}

impl Replacements {
    /// Replaces the string of a row. Rows must be replaced in ascending order.
    pub(crate) fn push(&mut self, row: usize, text: &str) {
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

impl<T: AsRef<str>> FromIterator<(usize, T)> for Replacements {
    fn from_iter<I: IntoIterator<Item = (usize, T)>>(texts: I) -> Replacements {
        let mut replacements = Replacements::default();
        texts.into_iter().for_each(|(row, text)| replacements.push(row, text.as_ref()));
        replacements
    }
}

/// Whether a column of this type holds strings that can be replaced row by row.
pub(crate) fn is_replaceable_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether a column of this type holds strings.
pub(crate) fn is_text(kind: &DataType) -> bool {
    is_replaceable_text(kind)
        || matches!(kind, DataType::Dictionary(_, values) if is_replaceable_text(values))
}

/// Returns a column with some strings replaced, or the same column if there are no replacements. Views keep pointing to the
/// strings that are not replaced, without copying them.
pub(crate) fn replace_texts(array: &ArrayRef, replacements: &Replacements) -> Result<ArrayRef, ArrowError> {
    let texts: ArrayRef = match array.data_type() {
        _ if replacements.rows.is_empty() => return Ok(Arc::clone(array)),
        DataType::Utf8 => Arc::new(StringArray::from_iter_values(replacements.texts())),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from_iter_values(replacements.texts())),
        DataType::Utf8View => Arc::new(StringViewArray::from_iter_values(replacements.texts())),
        _ => return Ok(Arc::clone(array)),
    };
    // For each row, which of the two arrays its string is in, and at which index.
    let mut origins: Vec<(usize, usize)> = (0..array.len()).map(|row| (0, row)).collect();
    replacements.rows.iter().enumerate().for_each(|(index, row)| origins[*row] = (1, index));
    interleave(&[array.as_ref(), texts.as_ref()], &origins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, types::Int8Type};

    #[test]
    fn texts_are_replaced_in_their_rows() {
        let rows = [Some("a"), None, Some("c")];
        let replacements = Replacements::from_iter([(2, "new")]);
        let arrays: [ArrayRef; 3] = [
            Arc::new(StringArray::from_iter(rows)),
            Arc::new(LargeStringArray::from_iter(rows)),
            Arc::new(StringViewArray::from_iter(rows)),
        ];
        for array in arrays {
            let after = replace_texts(&array, &replacements).unwrap();
            let sliced = replace_texts(&array.slice(1, 2), &Replacements::from_iter([(1, "z")])).unwrap();
            let texts = TextColumn::from_array(after.as_ref()).unwrap();
            assert_eq!([texts.get(0), texts.get(1), texts.get(2)], [Some("a"), None, Some("new")]);
            assert_eq!(TextColumn::from_array(sliced.as_ref()).unwrap().get(1), Some("z"));
            assert_eq!(after.data_type(), array.data_type());
        }
        let dictionary: DictionaryArray<Int8Type> = rows.into_iter().collect();
        let texts = TextColumn::from_array(&dictionary).unwrap();
        assert_eq!([texts.get(0), texts.get(1), texts.get(2)], [Some("a"), None, Some("c")]);
        let nulls: DictionaryArray<Int8Type> = [None::<&str>; 2].into_iter().collect();
        assert_eq!(TextColumn::from_array(&nulls).unwrap().get(1), None);
    }
}
