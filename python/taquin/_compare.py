"""Several methods on several boards, as a table of pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import BoardError, LimitError, TaquinError
from ._methods import NamedMethod, listed, named
from ._progress import bar
from ._taquin import read_board, solve

if TYPE_CHECKING:
    import pandas as pd

    from ._types import BoardLike, Encoding, GoalLike, Method, SearchStats

#: Types of the columns, in their order. All may be missing but the first six.
_COLUMNS = {
    "index": "int64",
    "board": "string",
    "method_index": "int64",
    "name": "string",
    "algorithm": "string",
    "heuristic": "string",
    "length": "Int64",
    "optimal": "boolean",
    "lower_bound": "Int64",
    "tables": "string",
    "admissible": "boolean",
    **dict.fromkeys(("expanded", "generated", "duplicates", "reopened", "peak_open", "open_at_end"), "Int64"),
    **dict.fromkeys(("nodes_held", "iterations", "initial_h"), "Int64"),
    "effective_branching_factor": "Float64",
    "elapsed_us": "Int64",
    "seconds": "Float64",
    "error": "string",
    "limit": "string",
}


class _Board(NamedTuple):
    board: str
    goal: str
    is_solvable: bool


def compare(
    boards: Iterable[BoardLike],
    methods: Method | Iterable[Method],
    goal: GoalLike | None = None,
    *,
    rows: int | None = None,
    cols: int | None = None,
    encoding: Encoding | None = None,
    time: float | None = None,
    max_expanded: int | None = None,
    max_nodes: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Solve each board by each method, one search after another. Needs pandas: ``pip install "taquin[pandas]"``.

    Parameters
    ----------
    boards : list of boards, or array of integers of shape (n, rows, cols) or (n, cells)
        The boards, each in any form that `solve` reads.
    methods : list of dict or str
        The methods. A dict has options of `solve`, and perhaps a "name". A str is a name as in the column ``name``.
    goal, rows, cols, encoding
        As for `solve`.
    time, max_expanded, max_nodes
        Limits of each search, as for `solve`. The limits of a method come first.
    progress : bool
        True for a bar of tqdm, if it is installed.

    Returns
    -------
    pandas.DataFrame
        A row for each board and method, in this order, with the names of the rows of ``POST /compare``:

        - ``index`` and ``board``: index of the board, and the board as text
        - ``method_index``, ``name``, ``algorithm``, ``heuristic``: the method as requested. The name is such as
          "astar manhattan heap parent LRUD to depth 31"; options at their default are left out.
        - ``length``, ``optimal``, ``lower_bound``: as of `Solution`
        - the counters of `SearchStats`, and ``seconds``, the time of the search
        - ``error``: "unsolvable" or "search-limit-exceeded" if the board is not solved, with ``limit``, the limit that
          ended the search. Such a row has no length.

    Raises
    ------
    BoardError
        If a board is not valid. `index` is its index.
    TaquinError, TypeError
        If a method is not valid. No search has begun then.

    """
    pandas = _pandas()
    place: dict[str, Any] = {"rows": rows, "cols": cols, "encoding": encoding}
    one_or_more = [boards] if isinstance(boards, str) else boards
    read = [_read(index, board, goal, place) for index, board in enumerate(one_or_more)]
    limits = {"time": time, "max_expanded": max_expanded, "max_nodes": max_nodes}
    chosen = [named(method) for method in listed(methods)]
    chosen = [method._replace(options={**limits, **method.options}) for method in chosen]
    for at, method in enumerate(chosen):
        _check(at, method, {board.goal for board in read})
    shown = bar(len(read)) if progress else None
    table: list[dict[str, Any]] = []
    for index, board in enumerate(read):
        for at, (name, algorithm, heuristic, _) in enumerate(chosen):
            names = {"name": name, "algorithm": algorithm, "heuristic": heuristic}
            row = {"index": index, "board": board.board, "method_index": at, **names}
            table.append({**_row(board, chosen[at]), **row})
        if shown:
            shown.update(1)
    if shown:
        shown.close()
    frame: pd.DataFrame = pandas.DataFrame(table, columns=list(_COLUMNS)).astype(_COLUMNS)
    return frame


def _pandas() -> Any:
    try:
        import pandas  # noqa: PLC0415
    except ImportError as error:
        raise ImportError('compare needs pandas. Install it: pip install "taquin[pandas]"') from error
    return pandas


def _read(index: int, board: Any, goal: GoalLike | None, place: dict[str, Any]) -> _Board:
    try:
        return _Board(*read_board(board, goal, **place))
    except BoardError as error:
        wrong = BoardError(f"Board {index}: {error}")
        wrong.errors, wrong.index = error.errors, index
        raise wrong from None


def _check(at: int, method: NamedMethod, goals: Iterable[str]) -> None:
    """Raise an exception that names the method, unless `solve` takes its options. The goals are solved at once."""
    for goal in goals:
        try:
            solve(goal, goal, **method.options)
        except LimitError:
            continue
        except TaquinError as error:
            wrong = type(error)(f"Method {at}, {method.name!r}: {error}")
            wrong.errors = error.errors
            raise wrong from None
        except TypeError as error:
            raise TypeError(f"Method {at}, {method.name!r}: {error}") from None


def _row(board: _Board, method: NamedMethod) -> dict[str, Any]:
    """Return what a method measures on a board."""
    if not board.is_solvable:
        return {"error": "unsolvable"}
    try:
        solution = solve(board.board, board.goal, **method.options)
    except LimitError as error:
        found = {"lower_bound": error.lower_bound, "error": "search-limit-exceeded", "limit": error.limit}
        # The factor would be of a solution that was not found.
        return {**_counters(error.stats), "effective_branching_factor": None, **found}
    found = {"length": solution.length, "optimal": solution.optimal, "lower_bound": solution.lower_bound}
    return {**_counters(solution.stats), **found}


def _counters(stats: SearchStats | None) -> dict[str, Any]:
    return {**stats, "seconds": stats["elapsed_us"] / 1e6} if stats else {}
