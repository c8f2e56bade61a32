//! Memory prefetch.

/// Prefetches the cache line that holds an item.
#[inline(always)]
#[allow(unsafe_code, reason = "there is no safe prefetch, and it changes no observable state")]
pub(super) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has this instruction (SSE). It changes no observable state, and the address is that of a
        // live item.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
