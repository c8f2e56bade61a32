"""Sets of boards that papers use."""

import numpy as np
import pytest
import taquin

NAMES = ["korf15", "korf24", "deepcubea15", "deepcubea24", "deepcubea35", "deepcubea48"]


def board_set(name):
    tiles = int(name[-2:])
    return taquin.data.deepcubea(tiles) if name.startswith("deepcubea") else getattr(taquin.data, name)()


def manhattan(boards, goal):
    """Sums of the distances of all tiles, cell by cell."""
    n, rows, cols = boards.shape
    cells = boards.reshape(n, -1).argsort(axis=1)[:, 1:]
    tiles = np.arange(1, rows * cols)
    target = tiles - (goal == "blank_last")
    return (abs(cells // cols - target // cols) + abs(cells % cols - target % cols)).sum(axis=1)


@pytest.mark.parametrize(
    ("name", "count", "side", "goal", "total"),
    [
        ("korf15", 100, 4, "blank_first", 5_305),
        ("korf24", 50, 5, "blank_first", 5_039),
        ("deepcubea15", 500, 4, "blank_last", 26_011),
        ("deepcubea24", 496, 5, "blank_last", 44_348),
        ("deepcubea35", 500, 6, "blank_last", 62_326),
        ("deepcubea48", 500, 7, "blank_last", 127_835),
    ],
)
def test_sets_have_the_published_boards(name, count, side, goal, total):
    found = board_set(name)
    assert (found.boards.dtype, found.boards.shape) == (np.uint8, (count, side, side))
    assert (found.lengths.dtype, found.numbers.dtype) == (np.uint16, np.int64)
    assert (found.goal, found.lengths.sum()) == (goal, total)
    assert len(np.unique(found.boards.reshape(count, -1), axis=0)) == count
    assert found.optimal.tolist() == [name[-2:] < "35"] * count
    assert found.numbers.tolist() == list(range(goal == "blank_first", count + (goal == "blank_first")))
    assert (found.nodes is not None) == name.startswith("korf")
    assert ("MIT licence" in found.source) == name.startswith("deepcubea")


@pytest.mark.parametrize("name", NAMES)
def test_lengths_are_possible(name):
    found = board_set(name)
    assert all(taquin.is_solvable(board, found.goal) for board in found.boards)
    below = found.lengths.astype(int) - manhattan(found.boards, found.goal)
    assert (below >= 0).all()
    assert (below % 2 == 0).all()
    for board, length in zip(found.boards[:20], found.lengths, strict=False):
        assert taquin.explain(board, found.goal)["heuristics"][-1]["h"] <= length


def test_lengths_of_15_puzzles_are_optimal():
    for name in ("korf15", "deepcubea15"):
        found = board_set(name)
        easy = np.flatnonzero(found.lengths <= 50)[:40]
        assert (taquin.distances(found.boards[easy], found.goal) == found.lengths[easy]).all()


def test_a_set_can_be_changed():
    taquin.data.korf15().boards[:] = 0
    found = taquin.data.korf15()
    assert found.boards.any()
    assert found.boards.flags.writeable
    assert found.nodes[0] == 276_361_933


def test_other_puzzles_are_named():
    with pytest.raises(ValueError, match="15, 24, 35 or 48, not 8"):
        taquin.data.deepcubea(8)
