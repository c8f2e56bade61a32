//! The constructive solver, for boards of any size.

use std::collections::VecDeque;

use super::outer_lines::{CellSet, bit, cells_of, contains, set_of};
use super::outer_lines::{OuterLine, OuterLines};
use super::path_shortening::without_reversals;
use crate::domain::{Board, Cell, Move, MoveSet, Packed, Packed64, PackedBytes, Path, Puzzle, Size, Tile};
use crate::search::heuristic::Manhattan;
use crate::search::{Budget, Outcome, Space, State, Stats, Trace, ida_star};

/// Solves outer rows and columns one after another, and the last 3×3 by search.
///
/// Always succeeds and proves no lower bound. The solution is several times as long as an optimal one; its length is
/// O(n³) on n×n boards. 10×10 takes milliseconds. Each tile moves along a shortest path that avoids finished cells. Of
/// a line's last two tiles, one waits in its goal cell while the other approaches; a search over the six cells around
/// them places both.
pub fn constructive(puzzle: &Puzzle) -> Outcome {
    if puzzle.start() == puzzle.goal() {
        let stats = Stats { generated: 1, peak_open: 1, iterations: 1, ..Stats::default() };
        return Outcome { result: Ok(Path::default()), best: None, lower_bound: 0, stats };
    }
    let mut construction = Construction::new(puzzle);
    let rest = construction.reduce();
    construction.finish(rest);
    Outcome {
        result: Ok(without_reversals(construction.moves.into_iter())),
        best: None,
        lower_bound: 0,
        stats: construction.stats,
    }
}

struct Construction {
    space: Space<PackedBytes>,
    state: State<PackedBytes>,
    /// Cells that are not finished.
    open: CellSet,
    moves: Vec<Move>,
    stats: Stats,
}

impl Construction {
    fn new(puzzle: &Puzzle) -> Self {
        let space = Space::<PackedBytes>::new(puzzle);
        // The final search counts the start.
        let stats = Stats { peak_open: 1, iterations: 1, ..Stats::default() };
        let open = set_of(0..space.size().cells() as Cell);
        Self { state: space.start(), space, open, moves: Vec::new(), stats }
    }

    /// Finishes lines until 3×3 or less is left. Returns its rows and columns.
    fn reduce(&mut self) -> [[usize; 2]; 2] {
        let mut lines = OuterLines::new(self.space.size(), self.space.goal_blank(), 3);
        for line in &mut lines {
            self.finish_line(&line);
        }
        lines.rest()
    }

    /// Places the tiles of one outer line.
    fn finish_line(&mut self, line: &OuterLine) {
        let [first @ .., last_but_one, last] = line.cells.as_slice() else {
            unreachable!("a line has at least two cells")
        };
        for target in first {
            self.steer(self.open, &[*target], |_, tiles| tiles[0] == *target);
            self.open &= !bit(*target);
        }
        let (one, other) = (*last_but_one, *last);
        let is_set = |state: &State<PackedBytes>| state.tiles.get(one) == one && state.tiles.get(other) == other;
        if !is_set(&self.state) {
            let size = self.space.size();
            let inward = |cell: &Cell| size.neighbor(*cell, line.inward);
            let window =
                set_of([one, other].into_iter().flat_map(|end| std::iter::successors(Some(end), inward).take(3)));
            self.steer(self.open, &[one], |_, tiles| tiles[0] == one);
            self.steer(self.open & !bit(one), &[other], |blank, tiles| {
                contains(window, blank) && contains(window, tiles[0])
            });
            self.steer(window, &[one, other], |_, tiles| tiles[0] == one && tiles[1] == other);
        }
        self.open &= !set_of([one, other]);
    }

    /// Moves the blank within `allowed` along a shortest path until the blank and the given tiles satisfy `is_done`:
    /// breadth-first search over their cells.
    fn steer(&mut self, allowed: CellSet, tiles: &[u8], is_done: impl Fn(Cell, &[Cell]) -> bool) {
        let cells: Vec<Cell> = cells_of(allowed).collect();
        let mut index_of = [0_usize; Size::MAX_CELLS];
        for (index, cell) in cells.iter().enumerate() {
            index_of[usize::from(*cell)] = index;
        }
        let code = |at: &Positions| {
            at.0[..=tiles.len()].iter().fold(0, |code, cell| code * cells.len() + index_of[usize::from(*cell)])
        };
        let mut start = Positions([self.state.blank, UNTRACKED, UNTRACKED]);
        for (at, tile) in start.0[1..].iter_mut().zip(tiles) {
            *at = (0..self.space.size().cells() as Cell).find(|cell| self.state.tiles.get(*cell) == *tile).unwrap_or(0);
        }
        let mut arrived_by = vec![None; cells.len().pow(tiles.len() as u32 + 1)];
        let mut queue = VecDeque::from([(start, MoveSet::EMPTY)]);
        while let Some((at, back)) = queue.pop_front() {
            if is_done(at.0[0], &at.0[1..=tiles.len()]) {
                self.make(retrace(self.space.size(), at, start, |at| arrived_by[code(at)]));
                return;
            }
            self.stats.expanded += 1;
            for mv in self.space.moves_except(at.0[0], back) {
                let successor = at.after(self.space.size(), mv);
                if !contains(allowed, successor.0[0]) {
                    continue;
                }
                self.stats.generated += 1;
                let slot = &mut arrived_by[code(&successor)];
                if slot.is_none() && successor != start {
                    *slot = Some(mv);
                    queue.push_back((successor, MoveSet::back(mv)));
                } else {
                    self.stats.duplicates += 1;
                }
            }
            self.stats.peak_open = self.stats.peak_open.max(queue.len() as u64);
        }
        unreachable!("within two rows and two columns, every tile can reach every cell")
    }

    fn make(&mut self, moves: Vec<Move>) {
        for mv in &moves {
            self.space.make(&mut self.state, *mv);
        }
        self.moves.extend(moves);
    }

    /// Solves the last rectangle, with two or three cells a side, by search.
    fn finish(&mut self, [rows, cols]: [[usize; 2]; 2]) {
        let size = self.space.size();
        let rest = Size::try_from((rows[1] - rows[0], cols[1] - cols[0])).expect("two or three cells a side are left");
        let outer = |cell: Cell| size.cell_at(rows[0] + rest.row_of(cell), cols[0] + rest.col_of(cell));
        let inner = |cell: Cell| rest.cell_at(size.row_of(cell) - rows[0], size.col_of(cell) - cols[0]);
        // Tiles of the rectangle are numbered from 1, without the blank.
        let blank = inner(self.space.goal_blank());
        let goal = Board::from_fn(rest, |cell| if cell == blank { 0 } else { cell + Tile::from(cell < blank) });
        let start = Board::from_fn(rest, |cell| goal.tile(inner(self.state.tiles.get(outer(cell)))));
        let puzzle = Puzzle::try_new(start, goal).expect("the rest of a solvable board is solvable");
        let heuristic = Manhattan::new(rest, goal.blank());
        let last = ida_star(&Space::<Packed64>::new(&puzzle), &heuristic, &Budget::UNLIMITED, &mut Trace::default());
        self.stats.expanded += last.stats.expanded;
        self.stats.generated += last.stats.generated;
        self.moves.extend(last.result.expect("a search without limits finds a solution").moves());
    }
}

/// Cell of a tile that is not tracked.
const UNTRACKED: Cell = Cell::MAX;

/// The cells of the blank and of up to two tiles.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Positions([Cell; 3]);

impl Positions {
    fn after(mut self, size: Size, mv: Move) -> Self {
        let [blank, tiles @ ..] = &mut self.0;
        let from = blank.wrapping_add_signed(size.offset(mv));
        if let Some(tile) = tiles.iter_mut().find(|tile| **tile == from) {
            *tile = *blank;
        }
        *blank = from;
        self
    }
}

fn retrace(size: Size, end: Positions, start: Positions, arrived_by: impl Fn(&Positions) -> Option<Move>) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut at = end;
    while at != start {
        let mv = arrived_by(&at).expect("the search reached every position except the start by a move");
        moves.push(mv);
        at = at.after(size, mv.inverse());
    }
    moves.reverse();
    moves
}
