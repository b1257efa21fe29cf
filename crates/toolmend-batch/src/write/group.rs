//! A row group that is made column by column.
//!
//! A worker encodes the columns in which something changed. All others are copied from the file that is cleaned as they are,
//! without being read: most tables have more columns than calls.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use super::disk::Disk;
use super::parquet::{MAGIC, note};
use super::{Note, Target};
use crate::table::TableReading;

/// The columns of a Parquet file that are looked at, where all others can be copied.
#[derive(Debug)]
pub(crate) struct Narrow {
    pub(crate) columns: Vec<usize>,
    /// How a table is read that has only these.
    pub(crate) reading: TableReading,
}

impl Narrow {
    /// Nothing where a column would not be written as it stands in the file that it comes from.
    pub(super) fn new(target: &Target, from: &ParquetMetaData) -> Option<Narrow> {
        let (columns, reading) = target.reading.as_ref()?.narrowed();
        let (ours, _) = writer(io::sink(), target).ok()?.into_serialized_writer().ok()?;
        let theirs = from.file_metadata().schema_descr();
        (ours.schema_descr().columns() == theirs.columns()).then_some(Narrow { columns, reading })
    }
}

/// A row group that is being made, batch by batch.
pub(crate) struct Group<'t> {
    target: &'t Target,
    /// The row group that columns can be copied from.
    from: Option<usize>,
    /// The columns of the batches.
    columns: Vec<Column>,
    rows: usize,
}

/// A column that may have to be made.
struct Column {
    place: usize,
    /// One for each of its leaves.
    writers: Vec<ArrowColumnWriter>,
    /// What came before anything changed.
    waiting: Vec<ArrayRef>,
    /// Whether it has to be made.
    changed: bool,
}

impl std::fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group").field("from", &self.from).finish_non_exhaustive()
    }
}

impl<'t> Group<'t> {
    /// `from` is the row group that columns can be copied from. Without one, batches have all columns.
    pub(super) fn new(target: &'t Target, from: Option<usize>) -> Result<Group<'t>> {
        let (file, factory) = writer(io::sink(), target)?.into_serialized_writer()?;
        let mut writers = factory.create_column_writers(0)?.into_iter();
        let from = from.filter(|_| target.narrow.is_some());
        let mut columns = Vec::new();
        for (place, leaves) in leaves_of_roots(file.schema_descr()).into_iter().enumerate() {
            let writers = writers.by_ref().take(leaves).collect();
            columns.push(Column { place, writers, waiting: Vec::new(), changed: from.is_none() });
        }
        if let (Some(_), Some(narrow)) = (from, &target.narrow) {
            columns.retain(|column| narrow.columns.contains(&column.place));
        }
        Ok(Group { target, from, columns, rows: 0 })
    }

    /// The columns that batches must have, where they are not all.
    pub(crate) fn narrow(&self) -> Option<&'t Narrow> {
        self.target.narrow.as_ref().filter(|_| self.from.is_some())
    }

    /// Adds a batch, as it came and as it is now.
    pub(crate) fn add(&mut self, came: &RecordBatch, made: &RecordBatch) -> std::result::Result<(), String> {
        self.rows += made.num_rows();
        for (at, column) in self.columns.iter_mut().enumerate() {
            let array = made.column(at);
            column.changed |= !Arc::ptr_eq(came.column(at), array);
            column.waiting.push(Arc::clone(array));
            if column.changed {
                column.encode(self.target).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    pub(crate) fn end(self) -> std::result::Result<Columns, String> {
        let mut list: Vec<_> = self.target.schema.fields().iter().map(|_| None).collect();
        for column in self.columns.into_iter().filter(|column| column.changed) {
            let chunks = column.writers.into_iter().map(ArrowColumnWriter::close).collect::<Result<_>>();
            list[column.place] = Some(chunks.map_err(|error| error.to_string())?);
        }
        Ok(Columns { from: self.from, list, rows: self.rows })
    }
}

impl Column {
    fn encode(&mut self, target: &Target) -> Result<()> {
        for array in self.waiting.drain(..) {
            let leaves = compute_leaves(target.schema.field(self.place), &array)?;
            for (writer, leaf) in self.writers.iter_mut().zip(&leaves) {
                writer.write(leaf)?;
            }
        }
        Ok(())
    }
}

/// How many leaves each column has.
fn leaves_of_roots(schema: &SchemaDescriptor) -> Vec<usize> {
    let mut leaves = vec![0; schema.root_schema().get_fields().len()];
    (0..schema.num_columns()).for_each(|leaf| leaves[schema.get_column_root_idx(leaf)] += 1);
    leaves
}

/// The columns of a row group: those that were made, and nothing in the place of those that are copied.
#[derive(Debug)]
pub(crate) struct Columns {
    from: Option<usize>,
    list: Vec<Option<Vec<ArrowColumnChunk>>>,
    rows: usize,
}

/// The file that columns are copied from.
#[derive(Debug)]
pub(crate) struct Origin<'o> {
    pub(crate) file: &'o File,
    pub(crate) metadata: &'o ParquetMetaData,
}

/// Why a row group is not in its file.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// The disk did not take it.
    Disk(io::Error),
    /// It cannot be made, or not be copied.
    Group(String),
}

impl Columns {
    /// Adds the row group to a file; without rows there is none. Tells the checksum of its bytes, and what the footer has to say about it.
    pub(super) fn write(
        self,
        disk: &mut Disk,
        target: &Target,
        origin: Option<&Origin<'_>>,
    ) -> std::result::Result<(u32, Note), Unwritten> {
        let mut failed = None;
        let checksum = crc32fast::Hasher::new();
        let splice = Splice { disk, head: MAGIC.len(), checksum, tail: None, failed: &mut failed };
        let written = self.splice(splice, target, origin);
        written.map_err(|error| failed.map_or_else(|| Unwritten::Group(error.to_string()), Unwritten::Disk))
    }

    fn splice(self, splice: Splice<'_>, target: &Target, origin: Option<&Origin<'_>>) -> Result<(u32, Note)> {
        let (mut file, _) = writer(splice, target)?.into_serialized_writer()?;
        if self.rows > 0 {
            self.write_group(&mut file, origin)?;
        }
        // What is still to come is the footer.
        file.flush()?;
        file.inner_mut().tail = Some(Vec::new());
        file.finish()?;
        let splice = file.inner_mut();
        let tail = splice.tail.take().unwrap_or_default();
        Ok((std::mem::take(&mut splice.checksum).finalize(), note(&tail)))
    }

    fn write_group<W: Write + Send>(
        self,
        file: &mut SerializedFileWriter<W>,
        origin: Option<&Origin<'_>>,
    ) -> Result<()> {
        let leaves = leaves_of_roots(file.schema_descr());
        let mut group = file.next_row_group()?;
        let (mut leaf, source) = (0, origin.zip(self.from));
        for (made, leaves) in self.list.into_iter().zip(leaves) {
            match (made, source) {
                (Some(chunks), _) => {
                    chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut group))?;
                }
                (None, Some((origin, from))) => {
                    let from = origin.metadata.row_group(from);
                    for column in &from.columns()[leaf..leaf + leaves] {
                        group.append_column(origin.file, as_written(column, from.num_rows()))?;
                    }
                }
                (None, None) => unreachable!("columns are copied from somewhere"),
            }
            leaf += leaves;
        }
        group.close()?;
        Ok(())
    }
}

/// A column as if it had been written just now.
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

/// A writer of files like the one that is made.
pub(super) fn writer<W: Write + Send>(out: W, target: &Target) -> Result<ArrowWriter<W>> {
    ArrowWriter::try_new(out, Arc::clone(&target.schema), Some(target.properties.as_ref().clone()))
}

/// A small file on its way into a larger one: its head is dropped, its row group appended, its footer kept.
#[derive(Debug)]
struct Splice<'d> {
    disk: &'d mut Disk,
    /// How much of the head is still to come.
    head: usize,
    checksum: crc32fast::Hasher,
    tail: Option<Vec<u8>>,
    /// What the disk said; the writer in between makes other errors of it.
    failed: &'d mut Option<io::Error>,
}

impl Write for Splice<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.head.min(bytes.len());
        self.head -= skipped;
        let kept = &bytes[skipped..];
        if let Some(tail) = &mut self.tail {
            tail.extend_from_slice(kept);
        } else {
            self.checksum.update(kept);
            if let Err(error) = self.disk.add(kept) {
                let kind = error.kind();
                *self.failed = Some(error);
                return Err(kind.into());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
