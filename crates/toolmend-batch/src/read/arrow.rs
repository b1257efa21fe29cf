//! Arrow files and streams: each record batch is a piece.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::SchemaRef;

use super::{Piece, PieceContent, PieceReader, ReadPosition};
use crate::failure::Failure;

/// Reads the schema of an Arrow file.
pub(crate) fn read_file_schema(path: &Path) -> Result<SchemaRef, Failure> {
    Ok(ArrowFileReader::open(path, ReadPosition::default())?.reader.schema())
}

/// Reads the schema of an Arrow stream.
pub(crate) fn read_stream_schema(path: &Path) -> Result<SchemaRef, Failure> {
    Ok(ArrowStreamReader::open(path, ReadPosition::default())?.reader.schema())
}

/// Turns a batch into a piece and moves the position past it.
fn make_piece(batch: RecordBatch, position: &mut ReadPosition, bytes_read: u64) -> Piece {
    let rows_before = position.rows;
    position.offset += 1;
    position.rows += batch.num_rows() as u64;
    position.bytes_read = bytes_read;
    let weight = 2 * batch.get_array_memory_size();
    Piece { content: PieceContent::Batch(batch), rows_before, weight, end: *position }
}

/// Reads an Arrow file.
pub(crate) struct ArrowFileReader {
    path: PathBuf,
    reader: FileReader<BufReader<File>>,
    length: u64,
    position: ReadPosition,
}

impl ArrowFileReader {
    /// Opens a file at a position.
    pub(crate) fn open(path: &Path, position: ReadPosition) -> Result<Self, Failure> {
        let file = File::open(path).map_err(Failure::read(path))?;
        let length = file.metadata().map_err(Failure::read(path))?.len();
        let mut reader = FileReader::try_new_buffered(file, None).map_err(Failure::invalid(path))?;
        let index = usize::try_from(position.offset).unwrap_or(usize::MAX);
        if index > 0 && index < reader.num_batches() {
            reader.set_index(index).map_err(Failure::invalid(path))?;
        }
        Ok(ArrowFileReader { path: path.to_owned(), reader, length, position })
    }
}

impl PieceReader for ArrowFileReader {
    fn next_piece(&mut self) -> Result<Option<Piece>, Failure> {
        let count = self.reader.num_batches() as u64;
        if self.position.offset >= count {
            return Ok(None);
        }
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(Failure::invalid(&self.path))?;
        let bytes_read = self.length / count * (self.position.offset + 1);
        Ok(Some(make_piece(batch, &mut self.position, bytes_read)))
    }
}

/// Reads an Arrow stream.
pub(crate) struct ArrowStreamReader {
    path: PathBuf,
    reader: StreamReader<BufReader<File>>,
    position: ReadPosition,
}

impl ArrowStreamReader {
    /// Opens a stream at a position. A stream has no index, so the batches before the position are read and dropped.
    pub(crate) fn open(path: &Path, position: ReadPosition) -> Result<Self, Failure> {
        let file = File::open(path).map_err(Failure::read(path))?;
        let mut reader = StreamReader::try_new_buffered(file, None).map_err(Failure::invalid(path))?;
        for _ in 0..position.offset {
            if let Some(batch) = reader.next() {
                batch.map_err(Failure::invalid(path))?;
            }
        }
        Ok(ArrowStreamReader { path: path.to_owned(), reader, position })
    }
}

impl PieceReader for ArrowStreamReader {
    fn next_piece(&mut self) -> Result<Option<Piece>, Failure> {
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(Failure::invalid(&self.path))?;
        let bytes_read = self.reader.get_mut().stream_position().unwrap_or_default();
        Ok(Some(make_piece(batch, &mut self.position, bytes_read)))
    }
}
