//! Files as a sequence of pieces.

mod arrow;
mod lines;
mod parquet;

pub(crate) use self::arrow::{schema_of_file as arrow_schema, schema_of_stream as stream_schema};
pub(crate) use self::lines::first_row;
pub(crate) use self::parquet::{GroupRows, Parquet, rows_of};

use std::sync::Arc;

use crate::failure::Failure;
use crate::format::Format;
use crate::plan::{Contents, Plan};
use crate::pool::Pool;
use crate::unit::{Cut, Mark};

/// A file that is being cut.
pub(crate) trait Source: Send {
    /// The next piece; nothing at the end.
    fn next(&mut self) -> Result<Option<Cut>, Failure>;
}

/// Opens a file behind a mark.
pub(crate) fn open(plan: &Plan, mark: Mark, pool: &Arc<Pool>) -> Result<Box<dyn Source>, Failure> {
    let path = &plan.pair.from;
    Ok(match (&plan.contents, plan.pair.format) {
        (Contents::Parquet(parquet), _) => Box::new(parquet::Groups::new(parquet, mark)),
        (_, Format::ArrowFile) => Box::new(arrow::FileBatches::open(path, mark)?),
        (_, Format::ArrowStream) => Box::new(arrow::StreamBatches::open(path, mark)?),
        (_, Format::Lines(packing)) => Box::new(lines::Lines::open(
            path,
            packing,
            lines::Sizes { longest: plan.longest, unit: plan.unit },
            mark,
            Arc::clone(pool),
        )?),
        (_, Format::Parquet) => unreachable!("its contents are those of a Parquet file"),
    })
}
