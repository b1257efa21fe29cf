//! Arrow files and streams: encodes record batches as messages, and writes the start and the end of a file.

use arrow_array::RecordBatch;
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions, write_message};
use arrow_ipc::{Block, FooterBuilder, MetadataVersion};
use arrow_schema::{ArrowError, DataType, Schema};
use flatbuffers::FlatBufferBuilder;

use super::{EncodedUnit, FooterNote, OutputSpec};
use crate::format::Format;

const MAGIC: &[u8] = b"ARROW1";
/// Messages start at multiples of this.
const ALIGNMENT: usize = 64;
/// The message that ends a stream.
const END_OF_STREAM: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Checks that batches of this schema can be encoded one by one. An Arrow file has one dictionary for all batches, but each row
/// group of a Parquet file has its own.
pub(super) fn check_dictionaries(schema: &Schema, from_row_groups: bool) -> Result<(), String> {
    let has = |field: &&std::sync::Arc<arrow_schema::Field>| has_dictionary(field.data_type());
    match schema.fields().iter().find(has).filter(|_| from_row_groups) {
        Some(field) => Err(format!(
            "the column {} has dictionaries, and an Arrow file has only one for all rows; write Parquet instead",
            field.name()
        )),
        None => Ok(()),
    }
}

fn has_dictionary(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, _) => true,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => has_dictionary(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_dictionary(field.data_type())),
        _ => false,
    }
}

/// Encodes the start of a file.
pub(super) fn encode_head(spec: &OutputSpec) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    if spec.format == Format::ArrowFile {
        out.extend_from_slice(MAGIC);
        out.resize(ALIGNMENT, 0);
    }
    let schema = encode_schema(&spec.schema, &mut DictionaryTracker::new(false));
    write_message(&mut out, schema, &IpcWriteOptions::default()).map_err(|error| error.to_string())?;
    Ok(out)
}

fn encode_schema(schema: &Schema, tracker: &mut DictionaryTracker) -> arrow_ipc::writer::EncodedData {
    let options = IpcWriteOptions::default();
    IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(schema, tracker, &options)
}

/// Encodes the batches of a unit. In a file, the first unit holds the dictionaries.
pub(super) fn encode_unit(
    spec: &OutputSpec,
    rows: &[RecordBatch],
    first: bool,
) -> Result<EncodedUnit, String> {
    encode_batches(spec, rows, first).map_err(|error| error.to_string())
}

#[expect(clippy::default_trait_access, reason = "the type is private to its crate")]
fn encode_batches(spec: &OutputSpec, rows: &[RecordBatch], first: bool) -> Result<EncodedUnit, ArrowError> {
    let options = IpcWriteOptions::default();
    let mut tracker = DictionaryTracker::new(false);
    // Encoding the schema assigns the ids of the dictionaries.
    encode_schema(&spec.schema, &mut tracker);
    let (mut bytes, mut blocks) = (Vec::new(), Vec::new());
    let shared = spec.format == Format::ArrowFile;
    for batch in rows {
        let (dictionaries, message) =
            IpcDataGenerator::default().encode(batch, &mut tracker, &options, &mut Default::default())?;
        let dictionaries =
            dictionaries.into_iter().filter(|_| first || !shared).map(|message| (true, message));
        for (dictionary, message) in dictionaries.chain([(false, message)]) {
            let (head, body) = write_message(&mut bytes, message, &options)?;
            blocks.push((
                dictionary,
                i32::try_from(head).unwrap_or(i32::MAX),
                i64::try_from(body).unwrap_or(i64::MAX),
            ));
        }
    }
    Ok(EncodedUnit::Bytes(bytes.into(), FooterNote::Arrow(blocks)))
}

/// The blocks of a file, for its footer.
#[derive(Debug, Default)]
pub(super) struct ArrowBlocks {
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl ArrowBlocks {
    /// Adds the messages of a unit that begins at this position of the file.
    pub(super) fn add_unit(&mut self, note: &[(bool, i32, i64)], mut start: u64) {
        for (dictionary, head, body) in note {
            let block = Block::new(i64::try_from(start).unwrap_or(i64::MAX), *head, *body);
            if *dictionary {
                self.dictionaries.push(block);
            } else {
                self.batches.push(block);
            }
            start += u64::from(head.unsigned_abs()) + body.unsigned_abs();
        }
    }

    /// Encodes the end of the file.
    pub(super) fn encode_footer(&self, spec: &OutputSpec) -> Vec<u8> {
        let mut out = END_OF_STREAM.to_vec();
        if spec.format == Format::ArrowStream {
            return out;
        }
        let mut builder = FlatBufferBuilder::new();
        let dictionaries = builder.create_vector(&self.dictionaries);
        let batches = builder.create_vector(&self.batches);
        let mut tracker = DictionaryTracker::new(false);
        let schema = IpcSchemaEncoder::new()
            .with_dictionary_tracker(&mut tracker)
            .schema_to_fb_offset(&mut builder, &spec.schema);
        let root = {
            let mut footer = FooterBuilder::new(&mut builder);
            footer.add_version(MetadataVersion::V5);
            footer.add_schema(schema);
            footer.add_dictionaries(dictionaries);
            footer.add_recordBatches(batches);
            footer.finish()
        };
        builder.finish(root, None);
        let data = builder.finished_data();
        out.extend_from_slice(data);
        out.extend_from_slice(&i32::try_from(data.len()).unwrap_or(i32::MAX).to_le_bytes());
        out.extend_from_slice(MAGIC);
        out
    }
}
