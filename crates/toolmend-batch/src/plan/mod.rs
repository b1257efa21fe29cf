//! Plans a run: finds the files, and decides how each one is read and written before its first row is cleaned.
//!
//! Planning reads schemas, footers and first rows. It never writes.

pub(crate) mod files;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use toolmend_json::Document;

use self::files::FilePair;
use crate::buffers::BufferPool;
use crate::failure::Failure;
use crate::format::Format;
use crate::layout::{Fields, Layout, ResolvedLayout};
use crate::read::{
    ArrowFileReader, ArrowStreamReader, LineLimits, LineReader, ParquetFile, PieceReader, ReadPosition,
    RowGroupReader, read_file_schema, read_first_row, read_stream_schema,
};
use crate::table::{TableLayout, find_unwritable_type};
use crate::write::OutputSpec;

/// The name of the column if lines are written as a table.
const LINE_COLUMN: &str = "row";

/// How one file is cleaned.
#[derive(Debug)]
pub(crate) struct FilePlan {
    /// The number of the file in the run.
    pub(crate) index: usize,
    pub(crate) pair: FilePair,
    /// The name of the input, for messages and rejects.
    pub(crate) name: String,
    pub(crate) contents: InputContents,
    pub(crate) output: OutputSpec,
    pub(crate) limits: LineLimits,
}

/// What a file holds, and where its calls are.
#[derive(Debug)]
pub(crate) enum InputContents {
    /// Lines of the batch protocol, which are answered.
    Records,
    /// Lines that are edited.
    Lines(ResolvedLayout),
    /// Rows of a Parquet file.
    Parquet(Arc<ParquetFile>),
    /// Batches of an Arrow file or stream.
    Arrow,
}

/// What the user says about the rows of all files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowOptions<'a> {
    pub(crate) layout: Layout,
    pub(crate) fields: &'a Fields,
    pub(crate) limits: LineLimits,
}

impl FilePlan {
    /// Plans one file.
    pub(crate) fn new(index: usize, pair: FilePair, options: RowOptions<'_>) -> Result<FilePlan, Failure> {
        let invalid = Failure::invalid::<String>(&pair.input);
        let (contents, schema) = match pair.input_format {
            Format::Lines(compression) => {
                let first = read_first_row(&pair.input, compression)?;
                (resolve_line_contents(first.as_deref(), options).map_err(&invalid)?, None)
            }
            Format::Parquet => {
                let file = ParquetFile::open(&pair.input, options.limits.unit)?;
                let schema = Arc::clone(file.metadata.schema());
                (InputContents::Parquet(file), Some(schema))
            }
            Format::ArrowFile => (InputContents::Arrow, Some(read_file_schema(&pair.input)?)),
            Format::ArrowStream => (InputContents::Arrow, Some(read_stream_schema(&pair.input)?)),
        };
        let output = plan_output(&pair, &contents, schema, options).map_err(&invalid)?;
        let name = pair.input.display().to_string();
        Ok(FilePlan { index, pair, name, contents, output, limits: options.limits })
    }

    /// Opens the input at a position.
    pub(crate) fn open_input(
        &self,
        position: ReadPosition,
        buffers: &Arc<BufferPool>,
    ) -> Result<Box<dyn PieceReader>, Failure> {
        let path = &self.pair.input;
        Ok(match (&self.contents, self.pair.input_format) {
            (InputContents::Parquet(file), _) => Box::new(RowGroupReader::new(file, position)),
            (_, Format::ArrowFile) => Box::new(ArrowFileReader::open(path, position)?),
            (_, Format::ArrowStream) => Box::new(ArrowStreamReader::open(path, position)?),
            (_, Format::Lines(compression)) => {
                Box::new(LineReader::open(path, compression, self.limits, position, Arc::clone(buffers))?)
            }
            (_, Format::Parquet) => unreachable!("a Parquet file has the contents of one"),
        })
    }
}

/// Decides where the calls of lines are, by the options or by the first row.
fn resolve_line_contents(first: Option<&[u8]>, options: RowOptions<'_>) -> Result<InputContents, String> {
    let layout = match options.layout {
        Layout::Auto if options.fields.column.is_some() => Layout::Column,
        Layout::Auto => detect_line_layout(first)?,
        layout => layout,
    };
    if layout == Layout::Records {
        return Ok(InputContents::Records);
    }
    Ok(InputContents::Lines(ResolvedLayout { layout, fields: options.fields.clone() }))
}

/// Detects the layout of lines from the first row. A file without rows has any layout.
fn detect_line_layout(first: Option<&[u8]>) -> Result<Layout, String> {
    let Some(first) = first else { return Ok(Layout::Chat) };
    let Some(doc) = Document::parse(&first).filter(|doc| doc.root().is_object()) else {
        return Err(
            "the first row is not a JSON object, so its layout cannot be detected; name it with --layout"
                .to_owned(),
        );
    };
    let root = doc.root();
    Layout::from_members(|name| root.get(name).is_some()).ok_or_else(|| {
        let names: Vec<_> = root.items().map(|item| item.key().into_owned()).collect();
        format!("cannot detect the layout of rows with {}; name it with --layout", names.join(", "))
    })
}

/// Decides what the output of a file is. `schema` is that of the input, if it is a table.
fn plan_output(
    pair: &FilePair,
    contents: &InputContents,
    schema: Option<SchemaRef>,
    options: RowOptions<'_>,
) -> Result<OutputSpec, String> {
    let Some(schema) = schema else {
        let schema = Schema::new(vec![Field::new(LINE_COLUMN, DataType::Utf8, true)]);
        return OutputSpec::new(pair.output_format, &pair.input, Arc::new(schema), None, None);
    };
    if !pair.output_format.is_table() {
        for field in schema.fields() {
            if let Some(kind) = find_unwritable_type(field.data_type()) {
                let name = field.name();
                return Err(format!("the column {name} cannot be written as JSON, because it holds {kind}"));
            }
        }
    }
    let layout = TableLayout::new(&schema, options.layout, options.fields)?;
    let footer = match contents {
        InputContents::Parquet(file) => Some(file.metadata.metadata()),
        _ => None,
    };
    OutputSpec::new(pair.output_format, &pair.input, schema, Some(layout), footer)
}
