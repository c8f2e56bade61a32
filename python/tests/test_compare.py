"""Methods side by side."""

import subprocess
import sys
from typing import get_args

import numpy as np
import pytest
import taquin
from taquin._methods import BLIND, named
from taquin._types import Algorithm

pd = pytest.importorskip("pandas")

HARDEST = "8 6 7/2 5 4/3 0 1"
UNSOLVABLE = "1 2 3/4 5 6/8 7 0"
#: Boards, goals, lengths, expanded and generated nodes of the course project, as in GUIDE.md.
COURSE = [
    ("2 8 3/1 6 4/7 0 5", "1 2 3/8 6 4/7 5 0", 7, 10, 21),
    ("5 4 0/6 1 8/7 3 2", "1 2 3/4 0 5/6 7 8", 22, 511, 884),
    ("7 2 4/5 0 6/8 3 1", "0 1 2/3 4 5/6 7 8", 26, 2706, 4550),
]


@pytest.mark.parametrize(("board", "goal", "length", "expanded", "generated"), COURSE)
def test_the_course_projects_figures_are_reproduced(board, goal, length, expanded, generated):
    row = taquin.compare([board], ["astar manhattan heap parent"], goal).iloc[0]
    assert (row["length"], row["expanded"], row["generated"]) == (length, expanded, generated)
    assert (row["board"], row["name"], row["optimal"]) == (board, "astar manhattan heap parent", True)


def test_rows_are_the_solutions_of_solve_board_by_board():
    boards = [HARDEST, [[3, 7, 8], [2, 0, 6], [4, 5, 1]], np.array([1, 2, 3, 4, 5, 6, 0, 7, 8]), "4 1 3/0 2 5"]
    methods = ["astar hamming", {"algorithm": "greedy_best_first", "heuristic": "manhattan"}, {}, "breadth_first"]
    table = taquin.compare(boards, methods)
    assert table["index"].tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    assert table["method_index"].tolist() == [0, 1, 2, 3] * 4
    assert table["name"].tolist()[:4] == ["astar hamming", "greedy_best_first manhattan", "auto auto", "breadth_first"]
    assert table["heuristic"].isna().tolist() == [False, False, False, True] * 4
    for row in table.to_dict("records"):
        options = named(methods[row["method_index"]]).options
        solution = taquin.solve(boards[row["index"]], **options)
        expected = {**solution.stats, "length": solution.length, "optimal": solution.optimal}
        for name in expected.keys() - {"elapsed_us", "algorithm", "heuristic"}:
            assert row[name] == expected[name] or (pd.isna(row[name]) and expected[name] is None), name
        assert row["seconds"] == row["elapsed_us"] / 1e6
        assert pd.isna(row["error"])
    assert set(taquin.SearchStats.__annotations__) <= set(table.columns)


def test_a_board_without_a_solution_is_a_row():
    table = taquin.compare([UNSOLVABLE, HARDEST], ["astar hamming", "depth_first to depth 3"], max_expanded=1000)
    assert table["error"].tolist() == ["unsolvable"] * 2 + ["search-limit-exceeded"] * 2
    assert table["limit"].fillna("").tolist() == ["", "", "expanded", "depth"]
    assert table["length"].isna().all()
    assert table["effective_branching_factor"].isna().all()
    assert table["expanded"][2] == 1000
    assert table["generated"][2] > 1000
    assert table["lower_bound"][2] >= 8
    assert table["expanded"][:2].isna().all()


def test_the_limits_of_a_method_come_first():
    methods = ["breadth_first", {"algorithm": "breadth_first", "max_expanded": 10}]
    assert taquin.compare([HARDEST], methods, max_expanded=20)["expanded"].tolist() == [20, 10]


def test_all_tables_have_the_same_columns_and_types():
    full = taquin.compare([HARDEST], "astar hamming")
    for table in (taquin.compare([UNSOLVABLE], ["auto"]), taquin.compare([], ["auto"]), taquin.compare([HARDEST], [])):
        assert table.dtypes.equals(full.dtypes)
    assert full["length"].dtype == "Int64"
    assert taquin.compare(HARDEST, {"algorithm": "astar"})["name"].tolist() == ["astar auto"]


def test_arrays_and_shapes_and_goals_are_read():
    boards = taquin.random_boards(5, 2, 3, goal="snail", seed=1)
    lengths = taquin.distances(boards, "snail").tolist()
    assert taquin.compare(boards, ["auto"], "snail")["length"].tolist() == lengths
    flat = boards.reshape(5, 6)
    assert taquin.compare(flat, ["auto"], "snail", rows=2, cols=3)["length"].tolist() == lengths
    positions = taquin.compare([[3, 0, 1, 2]], ["auto"], encoding="positions")
    assert positions["board"][0] == "1 2/3 0"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("astar manhattan heap parent", {"tie_breaking": "heap", "duplicate_detection": "parent"}),
        ("astar manhattan fifo expanded_only LRUD", {"tie_breaking": "fifo", "duplicate_detection": "expanded_only"}),
        ("weighted_astar manhattan \N{MULTIPLICATION SIGN}1.5", {"weight": 1.5}),
        ("weighted_astar manhattan \N{MULTIPLICATION SIGN}2", {"weight": 2.0}),
        ("depth_first LRUD to depth 31", {"depth_limit": 31, "successor_order": "LRUD"}),
        ("astar manhattan", {"heuristic": "manhattan"}),
        ("auto auto", {"algorithm": "auto", "heuristic": "auto"}),
    ],
)
def test_a_name_is_read_as_it_is_written(name, options):
    method = named(name)
    assert options.items() <= method.options.items()
    assert method.name == name
    assert named(method.options).name == name


def test_names_leave_out_defaults():
    options = {"algorithm": "astar", "heuristic": "hamming", "tie_breaking": "low_h", "weight": 1, "patterns": None}
    assert named(options).name == "astar hamming"
    assert named({**options, "name": "mine"}).name == "mine"
    assert named({"algorithm": "ida_star", "patterns": [[1, 2], [3]]}).name == "ida_star auto 1 2/3"
    for algorithm in get_args(Algorithm):
        solution = taquin.solve("1 2 3/4 0 5/7 8 6", algorithm=algorithm)
        assert algorithm == "auto" or (solution.stats["heuristic"] is None) == (algorithm in BLIND)


@pytest.mark.parametrize(
    ("methods", "error", "message"),
    [
        (["astar", "a_star"], taquin.TaquinError, "Method 1, 'a_star auto': .*`algorithm`"),
        (["astar euclid"], taquin.TaquinError, "Method 0, .*`heuristic`"),
        (["astar hamming manhattan"], taquin.TaquinError, "two values of `heuristic`: hamming and manhattan"),
        (["breadth_first manhattan"], taquin.TaquinError, "Method 0, .*heuristic"),
        ([{"algorithm": "astar", "hueristic": "zero"}], TypeError, "Method 0, .*hueristic"),
        ([{"weight": 0.5}], taquin.TaquinError, "Method 0, .*weight"),
        ([""], taquin.TaquinError, "needs a name"),
    ],
)
def test_wrong_methods_are_named_before_any_search(methods, error, message):
    with pytest.raises(error, match=message):
        taquin.compare([HARDEST], methods)


def test_a_wrong_board_has_its_index():
    with pytest.raises(taquin.BoardError, match=r"Board 1: .*tile 8 is missing") as caught:
        taquin.compare([HARDEST, "1 2 3/4 5 6/7 7 0"], ["auto"])
    assert caught.value.index == 1
    assert caught.value.errors


def test_progress_counts_boards(capsys):
    taquin.compare([HARDEST, HARDEST], ["auto", "astar"], progress=True)
    assert "2/2" in capsys.readouterr().err


def test_without_pandas_an_import_error_names_the_extra():
    code = "import sys; sys.modules['pandas'] = None; import taquin; taquin.compare([], [])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'pip install "taquin[pandas]"' in process.stderr.splitlines()[-1]
