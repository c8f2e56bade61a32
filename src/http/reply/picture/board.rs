//! A board.

use taquin_solver::Board;

use super::{BOARD_STYLE, MARGIN, Picture, definitions, small_board, tile_side};

/// Draws a board.
pub(crate) fn of_board(board: &Board) -> String {
    let size = board.size();
    let side = tile_side(size, 240, 32, 64);
    Picture {
        width: size.cols() * side + 2 * MARGIN,
        height: size.rows() * side + 2 * MARGIN,
        title: format!("{size} sliding-tile puzzle"),
        description: format!("The board {board}; 0 is the blank."),
        style: BOARD_STYLE,
        body: format!("{}{}", definitions(size), small_board(board, (MARGIN, MARGIN), side, None)),
    }
    .svg()
}
