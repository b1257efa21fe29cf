//! Bytes that mean something in a string of a row, found sixty-four at a time.

use crate::scan::{BLOCK, Block, find_special_in_vector};

/// How many bytes are looked at together.
pub(crate) const SPAN: usize = BLOCK;

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
    let block = Block::of(span);
    // Long texts hardly have any.
    if block.backslashes == 0 {
        return Marks { quotes: block.quotes, escapes: 0 };
    }
    let escaped = block.escaped(&mut false);
    Marks { quotes: block.quotes & !escaped, escapes: block.backslashes & !escaped }
}

/// Everything that has to be escaped in a string.
#[inline]
pub(crate) fn unwritable(span: &Span) -> u64 {
    Block::of(span).specials()
}

/// The end of a string of less than sixteen bytes without escapes or control bytes.
#[inline]
pub(crate) fn short_end(part: &[u8; 16]) -> Option<usize> {
    find_special_in_vector(part, 0).filter(|&at| part[at] == b'"')
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
            assert_eq!(marks(&span), expected, "{span:?}");
            assert_eq!(unwritable(&span), unwritable_bits, "{span:?}");
            let end = span[..16].iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'));
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
