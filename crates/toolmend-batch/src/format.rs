//! What files are made of.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How a file holds its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object a line.
    Lines(Packing),
    /// Apache Parquet.
    Parquet,
    /// The file format of Arrow IPC, which Feather is, too.
    ArrowFile,
    /// The stream format of Arrow IPC.
    ArrowStream,
}

/// How lines are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip, in any number of members.
    Gzip,
    /// Zstandard, in any number of frames.
    Zstd,
}

/// Every format with the name that people give it and the ends that file names have, the usual one first.
pub const FORMATS: &[(&str, Format, &[&str])] = &[
    ("jsonl", Format::Lines(Packing::Plain), &["jsonl", "ndjson", "json"]),
    ("jsonl.gz", Format::Lines(Packing::Gzip), &["jsonl.gz", "ndjson.gz", "json.gz"]),
    ("jsonl.zst", Format::Lines(Packing::Zstd), &["jsonl.zst", "ndjson.zst", "json.zst"]),
    ("parquet", Format::Parquet, &["parquet"]),
    ("arrow", Format::ArrowFile, &["arrow", "feather", "ipc"]),
    ("arrows", Format::ArrowStream, &["arrows"]),
];

/// What files begin with.
const MAGIC: &[(&[u8], Format)] = &[
    (b"PAR1", Format::Parquet),
    (b"ARROW1", Format::ArrowFile),
    (b"\xff\xff\xff\xff", Format::ArrowStream),
    (b"\x1f\x8b", Format::Lines(Packing::Gzip)),
    (b"\x28\xb5\x2f\xfd", Format::Lines(Packing::Zstd)),
];

impl Format {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.0)
    }

    /// The format that a name ends like.
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let fits = |end: &str| name.strip_suffix(end).is_some_and(|stem| stem.ends_with('.'));
        FORMATS.iter().find(|(_, _, ends)| ends.iter().any(|end| fits(end))).map(|row| row.1)
    }

    /// The format of a file by what it begins with; names may say anything.
    pub(crate) fn of_file(path: &Path) -> io::Result<Format> {
        let mut head = [0; 8];
        let (mut file, mut filled) = (File::open(path)?, 0);
        while filled < head.len() {
            match file.read(&mut head[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        let by_magic = MAGIC.iter().find(|(magic, _)| head[..filled].starts_with(magic)).map(|row| row.1);
        // Nothing at all has no magic: the name tells what an empty file was meant to be.
        let by_name = || Format::of_name(path).filter(|_| filled == 0);
        Ok(by_magic.or_else(by_name).unwrap_or(Format::Lines(Packing::Plain)))
    }

    /// A file name with the end of this format in the place of the one it has.
    pub(crate) fn renamed(self, name: &str) -> String {
        let lower = name.to_ascii_lowercase();
        let ends = FORMATS.iter().flat_map(|row| row.2).filter(|end| lower.ends_with(&format!(".{end}")));
        let longest = ends.max_by_key(|end| end.len()).map_or(0, |end| end.len() + 1);
        let end = self.row().map_or("", |row| row.2[0]);
        format!("{}.{end}", &name[..name.len() - longest])
    }

    /// Whether rows are columns of a table.
    pub(crate) fn is_table(self) -> bool {
        !matches!(self, Format::Lines(_))
    }

    fn row(self) -> Option<&'static (&'static str, Format, &'static [&'static str])> {
        FORMATS.iter().find(|row| row.1 == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let of = |name: &str| Format::of_name(Path::new(name)).map(Format::name);
        assert_eq!(of("a/b.JSONL"), Some("jsonl"));
        assert_eq!(of("b.jsonl.gz"), Some("jsonl.gz"));
        assert_eq!(of("b.ndjson.zst"), Some("jsonl.zst"));
        assert_eq!(of("b.feather"), Some("arrow"));
        assert_eq!(of("b.gz"), None);
        assert_eq!(of("jsonl"), None);
        assert_eq!(Format::Parquet.renamed("log.jsonl.gz"), "log.parquet");
        assert_eq!(Format::Lines(Packing::Gzip).renamed("log"), "log.jsonl.gz");
    }
}
