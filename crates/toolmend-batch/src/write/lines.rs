//! Compresses lines. Each unit is compressed on its own.

use std::io::{self, Write};

use super::EditedBytes;
use crate::format::Compression;

/// The default of zstd itself.
const ZSTD_LEVEL: i32 = 3;

/// Compresses a text to a gzip member or a zstd frame. A file may consist of any number of these.
pub(super) fn compress(text: EditedBytes, compression: Compression) -> io::Result<EditedBytes> {
    match compression {
        Compression::Plain => Ok(text),
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            text.parts().try_for_each(|part| encoder.write_all(part))?;
            Ok(encoder.finish()?.into())
        }
        Compression::Zstd => Ok(zstd::bulk::compress(&text.to_bytes(), ZSTD_LEVEL)?.into()),
    }
}
