//! Tables: columns of texts, rows of JSON in a column, and rows whose columns are the layout themselves.

mod rows;
mod texts;

use std::collections::BTreeMap;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema};
use toolmend::{Finish, Outcome};
use toolmend_json::{Document, Edits};

use crate::judge::reject::{self, Place};
use crate::judge::{Desk, Kit, SEVERAL};
use crate::layout::{Fields, Found, Layout, Reading};

pub(crate) use self::rows::{Rows, unwritable};
pub(crate) use self::texts::is_text;
use self::texts::{New, Texts, has_text};

/// The columns that a layout can use, where they exist.
const USED: &[&str] = &[
    "conversations",
    "messages",
    "choices",
    "request",
    "response",
    "body",
    "input",
    "output",
    "content",
    "tools",
    "functions",
    "system",
    "model",
    "role",
    "type",
    "stop_reason",
    "finish_reason",
];

/// Why a call of a tool that is called something else stays as it is.
const SHARED_NAME: &str =
    "the name of its tool stands in a dictionary, where it cannot be replaced for one row";

/// How the rows of a table are read.
#[derive(Debug, Clone)]
pub(crate) enum TableReading {
    /// A column of arguments, with the columns beside it.
    Arguments(Box<Arguments>),
    /// A column of texts that are rows.
    Texts { column: usize, reading: Reading },
    /// Columns that are the members of rows.
    Columns { columns: Vec<usize>, reading: Reading },
}

/// Which columns hold what.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    name: String,
    column: usize,
    fixed: Option<String>,
    tool: Option<usize>,
    tools: Option<usize>,
    schema: Option<usize>,
    finish: Option<usize>,
    model: Option<usize>,
}

impl TableReading {
    /// Finds the columns of a layout, or says what is missing.
    pub(crate) fn new(schema: &Schema, layout: Layout, fields: &Fields) -> Result<TableReading, String> {
        let column = |name: &str| schema.index_of(name).ok();
        let texts = |name: &str| column(name).filter(|&at| has_text(schema.field(at).data_type()));
        let layout = match layout {
            Layout::Auto if fields.column.is_some() => Layout::Column,
            Layout::Auto => match Layout::of_members(|name| column(name).is_some()) {
                Some(Layout::Records) => Layout::Column,
                Some(layout) => layout,
                None => {
                    return Err(format!(
                        "cannot tell the layout of columns {}; say --layout and --column",
                        names(schema)
                    ));
                }
            },
            Layout::Records => {
                return Err("records are lines; for a column of arguments say --layout column".to_owned());
            }
            layout => layout,
        };
        if layout == Layout::Column {
            let name = fields.column().to_owned();
            let column = editable(schema, &name)?;
            let tool = texts(fields.tool_column());
            if let (Some(wanted), None) = (&fields.tool_column, tool) {
                return Err(format!(
                    "there is no column of texts named {wanted}; columns are {}",
                    names(schema)
                ));
            }
            return Ok(TableReading::Arguments(Box::new(Arguments {
                name,
                column,
                fixed: fields.tool.clone(),
                tool: tool.filter(|_| fields.tool.is_none()),
                tools: texts("tools"),
                schema: texts("schema"),
                finish: texts("finish_reason"),
                model: texts("model"),
            })));
        }
        let reading = Reading { layout, fields: fields.clone() };
        if let Some(name) = &fields.column {
            return Ok(TableReading::Texts { column: editable(schema, name)?, reading });
        }
        let used = USED.iter().filter_map(|name| column(name));
        let columns: Vec<usize> =
            used.filter(|&at| unwritable(schema.field(at).data_type()).is_none()).collect();
        if columns.is_empty() {
            return Err(format!("no column belongs to the layout {layout}; columns are {}", names(schema)));
        }
        Ok(TableReading::Columns { columns, reading })
    }

    /// The columns that are looked at, in order, and how a table is read that has no others.
    pub(crate) fn narrowed(&self) -> (Vec<usize>, TableReading) {
        let mut narrow = self.clone();
        let mut used: Vec<usize> = narrow.places().into_iter().map(|place| *place).collect();
        used.sort_unstable();
        used.dedup();
        for place in narrow.places() {
            *place = used.partition_point(|column| column < place);
        }
        (used, narrow)
    }

    /// Wherever a column is named by its place.
    fn places(&mut self) -> Vec<&mut usize> {
        match self {
            TableReading::Arguments(arguments) => {
                let Arguments { column, tool, tools, schema, finish, model, .. } = arguments.as_mut();
                let beside = [tool, tools, schema, finish, model].into_iter().filter_map(Option::as_mut);
                std::iter::once(column).chain(beside).collect()
            }
            TableReading::Texts { column, .. } => vec![column],
            TableReading::Columns { columns, .. } => columns.iter_mut().collect(),
        }
    }

    /// The batch with every call judged; `first` is the number of its first row.
    pub(crate) fn mend(
        &self,
        batch: &RecordBatch,
        file: &str,
        first: u64,
        desk: &mut Desk<'_>,
    ) -> Result<RecordBatch, String> {
        desk.counter.rows(batch.num_rows() as u64);
        match self {
            TableReading::Arguments(arguments) => arguments.mend(batch, file, first, desk),
            TableReading::Texts { column, reading } => texts(batch, *column, reading, (file, first), desk),
            TableReading::Columns { columns, reading } => {
                self::columns(batch, columns, reading, (file, first), desk)
            }
        }
    }
}

/// The column of that name, if its texts can be replaced.
fn editable(schema: &Schema, name: &str) -> Result<usize, String> {
    let (at, field) = schema
        .column_with_name(name)
        .ok_or_else(|| format!("there is no column {name}; columns are {}", names(schema)))?;
    if is_text(field.data_type()) {
        return Ok(at);
    }
    Err(format!("the column {name} must hold texts, found {}", field.data_type()))
}

fn names(schema: &Schema) -> String {
    schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ")
}

impl Arguments {
    fn mend(
        &self,
        batch: &RecordBatch,
        file: &str,
        first: u64,
        desk: &mut Desk<'_>,
    ) -> Result<RecordBatch, String> {
        let column = |at: Option<usize>| at.and_then(|at| Texts::of(batch.column(at).as_ref()));
        let (Some(arguments), tool) = (column(Some(self.column)), column(self.tool)) else {
            return Ok(batch.clone());
        };
        let (tools, schema, finish, model) =
            (column(self.tools), column(self.schema), column(self.finish), column(self.model));
        let (mut texts, mut names) = (New::default(), New::default());
        let alike = tools.is_none() && schema.is_none();
        let shared = alike.then(|| desk.kit(None, None));
        for row in 0..batch.num_rows() {
            let Some(text) = arguments.get(row) else { continue };
            let kit: Kit<'_> = if let Some(kit) = &shared {
                kit.clone()
            } else {
                let tools = tools.as_ref().and_then(|texts| texts.get(row));
                desk.kit(tools, schema.as_ref().and_then(|texts| texts.get(row)))
            };
            let name = self.fixed.as_deref().or_else(|| tool.as_ref()?.get(row)).unwrap_or_default();
            let model = model.as_ref().and_then(|texts| texts.get(row)).unwrap_or_default();
            let finish =
                finish.as_ref().and_then(|texts| texts.get(row)).map_or(Finish::Unknown, Finish::from_reason);
            let verdict = Desk::judge(&kit, name, text, finish);
            let meant = verdict.tool().unwrap_or(name);
            desk.counter.count(model, meant, &verdict);
            let place = Place { file, row: first + row as u64, at: &self.name };
            match (verdict.outcome(), verdict.json()) {
                (Outcome::Clean, _) => {}
                (Outcome::Mended, Some(json)) => {
                    match &tool {
                        Some(tool) if meant != name && !tool.are_own() => {
                            reject::unwritten(&mut desk.rejects, place, meant, SHARED_NAME, text);
                            continue;
                        }
                        Some(_) if meant != name => names.replace(row, meant),
                        _ => {}
                    }
                    texts.replace(row, json);
                }
                (Outcome::Mended, None) => reject::unwritten(&mut desk.rejects, place, meant, SEVERAL, text),
                _ => reject::refused(&mut desk.rejects, place, (model, meant), &verdict, text),
            }
        }
        let mut changed = vec![(self.column, texts)];
        changed.extend(self.tool.map(|tool| (tool, names)));
        with(batch, changed.iter().map(|(at, new)| Ok((*at, texts::replaced(batch.column(*at), new)?))))
    }
}

/// Rows that are texts in one column.
fn texts(
    batch: &RecordBatch,
    column: usize,
    reading: &Reading,
    (file, first): (&str, u64),
    desk: &mut Desk<'_>,
) -> Result<RecordBatch, String> {
    let Some(texts) = Texts::of(batch.column(column).as_ref()) else { return Ok(batch.clone()) };
    let (mut new, mut edits) = (New::default(), Edits::default());
    for row in 0..batch.num_rows() {
        let Some(text) = texts.get(row) else { continue };
        let number = first + row as u64;
        if let Some(doc) = Document::parse(&text) {
            reading.mend(Found { file, number, root: doc.root() }, desk, &mut edits);
        } else {
            desk.counter.broken();
            let place = Place { file, row: number, at: batch.schema_ref().field(column).name() };
            reject::broken(&mut desk.rejects, place, "expected a JSON object");
        }
        if !edits.is_empty() {
            new.replace(row, &edits.apply(text));
            edits.clear();
        }
    }
    with(batch, [texts::replaced(batch.column(column), &new).map(|made| (column, made))])
}

/// Rows whose members are columns.
fn columns(
    batch: &RecordBatch,
    columns: &[usize],
    reading: &Reading,
    (file, first): (&str, u64),
    desk: &mut Desk<'_>,
) -> Result<RecordBatch, String> {
    let rows = Rows::new(batch, columns);
    let mut new: BTreeMap<usize, BTreeMap<usize, String>> = BTreeMap::new();
    let (mut text, mut leaves, mut edits) = (String::new(), Vec::new(), Edits::default());
    for row in 0..batch.num_rows() {
        text.clear();
        leaves.clear();
        rows.write(row, &mut text, &mut leaves);
        let number = first + row as u64;
        let Some(doc) = Document::parse(&text.as_str()) else { continue };
        reading.mend(Found { file, number, root: doc.root() }, desk, &mut edits);
        edits.sort();
        for (at, with) in edits.iter() {
            let leaf =
                leaves.binary_search_by_key(&at.start, |leaf| leaf.at.start).ok().map(|at| &leaves[at]);
            let with = serde_json::from_slice::<String>(with).ok();
            if let (Some(leaf), Some(with)) = (leaf.filter(|leaf| leaf.at == at), with) {
                new.entry(leaf.column).or_default().insert(leaf.index, with);
            } else {
                let place = Place { file, row: number, at: "" };
                let why = "mended, and the columns of this table have no place for it";
                reject::unwritten(&mut desk.rejects, place, "", why, &text[at.clone()]);
            }
        }
        edits.clear();
    }
    drop(rows);
    let mut leaves = 0;
    let made = columns.iter().map(|&at| Ok((at, rows::rebuilt(batch.column(at), &mut leaves, &new)?)));
    with(batch, made)
}

/// The batch with other columns in some places.
fn with(
    batch: &RecordBatch,
    made: impl IntoIterator<Item = Result<(usize, ArrayRef), ArrowError>>,
) -> Result<RecordBatch, String> {
    let mut columns = batch.columns().to_vec();
    for column in made {
        let (at, column) = column.map_err(|error| error.to_string())?;
        columns[at] = column;
    }
    RecordBatch::try_new(batch.schema(), columns).map_err(|error| error.to_string())
}
