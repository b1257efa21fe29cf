//! Footers. Each unit becomes a row group as if it were alone in a small file; the file that is written gets the row group of
//! each, and one footer that tells of all of them.

use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::{Note, Target, from_hex, group, to_hex};

/// What such a file begins and ends with.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// The length of the magic.
const HEAD: i64 = 4;
/// The length of the footer and the magic, at the end.
const TAIL: usize = 8;
/// Where the schema of Arrow is kept.
const ARROW_SCHEMA: &str = "ARROW:schema";
/// Values that are longer on average are not worth a dictionary: building one costs more than all the rest.
const LONG_VALUE: i64 = 64;

/// Columns are compressed as they were, and texts that hardly repeat get no dictionary.
pub(super) fn properties(schema: &Schema, from: Option<&ParquetMetaData>) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
        .set_compression(Compression::SNAPPY);
    match from.and_then(|from| from.row_groups().first()) {
        Some(group) => {
            for column in group.columns() {
                let path = column.column_path().clone();
                properties = properties
                    .set_column_compression(path.clone(), column.compression())
                    .set_column_dictionary_enabled(path, has_words(column));
            }
        }
        None => {
            for field in schema.fields().iter().filter(|field| crate::table::is_text(field.data_type())) {
                properties =
                    properties.set_column_dictionary_enabled(ColumnPath::from(field.name().as_str()), false);
            }
        }
    }
    properties.build()
}

/// Whether a column is written as words of a dictionary: it was, all of it, and its values are short.
fn has_words(column: &ColumnChunkMetaData) -> bool {
    let each = column.uncompressed_size() / column.num_values().max(1);
    let overflowed = column.page_encoding_stats_mask().is_some_and(|mask| mask.is_set(Encoding::PLAIN));
    each < LONG_VALUE && column.dictionary_page_offset().is_some() && !overflowed
}

/// What the end of a small file has to say about its row group.
pub(super) fn note(tail: &[u8]) -> Note {
    let footer = tail.len().saturating_sub(TAIL);
    let length = tail[footer..].first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    Note::Parquet(to_hex(&tail[footer.saturating_sub(length)..footer]))
}

/// What the end of a file has to say.
#[derive(Debug, Default)]
pub(super) struct Groups {
    list: Vec<RowGroupMetaData>,
    first: Option<FileMetaData>,
    rows: i64,
}

impl Groups {
    /// Adds the row group that begins at this place of the file.
    pub(super) fn add(&mut self, note: &str, start: u64) -> Result<(), String> {
        let footer = from_hex(note).ok_or("a note about a row group is no hexadecimal")?;
        self.add_footer(&footer, start).map_err(|error| error.to_string())
    }

    fn add_footer(&mut self, footer: &[u8], start: u64) -> parquet::errors::Result<()> {
        let metadata = ParquetMetaDataReader::decode_metadata(footer)?;
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let by = start - HEAD;
        for group in metadata.row_groups() {
            let mut builder = group.clone().into_builder();
            let columns = builder.take_columns().into_iter().map(|column| moved(column, by));
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

    /// The end of the file.
    pub(super) fn footer(mut self, target: &Target) -> Result<Vec<u8>, String> {
        if self.first.is_none() {
            // No rows, and a schema all the same.
            let nothing = group::writer(Vec::new(), target).and_then(ArrowWriter::into_inner);
            let Note::Parquet(note) = note(&nothing.map_err(|error| error.to_string())?) else {
                unreachable!("it is Parquet")
            };
            self.add(&note, MAGIC.len() as u64)?;
        }
        self.write(target).map_err(|error| error.to_string())
    }

    fn write(self, target: &Target) -> parquet::errors::Result<Vec<u8>> {
        let Some(first) = self.first else { return Ok(Vec::new()) };
        let ours = first.key_value_metadata().cloned().unwrap_or_default();
        let mut about: Vec<KeyValue> =
            target.about.iter().filter(|pair| pair.key != ARROW_SCHEMA).cloned().collect();
        about.extend(ours.into_iter().filter(|pair| pair.key == ARROW_SCHEMA));
        let file = FileMetaData::new(
            first.version(),
            self.rows,
            first.created_by().map(str::to_owned),
            Some(about),
            first.schema_descr_ptr(),
            first.column_orders().cloned(),
        );
        let metadata = ParquetMetaData::new(file, self.list);
        let mut out = Vec::new();
        ParquetMetaDataWriter::new(&mut out, &metadata).finish()?;
        Ok(out)
    }
}

/// A column that stands elsewhere.
fn moved(column: ColumnChunkMetaData, by: i64) -> parquet::errors::Result<ColumnChunkMetaData> {
    let (data, dictionary, index) =
        (column.data_page_offset(), column.dictionary_page_offset(), column.index_page_offset());
    column
        .into_builder()
        .set_data_page_offset(data + by)
        .set_dictionary_page_offset(dictionary.map(|at| at + by))
        .set_index_page_offset(index.map(|at| at + by))
        .build()
}
