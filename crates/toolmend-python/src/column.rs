//! Columns of texts: read where they are, mended on all cores.

use std::sync::Arc;

use arrow_array::builder::{
    GenericStringBuilder, ListBuilder, StringBuilder, StringDictionaryBuilder, StringViewBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, Fields};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::input::AnyArray;
use rayon::prelude::*;
use toolmend::{Finish, FixOptions, Outcome, Verdict, fix_with};

use crate::inputs::value_error;
use crate::mender::Mender;
use crate::text::Fixer;

/// What the texts of a column are.
#[derive(Clone, Copy)]
enum Judge<'a> {
    Texts(&'a FixOptions),
    Calls(&'a toolmend::Mender, &'a str),
    /// The tool of each row, counted over all chunks.
    CallsOf(&'a toolmend::Mender, &'a [Option<String>]),
}

impl Judge<'_> {
    fn judge<'t>(&self, row: usize, text: &'t str) -> Verdict<'t> {
        match self {
            Judge::Texts(options) => fix_with(text, options),
            Judge::Calls(mender, tool) => mender.mend_finished(tool, text, Finish::Unknown),
            Judge::CallsOf(mender, tools) => {
                let tool = tools.get(row).and_then(Option::as_deref).unwrap_or_default();
                mender.mend_finished(tool, text, Finish::Unknown)
            }
        }
    }
}

/// Mends every text of an Arrow column. Returns a column of structures with the same chunks.
#[pyfunction]
pub(crate) fn mend_column(
    py: Python<'_>,
    column: AnyArray,
    fixer: &Fixer,
    mender: Option<&Mender>,
    tool: &str,
    tools: Option<AnyArray>,
    threads: Option<usize>,
) -> PyResult<PyChunkedArray> {
    let tools = tools.map(names).transpose()?;
    let judge = match (mender, &tools) {
        (Some(mender), Some(tools)) => Judge::CallsOf(mender.inner(), tools),
        (Some(mender), None) => Judge::Calls(mender.inner(), tool),
        (None, _) => Judge::Texts(fixer.options()),
    };
    let pool = match threads {
        None | Some(1) => None,
        Some(count) => Some(rayon::ThreadPoolBuilder::new().num_threads(count).build().map_err(value_error)?),
    };
    let (chunks, field) = column.into_chunked_array()?.into_inner();
    if !is_text(field.data_type()) {
        let message = format!("expected a column of strings, found one of {}", field.data_type());
        return Err(PyTypeError::new_err(message));
    }
    let rows: usize = chunks.iter().map(Array::len).sum();
    if let Some(tools) = tools.as_ref().filter(|tools| tools.len() != rows) {
        let message = format!("expected a tool for each of {rows} rows, found {}", tools.len());
        return Err(PyValueError::new_err(message));
    }
    let in_order = threads == Some(1);
    let rows = py.detach(|| {
        let work = || {
            let starts =
                chunks.iter().scan(0, |start, chunk| Some(std::mem::replace(start, *start + chunk.len())));
            chunks
                .iter()
                .zip(starts)
                .map(|(chunk, start)| mended(chunk, start, judge, in_order))
                .collect::<Vec<_>>()
        };
        pool.map_or_else(work, |pool| pool.install(work))
    });
    let text = Field::new(field.name(), field.data_type().clone(), true);
    let data_type = DataType::Struct(fields(text));
    let field = Arc::new(Field::new(field.name(), data_type, true));
    PyChunkedArray::try_new(rows, field)
}

/// The members of a row.
fn fields(text: Field) -> Fields {
    let list = |name: &str| Field::new(name, list_type(), false);
    Fields::from(vec![
        text.with_name("json"),
        Field::new("outcome", outcome_type(), true),
        list("repairs"),
        list("values"),
        Field::new("feedback", DataType::Utf8, true),
    ])
}

fn list_type() -> DataType {
    DataType::new_list(DataType::Utf8, true)
}

fn outcome_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
}

/// The texts of a chunk.
fn texts(chunk: &ArrayRef) -> Vec<Option<&str>> {
    match chunk.data_type() {
        DataType::LargeUtf8 => chunk.as_string::<i64>().iter().collect(),
        DataType::Utf8View => chunk.as_string_view().iter().collect(),
        _ => chunk.as_string::<i32>().iter().collect(),
    }
}

/// The names of tools, row by row.
fn names(column: AnyArray) -> PyResult<Vec<Option<String>>> {
    let (chunks, field) = column.into_chunked_array()?.into_inner();
    if !is_text(field.data_type()) {
        let message = format!("expected a column of names, found one of {}", field.data_type());
        return Err(PyTypeError::new_err(message));
    }
    Ok(chunks.iter().flat_map(texts).map(|name| name.map(str::to_owned)).collect())
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The rows of a chunk, of which the first has this number.
fn mended(chunk: &ArrayRef, start: usize, judge: Judge<'_>, in_order: bool) -> ArrayRef {
    let texts = texts(chunk);
    let row = |(row, text): (usize, &Option<_>)| text.map(|text| judge.judge(start + row, text));
    let rows: Vec<Option<Verdict<'_>>> = if in_order {
        texts.iter().enumerate().map(row).collect()
    } else {
        texts.par_iter().enumerate().map(row).collect()
    };
    let text = Field::new("json", chunk.data_type().clone(), true);
    let (repairs, values) = lists(&rows);
    Arc::new(StructArray::new(
        fields(text),
        vec![json(chunk, &rows), outcomes(&rows), repairs, values, feedback(&rows)],
        None,
    ))
}

/// The JSON of every row. Where nothing was mended or refused this is the column that came, not a copy.
fn json(chunk: &ArrayRef, rows: &[Option<Verdict<'_>>]) -> ArrayRef {
    let clean = |row: &Option<Verdict<'_>>| row.as_ref().is_none_or(|row| row.outcome() == Outcome::Clean);
    if rows.iter().all(clean) {
        return Arc::clone(chunk);
    }
    let texts = rows.iter().map(|row| row.as_ref().and_then(Verdict::json));
    match chunk.data_type() {
        DataType::LargeUtf8 => {
            let mut builder = GenericStringBuilder::<i64>::new();
            builder.extend(texts);
            Arc::new(builder.finish())
        }
        DataType::Utf8View => {
            let mut builder = StringViewBuilder::new();
            builder.extend(texts);
            Arc::new(builder.finish())
        }
        _ => {
            let mut builder = GenericStringBuilder::<i32>::new();
            builder.extend(texts);
            Arc::new(builder.finish())
        }
    }
}

fn outcomes(rows: &[Option<Verdict<'_>>]) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<Int8Type>::new();
    builder.extend(rows.iter().map(|row| row.as_ref().map(|row| row.outcome().name())));
    Arc::new(builder.finish())
}

/// The kinds of repair of every row, and the values of rows that held several.
fn lists(rows: &[Option<Verdict<'_>>]) -> (ArrayRef, ArrayRef) {
    let mut repairs = ListBuilder::new(StringBuilder::new());
    let mut values = ListBuilder::new(StringBuilder::new());
    for row in rows {
        if let Some(row) = row {
            for repair in row.repairs() {
                repairs.values().append_value(repair.kind.name());
            }
            for value in row.values() {
                values.values().append_value(value);
            }
        }
        repairs.append(true);
        values.append(true);
    }
    (Arc::new(repairs.finish()), Arc::new(values.finish()))
}

fn feedback(rows: &[Option<Verdict<'_>>]) -> ArrayRef {
    let mut builder = StringBuilder::new();
    builder.extend(rows.iter().map(|row| row.as_ref().and_then(Verdict::feedback)));
    Arc::new(builder.finish())
}
