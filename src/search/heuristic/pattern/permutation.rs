//! Permutations and their ranks.

/// Permutations of up to eight things: packed, three bits a position with the first lowest, and as ranks in
/// lexicographic order.
#[derive(Clone, Debug)]
pub(super) struct Permutations {
    things: usize,
}

/// Bits per position.
const BITS: usize = 3;

impl Permutations {
    /// Maximum number of things.
    pub(super) const MAX_THINGS: usize = 8;

    /// Permutations of the things 0 to `things` − 1.
    pub(super) fn new(things: usize) -> Self {
        assert!((1..=Self::MAX_THINGS).contains(&things), "orders of {things} things are not ranked here");
        Self { things }
    }

    /// Number of things.
    pub(super) fn things(&self) -> usize {
        self.things
    }

    /// Number of permutations.
    pub(super) fn count(&self) -> usize {
        (1..=self.things).product()
    }

    /// Number of permutations of the things from a position on.
    fn count_from(&self, place: u32) -> usize {
        (1..=self.things - place as usize).product()
    }

    /// The rank of a packed permutation.
    pub(super) fn rank(&self, packed: u32) -> usize {
        let thing = |place: usize| packed >> (BITS * place) & 7;
        (0..self.things).fold(0, |rank, place| {
            let smaller_after = (place + 1..self.things).filter(|later| thing(*later) < thing(place)).count();
            rank * (self.things - place) + smaller_after
        })
    }

    /// The packed permutation of a rank.
    pub(super) fn unrank(&self, mut rank: usize) -> u32 {
        let mut digits = [0; Self::MAX_THINGS];
        for place in (0..self.things).rev() {
            digits[place] = rank % (self.things - place);
            rank /= self.things - place;
        }
        let mut left: Vec<u32> = (0..self.things as u32).collect();
        (0..self.things).fold(0, |packed, place| packed | left.remove(digits[place]) << (BITS * place))
    }
}

/// Packs things in order.
pub(super) fn pack(things: impl Iterator<Item = u8>) -> u32 {
    things.enumerate().fold(0, |packed, (place, thing)| packed | u32::from(thing) << (BITS * place))
}

/// The things of a packed permutation, followed by zeros.
pub(super) fn unpack(packed: u32) -> impl Iterator<Item = u8> {
    (0..Permutations::MAX_THINGS).map(move |place| (packed >> (BITS * place) & 7) as u8)
}

/// Moves the thing at one position of a packed permutation to another.
#[inline]
fn move_thing(packed: u32, from: u32, to: u32) -> u32 {
    let (from, to) = (BITS as u32 * from, BITS as u32 * to);
    let below = |place: u32| (1 << place) - 1;
    let thing = packed >> from & 7;
    let others = packed & below(from) | packed >> BITS & !below(from);
    others & below(to) | thing << to | (others & !below(to)) << BITS
}

/// Changes of permutation ranks when a thing passes others.
///
/// A rank has a digit for each position in the factorial number system: the number of smaller things after it.
/// Passing changes the digits of the positions passed, independently of all others. So the change of the rank is
/// stored by the value of these digits: a few kilobytes for all shifts, where a table of all ranks would take
/// megabytes.
#[derive(Clone, Debug)]
pub(super) struct Shifts {
    /// By [`Shifts::number`].
    shifts: [Shift; Self::COUNT],
    /// Changes of ranks, modulo 2¹⁶. The first is 0.
    added: Box<[u16; Self::ADDED]>,
}

/// Change of ranks when the thing at one position moves to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shift {
    /// 2³² divided by the number of values of the changing digits and those after them, rounded up.
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
    const COUNT: usize = Permutations::MAX_THINGS * Permutations::MAX_THINGS;
    /// Enough for seven things that pass any number of others. A power of two, so that no bounds check is needed.
    const ADDED: usize = 1 << 15;

    /// The shifts of things that pass at most `most` others.
    pub(super) fn new(permutations: &Permutations, most: u32) -> Self {
        let (mut shifts, mut added) = ([Shift::NONE; Self::COUNT], vec![0]);
        let places = 0..permutations.things() as u32;
        for (from, to) in places.clone().flat_map(|from| places.clone().map(move |to| (from, to))) {
            if (1..=most).contains(&from.abs_diff(to)) {
                let (all, after) = (permutations.count_from(from.min(to)), permutations.count_from(from.max(to) + 1));
                let (scale, values) = ((1_u64 << 32).div_ceil(all as u64) as u32, (all / after) as u16);
                shifts[usize::from(Self::number(from, to))] = Shift { scale, values, first: added.len() as u16 };
                // All other digits are 0.
                let moved = |rank| permutations.rank(move_thing(permutations.unrank(rank), from, to));
                added.extend((0..all).step_by(after).map(|rank| moved(rank).wrapping_sub(rank) as u16));
            }
        }
        assert!(added.len() <= Self::ADDED, "few things pass many others, or many few");
        added.resize(Self::ADDED, 0);
        Self { shifts, added: added.try_into().expect("as many as there are") }
    }

    /// Number of the shift from one position to another; 0 changes nothing.
    pub(super) fn number(from: u32, to: u32) -> u8 {
        (from * Permutations::MAX_THINGS as u32 + to) as u8
    }

    /// Positions of a shift, by its number.
    pub(super) fn places(number: u8) -> (u32, u32) {
        let number = u32::from(number);
        (number / Permutations::MAX_THINGS as u32, number % Permutations::MAX_THINGS as u32)
    }

    /// The change of a rank by a shift, modulo 2¹⁶.
    #[inline(always)]
    pub(super) fn added(&self, number: u8, rank: u32) -> u16 {
        self.added[self.shifts[usize::from(number) % Self::COUNT].at(rank) % Self::ADDED]
    }

    /// The ranks after a shift of the first `count` ranks; empty if the shift changes none.
    pub(super) fn ranks(&self, number: u8, count: usize) -> Vec<u16> {
        let is_none = self.shifts[usize::from(number)] == Shift::NONE;
        let ranks = (0..count as u32).map(|rank| (rank as u16).wrapping_add(self.added(number, rank)));
        if is_none { Vec::new() } else { ranks.collect() }
    }

    /// All shift numbers.
    pub(super) fn numbers() -> std::ops::Range<u8> {
        0..Self::COUNT as u8
    }

    /// Memory of the shifts.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_lexicographic_and_have_no_gaps() {
        for things in 1..=Permutations::MAX_THINGS {
            let permutations = Permutations::new(things);
            let mut before = None;
            for rank in 0..permutations.count() {
                let packed = permutations.unrank(rank);
                assert_eq!(permutations.rank(packed), rank, "{things} things");
                let order: Vec<u32> = (0..things).map(|place| packed >> (BITS * place) & 7).collect();
                assert!(before < Some(order.clone()));
                before = Some(order);
            }
        }
    }

    #[test]
    fn moving_a_thing_keeps_the_order_of_the_others() {
        let things = [4, 1, 6, 0, 7, 2, 5, 3];
        for from in 0..things.len() {
            for to in 0..things.len() {
                let mut moved = things.to_vec();
                let thing = moved.remove(from);
                moved.insert(to, thing);
                let packed = move_thing(pack(things.into_iter()), from as u32, to as u32);
                assert_eq!(packed, pack(moved.into_iter()), "from {from} to {to}");
            }
        }
    }

    #[test]
    fn shifted_ranks_are_those_of_the_shifted_permutations() {
        for (things, most) in (1..=7).map(|things| (things, 6)).chain([(8, 3)]) {
            let permutations = Permutations::new(things as usize);
            let shifts = Shifts::new(&permutations, most);
            for (from, to) in (0..things).flat_map(|from| (0..things).map(move |to| (from, to))) {
                let number = Shifts::number(from, to);
                let ranks = shifts.ranks(number, permutations.count());
                assert_eq!(ranks.is_empty(), !(1..=most).contains(&from.abs_diff(to)));
                for (rank, moved) in ranks.into_iter().enumerate() {
                    let packed = move_thing(permutations.unrank(rank), from, to);
                    assert_eq!(usize::from(moved), permutations.rank(packed), "{things} things, {from} to {to}");
                }
            }
        }
    }
}
