//! The footer of a Parquet file, merged from the footers of its units.
//!
//! Each unit is encoded as if it were a small file with one row group. The output gets the row groups of all units and one
//! footer for all of them. The manifest keeps the footers of the units, so a resumed run can still write that footer.

use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::OutputSpec;
use super::hex::{from_hex, to_hex};
use crate::table::is_replaceable_text;

/// The first and last bytes of a file.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// Where the first row group of a file begins.
const HEAD_BYTES: i64 = 4;
/// The bytes after the footer: its length and the magic.
const TAIL_BYTES: usize = 8;
/// The key of the Arrow schema in the metadata of a file.
const ARROW_SCHEMA: &str = "ARROW:schema";
/// Longer values get no dictionary: building one costs more than everything else.
const MAX_DICTIONARY_VALUE_BYTES: i64 = 64;

/// Chooses the properties of the output. Columns keep their compression, and strings that hardly repeat get no dictionary.
pub(super) fn choose_properties(schema: &Schema, input: Option<&ParquetMetaData>) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
        .set_compression(Compression::SNAPPY);
    match input.and_then(|input| input.row_groups().first()) {
        Some(group) => {
            for column in group.columns() {
                let path = column.column_path().clone();
                properties = properties
                    .set_column_compression(path.clone(), column.compression())
                    .set_column_dictionary_enabled(path, has_useful_dictionary(column));
            }
        }
        None => {
            for field in schema.fields().iter().filter(|field| is_replaceable_text(field.data_type())) {
                properties =
                    properties.set_column_dictionary_enabled(ColumnPath::from(field.name().as_str()), false);
            }
        }
    }
    properties.build()
}

/// Whether a column is written with a dictionary: all of it was, and its values are short.
fn has_useful_dictionary(column: &ColumnChunkMetaData) -> bool {
    let value_bytes = column.uncompressed_size() / column.num_values().max(1);
    let overflowed = column.page_encoding_stats_mask().is_some_and(|mask| mask.is_set(Encoding::PLAIN));
    value_bytes < MAX_DICTIONARY_VALUE_BYTES && column.dictionary_page_offset().is_some() && !overflowed
}

/// Extracts the footer from the end of a file with one row group.
pub(super) fn extract_footer(tail: &[u8]) -> String {
    let footer = tail.len().saturating_sub(TAIL_BYTES);
    let length = tail[footer..].first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    to_hex(&tail[footer.saturating_sub(length)..footer])
}

/// The row groups of a file, for its footer.
#[derive(Debug, Default)]
pub(super) struct RowGroups {
    list: Vec<RowGroupMetaData>,
    first: Option<FileMetaData>,
    rows: i64,
}

impl RowGroups {
    /// Adds the row group of a unit that begins at this position of the file.
    pub(super) fn add_unit(&mut self, note: &str, start: u64) -> Result<(), String> {
        let footer = from_hex(note).ok_or("the footer of a row group is not hexadecimal")?;
        self.add_footer(&footer, start).map_err(|error| error.to_string())
    }

    fn add_footer(&mut self, footer: &[u8], start: u64) -> parquet::errors::Result<()> {
        let metadata = ParquetMetaDataReader::decode_metadata(footer)?;
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let shift = start - HEAD_BYTES;
        for group in metadata.row_groups() {
            let mut builder = group.clone().into_builder();
            let columns = builder.take_columns().into_iter().map(|column| shift_column(column, shift));
            let columns: parquet::errors::Result<Vec<_>> = columns.collect();
            let ordinal = i16::try_from(self.list.len()).unwrap_or(i16::MAX);
            let builder = builder.set_column_metadata(columns?).set_file_offset(start).set_ordinal(ordinal);
            self.list.push(builder.build()?);
            self.rows += group.num_rows();
        }
        if self.first.is_none() {
            self.first = Some(metadata.file_metadata().clone());
        }
        Ok(())
    }

    /// Encodes the end of the file.
    pub(super) fn encode_footer(mut self, spec: &OutputSpec) -> Result<Vec<u8>, String> {
        if self.first.is_none() {
            // A file without rows still has a schema.
            let empty_file = spec.new_parquet_writer(Vec::new()).and_then(ArrowWriter::into_inner);
            let footer = extract_footer(&empty_file.map_err(|error| error.to_string())?);
            self.add_unit(&footer, MAGIC.len() as u64)?;
        }
        self.merge_footers(spec).map_err(|error| error.to_string())
    }

    fn merge_footers(self, spec: &OutputSpec) -> parquet::errors::Result<Vec<u8>> {
        let Some(first) = self.first else { return Ok(Vec::new()) };
        let written = first.key_value_metadata().cloned().unwrap_or_default();
        let mut metadata: Vec<KeyValue> =
            spec.metadata.iter().filter(|pair| pair.key != ARROW_SCHEMA).cloned().collect();
        metadata.extend(written.into_iter().filter(|pair| pair.key == ARROW_SCHEMA));
        let file = FileMetaData::new(
            first.version(),
            self.rows,
            first.created_by().map(str::to_owned),
            Some(metadata),
            first.schema_descr_ptr(),
            first.column_orders().cloned(),
        );
        let footer = ParquetMetaData::new(file, self.list);
        let mut out = Vec::new();
        ParquetMetaDataWriter::new(&mut out, &footer).finish()?;
        Ok(out)
    }
}

/// Adds `shift` to the positions of a column.
fn shift_column(column: ColumnChunkMetaData, shift: i64) -> parquet::errors::Result<ColumnChunkMetaData> {
    let (data, dictionary, index) =
        (column.data_page_offset(), column.dictionary_page_offset(), column.index_page_offset());
    column
        .into_builder()
        .set_data_page_offset(data + shift)
        .set_dictionary_page_offset(dictionary.map(|at| at + shift))
        .set_index_page_offset(index.map(|at| at + shift))
        .build()
}
