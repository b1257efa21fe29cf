//! Parquet files: each row group is a piece, or several if it is large.
//!
//! Pieces hold no rows. Each worker reads the rows of its piece with a reader of its own, so decoding is spread over all cores.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ColumnChunkMetaData;

use super::{Piece, PieceContent, PieceReader, ReadPosition};
use crate::failure::Failure;

/// A piece is about this many times as large as a unit of lines, before compression. Small row groups are slow to read.
const UNITS_PER_PIECE: u64 = 12;
/// How many rows are decoded and encoded at a time.
const BATCH_ROWS: usize = 8192;

/// The footer of a Parquet file, and how the file is divided.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) metadata: ArrowReaderMetadata,
    /// The same for reading strings as views of the decoded pages, which are not copied.
    views: ArrowReaderMetadata,
    parts: Vec<RowGroupPart>,
}

#[derive(Debug, Clone, Copy)]
struct RowGroupPart {
    slice: RowGroupSlice,
    /// The size before compression, in bytes.
    weight: u64,
    /// The size in the file, in bytes.
    compressed: u64,
}

/// Some consecutive rows of a row group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowGroupSlice {
    /// The index of the row group.
    pub(crate) group: usize,
    /// The first row in the row group.
    pub(crate) offset: usize,
    /// The number of rows.
    pub(crate) rows: usize,
}

impl ParquetFile {
    /// Reads the footer of a file, and divides its row groups into pieces. `unit` is the size of a unit of lines.
    pub(crate) fn open(path: &Path, unit: usize) -> Result<Arc<ParquetFile>, Failure> {
        let file = File::open(path).map_err(Failure::read(path))?;
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(Failure::invalid(path))?;
        let mut parts = Vec::new();
        for (group, about) in metadata.metadata().row_groups().iter().enumerate() {
            let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
            let (rows, bytes) = (unsigned(about.num_rows()), unsigned(about.total_byte_size()));
            let count = bytes.div_ceil(UNITS_PER_PIECE * unit.max(1) as u64).clamp(1, rows.max(1));
            let each = rows.div_ceil(count).max(1);
            let compressed = unsigned(about.compressed_size());
            for offset in (0..rows).step_by(to_usize(each)) {
                let taken = each.min(rows - offset);
                parts.push(RowGroupPart {
                    slice: RowGroupSlice { group, offset: to_usize(offset), rows: to_usize(taken) },
                    weight: bytes * taken / rows,
                    compressed: compressed * taken / rows,
                });
            }
        }
        let views = with_string_views(&metadata).unwrap_or_else(|| metadata.clone());
        Ok(Arc::new(ParquetFile { metadata, views, parts }))
    }

    /// Returns the row group whose columns can be copied for this slice: the slice must be the whole row group, and its bytes
    /// must be in this file.
    pub(crate) fn copyable_group(&self, slice: RowGroupSlice) -> Option<usize> {
        let group = self.metadata.metadata().row_group(slice.group);
        let is_whole =
            slice.offset == 0 && usize::try_from(group.num_rows()).is_ok_and(|rows| rows == slice.rows);
        (is_whole && group.columns().iter().all(is_copyable)).then_some(slice.group)
    }

    /// Reads rows lazily, batch by batch. Reads only the columns in `columns`, if they are given.
    ///
    /// `views` makes strings views of the decoded pages. The writer of Parquet accepts such columns in place of those of the
    /// schema; other writers do not.
    pub(crate) fn read_rows(
        &self,
        path: &Path,
        slice: RowGroupSlice,
        columns: Option<&[usize]>,
        views: bool,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, Failure>> + use<>, Failure> {
        let file = File::open(path).map_err(Failure::read(path))?;
        let metadata = if views { &self.views } else { &self.metadata };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
        let mask = match columns {
            Some(columns) => ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied()),
            None => ProjectionMask::all(),
        };
        let reader = builder
            .with_projection(mask)
            .with_row_groups(vec![slice.group])
            .with_offset(slice.offset)
            .with_limit(slice.rows)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(Failure::invalid(path))?;
        let invalid = Failure::invalid(path);
        Ok(reader.map(move |batch| batch.map_err(&invalid)))
    }
}

/// Returns metadata that reads string columns as views, or `None` if the file cannot be read that way.
fn with_string_views(metadata: &ArrowReaderMetadata) -> Option<ArrowReaderMetadata> {
    let schema = metadata.schema();
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        _ => Arc::clone(field),
    });
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).ok()
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Whether the bytes of a column are in this file, at plausible offsets.
fn is_copyable(column: &ColumnChunkMetaData) -> bool {
    let data = column.data_page_offset();
    let in_order =
        column.dictionary_page_offset().is_none_or(|dictionary| 0 < dictionary && dictionary < data);
    column.file_path().is_none() && data > 0 && in_order
}

/// Returns the pieces of a Parquet file.
pub(crate) struct RowGroupReader {
    file: Arc<ParquetFile>,
    position: ReadPosition,
}

impl RowGroupReader {
    /// Begins at a position.
    pub(crate) fn new(file: &Arc<ParquetFile>, position: ReadPosition) -> Self {
        RowGroupReader { file: Arc::clone(file), position }
    }
}

impl PieceReader for RowGroupReader {
    fn next_piece(&mut self) -> Result<Option<Piece>, Failure> {
        let index = usize::try_from(self.position.offset).ok();
        let Some(part) = index.and_then(|index| self.file.parts.get(index).copied()) else {
            return Ok(None);
        };
        let rows_before = self.position.rows;
        self.position.offset += 1;
        self.position.rows += part.slice.rows as u64;
        self.position.bytes_read += part.compressed;
        // The rows are in memory as they were decoded, and as they are encoded again.
        let weight = 2 * usize::try_from(part.weight).unwrap_or(usize::MAX / 2);
        let content = PieceContent::RowGroup(part.slice);
        Ok(Some(Piece { content, rows_before, weight, end: self.position }))
    }
}
