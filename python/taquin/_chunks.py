"""Labels of more boards than memory holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._taquin import solve_many

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._types import BoardLike


def chunks(
    boards: npt.NDArray[np.integer[Any]],
    goal: BoardLike | None = None,
    *,
    size: int = 10_000,
    rows: int | None = None,
    cols: int | None = None,
    moves: bool = False,
    time: float | None = None,
    max_expanded: int | None = None,
    max_nodes: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Iterator[tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.void]]]:
    """Solve an array in chunks, such as one of ``numpy.load(..., mmap_mode="r")``.

    Parameters
    ----------
    boards : array of integers, shape (n, rows, cols) or (n, cells)
        The boards. Only one chunk at a time is read.
    size : int
        Number of boards of a chunk.
    goal, rows, cols, moves, time, max_expanded, max_nodes, threads, progress
        As for `solve_many`.

    Yields
    ------
    boards : array, shape (size, rows, cols) or (size, cells)
        A chunk of the boards; the last one may be shorter.
    labels : structured array, shape (size,)
        What `solve_many` returns for the chunk.

    """
    if size < 1:
        raise ValueError("size must be at least 1")
    for begin in range(0, len(boards), size):
        chunk = boards[begin : begin + size]
        labels = solve_many(
            chunk,
            goal,
            rows=rows,
            cols=cols,
            moves=moves,
            time=time,
            max_expanded=max_expanded,
            max_nodes=max_nodes,
            threads=threads,
            progress=progress,
        )
        yield chunk, labels
