//! What a worker does with a unit.

use std::panic::{self, AssertUnwindSafe};

use arrow_array::RecordBatch;
use toolmend_json::{BYTE_ORDER_MARK, Document, Edits};

use super::Unit;
use crate::buffers::Pool;
use crate::counts::Tally;
use crate::failure::Failure;
use crate::format::Format;
use crate::judge::Desk;
use crate::judge::reject::{self, Place};
use crate::layout::{Found, Reading};
use crate::plan::{Contents, Plan};
use crate::protocol;
use crate::read;
use crate::read::Piece;
use crate::table::TableReading;
use crate::write::{Body, Encoded, Made};

/// Why a row is left alone when our own code failed on it.
const INTERNAL: &str = "an internal error; please report this row";

/// Room for the rejects of a unit; many units have none.
const REJECTS_ROOM: usize = 64 << 10;

/// A unit that is ready to be written.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) encoded: Encoded,
    pub(crate) rejects: Vec<u8>,
    pub(crate) tally: Tally,
}

/// Mends a unit and makes its bytes.
pub(super) fn work(unit: &mut Unit, desk: &mut Desk<'_>, pool: &Pool) -> Result<Done, Failure> {
    let plan = &unit.plan;
    let broken = Failure::broken::<String>(&plan.pair.from);
    let first = unit.cut.rows_before + 1;
    let piece = std::mem::replace(&mut unit.cut.piece, Piece::Lines(Vec::new()));
    let made = match piece {
        Piece::Lines(bytes) => Made::Text(if let Contents::Lines(reading) = &plan.contents {
            let mut edits = Edits::with_buffer(pool.take(bytes.len() / 4));
            edited(&bytes, plan, reading, first, desk, &mut edits);
            Body::new(bytes, edits)
        } else {
            let mut out = pool.take(bytes.len() + bytes.len() / 16);
            out.clear();
            answered(&bytes, plan, first, desk, &mut out);
            pool.give(bytes);
            out.into()
        }),
        Piece::Long(bytes, starts) => long(bytes, starts, plan, first, desk).map_err(&broken)?,
        Piece::Group(rows) => {
            let Contents::Parquet(parquet) = &plan.contents else {
                unreachable!("only Parquet has row groups")
            };
            if plan.target.format == Format::Parquet {
                let mut group = plan.target.group(parquet.copied_from(rows)).map_err(&broken)?;
                let (columns, reading) = match group.narrow() {
                    Some(narrow) => (Some(narrow.columns.as_slice()), &narrow.reading),
                    None => (None, reading(plan)),
                };
                let batches = read::rows_of(&plan.pair.from, parquet, rows, columns, true)?;
                table(batches, reading, plan, first, desk, |came, made| {
                    group.add(&came, &made).map_err(&broken)
                })?;
                return Ok(done(Encoded::Group(group.end().map_err(&broken)?), desk, pool));
            }
            collected(read::rows_of(&plan.pair.from, parquet, rows, None, false)?, plan, first, desk)?
        }
        Piece::Batch(batch) => collected([Ok(batch)], plan, first, desk)?,
    };
    let encoded = plan.target.encode(made, unit.number == 0).map_err(&broken)?;
    Ok(done(encoded, desk, pool))
}

fn done(encoded: Encoded, desk: &mut Desk<'_>, pool: &Pool) -> Done {
    let mut room = pool.take(REJECTS_ROOM);
    room.clear();
    Done { encoded, rejects: std::mem::replace(&mut desk.rejects, room), tally: desk.counter.take() }
}

/// What is mended in these lines.
fn edited(bytes: &[u8], plan: &Plan, reading: &Reading, first: u64, desk: &mut Desk<'_>, edits: &mut Edits) {
    let mut start = 0;
    let mut number = first;
    while start < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        if end - start > plan.longest {
            too_long(plan, number, desk);
        } else {
            row(&bytes[start..end], start, reading, (&plan.name, number), desk, edits);
        }
        start = end + 1;
        number += 1;
    }
}

/// Judges the calls of a line that begins there; what cannot be read is told and left alone.
fn row(
    mut line: &[u8],
    mut start: usize,
    reading: &Reading,
    (file, number): (&str, u64),
    desk: &mut Desk<'_>,
    edits: &mut Edits,
) {
    desk.counter.rows(1);
    // Some programs begin a file with a mark of its encoding. It stays, and what counts stands behind it.
    if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
        start += BYTE_ORDER_MARK.len();
        line = &line[BYTE_ORDER_MARK.len()..];
    }
    if line.trim_ascii().is_empty() {
        return;
    }
    let error = match Document::parse_in(&line, &mut desk.nodes) {
        Some(doc) if doc.root().is_object() => {
            let found = Found { file, number, root: doc.root() };
            let before = edits.begin_part(start);
            // One row must not end the run for all others, whatever it hits.
            let done = panic::catch_unwind(AssertUnwindSafe(|| reading.mend(found, desk, edits)));
            doc.recycle(&mut desk.nodes);
            if done.is_ok() {
                return;
            }
            edits.roll_back(before);
            INTERNAL.to_owned()
        }
        Some(_) => "expected a JSON object, found another value".to_owned(),
        None => match std::str::from_utf8(line) {
            Err(error) => format!("not UTF-8 at byte {}", error.valid_up_to()),
            Ok(_) => "expected a JSON object, found no JSON".to_owned(),
        },
    };
    desk.counter.broken();
    reject::broken(&mut desk.rejects, Place { file, row: number, at: "" }, &error);
}

/// The answers to lines of the batch protocol.
fn answered(bytes: &[u8], plan: &Plan, first: u64, desk: &mut Desk<'_>, out: &mut Vec<u8>) {
    let rules = desk.rules();
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for (number, line) in (first..).zip(text.split(|byte| *byte == b'\n')) {
        if line.len() > plan.longest {
            too_long(plan, number, desk);
            out.extend_from_slice(&protocol::too_long(number, plan.longest).into_line());
            continue;
        }
        desk.counter.rows(1);
        let file = &plan.name;
        let answer = protocol::answer(number, line, rules, &mut |call| {
            let (model, tool) = (call.model.unwrap_or_default(), call.tool.unwrap_or_default());
            desk.counter.count(model, tool, call.verdict);
            if !call.verdict.outcome().runs() {
                let place = Place { file, row: number, at: "" };
                reject::refused(&mut desk.rejects, place, (model, tool), call.verdict, call.input);
            }
        });
        if let Some(error) = answer.error_text() {
            desk.counter.broken();
            reject::broken(&mut desk.rejects, Place { file, row: number, at: "" }, error);
        }
        out.extend_from_slice(&answer.into_line());
    }
}

fn too_long(plan: &Plan, number: u64, desk: &mut Desk<'_>) {
    desk.counter.rows(1);
    desk.counter.broken();
    let error = format!("longer than {} bytes; raise --max-line-bytes to read it", plan.longest);
    reject::broken(&mut desk.rejects, Place { file: &plan.name, row: number, at: "" }, &error);
}

/// A part of a line that is too long to be read.
fn long(bytes: Vec<u8>, starts: bool, plan: &Plan, number: u64, desk: &mut Desk<'_>) -> Result<Made, String> {
    if starts {
        too_long(plan, number, desk);
    }
    if plan.target.format.is_table() {
        return plan.target.nulls(usize::from(starts)).map(|row| Made::Rows(vec![row]));
    }
    let text = match &plan.contents {
        Contents::Records if starts => protocol::too_long(number, plan.longest).into_line(),
        Contents::Records => Vec::new(),
        _ => bytes,
    };
    Ok(Made::Text(text.into()))
}

/// How the rows of a table are read.
fn reading(plan: &Plan) -> &TableReading {
    match &plan.target.reading {
        Some(reading) => reading,
        None => unreachable!("a table has a reading"),
    }
}

/// The rows of a table with every call judged.
fn collected(
    batches: impl IntoIterator<Item = Result<RecordBatch, Failure>>,
    plan: &Plan,
    first: u64,
    desk: &mut Desk<'_>,
) -> Result<Made, Failure> {
    let mut list = Vec::new();
    table(batches, reading(plan), plan, first, desk, |_, made| {
        list.push(made);
        Ok(())
    })?;
    Ok(Made::Rows(list))
}

/// Judges the rows of a table batch by batch, and hands each on, as it came and as it is now.
fn table(
    batches: impl IntoIterator<Item = Result<RecordBatch, Failure>>,
    reading: &TableReading,
    plan: &Plan,
    mut first: u64,
    desk: &mut Desk<'_>,
    mut then: impl FnMut(RecordBatch, RecordBatch) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let broken = Failure::broken::<String>(&plan.pair.from);
    for batch in batches {
        let batch = batch?;
        let rows = batch.num_rows() as u64;
        let made = reading.mend(&batch, &plan.name, first, desk).map_err(&broken)?;
        then(batch, made)?;
        first += rows;
    }
    Ok(())
}
