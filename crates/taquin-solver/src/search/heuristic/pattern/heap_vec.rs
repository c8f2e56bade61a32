//! Stand-in for `huge_vec` without the feature `huge-pages`: memory of the allocator.

use std::ops::{Deref, DerefMut};

/// A fixed number of items.
#[derive(Clone, Debug)]
pub struct HugeVec<T>(Box<[T]>);

impl<T: Copy + Default> HugeVec<T> {
    /// Items that are 0.
    pub fn zeroed(count: usize) -> Self {
        Self(vec![T::default(); count].into_boxed_slice())
    }
}

impl<T> Deref for HugeVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for HugeVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy> From<&[T]> for HugeVec<T> {
    fn from(items: &[T]) -> Self {
        Self(items.into())
    }
}
