//! Lines, each unit compressed on its own.

use std::io::{self, Write};

use crate::format::Packing;

/// zstd's own default; gzip's is 6.
const ZSTD_LEVEL: i32 = 3;

/// The text as a file of its own: files of this kind can be put one behind the other.
pub(super) fn packed(text: Vec<u8>, packing: Packing) -> io::Result<Vec<u8>> {
    match packing {
        Packing::Plain => Ok(text),
        Packing::Gzip => {
            let out = Vec::with_capacity(text.len() / 4);
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            encoder.write_all(&text)?;
            encoder.finish()
        }
        Packing::Zstd => zstd::bulk::compress(&text, ZSTD_LEVEL),
    }
}
