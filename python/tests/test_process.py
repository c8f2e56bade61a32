"""Threads, forks, signals and memory."""

import _thread
import gc
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import taquin

HARDEST = "8 6 7/2 5 4/3 0 1"
#: A search that takes minutes.
ENDLESS = {"algorithm": "ida_star", "heuristic": "zero"}


def hard_board():
    return taquin.random_board(4, 4, length=(55, 60), seed=1)


def interrupt_after(seconds):
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.start()
    return timer


@pytest.mark.parametrize(
    "call",
    [
        lambda: taquin.solve(hard_board(), **ENDLESS),
        lambda: taquin.solve(taquin.random_board(8, 8, seed=1), time=600),
        lambda: taquin.solve(hard_board(), algorithm="astar", heuristic="hamming", max_nodes=10**9),
        lambda: taquin.solve_many(taquin.random_boards(10_000, 6, 6, seed=1)),
        lambda: taquin.distances(taquin.random_boards(1_000_000, 4, 4, seed=1), progress=True),
        lambda: taquin.random_boards(1_000_000, 4, 4, seed=1, length=(50, 52)),
    ],
)
def test_ctrl_c_ends_the_work(call):
    begun = time.monotonic()
    timer = interrupt_after(3)
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    assert time.monotonic() - begun < 8
    assert taquin.solve(HARDEST).length == 31


def test_sigint_ends_a_process():
    code = f"import taquin; print('begun', flush=True); taquin.solve({hard_board()}, **{ENDLESS})"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=10)
    assert error.endswith("KeyboardInterrupt\n")


def test_other_threads_run_during_a_search():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    taquin.solve(taquin.random_board(6, 6, seed=1), time=0.5)
    stop.set()
    thread.join()
    assert len(ticks) > 15


def test_threads_get_the_same_results():
    boards = [taquin.random_board(4, 4, seed=seed) for seed in range(12)]
    expected = [taquin.distance(board) for board in boards]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(taquin.distance, boards)) == expected
        arrays = list(pool.map(taquin.distances, [taquin.random_boards(500, 3, 3, seed=1)] * 6))
    assert all((array == arrays[0]).all() for array in arrays)


def test_an_array_may_change_during_the_work():
    boards = taquin.random_boards(20_000, 3, 3, seed=1)
    expected, stop = taquin.distances(boards), threading.Event()
    copy = boards.copy()

    def disturb():
        while not stop.is_set():
            copy[:] = 0
            copy[:] = boards

    thread = threading.Thread(target=disturb)
    thread.start()
    for _ in range(20):
        with suppress(taquin.BoardError):
            assert len(taquin.distances(copy)) == len(expected)
    stop.set()
    thread.join()
    assert (taquin.distances(boards) == expected).all()


def test_a_forked_process_solves_boards():
    taquin.distances(taquin.random_boards(1_000, 4, 4, seed=1))
    child = os.fork()
    if child == 0:
        lengths = taquin.distances(taquin.random_boards(100, 4, 4, seed=2))
        os._exit(0 if len(lengths) == 100 and taquin.solve(HARDEST).length == 31 else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools_of_processes(method):
    boards = [taquin.random_board(3, 4, seed=seed) for seed in range(8)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        solutions = pool.map(taquin.solve, boards)
        with pytest.raises(taquin.UnsolvableError) as caught:
            pool.map(taquin.solve, ["1 2 3/4 5 6/8 7 0"])
    assert [solution.length for solution in solutions] == [taquin.distance(board) for board in boards]
    assert caught.value.reachable_goals


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def calls():
    taquin.solve(HARDEST)
    taquin.distance(HARDEST)
    taquin.random_board(3, 3, seed=1)
    for wrong in ("1 2 3/4 5 6/8 7 0", "1 1/2 3", object()):
        with pytest.raises((ValueError, TypeError)):
            taquin.solve(wrong)


def test_many_calls_leak_nothing():
    boards = taquin.random_boards(100, 3, 3, seed=1)
    for round_ in range(2):
        for _ in range(9_000):
            calls()
        for _ in range(1_000):
            taquin.distances(boards)
            taquin.solve_many(boards, moves=True)
        gc.collect()
        if round_ == 0:
            begin, objects = resident(), len(gc.get_objects())
    # 10^5 calls in both rounds.
    assert resident() - begin < 4 << 20
    assert len(gc.get_objects()) - objects < 100
