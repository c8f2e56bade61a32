//! Retrograde breadth-first generation of a pattern's table.

use super::cells::before;
use super::huge_vec::HugeVec;
use super::index::PatternIndex;
use super::permutation::{Permutations, Shifts};
use super::row_shift::{RowLayout, RowShift};

/// Generates the second bit of each entry's cost: a row of bits per slot, one per permutation.
///
/// All entries of a cost are found together, row by row, from the rows one move away. A move that passes no tile leaves
/// permutations unchanged. Other moves change them in one of [a few ways](RowShift). A complete row is not visited
/// again.
/// Returns `None` if `is_stopped` returns true, which is asked after each cost.
pub(crate) fn generate(
    index: &PatternIndex,
    permutations: &Permutations,
    shifts: &Shifts,
    home_slot: usize,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Option<HugeVec<u64>> {
    let mut generate = Generator::new(index, permutations, shifts);
    generate.start(home_slot);
    for cost in 1.. {
        if is_stopped() {
            return None;
        }
        if !generate.next_cost(cost) {
            break;
        }
    }
    Some(generate.second_bits)
}

/// Maximum memory of [`generate`] besides its result, in bytes, for patterns of four tiles or more, given the number of
/// slots of the index.
pub(crate) fn bytes_to_generate(slots: usize, permutations: &Permutations) -> usize {
    // Two bit planes, and the moves.
    let rows = RowLayout::of(permutations);
    let of_slot = size_of::<SlotState>() + size_of::<usize>();
    slots * (2 * size_of::<u32>() * rows.groups() + Edges::per_slot(permutations) * size_of::<Edge>() + of_slot)
}

/// State of the generation.
///
/// Each move takes a tile to a cell of the other checkerboard color, so all costs of a slot have the same parity. Its
/// next entries are therefore found two moves after the last ones, and can replace them.
struct Generator {
    rows: RowLayout,
    edges: Edges,
    slots: Vec<SlotState>,
    /// The result, in rows without gaps.
    second_bits: HugeVec<u64>,
    /// All entries found, in rows.
    seen: HugeVec<u32>,
    /// The entries of each slot that were found last, in rows.
    last: HugeVec<u32>,
    /// Buffer for the entries of one slot.
    found: Vec<u32>,
}

#[derive(Clone)]
struct SlotState {
    /// Cost of the entries found last.
    cost: u32,
    /// Number of entries not found yet.
    left: u32,
}

impl Generator {
    fn new(index: &PatternIndex, permutations: &Permutations, shifts: &Shifts) -> Self {
        let rows = RowLayout::of(permutations);
        let plane = || HugeVec::zeroed(index.len() * rows.groups());
        Self {
            edges: Edges::new(index, permutations, shifts),
            slots: vec![SlotState { cost: u32::MAX, left: permutations.count() as u32 }; index.len()],
            second_bits: HugeVec::zeroed(index.len() * rows.words()),
            seen: plane(),
            last: plane(),
            found: vec![0; rows.groups()],
            rows,
        }
    }

    /// Marks the home permutation, which is the first of its slot.
    fn start(&mut self, home_slot: usize) {
        let first = self.rows.range(home_slot).start;
        self.last[first] = 1;
        self.seen[first] = 1;
        self.slots[home_slot] = SlotState { cost: 0, left: self.slots[home_slot].left - 1 };
    }

    /// Finds the entries of a cost from the entries of the cost before. Returns false if there are none.
    fn next_cost(&mut self, cost: u32) -> bool {
        let mut is_any = false;
        for slot in 0..self.slots.len() {
            if self.slots[slot].left > 0 && self.reach(slot, cost) {
                is_any |= self.settle(slot, cost);
            }
        }
        is_any
    }

    /// Collects the entries of a slot that are one move away, including known ones. Returns false if there are none.
    fn reach(&mut self, slot: usize, cost: u32) -> bool {
        let Self { rows, edges, slots, last, found, .. } = self;
        let mut edges = edges.of(slot).filter(|(other, _)| slots[*other].cost == cost - 1).peekable();
        if edges.peek().is_none() {
            return false;
        }
        found.fill(0);
        edges.for_each(|(other, shift)| shift.add(&last[rows.range(other)], found));
        true
    }

    /// Keeps the new entries of a slot. Returns false if there are none.
    fn settle(&mut self, slot: usize, cost: u32) -> bool {
        let Self { rows, slots, seen, second_bits, last, found, .. } = self;
        let range = rows.range(slot);
        let (seen, last) = (&mut seen[range.clone()], &mut last[range]);
        let mut count = 0;
        for ((seen, last), found) in seen.iter_mut().zip(last.iter_mut()).zip(found) {
            let new = *found & !*seen;
            (*last, *seen) = (new, *seen | new);
            count += new.count_ones();
        }
        if cost & 2 != 0 {
            rows.pack(last, &mut second_bits[slot * rows.words()..(slot + 1) * rows.words()]);
        }
        if count > 0 {
            slots[slot] = SlotState { cost, left: slots[slot].left - count };
        }
        count > 0
    }
}

/// A slot from which a move leads here, and in the lower 6 bits the number of the rank shift.
#[derive(Clone, Copy)]
struct Edge(u32);

impl Edge {
    const NUMBER: u32 = 6;

    fn new(other: usize, number: u8) -> Self {
        debug_assert!(other < 1 << (u32::BITS - Self::NUMBER) && number < 1 << Self::NUMBER);
        Self((other as u32) << Self::NUMBER | u32::from(number))
    }
}

/// By slot: the moves that lead into it.
struct Edges {
    edges: Vec<Edge>,
    first: Vec<usize>,
    /// By the number of the shift.
    shifts_by_number: Vec<RowShift>,
}

impl Edges {
    fn new(index: &PatternIndex, permutations: &Permutations, shifts: &Shifts) -> Self {
        // Unused memory is never touched, while growing would double the peak.
        let mut edges = Vec::with_capacity(Self::per_slot(permutations) * index.len());
        let mut first = vec![0];
        for (set, region) in index.sets_and_regions() {
            // Moves are reversible, so the moves out of a slot are also the moves into it.
            edges.extend(index.moves(set, region).map(|(from, to)| {
                let other = set ^ 1 << from ^ 1 << to;
                Edge::new(index.slot(other, from), Shifts::number(before(other, to), before(set, from)))
            }));
            first.push(edges.len());
        }
        let shifts_by_number = Shifts::numbers().map(|number| RowShift::new(permutations, shifts, number)).collect();
        Self { edges, first, shifts_by_number }
    }

    /// Upper bound on the mean number of moves into a slot, for patterns of four tiles or more. Fewer tiles can have
    /// some moves more, of few slots.
    fn per_slot(permutations: &Permutations) -> usize {
        3 * permutations.items()
    }

    fn of(&self, slot: usize) -> impl Iterator<Item = (usize, &RowShift)> {
        let edges = &self.edges[self.first[slot]..self.first[slot + 1]];
        edges.iter().map(|Edge(edge)| {
            let number = edge % (1 << Edge::NUMBER);
            ((edge >> Edge::NUMBER) as usize, &self.shifts_by_number[number as usize])
        })
    }
}
