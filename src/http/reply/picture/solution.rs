//! A solution: a board whose tiles slide where the reader welcomes motion, and all its states.

use std::fmt::{Display, from_fn};

use taquin_bulk::counted;
use taquin_solver::{Board, Cell, Puzzle, Solution, Step, Tile};

use super::{BOARD_STYLE, MARGIN, MAX_TILES, Picture, TILE, background, definitions, small_board, tile_side};
use crate::http::reply::solution::SolveReply;

/// Width of the picture in pixels.
const WIDTH: usize = 760;
/// Gap between two states.
const GAP: usize = 14;
/// Height of the line below a state.
const CAPTION: usize = 20;
/// Maximum number of states shown.
const MAX_STATES: usize = 120;
/// Longest solution whose tiles slide.
const MAX_MOVES: usize = 300;
/// Seconds of a move, and of the pause at the end.
const MOVE: f64 = 0.6;
const PAUSE: f64 = 3.0;
/// Columns and lines of the solution as text.
const COLUMNS: usize = 44;
const LINES: usize = 5;
/// Height of the lines beside the board.
const TEXT_HEIGHT: usize = 200;

/// Positions of the parts of the picture.
struct Plan {
    /// Sides of a tile of the board, and of the states.
    side: usize,
    state_side: usize,
    /// States in a row.
    columns: usize,
    /// Height at which the states begin.
    top: usize,
    /// Every how many moves a state is shown.
    every: usize,
    moves: usize,
}

/// Draws a solution: the board, the moves, and its states. Of many states it shows the first, every n-th, and the last.
pub(crate) fn of_solution(reply: &SolveReply<'_>) -> String {
    let solution = reply.solution;
    let start = reply.puzzle.start();
    let plan = Plan::new(&reply.puzzle, solution.path.len());
    let is_animated = (1..=MAX_MOVES).contains(&plan.moves);
    let steps: Vec<Step> = solution.path.steps(start).take(if is_animated { plan.moves } else { 0 }).collect();
    let shown: Vec<(usize, Step)> =
        (1..).zip(solution.path.steps(start)).filter(|(made, _)| plan.shows(*made)).collect();
    Picture {
        width: WIDTH,
        height: plan.height(start),
        title: format!("{}: {}", start.size(), reply.result()),
        description: format!("From {start} to {}, by {}.", reply.puzzle.goal(), counted(plan.moves as u64, "move")),
        style: from_fn(|f| {
            f.write_str(BOARD_STYLE)?;
            if is_animated { write!(f, "{}", animation(start, &steps, &plan)) } else { Ok(()) }
        }),
        body: from_fn(|f| {
            write!(f, "{}", definitions(start.size()))?;
            write!(f, "{}{}", board(start, plan.side, is_animated), text(reply, solution, &plan))?;
            write!(f, "{}", states(start, &shown, &plan))
        }),
    }
    .svg()
}

impl Plan {
    fn new(puzzle: &Puzzle, moves: usize) -> Self {
        let size = puzzle.size();
        let (side, state_side) = (tile_side(size, 240, 24, 60), tile_side(size, 84, 12, 28));
        let columns = (WIDTH - 2 * MARGIN + GAP) / (size.cols() * state_side + GAP);
        let most = MAX_STATES.min(MAX_TILES / size.cells()).max(2);
        let every = moves.div_ceil(most - 1).max(1);
        Self { side, state_side, columns, top: 3 * MARGIN + TEXT_HEIGHT.max(size.rows() * side), every, moves }
    }

    /// True if the state after this many moves is shown.
    fn shows(&self, made: usize) -> bool {
        made.is_multiple_of(self.every) || made == self.moves
    }

    /// Top left corner of the n-th state shown.
    fn corner(&self, board: &Board, nth: usize) -> (usize, usize) {
        let (width, height) = (board.size().cols() * self.state_side, board.size().rows() * self.state_side);
        let (col, row) = (nth % self.columns, nth / self.columns);
        (MARGIN + col * (width + GAP), self.top + row * (height + CAPTION + GAP))
    }

    fn height(&self, board: &Board) -> usize {
        let (_, last) = self.corner(board, self.moves.div_ceil(self.every));
        last + board.size().rows() * self.state_side + CAPTION + MARGIN
    }

    /// Seconds of the whole animation.
    fn seconds(&self) -> f64 {
        self.moves as f64 * MOVE + PAUSE
    }
}

/// The large board. Each tile has a place of its own, which an animation can change.
fn board(start: &Board, side: usize, is_animated: bool) -> impl Display {
    from_fn(move |f| {
        if !is_animated {
            return write!(f, "{}", small_board(start, (MARGIN, MARGIN), side, None));
        }
        let scale = side as f64 / TILE as f64;
        write!(f, "<g class=\"tiles\" transform=\"translate({MARGIN} {MARGIN}) scale({scale})\">")?;
        write!(f, "{}", background(start.size()))?;
        for (cell, tile) in (0..).zip(start.tiles()).filter(|(_, tile)| **tile != 0) {
            let (x, y) = place(start, cell);
            write!(f, "<use href=\"#t{tile}\" id=\"m{tile}\" style=\"transform:translate({x}px,{y}px)\"/>")?;
        }
        writeln!(f, "</g>")
    })
}

/// Top left corner of a cell, in the units of a tile definition.
fn place(board: &Board, cell: Cell) -> (usize, usize) {
    (board.size().col_of(cell) * TILE, board.size().row_of(cell) * TILE)
}

/// Rules that slide the tiles of the large board and mark the state that it shows. They apply where the reader has not
/// asked for reduced motion, and stop under the pointer.
fn animation(start: &Board, steps: &[Step], plan: &Plan) -> String {
    let seconds = plan.seconds();
    let mut rules = String::from("  @media (prefers-reduced-motion: no-preference) {\n");
    for tile in start.tiles().iter().filter(|tile| **tile != 0) {
        if let Some(frames) = frames(start, steps, *tile, seconds) {
            rules += &format!(
                "    #m{tile} {{ animation: m{tile} {seconds:.1}s infinite; }}\n    @keyframes m{tile} {{ {frames}}}\n"
            );
        }
    }
    let (shown, last) = (100.0 * (plan.every as f64 * MOVE) / seconds, 100.0 * PAUSE / seconds);
    rules += &format!(
        "    .frame {{ animation: shown {seconds:.1}s step-end infinite; }}\n    @keyframes shown {{ 0% {{ stroke: \
         var(--mark); }} {shown:.3}% {{ stroke: none; }} }}\n    .last {{ animation-name: last; }}\n    @keyframes last \
         {{ 0% {{ stroke: var(--mark); }} {last:.3}% {{ stroke: none; }} }}\n    svg:hover * {{ animation-play-state: \
         paused; }}\n  }}\n"
    );
    rules
}

/// The frames of a tile; `None` if it never slides.
fn frames(start: &Board, steps: &[Step], tile: Tile, seconds: f64) -> Option<String> {
    let mut cell = start.tiles().iter().position(|other| *other == tile)? as Cell;
    let percent = |moves: f64| 100.0 * moves * MOVE / seconds;
    let frame = |at: f64, cell: Cell| {
        let (x, y) = place(start, cell);
        format!("{at:.3}% {{ transform: translate({x}px,{y}px); }} ")
    };
    let mut frames = frame(0.0, cell);
    for (made, step) in steps.iter().enumerate().filter(|(_, step)| step.tile == tile) {
        frames += &frame(percent(made as f64 + 0.2), cell);
        // The blank goes where the tile was.
        cell = start.size().neighbor(cell, step.mv.inverse())?;
        frames += &frame(percent(made as f64 + 1.0), cell);
    }
    let has_slid = steps.iter().any(|step| step.tile == tile);
    has_slid.then(|| frames + &frame(100.0, cell))
}

/// The lines beside the large board.
fn text(reply: &SolveReply<'_>, solution: &Solution, plan: &Plan) -> impl Display {
    let mut lines = vec![reply.result().to_string()];
    if plan.moves > 0 {
        lines.push("The tiles slide:".to_owned());
        lines.extend(alg(solution).lines().map(str::to_owned));
    }
    lines.push(String::new());
    lines.extend(reply.search.figures().to_string().split(": ").map(str::to_owned));
    if plan.every > 1 {
        lines.push(format!("Below: the start, the board after every {} moves, and the goal.", plan.every));
    }
    let x = 2 * MARGIN + reply.puzzle.size().cols() * plan.side;
    from_fn(move |f| {
        for (nth, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            let class = if nth == 0 { " class=\"title\"" } else { "" };
            writeln!(f, "<text{class} x=\"{x}\" y=\"{}\">{line}</text>", MARGIN + 16 + nth * 20)?;
        }
        Ok(())
    })
}

/// The solution as tiles slide, in at most [`LINES`].
fn alg(solution: &Solution) -> String {
    let alg = solution.path.alg();
    let (mut text, mut lines, mut column) = (String::new(), 1, 0);
    for word in alg.as_bytes().chunk_by(|_, next| next.is_ascii_digit()) {
        if column + word.len() > COLUMNS {
            if lines == LINES {
                text += " …";
                break;
            }
            text.push('\n');
            (lines, column) = (lines + 1, 0);
        }
        column += word.len();
        text.extend(word.iter().copied().map(char::from));
    }
    text
}

/// The states, with the number of the move and the direction of its tile below each.
fn states(start: &Board, shown: &[(usize, Step)], plan: &Plan) -> impl Display {
    from_fn(move |f| {
        write!(f, "{}", state(start, 0, None, plan.corner(start, 0), plan))?;
        (1..).zip(shown).try_for_each(|(nth, (made, step))| {
            let single = Some(step).filter(|_| plan.every == 1);
            write!(f, "{}", state(&step.board, *made, single, plan.corner(start, nth), plan))
        })
    })
}

/// The state after a number of moves. The tile of the last move is marked.
fn state(board: &Board, made: usize, last: Option<&Step>, (x, y): (usize, usize), plan: &Plan) -> impl Display {
    let (width, height) = (board.size().cols() * plan.state_side, board.size().rows() * plan.state_side);
    let class = if made == plan.moves { "frame last" } else { "frame" };
    let delay = made as f64 * MOVE;
    from_fn(move |f| {
        write!(f, "{}", small_board(board, (x, y), plan.state_side, last.map(|step| step.tile)))?;
        write!(f, "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\"", x - 4, y - 4, width + 8)?;
        write!(f, " height=\"{}\" rx=\"6\" style=\"animation-delay:{delay:.1}s\"/>", height + 8)?;
        write!(f, "<text class=\"middle\" x=\"{}\" y=\"{}\">{made}", x + width / 2, y + height + 16)?;
        last.map_or(Ok(()), |step| write!(f, " {}", step.mv.inverse().letter()))?;
        writeln!(f, "</text>")
    })
}
