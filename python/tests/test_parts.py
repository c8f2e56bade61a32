"""Files of jobs, as `taquin batch` writes them. `TAQUIN` is the program."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import taquin

PROGRAM = os.environ.get("TAQUIN") or shutil.which("taquin")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="no program taquin, and no variable TAQUIN")

HARDEST = "8 6 7/2 5 4/3 0 1"


def batch(*arguments, status=0):
    done = subprocess.run(
        [PROGRAM, "batch", "--tables", "small", *map(str, arguments)], capture_output=True, check=False
    )
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode()


def lines(job, status=0):
    return [json.loads(line) for line in batch(job, "--format", "ndjson", "-o", "-", status=status).splitlines()]


@pytest.fixture
def job(tmp_path):
    return tmp_path / "job"


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--random", "3x4", "--goal", "snail", "--want", "moves", "--chunk", 256], 700),
        (["--random", "2x5", "--want", "next", "--chunk", 256], 300),
        (["--random", "4x4", "--want", "next", "--board-expanded", 100], 30),
        (["--random", "3x3", "--want", "expanded"], 500),
        (["--random", "3x3", "--chunk", 256], 2_000),
        (["--random", "4x5", "--want", "bounds", "--chunk", 256], 300),
        (["--random", "10x10", "--want", "bounds"], 5),
        (["--random", "5x5", "--want", "moves", "--board-time", "10ms"], 4),
    ],
)
def test_labels_of_a_recipe_are_those_of_its_lines(job, arguments, count):
    batch(*arguments, "--seed", "s", "--count", count, "-o", f"{job}/")
    found = taquin.data.read_parts(job)
    assert found.status.tolist() == [0] * count
    want = arguments[arguments.index("--want") + 1] if "--want" in arguments else "length"
    present = {"next_moves": "next", "expanded": "expanded", "moves": "moves"}
    assert {name for name in present if getattr(found, name) is not None} == {
        name for name in present if present[name] == want
    }
    for row, line in enumerate(lines(job)):
        assert found.index[row] == line["index"] == row
        assert found.boards[row].tolist() == line["board"]
        assert (found.lengths[row], found.optimal[row]) == (line["length"], line["optimal"])
        assert found.lower_bounds[row] == line.get("lower_bound", line["length"])
        if want == "next":
            assert found.next_moves[row] == (255 if line.get("next") is None else line["next"])
        elif want == "expanded":
            assert found.expanded[row] == line["expanded"]
        elif want == "moves":
            assert found.moves[row].decode() == line["moves"]
    assert row == count - 1
    if found.boards[0].size <= 16 and "--board-expanded" not in arguments:
        assert (taquin.distances(found.boards, found.goal) == found.lengths).all()


def test_rows_of_an_input(job, tmp_path):
    rows = [HARDEST, "1 2 3/4 5 6/7 0 8", "1 1/1 1", "2 1 3/4 5 6/7 8 0", "1 2 3/4 5 6/7 8 0"]
    (tmp_path / "boards.txt").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    batch(tmp_path / "boards.txt", "--input-format", "ndjson", "--want", "moves", "-o", f"{job}/", status=3)
    found = taquin.data.read_parts(job)
    assert found.status.tolist() == [0, 0, 2, 2, 0]
    assert found.lengths.tolist() == [31, 1, 0, 0, 0]
    assert found.optimal.tolist() == [True, True, False, False, True]
    assert [len(moves) for moves in found.moves] == [31, 1, 0, 0, 0]
    assert found.boards[0].tolist() == [[8, 6, 7], [2, 5, 4], [3, 0, 1]]
    assert (found.boards[2:4] == 255).all()
    assert found.boards[4].tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 0]]


@pytest.mark.parametrize(("shape", "count"), [((3, 3), 70_000), ((5, 5), 3)])
def test_boards_of_an_input_are_those_that_were_written(job, tmp_path, shape, count):
    boards = taquin.random_boards(count, *shape, seed="input")
    cells = [f"[{','.join(map(str, board))}]\n" for board in boards.reshape(count, -1).tolist()]
    (tmp_path / "boards.ndjson").write_text("".join(cells))
    batch(tmp_path / "boards.ndjson", "--want", "bounds", "--chunk", 30_000, "-o", f"{job}/")
    found = taquin.data.read_parts(job)
    assert (found.boards == boards).all()
    assert (found.lower_bounds <= found.lengths).all()
    last = taquin.data.read_parts(sorted(job.glob("parts/*"))[-1])
    assert (last.boards == boards[last.index]).all()


@pytest.fixture
def small_job(job):
    batch("--random", "3x3", "--count", 600, "--chunk", 256, "--seed", "s", "--want", "moves", "-o", f"{job}/")
    return job


def test_a_part_alone(small_job, tmp_path):
    part = small_job / "parts" / "0000000001.tqp"
    whole, found = taquin.data.read_parts(small_job), taquin.data.read_parts(str(part))
    for name in ("index", "boards", "lengths", "optimal", "lower_bounds", "status"):
        assert (getattr(found, name) == getattr(whole, name)[256:512]).all()
    assert found.moves.tolist() == whole.moves[256:512].tolist()
    (tmp_path / "a" / "b").mkdir(parents=True)
    downloaded = taquin.data.read_parts(shutil.copy(part, tmp_path / "a" / "b" / "part.tqp"))
    assert (downloaded.boards, downloaded.goal) == (None, None)
    assert (downloaded.index == found.index).all()
    assert taquin.data.read_parts(small_job, boards=False).boards is None
    part.unlink()
    assert taquin.data.read_parts(small_job).index.tolist() == [*range(256), *range(512, 600)]


def test_every_damaged_bit_is_found(small_job):
    path = small_job / "parts" / "0000000002.tqp"
    data = path.read_bytes()
    path.unlink()
    for at in [*range(0, len(data), 7), *range(130)]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :])
        with pytest.raises(taquin.TaquinError, match=r"0000000002.tqp: the (part|file) "):
            taquin.data.read_parts(path)
    for changed in (data[:-1], data + b"0", data[:70], data[:3], b""):
        path.write_bytes(changed)
        with pytest.raises(taquin.TaquinError, match=r"0000000002.tqp: the (part|file) "):
            taquin.data.read_parts(path)


def test_damaged_inputs_are_found(job, tmp_path):
    (tmp_path / "boards.txt").write_text(f"{HARDEST}\n" * 3)
    batch(tmp_path / "boards.txt", "-o", f"{job}/")
    path = job / "input" / "0000000000.tqb"
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises(taquin.TaquinError, match="part of the input is damaged"):
            taquin.data.read_parts(job)
    assert taquin.data.read_parts(job, boards=False).lengths.tolist() == [31] * 3


def test_parts_of_other_jobs_are_found(small_job, tmp_path):
    other = tmp_path / "other"
    batch("--random", "3x3", "--count", 600, "--chunk", 256, "--seed", "t", "--want", "moves", "-o", f"{other}/")
    shutil.copy(other / "parts" / "0000000001.tqp", small_job / "parts" / "0000000001.tqp")
    with pytest.raises(taquin.TaquinError, match="another job"):
        taquin.data.read_parts(small_job)


def test_other_paths(tmp_path):
    with pytest.raises(FileNotFoundError):
        taquin.data.read_parts(tmp_path / "nothing")
    with pytest.raises(taquin.TaquinError, match=r"has no file parts/\*.tqp"):
        taquin.data.read_parts(tmp_path)
    with pytest.raises(taquin.TaquinError, match="is not a part"):
        taquin.data.read_parts(Path(__file__))


def test_results_can_be_changed(small_job):
    found = taquin.data.read_parts(small_job / "parts" / "0000000000.tqp")
    for column in (found.index, found.boards, found.lengths, found.optimal, found.lower_bounds, found.status):
        column[:] = np.zeros_like(column)
