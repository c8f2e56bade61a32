"""Exceptions. The message is the whole sentence that the HTTP service would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from ._solution import Solution
    from ._types import SearchStats


class FieldError(TypedDict):
    """An error in one argument."""

    #: Place in the argument, such as "/board/1/2" for row 2, column 3.
    pointer: str
    code: str
    detail: str


class TaquinError(ValueError):
    """An argument is wrong, or there is no result."""

    #: The errors of the arguments, at most 20.
    errors: Sequence[FieldError] = ()


class BoardError(TaquinError):
    """A board or goal is not valid."""

    #: Index of the board in an array; None for a single board.
    index: int | None = None


class UnsolvableError(TaquinError):
    """The goal cannot be reached from the board."""

    #: Index of the board in an array; None for a single board.
    index: int | None = None
    #: Names of the goals that can be reached: of "blank_last", "blank_first" and "snail".
    reachable_goals: Sequence[str] = ()
    inversions: int
    #: "odd" or "even".
    permutation_parity: str
    #: Rows plus columns between the blank and its goal cell.
    blank_distance: int


class LimitError(TaquinError):
    """A limit ended the search before its result."""

    #: "time", "expanded", "nodes" or "depth".
    limit: str
    #: Proven lower bound on the optimal length.
    lower_bound: int
    #: The best solution so far, if any.
    solution: Solution | None
    #: Counters of the search; None if there are none.
    stats: SearchStats | None = None
