"""The nodes that a search expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._tree_svg import Drawn, svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._solution import Solution


@dataclass(frozen=True)
class SearchNode:
    """An expanded node, with the members of ``expansions`` in the response of ``/solve``."""

    #: The rows of the board.
    board: list[list[int]]
    #: The move of the blank that led here: U, L, D or R; None for the start.
    move: str | None
    #: The tile that slid; None for the start.
    tile: int | None
    #: Index of the parent node; None for the start. IDA* begins with the start in each iteration.
    parent: int | None
    #: Moves from the start.
    g: int
    #: Estimated moves to the goal.
    h: int
    #: The value by which the search orders or limits nodes.
    f: float
    #: Number of the other nodes that then awaited expansion; None for a search without an open list.
    open: int | None
    #: Number of nodes expanded before, without those reopened since; None for a search without a closed list.
    closed: int | None

    def __str__(self) -> str:
        """Return the line of text of the service, without the index."""
        board = "/".join(" ".join(map(str, row)) for row in self.board)
        line = f"{board}  g {self.g}  h {self.h}  f {self.f:g}"
        if self.parent is not None:
            line += f" from {self.parent} by {self.move}"
        if self.open is not None:
            line += f", open {self.open}, closed {self.closed}"
        return line


@dataclass(frozen=True, repr=False)
class SearchTree:
    """The nodes that a search expanded. ``str(tree)`` has a line for each, and a notebook shows a picture."""

    #: The solution, with the counters of the search.
    solution: Solution
    #: The expanded nodes in order. The goal is not expanded.
    nodes: list[SearchNode]

    def path(self) -> list[int]:
        """Return the indices of the nodes on the solution, from the start to the node before the goal."""
        children: dict[int | None, list[int]] = {}
        for index, node in enumerate(self.nodes):
            children.setdefault(node.parent, []).append(index)
        boards = self.solution.boards()[:-1].tolist()
        on_path: list[list[int]] = []
        level = children.get(None, [])
        for board in boards:
            on_path.append([index for index in level if self.nodes[index].board == board])
            level = [child for index in on_path[-1] for child in children.get(index, [])]
        # A board may have been expanded more than once by the same moves.
        indices: list[int] = []
        at = max(on_path[-1], default=None) if on_path else None
        while at is not None:
            indices.append(at)
            at = self.nodes[at].parent
        return indices[::-1]

    def __len__(self) -> int:
        """Return the number of expanded nodes."""
        return len(self.nodes)

    def __bool__(self) -> bool:
        """Return True, also for a tree without expanded nodes."""
        return True

    def __iter__(self) -> Iterator[SearchNode]:
        """Iterate over the nodes in the order of their expansion."""
        return iter(self.nodes)

    def __str__(self) -> str:
        """Return a line for each node, as ``POST /solve`` writes ``expansions`` as text."""
        return "\n".join(f"{index}: {node}" for index, node in enumerate(self.nodes))

    def __repr__(self) -> str:
        """Return the method, the number of nodes, and the length of the solution."""
        return f"<SearchTree: {self._title()}>"

    def _title(self) -> str:
        stats, length = self.solution.stats, self.solution.length
        method = " ".join(name for name in (stats["algorithm"], stats["heuristic"]) if name)
        moves = "1 move" if length == 1 else f"{length} moves"
        return f"{method}, {stats['expanded']} expanded, {stats['generated']} generated, solution of {moves}"

    def _repr_svg_(self) -> str:
        """Return a picture for a notebook: the nodes as boards, or as dots if they are many."""
        path = self.path()
        nodes = [
            Drawn(
                board=node.board,
                parent=node.parent,
                label=f"{index}" if node.move is None else f"{index} {node.move}",
                values=f"{node.g} + {node.h}" if node.f == node.g + node.h else f"g {node.g} h {node.h} f {node.f:g}",
                is_on_path=index in path,
            )
            for index, node in enumerate(self.nodes)
        ]
        last = f"goal {self.solution.moves[-1:]}".strip()
        values = f"{len(self.solution.moves)} + 0"
        nodes.append(Drawn(self.solution.goal, path[-1] if path else None, last, values, True, is_goal=True))
        return svg(nodes, self._title())
