//! Parquet files: row groups, large ones in parts. Workers read them, each with a reader of its own.

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

use super::{Cut, Mark, Piece, Source};
use crate::failure::Failure;

/// How many units of text a piece holds before it was compressed, about: small row groups are slow to read.
const UNITS: u64 = 12;
/// Rows that are decoded and encoded at a time.
const BATCH_ROWS: usize = 8192;

/// What is known about a Parquet file before its rows are read.
#[derive(Debug)]
pub(crate) struct Parquet {
    pub(crate) metadata: ArrowReaderMetadata,
    /// The same with texts as views of the pages that they came in, which are not copied.
    views: ArrowReaderMetadata,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    group: usize,
    offset: usize,
    rows: usize,
    weight: u64,
    /// Compressed bytes of the file.
    read: u64,
}

impl Parquet {
    /// Reads the footer.
    pub(crate) fn open(path: &Path, unit: usize) -> Result<Arc<Parquet>, Failure> {
        let file = File::open(path).map_err(Failure::read(path))?;
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(Failure::broken(path))?;
        let mut parts = Vec::new();
        for (group, about) in metadata.metadata().row_groups().iter().enumerate() {
            let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
            let (rows, bytes) = (unsigned(about.num_rows()), unsigned(about.total_byte_size()));
            let count = bytes.div_ceil(UNITS * unit.max(1) as u64).clamp(1, rows.max(1));
            let each = rows.div_ceil(count).max(1);
            let packed = unsigned(about.compressed_size());
            for offset in (0..rows).step_by(whole(each)) {
                let taken = each.min(rows - offset);
                parts.push(Part {
                    group,
                    offset: whole(offset),
                    rows: whole(taken),
                    weight: bytes * taken / rows,
                    read: packed * taken / rows,
                });
            }
        }
        let views = as_views(&metadata).unwrap_or_else(|| metadata.clone());
        Ok(Arc::new(Parquet { metadata, views, parts }))
    }
}

/// The file with its columns of texts read as views; nothing where it cannot be read so.
fn as_views(metadata: &ArrowReaderMetadata) -> Option<ArrowReaderMetadata> {
    let schema = metadata.schema();
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        _ => Arc::clone(field),
    });
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).ok()
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The parts one after the other.
pub(crate) struct Groups {
    parquet: Arc<Parquet>,
    mark: Mark,
}

impl Groups {
    pub(crate) fn new(parquet: &Arc<Parquet>, mark: Mark) -> Self {
        Groups { parquet: Arc::clone(parquet), mark }
    }
}

impl Source for Groups {
    fn next(&mut self) -> Result<Option<Cut>, Failure> {
        let part = usize::try_from(self.mark.at).ok().and_then(|at| self.parquet.parts.get(at).copied());
        let Some(part) = part else { return Ok(None) };
        let rows_before = self.mark.rows;
        self.mark.at += 1;
        self.mark.rows += part.rows as u64;
        self.mark.read += part.read;
        let piece = Piece::Group(GroupRows { group: part.group, offset: part.offset, count: part.rows });
        // Decoded, mended and encoded again.
        let weight = 2 * usize::try_from(part.weight).unwrap_or(usize::MAX / 2);
        Ok(Some(Cut { piece, rows_before, weight, end: self.mark }))
    }
}

impl Parquet {
    /// The row group that these are all rows of, if its columns can be copied as they are.
    pub(crate) fn copied_from(&self, rows: GroupRows) -> Option<usize> {
        let group = self.metadata.metadata().row_group(rows.group);
        let whole =
            rows.offset == 0 && usize::try_from(group.num_rows()).is_ok_and(|count| count == rows.count);
        (whole && group.columns().iter().all(is_copyable)).then_some(rows.group)
    }
}

/// Whether the bytes of a column are in this file, and where it says.
fn is_copyable(column: &ColumnChunkMetaData) -> bool {
    let data = column.data_page_offset();
    let in_order = column.dictionary_page_offset().is_none_or(|words| 0 < words && words < data);
    column.file_path().is_none() && data > 0 && in_order
}

/// Rows of a row group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupRows {
    pub(crate) group: usize,
    pub(crate) offset: usize,
    pub(crate) count: usize,
}

/// Rows of a row group, a batch at a time and as they are asked for; of some columns where they are named. The writer of Parquet
/// takes texts as views, too.
pub(crate) fn rows_of(
    path: &Path,
    parquet: &Parquet,
    GroupRows { group, offset, count: rows }: GroupRows,
    columns: Option<&[usize]>,
    views: bool,
) -> Result<impl Iterator<Item = Result<RecordBatch, Failure>>, Failure> {
    let file = File::open(path).map_err(Failure::read(path))?;
    let metadata = if views { &parquet.views } else { &parquet.metadata };
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
    let mask = match columns {
        Some(columns) => ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied()),
        None => ProjectionMask::all(),
    };
    let reader = builder
        .with_projection(mask)
        .with_row_groups(vec![group])
        .with_offset(offset)
        .with_limit(rows)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(Failure::broken(path))?;
    Ok(reader.map(|batch| batch.map_err(Failure::broken(path))))
}
