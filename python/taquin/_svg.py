"""A picture of a solution as SVG."""

from __future__ import annotations

from textwrap import wrap

#: Sides of a cell, of a tile, of the gap between two boards, and of the margin, in pixels.
_CELL, _TILE, _GAP, _MARGIN = 32, 30, 48, 12
#: Height of a line of text, and width of a letter, in pixels.
_LINE, _LETTER = 18, 8
#: Most letters of moves in a picture.
_MOST_LETTERS = 400

# A notebook shows the picture within its page, where a style sheet would apply to other pictures too.
_NUMBER = 'text-anchor="middle" dominant-baseline="central"'


def _board(rows: list[list[int]], left: int, top: int) -> str:
    width, height = _CELL * len(rows[0]), _CELL * len(rows)
    parts = [f'<rect fill="#ddd" x="{left}" y="{top}" width="{width}" height="{height}"/>']
    for row, tiles in enumerate(rows):
        for col, tile in enumerate(tiles):
            if tile:
                x, y = left + _CELL * col, top + _CELL * row
                parts.append(
                    f'<rect fill="#f4e8d0" stroke="#555" rx="4" x="{x + 1}" y="{y + 1}"'
                    f' width="{_TILE}" height="{_TILE}"/>'
                    f'<text {_NUMBER} x="{x + _CELL // 2}" y="{y + _CELL // 2}">{tile}</text>'
                )
    return "".join(parts)


def svg(start: list[list[int]], goal: list[list[int]], moves: str, title: str) -> str:
    """Return the start, the goal, the title and the moves as a document without scripts and links."""
    rows, cols = len(start), len(start[0])
    width = max(2 * _CELL * cols + _GAP, 320)
    if len(moves) > _MOST_LETTERS:
        moves = f"{moves[:_MOST_LETTERS]}…"
    lines = wrap(moves, width // _LETTER)
    bottom = _MARGIN + _CELL * rows
    height = bottom + _LINE * (len(lines) + 1) + _MARGIN
    right = _MARGIN + _CELL * cols + _GAP
    arrow = f'<text {_NUMBER} x="{right - _GAP // 2}" y="{_MARGIN + _CELL * rows // 2}">→</text>'
    texts = "".join(
        f'<text font-family="monospace" x="{_MARGIN}" y="{bottom + _LINE * (at + 2)}">{line}</text>'
        for at, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2 * _MARGIN}" height="{height}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="13" fill="#222"><title>{title}</title>'
        '<rect fill="#fff" width="100%" height="100%"/>'
        f"{_board(start, _MARGIN, _MARGIN)}{arrow}{_board(goal, right, _MARGIN)}"
        f'<text x="{_MARGIN}" y="{bottom + _LINE}">{title}</text>{texts}</svg>'
    )
