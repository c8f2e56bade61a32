//! Which moves lead nowhere new.

use crate::domain::{Move, MoveSet};

/// Tells from the last moves which ones need not be made next (Taylor & Korf 1993).
///
/// **Straight back.** Nothing comes of it.
///
/// **Round a square.** Twelve moves of the blank round a 2×2 square change nothing, so six one way
/// do what six the other way do, and seven what five do. Of the two sixes the one that begins with
/// the later move is refused, and so are all sevens: the shortest solution whose moves come first in
/// order has none of them, since to put the other one in its place would make it shorter or bring it
/// forward. Both ways stay in the square, so where one is legal so is the other. A search that tries
/// moves in order and ends with the first shortest solution finds the same one, with or without this.
#[derive(Clone, Debug)]
pub struct MoveAutomaton {
    states: Vec<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    back: Option<Move>,
    refused: MoveSet,
    next: [u8; 4],
}

/// What the automaton remembers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Past {
    Nothing,
    /// The last move, and how many moves, it included, went round a square in one direction.
    Moves {
        last: Move,
        turn: Option<Turn>,
        run: u8,
    },
}

/// A way round a square.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Clockwise,
    Anticlockwise,
}

impl Turn {
    /// The move that follows another on the way round.
    fn after(self, mv: Move) -> Move {
        match (self, mv) {
            (Self::Clockwise, Move::Up) | (Self::Anticlockwise, Move::Down) => Move::Right,
            (Self::Clockwise, Move::Right) | (Self::Anticlockwise, Move::Left) => Move::Down,
            (Self::Clockwise, Move::Down) | (Self::Anticlockwise, Move::Up) => Move::Left,
            (Self::Clockwise, Move::Left) | (Self::Anticlockwise, Move::Right) => Move::Up,
        }
    }
}

impl Past {
    fn then(self, mv: Move) -> Self {
        let Self::Moves { last, turn, run } = self else { return Self::Moves { last: mv, turn: None, run: 1 } };
        let turned = [Turn::Clockwise, Turn::Anticlockwise].into_iter().find(|turn| turn.after(last) == mv);
        let run = match turned {
            None => 1,
            Some(_) if turned == turn => run + 1,
            Some(_) => 2,
        };
        Self::Moves { last: mv, turn: turned, run }
    }

    fn refused(self) -> MoveSet {
        let Self::Moves { last, turn, run } = self else { return MoveSet::EMPTY };
        let back = MoveSet::back(last);
        let Some(turn) = turn else { return back };
        let next = turn.after(last);
        // After five moves round the first is the last again; the other way begins with the second.
        let is_later = (next as u8) < last as u8;
        if run >= 6 || (run == 5 && is_later) { back.with(next) } else { back }
    }
}

impl MoveAutomaton {
    /// The state before any move.
    pub const START: u8 = 0;

    /// All that is known to lead nowhere new.
    pub fn new() -> Self {
        let mut pasts = vec![Past::Nothing];
        let mut states = Vec::new();
        while let Some(past) = pasts.get(states.len()).copied() {
            let refused = past.refused();
            let next = Move::ALL.map(|mv| {
                if refused.contains(mv) {
                    return Self::START;
                }
                let next = past.then(mv);
                let known = pasts.iter().position(|past| *past == next);
                known.unwrap_or_else(|| {
                    pasts.push(next);
                    pasts.len() - 1
                }) as u8
            });
            let back = if let Past::Moves { last, .. } = past { Some(last.inverse()) } else { None };
            states.push(State { back, refused, next });
        }
        Self { states }
    }

    /// Every state.
    pub fn states(&self) -> std::ops::Range<u8> {
        0..self.states.len() as u8
    }

    /// The move straight back; none from the first state.
    pub fn back(&self, state: u8) -> Option<Move> {
        self.states[usize::from(state)].back
    }

    /// The moves that need not be made.
    #[inline]
    pub fn refused(&self, state: u8) -> MoveSet {
        self.states[usize::from(state)].refused
    }

    /// The state after a move that was not refused.
    #[inline]
    pub fn next(&self, state: u8, mv: Move) -> u8 {
        self.states[usize::from(state)].next[mv as usize]
    }
}

impl Default for MoveAutomaton {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::domain::{Board, Size};

    /// Every board that some moves lead to from a start, by the least number of moves.
    fn reached(start: Board, automaton: Option<&MoveAutomaton>, depth: usize) -> HashMap<Board, usize> {
        let mut reached = HashMap::from([(start, 0)]);
        let mut layer = HashSet::from([(start, MoveAutomaton::START)]);
        for moves in 1..=depth {
            let steps = layer.iter().flat_map(|(board, state)| {
                let refused = automaton.map_or(MoveSet::EMPTY, |automaton| automaton.refused(*state));
                board.moves().except(refused).map(move |mv| {
                    let mut next = *board;
                    next.make(mv);
                    (next, automaton.map_or(MoveAutomaton::START, |automaton| automaton.next(*state, mv)))
                })
            });
            layer = steps.collect();
            layer.iter().for_each(|(board, _)| {
                reached.entry(*board).or_insert(moves);
            });
        }
        reached
    }

    #[test]
    fn what_is_refused_is_never_needed() {
        for (rows, cols) in [(2, 2), (2, 3), (3, 2), (3, 3)] {
            let size = Size::try_from((rows, cols)).unwrap();
            for start in [Board::blank_last(size), Board::blank_first(size), Board::snail(size)] {
                let depth = if size.cells() == 9 { 18 } else { 24 };
                let plain = reached(start, None, depth);
                assert_eq!(reached(start, Some(&MoveAutomaton::new()), depth), plain, "{start}");
            }
        }
    }

    #[test]
    fn one_way_round_a_square_is_refused_at_the_sixth_move_and_the_other_at_the_seventh() {
        let automaton = MoveAutomaton::new();
        for turn in [Turn::Clockwise, Turn::Anticlockwise] {
            for first in Move::ALL {
                let (mut mv, mut state, mut moves) = (first, MoveAutomaton::START, 0);
                while !automaton.refused(state).contains(mv) {
                    state = automaton.next(state, mv);
                    mv = turn.after(mv);
                    moves += 1;
                }
                let is_later = (turn.after(first) as u8) < first as u8;
                assert_eq!(moves, if is_later { 5 } else { 6 }, "{turn:?} from {first:?}");
            }
        }
    }
}
