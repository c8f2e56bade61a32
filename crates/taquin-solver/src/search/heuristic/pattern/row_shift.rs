//! Applies one tile move to a whole row of permutation ranks at once.

use std::ops::Range;

use super::permutation::{Permutations, Shifts};

/// Rows of bits, one per permutation, in groups of 24 bits per word. The permutations of a group differ in their last
/// four positions only; six consecutive bits differ in the last three.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLayout {
    /// Number of permutations.
    count: usize,
}

/// Number of positions that vary within a group, and bits of a group.
const VARYING_POSITIONS: u32 = 4;
const GROUP: usize = 24;
/// Number of permutations that agree in all positions but the last three, and the number of such sixes per group.
const SIX: usize = 6;
const SIXES: usize = GROUP / SIX;

impl RowLayout {
    pub(crate) fn of(permutations: &Permutations) -> Self {
        Self { count: permutations.count() }
    }

    /// Number of groups in a row.
    pub(crate) fn groups(self) -> usize {
        self.count.div_ceil(GROUP)
    }

    /// Range of a row among consecutive rows.
    pub(crate) fn range(self, row: usize) -> Range<usize> {
        row * self.groups()..(row + 1) * self.groups()
    }

    /// Number of 64-bit words in a row without gaps.
    pub(crate) fn words(self) -> usize {
        self.count.div_ceil(64)
    }

    /// Adds the bits of a row to a row without gaps.
    pub(crate) fn pack(self, row: &[u32], dense: &mut [u64]) {
        // Eight groups fill three words.
        for (groups, words) in row.chunks(8).zip(dense.chunks_mut(3)) {
            let mut bits = [0; 8];
            bits[..groups.len()].copy_from_slice(groups);
            let [a, b, c, d, e, f, g, h] = bits.map(u64::from);
            let packed = [a | b << 24 | c << 48, c >> 16 | d << 8 | e << 32 | f << 56, f >> 8 | g << 16 | h << 40];
            words.iter_mut().zip(packed).for_each(|(word, bits)| *word |= bits);
        }
    }
}

/// Effect of a rank shift on a row.
///
/// Ranks are lexicographic, so positions before and after those passed do not matter. Either whole groups move, or
/// sixes, or the bits within each group in the same way. An item that enters or leaves the last four positions does so
/// in two steps.
#[derive(Clone, Debug)]
pub(crate) enum RowShift {
    /// No item is passed.
    None,
    /// By group: its target.
    Groups(Vec<u16>),
    /// The same change within each group.
    WithinGroup(WithinGroup),
    /// A change within each group if needed, then a move of each six to another group, and a change within it.
    AcrossGroups(Box<AcrossGroups>),
}

/// Moves of sixes between groups.
#[derive(Clone, Debug)]
pub(crate) struct AcrossGroups {
    before: Option<WithinGroup>,
    /// By group and position in it: the target six.
    sixes: Vec<u16>,
    /// By position in the target group, and bits of the six.
    after: [[u32; 1 << SIX]; SIXES],
}

/// Effect on a group's bits, by the value of each of its bytes.
#[derive(Clone, Debug)]
pub(crate) struct WithinGroup(Box<[[u32; 256]; 3]>);

impl RowShift {
    /// The effect of a shift, by its number.
    pub(crate) fn new(permutations: &Permutations, shifts: &Shifts, number: u8) -> Self {
        let ranks = |number| shifts.ranks(number, permutations.count());
        let (from, to) = Shifts::positions(number);
        let border = (permutations.items() as u32).saturating_sub(VARYING_POSITIONS);
        let within = |from, to| (from != to).then(|| WithinGroup::new(&ranks(Shifts::number(from, to))));
        // Targets of groups or sixes follow from their first ranks.
        let parts = |part: usize, from, to| {
            let ranks = ranks(Shifts::number(from, to));
            ranks.into_iter().step_by(part).map(|rank| rank / part as u16).collect()
        };
        if ranks(number).is_empty() {
            Self::None
        } else if from.min(to) >= border {
            Self::WithinGroup(WithinGroup::new(&ranks(number)))
        } else if from.max(to) < border {
            Self::Groups(parts(GROUP, from, to))
        } else if from < to {
            Self::AcrossGroups(Box::new(AcrossGroups::new(None, parts(SIX, from, border), within(border, to))))
        } else {
            Self::AcrossGroups(Box::new(AcrossGroups::new(within(from, border), parts(SIX, border, to), None)))
        }
    }

    /// Adds the shifted row to another.
    pub(crate) fn add(&self, row: &[u32], sum: &mut [u32]) {
        match self {
            Self::None => sum.iter_mut().zip(row).for_each(|(sum, bits)| *sum |= bits),
            Self::Groups(groups) => {
                row.iter().zip(groups).for_each(|(bits, group)| sum[usize::from(*group)] |= bits);
            }
            Self::WithinGroup(within) => {
                for (sum, bits) in sum.iter_mut().zip(row).filter(|(_, bits)| **bits != 0) {
                    *sum |= within.of(*bits);
                }
            }
            Self::AcrossGroups(across) => across.add(row, sum),
        }
    }
}

impl AcrossGroups {
    fn new(before: Option<WithinGroup>, sixes: Vec<u16>, after: Option<WithinGroup>) -> Self {
        let after = std::array::from_fn(|six| {
            std::array::from_fn(|bits| {
                let bits = (bits as u32) << (SIX * six);
                after.as_ref().map_or(bits, |after| after.of(bits))
            })
        });
        Self { before, sixes, after }
    }

    fn add(&self, row: &[u32], sum: &mut [u32]) {
        let Self { before, sixes, after } = self;
        let (sixes, _) = sixes.as_chunks::<SIXES>();
        for (bits, sixes) in row.iter().zip(sixes).filter(|(bits, _)| **bits != 0) {
            let mut bits = before.as_ref().map_or(*bits, |before| before.of(*bits));
            for six in sixes.map(usize::from) {
                sum[six / SIXES] |= after[six % SIXES][bits as usize % (1 << SIX)];
                bits >>= SIX;
            }
        }
    }
}

impl WithinGroup {
    /// Creates the effect from the target ranks of the first group.
    fn new(ranks: &[u16]) -> Self {
        let bit = |at: usize| ranks.get(at).map_or(0, |rank| 1 << rank);
        let of_byte =
            |byte: usize, bits: usize| (0..8).filter(|at| bits >> at & 1 != 0).map(|at| bit(8 * byte + at)).sum();
        Self(Box::new(std::array::from_fn(|byte| std::array::from_fn(|bits| of_byte(byte, bits)))))
    }

    #[inline(always)]
    fn of(&self, bits: u32) -> u32 {
        let [first, second, third, _] = bits.to_le_bytes().map(usize::from);
        self.0[0][first] | self.0[1][second] | self.0[2][third]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rows: RowLayout, orders: impl Iterator<Item = usize>) -> Vec<u32> {
        let mut row = vec![0; rows.groups()];
        orders.for_each(|order| row[order / GROUP] |= 1 << (order % GROUP));
        row
    }

    #[test]
    fn rows_shift_like_single_permutations() {
        for (items, most) in (1..=7).map(|items| (items, 6)).chain([(8, 3)]) {
            let permutations = Permutations::new(items);
            let (rows, shifts) = (RowLayout::of(&permutations), Shifts::new(&permutations, most));
            // Some scattered permutations, and all of them.
            let scattered = |order: &usize| order.wrapping_mul(0x9e37_79b9) >> 7 & 3 == 0;
            for orders in
                [(0..permutations.count()).filter(scattered).collect(), Vec::from_iter(0..permutations.count())]
            {
                let whole = row(rows, orders.iter().copied());
                for number in Shifts::numbers() {
                    let ranks = shifts.ranks(number, permutations.count());
                    let moved = |order: usize| ranks.get(order).map_or(order, |rank| usize::from(*rank));
                    let mut sum = row(rows, std::iter::once(0));
                    RowShift::new(&permutations, &shifts, number).add(&whole, &mut sum);
                    let expected = row(rows, orders.iter().map(|order| moved(*order)).chain([0]));
                    assert_eq!(sum, expected, "{items} items, {:?}", Shifts::positions(number));
                }
            }
        }
    }

    #[test]
    fn packed_rows_have_the_bits_of_all_permutations() {
        for items in 1..=Permutations::MAX_ITEMS {
            let permutations = Permutations::new(items);
            let (rows, count) = (RowLayout::of(&permutations), permutations.count());
            let orders = (0..count).filter(|order| order % 5 == 1);
            let mut dense = vec![0; rows.words()];
            rows.pack(&row(rows, orders.clone()), &mut dense);
            let set = (0..64 * dense.len()).filter(|at| dense[at / 64] >> (at % 64) & 1 != 0);
            assert!(set.eq(orders), "{items} items");
        }
    }
}
