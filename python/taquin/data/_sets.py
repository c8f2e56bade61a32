"""Sets of boards that papers use."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_KORF_1985 = (
    "R. E. Korf, Depth-first iterative-deepening: an optimal admissible tree search. "
    "Artificial Intelligence 27 (1985), 97-109"
)
_KORF_2002 = "R. E. Korf, A. Felner, Disjoint pattern database heuristics. Artificial Intelligence 134 (2002), 9-22"
_DEEPCUBEA = (
    "F. Agostinelli, S. McAleer, A. Shmakov, P. Baldi, Solving the Rubik's cube with deep reinforcement learning and "
    "search. Nature Machine Intelligence 1 (2019), 356-363; the boards are files of "
    "https://github.com/forestagostinelli/DeepCubeA, MIT licence, copyright 2024 Forest Agostinelli"
)


@dataclass(frozen=True, eq=False)
class BoardSet:
    """Boards of a publication, all with one goal."""

    #: The boards: uint8, shape (n, rows, cols). 0 is the blank.
    boards: npt.NDArray[np.uint8]
    #: Length of the shortest known solution of each board, in moves of one tile: uint16, shape (n,).
    lengths: npt.NDArray[np.uint16]
    #: True where no solution is shorter: bool, shape (n,).
    optimal: npt.NDArray[np.bool_]
    #: The goal of all boards: "blank_first" or "blank_last".
    goal: Literal["blank_first", "blank_last"]
    #: Number of each board in the publication: int64, shape (n,).
    numbers: npt.NDArray[np.int64]
    #: Nodes that the publication counts for each board: int64, shape (n,); None if the set has no counts.
    nodes: npt.NDArray[np.int64] | None
    #: The publication.
    source: str


def korf15() -> BoardSet:
    """Return the hundred 15-puzzles of Korf (1985).

    The goal has the blank first, as in the paper: ``taquin.distances(set.boards, set.goal)``. Boards are numbered from
    1. All lengths are optimal. The nodes are those which IDA* with Manhattan distance generates, as the paper prints
    them. The counts of the boards 22, 88, 89 and 98 are known to differ from what the algorithm generates.
    """
    table = _table("korf15")
    return _set(table, 4, goal="blank_first", nodes=table[:, -1], source=_KORF_1985)


def korf24() -> BoardSet:
    """Return the fifty 24-puzzles of Korf and Felner (2002).

    The goal has the blank first, as in the paper. Boards are numbered from 1. All lengths are optimal. The nodes are
    those which IDA* with pattern databases of six tiles and their mirror images generates, as the paper prints them.
    """
    table = _table("korf24")
    return _set(table, 5, goal="blank_first", nodes=table[:, -1], source=_KORF_2002)


def deepcubea(tiles: Literal[15, 24, 35, 48]) -> BoardSet:
    """Return the test set of DeepCubeA (2019) for a puzzle with this number of tiles.

    The goal has the blank last, as in the paper. Boards are numbered from 0. There are 500 boards, and 496 for 24
    tiles. Lengths are optimal for 15 and 24 tiles. For 35 and 48 tiles, they are the lengths of the solutions that
    DeepCubeA found. The boards are the ends of long random walks. On average, such boards have shorter solutions than
    the boards of `random_boards`.

    Raises
    ------
    ValueError
        For another number of tiles.

    """
    if tiles not in (15, 24, 35, 48):
        raise ValueError(f"`tiles` must be 15, 24, 35 or 48, not {tiles!r}")
    side = {15: 4, 24: 5, 35: 6, 48: 7}[tiles]
    return _set(_table(f"deepcubea{tiles}"), side, goal="blank_last", source=_DEEPCUBEA, proven=tiles <= 24)


def _table(name: str) -> npt.NDArray[np.int64]:
    """Return the lines of a file: number, tiles, length, and perhaps more."""
    with files(__name__.rpartition(".")[0]).joinpath(f"{name}.txt").open(encoding="utf-8") as file:
        return np.loadtxt(file, dtype=np.int64)


def _set(
    table: npt.NDArray[np.int64],
    side: int,
    *,
    goal: Literal["blank_first", "blank_last"],
    source: str,
    nodes: npt.NDArray[np.int64] | None = None,
    proven: bool = True,
) -> BoardSet:
    cells = side * side
    return BoardSet(
        boards=table[:, 1 : cells + 1].astype(np.uint8).reshape(-1, side, side),
        lengths=table[:, cells + 1].astype(np.uint16),
        optimal=np.full(len(table), proven),
        goal=goal,
        numbers=table[:, 0].copy(),
        nodes=None if nodes is None else nodes.copy(),
        source=source,
    )
