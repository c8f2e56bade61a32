//! Automaton that prunes duplicate sequences of moves.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use crate::domain::{Move, MoveSet, mix};

/// A finite-state machine that decides from the last moves which moves are redundant (Taylor & Korf 1993).
///
/// A sequence of moves is *refused* if another sequence leads to the same board, is shorter (or equally long and
/// earlier in order), and uses no other row or column. Wherever the refused sequence is legal, so is the other. The
/// first shortest solution in order contains no refused sequence, because replacing it would make the solution shorter
/// or earlier. So a search that tries moves in order and returns the first shortest solution finds the same solution
/// with or without pruning.
///
/// The automaton covers sequences of up to twelve moves within four rows and four columns: 2,001 of them, such as the
/// reversal of a move and six moves around a square. A sequence is compared only with the first sequence that leads to
/// its board.
#[derive(Debug)]
pub struct MoveAutomaton {
    /// By state and move: the history after the move. Unused for refused moves, and after the last state.
    next: Box<[[MoveHistory; 4]; MoveAutomaton::STATES]>,
}

/// Maximum length of a sequence. Fourteen would save 5 % of the nodes of the hardest 15-puzzles and quadruple the
/// states.
const LONGEST: usize = 12;
/// Maximum number of rows, and of columns, of a sequence.
const WIDEST: u8 = 4;

/// History of a path: the automaton's state, the redundant moves, and the move straight back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveHistory(u32);

impl MoveHistory {
    /// Before the first move.
    pub const START: Self = Self(0);
    const BACK: u32 = 4;
    const STATE: u32 = 8;

    #[inline]
    fn new(state: u32, refused: MoveSet, back: MoveSet) -> Self {
        Self(state << Self::STATE | u32::from(back.bits()) << Self::BACK | u32::from(refused.bits()))
    }

    /// After a move, with only its reversal marked as redundant.
    #[inline]
    pub fn straight_back(last: Move) -> Self {
        Self::new(0, MoveSet::back(last), MoveSet::back(last))
    }

    /// The redundant moves.
    #[inline(always)]
    pub fn refused(self) -> MoveSet {
        MoveSet::from_bits(self.0 as u8)
    }

    /// The move straight back; `None` before the first move.
    pub fn back(self) -> Option<Move> {
        MoveSet::from_bits((self.0 >> Self::BACK) as u8).next()
    }

    #[inline(always)]
    fn state(self) -> usize {
        (self.0 >> Self::STATE) as usize
    }
}

impl MoveAutomaton {
    /// Upper bound on the number of states. A power of two, so that no bounds check is needed.
    const STATES: usize = 1 << 13;

    /// The automaton. The first call takes 20 to 30 milliseconds to build it.
    pub fn get() -> &'static Self {
        static AUTOMATON: LazyLock<MoveAutomaton> = LazyLock::new(|| MoveStrings::up_to(LONGEST).into_automaton());
        &AUTOMATON
    }

    /// The history after a move that is not refused.
    #[inline(always)]
    pub fn next(&self, history: MoveHistory, mv: Move) -> MoveHistory {
        self.next[history.state() % Self::STATES][mv as usize]
    }
}

/// All sequences that contain no refused sequence, by length and then in order, as a tree.
struct MoveStrings {
    list: Vec<MoveString>,
    /// By arrangement: bounds of the first sequence that leads to it.
    first: HashMap<Arrangement, Bounds, BuildHasherDefault<IdentityHasher>>,
    /// True if new sequences have the maximum length.
    are_longest: bool,
}

struct MoveString {
    /// The sequence without its last move.
    shorter: u32,
    /// The sequence without its first move; the empty sequence for itself.
    rest: u32,
    next: [Next; 4],
    /// The inverse of the last move.
    back: MoveSet,
    /// True if a refused sequence starts with this one.
    is_needed: bool,
}

/// Effect of appending a move to a sequence.
#[derive(Clone, Copy)]
enum Next {
    Refused,
    MoveString(u32),
    /// The sequence becomes too long or too wide. The effect on its suffix applies.
    AsSuffix,
}

/// First and last row and column of a sequence.
#[derive(Clone, Copy)]
struct Bounds {
    first: [u8; 2],
    last: [u8; 2],
}

impl Bounds {
    fn with(mut self, cell: u8) -> Self {
        for (axis, index) in Grid::row_and_column(cell).into_iter().enumerate() {
            self.first[axis] = self.first[axis].min(index);
            self.last[axis] = self.last[axis].max(index);
        }
        self
    }

    fn contain(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.first[axis] <= other.first[axis] && other.last[axis] <= self.last[axis])
    }

    fn are_too_wide(&self) -> bool {
        (0..2).any(|axis| self.last[axis] - self.first[axis] >= WIDEST)
    }
}

/// Hash of an arrangement: the sum of all tiles' displacements, each multiplied by a large number of the tile. A test
/// proves that it is unique among reachable arrangements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Arrangement(u64);

/// Identity hash, for numbers that are uniform already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("an arrangement hashes as one u64")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// A grid around the blank that is large enough for all sequences.
struct Grid {
    tiles: [u8; 256],
    numbers: [u64; 256],
    blank: u8,
    arrangement: Arrangement,
}

impl Grid {
    const COLUMNS: u8 = 16;
    const MIDDLE: u8 = 8 * Self::COLUMNS + 8;

    fn new() -> Self {
        let numbers = std::array::from_fn(|tile| mix(tile as u64, 0));
        Self {
            tiles: std::array::from_fn(|cell| cell as u8),
            numbers,
            blank: Self::MIDDLE,
            arrangement: Arrangement::default(),
        }
    }

    fn row_and_column(cell: u8) -> [u8; 2] {
        [cell / Self::COLUMNS, cell % Self::COLUMNS]
    }

    fn make(&mut self, mv: Move) {
        let by = if matches!(mv, Move::Up | Move::Down) { Self::COLUMNS } else { 1 };
        let by = if matches!(mv, Move::Up | Move::Left) { by.wrapping_neg() } else { by };
        let (to, from) = (self.blank, self.blank.wrapping_add(by));
        let tile = usize::from(self.tiles[usize::from(from)]);
        self.tiles.swap(usize::from(from), usize::from(to));
        let displacement = i64::from(by as i8) as u64;
        self.arrangement.0 = self.arrangement.0.wrapping_sub(self.numbers[tile].wrapping_mul(displacement));
        self.blank = from;
    }
}

impl MoveStrings {
    const EMPTY: u32 = 0;

    fn up_to(longest: usize) -> Self {
        let sequence =
            MoveString { shorter: 0, rest: 0, next: [Next::AsSuffix; 4], back: MoveSet::EMPTY, is_needed: true };
        let [row, column] = Grid::row_and_column(Grid::MIDDLE);
        let bounds = Bounds { first: [row, column], last: [row, column] };
        let mut first = HashMap::with_capacity_and_hasher(1 << 18, BuildHasherDefault::default());
        first.insert(Arrangement::default(), bounds);
        let mut sequences = Self { list: vec![sequence], first, are_longest: false };
        for moves in 0..longest {
            sequences.are_longest = moves + 1 == longest;
            sequences.lengthen(Self::EMPTY, moves, &mut Grid::new(), bounds);
        }
        sequences
    }

    fn sequence(&self, sequence: u32) -> &MoveString {
        &self.list[sequence as usize]
    }

    /// Appends a move to all sequences that are `moves` longer than this one.
    fn lengthen(&mut self, sequence: u32, moves: usize, grid: &mut Grid, bounds: Bounds) {
        for mv in Move::ALL {
            let next = self.sequence(sequence).next[mv as usize];
            if moves > 0 && !matches!(next, Next::MoveString(_)) {
                continue;
            }
            grid.make(mv);
            let bounds = bounds.with(grid.blank);
            match next {
                Next::MoveString(next) => self.lengthen(next, moves - 1, grid, bounds),
                _ => self.list[sequence as usize].next[mv as usize] = self.add(sequence, mv, grid.arrangement, bounds),
            }
            grid.make(mv.inverse());
        }
    }

    /// Appends a move to a sequence, after all sequences that are shorter, or equally long and earlier in order.
    fn add(&mut self, sequence: u32, mv: Move, arrangement: Arrangement, bounds: Bounds) -> Next {
        let rest = match self.sequence(self.sequence(sequence).rest).next[mv as usize] {
            _ if sequence == Self::EMPTY => Self::EMPTY,
            Next::MoveString(rest) => rest,
            other => return other,
        };
        if bounds.are_too_wide() {
            return Next::AsSuffix;
        }
        match self.first.entry(arrangement) {
            Entry::Occupied(first) if bounds.contain(first.get()) => {
                self.mark_needed(sequence);
                return Next::Refused;
            }
            first => first.or_insert(bounds),
        };
        if self.are_longest {
            return Next::AsSuffix;
        }
        let back = MoveSet::back(mv);
        self.list.push(MoveString { shorter: sequence, rest, next: [Next::AsSuffix; 4], back, is_needed: false });
        Next::MoveString(self.list.len() as u32 - 1)
    }

    /// Marks a sequence and all its prefixes.
    fn mark_needed(&mut self, mut sequence: u32) {
        while !self.sequence(sequence).is_needed {
            self.list[sequence as usize].is_needed = true;
            sequence = self.sequence(sequence).shorter;
        }
    }

    /// The longest needed suffix of a sequence plus one move; `None` if the move is refused.
    fn after(&self, mut sequence: u32, mv: Move) -> Option<u32> {
        let mut next = loop {
            match self.sequence(sequence).next[mv as usize] {
                Next::Refused => return None,
                Next::MoveString(next) => break next,
                Next::AsSuffix => sequence = self.sequence(sequence).rest,
            }
        };
        while !self.sequence(next).is_needed {
            next = self.sequence(next).rest;
        }
        Some(next)
    }

    fn into_automaton(self) -> MoveAutomaton {
        let needed: Vec<u32> =
            (0..self.list.len() as u32).filter(|sequence| self.sequence(*sequence).is_needed).collect();
        let history = |(state, sequence): (u32, &u32)| {
            let refused = Move::ALL.into_iter().filter(|mv| self.after(*sequence, *mv).is_none()).collect();
            MoveHistory::new(state, refused, self.sequence(*sequence).back)
        };
        let histories: Vec<MoveHistory> = (0..).zip(&needed).map(history).collect();
        let history_of =
            |sequence: u32| histories[needed.binary_search(&sequence).expect("each needed sequence has a state")];
        let next =
            |sequence: &u32| Move::ALL.map(|mv| self.after(*sequence, mv).map_or(MoveHistory::START, history_of));
        let mut next: Vec<[MoveHistory; 4]> = needed.iter().map(next).collect();
        assert!(next.len() <= MoveAutomaton::STATES, "the states fit the table");
        next.resize(MoveAutomaton::STATES, [MoveHistory::START; 4]);
        MoveAutomaton { next: next.try_into().expect("resized to this length") }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::domain::{Board, Size};

    /// Checks that the first shortest path to each board within `longest` moves is never refused. Breadth-first
    /// search in successor order reaches every board by that path.
    fn assert_first_shortest_paths_pass(start: Board, longest: u32) {
        let automaton = MoveAutomaton::get();
        let mut known = HashSet::from([start]);
        let mut layer = vec![(start, MoveHistory::START)];
        for _ in 0..longest {
            let mut next = Vec::new();
            for (board, history) in layer {
                for mv in board.moves() {
                    let mut successor = board;
                    successor.make(mv);
                    if known.insert(successor) {
                        assert!(!history.refused().contains(mv), "{start}: {mv:?} after {board}");
                        next.push((successor, automaton.next(history, mv)));
                    }
                }
            }
            layer = next;
        }
    }

    #[test]
    fn refused_moves_are_never_needed() {
        assert_first_shortest_paths_pass_on(&[(2, 2, 24), (2, 3, 24), (3, 2, 24), (3, 3, 20), (2, 8, 12), (4, 4, 14)]);
    }

    #[test]
    #[ignore = "half a minute: longer paths"]
    fn refused_moves_are_never_needed_on_longer_paths() {
        let longer = [(2, 5, 24), (2, 8, 18), (3, 4, 20), (5, 3, 18), (4, 4, 20)];
        assert_first_shortest_paths_pass_on(&[&[(2, 2, 24), (2, 3, 24), (3, 2, 24), (3, 3, 31)][..], &longer].concat());
    }

    /// Checks shapes, given as rows, columns, and the length of the longest paths.
    fn assert_first_shortest_paths_pass_on(shapes: &[(usize, usize, u32)]) {
        for &(rows, cols, longest) in shapes {
            let size = Size::try_from((rows, cols)).unwrap();
            for start in [Board::blank_last(size), Board::blank_first(size), Board::snail(size)] {
                assert_first_shortest_paths_pass(start, longest);
            }
        }
    }

    /// Collects the displaced tiles of each arrangement that the extensions of a sequence reach.
    fn collect(
        sequences: &MoveStrings,
        sequence: u32,
        grid: &mut Grid,
        known: &mut HashMap<Arrangement, Vec<(usize, u8)>>,
    ) {
        for mv in Move::ALL {
            grid.make(mv);
            let moved = grid.tiles.into_iter().enumerate().filter(|(cell, tile)| *cell != usize::from(*tile));
            let moved: Vec<(usize, u8)> = moved.collect();
            let known_as = known.entry(grid.arrangement).or_insert_with(|| moved.clone());
            assert_eq!(*known_as, moved);
            if let Next::MoveString(next) = sequences.sequence(sequence).next[mv as usize] {
                collect(sequences, next, grid, known);
            }
            grid.make(mv.inverse());
        }
    }

    #[test]
    fn the_automaton_covers_two_thousand_sequences() {
        let sequences = MoveStrings::up_to(LONGEST);
        let is_first = |sequence: &MoveString, mv: usize| {
            let rest = &sequences.list[sequence.rest as usize];
            // Only minimal refused sequences count.
            matches!(sequence.next[mv], Next::Refused) && !matches!(rest.next[mv], Next::Refused)
        };
        let count =
            sequences.list.iter().map(|sequence| (0..4).filter(|mv| is_first(sequence, *mv)).count()).sum::<usize>();
        assert_eq!((count, reachable_states()), (2_001, 7_295));
    }

    fn reachable_states() -> usize {
        let automaton = MoveAutomaton::get();
        let (mut known, mut pending) = (HashSet::from([MoveHistory::START.state()]), vec![MoveHistory::START]);
        while let Some(history) = pending.pop() {
            for mv in Move::ALL.into_iter().filter(|mv| !history.refused().contains(*mv)) {
                let next = automaton.next(history, mv);
                if known.insert(next.state()) {
                    pending.push(next);
                }
            }
        }
        known.len()
    }

    #[test]
    fn hashes_of_arrangements_are_unique() {
        let mut known = HashMap::new();
        collect(&MoveStrings::up_to(LONGEST), MoveStrings::EMPTY, &mut Grid::new(), &mut known);
        assert!(known.len() > 100_000);
    }

    #[test]
    fn circling_a_square_is_refused_at_the_sixth_or_seventh_move() {
        let automaton = MoveAutomaton::get();
        for round in [[Move::Up, Move::Left, Move::Down, Move::Right], [Move::Up, Move::Right, Move::Down, Move::Left]]
        {
            for first in 0..4_usize {
                let (mut history, mut ahead) = (MoveHistory::START, (first..).map(|nth| round[nth % 4]));
                let moves = std::iter::from_fn(|| {
                    let mv = ahead.next().filter(|mv| !history.refused().contains(*mv))?;
                    history = automaton.next(history, mv);
                    Some(mv)
                });
                let is_later = (round[(first + 1) % 4] as u8) < round[first] as u8;
                assert_eq!(moves.count(), if is_later { 5 } else { 6 }, "{round:?} from {first}");
            }
        }
    }
}
