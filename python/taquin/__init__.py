"""Solves sliding-tile puzzles: the 8-puzzle, the 15-puzzle, and every other board from 2x2 to 10x10.

>>> import taquin
>>> taquin.solve("8 6 7/2 5 4/3 0 1").length
31

One board: ``solve``, ``distance``, ``moves``, ``is_solvable``, ``explain``, ``random_board``.
Arrays of boards: ``solve_many``, ``distances``, ``next_moves``, ``random_boards``, ``distance_table``, ``chunks``.
Published sets of boards, and the files of jobs: ``taquin.data``.
"""

from importlib.metadata import version as _version

from . import data
from ._chunks import chunks
from ._errors import BoardError, FieldError, LimitError, TaquinError, UnsolvableError
from ._solution import LegalMove, Solution
from ._taquin import (
    distance,
    distance_table,
    distances,
    explain,
    is_solvable,
    moves,
    next_moves,
    random_board,
    random_boards,
    solve,
    solve_many,
)
from ._types import BoardLike, Explanation, SearchStats

__version__ = _version("taquin")

# Messages name the classes as programs do.
for _class in (BoardError, LimitError, TaquinError, UnsolvableError, LegalMove, Solution):
    _class.__module__ = __name__

__all__ = [
    "BoardError",
    "BoardLike",
    "Explanation",
    "FieldError",
    "LegalMove",
    "LimitError",
    "SearchStats",
    "Solution",
    "TaquinError",
    "UnsolvableError",
    "chunks",
    "data",
    "distance",
    "distance_table",
    "distances",
    "explain",
    "is_solvable",
    "moves",
    "next_moves",
    "random_board",
    "random_boards",
    "solve",
    "solve_many",
]
