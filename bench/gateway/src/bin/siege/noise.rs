//! Random numbers and bytes that are the same in every run.

/// A generator of random numbers (xorshift).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % limit.max(1)
    }

    /// Returns one of these.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Returns random bytes, half of which are marks that parsers look at.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        const MARKS: &[u8] = b"{}[]\":,\\\n\r data<>/=tool_call\0\xff\xc3\x1b0123456789";
        let byte = |noise: &mut Noise| match noise.below(2) {
            0 => MARKS[noise.below(MARKS.len())],
            _ => u8::try_from(noise.below(256)).unwrap_or(0),
        };
        (0..length).map(|_| byte(self)).collect()
    }
}
