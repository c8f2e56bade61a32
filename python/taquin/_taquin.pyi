import numpy as np
import numpy.typing as npt

from ._solution import LegalMove, Solution
from ._tree import SearchTree
from ._types import (
    Algorithm,
    BoardLike,
    BoardsLike,
    DuplicateDetection,
    Encoding,
    Explanation,
    GoalLike,
    Heuristic,
    Metric,
    Require,
    TieBreaking,
)

def solve(
    board: BoardLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
    algorithm: Algorithm | None = "auto",
    heuristic: Heuristic | None = None,
    weight: float | None = None,
    tie_breaking: TieBreaking | None = None,
    duplicate_detection: DuplicateDetection | None = None,
    successor_order: str | None = None,
    depth_limit: int | None = None,
    patterns: list[list[int]] | None = None,
    metric: Metric | None = None,
    require: Require | None = None,
    time: float | None = None,
    max_expanded: int | None = None,
    max_nodes: int | None = None,
) -> Solution: ...
def search_tree(
    board: BoardLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
    algorithm: Algorithm | None = "auto",
    heuristic: Heuristic | None = None,
    weight: float | None = None,
    tie_breaking: TieBreaking | None = None,
    duplicate_detection: DuplicateDetection | None = None,
    successor_order: str | None = None,
    depth_limit: int | None = None,
    patterns: list[list[int]] | None = None,
    time: float | None = None,
    max_expanded: int | None = 500,
    max_nodes: int | None = None,
) -> SearchTree: ...
def read_board(
    board: BoardLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
) -> tuple[str, str, bool]: ...
def distance(
    board: BoardLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
) -> int: ...
def moves(
    board: BoardLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
) -> list[LegalMove]: ...
def is_solvable(
    board: BoardLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
) -> bool: ...
def explain(
    board: BoardLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
) -> Explanation: ...
def random_board(
    rows: int | None = None,
    cols: int | None = None,
    *,
    goal: GoalLike | None = None,
    length: int | tuple[int, int] | None = None,
    percentile: float | tuple[float, float] | None = None,
    seed: str | int | None = None,
) -> list[list[int]]: ...
def solve_many(
    boards: BoardsLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    moves: bool = False,
    time: float | None = None,
    max_expanded: int | None = None,
    max_nodes: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> npt.NDArray[np.void]: ...
def distances(
    boards: BoardsLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> npt.NDArray[np.uint8]: ...
def next_moves(
    boards: BoardsLike,
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> npt.NDArray[np.uint8]: ...
def random_boards(
    n: int,
    rows: int | None = None,
    cols: int | None = None,
    *,
    goal: GoalLike | None = None,
    length: int | tuple[int, int] | None = None,
    percentile: float | tuple[float, float] | None = None,
    seed: str | int | None = None,
    start: int = 0,
) -> npt.NDArray[np.uint8]: ...
def distance_table(
    rows: int, cols: int, goal: GoalLike | None = None
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]: ...
