//! Moves of the blank.

use std::fmt;

/// A move of the blank by one cell. The tile in its way slides in the opposite direction.
///
/// The variants are in the order in which searches generate successors, unless another one is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Move {
    /// Up one row.
    Up,
    /// Left one column.
    Left,
    /// Down one row.
    Down,
    /// Right one column.
    Right,
}

impl Move {
    /// All moves, in the default successor order.
    pub const ALL: [Self; 4] = [Self::Up, Self::Left, Self::Down, Self::Right];

    /// The move that undoes this one.
    #[inline]
    pub const fn inverse(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Left => Self::Right,
            Self::Down => Self::Up,
            Self::Right => Self::Left,
        }
    }

    /// The letter: `U`, `L`, `D` or `R`.
    pub const fn letter(self) -> char {
        ['U', 'L', 'D', 'R'][self as usize]
    }

    /// Parses `U`, `L`, `D` or `R`, in either case.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|mv| mv.letter() == letter.to_ascii_uppercase())
    }
}

/// A set of moves, one bit each: up 1, left 2, down 4, right 8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct MoveSet(u8);

impl MoveSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set with these bits; all others are ignored.
    #[inline]
    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits & 0xf)
    }

    /// The bits: up 1, left 2, down 4, right 8.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True if `mv` is in the set.
    pub const fn contains(self, mv: Move) -> bool {
        self.0 & (1 << mv as u8) != 0
    }

    /// The set with `mv`.
    #[must_use]
    pub const fn with(self, mv: Move) -> Self {
        Self(self.0 | 1 << mv as u8)
    }

    /// The set with `mv` if the condition is true.
    #[must_use]
    pub const fn with_if(self, condition: bool, mv: Move) -> Self {
        if condition { self.with(mv) } else { self }
    }

    /// The set without `mv`.
    #[must_use]
    pub const fn without(self, mv: Move) -> Self {
        Self(self.0 & !(1 << mv as u8))
    }

    /// The moves that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn except(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set that contains only the inverse of `mv`.
    #[inline]
    pub const fn back(mv: Move) -> Self {
        // The indices of a move and its inverse differ by 2.
        Self(1 << (mv as u8 ^ 2))
    }

    /// Number of moves in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// True if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Iterates in the default successor order.
impl Iterator for MoveSet {
    type Item = Move;

    #[inline]
    fn next(&mut self) -> Option<Move> {
        // A match compiles to a conversion, without a table look-up.
        let mv = match u32::from(self.0).trailing_zeros() {
            0 => Move::Up,
            1 => Move::Left,
            2 => Move::Down,
            3 => Move::Right,
            _ => return None,
        };
        self.0 &= self.0 - 1;
        Some(mv)
    }
}

impl FromIterator<Move> for MoveSet {
    fn from_iter<I: IntoIterator<Item = Move>>(moves: I) -> Self {
        moves.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl fmt::Debug for MoveSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_1_2_4_and_8_in_move_order() {
        let bits = Move::ALL.map(|mv| MoveSet::EMPTY.with(mv).bits());
        assert_eq!(bits, [1, 2, 4, 8]);
    }

    #[test]
    fn back_is_the_inverse() {
        for mv in Move::ALL {
            assert_eq!(MoveSet::back(mv), MoveSet::EMPTY.with(mv.inverse()));
        }
    }

    #[test]
    fn a_set_yields_its_moves_in_successor_order() {
        for bits in 0..16 {
            let set: MoveSet = Move::ALL.into_iter().filter(|mv| bits & (1 << *mv as u8) != 0).collect();
            let moves: Vec<Move> = set.collect();
            assert_eq!(moves.len(), set.len());
            assert!(moves.iter().all(|mv| set.contains(*mv)));
            assert!(moves.is_sorted_by_key(|mv| *mv as u8));
        }
    }

    #[test]
    fn an_inverse_is_its_own_inverse_and_never_itself() {
        for mv in Move::ALL {
            assert_eq!(mv.inverse().inverse(), mv);
            assert_ne!(mv.inverse(), mv);
        }
        assert_eq!(Move::Up.inverse(), Move::Down);
        assert_eq!(Move::Left.inverse(), Move::Right);
    }
}
