//! Columns of text, whatever Arrow keeps them in.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{GenericStringBuilder, StringViewBuilder, make_view};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, OffsetSizeTrait, StringArray, StringViewArray};
use arrow_schema::DataType;

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
                let keys = words.normalized_keys();
                let rows =
                    (0..array.len()).map(|row| words.keys().is_valid(row).then(|| keys[row])).collect();
                Some(Texts::Words(rows, Box::new(Texts::of(words.values().as_ref())?)))
            }
            _ => None,
        }
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

/// New texts for some rows of a column, in the order of the rows. They stand one behind the other.
#[derive(Debug, Default)]
pub(crate) struct New {
    text: String,
    rows: Vec<(usize, Range<usize>)>,
}

impl New {
    /// Replaces the text of a row behind all others.
    pub(crate) fn replace(&mut self, row: usize, text: &str) {
        debug_assert!(self.rows.last().is_none_or(|(last, _)| *last < row));
        let start = self.text.len();
        self.text.push_str(text);
        self.rows.push((row, start..self.text.len()));
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        self.rows.iter().map(|(row, place)| (*row, &self.text[place.clone()]))
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

/// The column with some texts replaced. Where there are none this is the column that came.
pub(crate) fn replaced(array: &ArrayRef, new: &New) -> ArrayRef {
    if new.is_empty() {
        return Arc::clone(array);
    }
    match array.data_type() {
        DataType::Utf8 => rebuilt::<i32>(array, new),
        DataType::LargeUtf8 => rebuilt::<i64>(array, new),
        DataType::Utf8View => viewed(array.as_string_view(), new).unwrap_or_else(|| copied(array, new)),
        _ => Arc::clone(array),
    }
}

/// The same for views: what stays is looked at where it is, and new texts stand in a buffer of their own.
fn viewed(texts: &StringViewArray, new: &New) -> Option<ArrayRef> {
    let (mut views, mut buffers) = (texts.views().to_vec(), texts.data_buffers().to_vec());
    let number = u32::try_from(buffers.len()).ok()?;
    for (row, place) in new.rows.iter().filter(|(row, _)| texts.is_valid(*row)) {
        views[*row] = make_view(new.text[place.clone()].as_bytes(), number, u32::try_from(place.start).ok()?);
    }
    buffers.push(new.text.as_bytes().to_vec().into());
    let made = StringViewArray::try_new(views.into(), buffers, texts.nulls().cloned()).ok()?;
    Some(Arc::new(made))
}

/// Views of a column that is made anew.
fn copied(array: &ArrayRef, new: &New) -> ArrayRef {
    let texts = array.as_string_view();
    let mut builder = StringViewBuilder::with_capacity(texts.len());
    let mut next = new.iter().peekable();
    for row in 0..texts.len() {
        builder.append_option(match next.next_if(|(place, _)| *place == row) {
            Some((_, text)) => Some(text),
            None => texts.is_valid(row).then(|| texts.value(row)),
        });
    }
    Arc::new(builder.finish())
}

fn rebuilt<O: OffsetSizeTrait>(array: &ArrayRef, new: &New) -> ArrayRef {
    let texts = array.as_string::<O>();
    let bytes = texts.value_data().len() + new.text.len();
    let mut builder = GenericStringBuilder::<O>::with_capacity(texts.len(), bytes);
    let mut next = new.iter().peekable();
    for row in 0..texts.len() {
        match next.next_if(|(place, _)| *place == row) {
            Some((_, text)) => builder.append_value(text),
            None if texts.is_valid(row) => builder.append_value(texts.value(row)),
            None => builder.append_null(),
        }
    }
    Arc::new(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{DictionaryArray, LargeStringArray, types::Int8Type};

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
            let (after, sliced) =
                (replaced(&array, &new), replaced(&array.slice(1, 2), &New::from_iter([(1, "z")])));
            let texts = Texts::of(after.as_ref()).unwrap();
            assert_eq!([texts.get(0), texts.get(1), texts.get(2)], [Some("a"), None, Some("new")]);
            assert_eq!(Texts::of(sliced.as_ref()).unwrap().get(1), Some("z"));
            assert_eq!(after.data_type(), array.data_type());
        }
        let words: DictionaryArray<Int8Type> = rows.into_iter().collect();
        let texts = Texts::of(&words).unwrap();
        assert_eq!([texts.get(0), texts.get(1), texts.get(2)], [Some("a"), None, Some("c")]);
    }
}
