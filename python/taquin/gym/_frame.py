"""A picture of a board as an array, and a board as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

#: Side of a cell, and of a pixel of a digit, in pixels.
_CELL, _DOT = 32, 3
_BACKGROUND, _EDGE, _TILE, _INK = (221, 221, 221), (85, 85, 85), (244, 232, 208), (34, 34, 34)
#: The digits 0 to 9: five rows of three bits each, the top row first.
_DIGITS = (0o75557, 0o26227, 0o71747, 0o71717, 0o55711, 0o74717, 0o74757, 0o71111, 0o75757, 0o75717)


def _number(tile: int) -> npt.NDArray[np.bool_]:
    """Return the ink of a number: bool, shape (height, width) in pixels."""
    glyphs: list[npt.NDArray[np.bool_]] = []
    for digit in str(tile):
        bits = np.array([int(bit) for bit in f"{_DIGITS[int(digit)]:015b}"], dtype=np.bool_).reshape(5, 3)
        glyphs.append(np.pad(bits, ((0, 0), (0, 1))))
    return np.kron(np.hstack(glyphs)[:, :-1], np.ones((_DOT, _DOT), dtype=np.bool_))


def frame(board: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a picture of a board of shape (rows, cols): uint8, shape (32 rows, 32 cols, 3), red, green and blue."""
    rows, cols = board.shape
    picture = np.empty((_CELL * rows, _CELL * cols, 3), dtype=np.uint8)
    picture[:] = _BACKGROUND
    for (row, col), tile in np.ndenumerate(board):
        if tile:
            cell = picture[_CELL * row : _CELL * (row + 1), _CELL * col : _CELL * (col + 1)]
            cell[1:-1, 1:-1] = _EDGE
            cell[2:-2, 2:-2] = _TILE
            ink = _number(int(tile))
            top, left = (_CELL - ink.shape[0]) // 2, (_CELL - ink.shape[1]) // 2
            cell[top : top + ink.shape[0], left : left + ink.shape[1]][ink] = _INK
    return picture


def text(board: npt.NDArray[np.uint8]) -> str:
    """Return the rows of a board of shape (rows, cols), aligned; 0 is the blank."""
    width = len(str(board.size - 1))
    return "\n".join(" ".join(f"{tile:{width}}" for tile in row) for row in board.tolist())
