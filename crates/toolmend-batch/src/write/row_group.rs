//! A row group of a Parquet file, encoded column by column.
//!
//! A worker encodes a column from its first change on. Columns without changes are copied from the input as the bytes that
//! they are, without being read: most tables have more columns than calls. That is possible if the unit is a whole row group and
//! the columns of the output have the same types as those of the input.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use super::OutputSpec;
use super::append_file::AppendFile;
use super::parquet_footer::{MAGIC, extract_footer};
use crate::table::TableLayout;

/// The columns of a Parquet file that a layout uses. All others can be copied.
#[derive(Debug)]
pub(crate) struct UsedColumns {
    /// Their numbers, in ascending order.
    pub(crate) columns: Vec<usize>,
    /// The layout of a table that has only these columns.
    pub(crate) layout: TableLayout,
}

impl UsedColumns {
    /// Returns `None` if the output would have other columns than the input.
    pub(super) fn new(spec: &OutputSpec, input: &ParquetMetaData) -> Option<UsedColumns> {
        let (columns, layout) = spec.layout.as_ref()?.restrict_to_used();
        let (output, _) = spec.new_parquet_writer(io::sink()).ok()?.into_serialized_writer().ok()?;
        let input = input.file_metadata().schema_descr();
        (output.schema_descr().columns() == input.columns()).then_some(UsedColumns { columns, layout })
    }
}

/// Encodes a row group batch by batch.
pub(crate) struct RowGroupBuilder<'t> {
    spec: &'t OutputSpec,
    /// The row group of the input from which columns can be copied.
    copied_from: Option<usize>,
    /// The columns of the batches.
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

/// A column that is encoded if it changes.
struct ColumnBuilder {
    /// Its number in the output.
    number: usize,
    /// One for each of its leaves.
    writers: Vec<ArrowColumnWriter>,
    /// Batches that are not encoded, because nothing has changed so far.
    waiting: Vec<ArrayRef>,
    has_changed: bool,
}

impl std::fmt::Debug for RowGroupBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowGroupBuilder").field("copied_from", &self.copied_from).finish_non_exhaustive()
    }
}

impl<'t> RowGroupBuilder<'t> {
    /// Without `copied_from`, batches have all columns, and all columns are encoded.
    pub(super) fn new(spec: &'t OutputSpec, copied_from: Option<usize>) -> Result<RowGroupBuilder<'t>> {
        let (file, factory) = spec.new_parquet_writer(io::sink())?.into_serialized_writer()?;
        let mut writers = factory.create_column_writers(0)?.into_iter();
        let copied_from = copied_from.filter(|_| spec.used_columns.is_some());
        let mut columns = Vec::new();
        for (number, leaves) in count_leaves(file.schema_descr()).into_iter().enumerate() {
            let writers = writers.by_ref().take(leaves).collect();
            let has_changed = copied_from.is_none();
            columns.push(ColumnBuilder { number, writers, waiting: Vec::new(), has_changed });
        }
        if let (Some(_), Some(used)) = (copied_from, &spec.used_columns) {
            columns.retain(|column| used.columns.contains(&column.number));
        }
        Ok(RowGroupBuilder { spec, copied_from, columns, rows: 0 })
    }

    /// Returns the columns that batches must have, or `None` if they must have all.
    pub(crate) fn used_columns(&self) -> Option<&'t UsedColumns> {
        self.spec.used_columns.as_ref().filter(|_| self.copied_from.is_some())
    }

    /// Adds a batch: `read` as it was read, `cleaned` after cleaning. A column has changed if it is another array.
    pub(crate) fn add_batch(
        &mut self,
        read: &RecordBatch,
        cleaned: &RecordBatch,
    ) -> std::result::Result<(), String> {
        self.rows += cleaned.num_rows();
        for (index, column) in self.columns.iter_mut().enumerate() {
            let array = cleaned.column(index);
            column.has_changed |= !Arc::ptr_eq(read.column(index), array);
            column.waiting.push(Arc::clone(array));
            if column.has_changed {
                column.encode_waiting(self.spec).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Completes the row group.
    pub(crate) fn finish(self) -> std::result::Result<EncodedRowGroup, String> {
        let mut columns: Vec<_> = self.spec.schema.fields().iter().map(|_| None).collect();
        for column in self.columns.into_iter().filter(|column| column.has_changed) {
            let chunks = column.writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<_>>();
            columns[column.number] = Some(chunks.map_err(|error| error.to_string())?);
        }
        Ok(EncodedRowGroup { copied_from: self.copied_from, columns, rows: self.rows })
    }
}

impl ColumnBuilder {
    fn encode_waiting(&mut self, spec: &OutputSpec) -> Result<()> {
        for array in self.waiting.drain(..) {
            let leaves = compute_leaves(spec.schema.field(self.number), &array)?;
            for (writer, leaf) in self.writers.iter_mut().zip(&leaves) {
                writer.write(leaf)?;
            }
        }
        Ok(())
    }
}

/// Counts the leaves of each column.
fn count_leaves(schema: &SchemaDescriptor) -> Vec<usize> {
    let mut leaves = vec![0; schema.root_schema().get_fields().len()];
    (0..schema.num_columns()).for_each(|leaf| leaves[schema.get_column_root_idx(leaf)] += 1);
    leaves
}

/// A row group that is ready to be written.
#[derive(Debug)]
pub(crate) struct EncodedRowGroup {
    copied_from: Option<usize>,
    /// The encoded columns. `None` for a column that is copied.
    columns: Vec<Option<Vec<ArrowColumnChunk>>>,
    rows: usize,
}

/// The file from which columns are copied.
#[derive(Debug)]
pub(super) struct SourceFile<'o> {
    pub(super) file: &'o File,
    pub(super) metadata: &'o ParquetMetaData,
}

/// Why a row group could not be written.
#[derive(Debug)]
pub(super) enum RowGroupError {
    /// The output could not be written.
    Write(io::Error),
    /// The row group could not be encoded, or a column could not be copied.
    Encode(String),
}

impl EncodedRowGroup {
    /// Appends the row group to a file, unless it has no rows. Returns the CRC-32 of its bytes, and its footer.
    pub(super) fn append_to(
        self,
        file: &mut AppendFile,
        spec: &OutputSpec,
        source: Option<&SourceFile<'_>>,
    ) -> std::result::Result<(u32, String), RowGroupError> {
        let mut write_error = None;
        let splicer = RowGroupSplicer {
            file,
            head: MAGIC.len(),
            checksum: crc32fast::Hasher::new(),
            tail: None,
            write_error: &mut write_error,
        };
        let appended = self.splice(splicer, spec, source);
        appended.map_err(|error| {
            write_error.map_or_else(|| RowGroupError::Encode(error.to_string()), RowGroupError::Write)
        })
    }

    fn splice(
        self,
        splicer: RowGroupSplicer<'_>,
        spec: &OutputSpec,
        source: Option<&SourceFile<'_>>,
    ) -> Result<(u32, String)> {
        let (mut file, _) = spec.new_parquet_writer(splicer)?.into_serialized_writer()?;
        if self.rows > 0 {
            self.write_columns(&mut file, source)?;
        }
        // Everything after this is the footer.
        file.flush()?;
        file.inner_mut().tail = Some(Vec::new());
        file.finish()?;
        let splicer = file.inner_mut();
        let tail = splicer.tail.take().unwrap_or_default();
        Ok((std::mem::take(&mut splicer.checksum).finalize(), extract_footer(&tail)))
    }

    fn write_columns<W: Write + Send>(
        self,
        file: &mut SerializedFileWriter<W>,
        source: Option<&SourceFile<'_>>,
    ) -> Result<()> {
        let leaves = count_leaves(file.schema_descr());
        let mut group = file.next_row_group()?;
        let (mut leaf, source) = (0, source.zip(self.copied_from));
        for (encoded, leaves) in self.columns.into_iter().zip(leaves) {
            match (encoded, source) {
                (Some(chunks), _) => {
                    chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut group))?;
                }
                (None, Some((source, copied_from))) => {
                    let copied_from = source.metadata.row_group(copied_from);
                    for column in &copied_from.columns()[leaf..leaf + leaves] {
                        group.append_column(source.file, as_written(column, copied_from.num_rows()))?;
                    }
                }
                (None, None) => unreachable!("without a source, all columns are encoded"),
            }
            leaf += leaves;
        }
        group.close()?;
        Ok(())
    }
}

/// Describes a column of the input as if it had just been written.
fn as_written(column: &ColumnChunkMetaData, rows: i64) -> ColumnCloseResult {
    ColumnCloseResult {
        bytes_written: u64::try_from(column.compressed_size()).unwrap_or_default(),
        rows_written: u64::try_from(rows).unwrap_or_default(),
        metadata: column.clone(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    }
}

/// Receives a small Parquet file: drops its head, appends its row group to the output, and keeps its footer.
#[derive(Debug)]
struct RowGroupSplicer<'d> {
    file: &'d mut AppendFile,
    /// How many bytes of the head are still to come.
    head: usize,
    checksum: crc32fast::Hasher,
    tail: Option<Vec<u8>>,
    /// The error of the output. The Parquet writer in between turns it into one of its own.
    write_error: &'d mut Option<io::Error>,
}

impl Write for RowGroupSplicer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.head.min(bytes.len());
        self.head -= skipped;
        let kept = &bytes[skipped..];
        if let Some(tail) = &mut self.tail {
            tail.extend_from_slice(kept);
        } else {
            self.checksum.update(kept);
            if let Err(error) = self.file.append_slice(kept) {
                let kind = error.kind();
                *self.write_error = Some(error);
                return Err(kind.into());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
