//! Memory prefetch.

/// Prefetches the cache lines that hold the beginning and the end of an item.
#[inline(always)]
#[allow(unsafe_code, reason = "there is no safe prefetch, and it changes no observable state")]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(item).cast::<i8>();
        // SAFETY: every x86-64 has this instruction (SSE). It changes no observable state, and the addresses lie
        // in a live item.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(first);
            // Smaller items are mostly within a line.
            if size_of::<T>() > 32 {
                _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(size_of::<T>() - 1));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
