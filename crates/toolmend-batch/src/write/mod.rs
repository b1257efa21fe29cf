//! Units of output. Each stands for itself, so that workers make them side by side and a run can go on behind any of
//! them: a gzip member, a zstd frame, a row group, a record batch.

mod arrow;
mod body;
mod disk;
mod group;
mod lines;
mod output;
mod parquet;

use ::parquet::file::metadata::{KeyValue, ParquetMetaData};
use ::parquet::file::properties::WriterProperties;
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use self::body::Body;
pub(crate) use self::group::{Columns, Group, Narrow, Origin};
pub(crate) use self::output::{Output, checksum, part_of};
use crate::format::{Format, Packing};
use crate::table::{Rows, TableReading};

/// What a file is written as.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) format: Format,
    /// The columns, also of lines that become a table.
    pub(crate) schema: SchemaRef,
    /// How rows of tables are read.
    pub(crate) reading: Option<TableReading>,
    /// The same without the columns that can be copied.
    pub(crate) narrow: Option<Narrow>,
    pub(crate) properties: Arc<WriterProperties>,
    /// What the file says about itself, as the one that it was made from did.
    pub(crate) about: Vec<KeyValue>,
    /// The file that is cleaned.
    pub(crate) input: PathBuf,
    /// Its footer, where it is Parquet.
    pub(crate) footer: Option<Arc<ParquetMetaData>>,
}

/// The rows of a unit.
#[derive(Debug)]
pub(crate) enum Made {
    Text(Body),
    Rows(Vec<RecordBatch>),
}

/// A unit as it is written.
#[derive(Debug)]
pub(crate) enum Encoded {
    /// Its bytes, and what the end of the file has to say about them.
    Bytes(Body, Note),
    /// Columns of Parquet.
    Group(Columns),
}

/// What is kept of a unit for the end of its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Note {
    /// Nothing.
    #[serde(rename = "none")]
    None,
    /// The footer of a Parquet file with this row group alone, in hexadecimal.
    #[serde(rename = "parquet")]
    Parquet(String),
    /// The messages of an Arrow file: whether it is a dictionary, and the lengths of head and body.
    #[serde(rename = "arrow")]
    Arrow(Vec<(bool, i32, i64)>),
}

impl Target {
    pub(crate) fn new(
        format: Format,
        input: &Path,
        schema: SchemaRef,
        reading: Option<TableReading>,
        footer: Option<&Arc<ParquetMetaData>>,
    ) -> Result<Target, String> {
        let from = footer.map(Arc::as_ref);
        if format == Format::ArrowFile || format == Format::ArrowStream {
            arrow::check(&schema, from.is_some())?;
        }
        let properties = Arc::new(parquet::properties(&schema, from));
        let about =
            from.and_then(|from| from.file_metadata().key_value_metadata().cloned()).unwrap_or_default();
        let (input, footer) = (input.to_owned(), footer.cloned());
        let mut target = Target { format, schema, reading, narrow: None, properties, about, input, footer };
        if let (Format::Parquet, Some(from)) = (format, from) {
            target.narrow = Narrow::new(&target, from);
        }
        Ok(target)
    }

    /// The bytes of a unit. The first of a file may hold what the others refer to.
    pub(crate) fn encode(&self, made: Made, first: bool) -> Result<Encoded, String> {
        match (self.format, made) {
            (Format::Lines(packing), made) => {
                let text = match made {
                    Made::Text(text) => text,
                    Made::Rows(rows) => json_lines(&rows).into(),
                };
                let body = lines::packed(text, packing).map_err(|error| error.to_string())?;
                Ok(Encoded::Bytes(body, Note::None))
            }
            (format, made) => {
                let rows = match made {
                    Made::Rows(rows) => rows,
                    Made::Text(text) => vec![self.one_column(&text.whole())?],
                };
                match format {
                    Format::Parquet => {
                        let mut group = self.group(None)?;
                        rows.iter().try_for_each(|batch| group.add(batch, batch))?;
                        Ok(Encoded::Group(group.end()?))
                    }
                    _ => arrow::encode(self, &rows, first),
                }
            }
        }
    }

    /// A row group, to be made batch by batch, with columns of a row group that they can be copied from.
    pub(crate) fn group(&self, from: Option<usize>) -> Result<Group<'_>, String> {
        Group::new(self, from).map_err(|error| error.to_string())
    }

    /// Lines as a table of one column. What is no text has no place there: its row is null.
    fn one_column(&self, text: &[u8]) -> Result<RecordBatch, String> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n').map(|line| std::str::from_utf8(line).ok());
        self.column(lines.collect())
    }

    /// Rows of a table of one column that hold nothing.
    pub(crate) fn nulls(&self, count: usize) -> Result<RecordBatch, String> {
        self.column(vec![None; count])
    }

    fn column(&self, rows: Vec<Option<&str>>) -> Result<RecordBatch, String> {
        let column = Arc::new(StringArray::from(rows));
        RecordBatch::try_new(Arc::clone(&self.schema), vec![column]).map_err(|error| error.to_string())
    }
}

/// A table as lines.
fn json_lines(batches: &[RecordBatch]) -> Vec<u8> {
    let (mut out, mut leaves) = (String::new(), Vec::new());
    for batch in batches {
        let columns: Vec<usize> = (0..batch.num_columns()).collect();
        let rows = Rows::new(batch, &columns);
        for row in 0..batch.num_rows() {
            leaves.clear();
            rows.write(row, &mut out, &mut leaves);
            out.push('\n');
        }
    }
    out.into_bytes()
}

/// A file of lines without lines.
pub(crate) fn nothing(packing: Packing) -> std::io::Result<Body> {
    lines::packed(Body::default(), packing)
}

/// Bytes as text.
fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|half| char::from(b"0123456789abcdef"[usize::from(half)]))
        .collect()
}

/// The bytes of such a text.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let half = |digit: u8| char::from(digit).to_digit(16).and_then(|half| u8::try_from(half).ok());
    text.as_bytes().chunks(2).map(|pair| Some(half(pair[0])? << 4 | half(*pair.get(1)?)?)).collect()
}
