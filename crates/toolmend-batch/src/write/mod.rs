//! Encodes units and writes files.
//!
//! Each unit is encoded on its own: a gzip member, a zstd frame, a row group, a record batch. So workers encode and compress
//! units side by side, and a run can be resumed after any of them. An [`OutputFile`] appends units in order and writes the end
//! of the file, which it builds from a [`FooterNote`] of each unit.
//!
//! Files are written under another name until they are complete. This module knows nothing of calls, and it does not decide
//! which units are written when.

mod append_file;
mod arrow;
mod edited_bytes;
mod hex;
mod lines;
mod output_file;
mod output_spec;
mod parquet_footer;
mod row_group;

pub(crate) use self::edited_bytes::EditedBytes;
pub(crate) use self::output_file::{OutputFile, create_parent_folder, part_path, range_checksum};
pub(crate) use self::output_spec::{CleanedRows, EncodedUnit, FooterNote, OutputSpec};
