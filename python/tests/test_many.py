"""Functions of arrays of boards."""

import numpy as np
import pytest
import taquin

DTYPES = ["uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_integer_type_and_shape_gives_the_same_labels(dtype):
    boards = taquin.random_boards(200, 3, 3, seed=1)
    expected = [taquin.distance(board) for board in boards]
    given = boards.astype(dtype)
    strided = np.empty((200, 3, 6), dtype=dtype)[:, :, ::2]
    strided[:] = boards
    for form in (given, given.reshape(200, 9), np.asfortranarray(given), strided, given.tolist()):
        distances = taquin.distances(form)
        assert (distances.dtype, distances.shape) == (np.uint8, (200,))
        assert distances.tolist() == expected


@pytest.mark.parametrize(("rows", "cols", "count"), [(3, 3, 300), (2, 5, 100), (3, 4, 60), (4, 4, 40)])
@pytest.mark.parametrize("goal", ["blank_last", "snail"])
def test_labels_of_many_boards_are_those_of_each(rows, cols, count, goal):
    boards = taquin.random_boards(count, rows, cols, goal=goal, seed=3)
    labels = taquin.solve_many(boards, goal, moves=True, threads=2)
    masks = taquin.next_moves(boards, goal)
    assert labels.dtype.names == ("length", "optimal", "lower_bound", "expanded", "generated", "first_move", "moves")
    assert masks.dtype == np.uint8
    for board, label, mask in zip(boards, labels, masks, strict=True):
        solution = taquin.solve(board, goal)
        assert label["length"] == label["lower_bound"] == solution.length
        assert label["optimal"]
        played = taquin.Solution(**{**vars(solution), "moves": label["moves"].decode()})
        assert played.boards()[-1].tolist() == solution.goal
        bits = {"U": 1, "L": 2, "D": 4, "R": 8}
        assert label["first_move"] == (bits[label["moves"].decode()[0]] if solution.length else 0)
        assert mask == sum(bits[move.move] for move in taquin.moves(board, goal) if move.optimal)
    assert (taquin.distances(boards, goal) == labels["length"]).all()


def test_counters_of_many_boards_are_those_of_each():
    boards = taquin.random_boards(50, 3, 3, seed=5)
    labels = taquin.solve_many(boards)
    stats = [taquin.solve(board).stats for board in boards]
    assert labels["expanded"].tolist() == [counters["expanded"] for counters in stats]
    assert labels["generated"].tolist() == [counters["generated"] for counters in stats]


def test_boards_may_be_texts():
    boards = taquin.random_boards(50, 3, 4, goal="snail", seed=1)
    texts = ["/".join(" ".join(map(str, row)) for row in board) for board in boards.tolist()]
    flat = [" ".join(map(str, board)) for board in boards.reshape(50, 12).tolist()]
    expected, options = taquin.solve_many(boards, "snail"), {"rows": 3, "cols": 4}
    for given in (texts, tuple(texts), np.array(texts), np.array(texts, dtype=object)):
        assert (taquin.solve_many(given, "snail") == expected).all()
        assert (taquin.distances(given, "snail", **options) == expected["length"]).all()
    assert (taquin.next_moves(flat, "snail", **options) == taquin.next_moves(boards, "snail")).all()
    assert taquin.distances(["867254301", "8 6 7/2 5 4/3 0 1"]).tolist() == [31, 31]
    with pytest.raises(taquin.BoardError, match=r"^Board 0: The board is 3.4, but"):
        taquin.distances(texts, rows=4, cols=3)
    with pytest.raises(taquin.UnsolvableError, match=r"^Board 1: ") as caught:
        taquin.distances(["1 2 3/4 5 6/7 8 0", "1 2 3/4 5 6/8 7 0"])
    assert caught.value.index == 1


def test_a_flat_shape_needs_its_sides():
    boards = taquin.random_boards(10, 2, 5, seed=1)
    expected = taquin.distances(boards).tolist()
    assert taquin.distances(boards.reshape(10, 10), rows=2, cols=5).tolist() == expected
    with pytest.raises(taquin.BoardError, match="add `rows` and `cols`"):
        taquin.distances(boards.reshape(10, 10))


def test_no_boards():
    nothing = np.empty((0, 4, 4), dtype=np.uint8)
    assert taquin.distances(nothing).shape == (0,)
    assert taquin.solve_many(nothing, moves=True).shape == (0,)
    assert taquin.random_boards(0, 4, 4).shape == (0, 4, 4)
    assert list(taquin.chunks(nothing)) == []


def test_the_goal_takes_no_moves():
    goal = np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 0]]])
    label = taquin.solve_many(goal, moves=True)[0]
    assert (label["length"], label["first_move"], label["moves"], label["optimal"]) == (0, 0, b"", True)
    assert taquin.next_moves(goal).tolist() == [0]


def test_results_are_arrays_that_can_be_written():
    boards = taquin.random_boards(3, 3, 3)
    boards[0, 0, 0] = 1
    labels = taquin.solve_many(taquin.random_boards(3, 3, 3))
    labels["length"] += 1


def test_large_boards_have_bounds():
    boards = taquin.random_boards(4, 6, 6, seed=1)
    labels = taquin.solve_many(boards, time=0.02)
    assert (labels["lower_bound"] < labels["length"]).all()
    assert not labels["optimal"].any()


def test_limits_of_each_search():
    boards = taquin.random_boards(5, 4, 4, seed=1)
    labels = taquin.solve_many(boards, max_expanded=1)
    assert not labels["optimal"].all()
    assert (labels["lower_bound"] <= taquin.distances(boards)).all()


def test_random_boards_are_those_of_their_seeds():
    boards = taquin.random_boards(300, 4, 4, seed="paper")
    assert (boards.dtype, boards.shape) == (np.uint8, (300, 4, 4))
    for index in (0, 1, 63, 64, 299):
        assert boards[index].tolist() == taquin.random_board(4, 4, seed=f"paper/{index}")
    assert (taquin.random_boards(100, 4, 4, seed="paper", start=200) == boards[200:]).all()
    lengths = taquin.random_boards(100, 3, 3, seed="l", length=(3, 5))
    assert lengths[70].tolist() == taquin.random_board(3, 3, seed="l/70", length=(3, 5))
    assert set(taquin.distances(lengths)) == {3, 4, 5}
    with pytest.raises(taquin.TaquinError, match="the seed has 1 to"):
        taquin.random_boards(100, 3, 3, seed="é" * 128)


def test_the_table_has_every_board_once():
    for goal in ("blank_last", "snail", [[0, 1, 2], [3, 4, 5]]):
        rows, cols = (2, 3) if isinstance(goal, list) else (2, 4)
        boards, distances = taquin.distance_table(rows, cols, goal)
        assert len(np.unique(boards.reshape(len(boards), -1), axis=0)) == len(boards)
        assert (taquin.distances(boards, goal) == distances).all()
    boards, distances = taquin.distance_table(3, 3)
    assert boards.shape == (181_440, 3, 3)
    assert np.bincount(distances).tolist()[:4] == [1, 2, 4, 8]
    assert np.bincount(distances)[-1] == 2
    assert (taquin.distances(boards) == distances).all()


def test_chunks_are_the_parts_of_an_array():
    boards = taquin.random_boards(25, 3, 3, seed=1)
    parts = list(taquin.chunks(boards, size=10, moves=True))
    assert [len(part) for part, _ in parts] == [10, 10, 5]
    whole = taquin.solve_many(boards)
    assert np.concatenate([labels["length"] for _, labels in parts]).tolist() == whole["length"].tolist()
    with pytest.raises(ValueError, match="at least 1"):
        next(taquin.chunks(boards, size=0))


def test_a_progress_bar_counts_every_board(capsys):
    taquin.solve_many(taquin.random_boards(2_000, 3, 3, seed=1), progress=True)
    assert "2000/2000" in capsys.readouterr().err
