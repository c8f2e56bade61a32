//! Breadth-first search over all entries of a pattern's table.

use super::permutations::Shifts;
use super::placements::{Placements, before};

/// The second bit of each entry's cost: for each slot a row of bits, one an order.
///
/// All entries at one cost are found at once, row by row: a row takes over what lies one move away
/// from it. Where a tile slides past no other the orders stay what they are, and a row comes over in
/// whole words; elsewhere bit by bit, from whichever side has fewer bits to look at (after Beamer,
/// Asanović & Patterson 2012). A row that is found in full is not looked at again.
pub(super) fn flood(placements: &Placements, shifts: &Shifts, orders: usize, home_slot: usize) -> Vec<u64> {
    let mut flood = Flood::new(placements, shifts, orders);
    flood.start(home_slot);
    for cost in 1.. {
        if !flood.rise(cost) {
            break;
        }
    }
    flood.second_bits
}

struct Flood {
    /// Words of a row.
    row: usize,
    edges: Edges,
    /// Entries found, and what is told of them.
    seen: Vec<u64>,
    second_bits: Vec<u64>,
    /// By slot: entries not found.
    left: Vec<u32>,
    /// The entries found last, and the ones before that.
    now: Layer,
    next: Layer,
}

/// Entries at one cost.
struct Layer {
    bits: Vec<u64>,
    /// By slot: how many bits of its row are set.
    counts: Vec<u32>,
}

impl Flood {
    fn new(placements: &Placements, shifts: &Shifts, orders: usize) -> Self {
        let (slots, row) = (placements.len(), orders.div_ceil(64));
        let layer = || Layer { bits: vec![0; slots * row], counts: vec![0; slots] };
        Self {
            row,
            edges: Edges::new(placements, shifts, orders),
            seen: vec![0; slots * row],
            second_bits: vec![0; slots * row],
            left: vec![orders as u32; slots],
            now: layer(),
            next: layer(),
        }
    }

    /// Home is the first order of its slot.
    fn start(&mut self, home_slot: usize) {
        self.now.bits[home_slot * self.row] = 1;
        self.now.counts[home_slot] = 1;
        self.seen[home_slot * self.row] = 1;
        self.left[home_slot] -= 1;
    }

    /// Finds the entries at a cost from those at one less; false if there are none.
    fn rise(&mut self, cost: u32) -> bool {
        let mut is_any = false;
        for slot in 0..self.left.len() {
            if self.next.counts[slot] > 0 {
                self.next.bits[slot * self.row..(slot + 1) * self.row].fill(0);
                self.next.counts[slot] = 0;
            }
            if self.left[slot] > 0 && self.reach(slot) {
                is_any |= self.settle(slot, cost & 2 != 0);
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        is_any
    }

    /// Gathers in a slot's row what lies one move away, and perhaps what was found before; false if
    /// there is nothing.
    fn reach(&mut self, slot: usize) -> bool {
        let Self { row, edges, seen, left, now, next, .. } = self;
        let rows = |slot: usize| slot * *row..(slot + 1) * *row;
        let (found, seen) = (&mut next.bits[rows(slot)], &seen[rows(slot)]);
        let ranks = &edges.ranks;
        let edges = edges.of(slot).iter().filter(|edge| now.counts[usize::from(edge.slot)] > 0);
        let (mut passing, mut bits, mut is_any) = (0, 0, false);
        for edge in edges.clone() {
            is_any = true;
            let slot = usize::from(edge.slot);
            if ranks[usize::from(edge.back)].is_empty() {
                let words = &now.bits[rows(slot)];
                found.iter_mut().zip(words).for_each(|(found, word)| *found |= word);
            } else {
                passing += 1;
                bits += now.counts[slot];
            }
        }
        let is_push = bits < left[slot] * passing / 2;
        for edge in edges {
            let words = &now.bits[rows(usize::from(edge.slot))];
            // Of no ranks nothing comes.
            if is_push {
                push(found, words, &ranks[usize::from(edge.there)]);
            } else {
                pull(found, seen, words, &ranks[usize::from(edge.back)]);
            }
        }
        is_any
    }

    /// Keeps what is new in a slot's row.
    fn settle(&mut self, slot: usize, second_bit: bool) -> bool {
        let range = slot * self.row..(slot + 1) * self.row;
        let found = self.next.bits[range.clone()].iter_mut();
        let known = self.seen[range.clone()].iter_mut().zip(&mut self.second_bits[range]);
        let mut count = 0;
        for (found, (seen, second_bits)) in found.zip(known) {
            *found &= !*seen;
            *seen |= *found;
            count += found.count_ones();
            if second_bit {
                *second_bits |= *found;
            }
        }
        self.left[slot] -= count;
        self.next.counts[slot] = count;
        count > 0
    }
}

/// A move of a tile out of another slot.
#[derive(Clone, Copy)]
struct Edge {
    /// The other slot.
    slot: u16,
    /// The numbers of the shift that it makes of orders, and of the one that takes that back.
    there: u8,
    back: u8,
}

/// For each slot the moves that lead into it.
struct Edges {
    edges: Vec<Edge>,
    first: Vec<usize>,
    /// By the number of a shift: the ranks that it takes all to, or none if it leaves them as they are.
    ranks: Vec<Vec<u16>>,
}

impl Edges {
    fn new(placements: &Placements, shifts: &Shifts, orders: usize) -> Self {
        let (mut edges, mut first) = (Vec::new(), vec![0]);
        for (set, region) in placements.places() {
            // Moves can be taken back: what leads out of a slot leads into it.
            edges.extend(placements.moves(set, region).map(|(from, to)| {
                let other = set ^ 1 << from ^ 1 << to;
                let (here, there) = (before(set, from), before(other, to));
                let slot = placements.slot(other, from) as u16;
                Edge { slot, there: Shifts::number(there, here), back: Shifts::number(here, there) }
            }));
            first.push(edges.len());
        }
        Self { edges, first, ranks: Shifts::numbers().map(|number| shifts.ranks(number, orders)).collect() }
    }

    fn of(&self, slot: usize) -> &[Edge] {
        &self.edges[self.first[slot]..self.first[slot + 1]]
    }
}

/// Adds to one row what a shift makes of another.
fn push(found: &mut [u64], row: &[u64], ranks: &[u16]) {
    for (word, ranks) in row.iter().zip(ranks.chunks(64)) {
        let mut word = *word;
        while word != 0 {
            let rank = usize::from(ranks[word.trailing_zeros() as usize]);
            found[rank / 64] |= 1 << (rank % 64);
            word &= word - 1;
        }
    }
}

/// The same, asking for each entry not found yet; `ranks` are of the shift back.
fn pull(found: &mut [u64], seen: &[u64], row: &[u64], ranks: &[u16]) {
    for ((found, seen), ranks) in found.iter_mut().zip(seen).zip(ranks.chunks(64)) {
        let mut unknown = !(*found | *seen);
        if ranks.len() < 64 {
            unknown &= (1 << ranks.len()) - 1;
        }
        while unknown != 0 {
            let at = unknown.trailing_zeros() as usize;
            let rank = usize::from(ranks[at]);
            *found |= (row[rank / 64] >> (rank % 64) & 1) << at;
            unknown &= unknown - 1;
        }
    }
}
