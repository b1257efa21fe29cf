//! A hash that may be stored in a database.
//!
//! The hashers of the standard library may return other values in other versions of Rust. FNV-1a is defined once and for
//! all. It is not made against attackers, so what is found by it must be compared.

const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the 64-bit FNV-1a hash of a text, as the signed integer that databases store.
pub(super) fn hash_text(text: &str) -> i64 {
    let hash = text.bytes().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    hash.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that the authors of the hash publish. Stored hashes depend on them: they must never change.
    #[test]
    fn hashes_have_their_published_values() {
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325_u64), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(hash_text(text).cast_unsigned(), expected, "{text}");
        }
    }
}
