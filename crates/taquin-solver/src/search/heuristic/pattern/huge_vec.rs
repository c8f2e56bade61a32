//! Memory in huge pages.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A fixed number of items in memory of their own, in huge pages if the system has any.
///
/// Reads at random places are faster there, because the processor keeps the addresses of few pages. The rest of the
/// process has small pages: it would take half as much memory again with huge ones (docs/adr/0012).
pub struct HugeVec<T> {
    memory: MmapMut,
    items: PhantomData<T>,
}

impl<T: FromBytes + IntoBytes + Immutable> HugeVec<T> {
    /// Items whose bytes are 0.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn zeroed(count: usize) -> Self {
        let memory = MmapMut::map_anon(count * size_of::<T>()).expect("memory for a table");
        // A system without huge pages refuses them.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Self { memory, items: PhantomData }
    }
}

impl<T: FromBytes + IntoBytes + Immutable> Deref for HugeVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        FromBytes::ref_from_bytes(&self.memory).expect("pages are aligned")
    }
}

impl<T: FromBytes + IntoBytes + Immutable> DerefMut for HugeVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        FromBytes::mut_from_bytes(&mut self.memory).expect("pages are aligned")
    }
}

impl<T: FromBytes + IntoBytes + Immutable + Copy> From<&[T]> for HugeVec<T> {
    fn from(items: &[T]) -> Self {
        let mut copy = Self::zeroed(items.len());
        copy.copy_from_slice(items);
        copy
    }
}

impl<T: FromBytes + IntoBytes + Immutable + Copy> Clone for HugeVec<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl<T> fmt::Debug for HugeVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HugeVec").field("bytes", &self.memory.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_zero_at_first_and_can_be_written() {
        for count in [0, 1, 1000, 1 << 19] {
            let mut items = HugeVec::<u64>::zeroed(count);
            assert!(items.len() == count && items.iter().all(|item| *item == 0));
            items.iter_mut().zip(0..).for_each(|(item, nth)| *item = nth);
            let copy = items.clone();
            items.fill(0);
            assert!(copy.iter().copied().eq(0..count as u64));
        }
    }
}
