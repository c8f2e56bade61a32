//! Pictures as SVG: a board, a solution, a search tree, a distribution (docs/adr/0020).
//!
//! A picture has no script, loads nothing, and follows the reader's color scheme. Its size is bounded. Texts are this
//! service's own and need no escaping.

mod chart;
mod solution;
mod tree;

use std::fmt::{Display, from_fn};

use taquin_solver::{Board, Size, Tile};

pub(crate) use chart::of_distribution;
pub(super) use solution::of_solution;
pub(super) use tree::of_tree;

/// Margin around a picture, in pixels.
const MARGIN: usize = 16;
/// Side of a tile, of which the definition is scaled, in pixels.
const TILE: usize = 40;
/// Maximum number of tiles in all small boards of a picture.
const MAX_TILES: usize = 4_000;

/// Colors and fonts of every picture. The colors follow the reader's scheme, light or dark.
const STYLE: &str = "
  svg { background: #fff; font: 13px system-ui, sans-serif; --ink: #222; --line: #888; --mark: #2563a8; }
  text { fill: var(--ink); }
  .title { font-size: 15px; font-weight: 600; }
  .middle { text-anchor: middle; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181d; --ink: #e8e8e8; --line: #999; --mark: #6ea8e6; }
  }
";

/// Colors and fonts of boards.
const BOARD_STYLE: &str = "
  .board { fill: #6b5b3e; }
  .tiles { fill: #f1dfb8; }
  .number { fill: #35260e; font-weight: 600; text-anchor: middle; }
  .slid { fill: #f5b95f; }
  .frame { fill: none; stroke: none; stroke-width: 3; }
";

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

/// A picture of this size in pixels.
struct Picture<S, B> {
    width: usize,
    height: usize,
    /// Title and description, for readers that do not see the picture.
    title: String,
    description: String,
    /// Rules beyond [`STYLE`].
    style: S,
    body: B,
}

impl<S: Display, B: Display> Picture<S, B> {
    fn svg(&self) -> String {
        let Self { width, height, title, description, style, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{title}</title>\n\
             <desc id=\"desc\">{description}</desc>\n<style>{STYLE}{style}</style>\n{body}</svg>\n"
        )
    }
}

/// The tiles of a size, which boards refer to.
fn definitions(size: Size) -> impl Display {
    from_fn(move |f| {
        f.write_str("<defs>\n")?;
        let (side, middle) = (TILE - 2, TILE / 2);
        let font = if size.cells() > 10 { 16 } else { 20 };
        for tile in 1..size.cells() {
            writeln!(
                f,
                "<g id=\"t{tile}\"><rect x=\"1\" y=\"1\" width=\"{side}\" height=\"{side}\" rx=\"5\"/>\
                 <text class=\"number\" x=\"{middle}\" y=\"{}\" font-size=\"{font}\">{tile}</text></g>",
                middle + font * 7 / 20
            )?;
        }
        f.write_str("</defs>\n")
    })
}

/// A board with its top left corner at `(x, y)` and tiles of `side` pixels. `slid` is the tile that is marked.
fn small_board(board: &Board, (x, y): (usize, usize), side: usize, slid: Option<Tile>) -> impl Display {
    from_fn(move |f| {
        let size = board.size();
        let scale = side as f64 / TILE as f64;
        write!(f, "<g class=\"tiles\" transform=\"translate({x} {y}) scale({scale})\">{}", background(size))?;
        for (row, tiles) in board.rows().enumerate() {
            for (col, tile) in tiles.iter().enumerate().filter(|(_, tile)| **tile != 0) {
                let class = if slid == Some(*tile) { " class=\"slid\"" } else { "" };
                write!(f, "<use href=\"#t{tile}\"{class} x=\"{}\" y=\"{}\"/>", col * TILE, row * TILE)?;
            }
        }
        writeln!(f, "</g>")
    })
}

/// The tray of a board, in the units of a tile definition.
fn background(size: Size) -> impl Display {
    let (width, height) = (size.cols() * TILE + 4, size.rows() * TILE + 4);
    from_fn(move |f| {
        write!(f, "<rect class=\"board\" x=\"-2\" y=\"-2\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>")
    })
}

/// Side of a tile, so that a board is about `whole` pixels wide or high.
fn tile_side(size: Size, whole: usize, least: usize, most: usize) -> usize {
    (whole / size.rows().max(size.cols())).clamp(least, most)
}
