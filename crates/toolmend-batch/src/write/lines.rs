//! Lines, each unit compressed on its own.

use std::io::{self, Write};

use super::Body;
use crate::format::Packing;

/// zstd's own default; gzip's is 6.
const ZSTD_LEVEL: i32 = 3;

/// The text as a file of its own: files of this kind can be put one behind the other.
pub(super) fn packed(text: Body, packing: Packing) -> io::Result<Body> {
    match packing {
        Packing::Plain => Ok(text),
        Packing::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            text.parts().try_for_each(|part| encoder.write_all(part))?;
            Ok(encoder.finish()?.into())
        }
        Packing::Zstd => Ok(zstd::bulk::compress(&text.whole(), ZSTD_LEVEL)?.into()),
    }
}
