//! Breadth-first search over all entries of a pattern's table.

use super::cells::before;
use super::index::Placements;
use super::permutation::{Permutations, Shifts};
use super::row_shift::{Passing, Rows};

/// The second bit of each entry's cost: for each slot a row of bits, one an order.
///
/// All entries at one cost are found at once, row by row: a row takes over what lies one move away
/// from it. Where a tile slides past no other the orders stay what they are, and elsewhere they change in
/// one of [a few ways](Passing). A row that is found in full is not looked at again.
pub(super) fn flood(
    placements: &Placements,
    permutations: &Permutations,
    shifts: &Shifts,
    home_slot: usize,
) -> Vec<u64> {
    let mut flood = Flood::new(placements, permutations, shifts);
    flood.start(home_slot);
    for cost in 1.. {
        if !flood.rise(cost) {
            break;
        }
    }
    flood.second_bits
}

/// Memory that [`flood`] takes at most beside the bits that it returns.
pub(super) fn bytes_beside(placements: &Placements, permutations: &Permutations, tiles: usize) -> usize {
    // Two planes, and the moves of a pattern's tiles: of each to either side, and to the rows before and after.
    let rows = Rows::of(permutations);
    let of_slot = size_of::<Slot>() + size_of::<usize>();
    placements.len() * (2 * size_of::<u32>() * rows.groups() + 3 * tiles * size_of::<Edge>() + of_slot)
}

/// Each move takes a tile to a cell of the other colour of a chequerboard, so the entries of a slot have
/// costs of one parity. What was found last of a slot is therefore not in the way of what is found
/// next, two moves later.
struct Flood {
    rows: Rows,
    edges: Edges,
    slots: Vec<Slot>,
    /// What is told of entries, in rows without gaps.
    second_bits: Vec<u64>,
    /// Entries found.
    seen: Vec<u32>,
    /// The entries of each slot that were found last.
    last: Vec<u32>,
    /// Room for what is found of one slot.
    found: Vec<u32>,
}

#[derive(Clone)]
struct Slot {
    /// The cost of the entries found last.
    cost: u32,
    /// Entries not found.
    left: u32,
}

impl Flood {
    fn new(placements: &Placements, permutations: &Permutations, shifts: &Shifts) -> Self {
        let rows = Rows::of(permutations);
        let plane = || vec![0; placements.len() * rows.groups()];
        Self {
            edges: Edges::new(placements, permutations, shifts),
            slots: vec![Slot { cost: u32::MAX, left: permutations.count() as u32 }; placements.len()],
            // Before the planes: where one of them has lain, an allocator keeps the rest of its pages.
            second_bits: vec![0; placements.len() * rows.words()],
            seen: plane(),
            last: plane(),
            found: vec![0; rows.groups()],
            rows,
        }
    }

    /// Home is the first order of its slot.
    fn start(&mut self, home_slot: usize) {
        let first = self.rows.range(home_slot).start;
        self.last[first] = 1;
        self.seen[first] = 1;
        self.slots[home_slot] = Slot { cost: 0, left: self.slots[home_slot].left - 1 };
    }

    /// Finds the entries at a cost from those at one less; false if there are none.
    fn rise(&mut self, cost: u32) -> bool {
        let mut is_any = false;
        for slot in 0..self.slots.len() {
            if self.slots[slot].left > 0 && self.reach(slot, cost) {
                is_any |= self.settle(slot, cost);
            }
        }
        is_any
    }

    /// Gathers for a slot what lies one move away, and perhaps what was found before; false if there is
    /// nothing.
    fn reach(&mut self, slot: usize, cost: u32) -> bool {
        let Self { rows, edges, slots, last, found, .. } = self;
        let mut edges = edges.of(slot).filter(|(other, _)| slots[*other].cost == cost - 1).peekable();
        if edges.peek().is_none() {
            return false;
        }
        found.fill(0);
        edges.for_each(|(other, passing)| passing.add(&last[rows.range(other)], found));
        true
    }

    /// Keeps what is new for a slot; false if nothing is.
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
            slots[slot] = Slot { cost, left: slots[slot].left - count };
        }
        count > 0
    }
}

/// Out of which other slot, and below it the number of the shift that this makes of orders.
#[derive(Clone, Copy)]
struct Edge(u32);

impl Edge {
    const NUMBER: u32 = 6;

    fn new(other: usize, number: u8) -> Self {
        debug_assert!(other < 1 << (u32::BITS - Self::NUMBER) && number < 1 << Self::NUMBER);
        Self((other as u32) << Self::NUMBER | u32::from(number))
    }
}

/// For each slot the moves of tiles that lead into it.
struct Edges {
    edges: Vec<Edge>,
    first: Vec<usize>,
    /// By the number of the shift.
    passings: Vec<Passing>,
}

impl Edges {
    fn new(placements: &Placements, permutations: &Permutations, shifts: &Shifts) -> Self {
        // Room for more than there are, which takes no memory until it is used; to grow would take twice as much.
        let mut edges = Vec::with_capacity(3 * permutations.things() * placements.len());
        let mut first = vec![0];
        for (set, region) in placements.places() {
            // Moves can be taken back: what leads out of a slot leads into it.
            edges.extend(placements.moves(set, region).map(|(from, to)| {
                let other = set ^ 1 << from ^ 1 << to;
                Edge::new(placements.slot(other, from), Shifts::number(before(other, to), before(set, from)))
            }));
            first.push(edges.len());
        }
        let passings = Shifts::numbers().map(|number| Passing::new(permutations, shifts, number)).collect();
        Self { edges, first, passings }
    }

    fn of(&self, slot: usize) -> impl Iterator<Item = (usize, &Passing)> {
        let edges = &self.edges[self.first[slot]..self.first[slot + 1]];
        edges.iter().map(|Edge(edge)| {
            let number = edge % (1 << Edge::NUMBER);
            ((edge >> Edge::NUMBER) as usize, &self.passings[number as usize])
        })
    }
}
