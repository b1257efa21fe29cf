//! Judges the calls of tables.
//!
//! A table has its calls in one of three ways: arguments in a column of their own, whole rows as JSON text in one column, or
//! rows whose members are columns. Only columns in which something changed are rebuilt; all others are passed on as they
//! are. This module works on record batches and knows nothing of files.

mod json_rows;
mod text_column;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema};
use toolmend::{Finish, Outcome};
use toolmend_json::{Document, Edits};

use crate::judge::rejects::{
    RejectLocation, append_refused_call, append_unreadable_row, append_unwritten_call,
};
use crate::judge::{SEVERAL_CALLS, WorkerState};
use crate::layout::{Fields, Layout, ResolvedLayout, SourceRow};

pub(crate) use self::json_rows::{JsonRows, find_unwritable_type};
use self::json_rows::{LeafReplacements, rebuild_column};
pub(crate) use self::text_column::is_replaceable_text;
use self::text_column::{Replacements, TextColumn, is_text, replace_texts};

/// The columns that a layout may use.
const USED_COLUMNS: &[&str] = &[
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

/// Why a call with a misspelt name stays unchanged.
const SHARED_NAME: &str = "the name of its tool is in a dictionary, where it cannot be replaced for one row";
/// Why a call stays unchanged if its row is made of columns.
const NO_COLUMN: &str = "mended, but no column of this table can hold the result";

/// Where the rows of a batch come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchOrigin<'p> {
    pub(crate) file: &'p str,
    /// The number of the first row.
    pub(crate) first_row: u64,
}

/// Where the calls of a table are.
#[derive(Debug, Clone)]
pub(crate) enum TableLayout {
    /// A column of arguments, with other columns that belong to it.
    Arguments(Box<ArgumentColumns>),
    /// A column of rows as JSON text.
    JsonColumn { column: usize, layout: ResolvedLayout },
    /// Columns that are the members of rows.
    MemberColumns { columns: Vec<usize>, layout: ResolvedLayout },
}

/// The columns of calls, by their numbers.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentColumns {
    /// The name of the column of arguments.
    name: String,
    arguments: usize,
    /// The tool of all rows.
    fixed_tool: Option<String>,
    tool: Option<usize>,
    tools: Option<usize>,
    schema: Option<usize>,
    finish: Option<usize>,
    model: Option<usize>,
}

impl TableLayout {
    /// Finds the columns of a layout, or says what is missing.
    pub(crate) fn new(schema: &Schema, layout: Layout, fields: &Fields) -> Result<TableLayout, String> {
        let column = |name: &str| schema.index_of(name).ok();
        let layout = match layout {
            Layout::Auto if fields.column.is_some() => Layout::Column,
            Layout::Auto => match Layout::from_members(|name| column(name).is_some()) {
                Some(Layout::Records) => Layout::Column,
                Some(layout) => layout,
                None => {
                    return Err(format!(
                        "cannot detect the layout of the columns {}; name it with --layout and --column",
                        join_names(schema)
                    ));
                }
            },
            Layout::Records => {
                return Err("records are lines; for a column of arguments, use --layout column".to_owned());
            }
            layout => layout,
        };
        if layout == Layout::Column {
            let arguments = ArgumentColumns::new(schema, fields)?;
            return Ok(TableLayout::Arguments(Box::new(arguments)));
        }
        let resolved = ResolvedLayout { layout, fields: fields.clone() };
        if let Some(name) = &fields.column {
            let column = find_replaceable_column(schema, name)?;
            return Ok(TableLayout::JsonColumn { column, layout: resolved });
        }
        let used = USED_COLUMNS.iter().filter_map(|name| column(name));
        let columns: Vec<usize> =
            used.filter(|&at| find_unwritable_type(schema.field(at).data_type()).is_none()).collect();
        if columns.is_empty() {
            return Err(format!(
                "no column belongs to the layout {layout}; the columns are {}",
                join_names(schema)
            ));
        }
        Ok(TableLayout::MemberColumns { columns, layout: resolved })
    }

    /// Returns the numbers of the columns that are used, in order, and the layout of a table that has no others.
    pub(crate) fn restrict_to_used(&self) -> (Vec<usize>, TableLayout) {
        let mut restricted = self.clone();
        let mut used: Vec<usize> = restricted.column_numbers().into_iter().map(|number| *number).collect();
        used.sort_unstable();
        used.dedup();
        for number in restricted.column_numbers() {
            *number = used.partition_point(|column| column < number);
        }
        (used, restricted)
    }

    /// Returns every column number of the layout.
    fn column_numbers(&mut self) -> Vec<&mut usize> {
        match self {
            TableLayout::Arguments(columns) => {
                let ArgumentColumns { arguments, tool, tools, schema, finish, model, .. } = columns.as_mut();
                let others = [tool, tools, schema, finish, model].into_iter().filter_map(Option::as_mut);
                std::iter::once(arguments).chain(others).collect()
            }
            TableLayout::JsonColumn { column, .. } => vec![column],
            TableLayout::MemberColumns { columns, .. } => columns.iter_mut().collect(),
        }
    }

    /// Judges every call of a batch, and returns the batch with the repairs.
    pub(crate) fn mend_batch(
        &self,
        batch: &RecordBatch,
        origin: BatchOrigin<'_>,
        worker: &mut WorkerState<'_>,
    ) -> Result<RecordBatch, String> {
        worker.counter.count_rows(batch.num_rows() as u64);
        match self {
            TableLayout::Arguments(columns) => columns.mend_batch(batch, origin, worker),
            TableLayout::JsonColumn { column, layout } => {
                mend_json_column(batch, *column, layout, origin, worker)
            }
            TableLayout::MemberColumns { columns, layout } => {
                mend_member_columns(batch, columns, layout, origin, worker)
            }
        }
    }
}

/// Finds a column whose strings can be replaced.
fn find_replaceable_column(schema: &Schema, name: &str) -> Result<usize, String> {
    let (at, field) = schema
        .column_with_name(name)
        .ok_or_else(|| format!("there is no column {name}; the columns are {}", join_names(schema)))?;
    if is_replaceable_text(field.data_type()) {
        return Ok(at);
    }
    Err(format!("the column {name} must hold text, found {}", field.data_type()))
}

fn join_names(schema: &Schema) -> String {
    schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ")
}

impl ArgumentColumns {
    fn new(schema: &Schema, fields: &Fields) -> Result<ArgumentColumns, String> {
        let texts =
            |name: &str| schema.index_of(name).ok().filter(|&at| is_text(schema.field(at).data_type()));
        let name = fields.column().to_owned();
        let arguments = find_replaceable_column(schema, &name)?;
        let tool = texts(fields.tool_column());
        if let (Some(wanted), None) = (&fields.tool_column, tool) {
            return Err(format!("there is no text column {wanted}; the columns are {}", join_names(schema)));
        }
        Ok(ArgumentColumns {
            name,
            arguments,
            fixed_tool: fields.tool.clone(),
            tool: tool.filter(|_| fields.tool.is_none()),
            tools: texts("tools"),
            schema: texts("schema"),
            finish: texts("finish_reason"),
            model: texts("model"),
        })
    }

    /// Judges the call of every row. Rows that are judged alike share their declarations.
    fn mend_batch(
        &self,
        batch: &RecordBatch,
        BatchOrigin { file, first_row }: BatchOrigin<'_>,
        worker: &mut WorkerState<'_>,
    ) -> Result<RecordBatch, String> {
        let column = |at: Option<usize>| at.and_then(|at| TextColumn::from_array(batch.column(at).as_ref()));
        let (Some(arguments), tool) = (column(Some(self.arguments)), column(self.tool)) else {
            return Ok(batch.clone());
        };
        let (tools, schema, finish, model) =
            (column(self.tools), column(self.schema), column(self.finish), column(self.model));
        let (mut texts, mut names) = (Replacements::default(), Replacements::default());
        let alike = tools.is_none() && schema.is_none();
        let shared = alike.then(|| worker.select_declarations(None, None));
        for row in 0..batch.num_rows() {
            let Some(text) = arguments.get(row) else { continue };
            let declarations = if let Some(shared) = &shared {
                shared.clone()
            } else {
                let tools = tools.as_ref().and_then(|texts| texts.get(row));
                worker.select_declarations(tools, schema.as_ref().and_then(|texts| texts.get(row)))
            };
            let written = self.fixed_tool.as_deref().or_else(|| tool.as_ref()?.get(row)).unwrap_or_default();
            let model = model.as_ref().and_then(|texts| texts.get(row)).unwrap_or_default();
            let finish =
                finish.as_ref().and_then(|texts| texts.get(row)).map_or(Finish::Unknown, Finish::from_reason);
            let verdict = declarations.judge(written, text, finish);
            let name = verdict.tool().unwrap_or(written);
            worker.counter.count_verdict(model, name, &verdict);
            let location = RejectLocation { file, row: first_row + row as u64, at: &self.name };
            let rejects = &mut worker.rejects;
            match (verdict.outcome(), verdict.json()) {
                (Outcome::Clean, _) => {}
                (Outcome::Mended, Some(json)) => {
                    match &tool {
                        Some(tool) if name != written && !tool.is_replaceable() => {
                            append_unwritten_call(rejects, location, name, SHARED_NAME, text);
                            continue;
                        }
                        Some(_) if name != written => names.push(row, name),
                        _ => {}
                    }
                    texts.push(row, json);
                }
                (Outcome::Mended, None) => {
                    append_unwritten_call(rejects, location, name, SEVERAL_CALLS, text);
                }
                _ => append_refused_call(rejects, location, (model, name), &verdict, text),
            }
        }
        let mut changed = vec![(self.arguments, texts)];
        changed.extend(self.tool.map(|tool| (tool, names)));
        let columns = changed.iter().map(|(at, new)| Ok((*at, replace_texts(batch.column(*at), new)?)));
        replace_columns(batch, columns)
    }
}

/// Judges the rows that are JSON text in one column.
fn mend_json_column(
    batch: &RecordBatch,
    column: usize,
    layout: &ResolvedLayout,
    BatchOrigin { file, first_row }: BatchOrigin<'_>,
    worker: &mut WorkerState<'_>,
) -> Result<RecordBatch, String> {
    let Some(texts) = TextColumn::from_array(batch.column(column).as_ref()) else {
        return Ok(batch.clone());
    };
    let (mut replacements, mut edits) = (Replacements::default(), Edits::default());
    for row in 0..batch.num_rows() {
        let Some(text) = texts.get(row) else { continue };
        let number = first_row + row as u64;
        if let Some(doc) = Document::parse(&text) {
            layout.mend_row(SourceRow { file, number, root: doc.root() }, worker, &mut edits);
        } else {
            worker.counter.count_unreadable_row();
            let at = batch.schema_ref().field(column).name();
            let location = RejectLocation { file, row: number, at };
            append_unreadable_row(&mut worker.rejects, location, "expected a JSON object");
        }
        if !edits.is_empty() {
            replacements.push(row, &edits.apply(text));
            edits.clear();
        }
    }
    let replaced = replace_texts(batch.column(column), &replacements);
    replace_columns(batch, [replaced.map(|replaced| (column, replaced))])
}

/// Judges the rows whose members are columns. Each row is written as JSON for the layout, and an edit of a string of that JSON
/// becomes a new string in its column.
fn mend_member_columns(
    batch: &RecordBatch,
    columns: &[usize],
    layout: &ResolvedLayout,
    BatchOrigin { file, first_row }: BatchOrigin<'_>,
    worker: &mut WorkerState<'_>,
) -> Result<RecordBatch, String> {
    let rows = JsonRows::new(batch, columns);
    let mut replacements = LeafReplacements::new();
    let (mut text, mut locations, mut edits) = (String::new(), Vec::new(), Edits::default());
    for row in 0..batch.num_rows() {
        text.clear();
        locations.clear();
        rows.write_row(row, &mut text, &mut locations);
        let number = first_row + row as u64;
        let Some(doc) = Document::parse(&text.as_str()) else { continue };
        layout.mend_row(SourceRow { file, number, root: doc.root() }, worker, &mut edits);
        edits.sort();
        for (span, replacement) in edits.iter() {
            let found = locations.binary_search_by_key(&span.start, |location| location.span.start).ok();
            let found = found.map(|index| &locations[index]).filter(|location| location.span == span);
            if let (Some(found), Ok(replacement)) = (found, serde_json::from_slice::<String>(replacement)) {
                replacements.entry(found.leaf).or_default().insert(found.index, replacement);
            } else {
                let location = RejectLocation { file, row: number, at: "" };
                append_unwritten_call(&mut worker.rejects, location, "", NO_COLUMN, &text[span.clone()]);
            }
        }
        edits.clear();
    }
    drop(rows);
    let mut leaves = 0;
    let rebuilt =
        columns.iter().map(|&at| Ok((at, rebuild_column(batch.column(at), &mut leaves, &replacements)?)));
    replace_columns(batch, rebuilt)
}

/// Returns the batch with some columns replaced.
fn replace_columns(
    batch: &RecordBatch,
    replaced: impl IntoIterator<Item = Result<(usize, ArrayRef), ArrowError>>,
) -> Result<RecordBatch, String> {
    let mut columns = batch.columns().to_vec();
    for column in replaced {
        let (at, column) = column.map_err(|error| error.to_string())?;
        columns[at] = column;
    }
    RecordBatch::try_new(batch.schema(), columns).map_err(|error| error.to_string())
}
