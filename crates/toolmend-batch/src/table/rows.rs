//! Rows of a table as JSON, with the places where their texts came from.
//!
//! A layout looks at JSON and says what to replace. In a table that is always a text in some column, maybe deep inside
//! lists and structures: as many texts go in as come out, so that only their column is made anew.

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
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use toolmend_json::quote;

use super::texts::Texts;

/// A text of a row: where it stands in the JSON, and where in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) at: Range<usize>,
    /// Columns of text are numbered as they are met.
    pub(crate) column: usize,
    pub(crate) index: usize,
}

/// How a column is written.
enum Branch<'a> {
    Text(usize, Texts<'a>),
    List(Vec<Range<usize>>, &'a dyn Array, Box<Branch<'a>>),
    Struct(&'a dyn Array, Vec<(String, Branch<'a>)>),
    Other(&'a dyn Array, Box<dyn Fn(usize) -> String + 'a>),
    /// No layout can use it.
    Skip,
}

/// Columns of a batch, ready to be written row by row.
pub(crate) struct Rows<'a> {
    members: Vec<(String, Branch<'a>)>,
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.members.iter().map(|(name, _)| name)).finish()
    }
}

impl<'a> Rows<'a> {
    /// The columns of these numbers, under their names.
    pub(crate) fn new(batch: &'a RecordBatch, columns: &[usize]) -> Self {
        let mut leaves = 0;
        let members = columns.iter().map(|&column| {
            let name = quote(batch.schema_ref().field(column).name());
            (name, branch(batch.column(column).as_ref(), &mut leaves))
        });
        Rows { members: members.collect() }
    }

    /// Writes a row behind `out`, and notes its texts. Places count from where the row begins.
    pub(crate) fn write(&self, row: usize, out: &mut String, leaves: &mut Vec<Leaf>) {
        let start = out.len();
        object(&self.members, row, out, leaves);
        for leaf in leaves {
            leaf.at = leaf.at.start - start..leaf.at.end - start;
        }
    }
}

fn object(members: &[(String, Branch<'_>)], row: usize, out: &mut String, leaves: &mut Vec<Leaf>) {
    out.push('{');
    let mut first = true;
    for (name, branch) in members {
        if matches!(branch, Branch::Skip) {
            continue;
        }
        if !first {
            out.push(',');
        }
        first = false;
        out.push_str(name);
        out.push(':');
        value(branch, row, out, leaves);
    }
    out.push('}');
}

fn value(branch: &Branch<'_>, row: usize, out: &mut String, leaves: &mut Vec<Leaf>) {
    match branch {
        Branch::Text(column, texts) => match texts.get(row) {
            Some(text) => {
                let start = out.len();
                out.push_str(&quote(text));
                if texts.are_own() {
                    leaves.push(Leaf { at: start..out.len(), column: *column, index: row });
                }
            }
            None => out.push_str("null"),
        },
        Branch::List(ranges, array, inner) if array.is_valid(row) => {
            out.push('[');
            for index in ranges[row].clone() {
                if index > ranges[row].start {
                    out.push(',');
                }
                value(inner, index, out, leaves);
            }
            out.push(']');
        }
        Branch::Struct(array, members) if array.is_valid(row) => object(members, row, out, leaves),
        Branch::Other(array, text) if array.is_valid(row) => out.push_str(&text(row)),
        _ => out.push_str("null"),
    }
}

fn branch<'a>(array: &'a dyn Array, leaves: &mut usize) -> Branch<'a> {
    if let Some(texts) = Texts::of(array) {
        *leaves += 1;
        return Branch::Text(*leaves - 1, texts);
    }
    match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let ranges =
                list.value_offsets().windows(2).map(|pair| whole(pair[0].into())..whole(pair[1].into()));
            Branch::List(ranges.collect(), array, Box::new(branch(list.values().as_ref(), leaves)))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let ranges = list.value_offsets().windows(2).map(|pair| whole(pair[0])..whole(pair[1]));
            Branch::List(ranges.collect(), array, Box::new(branch(list.values().as_ref(), leaves)))
        }
        DataType::FixedSizeList(_, _) => {
            let list = array.as_fixed_size_list();
            let length = whole(list.value_length().into());
            let ranges = (0..list.len()).map(|row| row * length..(row + 1) * length);
            Branch::List(ranges.collect(), array, Box::new(branch(list.values().as_ref(), leaves)))
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let members = fields.iter().zip(columns);
            let members =
                members.map(|(field, column)| (quote(field.name()), branch(column.as_ref(), leaves)));
            Branch::Struct(array, members.collect())
        }
        _ => other(array).map_or(Branch::Skip, |text| Branch::Other(array, text)),
    }
}

fn whole(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// How a value that is neither text nor nested is written.
fn other<'a>(array: &'a dyn Array) -> Option<Box<dyn Fn(usize) -> String + 'a>> {
    Some(match array.data_type() {
        DataType::Null => Box::new(|_| "null".to_owned()),
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(|row| array.value(row).to_string())
        }
        DataType::Int8 => number::<Int8Type>(array),
        DataType::Int16 => number::<Int16Type>(array),
        DataType::Int32 => number::<Int32Type>(array),
        DataType::Int64 => number::<Int64Type>(array),
        DataType::UInt8 => number::<UInt8Type>(array),
        DataType::UInt16 => number::<UInt16Type>(array),
        DataType::UInt32 => number::<UInt32Type>(array),
        DataType::UInt64 => number::<UInt64Type>(array),
        DataType::Float16 => number::<Float16Type>(array),
        DataType::Float32 => number::<Float32Type>(array),
        DataType::Float64 => number::<Float64Type>(array),
        DataType::Decimal128(_, _) => {
            let array = array.as_primitive::<Decimal128Type>();
            Box::new(|row| array.value_as_string(row))
        }
        DataType::Date32 => moment::<Date32Type>(array),
        DataType::Date64 => moment::<Date64Type>(array),
        DataType::Timestamp(TimeUnit::Second, _) => moment::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, _) => moment::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => moment::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => moment::<TimestampNanosecondType>(array),
        _ => return None,
    })
}

fn number<'a, T: ArrowPrimitiveType>(array: &'a dyn Array) -> Box<dyn Fn(usize) -> String + 'a>
where
    T::Native: std::fmt::Display,
{
    let array = array.as_primitive::<T>();
    Box::new(|row| {
        let text = array.value(row).to_string();
        // JSON has no word for what is no number.
        if text.ends_with(|last: char| last.is_ascii_digit()) { text } else { "null".to_owned() }
    })
}

fn moment<'a, T: ArrowTemporalType>(array: &'a dyn Array) -> Box<dyn Fn(usize) -> String + 'a>
where
    i64: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    Box::new(|row| {
        let mut text = String::new();
        match array.value_as_datetime(row) {
            Some(moment) => {
                let _ = write!(text, "\"{}\"", moment.to_string().replacen(' ', "T", 1));
            }
            None => text.push_str("null"),
        }
        text
    })
}

/// Whether columns of this type can be written, and if not, which type stands in the way.
pub(crate) fn unwritable(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            unwritable(field.data_type())
        }
        DataType::Struct(fields) => fields.iter().find_map(|field| unwritable(field.data_type())),
        kind if super::texts::has_text(kind) => None,
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

/// The column with some of its texts replaced, numbered as [`Rows`] met them. Where there are none this is the column that came.
pub(crate) fn rebuilt(
    array: &ArrayRef,
    leaves: &mut usize,
    new: &BTreeMap<usize, BTreeMap<usize, String>>,
) -> Result<ArrayRef, ArrowError> {
    let first = *leaves;
    if Texts::of(array.as_ref()).is_some() {
        *leaves += 1;
        return match new.get(&(*leaves - 1)) {
            Some(texts) => {
                super::texts::replaced(array, &texts.iter().map(|(row, text)| (*row, text)).collect())
            }
            None => Ok(Arc::clone(array)),
        };
    }
    let made: ArrayRef = match array.data_type() {
        DataType::List(field) => {
            let list = array.as_list::<i32>();
            let values = rebuilt(list.values(), leaves, new)?;
            let made = arrow_array::ListArray::try_new(
                Arc::clone(field),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            )?;
            Arc::new(made)
        }
        DataType::LargeList(field) => {
            let list = array.as_list::<i64>();
            let values = rebuilt(list.values(), leaves, new)?;
            let made = arrow_array::LargeListArray::try_new(
                Arc::clone(field),
                list.offsets().clone(),
                values,
                list.nulls().cloned(),
            )?;
            Arc::new(made)
        }
        DataType::FixedSizeList(field, length) => {
            let list = array.as_fixed_size_list();
            let values = rebuilt(list.values(), leaves, new)?;
            let made = arrow_array::FixedSizeListArray::try_new(
                Arc::clone(field),
                *length,
                values,
                list.nulls().cloned(),
            )?;
            Arc::new(made)
        }
        DataType::Struct(fields) if !fields.is_empty() => {
            let parts = array.as_struct();
            let columns = parts.columns().iter().map(|column| rebuilt(column, leaves, new));
            let columns = columns.collect::<Result<_, _>>()?;
            let made = arrow_array::StructArray::try_new(fields.clone(), columns, parts.nulls().cloned())?;
            Arc::new(made)
        }
        _ => return Ok(Arc::clone(array)),
    };
    let changed = new.range(first..*leaves).next().is_some();
    Ok(if changed { made } else { Arc::clone(array) })
}
