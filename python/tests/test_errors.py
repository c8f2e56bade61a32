"""Wrong arguments: exceptions with the whole sentence."""

import pickle

import numpy as np
import pytest
import taquin

UNSOLVABLE = "1 2 3/4 5 6/8 7 0"


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("1 2 3/4 5 6/7 7 0", "tile 8 is missing"),
        ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], "9"),
        ([[1, 2], [3]], "Row 2 has length 1"),
        ([[1, 2, 3], [4, "a", 6], [7, 8, 0]], ""),
        ([1, 2, 3, 4, 5, 0], ""),
        ([], ""),
        ("", ""),
        ([[True, False], [True, True]], ""),
        ([[1.5, 2], [3, 0]], ""),
        ([[[1, 2], [3, 0]]], ""),
        ([[[[1]]]], "nested too deeply"),
        (np.zeros((3, 3)), "must have an integer dtype, not float64"),
        (np.zeros((3, 3), dtype=bool), "must have an integer dtype, not bool"),
        (np.zeros((1, 3, 3), dtype=int), ""),
        (np.full((3, 3), 2**63, dtype=np.uint64), ""),
        ([[10**30, 2], [3, 0]], ""),
    ],
)
def test_invalid_boards_are_board_errors(board, message):
    with pytest.raises(taquin.BoardError, match=message or None) as caught:
        taquin.solve(board)
    assert str(caught.value).endswith(".")
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_errors_have_their_places():
    with pytest.raises(taquin.BoardError) as caught:
        taquin.solve([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert caught.value.errors[0]["pointer"] == "/board/2/2"
    assert caught.value.errors[0]["code"] == "tile-out-of-range"
    assert caught.value.index is None


@pytest.mark.parametrize("board", [object(), {1, 2}, {"a": 1}, b"1 2/3 0", 1j, (tile for tile in [1, 2, 3, 0])])
def test_other_types_are_type_errors(board):
    with pytest.raises(TypeError, match=r"`board` must be text, a number, a list or an array"):
        taquin.solve(board)


def test_unsolvable_boards_name_the_goals_within_reach():
    with pytest.raises(taquin.UnsolvableError) as caught:
        taquin.solve(UNSOLVABLE)
    error = caught.value
    assert list(error.reachable_goals) == ["snail"] or "snail" in error.reachable_goals
    assert "Parity" in str(error) or "parity" in str(error) or "odd" in str(error)
    assert (error.inversions, error.permutation_parity) == (1, "odd")
    for function in (taquin.distance, taquin.explain):
        with pytest.raises(taquin.UnsolvableError):
            function(UNSOLVABLE)
    assert isinstance(error, taquin.TaquinError)
    assert isinstance(error, ValueError)


def test_wrong_options():
    board = "8 6 7/2 5 4/3 0 1"
    with pytest.raises(TypeError, match="did you mean `algorithm`"):
        taquin.solve(board, algoritm="astar")
    with pytest.raises(taquin.TaquinError, match="did you mean `astar`"):
        taquin.solve(board, algorithm="a*")
    with pytest.raises(taquin.TaquinError, match="has no weight"):
        taquin.solve(board, algorithm="astar", weight=2)
    for time in (0, -1, float("nan"), float("inf"), "1"):
        with pytest.raises(taquin.TaquinError, match="`time` must be a positive number of seconds"):
            taquin.solve(board, time=time)
    with pytest.raises(taquin.TaquinError, match="`max_expanded` must be from 1"):
        taquin.solve(board, max_expanded=0)
    with pytest.raises(taquin.BoardError, match="same size"):
        taquin.solve(board, [[1, 2], [3, 0]])
    with pytest.raises(taquin.TaquinError, match="did you mean `snail`"):
        taquin.solve(board, "snale")


def test_limits():
    board = taquin.random_board(4, 4, length=(55, 60), seed=1)
    with pytest.raises(taquin.LimitError, match=r"ended after 10 expansions") as caught:
        taquin.solve(board, algorithm="astar", heuristic="manhattan", max_expanded=10)
    assert (caught.value.limit, caught.value.solution) == ("expanded", None)
    with pytest.raises(taquin.LimitError, match=r"Raise `max_nodes`, or use `ida_star`") as caught:
        taquin.solve(board, algorithm="breadth_first", max_nodes=1000)
    assert caught.value.limit == "nodes"
    with pytest.raises(taquin.LimitError, match="ended after 50 ms") as caught:
        taquin.solve(board, algorithm="ida_star", heuristic="hamming", time=0.05)
    assert 0 < caught.value.lower_bound <= 60
    with pytest.raises(taquin.LimitError, match="best solution so far") as caught:
        taquin.solve(board, heuristic="hamming", require="optimal", max_expanded=10)
    assert caught.value.solution.length >= 55
    with pytest.raises(taquin.LimitError, match="without a proof of the optimal length"):
        taquin.distance(taquin.random_board(6, 6, seed=1))


def test_wrong_arrays():
    good = taquin.random_boards(4, 3, 3, seed=1)
    for boards, message in [
        (good.astype(float), "integer dtype, not float64"),
        (good[0], "are not square|shape"),
        (good.reshape(4, 3, 3, 1), "must have the shape"),
        (np.zeros(9, dtype=int), "must have the shape"),
        (good.reshape(6, 6)[:, :6], "need a shape"),
        (np.zeros((2, 1, 9), dtype=int), "2 to 10 rows"),
        (np.zeros((2, 11, 11), dtype=int), "2 to 10 rows"),
        (np.array([]), "integer dtype"),
        (["a", "b"], "^Board 0: "),
        (np.array("8 6 7/2 5 4/3 0 1"), "must be texts, or an array with an integer dtype"),
        (["1 2/3 0", "1 2 3/4 5 6/7 8 0"], "Board 1 is 3.3 and board 0 is 2.2"),
        (["1 2 3/4 5 6/7 8 0", "1 2 3/4 5 6/7 7 0"], "^Board 1: .*tile 8 is missing"),
        ([None, None], "^Board 0: "),
    ]:
        for function in (taquin.distances, taquin.next_moves, taquin.solve_many):
            with pytest.raises(taquin.BoardError, match=message):
                function(boards)


@pytest.mark.parametrize("shape", [(3, 3), (4, 4)])
def test_the_first_wrong_board_of_an_array_is_named(shape):
    boards = taquin.random_boards(5_000, *shape, length=(1, 8), seed=1).astype(np.int64)
    boards[4_321, 0, 0] = 300
    boards[4_999] = 0
    with pytest.raises(taquin.BoardError, match=r"^Board 4321: .*300") as caught:
        taquin.distances(boards)
    assert caught.value.index == 4_321
    boards[17] = np.roll(np.arange(boards[0].size), -1).reshape(shape)
    boards[17, 0, :2] = [2, 1]
    with pytest.raises(taquin.UnsolvableError, match=r"^Board 17: "):
        taquin.solve_many(boards)


def test_sizes_without_proofs():
    boards = taquin.random_boards(2, 5, 5, seed=1)
    for function in (taquin.distances, taquin.next_moves):
        with pytest.raises(taquin.TaquinError, match="up to 16 cells"):
            function(boards)
    with pytest.raises(taquin.TaquinError, match="up to 9 cells"):
        taquin.distance_table(4, 4)
