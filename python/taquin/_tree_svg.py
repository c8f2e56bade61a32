"""A picture of a search tree as SVG."""

from __future__ import annotations

from dataclasses import dataclass

#: Most nodes that are drawn as boards, and most cells of such a board; other nodes are dots.
_MOST_BOARDS, _MOST_CELLS = 60, 16
#: Most dots that are large.
_MOST_DOTS = 400
#: Side of a cell, gap between two nodes, and margin, in pixels.
_CELL, _GAP, _MARGIN = 18, 16, 12
#: Height of a line of text, of the title, and of the lines between two levels, in pixels.
_LINE, _TITLE, _EDGE = 14, 46, 24
#: Explanations below the title, and the width of the longer one in pixels.
_BOARDS_KEY = "Number: order of expansion. Letter: move of the blank. Below a board: g + h. Blue: the solution."
_DOTS_KEY = "Number: order of expansion. G: the goal. Blue: the solution."
_KEY_WIDTH = 560
#: Colours of the solution, and of other nodes.
_PATH, _OTHER = "#0b57d0", "#888"


@dataclass(frozen=True)
class Drawn:
    """A node of the picture."""

    board: list[list[int]]
    #: Index of the parent.
    parent: int | None
    #: Text above the board.
    label: str
    #: Text below the board: g and h.
    values: str
    is_on_path: bool
    is_goal: bool = False


@dataclass(frozen=True)
class _Form:
    """Measures of the nodes in pixels: the width and height of a node, and the steps between two nodes."""

    width: int
    height: int
    step: int
    level: int
    are_boards: bool


def layout(parents: list[int | None]) -> tuple[list[float], list[int]]:
    """Place nodes: leaves side by side, parents centred above their children. Parents come before their children.

    Returns the column of each node, from 0, and its depth.
    """
    children: list[list[int]] = [[] for _ in parents]
    depths = [0] * len(parents)
    for at, parent in enumerate(parents):
        if parent is not None:
            children[parent].append(at)
            depths[at] = depths[parent] + 1
    columns = [0.0] * len(parents)
    waiting = [at for at, parent in enumerate(parents) if parent is None][::-1]
    ordered: list[int] = []
    leaves = 0
    while waiting:
        at = waiting.pop()
        ordered.append(at)
        waiting += children[at][::-1]
        if not children[at]:
            columns[at] = leaves
            leaves += 1
    for at in reversed(ordered):
        if children[at]:
            columns[at] = (columns[children[at][0]] + columns[children[at][-1]]) / 2
    return columns, depths


def _form(nodes: list[Drawn]) -> _Form:
    rows, cols = len(nodes[0].board), len(nodes[0].board[0])
    if len(nodes) <= _MOST_BOARDS and rows * cols <= _MOST_CELLS:
        longest = max(len(node.values) for node in nodes)
        width, height = max(_CELL * cols, 6 * longest), _CELL * rows + 2 * _LINE
        return _Form(width, height, width + _GAP, height + _EDGE, are_boards=True)
    size, gap = (20, 6) if len(nodes) <= _MOST_DOTS else (6, 3)
    return _Form(size, size, size + gap, 2 * size + _EDGE, are_boards=False)


def _board(node: Drawn, x: float, y: float) -> str:
    """Return the label, the board and the values, with the middle of the upper edge at a point."""
    cols, rows = len(node.board[0]), len(node.board)
    left, top, bottom = x - _CELL * cols / 2, y + _LINE, y + _LINE + _CELL * rows
    colour, stroke = (_PATH, 2.5) if node.is_on_path else (_OTHER, 1)
    weight = ' font-weight="bold"' if node.is_on_path else ""
    parts = [
        f'<rect fill="#ddd" stroke="{colour}" stroke-width="{stroke}" x="{left:g}" y="{top:g}"'
        f' width="{_CELL * cols}" height="{_CELL * rows}"/>'
    ]
    for row, tiles in enumerate(node.board):
        for col, tile in enumerate(tiles):
            if tile:
                cell_x, cell_y = left + _CELL * col, top + _CELL * row
                parts.append(
                    f'<rect fill="#f4e8d0" x="{cell_x + 1:g}" y="{cell_y + 1:g}" width="{_CELL - 2}"'
                    f' height="{_CELL - 2}"/><text x="{cell_x + _CELL / 2:g}" y="{cell_y + _CELL / 2:g}">{tile}</text>'
                )
    fill = f' fill="{_PATH}"' if node.is_on_path else ""
    parts.append(f'<text{weight}{fill} x="{x:g}" y="{y + _LINE / 2:g}">{node.label}</text>')
    parts.append(f'<text x="{x:g}" y="{bottom + _LINE / 2 + 1:g}">{node.values}</text>')
    return "".join(parts)


def _dot(node: Drawn, x: float, y: float, size: int) -> str:
    """Return a dot with its label if there is room, and with the board as its title."""
    colour = _PATH if node.is_on_path else _OTHER
    board = "/".join(" ".join(map(str, row)) for row in node.board)
    dot = (
        f'<g><title>{node.label}: {board}, {node.values}</title><circle fill="#fff" stroke="{colour}"'
        f' stroke-width="{2.5 if node.is_on_path else 1}" cx="{x:g}" cy="{y + size / 2:g}" r="{size / 2:g}"/>'
    )
    if size >= 20:
        text = "G" if node.is_goal else node.label.split()[0]
        dot += f'<text font-size="8" x="{x:g}" y="{y + size / 2:g}">{text}</text>'
    return f"{dot}</g>"


def svg(nodes: list[Drawn], title: str) -> str:
    """Return a tree as a document without scripts and links. Parents come before their children."""
    form = _form(nodes)
    columns, depths = layout([node.parent for node in nodes])
    width = max(form.step * (max(columns) + 1), 8 * len(title), _KEY_WIDTH) + 2 * _MARGIN
    height = _TITLE + form.level * (max(depths) + 1) - (form.level - form.height) + 2 * _MARGIN
    # The tree is in the middle.
    left = (width - form.step * max(columns)) / 2
    places = [
        (left + form.step * column, _TITLE + _MARGIN + form.level * depth)
        for column, depth in zip(columns, depths, strict=True)
    ]
    edges, drawn = [], []
    for node, (x, y) in zip(nodes, places, strict=True):
        if node.parent is not None:
            colour = f' stroke="{_PATH}" stroke-width="2.5"' if node.is_on_path else ""
            from_x, from_y = places[node.parent]
            edges.append(f'<line{colour} x1="{from_x:g}" y1="{from_y + form.height:g}" x2="{x:g}" y2="{y:g}"/>')
        drawn.append(_board(node, x, y) if form.are_boards else _dot(node, x, y, form.width))
    key = _BOARDS_KEY if form.are_boards else _DOTS_KEY
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="11" fill="#222"><title>{title}</title>'
        '<rect fill="#fff" width="100%" height="100%"/>'
        f'<text font-size="13" font-weight="bold" x="{_MARGIN}" y="{_MARGIN + 10}">{title}</text>'
        f'<text x="{_MARGIN}" y="{_MARGIN + 28}">{key}</text>'
        f'<g stroke="{_OTHER}">{"".join(edges)}</g>'
        f'<g text-anchor="middle" dominant-baseline="central">{"".join(drawn)}</g></svg>'
    )
