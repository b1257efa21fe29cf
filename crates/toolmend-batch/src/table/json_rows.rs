//! Writes rows of a table as JSON, and remembers where each string came from.
//!
//! A layout looks at JSON and says what to replace. In a table, that is always a string in some column, maybe inside lists and
//! structs. The number of strings never changes, so only the column of a replaced string is rebuilt.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTemporalType, Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::{ArrowError, DataType, FieldRef, TimeUnit};
use toolmend_json::quote;

use super::text_column::{TextColumn, is_text, replace_texts};

/// Where a string is in the JSON of a row, and where in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextLocation {
    pub(crate) span: Range<usize>,
    /// The number of the leaf column. Columns of strings are numbered in the order in which they are visited.
    pub(crate) leaf: usize,
    /// The index of the string in the leaf column.
    pub(crate) index: usize,
}

/// How a column is written as JSON.
enum ColumnEncoder<'a> {
    /// Strings, with the number of their leaf column.
    Text(usize, TextColumn<'a>),
    /// For each row, the range of its elements.
    List(Vec<Range<usize>>, &'a dyn Array, Box<ColumnEncoder<'a>>),
    /// Members with their names as JSON strings.
    Struct(&'a dyn Array, Vec<(String, ColumnEncoder<'a>)>),
    /// Values that are neither strings nor nested.
    Scalar(&'a dyn Array, Box<dyn Fn(usize) -> String + 'a>),
    /// A type that JSON has no value for. The column is left out.
    Skipped,
}

/// Columns of a batch that are written as JSON row by row.
pub(crate) struct JsonRows<'a> {
    members: Vec<(String, ColumnEncoder<'a>)>,
}

impl std::fmt::Debug for JsonRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.members.iter().map(|(name, _)| name)).finish()
    }
}

impl<'a> JsonRows<'a> {
    /// Prepares the columns with these numbers. Their names become the names of members.
    pub(crate) fn new(batch: &'a RecordBatch, columns: &[usize]) -> Self {
        let mut leaves = 0;
        let members = columns.iter().map(|&column| {
            let name = quote(batch.schema_ref().field(column).name());
            (name, encode_column(batch.column(column).as_ref(), &mut leaves))
        });
        JsonRows { members: members.collect() }
    }

    /// Appends a row to `out`, and the locations of its strings to `locations`, which must be empty. Spans count from the start
    /// of the row.
    pub(crate) fn write_row(&self, row: usize, out: &mut String, locations: &mut Vec<TextLocation>) {
        let start = out.len();
        write_object(&self.members, row, out, locations);
        for location in locations {
            location.span = location.span.start - start..location.span.end - start;
        }
    }
}

fn write_object(
    members: &[(String, ColumnEncoder<'_>)],
    row: usize,
    out: &mut String,
    locations: &mut Vec<TextLocation>,
) {
    out.push('{');
    let mut first = true;
    for (name, encoder) in members {
        if matches!(encoder, ColumnEncoder::Skipped) {
            continue;
        }
        if !first {
            out.push(',');
        }
        first = false;
        out.push_str(name);
        out.push(':');
        write_value(encoder, row, out, locations);
    }
    out.push('}');
}

fn write_value(encoder: &ColumnEncoder<'_>, row: usize, out: &mut String, locations: &mut Vec<TextLocation>) {
    match encoder {
        ColumnEncoder::Text(leaf, texts) => match texts.get(row) {
            Some(text) => {
                let start = out.len();
                out.push_str(&quote(text));
                if texts.is_replaceable() {
                    locations.push(TextLocation { span: start..out.len(), leaf: *leaf, index: row });
                }
            }
            None => out.push_str("null"),
        },
        ColumnEncoder::List(ranges, array, elements) if array.is_valid(row) => {
            out.push('[');
            for index in ranges[row].clone() {
                if index > ranges[row].start {
                    out.push(',');
                }
                write_value(elements, index, out, locations);
            }
            out.push(']');
        }
        ColumnEncoder::Struct(array, members) if array.is_valid(row) => {
            write_object(members, row, out, locations);
        }
        ColumnEncoder::Scalar(array, text) if array.is_valid(row) => out.push_str(&text(row)),
        _ => out.push_str("null"),
    }
}

/// Prepares a column. `leaves` is the number of leaf columns visited so far.
fn encode_column<'a>(array: &'a dyn Array, leaves: &mut usize) -> ColumnEncoder<'a> {
    if let Some(texts) = TextColumn::from_array(array) {
        *leaves += 1;
        return ColumnEncoder::Text(*leaves - 1, texts);
    }
    match array.data_type() {
        DataType::List(_) => encode_list::<i32>(array, leaves),
        DataType::LargeList(_) => encode_list::<i64>(array, leaves),
        DataType::FixedSizeList(_, _) => {
            let list = array.as_fixed_size_list();
            let length = usize::try_from(list.value_length()).unwrap_or_default();
            let ranges = (0..list.len()).map(|row| row * length..(row + 1) * length);
            ColumnEncoder::List(
                ranges.collect(),
                array,
                Box::new(encode_column(list.values().as_ref(), leaves)),
            )
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let members = fields.iter().zip(columns);
            let members =
                members.map(|(field, column)| (quote(field.name()), encode_column(column.as_ref(), leaves)));
            ColumnEncoder::Struct(array, members.collect())
        }
        _ => encode_scalar(array).map_or(ColumnEncoder::Skipped, |text| ColumnEncoder::Scalar(array, text)),
    }
}

fn encode_list<'a, O: OffsetSizeTrait>(array: &'a dyn Array, leaves: &mut usize) -> ColumnEncoder<'a> {
    let list = array.as_list::<O>();
    let ranges = list.value_offsets().windows(2).map(|pair| pair[0].as_usize()..pair[1].as_usize());
    let elements = encode_column(list.values().as_ref(), leaves);
    ColumnEncoder::List(ranges.collect(), array, Box::new(elements))
}

/// Returns a function that writes a value of a row, or `None` if JSON has no value for the type.
fn encode_scalar<'a>(array: &'a dyn Array) -> Option<Box<dyn Fn(usize) -> String + 'a>> {
    Some(match array.data_type() {
        DataType::Null => Box::new(|_| "null".to_owned()),
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(|row| array.value(row).to_string())
        }
        DataType::Int8 => encode_number::<Int8Type>(array),
        DataType::Int16 => encode_number::<Int16Type>(array),
        DataType::Int32 => encode_number::<Int32Type>(array),
        DataType::Int64 => encode_number::<Int64Type>(array),
        DataType::UInt8 => encode_number::<UInt8Type>(array),
        DataType::UInt16 => encode_number::<UInt16Type>(array),
        DataType::UInt32 => encode_number::<UInt32Type>(array),
        DataType::UInt64 => encode_number::<UInt64Type>(array),
        DataType::Float16 => encode_number::<Float16Type>(array),
        DataType::Float32 => encode_number::<Float32Type>(array),
        DataType::Float64 => encode_number::<Float64Type>(array),
        DataType::Decimal128(_, _) => {
            let array = array.as_primitive::<Decimal128Type>();
            Box::new(|row| array.value_as_string(row))
        }
        DataType::Date32 => encode_time::<Date32Type>(array),
        DataType::Date64 => encode_time::<Date64Type>(array),
        DataType::Timestamp(TimeUnit::Second, _) => encode_time::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => encode_time::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => encode_time::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => encode_time::<TimestampNanosecondType>(array),
        _ => return None,
    })
}

fn encode_number<'a, T: ArrowPrimitiveType>(array: &'a dyn Array) -> Box<dyn Fn(usize) -> String + 'a>
where
    T::Native: std::fmt::Display,
{
    let array = array.as_primitive::<T>();
    Box::new(|row| {
        let text = array.value(row).to_string();
        // JSON has no notation for infinities and NaN.
        if text.ends_with(|last: char| last.is_ascii_digit()) { text } else { "null".to_owned() }
    })
}

fn encode_time<'a, T: ArrowTemporalType>(array: &'a dyn Array) -> Box<dyn Fn(usize) -> String + 'a>
where
    i64: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    Box::new(|row| {
        let mut text = String::new();
        match array.value_as_datetime(row) {
            Some(time) => {
                let _ = write!(text, "\"{}\"", time.to_string().replacen(' ', "T", 1));
            }
            None => text.push_str("null"),
        }
        text
    })
}

/// Returns the type inside `kind` that cannot be written as JSON, or `None` if all of it can.
pub(crate) fn find_unwritable_type(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            find_unwritable_type(field.data_type())
        }
        DataType::Struct(fields) => fields.iter().find_map(|field| find_unwritable_type(field.data_type())),
        kind if is_text(kind) => None,
        DataType::Null
        | DataType::Boolean
        | DataType::Date32
        | DataType::Date64
        | DataType::Decimal128(_, _)
        | DataType::Timestamp(_, _) => None,
        kind if kind.is_integer() || kind.is_floating() => None,
        kind => Some(kind),
    }
}

/// The new strings of leaf columns, by the number of the leaf column and the index in it.
pub(crate) type LeafReplacements = BTreeMap<usize, BTreeMap<usize, String>>;

/// Rebuilds a column with some strings replaced. Returns the same column if nothing in it is replaced.
///
/// `leaves` is the number of leaf columns visited so far. Columns must be visited in the same order as in [`JsonRows::new`].
pub(crate) fn rebuild_column(
    array: &ArrayRef,
    leaves: &mut usize,
    replacements: &LeafReplacements,
) -> Result<ArrayRef, ArrowError> {
    let first = *leaves;
    if TextColumn::from_array(array.as_ref()).is_some() {
        *leaves += 1;
        return match replacements.get(&(*leaves - 1)) {
            Some(texts) => replace_texts(array, &texts.iter().map(|(row, text)| (*row, text)).collect()),
            None => Ok(Arc::clone(array)),
        };
    }
    let rebuilt: ArrayRef = match array.data_type() {
        DataType::List(field) => rebuild_list::<i32>(array, field, leaves, replacements)?,
        DataType::LargeList(field) => rebuild_list::<i64>(array, field, leaves, replacements)?,
        DataType::FixedSizeList(field, length) => {
            let list = array.as_fixed_size_list();
            let values = rebuild_column(list.values(), leaves, replacements)?;
            let rebuilt = arrow_array::FixedSizeListArray::try_new(
                Arc::clone(field),
                *length,
                values,
                list.nulls().cloned(),
            )?;
            Arc::new(rebuilt)
        }
        DataType::Struct(fields) if !fields.is_empty() => {
            let parts = array.as_struct();
            let columns = parts.columns().iter().map(|column| rebuild_column(column, leaves, replacements));
            let columns = columns.collect::<Result<_, _>>()?;
            let rebuilt = arrow_array::StructArray::try_new(fields.clone(), columns, parts.nulls().cloned())?;
            Arc::new(rebuilt)
        }
        _ => return Ok(Arc::clone(array)),
    };
    let changed = replacements.range(first..*leaves).next().is_some();
    Ok(if changed { rebuilt } else { Arc::clone(array) })
}

fn rebuild_list<O: OffsetSizeTrait>(
    array: &ArrayRef,
    field: &FieldRef,
    leaves: &mut usize,
    replacements: &LeafReplacements,
) -> Result<ArrayRef, ArrowError> {
    let list = array.as_list::<O>();
    let values = rebuild_column(list.values(), leaves, replacements)?;
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    Ok(Arc::new(GenericListArray::<O>::try_new(Arc::clone(field), offsets, values, nulls)?))
}
