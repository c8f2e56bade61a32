//! Properties of the notations, on random boards and texts.

use std::collections::HashMap;

use proptest::prelude::*;
use taquin_solver::{
    Board, BoardFault, Encoding, Move, Path, Puzzle, RawBoard, ReplayError, Sides, Size, SplitMix, random_board,
    random_walk,
};

fn size() -> impl Strategy<Value = Size> {
    let sides = Size::MIN_SIDE..=Size::MAX_SIDE;
    (sides.clone(), sides).prop_map(|sides| Size::try_from(sides).unwrap())
}

/// Any permutation on a board of any size.
fn board() -> impl Strategy<Value = Board> {
    size().prop_flat_map(board_of)
}

fn small_board() -> impl Strategy<Value = Board> {
    let sizes: Vec<Size> = Size::all().filter(|size| size.cells() <= RawBoard::MAX_COMPACT_CELLS).collect();
    prop::sample::select(sizes).prop_flat_map(board_of)
}

fn board_of(size: Size) -> impl Strategy<Value = Board> {
    let numbers: Vec<Option<i64>> = (0..size.cells() as i64).map(Some).collect();
    Just(numbers).prop_shuffle().prop_map(move |numbers| Board::try_from_tiles(size, &numbers).unwrap())
}

/// A reachable puzzle with any goal.
fn puzzle() -> impl Strategy<Value = Puzzle> {
    (board(), any::<u64>()).prop_map(|(goal, seed)| {
        Puzzle::try_new(random_board(&goal, &mut SplitMix(seed)), goal).expect("a random board is reachable")
    })
}

fn sides() -> impl Strategy<Value = Sides> {
    let side = || prop::option::of(0_usize..13);
    (side(), side()).prop_map(|(rows, cols)| Sides { rows, cols })
}

fn encoding() -> impl Strategy<Value = Encoding> {
    prop_oneof![Just(Encoding::Tiles), Just(Encoding::Positions)]
}

/// A board in text notation, with the given variants of blank and separators.
fn spelled(board: &Board, blank: &str, between_cells: &str, between_rows: &str) -> String {
    let cell = |tile: &u8| if *tile == 0 { blank.to_owned() } else { tile.to_string() };
    let row = |row: &[u8]| row.iter().map(cell).collect::<Vec<_>>().join(between_cells);
    board.rows().map(row).collect::<Vec<_>>().join(between_rows)
}

fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["0", "_", ".", "x", "X"])
}

fn between_cells() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![" ", ",", ", ", "  ", "\t", " ,"])
}

fn between_rows() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["/", ";", "\n", "\r\n", " / ", " ; ", "\n  "])
}

fn of_size(size: Size) -> Sides {
    Sides { rows: Some(size.rows()), cols: Some(size.cols()) }
}

/// Almost valid boards, and arbitrary text.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => r"[0-9_.xX /;,\n-]{0,60}",
        1 => r"\PC{0,30}",
        1 => any::<String>(),
    ]
}

/// Almost valid permutations, and arbitrary entries.
fn entries() -> impl Strategy<Value = Vec<Option<i64>>> {
    let number = prop_oneof![8 => (-1_i64..18).prop_map(Some), 1 => any::<i64>().prop_map(Some), 1 => Just(None)];
    let permutation = (2_i64..120).prop_flat_map(|cells| Just((0..cells).map(Some).collect::<Vec<_>>()).prop_shuffle());
    let nearly =
        (permutation.clone(), any::<prop::sample::Index>(), number.clone()).prop_map(|(mut list, at, number)| {
            let at = at.index(list.len());
            list[at] = number;
            list
        });
    prop_oneof![permutation, nearly, prop::collection::vec(number, 0..130)]
}

/// Rows of `entries`, of consistent or inconsistent length.
fn raw() -> impl Strategy<Value = RawBoard> {
    (entries(), prop::option::of(1_usize..12), any::<bool>()).prop_map(|(entries, length, is_sound)| {
        let row_lengths = length.map(|length| {
            let mut lengths: Vec<usize> = entries.chunks(length).map(<[_]>::len).collect();
            if !is_sound {
                lengths.push(0);
            }
            lengths
        });
        RawBoard { entries, row_lengths }
    })
}

/// Checks that an accepted board equals its entries, and that a rejection has the correct reason and position.
fn check(raw: &RawBoard, sides: Sides, encoding: Encoding) -> Result<(), TestCaseError> {
    match raw.board(sides, encoding) {
        Ok(board) => {
            let cells = board.size().cells();
            let entries = match encoding {
                Encoding::Tiles => board.tiles().to_vec(),
                Encoding::Positions => board.positions()[..cells].to_vec(),
            };
            let entries: Vec<Option<i64>> = entries.into_iter().map(|number| Some(i64::from(number))).collect();
            prop_assert_eq!(&entries, &raw.entries);
            prop_assert_eq!(board.tile(board.blank()), 0);
            prop_assert!(sides.rows.is_none_or(|rows| rows == board.size().rows()));
            prop_assert!(sides.cols.is_none_or(|cols| cols == board.size().cols()));
        }
        Err(faults) => {
            prop_assert!(!faults.is_empty());
            for fault in faults {
                prop_assert!(fault.entry().is_none_or(|entry| entry < raw.entries.len()), "{:?}", fault);
                let rows = raw.row_lengths.as_ref().map_or(0, Vec::len);
                prop_assert!(fault.row().is_none_or(|row| row < rows), "{:?}", fault);
                if let (Some(entry), Some(lengths)) = (fault.entry(), &raw.row_lengths) {
                    let (row, col) = raw.row_and_col(entry).expect("every entry is in a row");
                    prop_assert!(col < lengths[row]);
                    prop_assert_eq!(lengths[..row].iter().sum::<usize>() + col, entry);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_printed_board_parses_to_itself(board in board()) {
        let read = |text: &str, sides| RawBoard::parse(text).board(sides, Encoding::Tiles);
        prop_assert_eq!(read(&board.to_string(), Sides::default()), Ok(board));
        prop_assert_eq!(read(&board.to_string(), of_size(board.size())), Ok(board));
    }

    #[test]
    fn every_spelling_of_a_board_parses_to_it(
        board in board(), blank in blank(), cells in between_cells(), rows in between_rows(), around in "[ \n/;]{0,3}",
    ) {
        let text = format!("{around}{}{around}", spelled(&board, blank, cells, rows));
        prop_assert_eq!(RawBoard::parse(&text).board(Sides::default(), Encoding::Tiles), Ok(board), "{:?}", text);
    }

    #[test]
    fn one_side_determines_the_shape_of_a_flat_board(board in board(), blank in blank(), cells in between_cells()) {
        let raw = RawBoard::parse(&spelled(&board, blank, cells, cells));
        prop_assert_eq!(&raw.row_lengths, &None);
        let Sides { rows, cols } = of_size(board.size());
        for sides in [Sides { rows, cols }, Sides { rows, cols: None }, Sides { rows: None, cols }] {
            prop_assert_eq!(raw.board(sides, Encoding::Tiles), Ok(board));
        }
        let square = raw.board(Sides::default(), Encoding::Tiles);
        let cells = board.size().cells();
        if rows == cols {
            prop_assert_eq!(square, Ok(board));
        } else if cells.isqrt().pow(2) == cells {
            prop_assert_eq!(square.map(|board| board.tiles().to_vec()), Ok(board.tiles().to_vec()));
        } else {
            prop_assert_eq!(square, Err(vec![BoardFault::ShapeUnknown { entries: cells }]));
        }
    }

    #[test]
    fn boards_of_up_to_ten_cells_need_no_separators(board in small_board(), blank in blank(), rows in between_rows()) {
        for text in [spelled(&board, blank, "", rows), spelled(&board, blank, "", "")] {
            let read = RawBoard::parse(&text).board(of_size(board.size()), Encoding::Tiles);
            prop_assert_eq!(read, Ok(board), "{:?}", text);
        }
    }

    #[test]
    fn positions_parse_to_their_board(board in board()) {
        let positions = &board.positions()[..board.size().cells()];
        for (tile, cell) in positions.iter().enumerate() {
            prop_assert_eq!(usize::from(board.tile(*cell)), tile);
        }
        let entries = positions.iter().map(|cell| Some(i64::from(*cell))).collect();
        let raw = RawBoard { entries, row_lengths: None };
        prop_assert_eq!(raw.board(of_size(board.size()), Encoding::Positions), Ok(board));
    }

    #[test]
    fn any_text_is_a_board_or_is_rejected_with_faults(text in text(), sides in sides(), encoding in encoding()) {
        let raw = RawBoard::parse(&text);
        if let Some(lengths) = &raw.row_lengths {
            prop_assert_eq!(lengths.iter().sum::<usize>(), raw.entries.len());
        }
        check(&raw, sides, encoding)?;
    }

    #[test]
    fn any_list_is_a_board_or_is_rejected_with_faults(raw in raw(), sides in sides(), encoding in encoding()) {
        check(&raw, sides, encoding)?;
    }

    #[test]
    fn one_wrong_entry_is_located(board in board(), at in any::<prop::sample::Index>(), wrong: i64) {
        let cells = board.size().cells();
        let (at, mut entries) = (at.index(cells), board.tiles().iter().map(|tile| Some(i64::from(*tile))).collect::<Vec<_>>());
        prop_assume!(entries[at] != Some(wrong));
        entries[at] = Some(wrong);
        let faults = RawBoard { entries, row_lengths: None }.board(of_size(board.size()), Encoding::Tiles).unwrap_err();
        let places: Vec<usize> = faults.iter().filter_map(BoardFault::entry).collect();
        prop_assert_eq!(places.len(), 1, "{:?}", faults);
        // Of two equal tiles, the second one is reported.
        let is_tile = usize::try_from(wrong).is_ok_and(|wrong| wrong < cells);
        prop_assert!(places[0] == at || is_tile && places[0] > at, "{:?}", faults);
        prop_assert_eq!(faults.len(), 2, "one number must be missing: {:?}", faults);
    }

    #[test]
    fn a_printed_path_replays_step_by_step(puzzle in puzzle(), letters in "[ULDR]{0,40}") {
        let moves: Option<Vec<Move>> = letters.to_lowercase().chars().map(Move::from_letter).collect();
        let path = Path::from(moves.unwrap());
        prop_assert_eq!(path.to_string(), letters);
        // The reference: swap the blank with its neighbor on a grid.
        let (size, mut grid) = (puzzle.size(), puzzle.start().tiles().to_vec());
        let mut slid = Vec::new();
        for mv in path.moves() {
            let blank = grid.iter().position(|tile| *tile == 0).unwrap();
            let (row, col) = (blank / size.cols(), blank % size.cols());
            let to = match mv {
                Move::Up => row.checked_sub(1).map(|row| (row, col)),
                Move::Left => col.checked_sub(1).map(|col| (row, col)),
                Move::Down => Some((row + 1, col)),
                Move::Right => Some((row, col + 1)),
            };
            let Some((row, col)) = to.filter(|(row, col)| *row < size.rows() && *col < size.cols()) else { break };
            slid.push(grid[row * size.cols() + col]);
            grid.swap(blank, row * size.cols() + col);
        }
        let steps: Vec<_> = path.steps(puzzle.start()).collect();
        prop_assert_eq!(steps.iter().map(|step| step.tile).collect::<Vec<_>>(), slid.clone());
        prop_assert_eq!(steps.last().map_or(puzzle.start(), |step| &step.board).tiles(), &grid);
        let expected = match slid.len() < path.len() {
            true => Err(ReplayError::OffBoard { at: slid.len() }),
            false if grid == puzzle.goal().tiles() => Ok(slid),
            false => Err(ReplayError::NotAtGoal),
        };
        prop_assert_eq!(path.replay(&puzzle), expected);
    }

    #[test]
    fn a_walk_is_reproducible_and_ends_at_a_solvable_board(goal in board(), moves in 0_u32..200, seed: u64) {
        let start = random_walk(&goal, moves, &mut SplitMix(seed));
        prop_assert!(Puzzle::try_new(start, goal).is_ok());
        prop_assert_eq!(start, random_walk(&goal, moves, &mut SplitMix(seed)), "equal seeds give equal boards");
        // Each move shifts the blank one step, so its distance from home has the parity of the walk.
        let distance = goal.size().distance(start.blank(), goal.blank());
        prop_assert!(distance <= moves && distance % 2 == moves % 2);
    }
}

/// Optimal lengths from `goal` to all reachable boards, by breadth-first search.
fn lengths(goal: &Board) -> HashMap<Board, u32> {
    let mut lengths = HashMap::from([(*goal, 0)]);
    let mut reached = vec![*goal];
    let mut next = 0;
    while next < reached.len() {
        let board = reached[next];
        next += 1;
        for mv in board.moves() {
            let mut neighbor = board;
            neighbor.make(mv);
            let length = lengths[&board] + 1;
            lengths.entry(neighbor).or_insert_with(|| {
                reached.push(neighbor);
                length
            });
        }
    }
    lengths
}

#[test]
fn a_walk_is_at_least_as_long_as_an_optimal_solution_and_has_its_parity() {
    for (rows, cols) in [(2, 2), (2, 3), (3, 2)] {
        let size = Size::try_from((rows, cols)).unwrap();
        for goal in [Board::blank_last(size), Board::blank_first(size), Board::snail(size)] {
            let lengths = lengths(&goal);
            assert_eq!(lengths.len(), (1..=rows * cols).product::<usize>() / 2, "half of the boards of {size}");
            let mut random = SplitMix(7);
            for moves in (0..60).flat_map(|moves| [moves; 20]) {
                let length = lengths[&random_walk(&goal, moves, &mut random)];
                assert!(length <= moves && length % 2 == moves % 2, "{moves} moves, optimal length {length}");
            }
        }
    }
}
