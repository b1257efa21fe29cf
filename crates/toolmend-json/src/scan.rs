//! Many bytes of a string at once: what a JSON string cannot simply contain is found as bits of a word.
//!
//! Strings of code have an escape every dozen bytes. A search that is called for each of them spends its time on starting, and
//! on waiting for where the last one ended. Everything that reads long texts stands on this. One bit of a mask is one byte of
//! the text, the lowest one first.
//!
//! ```
//! use toolmend_json::scan::{BLOCK, Block, find_special};
//! assert_eq!(find_special(br#"path": "a.rs""#, 0), 4);
//! let mut text = [b' '; BLOCK];
//! text[..6].copy_from_slice(br#"a\"b"c"#);
//! let block = Block::of(&text);
//! let mut carry = false;
//! assert_eq!(block.quotes & !block.escaped(&mut carry), 1 << 4);
//! ```

use wide::u8x16;

/// The bytes that are looked at together.
pub const VECTOR: usize = 16;
/// The bytes that one word has bits for.
pub const BLOCK: usize = 64;

/// Where a quote, a backslash or a control byte stands in a lane.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a few instructions, in loops that do little else")]
fn specials(lane: &[u8; VECTOR]) -> u32 {
    let lane = u8x16::new(*lane);
    let found = is(lane, b'"') | is(lane, b'\\') | is_control(lane);
    found.to_bitmask()
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction")]
fn is(lane: u8x16, byte: u8) -> u8x16 {
    lane.simd_eq(u8x16::splat(byte))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions for each byte")]
fn is_any<const COUNT: usize>(lane: u8x16, wanted: [u8; COUNT]) -> u8x16 {
    wanted.into_iter().fold(u8x16::ZERO, |found, byte| found | is(lane, byte))
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
fn is_control(lane: u8x16) -> u8x16 {
    // No byte is less than another here without a sign, but the lesser of two can be asked for.
    lane.min(u8x16::splat(0x1F)).simd_eq(lane)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "one load")]
fn lane_at(bytes: &[u8], at: usize) -> Option<&[u8; VECTOR]> {
    bytes.get(at..)?.first_chunk()
}

/// The same as [`find_special`] where the next lane tells.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a few instructions")]
pub fn find_special_in_vector(bytes: &[u8], at: usize) -> Option<usize> {
    let found = specials(lane_at(bytes, at)?);
    (found != 0).then(|| at + found.trailing_zeros() as usize)
}

/// The first byte from `at` on that a string cannot simply contain: a quote, a backslash or a control byte.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "a call for each escape of a string costs a tenth of the strict pass"
)]
pub fn find_special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(lane) = lane_at(bytes, at) {
        let found = specials(lane);
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

/// Copies `length` bytes of a block from the place `at` to the place `to`. Whole lanes are copied, one at least: both sides have
/// a lane more than their block, and what is behind the copy is overwritten. Runs are short in a text with escapes, and a call
/// for each would take longer than the copy.
///
/// Blocks are powers of two, and places are taken as places in them, so that no copy needs a check. A place that is not in its
/// block would be another one.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it stands in loops that do little else")]
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

/// The first byte from `at` on that is one of these.
#[inline]
pub fn find_any<const COUNT: usize>(bytes: &[u8], mut at: usize, wanted: [u8; COUNT]) -> Option<usize> {
    while let Some(lane) = lane_at(bytes, at) {
        let found = is_any(u8x16::new(*lane), wanted).to_bitmask();
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize);
        }
        at += VECTOR;
    }
    let rest = bytes.get(at..)?;
    rest.iter().position(|byte| wanted.contains(byte)).map(|offset| at + offset)
}

/// What stands in a block.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Quotes, escaped or not.
    pub quotes: u64,
    /// Bytes below the blank.
    pub controls: u64,
    /// Backslashes, escaped or not.
    pub backslashes: u64,
}

impl Block {
    /// The block at `at`; nothing where the text is shorter.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the masks stay in registers")]
    pub fn at(bytes: &[u8], at: usize) -> Option<(&[u8; BLOCK], Self)> {
        let block: &[u8; BLOCK] = bytes.get(at..)?.first_chunk()?;
        Some((block, Block::of(block)))
    }

    /// What stands in these bytes.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the masks stay in registers, and those that nobody asks for are not made"
    )]
    pub fn of(block: &[u8; BLOCK]) -> Self {
        let (mut quotes, mut controls, mut backslashes) = (0, 0, 0);
        for index in 0..BLOCK / VECTOR {
            let mut lane = [0; VECTOR];
            lane.copy_from_slice(&block[index * VECTOR..][..VECTOR]);
            let lane = u8x16::new(lane);
            let bits = |found: u8x16| u64::from(found.to_bitmask()) << (index * VECTOR);
            quotes |= bits(is(lane, b'"'));
            backslashes |= bits(is(lane, b'\\'));
            controls |= bits(is_control(lane));
        }
        Block { quotes, controls, backslashes }
    }

    /// Where one of these letters stands.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a few instructions for each lane")]
    pub fn find_bytes<const COUNT: usize>(block: &[u8; BLOCK], wanted: [u8; COUNT]) -> u64 {
        let mut letters = 0;
        for index in 0..BLOCK / VECTOR {
            let mut lane = [0; VECTOR];
            lane.copy_from_slice(&block[index * VECTOR..][..VECTOR]);
            letters |= u64::from(is_any(u8x16::new(lane), wanted).to_bitmask()) << (index * VECTOR);
        }
        letters
    }

    /// Everything that a string cannot simply contain.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "two instructions")]
    pub fn specials(self) -> u64 {
        self.quotes | self.controls | self.backslashes
    }

    /// The bytes behind a backslash that is not behind one itself. `carry`: the first byte of the block is such a byte;
    /// afterwards, whether the first byte of the next one is.
    ///
    /// In a run of backslashes every other one escapes. A run that starts at an odd place is added to itself, so that
    /// the carry runs to its end and leaves there whether its length is odd.
    #[inline]
    pub fn escaped(self, carry: &mut bool) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let first = u64::from(*carry);
        let escaping = self.backslashes & !first;
        let behind = escaping << 1 | first;
        let odd_runs = escaping & !EVEN & !behind;
        let (sum, over) = odd_runs.overflowing_add(escaping);
        *carry = over;
        (EVEN ^ sum << 1) & behind
    }
}

/// The same places as [`find_special`] finds, for a walk from one to the next: a block is looked at once for all that stand in
/// it, so that the search for one does not wait for the one before.
#[derive(Debug)]
pub struct Specials<'t> {
    bytes: &'t [u8],
    /// Where the block begins that is known.
    base: usize,
    /// Every special byte in it. Nothing before the first block.
    found: u64,
    /// What stands in it.
    block: Block,
}

impl<'t> Specials<'t> {
    /// For a walk over these bytes.
    pub fn new(bytes: &'t [u8]) -> Self {
        let block = Block { quotes: 0, controls: 0, backslashes: 0 };
        Specials { bytes, base: usize::MAX, found: 0, block }
    }

    /// The first special byte from `at` on.
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

    /// The block that is known to hold the byte at `at`, or else the one that begins there: where it begins, its bytes and what
    /// stands in it. Nothing where the text is shorter.
    #[inline]
    pub fn block_at(&mut self, at: usize) -> Option<(usize, &'t [u8; BLOCK], Block)> {
        match at.checked_sub(self.base) {
            Some(0..BLOCK) => Some((self.base, self.bytes.get(self.base..)?.first_chunk()?, self.block)),
            _ => self.load_block(at),
        }
    }

    /// The block that begins at `at`.
    #[inline]
    pub fn load_block(&mut self, at: usize) -> Option<(usize, &'t [u8; BLOCK], Block)> {
        let (bytes, block) = Block::at(self.bytes, at)?;
        (self.base, self.found, self.block) = (at, block.specials(), block);
        Some((at, bytes, block))
    }

    /// The first special byte from the block at `at` on.
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
    fn any_of_some_bytes_is_found_wherever_it_stands() {
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
    fn runs_are_copied_from_any_place_to_any_other() {
        let mut from = [0; BLOCK + VECTOR];
        for (place, byte) in (0..).zip(&mut from) {
            *byte = place;
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
    fn letters_are_found_in_every_lane() {
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
                // Some steps are over more than one of them.
                at = place + 1 + place % 3;
            }
        }
    }

    #[test]
    fn what_is_escaped_is_what_a_walk_over_the_bytes_says() {
        // Every pattern of fourteen bytes at each place of two blocks, across their border too.
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
                let told = masks[at / BLOCK].is_some_and(|mask| mask >> (at % BLOCK) & 1 == 1);
                assert_eq!(told, escaping, "{pattern:b} at {at}");
                escaping = !escaping && *byte == b'\\';
            }
            assert_eq!(carry, escaping, "{pattern:b}");
        }
    }
}
