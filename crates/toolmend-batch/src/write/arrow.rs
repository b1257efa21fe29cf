//! Record batches of Arrow files and streams.

use arrow_array::RecordBatch;
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions, write_message};
use arrow_ipc::{Block, FooterBuilder, MetadataVersion};
use arrow_schema::{ArrowError, DataType, Schema};
use flatbuffers::FlatBufferBuilder;

use super::{Encoded, Note, Target};
use crate::format::Format;

const MAGIC: &[u8] = b"ARROW1";
/// Messages begin at multiples of this.
const ALIGNMENT: usize = 64;
/// No more messages.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Whether batches of this schema stand for themselves. In a file there is one dictionary for all batches, and what comes
/// out of row groups has one for each.
pub(super) fn check(schema: &Schema, from_groups: bool) -> Result<(), String> {
    let has = |field: &&std::sync::Arc<arrow_schema::Field>| has_dictionary(field.data_type());
    match schema.fields().iter().find(has).filter(|_| from_groups) {
        Some(field) => Err(format!(
            "the column {} has a dictionary, which Arrow files share; write Parquet",
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

/// What a file begins with.
pub(super) fn head(target: &Target) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    if target.format == Format::ArrowFile {
        out.extend_from_slice(MAGIC);
        out.resize(ALIGNMENT, 0);
    }
    let schema = schema_message(&target.schema, &mut DictionaryTracker::new(false));
    write_message(&mut out, schema, &IpcWriteOptions::default()).map_err(|error| error.to_string())?;
    Ok(out)
}

fn schema_message(schema: &Schema, tracker: &mut DictionaryTracker) -> arrow_ipc::writer::EncodedData {
    let options = IpcWriteOptions::default();
    IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(schema, tracker, &options)
}

/// The batches of a unit. Dictionaries come with the first one of the file.
pub(super) fn encode(target: &Target, rows: &[RecordBatch], first: bool) -> Result<Encoded, String> {
    batches(target, rows, first).map_err(|error| error.to_string())
}

#[expect(clippy::default_trait_access, reason = "the type has no name outside of its crate")]
fn batches(target: &Target, rows: &[RecordBatch], first: bool) -> Result<Encoded, ArrowError> {
    let options = IpcWriteOptions::default();
    let mut tracker = DictionaryTracker::new(false);
    // The numbers of dictionaries are given out on the way through the schema.
    schema_message(&target.schema, &mut tracker);
    let (mut bytes, mut blocks) = (Vec::new(), Vec::new());
    let shared = target.format == Format::ArrowFile;
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
    Ok(Encoded::Bytes(bytes.into(), Note::Arrow(blocks)))
}

/// What the end of a file has to say.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl Blocks {
    /// Adds messages that begin at this place of the file.
    pub(super) fn add(&mut self, note: &[(bool, i32, i64)], mut start: u64) {
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

    /// The end of the file.
    pub(super) fn footer(&self, target: &Target) -> Vec<u8> {
        let mut out = END.to_vec();
        if target.format == Format::ArrowStream {
            return out;
        }
        let mut builder = FlatBufferBuilder::new();
        let dictionaries = builder.create_vector(&self.dictionaries);
        let batches = builder.create_vector(&self.batches);
        let mut tracker = DictionaryTracker::new(false);
        let schema = IpcSchemaEncoder::new()
            .with_dictionary_tracker(&mut tracker)
            .schema_to_fb_offset(&mut builder, &target.schema);
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
