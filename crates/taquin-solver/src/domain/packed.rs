//! Compact boards, for searches that store millions of them.

use super::{Cell, Size};

/// One small number per cell, stored as compactly as the number of cells allows.
///
/// There are three forms: [`Packed64`] for up to 16 cells, [`Packed128`] for up to 25, and [`PackedBytes`] for up to
/// 100. Searches are compiled for each of them, and some also for fewer bytes.
pub trait Packed: Copy + Eq + Send + Sync + 'static {
    /// Maximum number of cells.
    const MAX_CELLS: usize;

    /// Packs one number per cell, each less than [`Packed::MAX_CELLS`].
    fn pack(numbers: &[u8]) -> Self;

    /// The number in a cell.
    fn get(&self, cell: Cell) -> u8;

    /// Exchanges the numbers of two cells.
    fn swap(&mut self, a: Cell, b: Cell);

    /// A well-mixed hash. Equal boards have equal hashes.
    fn hash(&self) -> u64;
}

/// Up to 16 cells in a `u64`, four bits per cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed64(pub u64);

/// Up to 25 cells in a `u128`, five bits per cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed128(pub u128);

/// Up to `N` cells, one byte per cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedBytes<const N: usize = { Size::MAX_CELLS }>(pub [u8; N]);

/// Hash of two words. It multiplies them to 128 bits and folds the halves, so that every input bit affects every output
/// bit.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let wide = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd1b5_4a32_d192_ed03);
    (wide as u64) ^ (wide >> 64) as u64
}

impl Packed for Packed64 {
    const MAX_CELLS: usize = 16;

    fn pack(numbers: &[u8]) -> Self {
        debug_assert!(numbers.len() <= Self::MAX_CELLS);
        Self(numbers.iter().rev().fold(0, |packed, number| packed << 4 | u64::from(*number)))
    }

    #[inline]
    fn get(&self, cell: Cell) -> u8 {
        (self.0 >> (4 * u32::from(cell)) & 0xf) as u8
    }

    #[inline]
    fn swap(&mut self, a: Cell, b: Cell) {
        let (a, b) = (4 * u32::from(a), 4 * u32::from(b));
        let differing = (self.0 >> a ^ self.0 >> b) & 0xf;
        self.0 ^= differing << a | differing << b;
    }

    #[inline]
    fn hash(&self) -> u64 {
        let wide = u128::from(self.0) * 0x9e37_79b9_7f4a_7c15;
        (wide as u64) ^ (wide >> 64) as u64
    }
}

impl Packed for Packed128 {
    const MAX_CELLS: usize = 25;

    fn pack(numbers: &[u8]) -> Self {
        debug_assert!(numbers.len() <= Self::MAX_CELLS);
        Self(numbers.iter().rev().fold(0, |packed, number| packed << 5 | u128::from(*number)))
    }

    #[inline]
    fn get(&self, cell: Cell) -> u8 {
        (self.0 >> (5 * u32::from(cell)) & 0x1f) as u8
    }

    #[inline]
    fn swap(&mut self, a: Cell, b: Cell) {
        let (a, b) = (5 * u32::from(a), 5 * u32::from(b));
        let differing = (self.0 >> a ^ self.0 >> b) & 0x1f;
        self.0 ^= differing << a | differing << b;
    }

    #[inline]
    fn hash(&self) -> u64 {
        mix(self.0 as u64, (self.0 >> 64) as u64)
    }
}

impl<const N: usize> Packed for PackedBytes<N> {
    const MAX_CELLS: usize = N;

    fn pack(numbers: &[u8]) -> Self {
        let mut bytes = [0; N];
        bytes[..numbers.len()].copy_from_slice(numbers);
        Self(bytes)
    }

    #[inline]
    fn get(&self, cell: Cell) -> u8 {
        self.0[usize::from(cell)]
    }

    #[inline]
    fn swap(&mut self, a: Cell, b: Cell) {
        self.0.swap(usize::from(a), usize::from(b));
    }

    #[inline]
    fn hash(&self) -> u64 {
        let (chunks, rest) = self.0.as_chunks::<8>();
        let tail = rest.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte));
        chunks.iter().fold(tail, |hash, chunk| mix(hash, u64::from_le_bytes(*chunk)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<P: Packed + std::fmt::Debug>() {
        let numbers: Vec<u8> = (0..P::MAX_CELLS as u8).rev().collect();
        let packed = P::pack(&numbers);
        for (cell, number) in numbers.iter().enumerate() {
            assert_eq!(packed.get(cell as Cell), *number);
        }
        for a in 0..P::MAX_CELLS {
            for b in 0..P::MAX_CELLS {
                let (mut swapped, mut expected) = (packed, numbers.clone());
                swapped.swap(a as Cell, b as Cell);
                expected.swap(a, b);
                assert_eq!(swapped, P::pack(&expected));
                assert_eq!(swapped.hash() == packed.hash(), swapped == packed);
            }
        }
    }

    #[test]
    fn packed64_holds_sixteen_cells() {
        round_trip::<Packed64>();
    }

    #[test]
    fn packed128_holds_twenty_five_cells() {
        round_trip::<Packed128>();
    }

    #[test]
    fn packed_bytes_hold_a_hundred_cells() {
        round_trip::<PackedBytes>();
        round_trip::<PackedBytes<39>>();
    }
}
