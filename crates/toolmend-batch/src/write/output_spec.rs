//! What a file is written as, and how its units are encoded.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use serde::{Deserialize, Serialize};

use super::row_group::{EncodedRowGroup, RowGroupBuilder, UsedColumns};
use super::{EditedBytes, arrow, lines, parquet_footer};
use crate::format::Format;
use crate::table::{JsonRows, TableLayout};

/// What a file is written as.
#[derive(Debug)]
pub(crate) struct OutputSpec {
    pub(crate) format: Format,
    /// The columns, also if lines become a table.
    pub(crate) schema: SchemaRef,
    /// Where the calls are, if the input is a table.
    pub(crate) layout: Option<TableLayout>,
    /// The columns that are read if all others are copied.
    pub(super) used_columns: Option<UsedColumns>,
    pub(super) properties: WriterProperties,
    /// The key-value metadata of the input, which is passed on.
    pub(super) metadata: Vec<KeyValue>,
    /// The file that is cleaned.
    pub(super) input: PathBuf,
    /// The footer of the input, if it is a Parquet file.
    pub(super) input_footer: Option<Arc<ParquetMetaData>>,
}

/// The rows of a unit after cleaning.
#[derive(Debug)]
pub(crate) enum CleanedRows {
    Lines(EditedBytes),
    Batches(Vec<RecordBatch>),
}

/// A unit that is ready to be written.
#[derive(Debug)]
pub(crate) enum EncodedUnit {
    /// Its bytes, and what the end of the file must say about them.
    Bytes(EditedBytes, FooterNote),
    /// The columns of a row group.
    RowGroup(EncodedRowGroup),
}

/// What the end of a file must say about a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FooterNote {
    /// Nothing.
    #[serde(rename = "none")]
    None,
    /// The footer of a Parquet file that holds nothing but this row group, in hexadecimal.
    #[serde(rename = "parquet")]
    Parquet(String),
    /// The messages of an Arrow file: whether the message is a dictionary, and the lengths of its head and its body.
    #[serde(rename = "arrow")]
    Arrow(Vec<(bool, i32, i64)>),
}

impl OutputSpec {
    /// Describes the output for `input`. Fails if the format cannot hold its columns.
    pub(crate) fn new(
        format: Format,
        input: &Path,
        schema: SchemaRef,
        layout: Option<TableLayout>,
        input_footer: Option<&Arc<ParquetMetaData>>,
    ) -> Result<OutputSpec, String> {
        let footer = input_footer.map(Arc::as_ref);
        if format == Format::ArrowFile || format == Format::ArrowStream {
            arrow::check_dictionaries(&schema, footer.is_some())?;
        }
        let metadata = footer.and_then(|footer| footer.file_metadata().key_value_metadata().cloned());
        let mut spec = OutputSpec {
            format,
            layout,
            used_columns: None,
            properties: parquet_footer::choose_properties(&schema, footer),
            metadata: metadata.unwrap_or_default(),
            input: input.to_owned(),
            input_footer: input_footer.cloned(),
            schema,
        };
        if let (Format::Parquet, Some(footer)) = (format, footer) {
            spec.used_columns = UsedColumns::new(&spec, footer);
        }
        Ok(spec)
    }

    /// Encodes a unit. The first unit of a file may hold dictionaries that the others refer to.
    pub(crate) fn encode_unit(&self, rows: CleanedRows, is_first: bool) -> Result<EncodedUnit, String> {
        if let Format::Lines(compression) = self.format {
            let text = match rows {
                CleanedRows::Lines(text) => text,
                CleanedRows::Batches(batches) => write_json_lines(&batches).into(),
            };
            let bytes = lines::compress(text, compression).map_err(|error| error.to_string())?;
            return Ok(EncodedUnit::Bytes(bytes, FooterNote::None));
        }
        let batches = match rows {
            CleanedRows::Batches(batches) => batches,
            CleanedRows::Lines(text) => vec![self.lines_to_batch(&text.to_bytes())?],
        };
        if self.format == Format::Parquet {
            let mut group = self.begin_row_group(None)?;
            batches.iter().try_for_each(|batch| group.add_batch(batch, batch))?;
            return Ok(EncodedUnit::RowGroup(group.finish()?));
        }
        arrow::encode_unit(self, &batches, is_first)
    }

    /// Begins a row group that is encoded batch by batch. `copied_from` is the row group of the input from which unchanged
    /// columns can be copied.
    pub(crate) fn begin_row_group(&self, copied_from: Option<usize>) -> Result<RowGroupBuilder<'_>, String> {
        RowGroupBuilder::new(self, copied_from).map_err(|error| error.to_string())
    }

    /// Creates a writer of Parquet files like the output.
    pub(super) fn new_parquet_writer<W: Write + Send>(
        &self,
        out: W,
    ) -> parquet::errors::Result<ArrowWriter<W>> {
        ArrowWriter::try_new(out, Arc::clone(&self.schema), Some(self.properties.clone()))
    }

    /// Turns lines into a table with one column. A line that is not UTF-8 becomes null.
    fn lines_to_batch(&self, text: &[u8]) -> Result<RecordBatch, String> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n').map(|line| std::str::from_utf8(line).ok());
        self.new_batch(lines.collect())
    }

    /// Creates rows that are null, in a table with one column.
    pub(crate) fn null_rows(&self, count: usize) -> Result<RecordBatch, String> {
        self.new_batch(vec![None; count])
    }

    fn new_batch(&self, rows: Vec<Option<&str>>) -> Result<RecordBatch, String> {
        let column = Arc::new(StringArray::from(rows));
        RecordBatch::try_new(Arc::clone(&self.schema), vec![column]).map_err(|error| error.to_string())
    }
}

/// Writes a table as lines of JSON.
fn write_json_lines(batches: &[RecordBatch]) -> Vec<u8> {
    let (mut out, mut locations) = (String::new(), Vec::new());
    for batch in batches {
        let columns: Vec<usize> = (0..batch.num_columns()).collect();
        let rows = JsonRows::new(batch, &columns);
        for row in 0..batch.num_rows() {
            locations.clear();
            rows.write_row(row, &mut out, &mut locations);
            out.push('\n');
        }
    }
    out.into_bytes()
}
