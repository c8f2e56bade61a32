"""Results of one board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._svg import svg

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._types import SearchStats

#: By move of the blank: the change of its row and its column.
_STEPS = {"U": (-1, 0), "L": (0, -1), "D": (1, 0), "R": (0, 1)}


@dataclass(frozen=True, repr=False)
class Solution:
    """A solution of a board. ``len(solution)`` is the number of letters of ``moves``."""

    #: The rows of the board.
    start: list[list[int]]
    #: The rows of the goal.
    goal: list[list[int]]
    #: The moves of the blank: U, L, D and R.
    moves: str
    #: The tile that slides at each move.
    tiles: list[int]
    #: Length in moves, in the metric of the search.
    length: int
    #: True if no solution is shorter.
    optimal: bool
    #: Proven lower bound on the optimal length.
    lower_bound: int
    #: Share of the boards with shorter solutions, in percent; None if unknown.
    percentile: float | None
    #: Counters of the search.
    stats: SearchStats
    #: How the board was read, if not in a documented notation.
    read_as: str | None = None

    def boards(self) -> npt.NDArray[np.uint8]:
        """Return the boards from the start to the goal: uint8, shape (len(self) + 1, rows, cols)."""
        board = np.array(self.start, dtype=np.uint8)
        boards = np.empty((len(self) + 1, *board.shape), dtype=np.uint8)
        boards[0] = board
        row, col = (int(cell[0]) for cell in np.nonzero(board == 0))
        for at, move in enumerate(self.moves, start=1):
            down, right = _STEPS[move]
            board[row, col] = board[row + down, col + right]
            row, col = row + down, col + right
            board[row, col] = 0
            boards[at] = board
        return boards

    def __len__(self) -> int:
        """Return the number of moves of one tile."""
        return len(self.moves)

    def __bool__(self) -> bool:
        """Return True, also for a solution without moves."""
        return True

    def __repr__(self) -> str:
        """Return the length, whether it is optimal, and the moves."""
        quality = "optimal" if self.optimal else f"at least {self.lower_bound}"
        moves = self.moves if len(self.moves) <= 80 else f"{self.moves[:77]}..."
        count = "1 move" if self.length == 1 else f"{self.length} moves"
        return f"<Solution: {count}, {quality}, {moves!r}>"

    def _repr_svg_(self) -> str:
        """Return a picture for a notebook: the start, the goal and the moves."""
        quality = ", optimal" if self.optimal else f"; no solution has fewer than {self.lower_bound}"
        return svg(self.start, self.goal, self.moves, f"{self.length} moves{quality}")


@dataclass(frozen=True)
class LegalMove:
    """A legal move of a board."""

    #: Direction of the blank: U, L, D or R.
    move: str
    #: The tile that slides.
    tile: int
    #: The rows of the board after the move.
    board: list[list[int]]
    #: Optimal length after the move; None if unknown.
    optimal_length: int | None
    #: Lower bound on the optimal length after the move; None if the goal cannot be reached.
    lower_bound: int | None
    #: Length of a solution after the move; None if the goal cannot be reached.
    upper_bound: int | None
    #: True if an optimal solution begins with the move; None if unknown.
    optimal: bool | None
