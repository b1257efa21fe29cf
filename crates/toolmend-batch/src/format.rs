//! File formats: their names, and how to detect them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How a file holds its rows.
///
/// ```
/// use toolmend_batch::{Compression, Format};
/// let format = Format::from_file_name("log.jsonl.gz".as_ref());
/// assert_eq!(format, Some(Format::Lines(Compression::Gzip)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Lines with one JSON object each.
    Lines(Compression),
    /// Apache Parquet.
    Parquet,
    /// The file format of Arrow IPC, also known as Feather.
    ArrowFile,
    /// The stream format of Arrow IPC.
    ArrowStream,
}

/// How lines are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not compressed.
    Plain,
    /// gzip, with any number of members.
    Gzip,
    /// Zstandard, with any number of frames.
    Zstd,
}

/// All formats, with their names on the command line and their file extensions. The first extension is used for new files.
///
/// ```
/// use toolmend_batch::FORMATS;
/// let names: Vec<&str> = FORMATS.iter().map(|(name, _, _)| *name).collect();
/// assert_eq!(names, ["jsonl", "jsonl.gz", "jsonl.zst", "parquet", "arrow", "arrows"]);
/// ```
pub const FORMATS: &[(&str, Format, &[&str])] = &[
    ("jsonl", Format::Lines(Compression::Plain), &["jsonl", "ndjson", "json"]),
    ("jsonl.gz", Format::Lines(Compression::Gzip), &["jsonl.gz", "ndjson.gz", "json.gz"]),
    ("jsonl.zst", Format::Lines(Compression::Zstd), &["jsonl.zst", "ndjson.zst", "json.zst"]),
    ("parquet", Format::Parquet, &["parquet"]),
    ("arrow", Format::ArrowFile, &["arrow", "feather", "ipc"]),
    ("arrows", Format::ArrowStream, &["arrows"]),
];

/// The first bytes of files.
const MAGIC: &[(&[u8], Format)] = &[
    (b"PAR1", Format::Parquet),
    (b"ARROW1", Format::ArrowFile),
    (b"\xff\xff\xff\xff", Format::ArrowStream),
    (b"\x1f\x8b", Format::Lines(Compression::Gzip)),
    (b"\x28\xb5\x2f\xfd", Format::Lines(Compression::Zstd)),
];

impl Format {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        self.table_row().map_or("", |row| row.0)
    }

    /// Returns the format for the extension of a file name.
    pub fn from_file_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let fits = |end: &str| name.strip_suffix(end).is_some_and(|stem| stem.ends_with('.'));
        FORMATS.iter().find(|(_, _, ends)| ends.iter().any(|end| fits(end))).map(|row| row.1)
    }

    /// Detects the format of a file from its first bytes. Its name only counts if it is empty.
    pub(crate) fn detect(path: &Path) -> io::Result<Format> {
        let mut head = [0; 8];
        let (mut file, mut filled) = (File::open(path)?, 0);
        while filled < head.len() {
            match file.read(&mut head[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        let by_magic = MAGIC.iter().find(|(magic, _)| head[..filled].starts_with(magic)).map(|row| row.1);
        let by_name = || Format::from_file_name(path).filter(|_| filled == 0);
        Ok(by_magic.or_else(by_name).unwrap_or(Format::Lines(Compression::Plain)))
    }

    /// Replaces the extension of a file name by the one of this format.
    pub(crate) fn replace_extension(self, name: &str) -> String {
        let lower = name.to_ascii_lowercase();
        let ends = FORMATS.iter().flat_map(|row| row.2).filter(|end| lower.ends_with(&format!(".{end}")));
        let longest = ends.max_by_key(|end| end.len()).map_or(0, |end| end.len() + 1);
        let end = self.table_row().map_or("", |row| row.2[0]);
        format!("{}.{end}", &name[..name.len() - longest])
    }

    /// Whether files of this format have columns.
    pub(crate) fn is_table(self) -> bool {
        !matches!(self, Format::Lines(_))
    }

    fn table_row(self) -> Option<&'static (&'static str, Format, &'static [&'static str])> {
        FORMATS.iter().find(|row| row.1 == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_file_names() {
        let format_name = |name: &str| Format::from_file_name(Path::new(name)).map(Format::name);
        assert_eq!(format_name("a/b.JSONL"), Some("jsonl"));
        assert_eq!(format_name("b.jsonl.gz"), Some("jsonl.gz"));
        assert_eq!(format_name("b.ndjson.zst"), Some("jsonl.zst"));
        assert_eq!(format_name("b.feather"), Some("arrow"));
        assert_eq!(format_name("b.gz"), None);
        assert_eq!(format_name("jsonl"), None);
        assert_eq!(Format::Parquet.replace_extension("log.jsonl.gz"), "log.parquet");
        assert_eq!(Format::Lines(Compression::Gzip).replace_extension("log"), "log.jsonl.gz");
    }
}
