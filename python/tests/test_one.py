"""Functions of one board."""

import copy
import pickle
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import taquin

HARDEST = [[8, 6, 7], [2, 5, 4], [3, 0, 1]]
#: Korf 1985, board 1, with its goal and length.
KORF_1 = "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3"
STEPS = {"U": (-1, 0), "L": (0, -1), "D": (1, 0), "R": (0, 1)}


def slow_play(board, moves):
    """Make moves one by one, with lists."""
    board = [list(row) for row in board]
    for move in moves:
        row, col = next((r, c) for r, line in enumerate(board) for c, tile in enumerate(line) if tile == 0)
        down, right = STEPS[move]
        board[row][col], board[row + down][col + right] = board[row + down][col + right], 0
    return board


def slow_distances(goal):
    """Breadth-first search over tuples: the distance of every board."""
    start = tuple(map(tuple, goal))
    distances, layer = {start: 0}, [start]
    while layer:
        following = []
        for board in layer:
            for move in "ULDR":
                try:
                    row, col = next((r, c) for r, line in enumerate(board) for c, tile in enumerate(line) if tile == 0)
                    down, right = STEPS[move]
                    assert 0 <= row + down < len(board)
                    assert 0 <= col + right < len(board[0])
                except AssertionError:
                    continue
                after = tuple(map(tuple, slow_play(board, move)))
                if after not in distances:
                    distances[after] = distances[board] + 1
                    following.append(after)
        layer = following
    return distances


@pytest.mark.parametrize(
    "board",
    [
        "8 6 7/2 5 4/3 0 1",
        "867254301",
        "8 6 7\n2 5 4\n3 x 1\n",
        "[[8,6,7],[2,5,4],[3,0,1]]",
        HARDEST,
        tuple(map(tuple, HARDEST)),
        [8, 6, 7, 2, 5, 4, 3, 0, 1],
        [[8, 6, 7], [2, 5, 4], [3, None, 1]],
        [np.array(row) for row in HARDEST],
        [[np.int16(tile) for tile in row] for row in HARDEST],
        *(np.array(HARDEST, dtype=dtype) for dtype in (np.uint8, np.int8, np.int64, np.uint32, ">i4", object)),
        np.array(HARDEST).reshape(9),
        np.array(HARDEST, order="F"),
        np.array(HARDEST).T.copy().T,
    ],
)
def test_boards_of_every_notation_are_one_board(board):
    solution = taquin.solve(board)
    assert (solution.length, solution.optimal, solution.start) == (31, True, HARDEST)


def test_a_solution_leads_to_the_goal():
    for seed in range(50):
        solution = taquin.solve(taquin.random_board(3, 3, seed=seed))
        assert slow_play(solution.start, solution.moves) == solution.goal
        assert len(solution) == len(solution.moves) == len(solution.tiles) == solution.length == solution.lower_bound
        boards = solution.boards()
        assert boards.shape == (len(solution) + 1, 3, 3)
        assert boards.dtype == np.uint8
        for at, board in enumerate(boards):
            assert board.tolist() == slow_play(solution.start, solution.moves[:at])
        slid = [int(before[after == 0][0]) for before, after in pairwise(boards)]
        assert slid == solution.tiles


def test_distances_and_moves_are_those_of_a_breadth_first_search():
    distances = slow_distances([[1, 2, 3], [4, 5, 0]])
    assert len(distances) == 360
    for board, distance in distances.items():
        assert taquin.distance(board) == distance
        for move in taquin.moves(board):
            after = distances[tuple(map(tuple, move.board))]
            assert move.board == slow_play(board, move.move)
            assert (move.optimal_length, move.optimal) == (after, after < distance)


def test_moves_of_a_15_puzzle_are_proven_and_the_best_come_first():
    moves = taquin.moves(KORF_1, "blank_first")
    assert taquin.distance(KORF_1, "blank_first") == 57
    assert [taquin.distance(move.board, "blank_first") for move in moves] == [move.optimal_length for move in moves]
    assert [move.optimal for move in moves] == sorted((move.optimal for move in moves), reverse=True)
    assert {move.optimal_length for move in moves} <= {56, 58}


def test_moves_of_large_and_unsolvable_boards():
    move = taquin.moves(taquin.random_board(6, 6, seed=1))[0]
    assert move.optimal_length is None
    assert move.lower_bound is not None
    assert move.lower_bound <= move.upper_bound
    assert all(move.lower_bound is None and move.optimal is None for move in taquin.moves("1 2 3/4 5 6/8 7 0"))


def test_a_15_puzzle_is_proven_and_a_large_board_returns_within_its_time():
    solution = taquin.solve(KORF_1, "blank_first")
    assert (solution.length, solution.optimal, solution.stats["algorithm"]) == (57, True, "ida_star")
    assert solution.percentile is not None
    large = taquin.solve(taquin.random_board(10, 10, seed=1))
    assert large.stats["elapsed_us"] < 2_000_000
    assert large.lower_bound < large.length
    assert slow_play(large.start, large.moves) == large.goal
    assert "at least" in repr(large)


def test_counters_are_those_of_the_service():
    stats = taquin.solve(HARDEST, algorithm="astar", heuristic="manhattan").stats
    assert set(stats) == set(taquin.SearchStats.__annotations__)
    assert stats["algorithm"] == "astar"
    assert stats["initial_h"] == 21
    assert stats["generated"] > stats["expanded"] > 31
    assert taquin.solve(HARDEST, algorithm="breadth_first").stats["heuristic"] is None


def test_goals_and_options():
    assert taquin.distance("1 2 3/8 0 4/7 6 5", "snail") == 0
    assert taquin.distance([1, 2, 3, 0], [[0, 1], [3, 2]]) == taquin.distance("1 2/3 0", "0 1/3 2")
    assert taquin.solve([1, 2, 3, 4, 0, 5], rows=2, cols=3).moves == "R"
    weighted = taquin.solve(KORF_1, "blank_first", algorithm="weighted_astar", weight=3, heuristic="linear_conflict")
    assert weighted.length >= 57 >= weighted.lower_bound
    multi = taquin.solve(HARDEST, metric="multi_tile")
    assert multi.length < len(multi.moves)
    patterns = taquin.solve(KORF_1, "blank_first", patterns=[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]])
    assert patterns.length == 57


def test_a_solution_is_a_value():
    solution = taquin.solve(HARDEST)
    assert pickle.loads(pickle.dumps(solution)) == solution == copy.deepcopy(solution)
    assert repr(solution) == f"<Solution: 31 moves, optimal, '{solution.moves}'>"
    done = taquin.solve("1 2 3/4 5 6/7 8 0")
    assert bool(done)
    assert (len(done), done.boards().shape) == (0, (1, 3, 3))
    move = taquin.moves(HARDEST)[0]
    assert pickle.loads(pickle.dumps(move)) == move


@pytest.mark.parametrize("board", [HARDEST, KORF_1.replace("/", "\n"), "1 2 3/4 5 6/7 8 0"])
def test_a_picture_is_xml_with_every_tile(board):
    solution = taquin.solve(board, "blank_first" if board is not HARDEST and len(board) > 20 else None)
    texts = [text.text for text in ET.fromstring(solution._repr_svg_()).iter("{http://www.w3.org/2000/svg}text")]
    for rows in (solution.start, solution.goal):
        for row in rows:
            assert all(str(tile) in texts for tile in row if tile)
    assert f"{solution.length} moves, optimal" in texts


def test_solvability_and_explanations():
    assert taquin.is_solvable(HARDEST)
    assert not taquin.is_solvable("1 2 3/4 5 6/8 7 0")
    explanation = taquin.explain(HARDEST)
    assert explanation["optimal_length"] == 31
    for estimate in explanation["heuristics"]:
        costs = [*estimate["tiles"], *estimate["conflicts"], *estimate["parts"]]
        assert sum(cost["cost"] for cost in costs) == estimate["h"]
        assert estimate["overestimates"] == (estimate["h"] > 31)
    names = [estimate["name"] for estimate in taquin.explain(KORF_1, "blank_first")["heuristics"]]
    assert "pattern_database" in names


def test_equal_seeds_draw_equal_boards():
    # GUIDE.md has this board for `GET /random?rows=4&cols=4&seed=paper/2`.
    assert taquin.random_board(4, 4, seed="paper/2") == [[8, 0, 4, 1], [7, 2, 12, 13], [9, 3, 6, 11], [15, 14, 5, 10]]
    assert taquin.random_board(seed=7) == taquin.random_board(3, 3, seed="7")
    assert taquin.random_board(5, seed=1) == taquin.random_board(5, 5, seed=1)
    assert taquin.random_board(4, 4) != taquin.random_board(4, 4)
    assert all(taquin.is_solvable(taquin.random_board(2, 5, goal="snail", seed=seed), "snail") for seed in range(20))


def test_boards_of_a_length_have_it():
    for length in (0, 7, 31):
        assert taquin.distance(taquin.random_board(3, 3, length=length, seed=1)) == length
    assert 40 <= taquin.distance(taquin.random_board(4, 4, length=(40, 45), seed=1)) <= 45
    hard = taquin.random_board(3, 3, percentile=(95, 100), seed=2)
    assert taquin.solve(hard).percentile >= 95
    with pytest.raises(taquin.TaquinError, match=r"range from 0 to 31\."):
        taquin.random_board(3, 3, length=32)
    with pytest.raises(taquin.TaquinError, match="mutually exclusive"):
        taquin.random_board(3, 3, length=3, percentile=4)
    with pytest.raises(taquin.TaquinError, match="two ends of a range"):
        taquin.random_board(3, 3, length=(4, 3))
