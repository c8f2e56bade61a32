from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ._solution import LegalMove, Solution
from ._types import BoardLike, BoardsLike, Explanation

_Algorithm: TypeAlias = Literal[
    "auto",
    "astar",
    "weighted_astar",
    "greedy_best_first",
    "ida_star",
    "breadth_first",
    "depth_first",
    "iterative_deepening",
    "constructive",
    "anytime",
]
_Encoding: TypeAlias = Literal["tiles", "positions"]
_Goal: TypeAlias = BoardLike | Literal["blank_last", "blank_first", "snail"]
_Heuristic: TypeAlias = Literal[
    "auto",
    "zero",
    "hamming",
    "misplaced_with_blank",
    "manhattan",
    "manhattan_plus_hamming",
    "gaschnig",
    "inversion_distance",
    "linear_conflict",
    "walking_distance",
    "pattern_database",
]

def solve(
    board: BoardLike,
    goal: _Goal | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: _Encoding | None = None,
    algorithm: _Algorithm | None = "auto",
    heuristic: _Heuristic | None = None,
    weight: float | None = None,
    tie_breaking: Literal["low_h", "lifo", "fifo", "heap"] | None = None,
    duplicate_detection: Literal["closed", "parent", "expanded_only"] | None = None,
    successor_order: str | None = None,
    depth_limit: int | None = None,
    patterns: list[list[int]] | None = None,
    metric: Literal["single_tile", "multi_tile"] | None = None,
    require: Literal["any", "optimal"] | None = None,
    time: float | None = None,
    max_expanded: int | None = None,
    max_nodes: int | None = None,
) -> Solution: ...
def distance(
    board: BoardLike,
    goal: _Goal | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: _Encoding | None = None,
) -> int: ...
def moves(
    board: BoardLike,
    goal: _Goal | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: _Encoding | None = None,
) -> list[LegalMove]: ...
def is_solvable(
    board: BoardLike,
    goal: _Goal | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: _Encoding | None = None,
) -> bool: ...
def explain(
    board: BoardLike,
    goal: _Goal | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: _Encoding | None = None,
) -> Explanation: ...
def random_board(
    rows: int | None = None,
    cols: int | None = None,
    *,
    goal: _Goal | None = None,
    length: int | tuple[int, int] | None = None,
    percentile: float | tuple[float, float] | None = None,
    seed: str | int | None = None,
) -> list[list[int]]: ...
def solve_many(
    boards: BoardsLike,
    goal: _Goal | None = None,
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
    goal: _Goal | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> npt.NDArray[np.uint8]: ...
def next_moves(
    boards: BoardsLike,
    goal: _Goal | None = None,
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
    goal: _Goal | None = None,
    length: int | tuple[int, int] | None = None,
    percentile: float | tuple[float, float] | None = None,
    seed: str | int | None = None,
    start: int = 0,
) -> npt.NDArray[np.uint8]: ...
def distance_table(
    rows: int, cols: int, goal: _Goal | None = None
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]: ...
