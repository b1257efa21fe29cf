//! Compressed bodies, decompressed. The gateway never compresses.

use std::pin::Pin;

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, TryStreamExt};
use tokio::io::AsyncRead;
use tokio_util::io::{ReaderStream, StreamReader};

/// How many bytes are decompressed at once.
const PIECE: usize = 16 << 10;
/// After how many bytes other requests have their turn.
const PAUSE_AFTER: usize = 256 << 10;

/// An error while a body is read.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// The bytes of a body, in the pieces that they arrive in.
pub(crate) type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, BoxError>> + Send>>;

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    /// Reads the `content-encoding` header. `None` if it is unknown, or if several are applied on top of each other.
    pub(crate) fn from_headers(headers: &http::HeaderMap) -> Option<Coding> {
        let mut coding = Coding::Identity;
        for field in headers.get_all(http::header::CONTENT_ENCODING) {
            for name in field.to_str().ok()?.split(',') {
                match (coding, Coding::from_name(name.trim())?) {
                    (_, Coding::Identity) => {}
                    (Coding::Identity, applied) => coding = applied,
                    _ => return None,
                }
            }
        }
        Some(coding)
    }

    fn from_name(name: &str) -> Option<Coding> {
        match name.to_ascii_lowercase().as_str() {
            "identity" | "" => Some(Coding::Identity),
            "gzip" | "x-gzip" => Some(Coding::Gzip),
            "deflate" => Some(Coding::Deflate),
            "br" => Some(Coding::Brotli),
            "zstd" => Some(Coding::Zstd),
            _ => None,
        }
    }

    /// Removes encodings that the gateway cannot read from an `accept-encoding` header.
    pub(crate) fn restrict_accepted(header: &str) -> String {
        let known =
            |item: &&str| Coding::from_name(item.split(';').next().unwrap_or_default().trim()).is_some();
        let kept: Vec<&str> =
            header.split(',').map(str::trim).filter(|item| !item.is_empty()).filter(known).collect();
        if kept.is_empty() { "identity".to_owned() } else { kept.join(", ") }
    }

    /// Decompresses a stream as it arrives.
    pub(crate) fn decode_stream(self, pieces: ByteStream) -> ByteStream {
        if self == Coding::Identity {
            return pieces;
        }
        let reader = StreamReader::new(pieces.map_err(std::io::Error::other));
        let reader: Pin<Box<dyn AsyncRead + Send>> = match self {
            Coding::Gzip | Coding::Identity => Box::pin(GzipDecoder::new(reader)),
            Coding::Deflate => Box::pin(ZlibDecoder::new(reader)),
            Coding::Brotli => Box::pin(BrotliDecoder::new(reader)),
            Coding::Zstd => Box::pin(ZstdDecoder::new(reader)),
        };
        Box::pin(ReaderStream::with_capacity(reader, PIECE).map_err(Into::into))
    }

    /// Decompresses a whole body. `None` if it is broken, longer than the limit, or if `reserve` does not allow the next bytes.
    pub(crate) async fn decode_whole(
        self,
        body: &Bytes,
        limit: usize,
        mut reserve: impl FnMut(usize) -> bool,
    ) -> Option<Bytes> {
        if self == Coding::Identity {
            return Some(body.clone());
        }
        let one = futures_util::stream::iter([Ok(body.clone())]);
        let mut pieces = self.decode_stream(Box::pin(one));
        let (mut all, mut length, mut last_pause) = (Vec::new(), 0, 0);
        while let Some(piece) = pieces.next().await {
            let piece = piece.ok()?;
            length += piece.len();
            if length > limit || !reserve(piece.len()) {
                return None;
            }
            all.push(piece);
            // A few bytes can become many, and other requests of this thread wait.
            if length - last_pause > PAUSE_AFTER {
                last_pause = length;
                tokio::task::yield_now().await;
            }
        }
        Some(join_pieces(all))
    }
}

/// Joins pieces; a single piece is not copied. Each piece is given back as soon as it is copied, so that all of them together take
/// little more memory than their text.
pub(crate) fn join_pieces(mut pieces: Vec<Bytes>) -> Bytes {
    if pieces.len() < 2 {
        return pieces.pop().unwrap_or_default();
    }
    let mut out = BytesMut::with_capacity(pieces.iter().map(Bytes::len).sum());
    for piece in pieces {
        out.extend_from_slice(&piece);
    }
    out.freeze()
}

/// Compresses a body for tests.
#[cfg(test)]
async fn encode(coding: Coding, body: &[u8]) -> Vec<u8> {
    use tokio::io::AsyncReadExt;

    use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
    let mut out = Vec::new();
    let mut reader: Pin<Box<dyn AsyncRead + Send + '_>> = match coding {
        Coding::Identity => Box::pin(body),
        Coding::Gzip => Box::pin(GzipEncoder::new(body)),
        Coding::Deflate => Box::pin(ZlibEncoder::new(body)),
        Coding::Brotli => Box::pin(BrotliEncoder::new(body)),
        Coding::Zstd => Box::pin(ZstdEncoder::new(body)),
    };
    reader.read_to_end(&mut out).await.unwrap();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn all_encodings_are_read() {
        let text = Bytes::from("toolmend ".repeat(1000));
        for coding in [Coding::Identity, Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            let packed = Bytes::from(encode(coding, &text).await);
            assert_eq!(
                coding.decode_whole(&packed, 1 << 20, |_| true).await.as_ref(),
                Some(&text),
                "{coding:?}"
            );
            if coding != Coding::Identity {
                let over = coding.decode_whole(&packed, 100, |_| true).await;
                assert_eq!(over, None, "{coding:?}: over the limit");
                let half = packed.slice(..packed.len() / 2);
                assert_eq!(coding.decode_whole(&half, 1 << 20, |_| true).await, None, "{coding:?}: cut");
                let mut held = 0;
                let reserve = |more| {
                    held += more;
                    held <= text.len()
                };
                assert_eq!(coding.decode_whole(&packed, 1 << 20, reserve).await.as_ref(), Some(&text));
                assert_eq!(held, text.len(), "{coding:?}");
                assert_eq!(coding.decode_whole(&packed, 1 << 20, |_| false).await, None, "{coding:?}: full");
            }
        }
    }

    #[test]
    fn only_one_encoding_is_undone() {
        let read = |fields: &[&'static str]| {
            let mut headers = http::HeaderMap::new();
            for field in fields {
                headers.append(http::header::CONTENT_ENCODING, http::HeaderValue::from_static(field));
            }
            Coding::from_headers(&headers)
        };
        assert_eq!(read(&[]), Some(Coding::Identity));
        assert_eq!(read(&["identity", "GZIP"]), Some(Coding::Gzip));
        assert_eq!(read(&["gzip, identity"]), Some(Coding::Gzip));
        for several in [&["gzip, gzip"][..], &["gzip", "br"], &["identity", "unknown"], &["gzip", "gzip"]] {
            assert_eq!(read(several), None, "{several:?}");
        }
    }

    #[test]
    fn only_known_encodings_are_requested() {
        assert_eq!(
            Coding::restrict_accepted("gzip, deflate;q=0.5, br, zstd, compress"),
            "gzip, deflate;q=0.5, br, zstd"
        );
        assert_eq!(Coding::restrict_accepted("compress"), "identity");
    }
}
