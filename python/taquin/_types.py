"""Types of arguments and results. Their members have the names of the HTTP service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

#: Text in any notation, rows, the cells of a square board, or an array of shape (rows, cols) or (cells,). 0 is the blank.
BoardLike: TypeAlias = str | Sequence[Sequence[int]] | Sequence[int] | npt.NDArray[np.integer[Any]]

#: Boards of one shape: an array of integers of shape (n, rows, cols) or (n, cells), or a list of boards.
BoardsLike: TypeAlias = (
    npt.NDArray[np.integer[Any]]
    | Sequence[Sequence[Sequence[int]]]
    | Sequence[Sequence[int]]
    | Sequence[npt.NDArray[np.integer[Any]]]
    | Sequence[str]
    | npt.NDArray[np.str_]
)

#: A board, or the name of a goal.
GoalLike: TypeAlias = BoardLike | Literal["blank_last", "blank_first", "snail"]

Algorithm: TypeAlias = Literal[
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
DuplicateDetection: TypeAlias = Literal["closed", "parent", "expanded_only"]
Encoding: TypeAlias = Literal["tiles", "positions"]
Heuristic: TypeAlias = Literal[
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
Metric: TypeAlias = Literal["single_tile", "multi_tile"]
Require: TypeAlias = Literal["any", "optimal"]
TieBreaking: TypeAlias = Literal["low_h", "lifo", "fifo", "heap"]

#: Options of `solve`, perhaps with a "name", or words such as "astar manhattan".
Method: TypeAlias = str | Mapping[str, Any]


class SearchStats(TypedDict):
    """Counters of a search, as ``search`` in the response of ``/solve``."""

    algorithm: str
    heuristic: str | None
    #: The pattern tables that were used: "small" or "standard".
    tables: str | None
    admissible: bool
    expanded: int
    generated: int
    duplicates: int
    reopened: int
    peak_open: int
    open_at_end: int
    nodes_held: int
    iterations: int
    initial_h: int
    effective_branching_factor: float | None
    #: Time in microseconds.
    elapsed_us: int


class TileCost(TypedDict):
    """Cost of a tile in moves."""

    tile: int
    cost: int


class Conflict(TypedDict):
    """Reversed tiles of a row or column, and the tiles that must leave it."""

    line: str
    tiles: list[int]
    leaving: list[int]
    cost: int


class Part(TypedDict):
    """A part of an estimate that concerns several tiles; all tiles if the list is empty."""

    name: str
    tiles: list[int]
    cost: int


class Estimate(TypedDict):
    """Estimate h of a heuristic in moves. The costs of its parts add up to h."""

    name: str
    h: int
    admissible: bool
    #: None if the optimal length is unknown.
    overestimates: bool | None
    tiles: list[TileCost]
    conflicts: list[Conflict]
    parts: list[Part]


class Explanation(TypedDict):
    """Estimates of a board, as in the response of ``/explain``."""

    start: list[list[int]]
    goal: list[list[int]]
    #: None on boards of more than 9 cells.
    optimal_length: int | None
    heuristics: list[Estimate]
