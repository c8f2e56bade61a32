//! Sequences of moves as text: runs of equal moves, in directions of the blank or of the tiles.

use std::fmt;

use super::Move;
use crate::named;

/// Whose direction a letter names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MoveNotation {
    /// The blank's.
    #[default]
    Blank,
    /// The tile's, which is opposite.
    Tile,
}

named!(MoveNotation { Blank => "blank", Tile => "tile" });

impl MoveNotation {
    /// The blank's move for a letter.
    const fn convert(self, mv: Move) -> Move {
        match self {
            Self::Blank => mv,
            Self::Tile => mv.inverse(),
        }
    }
}

/// Why a text is not a sequence of moves. Positions count characters from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveTextFault {
    /// A character is neither a letter of a move nor a digit.
    NotAMove {
        /// Position of the character.
        at: usize,
        /// The character.
        found: char,
    },
    /// A number does not follow a letter.
    CountWithoutMove {
        /// Position of the number.
        at: usize,
    },
    /// A number is 0.
    ZeroCount {
        /// Position of the number.
        at: usize,
    },
    /// There are more moves than allowed.
    TooMany {
        /// The allowed number.
        most: usize,
    },
}

/// Parses moves such as `ULLD` or `UL2D`: letters in either case, each with an optional number of repetitions.
/// White space may separate moves.
///
/// ```
/// use taquin_solver::{MoveNotation, Path, parse_moves};
/// let path: Path = parse_moves("R2 D", MoveNotation::Tile, 10).unwrap().into();
/// assert_eq!((path.letters().as_str(), path.alg().as_str(), path.scramble().as_str()), ("LLU", "R2D", "UL2"));
/// ```
///
/// # Errors
/// The first fault.
pub fn parse_moves(text: &str, notation: MoveNotation, most: usize) -> Result<Vec<Move>, MoveTextFault> {
    let mut moves = Vec::new();
    let mut characters = text.chars().enumerate().peekable();
    while let Some((at, found)) = characters.next() {
        if found.is_ascii_whitespace() {
            continue;
        }
        if found.is_ascii_digit() {
            return Err(MoveTextFault::CountWithoutMove { at });
        }
        let written = Move::from_letter(found).ok_or(MoveTextFault::NotAMove { at, found })?;
        let mut count: Option<usize> = None;
        while let Some(digit) = characters.next_if(|(_, next)| next.is_ascii_digit()).and_then(|(_, c)| c.to_digit(10))
        {
            count = Some(count.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
        }
        let count = count.unwrap_or(1);
        if count == 0 {
            return Err(MoveTextFault::ZeroCount { at: at + 1 });
        }
        if count > most - moves.len() {
            return Err(MoveTextFault::TooMany { most });
        }
        moves.extend(std::iter::repeat_n(notation.convert(written), count));
    }
    Ok(moves)
}

/// A sentence for clients. Positions count from 1.
impl fmt::Display for MoveTextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAMove { at, found } => write!(
                f,
                "moves are the letters U, L, D and R, each with an optional number of repetitions, such as `UL2D`; \
                 character {} is `{}`",
                at + 1,
                found.escape_debug()
            ),
            Self::CountWithoutMove { at } => {
                write!(f, "the number at character {} follows no letter: `L2` is two moves to the left", at + 1)
            }
            Self::ZeroCount { at } => write!(f, "the number of repetitions at character {} is 0", at + 1),
            Self::TooMany { most } => write!(f, "there are more than {most} moves"),
        }
    }
}

impl std::error::Error for MoveTextFault {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Path;

    fn letters(text: &str, notation: MoveNotation) -> Result<String, MoveTextFault> {
        parse_moves(text, notation, 30).map(|moves| Path::from(moves).letters())
    }

    #[test]
    fn runs_and_spaces_and_both_cases_are_read() {
        for text in ["ULLLDR", "ul3dr", "U L3 D\nR", " U1L2LDR "] {
            assert_eq!(letters(text, MoveNotation::Blank).as_deref(), Ok("ULLLDR"), "{text:?}");
            assert_eq!(letters(text, MoveNotation::Tile).as_deref(), Ok("DRRRUL"), "{text:?}");
        }
        assert_eq!(letters("", MoveNotation::Tile).as_deref(), Ok(""));
    }

    #[test]
    fn the_first_fault_is_named_with_its_place() {
        for (text, fault) in [
            ("UX", MoveTextFault::NotAMove { at: 1, found: 'X' }),
            ("U,L", MoveTextFault::NotAMove { at: 1, found: ',' }),
            ("2U", MoveTextFault::CountWithoutMove { at: 0 }),
            ("U 2", MoveTextFault::CountWithoutMove { at: 2 }),
            ("UL0", MoveTextFault::ZeroCount { at: 2 }),
            ("U31", MoveTextFault::TooMany { most: 30 }),
            ("U15L16", MoveTextFault::TooMany { most: 30 }),
            ("U99999999999999999999999", MoveTextFault::TooMany { most: 30 }),
        ] {
            assert_eq!(letters(text, MoveNotation::Blank), Err(fault), "{text}");
        }
        assert!(letters("U15L15", MoveNotation::Blank).is_ok());
    }

    /// A reader after the description of SlidySim: a letter is the direction of the tile, a number repeats it.
    fn as_slidysim_reads(alg: &str) -> String {
        let mut tiles = String::new();
        let mut rest = alg;
        while let Some(letter) = rest.chars().next() {
            let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
            let count = rest[1..=digits].parse().unwrap_or(1);
            (0..count).for_each(|_| tiles.push(letter));
            rest = &rest[1 + digits..];
        }
        tiles
    }

    #[test]
    fn every_path_of_six_moves_is_written_and_read_in_both_notations() {
        for code in 0..4_usize.pow(6) {
            let path: Path = (0..6).map(|at| Move::ALL[code / 4_usize.pow(at) % 4]).collect();
            let (alg, scramble) = (path.alg(), path.scramble());
            let opposite = |letters: String| -> String {
                letters.chars().filter_map(Move::from_letter).map(|mv| mv.inverse().letter()).collect()
            };
            assert_eq!(as_slidysim_reads(&alg), opposite(path.letters()));
            assert_eq!(as_slidysim_reads(&scramble), path.letters().chars().rev().collect::<String>());
            assert_eq!(parse_moves(&alg, MoveNotation::Tile, 6).as_deref(), Ok(path.moves()));
            let changes = path.moves().windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert_eq!(path.multi_tile_length(), changes + 1);
        }
        let empty = Path::default();
        assert_eq!((empty.alg(), empty.scramble(), empty.multi_tile_length()), (String::new(), String::new(), 0));
    }
}
