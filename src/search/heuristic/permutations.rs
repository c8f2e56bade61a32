//! Orders of a few things as numbers.

/// Orders of up to eight things: packed, three bits a place with the first place lowest, and as
/// ranks in lexicographic order.
#[derive(Clone, Debug)]
pub(super) struct Permutations {
    things: usize,
}

/// Bits of a place.
const BITS: usize = 3;

impl Permutations {
    /// The most things there can be.
    pub(super) const MAX_THINGS: usize = 8;

    /// Orders of so many things, named 0 to `things` − 1.
    pub(super) fn new(things: usize) -> Self {
        assert!((1..=Self::MAX_THINGS).contains(&things), "orders of {things} things are not ranked here");
        Self { things }
    }

    /// How many things.
    pub(super) fn things(&self) -> usize {
        self.things
    }

    /// How many orders there are.
    pub(super) fn count(&self) -> usize {
        (1..=self.things).product()
    }

    /// The rank of a packed order.
    pub(super) fn rank(&self, packed: u32) -> usize {
        let thing = |place: usize| packed >> (BITS * place) & 7;
        (0..self.things).fold(0, |rank, place| {
            let smaller_after = (place + 1..self.things).filter(|later| thing(*later) < thing(place)).count();
            rank * (self.things - place) + smaller_after
        })
    }

    /// The packed order of a rank.
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

/// The things of a packed order, and then whatever zeros stand behind them.
pub(super) fn unpack(packed: u32) -> impl Iterator<Item = u8> {
    (0..Permutations::MAX_THINGS).map(move |place| (packed >> (BITS * place) & 7) as u8)
}

/// Takes the thing in one place out of a packed order and puts it into another.
#[inline]
pub(super) fn move_thing(packed: u32, from: u32, to: u32) -> u32 {
    let (from, to) = (BITS as u32 * from, BITS as u32 * to);
    let below = |place: u32| (1 << place) - 1;
    let thing = packed >> from & 7;
    let others = packed & below(from) | packed >> BITS & !below(from);
    others & below(to) | thing << to | (others & !below(to)) << BITS
}

/// What becomes of the rank of an order when a thing passes some others.
#[derive(Clone, Debug)]
pub(super) struct Shifts {
    /// By [`Shifts::number`]: where the ranks begin.
    first: [u32; Self::COUNT],
    ranks: Vec<u16>,
}

impl Shifts {
    pub(super) const COUNT: usize = Permutations::MAX_THINGS * Permutations::MAX_THINGS;

    /// Of things that pass at most `most` others.
    pub(super) fn new(permutations: &Permutations, most: u32) -> Self {
        let (mut first, mut ranks) = ([0; Self::COUNT], (0..permutations.count() as u16).collect::<Vec<_>>());
        let places = 0..permutations.things() as u32;
        for (from, to) in places.clone().flat_map(|from| places.clone().map(move |to| (from, to))) {
            if (1..=most).contains(&from.abs_diff(to)) {
                first[usize::from(Self::number(from, to))] = ranks.len() as u32;
                let moved = |rank| permutations.rank(move_thing(permutations.unrank(rank), from, to)) as u16;
                ranks.extend((0..permutations.count()).map(moved));
            }
        }
        Self { first, ranks }
    }

    /// The number of the shift of a thing from one place to another. Those that change nothing share
    /// the ranks that come first.
    pub(super) fn number(from: u32, to: u32) -> u8 {
        (from * Permutations::MAX_THINGS as u32 + to) as u8
    }

    /// The ranks that a shift takes all ranks to, or nothing if it leaves all as they are.
    pub(super) fn ranks(&self, shift: u8, count: usize) -> Option<&[u16]> {
        let first = self.first[usize::from(shift)] as usize;
        (first > 0).then(|| &self.ranks[first..first + count])
    }

    /// Memory it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.ranks.as_slice())
    }

    /// All ranks, and by shift where those of it begin.
    pub(super) fn all(&self) -> (&[u32; Self::COUNT], &[u16]) {
        (&self.first, &self.ranks)
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
    fn a_thing_that_moves_leaves_the_order_of_the_others() {
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
}
