"""Search trees."""

import copy
import pickle
from xml.etree import ElementTree as ET

import pytest
import taquin
from taquin._tree_svg import layout

SVG = "{http://www.w3.org/2000/svg}"
START, GOAL = "2 8 3/1 6 4/7 0 5", "1 2 3/8 6 4/7 5 0"
NEAR = "1 2 3/5 0 6/4 7 8"
ALGORITHMS = ["astar", "weighted_astar", "ida_star", "breadth_first", "depth_first", "iterative_deepening"]
STEPS = {"U": (-1, 0), "L": (0, -1), "D": (1, 0), "R": (0, 1)}


def options(algorithm):
    return {"algorithm": algorithm, **({"depth_limit": 8} if algorithm == "depth_first" else {})}


def moved(board, move):
    """Return the board after a move, and the tile that slid."""
    board = [list(row) for row in board]
    row, col = next((r, c) for r, line in enumerate(board) for c, tile in enumerate(line) if tile == 0)
    down, right = STEPS[move]
    tile = board[row + down][col + right]
    board[row][col], board[row + down][col + right] = tile, 0
    return board, tile


def misplaced(board, goal):
    return sum(tile not in (0, goal[r][c]) for r, row in enumerate(board) for c, tile in enumerate(row))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_node_follows_from_its_parent(algorithm):
    tree = taquin.search_tree(NEAR, **options(algorithm))
    solution = taquin.solve(NEAR, **options(algorithm))
    assert tree.solution.moves == solution.moves
    assert len(tree) == len(tree.nodes) == solution.stats["expanded"]
    for index, node in enumerate(tree):
        if node.parent is None:
            assert (node.board, node.move, node.tile, node.g) == (solution.start, None, None, 0)
            continue
        assert node.parent < index
        parent = tree.nodes[node.parent]
        assert (node.board, node.tile) == moved(parent.board, node.move)
        assert node.g == parent.g + 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_path_is_the_solution(algorithm):
    tree = taquin.search_tree(NEAR, **options(algorithm))
    nodes = [tree.nodes[index] for index in tree.path()]
    assert [node.board for node in nodes] == tree.solution.boards()[:-1].tolist()
    assert [node.parent for node in nodes] == [None, *tree.path()[:-1]]


def test_values_and_lists_are_those_of_the_search():
    tree = taquin.search_tree(START, GOAL, algorithm="astar", heuristic="hamming")
    assert all(node.h == misplaced(node.board, tree.solution.goal) for node in tree)
    assert all(node.f == node.g + node.h for node in tree)
    assert [node.f for node in tree] == sorted(node.f for node in tree)
    assert [node.closed for node in tree] == list(range(len(tree)))
    greedy = taquin.search_tree(NEAR, algorithm="greedy_best_first", heuristic="manhattan")
    assert all(node.f == node.h for node in greedy)
    weighted = taquin.search_tree(NEAR, algorithm="weighted_astar", heuristic="manhattan", weight=1.5)
    assert all(node.f == node.g + 1.5 * node.h for node in weighted)
    ida = taquin.search_tree(START, GOAL, algorithm="ida_star", heuristic="hamming")
    assert sum(node.parent is None for node in ida) == ida.solution.stats["iterations"] == 3
    assert all(node.open is None and node.closed is None for node in ida)


def test_the_text_is_the_text_of_the_service():
    tree = taquin.search_tree(
        START, GOAL, algorithm="astar", heuristic="manhattan", tie_breaking="heap", duplicate_detection="parent"
    )
    lines = str(tree).splitlines()
    assert len(lines) == 10
    assert lines[0] == "0: 2 8 3/1 6 4/7 0 5  g 0  h 5  f 5, open 0, closed 0"
    assert lines[7] == "7: 1 2 3/0 8 4/7 6 5  g 4  h 3  f 7 from 6 by D, open 6, closed 7"
    assert repr(tree) == "<SearchTree: astar manhattan, 10 expanded, 21 generated, solution of 7 moves>"


def test_a_tree_is_a_value():
    tree = taquin.search_tree(START, GOAL, algorithm="astar", heuristic="hamming")
    assert pickle.loads(pickle.dumps(tree)) == tree == copy.deepcopy(tree)
    done = taquin.search_tree(GOAL, GOAL, algorithm="astar")
    assert bool(done)
    assert (len(done), done.path(), str(done)) == (0, [], "")
    assert ET.fromstring(done._repr_svg_()).tag == f"{SVG}svg"


def test_limits_end_a_tree():
    with pytest.raises(taquin.LimitError, match=r"more than 500 nodes. Raise `max_expanded`, up to 5000") as caught:
        taquin.search_tree("8 6 7/2 5 4/3 0 1", algorithm="breadth_first")
    assert (caught.value.limit, caught.value.stats["expanded"]) == ("expanded", 500)
    with pytest.raises(taquin.LimitError, match="more than 3 nodes"):
        taquin.search_tree(taquin.random_board(4, 4, length=30, seed=1), max_expanded=3)
    with pytest.raises(taquin.LimitError, match="`depth_limit`"):
        taquin.search_tree(START, GOAL, algorithm="depth_first", depth_limit=3)
    with pytest.raises(taquin.TaquinError, match="5000") as wrong:
        taquin.search_tree(START, GOAL, max_expanded=5001)
    assert wrong.value.errors[0]["pointer"] == "/max_expanded"
    assert len(taquin.search_tree(START, GOAL, algorithm="breadth_first", max_expanded=108)) == 108
    with pytest.raises(taquin.LimitError, match="more than 107 nodes"):
        taquin.search_tree(START, GOAL, algorithm="breadth_first", max_expanded=107)


@pytest.mark.parametrize("algorithm", ["anytime", "constructive"])
def test_some_algorithms_have_no_tree(algorithm):
    with pytest.raises(taquin.TaquinError, match=f"`{algorithm}` has no search tree"):
        taquin.search_tree(NEAR, algorithm=algorithm)


def test_wrong_boards_are_those_of_solve():
    with pytest.raises(taquin.UnsolvableError):
        taquin.search_tree("1 2 3/4 5 6/8 7 0")
    with pytest.raises(taquin.BoardError):
        taquin.search_tree("1 2 3/4 5 6/7 7 0")
    with pytest.raises(TypeError, match="require"):
        taquin.search_tree(NEAR, require="optimal")


def test_a_limit_error_has_the_counters():
    with pytest.raises(taquin.LimitError) as caught:
        taquin.solve("8 6 7/2 5 4/3 0 1", algorithm="breadth_first", max_expanded=100)
    assert caught.value.stats["expanded"] == 100
    assert set(caught.value.stats) == set(taquin.SearchStats.__annotations__)


@pytest.mark.parametrize("algorithm", ["astar", "ida_star", "breadth_first"])
def test_a_picture_has_every_node(algorithm):
    heuristic = None if algorithm == "breadth_first" else "hamming"
    tree = taquin.search_tree(START, GOAL, algorithm=algorithm, heuristic=heuristic)
    picture = ET.fromstring(tree._repr_svg_())
    lines = list(picture.iter(f"{SVG}line"))
    roots = sum(node.parent is None for node in tree)
    # The goal is a node too.
    assert len(lines) == len(tree) + 1 - roots
    assert sum(line.get("stroke") is not None for line in lines) == tree.solution.length
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    words = [text.split()[0] for text in texts]
    assert all(str(index) in words for index in range(len(tree)))
    width, height = float(picture.get("width")), float(picture.get("height"))
    for rect in [*picture.iter(f"{SVG}rect")][1:]:
        assert 0 <= float(rect.get("x")) <= width - float(rect.get("width"))
        assert 0 <= float(rect.get("y")) <= height - float(rect.get("height"))


def test_leaves_are_side_by_side_and_parents_in_their_middle():
    #       0       6
    #     / | \
    #    1  2  5
    #      / \
    #     3   4
    columns, depths = layout([None, 0, 0, 2, 2, 0, None])
    assert depths == [0, 1, 1, 2, 2, 1, 0]
    assert columns == [1.5, 0, 1.5, 1, 2, 3, 4]
    deep = layout([None, *range(4_999)])
    assert deep == ([0.0] * 5_000, list(range(5_000)))
