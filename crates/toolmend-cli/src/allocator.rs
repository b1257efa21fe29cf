//! Settings of the allocator.
#![expect(
    unsafe_code,
    reason = "the allocator takes settings through a C function, and there is no other way while a process runs"
)]

use libmimalloc_sys::{mi_option_set, mi_option_t};

/// How long freed memory is kept before it returns to the system; below zero it is never returned. The crate has no constant
/// for this option.
const PURGE_DELAY: mi_option_t = 15;

/// Keeps freed memory in the process until it ends.
///
/// A run over files needs the same megabytes again and again. Returning them to the system and getting them back, cleared page by
/// page, took up to a fifth of a run and did not lower its peak. Call this before other threads start.
#[cfg(feature = "files")]
pub(crate) fn keep_freed_memory() {
    // SAFETY: every number is a valid value of this option, and no other thread exists that could read it at the same time.
    unsafe { mi_option_set(PURGE_DELAY, -1) }
}

/// How long a server keeps freed memory, in milliseconds.
#[cfg(feature = "serve")]
const SERVER_PURGE_DELAY: std::ffi::c_long = 100;

/// Returns freed memory to the system soon.
///
/// The peak of a server is what its clients make it hold at the same time. Memory that others have just given back would count
/// twice. Call this before other threads start.
#[cfg(feature = "serve")]
pub(crate) fn return_freed_memory_soon() {
    // SAFETY: as above.
    unsafe { mi_option_set(PURGE_DELAY, SERVER_PURGE_DELAY) }
}

#[cfg(all(test, feature = "files", feature = "serve"))]
mod tests {
    use super::*;
    use libmimalloc_sys::mi_option_get;

    /// Another release of the allocator may number its options differently.
    #[test]
    fn the_number_of_the_option_is_right() {
        // SAFETY: options can be read at any time.
        let get = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(get(), 1000, "by default");
        keep_freed_memory();
        assert_eq!(get(), -1);
        return_freed_memory_soon();
        assert_eq!(get(), SERVER_PURGE_DELAY);
    }
}
