//! Arrow files and streams, batch by batch.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::SchemaRef;

use super::{Cut, Mark, Piece, Source};
use crate::failure::Failure;

/// The schema of an Arrow file.
pub(crate) fn schema_of_file(path: &Path) -> Result<SchemaRef, Failure> {
    Ok(FileBatches::open(path, Mark::default())?.reader.schema())
}

/// The schema of an Arrow stream.
pub(crate) fn schema_of_stream(path: &Path) -> Result<SchemaRef, Failure> {
    Ok(StreamBatches::open(path, Mark::default())?.reader.schema())
}

fn cut(batch: RecordBatch, mark: &mut Mark, read: u64) -> Cut {
    let rows_before = mark.rows;
    mark.at += 1;
    mark.rows += batch.num_rows() as u64;
    mark.read = read;
    let weight = 2 * batch.get_array_memory_size();
    Cut { piece: Piece::Batch(batch), rows_before, weight, end: *mark }
}

/// The batches of a file.
pub(crate) struct FileBatches {
    path: PathBuf,
    reader: FileReader<BufReader<File>>,
    length: u64,
    mark: Mark,
}

impl FileBatches {
    pub(crate) fn open(path: &Path, mark: Mark) -> Result<Self, Failure> {
        let file = File::open(path).map_err(Failure::read(path))?;
        let length = file.metadata().map_err(Failure::read(path))?.len();
        let mut reader = FileReader::try_new_buffered(file, None).map_err(Failure::broken(path))?;
        let at = usize::try_from(mark.at).unwrap_or(usize::MAX);
        if at > 0 && at < reader.num_batches() {
            reader.set_index(at).map_err(Failure::broken(path))?;
        }
        Ok(FileBatches { path: path.to_owned(), reader, length, mark })
    }
}

impl Source for FileBatches {
    fn next(&mut self) -> Result<Option<Cut>, Failure> {
        let count = self.reader.num_batches() as u64;
        if self.mark.at >= count {
            return Ok(None);
        }
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(Failure::broken(&self.path))?;
        let read = self.length / count * (self.mark.at + 1);
        Ok(Some(cut(batch, &mut self.mark, read)))
    }
}

/// The batches of a stream.
pub(crate) struct StreamBatches {
    path: PathBuf,
    reader: StreamReader<BufReader<File>>,
    mark: Mark,
}

impl StreamBatches {
    pub(crate) fn open(path: &Path, mark: Mark) -> Result<Self, Failure> {
        let file = File::open(path).map_err(Failure::read(path))?;
        let mut reader = StreamReader::try_new_buffered(file, None).map_err(Failure::broken(path))?;
        for _ in 0..mark.at {
            if let Some(batch) = reader.next() {
                batch.map_err(Failure::broken(path))?;
            }
        }
        Ok(StreamBatches { path: path.to_owned(), reader, mark })
    }
}

impl Source for StreamBatches {
    fn next(&mut self) -> Result<Option<Cut>, Failure> {
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(Failure::broken(&self.path))?;
        let read = self.reader.get_mut().stream_position().unwrap_or_default();
        Ok(Some(cut(batch, &mut self.mark, read)))
    }
}
