//! What the allocator does with memory that is free.
#![expect(
    unsafe_code,
    reason = "the allocator is told by a C function, and there is no other way while a process runs"
)]

use libmimalloc_sys::{mi_option_set, mi_option_t};

/// How long memory is kept before it goes back to the system; below zero it is kept to the end. The crate has no name for it.
const PURGE_DELAY: mi_option_t = 15;

/// Keeps memory that is free for what comes next. A run over files needs the same megabytes again and again; going back to the
/// system and coming again, cleared page by page, took up to a fifth of its time and did not make its peak any lower.
///
/// To be called before other threads are started.
pub(crate) fn keep() {
    // SAFETY: any number is a value of this option, and no other thread is there that could read it meanwhile.
    unsafe { mi_option_set(PURGE_DELAY, -1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libmimalloc_sys::mi_option_get;

    /// Another release of the allocator may count its options anew.
    #[test]
    fn the_number_is_that_of_the_option() {
        // SAFETY: options can be read at any time.
        let get = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(get(), 1000, "by default");
        keep();
        assert_eq!(get(), -1);
    }
}
