"""The rules of an environment: shape, goal, legal moves, distances, rewards and starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

import taquin

if TYPE_CHECKING:
    from .._types import BoardLike

#: A length, the ends of a range of lengths, or None for all boards.
Length: TypeAlias = int | tuple[int, int] | None
Boards: TypeAlias = npt.NDArray[np.uint8]

#: By action, U, L, D and R: the change of the row and the column of the blank.
_STEPS = ((-1, 0), (0, -1), (1, 0), (0, 1))
#: Boards of at most this many cells have a table of all distances.
_TABLE_CELLS = 9
#: Boards of at most this many cells have known distances.
_KNOWN_CELLS = 16


class Puzzle:
    """The rules. Boards are uint8 of shape (cells,), or (n, cells) where the name is plural."""

    def __init__(
        self,
        rows: int | None,
        cols: int | None,
        goal: BoardLike | None,
        *,
        reward: Literal["step", "distance"],
        distance: bool,
        observation: Literal["board", "one_hot"],
    ) -> None:
        #: The rows of the goal, as taquin's functions take it.
        self.goal_rows = taquin.explain(taquin.random_board(rows, cols, goal=goal), goal)["goal"]
        self.goal: Boards = np.array(self.goal_rows, dtype=np.uint8).ravel()
        self.rows, self.cols, self.cells = len(self.goal_rows), len(self.goal_rows[0]), len(self.goal)
        if reward not in ("step", "distance"):
            raise ValueError(f'`reward` must be "step" or "distance", not {reward!r}')
        if observation not in ("board", "one_hot"):
            raise ValueError(f'`observation` must be "board" or "one_hot", not {observation!r}')
        self.has_distances = distance and self.cells <= _KNOWN_CELLS
        self.shaped = reward == "distance"
        if self.shaped and not self.has_distances:
            raise ValueError(f'reward="distance" needs distance=True and a board of at most {_KNOWN_CELLS} cells')
        self.one_hot = observation == "one_hot"
        #: By cell of the blank and action: its next cell, which is the same cell if the move is illegal.
        self.targets = self._targets()
        #: By cell of the blank and action: whether the move is legal.
        self.legal: npt.NDArray[np.bool_] = self.targets != np.arange(self.cells)[:, None]

    def _targets(self) -> npt.NDArray[np.intp]:
        targets = np.empty((self.cells, len(_STEPS)), dtype=np.intp)
        for cell in range(self.cells):
            for action, (down, right) in enumerate(_STEPS):
                row, col = cell // self.cols + down, cell % self.cols + right
                inside = 0 <= row < self.rows and 0 <= col < self.cols
                targets[cell, action] = row * self.cols + col if inside else cell
        return targets

    def observations(self, boards: Boards) -> Boards:
        """Return new arrays: boards of shape (n, rows, cols), or one-hot tiles of shape (n, rows, cols, cells)."""
        observations: Boards = boards.copy()
        shape = (len(boards), self.rows, self.cols)
        if self.one_hot:
            observations = (boards[..., None] == np.arange(self.cells, dtype=np.uint8)).astype(np.uint8)
            return observations.reshape(*shape, self.cells)
        return observations.reshape(shape)

    def distances(self, boards: Boards) -> npt.NDArray[np.int64]:
        """Return the optimal lengths: int64 of shape (n,)."""
        if self.cells <= _TABLE_CELLS:
            return self._table().distances_of(boards)
        shaped = boards.reshape(-1, self.rows, self.cols)
        if len(shaped) == 1:
            return np.array([taquin.distance(shaped[0], self.goal_rows)], dtype=np.int64)
        return taquin.distances(shaped, self.goal_rows).astype(np.int64)

    def draws(self, generators: Sequence[np.random.Generator], length: Length) -> Boards:
        """Return a start of this length from each generator, never the goal. All such boards are equally likely."""
        ends = None if length is None else _ends(length)
        if ends is not None and self.cells <= _TABLE_CELLS:
            boards = self._table().between(*ends)
            if len(boards):
                return boards[[int(rng.integers(len(boards))) for rng in generators]]
        return np.array([self._draw(rng, ends) for rng in generators], dtype=np.uint8)

    def _draw(self, rng: np.random.Generator, ends: tuple[int, int] | None) -> Boards:
        while True:
            seed = int(rng.integers(1 << 53))
            rows = taquin.random_board(self.rows, self.cols, goal=self.goal_rows, length=ends, seed=seed)
            board: Boards = np.array(rows, dtype=np.uint8).ravel()
            if not np.array_equal(board, self.goal):
                return board

    def checked_length(self, length: Length) -> Length:
        """Return the length if it has boards; raise TaquinError or ValueError if not."""
        if length is not None:
            self.draws([np.random.default_rng(0)], length)
        return length

    def start(self, board: BoardLike) -> Boards:
        """Return a board that was given as a start; raise TaquinError or ValueError if it is none."""
        # The rows as lists, which `taquin.explain` returns for every notation.
        rows = taquin.explain(board, self.goal_rows)["start"]
        start: Boards = np.array(rows, dtype=np.uint8).ravel()
        if np.array_equal(start, self.goal):
            raise ValueError("a start must not be the goal")
        return start

    def _table(self) -> _Table:
        return _table_of(self.rows, self.cols, self.goal.tobytes())


@dataclass(frozen=True)
class _Table:
    """All boards of a shape and their distances."""

    #: The key of each board, ascending, and its distance.
    keys: npt.NDArray[np.int64]
    distances: npt.NDArray[np.int64]
    #: The boards in the order of their distances, and by distance the index of the first.
    by_distance: Boards
    begins: npt.NDArray[np.intp]

    def distances_of(self, boards: Boards) -> npt.NDArray[np.int64]:
        return self.distances[np.searchsorted(self.keys, _keys(boards))]

    def between(self, low: int, high: int) -> Boards:
        longest = len(self.begins) - 2
        return self.by_distance[self.begins[min(low, longest + 1)] : self.begins[min(high, longest) + 1]]


@lru_cache(maxsize=4)
def _table_of(rows: int, cols: int, goal: bytes) -> _Table:
    every, lengths = taquin.distance_table(rows, cols, np.frombuffer(goal, dtype=np.uint8).reshape(rows, cols))
    boards: Boards = every.reshape(len(every), -1)
    keys = _keys(boards)
    order = np.argsort(keys)
    begins = np.concatenate([[0], np.cumsum(np.bincount(lengths))])
    return _Table(
        keys[order], lengths[order].astype(np.int64), boards[np.argsort(lengths, kind="stable")], begins.astype(np.intp)
    )


def _keys(boards: Boards) -> npt.NDArray[np.int64]:
    """Return a number for each board: its tiles as digits."""
    cells = boards.shape[-1]
    powers = np.array([cells**exponent for exponent in range(cells)], dtype=np.int64)
    keys: npt.NDArray[np.int64] = boards.astype(np.int64) @ powers
    return keys


def _ends(length: int | tuple[int, int]) -> tuple[int, int]:
    """Return the ends of a range of lengths."""
    ends: Any = length if isinstance(length, (tuple, list)) else (length, length)
    if len(ends) != 2 or not all(isinstance(end, (int, np.integer)) for end in ends) or not 1 <= ends[0] <= ends[1]:
        raise ValueError(f"`length` must be at least 1, such as 20, or a range, such as (12, 18), not {length!r}")
    return int(ends[0]), int(ends[1])
