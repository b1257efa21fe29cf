//! What is decided about a file before its first row is worked on.

pub(crate) mod files;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use toolmend_json::Document;

use self::files::Pair;
use crate::buffers::Pool;
use crate::failure::Failure;
use crate::format::Format;
use crate::layout::{Fields, Layout, Reading};
use crate::read::{self, FileBatches, Groups, Lines, Mark, Parquet, Sizes, Source, StreamBatches};
use crate::table::{TableReading, unwritable};
use crate::write::Target;

/// The name of the column of a table that is made of lines.
const ROW: &str = "row";

/// One file of a run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Its place in the run.
    pub(crate) index: usize,
    pub(crate) pair: Pair,
    /// Its name for messages and rejects.
    pub(crate) name: String,
    pub(crate) contents: Contents,
    pub(crate) target: Target,
    /// Longer lines are passed on unread.
    pub(crate) longest: usize,
    /// How much text a unit holds.
    pub(crate) unit: usize,
}

/// What a file holds and how its rows are read.
#[derive(Debug)]
pub(crate) enum Contents {
    /// Lines that are answered.
    Records,
    /// Lines that are edited.
    Lines(Reading),
    /// Rows of a Parquet file.
    Parquet(Arc<Parquet>),
    /// Batches of an Arrow file or stream.
    Arrow,
}

/// How rows of all files are to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) layout: Layout,
    pub(crate) fields: &'a Fields,
    pub(crate) longest: usize,
    pub(crate) unit: usize,
}

impl Plan {
    pub(crate) fn new(index: usize, pair: Pair, wanted: Wanted<'_>) -> Result<Plan, Failure> {
        let name = pair.from.display().to_string();
        let (contents, schema) = match pair.format {
            Format::Lines(packing) => {
                let first = read::first_row(&pair.from, packing)?;
                let contents =
                    lines(first.as_deref(), wanted).map_err(|why| Failure::Broken(pair.from.clone(), why))?;
                (contents, None)
            }
            Format::Parquet => {
                let parquet = Parquet::open(&pair.from, wanted.unit)?;
                let schema = Arc::clone(parquet.metadata.schema());
                (Contents::Parquet(parquet), Some(schema))
            }
            Format::ArrowFile => (Contents::Arrow, Some(read::arrow_schema(&pair.from)?)),
            Format::ArrowStream => (Contents::Arrow, Some(read::stream_schema(&pair.from)?)),
        };
        let target = target(&pair, &contents, schema, wanted)
            .map_err(|why| Failure::Broken(pair.from.clone(), why))?;
        Ok(Plan { index, pair, name, contents, target, longest: wanted.longest, unit: wanted.unit })
    }
    /// Opens the file behind a mark.
    pub(crate) fn open(&self, mark: Mark, pool: &Arc<Pool>) -> Result<Box<dyn Source>, Failure> {
        let path = &self.pair.from;
        Ok(match (&self.contents, self.pair.format) {
            (Contents::Parquet(parquet), _) => Box::new(Groups::new(parquet, mark)),
            (_, Format::ArrowFile) => Box::new(FileBatches::open(path, mark)?),
            (_, Format::ArrowStream) => Box::new(StreamBatches::open(path, mark)?),
            (_, Format::Lines(packing)) => {
                let sizes = Sizes { longest: self.longest, unit: self.unit };
                Box::new(Lines::open(path, packing, sizes, mark, Arc::clone(pool))?)
            }
            (_, Format::Parquet) => unreachable!("its contents are those of a Parquet file"),
        })
    }
}

/// How lines are read, by what was asked for or by the first of them.
fn lines(first: Option<&[u8]>, wanted: Wanted<'_>) -> Result<Contents, String> {
    let layout = match wanted.layout {
        Layout::Auto if wanted.fields.column.is_some() => Layout::Column,
        Layout::Auto => match first.map(|row| (row, Document::parse(&row))) {
            None => Layout::Chat,
            Some((_, Some(doc))) if doc.root().is_object() => {
                let root = doc.root();
                Layout::of_members(|name| root.get(name).is_some()).ok_or_else(|| {
                    let names: Vec<_> = root.items().map(|item| item.key().into_owned()).collect();
                    format!("cannot tell the layout of rows with {}; say --layout", names.join(", "))
                })?
            }
            Some(_) => {
                return Err(
                    "the first row is no JSON object, so that its layout cannot be told; say --layout"
                        .to_owned(),
                );
            }
        },
        layout => layout,
    };
    if layout == Layout::Records {
        return Ok(Contents::Records);
    }
    Ok(Contents::Lines(Reading { layout, fields: wanted.fields.clone() }))
}

fn target(
    pair: &Pair,
    contents: &Contents,
    schema: Option<SchemaRef>,
    wanted: Wanted<'_>,
) -> Result<Target, String> {
    let Some(schema) = schema else {
        let column = Field::new(ROW, DataType::Utf8, true);
        return Target::new(pair.target, &pair.from, Arc::new(Schema::new(vec![column])), None, None);
    };
    if !pair.target.is_table() {
        for field in schema.fields() {
            if let Some(kind) = unwritable(field.data_type()) {
                return Err(format!(
                    "the column {} cannot be written as JSON: it holds {kind}",
                    field.name()
                ));
            }
        }
    }
    let reading = TableReading::new(&schema, wanted.layout, wanted.fields)?;
    let parquet = match contents {
        Contents::Parquet(parquet) => Some(parquet.metadata.metadata()),
        _ => None,
    };
    Target::new(pair.target, &pair.from, schema, Some(reading), parquet)
}
