//! Cleans a unit: what a worker does.

use std::panic::{self, AssertUnwindSafe};

use arrow_array::RecordBatch;
use toolmend_json::{BYTE_ORDER_MARK, Document, Edits};

use super::Unit;
use crate::buffers::BufferPool;
use crate::counts::CallCounts;
use crate::failure::Failure;
use crate::format::Format;
use crate::judge::WorkerState;
use crate::judge::rejects::{RejectLocation, append_refused_call, append_unreadable_row};
use crate::layout::{ResolvedLayout, SourceRow};
use crate::plan::{FilePlan, InputContents};
use crate::protocol;
use crate::read::{ParquetFile, PieceContent, RowGroupSlice};
use crate::table::{BatchOrigin, TableLayout};
use crate::write::{CleanedRows, EditedBytes, EncodedUnit};

/// Why a row is left unchanged if our own code failed on it.
const INTERNAL_ERROR: &str = "an internal error; please report this row";

/// The capacity of the buffer for the rejects of a unit. Many units have none.
const REJECTS_CAPACITY: usize = 64 << 10;

/// A unit that is ready to be written.
#[derive(Debug)]
pub(super) struct FinishedUnit {
    pub(super) encoded: EncodedUnit,
    pub(super) rejects: Vec<u8>,
    pub(super) counts: CallCounts,
}

/// Judges all calls of a unit and encodes its rows.
pub(super) fn clean_unit(
    unit: Unit,
    worker: &mut WorkerState<'_>,
    buffers: &BufferPool,
) -> Result<FinishedUnit, Failure> {
    let plan = unit.plan.as_ref();
    let first_row = unit.piece.rows_before + 1;
    let invalid = Failure::invalid::<String>(&plan.pair.input);
    let rows = match unit.piece.content {
        PieceContent::Lines(bytes) => {
            CleanedRows::Lines(clean_lines(bytes, plan, first_row, worker, buffers))
        }
        PieceContent::LongLine { bytes, is_first_part } => {
            clean_long_line(bytes, is_first_part, plan, first_row, worker).map_err(&invalid)?
        }
        PieceContent::RowGroup(slice) => {
            let InputContents::Parquet(file) = &plan.contents else {
                unreachable!("only Parquet files have row groups")
            };
            if plan.output.format == Format::Parquet {
                let encoded = clean_row_group(file, slice, plan, first_row, worker)?;
                return Ok(finish_unit(encoded, worker, buffers));
            }
            let batches = file.read_rows(&plan.pair.input, slice, None, false)?;
            clean_batches(batches, plan, first_row, worker)?
        }
        PieceContent::Batch(batch) => clean_batches([Ok(batch)], plan, first_row, worker)?,
    };
    let encoded = plan.output.encode_unit(rows, unit.number == 0).map_err(&invalid)?;
    Ok(finish_unit(encoded, worker, buffers))
}

/// Takes the rejects and the counts out of the worker.
fn finish_unit(encoded: EncodedUnit, worker: &mut WorkerState<'_>, buffers: &BufferPool) -> FinishedUnit {
    let mut empty = buffers.take(REJECTS_CAPACITY);
    empty.clear();
    FinishedUnit {
        encoded,
        rejects: std::mem::replace(&mut worker.rejects, empty),
        counts: worker.counter.take(),
    }
}

/// Edits lines, or answers them if they are records.
fn clean_lines(
    bytes: Vec<u8>,
    plan: &FilePlan,
    first_row: u64,
    worker: &mut WorkerState<'_>,
    buffers: &BufferPool,
) -> EditedBytes {
    if let InputContents::Lines(layout) = &plan.contents {
        let mut edits = Edits::with_buffer(buffers.take(bytes.len() / 4));
        edit_lines(&bytes, plan, layout, first_row, worker, &mut edits);
        return EditedBytes::new(bytes, edits);
    }
    let mut answers = buffers.take(bytes.len() + bytes.len() / 16);
    answers.clear();
    answer_lines(&bytes, plan, first_row, worker, &mut answers);
    buffers.give_back(bytes);
    answers.into()
}

/// Collects the edits of all lines.
fn edit_lines(
    bytes: &[u8],
    plan: &FilePlan,
    layout: &ResolvedLayout,
    first_row: u64,
    worker: &mut WorkerState<'_>,
    edits: &mut Edits,
) {
    let mut start = 0;
    let mut number = first_row;
    while start < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        if end - start > plan.limits.longest_line {
            reject_long_line(plan, number, worker);
        } else {
            edit_line(&bytes[start..end], start, layout, (&plan.name, number), worker, edits);
        }
        start = end + 1;
        number += 1;
    }
}

/// Collects the edits of a line that begins at `start`. A line that cannot be read is reported and left unchanged.
fn edit_line(
    mut line: &[u8],
    mut start: usize,
    layout: &ResolvedLayout,
    (file, number): (&str, u64),
    worker: &mut WorkerState<'_>,
    edits: &mut Edits,
) {
    worker.counter.count_rows(1);
    // Some programs begin a file with a byte order mark. It is kept, and the row begins after it.
    if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
        start += BYTE_ORDER_MARK.len();
        line = &line[BYTE_ORDER_MARK.len()..];
    }
    if line.trim_ascii().is_empty() {
        return;
    }
    let error = match Document::parse_in(&line, &mut worker.nodes) {
        Some(doc) if doc.root().is_object() => {
            let source = SourceRow { file, number, root: doc.root() };
            let before = edits.begin_part(start);
            // A defect that one row triggers must not end the run for all others.
            let mended = panic::catch_unwind(AssertUnwindSafe(|| layout.mend_row(source, worker, edits)));
            doc.recycle(&mut worker.nodes);
            if mended.is_ok() {
                return;
            }
            edits.roll_back(before);
            INTERNAL_ERROR.to_owned()
        }
        Some(_) => "expected a JSON object, found another value".to_owned(),
        None => match std::str::from_utf8(line) {
            Err(error) => format!("not UTF-8 at byte {}", error.valid_up_to()),
            Ok(_) => "expected a JSON object, found no JSON".to_owned(),
        },
    };
    reject_row(file, number, &error, worker);
}

/// Answers lines of the batch protocol.
fn answer_lines(
    bytes: &[u8],
    plan: &FilePlan,
    first_row: u64,
    worker: &mut WorkerState<'_>,
    out: &mut Vec<u8>,
) {
    let (rules, longest_line) = (worker.rules(), plan.limits.longest_line);
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for (number, line) in (first_row..).zip(text.split(|byte| *byte == b'\n')) {
        if line.len() > longest_line {
            reject_long_line(plan, number, worker);
            out.extend_from_slice(&protocol::answer_long_line(number, longest_line).into_line());
            continue;
        }
        worker.counter.count_rows(1);
        let file = &plan.name;
        let answer = protocol::answer_line(number, line, rules, &mut |call| {
            let (model, tool) = (call.model.unwrap_or_default(), call.tool.unwrap_or_default());
            worker.counter.count_verdict(model, tool, call.verdict);
            if !call.verdict.outcome().runs() {
                let location = RejectLocation { file, row: number, at: "" };
                append_refused_call(&mut worker.rejects, location, (model, tool), call.verdict, call.input);
            }
        });
        if let Some(error) = answer.error_text() {
            reject_row(file, number, error, worker);
        }
        out.extend_from_slice(&answer.into_line());
    }
}

/// Reports a row that cannot be read.
fn reject_row(file: &str, number: u64, error: &str, worker: &mut WorkerState<'_>) {
    worker.counter.count_unreadable_row();
    append_unreadable_row(&mut worker.rejects, RejectLocation { file, row: number, at: "" }, error);
}

/// Counts and reports a line that is too long.
fn reject_long_line(plan: &FilePlan, number: u64, worker: &mut WorkerState<'_>) {
    worker.counter.count_rows(1);
    let longest_line = plan.limits.longest_line;
    let error = format!("longer than {longest_line} bytes; raise --max-line-bytes to read it");
    reject_row(&plan.name, number, &error, worker);
}

/// Passes on a part of a line that is too long. In a table, such a line is null; a record is answered once.
fn clean_long_line(
    bytes: Vec<u8>,
    is_first_part: bool,
    plan: &FilePlan,
    number: u64,
    worker: &mut WorkerState<'_>,
) -> Result<CleanedRows, String> {
    if is_first_part {
        reject_long_line(plan, number, worker);
    }
    if plan.output.format.is_table() {
        return plan.output.null_rows(usize::from(is_first_part)).map(|row| CleanedRows::Batches(vec![row]));
    }
    let text = match &plan.contents {
        InputContents::Records if is_first_part => {
            protocol::answer_long_line(number, plan.limits.longest_line).into_line()
        }
        InputContents::Records => Vec::new(),
        _ => bytes,
    };
    Ok(CleanedRows::Lines(text.into()))
}

/// Cleans rows of a Parquet file for a Parquet file. If possible, it reads only the columns that the layout uses.
fn clean_row_group(
    file: &ParquetFile,
    slice: RowGroupSlice,
    plan: &FilePlan,
    first_row: u64,
    worker: &mut WorkerState<'_>,
) -> Result<EncodedUnit, Failure> {
    let invalid = Failure::invalid::<String>(&plan.pair.input);
    let mut group = plan.output.begin_row_group(file.copyable_group(slice)).map_err(&invalid)?;
    let (columns, layout) = match group.used_columns() {
        Some(used) => (Some(used.columns.as_slice()), &used.layout),
        None => (None, table_layout(plan)),
    };
    let batches = file.read_rows(&plan.pair.input, slice, columns, true)?;
    mend_batches(batches, layout, plan, first_row, worker, |read, cleaned| {
        group.add_batch(&read, &cleaned).map_err(&invalid)
    })?;
    Ok(EncodedUnit::RowGroup(group.finish().map_err(&invalid)?))
}

fn table_layout(plan: &FilePlan) -> &TableLayout {
    match &plan.output.layout {
        Some(layout) => layout,
        None => unreachable!("the plan of a table has a layout"),
    }
}

/// Judges the calls of all batches and collects the batches.
fn clean_batches(
    batches: impl IntoIterator<Item = Result<RecordBatch, Failure>>,
    plan: &FilePlan,
    first_row: u64,
    worker: &mut WorkerState<'_>,
) -> Result<CleanedRows, Failure> {
    let mut collected = Vec::new();
    mend_batches(batches, table_layout(plan), plan, first_row, worker, |_, cleaned| {
        collected.push(cleaned);
        Ok(())
    })?;
    Ok(CleanedRows::Batches(collected))
}

/// Judges the calls of all batches. Hands each batch to `then`, as it was read and as it is after cleaning.
fn mend_batches(
    batches: impl IntoIterator<Item = Result<RecordBatch, Failure>>,
    layout: &TableLayout,
    plan: &FilePlan,
    mut first_row: u64,
    worker: &mut WorkerState<'_>,
    mut then: impl FnMut(RecordBatch, RecordBatch) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let invalid = Failure::invalid::<String>(&plan.pair.input);
    for batch in batches {
        let batch = batch?;
        let rows = batch.num_rows() as u64;
        let origin = BatchOrigin { file: &plan.name, first_row };
        let cleaned = layout.mend_batch(&batch, origin, worker).map_err(&invalid)?;
        then(batch, cleaned)?;
        first_row += rows;
    }
    Ok(())
}
