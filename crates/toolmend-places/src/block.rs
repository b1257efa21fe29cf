//! Bytes that mean something in a string, found sixty-four at a time.
//!
//! Strings in logs have an escape every dozen bytes. A search that is called for each of them spends its time on starting,
//! and on waiting for where the last one ended. Here all marks of a span become bits of one number, and which of them are
//! escaped is arithmetic.

use wide::u8x16;

/// How many bytes are looked at together.
pub(crate) const SPAN: usize = 64;

/// Bytes that are looked at together.
pub(crate) type Span = [u8; SPAN];

/// Quotes and escapes of a span, which begins outside of any escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Quotes that are not escaped.
    pub(crate) quotes: u64,
    /// Backslashes that begin an escape.
    pub(crate) escapes: u64,
}

/// The quotes and escapes of a span.
#[inline]
pub(crate) fn marks(span: &Span) -> Marks {
    let (quotes, backslashes) = (bits(span, |part| equal(part, b'"')), escapes_of(span));
    let escaped = escaped(backslashes);
    Marks { quotes: quotes & !escaped, escapes: backslashes & !escaped }
}

/// The end of a string of less than sixteen bytes without escapes.
#[inline]
pub(crate) fn short_end(part: &[u8; 16]) -> Option<usize> {
    let part = u8x16::new(*part);
    let quotes = equal(part, b'"').to_bitmask();
    let escapes = equal(part, b'\\').to_bitmask();
    // The lowest bit of all is that of a quote.
    (quotes.trailing_zeros() < escapes.trailing_zeros()).then(|| quotes.trailing_zeros() as usize)
}

/// The backslashes of a span that begin an escape.
#[inline]
pub(crate) fn escapes(span: &Span) -> u64 {
    let backslashes = escapes_of(span);
    backslashes & !escaped(backslashes)
}

/// Everything that has to be escaped in a string.
#[inline]
pub(crate) fn unwritable(span: &Span) -> u64 {
    bits(span, |part| {
        let control = part.min(u8x16::splat(0x1f)).simd_eq(part);
        control | equal(part, b'"') | equal(part, b'\\')
    })
}

#[inline]
fn escapes_of(span: &Span) -> u64 {
    bits(span, |part| equal(part, b'\\'))
}

/// The places behind an odd number of backslashes in a row. Adding carries a bit through each row from its beginning: where it
/// comes out tells whether the row was odd.
#[inline]
fn escaped(backslashes: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    if backslashes == 0 {
        return 0;
    }
    let behind = backslashes << 1;
    let odd_starts = backslashes & !EVEN & !behind;
    let carried = odd_starts.wrapping_add(backslashes) << 1;
    (EVEN ^ carried) & behind
}

#[inline]
fn equal(part: u8x16, byte: u8) -> u8x16 {
    part.simd_eq(u8x16::splat(byte))
}

/// A bit for each byte that `find` finds, the lowest for the first.
#[inline]
fn bits(span: &Span, find: impl Fn(u8x16) -> u8x16) -> u64 {
    let (parts, _) = span.as_chunks::<16>();
    let bits = |at: usize| u64::from(find(u8x16::new(parts[at])).to_bitmask());
    bits(0) | bits(1) << 16 | bits(2) << 32 | bits(3) << 48
}

/// The span at the head of what is left, filled up with zeros where less is left.
#[inline]
pub(crate) fn head(rest: &[u8]) -> Span {
    if let Some(span) = rest.first_chunk() {
        return *span;
    }
    let mut span = [0; SPAN];
    span[..rest.len()].copy_from_slice(rest);
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader finds that goes byte by byte.
    fn plainly(span: &Span) -> (Marks, u64) {
        let (mut marks, mut unwritable, mut behind) = (Marks { quotes: 0, escapes: 0 }, 0, false);
        for (at, byte) in span.iter().enumerate() {
            let bit = 1 << at;
            if *byte < 0x20 || matches!(byte, b'"' | b'\\') {
                unwritable |= bit;
            }
            match byte {
                _ if behind => behind = false,
                b'\\' => {
                    marks.escapes |= bit;
                    behind = true;
                }
                b'"' => marks.quotes |= bit,
                _ => {}
            }
        }
        (marks, unwritable)
    }

    #[test]
    fn marks_are_those_of_a_reader_that_goes_byte_by_byte() {
        // The bytes beside the marks are those that a sloppy search would take for them.
        let near = b"\\\\\\\"\"!#[]\xa2\xdc\x7f\x20\x9f\x1f\x01\x00\xffab";
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..200_000_u64 {
            // From nothing but backslashes and quotes to hardly any.
            let kinds = 1 + round % near.len() as u64;
            let span: Span = std::array::from_fn(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                near[usize::try_from((random >> 11) % kinds).unwrap()]
            });
            let (expected, unwritable_bits) = plainly(&span);
            assert_eq!((marks(&span), escapes(&span)), (expected, expected.escapes), "{span:?}");
            assert_eq!(unwritable(&span), unwritable_bits, "{span:?}");
            let end = span[..16].iter().position(|byte| matches!(byte, b'"' | b'\\'));
            let end = end.filter(|end| span[*end] == b'"');
            assert_eq!(short_end(span.first_chunk().unwrap()), end, "{span:?}");
        }
    }

    #[test]
    fn what_is_short_is_filled_up() {
        assert_eq!(head(b"ab")[..3], *b"ab\0");
        assert_eq!(head(&[7; SPAN + 1]), [7; SPAN]);
    }
}
