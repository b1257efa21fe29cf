//! SIMD search in text: finds what a JSON string cannot simply contain, many bytes together.
//!
//! Strings of code have an escape every dozen bytes. A search that is called for each of them spends its time on starting and
//! on waiting for the position of the one before. So a [`Block`] of 64 bytes becomes bit masks in one go: one bit of a mask is
//! one byte of the text, the lowest bit first. This module only finds and copies bytes. It never decides what they mean.
//!
//! ```
//! use toolmend_json::scan::{BLOCK, Block, find_special};
//!
//! assert_eq!(find_special(br#"path": "a.rs""#, 0), 4);
//! let mut text = [b' '; BLOCK];
//! text[..6].copy_from_slice(br#"a\"b"c"#);
//! assert_eq!(Block::of(&text).without_escaped().quotes, 1 << 4);
//! ```

use wide::u8x16;

/// The number of bytes in one SIMD vector.
pub const VECTOR: usize = 16;
/// The number of bytes in a block: as many as a mask has bits.
pub const BLOCK: usize = 64;

/// The mask of the quotes, backslashes and control bytes in a vector.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a few instructions, in loops that do little else")]
fn specials(vector: &[u8; VECTOR]) -> u32 {
    let vector = u8x16::new(*vector);
    let found = is(vector, b'"') | is(vector, b'\\') | is_control(vector);
    found.to_bitmask()
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction")]
fn is(vector: u8x16, byte: u8) -> u8x16 {
    vector.simd_eq(u8x16::splat(byte))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions for each byte")]
fn is_any<const COUNT: usize>(vector: u8x16, wanted: [u8; COUNT]) -> u8x16 {
    wanted.into_iter().fold(u8x16::ZERO, |found, byte| found | is(vector, byte))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
fn is_control(vector: u8x16) -> u8x16 {
    // There is no comparison of unsigned bytes, but there is a minimum.
    vector.min(u8x16::splat(0x1F)).simd_eq(vector)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "one load")]
fn vector_at(bytes: &[u8], at: usize) -> Option<&[u8; VECTOR]> {
    bytes.get(at..)?.first_chunk()
}

/// Finds the same byte as [`find_special`] if it is in the vector at `at`. `None` if there is none, or if fewer bytes are
/// left than a vector has.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a few instructions")]
pub fn find_special_in_vector(bytes: &[u8], at: usize) -> Option<usize> {
    let found = specials(vector_at(bytes, at)?);
    (found != 0).then(|| at + found.trailing_zeros() as usize)
}

/// Returns the position of the first byte from `at` on that a JSON string cannot simply contain: a quote, a backslash or a
/// control byte. If there is none, that is the end of the text.
///
/// ```
/// use toolmend_json::scan::find_special;
///
/// assert_eq!(find_special(b"tab\there", 0), 3);
/// assert_eq!(find_special(b"plain", 0), 5);
/// ```
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a call for each escape of a string costs a tenth of the strict check"
)]
pub fn find_special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(vector) = vector_at(bytes, at) {
        let found = specials(vector);
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += VECTOR;
    }
    while bytes.get(at).is_some_and(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        at += 1;
    }
    at
}

/// Copies `length` bytes of a block from position `at` to position `to`, in whole vectors and at least one of them. Runs are
/// short in text with escapes, and a call of `memcpy` for each would take longer than the copy.
///
/// Both arrays have a vector more than their block, and what follows the copied bytes is overwritten. Blocks are powers of
/// two, and positions are taken modulo the block, so that no copy needs a bounds check. A position outside its block would
/// therefore be another one.
#[inline(always)]
#[expect(clippy::inline_always, reason = "called in loops that do little else")]
pub fn copy_run<const FROM: usize, const TO: usize>(
    from: &[u8; FROM],
    at: usize,
    out: &mut [u8; TO],
    to: usize,
    length: usize,
) {
    const { assert!((FROM - VECTOR).is_power_of_two() && (TO - VECTOR).is_power_of_two()) };
    let mut done = 0;
    loop {
        let at = (at + done) & (FROM - VECTOR - 1);
        let to = (to + done) & (TO - VECTOR - 1);
        out[to..to + VECTOR].copy_from_slice(&from[at..at + VECTOR]);
        done += VECTOR;
        if done >= length {
            break;
        }
    }
}

/// Returns the position of the first byte from `at` on that is one of these.
///
/// ```
/// assert_eq!(toolmend_json::scan::find_any(b"a < b", 0, [b'<', b'>']), Some(2));
/// ```
#[inline]
pub fn find_any<const COUNT: usize>(bytes: &[u8], mut at: usize, wanted: [u8; COUNT]) -> Option<usize> {
    while let Some(vector) = vector_at(bytes, at) {
        let found = is_any(u8x16::new(*vector), wanted).to_bitmask();
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize);
        }
        at += VECTOR;
    }
    let rest = bytes.get(at..)?;
    rest.iter().position(|byte| wanted.contains(byte)).map(|offset| at + offset)
}

/// Copies the first bytes of `rest` into a block, filled up with zeros if there are too few.
///
/// ```
/// assert_eq!(toolmend_json::scan::load_padded(b"ab")[..3], *b"ab\0");
/// ```
#[inline]
pub fn load_padded(rest: &[u8]) -> [u8; BLOCK] {
    if let Some(block) = rest.first_chunk() {
        return *block;
    }
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// The masks of a block: one bit for each byte, the lowest bit for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Quotes, escaped or not.
    pub quotes: u64,
    /// Control bytes: those below the space.
    pub controls: u64,
    /// Backslashes, escaped or not.
    pub backslashes: u64,
}

impl Block {
    /// Returns the block at `at` and its masks. `None` if fewer bytes are left.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the masks stay in registers")]
    pub fn at(bytes: &[u8], at: usize) -> Option<(&[u8; BLOCK], Self)> {
        let block: &[u8; BLOCK] = bytes.get(at..)?.first_chunk()?;
        Some((block, Block::of(block)))
    }

    /// Returns the masks of these bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the masks stay in registers, and unused ones are not computed")]
    pub fn of(block: &[u8; BLOCK]) -> Self {
        let (mut quotes, mut controls, mut backslashes) = (0, 0, 0);
        for index in 0..BLOCK / VECTOR {
            let mut vector = [0; VECTOR];
            vector.copy_from_slice(&block[index * VECTOR..][..VECTOR]);
            let vector = u8x16::new(vector);
            let bits = |found: u8x16| u64::from(found.to_bitmask()) << (index * VECTOR);
            quotes |= bits(is(vector, b'"'));
            backslashes |= bits(is(vector, b'\\'));
            controls |= bits(is_control(vector));
        }
        Block { quotes, controls, backslashes }
    }

    /// Returns the mask of all bytes that are one of these.
    ///
    /// ```
    /// use toolmend_json::scan::{BLOCK, Block};
    ///
    /// let mut text = [b' '; BLOCK];
    /// text[3] = b'n';
    /// assert_eq!(Block::find_bytes(&text, [b'n', b't']), 1 << 3);
    /// ```
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few instructions for each vector")]
    pub fn find_bytes<const COUNT: usize>(block: &[u8; BLOCK], wanted: [u8; COUNT]) -> u64 {
        let mut mask = 0;
        for index in 0..BLOCK / VECTOR {
            let mut vector = [0; VECTOR];
            vector.copy_from_slice(&block[index * VECTOR..][..VECTOR]);
            mask |= u64::from(is_any(u8x16::new(vector), wanted).to_bitmask()) << (index * VECTOR);
        }
        mask
    }

    /// Returns the mask of everything that a JSON string cannot simply contain.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two instructions")]
    pub fn specials(self) -> u64 {
        self.quotes | self.controls | self.backslashes
    }

    /// Returns the mask of the escaped bytes: those after a backslash that is not escaped itself. `carry` says whether the
    /// first byte of the block is escaped, and afterwards whether the first byte of the next block is.
    ///
    /// In a run of backslashes every other one escapes. A run that starts at an odd position is added to itself, so that the
    /// carry of the sum moves to its end and leaves there whether its length is odd.
    #[inline]
    pub fn escaped(self, carry: &mut bool) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let first = u64::from(*carry);
        let escaping = self.backslashes & !first;
        let followers = escaping << 1 | first;
        let odd_runs = escaping & !EVEN & !followers;
        let (sum, over) = odd_runs.overflowing_add(escaping);
        *carry = over;
        (EVEN ^ sum << 1) & followers
    }

    /// Returns the block without its escaped quotes and backslashes: its quotes end strings, and its backslashes start
    /// escapes. The block must not start inside an escape.
    #[inline]
    #[must_use]
    pub fn without_escaped(self) -> Self {
        // Long text hardly has any.
        if self.backslashes == 0 {
            return self;
        }
        let escaped = self.escaped(&mut false);
        Block { quotes: self.quotes & !escaped, backslashes: self.backslashes & !escaped, ..self }
    }
}

/// Walks from one special byte to the next, as [`find_special`] finds them. It computes the masks of a block once for all
/// special bytes in it, so that the search for one does not wait for the one before.
///
/// ```
/// use toolmend_json::scan::Specials;
///
/// let mut specials = Specials::new(br#"a "b" c"#);
/// assert_eq!(specials.next(0), 2);
/// assert_eq!(specials.next(3), 4);
/// ```
#[derive(Debug)]
pub struct Specials<'t> {
    bytes: &'t [u8],
    /// Where the current block starts.
    base: usize,
    /// The mask of all special bytes in it. Zero before the first block.
    found: u64,
    /// Its masks.
    block: Block,
}

impl<'t> Specials<'t> {
    /// Starts a walk over these bytes.
    pub fn new(bytes: &'t [u8]) -> Self {
        let block = Block { quotes: 0, controls: 0, backslashes: 0 };
        Specials { bytes, base: usize::MAX, found: 0, block }
    }

    /// Returns the position of the first special byte from `at` on.
    #[inline]
    pub fn next(&mut self, at: usize) -> usize {
        if let Some(offset @ 0..BLOCK) = at.checked_sub(self.base) {
            let found = self.found >> offset << offset;
            if found != 0 {
                return self.base + found.trailing_zeros() as usize;
            }
            return self.search(self.base + BLOCK);
        }
        self.search(at)
    }

    /// Returns the current block if it holds the byte at `at`, and otherwise the block that starts there: where it starts,
    /// its bytes and its masks. `None` if fewer bytes are left.
    #[inline]
    pub fn block_at(&mut self, at: usize) -> Option<(usize, &'t [u8; BLOCK], Block)> {
        match at.checked_sub(self.base) {
            Some(0..BLOCK) => Some((self.base, self.bytes.get(self.base..)?.first_chunk()?, self.block)),
            _ => self.load_block(at),
        }
    }

    /// Makes the block that starts at `at` the current one, and returns it as [`block_at`](Specials::block_at) does.
    #[inline]
    pub fn load_block(&mut self, at: usize) -> Option<(usize, &'t [u8; BLOCK], Block)> {
        let (bytes, block) = Block::at(self.bytes, at)?;
        (self.base, self.found, self.block) = (at, block.specials(), block);
        Some((at, bytes, block))
    }

    /// Returns the position of the first special byte from the block at `at` on.
    fn search(&mut self, mut at: usize) -> usize {
        while let Some((_, block)) = Block::at(self.bytes, at) {
            let found = block.specials();
            if found != 0 {
                (self.base, self.found, self.block) = (at, found, block);
                return at + found.trailing_zeros() as usize;
            }
            at += BLOCK;
        }
        find_special(self.bytes, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_special(byte: u8) -> bool {
        byte < 0x20 || byte == b'"' || byte == b'\\'
    }

    #[test]
    fn a_run_ends_at_the_first_byte_that_is_special() {
        for special in (0..=u8::MAX).filter(|byte| is_special(*byte)) {
            for length in 0..70 {
                let mut bytes = vec![0xE9; length];
                bytes.push(special);
                bytes.extend_from_slice(b"tail of the text\"");
                assert_eq!(find_special(&bytes, 0), length);
            }
        }
        for plain in (0..=u8::MAX).filter(|byte| !is_special(*byte)) {
            assert_eq!(find_special(&[plain; 40], 3), 40);
        }
        assert_eq!(find_special(b"abc", 9), 9);
    }

    #[test]
    fn any_of_some_bytes_is_found_at_every_position() {
        for length in 0..50 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(find_any(&bytes, 0, [b'<', 0xE2]), None);
            bytes.extend_from_slice(b"\xE2 and < and so on");
            assert_eq!(find_any(&bytes, 0, [b'<', 0xE2]), Some(length));
            assert_eq!(find_any(&bytes, length + 1, [b'<', 0xE2]), Some(length + 6));
        }
        assert_eq!(find_any(b"abc", 9, [b'a']), None);
    }

    #[test]
    fn runs_are_copied_from_any_position_to_any_other() {
        let mut from = [0; BLOCK + VECTOR];
        for (value, byte) in (0..).zip(&mut from) {
            *byte = value;
        }
        for at in 0..BLOCK {
            for length in 0..=BLOCK - at {
                let to = 2 * BLOCK - length.max(1) - at % 7;
                let mut out = [0; 2 * BLOCK + VECTOR];
                copy_run(&from, at, &mut out, to, length);
                assert_eq!(out[to..to + length], from[at..at + length], "{length} from {at} to {to}");
                assert!(out[..to].iter().all(|byte| *byte == 0), "{length} from {at} to {to}");
            }
        }
    }

    #[test]
    fn bytes_are_found_in_every_vector() {
        for place in 0..BLOCK {
            let mut block = [b'"'; BLOCK];
            block[place] = b'n';
            assert_eq!(Block::find_bytes(&block, [b'n', b't']), 1 << place);
        }
    }

    #[test]
    fn a_walk_meets_every_special_byte() {
        for gaps in [[1, 2, 3], [0, 0, 60], [63, 64, 65], [15, 1, 200], [7, 100, 31]] {
            let mut bytes = Vec::new();
            for gap in gaps.into_iter().cycle().take(9) {
                bytes.resize(bytes.len() + gap, b'a');
                bytes.push(b"\"\\\n"[bytes.len() % 3]);
            }
            bytes.extend_from_slice(b"and so on");
            let mut specials = Specials::new(&bytes);
            let mut at = 0;
            while at <= bytes.len() {
                let place = specials.next(at);
                assert_eq!(place, find_special(&bytes, at), "{gaps:?} from {at}");
                if let Some((base, block, found)) = specials.block_at(place) {
                    assert!((base..base + BLOCK).contains(&place), "{gaps:?} from {at}");
                    assert_eq!(found.specials(), Block::of(block).specials(), "{gaps:?} from {at}");
                    assert_eq!(bytes[base..base + BLOCK], *block, "{gaps:?} from {at}");
                }
                // Some steps skip more than one of them.
                at = place + 1 + place % 3;
            }
        }
    }

    #[test]
    fn escaped_bytes_are_those_of_a_reader_that_goes_byte_by_byte() {
        // Every pattern of fourteen bytes at each position of two blocks, also across their border.
        for pattern in 0u32..1 << 14 {
            let place = pattern as usize % 114;
            let mut bytes = [b'a'; 2 * BLOCK];
            for bit in 0..14 {
                if pattern >> bit & 1 == 1 {
                    bytes[place + bit] = b'\\';
                }
            }
            let mut carry = false;
            let masks =
                [0, BLOCK].map(|at| Block::at(&bytes, at).map(|(_, block)| block.escaped(&mut carry)));
            let mut escaping = false;
            for (at, byte) in bytes.iter().enumerate() {
                let masked = masks[at / BLOCK].is_some_and(|mask| mask >> (at % BLOCK) & 1 == 1);
                assert_eq!(masked, escaping, "{pattern:b} at {at}");
                escaping = !escaping && *byte == b'\\';
            }
            assert_eq!(carry, escaping, "{pattern:b}");
        }
    }

    /// The masks without escaped bytes and the mask of special bytes, computed byte by byte.
    fn masks_byte_by_byte(bytes: &[u8; BLOCK]) -> (Block, u64) {
        let mut masks = Block { quotes: 0, controls: 0, backslashes: 0 };
        let (mut special, mut escaped) = (0, false);
        for (at, &byte) in bytes.iter().enumerate() {
            let bit = 1 << at;
            if is_special(byte) {
                special |= bit;
            }
            if byte < 0x20 {
                masks.controls |= bit;
            }
            match byte {
                _ if escaped => escaped = false,
                b'\\' => {
                    masks.backslashes |= bit;
                    escaped = true;
                }
                b'"' => masks.quotes |= bit,
                _ => {}
            }
        }
        (masks, special)
    }

    #[test]
    fn masks_are_those_of_a_reader_that_goes_byte_by_byte() {
        // The other bytes are those that a sloppy search would confuse with the special ones.
        let bytes = b"\\\\\\\"\"!#[]\xa2\xdc\x7f\x20\x9f\x1f\x01\x00\xffab";
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..200_000_u64 {
            // From nothing but backslashes and quotes to hardly any.
            let kinds = 1 + round % bytes.len() as u64;
            let block: [u8; BLOCK] = std::array::from_fn(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                bytes[usize::try_from((random >> 11) % kinds).unwrap()]
            });
            let (expected, specials) = masks_byte_by_byte(&block);
            assert_eq!(Block::of(&block).without_escaped(), expected, "{block:?}");
            assert_eq!(Block::of(&block).specials(), specials, "{block:?}");
            let first = block[..VECTOR].iter().position(|byte| is_special(*byte));
            assert_eq!(find_special_in_vector(&block, 0), first, "{block:?}");
        }
    }

    #[test]
    fn a_short_rest_is_filled_up_with_zeros() {
        assert_eq!(load_padded(b"ab")[..3], *b"ab\0");
        assert_eq!(load_padded(&[7; BLOCK + 1]), [7; BLOCK]);
    }
}
