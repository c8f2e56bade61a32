//! Permutations and their ranks.

/// Permutations of up to eight items, in two forms: packed, with three bits per position and the first position
/// lowest, and as ranks in lexicographic order.
#[derive(Clone, Debug)]
pub(crate) struct Permutations {
    items: usize,
}

/// Bits per position.
const BITS: usize = 3;

impl Permutations {
    /// Maximum number of items.
    pub(crate) const MAX_ITEMS: usize = 8;

    /// Permutations of the items 0 to `items` − 1.
    pub(crate) fn new(items: usize) -> Self {
        assert!((1..=Self::MAX_ITEMS).contains(&items), "permutations of {items} items are not supported");
        Self { items }
    }

    /// Number of items.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// Number of permutations.
    pub(crate) fn count(&self) -> usize {
        (1..=self.items).product()
    }

    /// Number of permutations of the items from a position on.
    fn count_from(&self, position: u32) -> usize {
        (1..=self.items - position as usize).product()
    }

    /// The rank of a packed permutation.
    pub(crate) fn rank(&self, packed: u32) -> usize {
        let item = |position: usize| packed >> (BITS * position) & 7;
        (0..self.items).fold(0, |rank, position| {
            let smaller_after = (position + 1..self.items).filter(|later| item(*later) < item(position)).count();
            rank * (self.items - position) + smaller_after
        })
    }

    /// The packed permutation of a rank.
    pub(crate) fn unrank(&self, mut rank: usize) -> u32 {
        let mut digits = [0; Self::MAX_ITEMS];
        for position in (0..self.items).rev() {
            digits[position] = rank % (self.items - position);
            rank /= self.items - position;
        }
        let mut left: Vec<u32> = (0..self.items as u32).collect();
        (0..self.items).fold(0, |packed, position| packed | left.remove(digits[position]) << (BITS * position))
    }
}

/// Packs items in order.
pub(crate) fn pack(items: impl Iterator<Item = u8>) -> u32 {
    items.enumerate().fold(0, |packed, (position, item)| packed | u32::from(item) << (BITS * position))
}

/// The items of a packed permutation, followed by zeros.
pub(crate) fn unpack(packed: u32) -> impl Iterator<Item = u8> {
    (0..Permutations::MAX_ITEMS).map(move |position| (packed >> (BITS * position) & 7) as u8)
}

/// Moves the item at one position of a packed permutation to another.
#[inline]
fn move_item(packed: u32, from: u32, to: u32) -> u32 {
    let (from, to) = (BITS as u32 * from, BITS as u32 * to);
    let below = |position: u32| (1 << position) - 1;
    let item = packed >> from & 7;
    let others = packed & below(from) | packed >> BITS & !below(from);
    others & below(to) | item << to | (others & !below(to)) << BITS
}

/// Changes of permutation ranks when an item passes others.
///
/// In the factorial number system a rank has a digit for each position: the number of smaller items after it. An item
/// that passes others changes only the digits of the positions passed, independently of all other digits. So the change
/// of the rank is stored by the value of these digits. That takes a few kilobytes for all shifts; a table of all ranks
/// would take megabytes.
#[derive(Clone, Debug)]
pub(crate) struct Shifts {
    /// By [`Shifts::number`].
    shifts: [Shift; Self::COUNT],
    /// Changes of ranks, modulo 2¹⁶. The first is 0.
    added: Box<[u16; Self::ADDED]>,
}

/// Change of ranks when the item at one position moves to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shift {
    /// 2³² divided by the number of values of the changing and all later digits, rounded up.
    scale: u32,
    /// Number of values of the changing digits.
    values: u16,
    /// Index of the change for the first value.
    first: u16,
}

impl Shift {
    /// Leaves all ranks unchanged.
    const NONE: Self = Self { scale: 0, values: 0, first: 0 };

    /// Index of the change for a rank.
    #[inline(always)]
    fn at(self, rank: u32) -> usize {
        // The rank without its leading digits, as a fraction of 2³². Rounding up the scale does not change the result,
        // because there are at most 2¹⁶ permutations.
        let part = u64::from(rank.wrapping_mul(self.scale));
        let value = (part * u64::from(self.values)) >> u32::BITS;
        usize::from(self.first) + value as usize
    }
}

impl Shifts {
    const COUNT: usize = Permutations::MAX_ITEMS * Permutations::MAX_ITEMS;
    /// Enough for seven items that pass any number of others. A power of two, so that no bounds check is needed.
    const ADDED: usize = 1 << 15;

    /// The shifts of items that pass at most `most` others.
    pub(crate) fn new(permutations: &Permutations, most: u32) -> Self {
        let (mut shifts, mut added) = ([Shift::NONE; Self::COUNT], vec![0]);
        let positions = 0..permutations.items() as u32;
        for (from, to) in positions.clone().flat_map(|from| positions.clone().map(move |to| (from, to))) {
            if (1..=most).contains(&from.abs_diff(to)) {
                let (all, after) = (permutations.count_from(from.min(to)), permutations.count_from(from.max(to) + 1));
                let (scale, values) = ((1_u64 << 32).div_ceil(all as u64) as u32, (all / after) as u16);
                shifts[usize::from(Self::number(from, to))] = Shift { scale, values, first: added.len() as u16 };
                // All other digits are 0.
                let moved = |rank| permutations.rank(move_item(permutations.unrank(rank), from, to));
                added.extend((0..all).step_by(after).map(|rank| moved(rank).wrapping_sub(rank) as u16));
            }
        }
        assert!(added.len() <= Self::ADDED, "the changes of ranks fit the table");
        added.resize(Self::ADDED, 0);
        Self { shifts, added: added.try_into().expect("resized to this length") }
    }

    /// Number of the shift from one position to another; 0 changes nothing.
    pub(crate) fn number(from: u32, to: u32) -> u8 {
        (from * Permutations::MAX_ITEMS as u32 + to) as u8
    }

    /// Positions of a shift, by its number.
    pub(crate) fn positions(number: u8) -> (u32, u32) {
        let number = u32::from(number);
        (number / Permutations::MAX_ITEMS as u32, number % Permutations::MAX_ITEMS as u32)
    }

    /// The change of a rank by a shift, modulo 2¹⁶.
    #[inline(always)]
    pub(crate) fn added(&self, number: u8, rank: u32) -> u16 {
        self.added[self.shifts[usize::from(number) % Self::COUNT].at(rank) % Self::ADDED]
    }

    /// The ranks after a shift of the first `count` ranks; empty if the shift changes none.
    pub(crate) fn ranks(&self, number: u8, count: usize) -> Vec<u16> {
        let is_none = self.shifts[usize::from(number)] == Shift::NONE;
        let ranks = (0..count as u32).map(|rank| (rank as u16).wrapping_add(self.added(number, rank)));
        if is_none { Vec::new() } else { ranks.collect() }
    }

    /// All shift numbers.
    pub(crate) fn numbers() -> std::ops::Range<u8> {
        0..Self::COUNT as u8
    }

    /// Memory of the shifts in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_lexicographic_and_have_no_gaps() {
        for items in 1..=Permutations::MAX_ITEMS {
            let permutations = Permutations::new(items);
            let mut before = None;
            for rank in 0..permutations.count() {
                let packed = permutations.unrank(rank);
                assert_eq!(permutations.rank(packed), rank, "{items} items");
                let order: Vec<u32> = (0..items).map(|position| packed >> (BITS * position) & 7).collect();
                assert!(before < Some(order.clone()));
                before = Some(order);
            }
        }
    }

    #[test]
    fn moving_an_item_keeps_the_order_of_the_others() {
        let items = [4, 1, 6, 0, 7, 2, 5, 3];
        for from in 0..items.len() {
            for to in 0..items.len() {
                let mut moved = items.to_vec();
                let item = moved.remove(from);
                moved.insert(to, item);
                let packed = move_item(pack(items.into_iter()), from as u32, to as u32);
                assert_eq!(packed, pack(moved.into_iter()), "from {from} to {to}");
            }
        }
    }

    #[test]
    fn shifted_ranks_are_those_of_the_shifted_permutations() {
        for (items, most) in (1..=7).map(|items| (items, 6)).chain([(8, 3)]) {
            let permutations = Permutations::new(items as usize);
            let shifts = Shifts::new(&permutations, most);
            for (from, to) in (0..items).flat_map(|from| (0..items).map(move |to| (from, to))) {
                let number = Shifts::number(from, to);
                let ranks = shifts.ranks(number, permutations.count());
                assert_eq!(ranks.is_empty(), !(1..=most).contains(&from.abs_diff(to)));
                for (rank, moved) in ranks.into_iter().enumerate() {
                    let packed = move_item(permutations.unrank(rank), from, to);
                    assert_eq!(usize::from(moved), permutations.rank(packed), "{items} items, {from} to {to}");
                }
            }
        }
    }
}
