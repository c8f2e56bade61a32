"""Solves sliding-tile puzzles: the 8-puzzle, the 15-puzzle, and every other board from 2x2 to 10x10.

>>> import taquin
>>> taquin.solve("8 6 7/2 5 4/3 0 1").length
31

One board: ``solve``, ``distance``, ``moves``, ``is_solvable``, ``explain``, ``random_board``, ``search_tree``.
Arrays of boards: ``solve_many``, ``distances``, ``next_moves``, ``random_boards``, ``distance_table``, ``chunks``.
Methods side by side: ``compare``.
Published sets of boards, and the files of jobs: ``taquin.data``.
"""

from importlib.metadata import version as _version

from . import data
from ._chunks import chunks
from ._compare import compare
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
    search_tree,
    solve,
    solve_many,
)
from ._tree import SearchNode, SearchTree
from ._types import BoardLike, Explanation, GoalLike, Method, SearchStats

__version__ = _version("taquin")

# Messages name the classes as programs do.
for _class in (BoardError, LimitError, TaquinError, UnsolvableError, LegalMove, SearchNode, SearchTree, Solution):
    _class.__module__ = __name__

__all__ = [
    "BoardError",
    "BoardLike",
    "Explanation",
    "FieldError",
    "GoalLike",
    "LegalMove",
    "LimitError",
    "Method",
    "SearchNode",
    "SearchStats",
    "SearchTree",
    "Solution",
    "TaquinError",
    "UnsolvableError",
    "chunks",
    "compare",
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
    "search_tree",
    "solve",
    "solve_many",
]
