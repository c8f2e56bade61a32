"""Arrays: labelled boards for a data set."""

from typing import Any

import numpy as np
import numpy.typing as npt
import taquin

# Board i is the board that `GET /random` draws for the seed "paper/i".
boards = taquin.random_boards(1_000, 3, 3, seed="paper")
lengths: npt.NDArray[np.uint8] = taquin.distances(boards)
print(boards.shape, boards.dtype, "mean length", lengths.mean().round(2))

labels = taquin.solve_many(boards, moves=True)
assert (labels["length"] == lengths).all()
assert labels["optimal"].all()
print(labels.dtype.names, labels[0])

# The moves that are optimal in each board, as a mask of U, L, D and R.
masks = (taquin.next_moves(boards)[:, None] & np.array([1, 2, 4, 8], dtype=np.uint8)) != 0
print("boards with several optimal moves:", int((masks.sum(axis=1) > 1).sum()))

# All boards of the 8-puzzle.
everything, distances = taquin.distance_table(3, 3)
print(len(everything), "boards;", np.bincount(distances)[-1], "take", distances.max(), "moves")

# Boards of one length, for a curriculum.
for length in (5, 10, 15):
    print(length, taquin.distances(taquin.random_boards(20, 4, 4, length=length, seed="curriculum")).tolist())


def hardest(parts: npt.NDArray[np.integer[Any]]) -> int:
    """Return the greatest length, a chunk at a time."""
    return max(int(labels["length"].max()) for _, labels in taquin.chunks(parts, size=250))


print("hardest:", hardest(boards))
