"""Labels of 100,000 boards by tasks of Dask, while workers are killed. One machine has the same digest.

Here, Dask runs on this machine alone. On a cluster, give `Client` the address of the scheduler.
"""

# The types of Dask are incomplete.
# pyright: basic
import hashlib
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import taquin
from distributed import Client, LocalCluster

BOARDS, TASK, ROWS, COLS, SEED = 100_000, 2_500, 3, 4, "engines"


def label(first: int, begun: Path) -> npt.NDArray[np.uint8]:
    """Return the optimal lengths of a range of the boards. The task draws its boards itself."""
    (begun / f"{first}-{os.getpid()}").touch()
    boards = taquin.random_boards(TASK, ROWS, COLS, seed=SEED, start=first)
    return taquin.distances(boards, threads=1)


def kill_a_worker(begun: Path, tasks: int) -> None:
    """Kill the worker that began the latest task, once so many tasks have begun."""
    while len(started := sorted(begun.iterdir(), key=lambda path: path.stat().st_mtime_ns)) < tasks:
        time.sleep(0.01)
    os.kill(int(started[-1].name.split("-")[1]), signal.SIGKILL)


def digest(labels: npt.NDArray[Any]) -> str:
    """Return the SHA-256 of the labels, in order."""
    return hashlib.sha256(labels.tobytes()).hexdigest()


def main() -> None:
    """Compare the digests of Dask and of this process."""
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with (
        tempfile.TemporaryDirectory() as directory,
        LocalCluster(local_directory=directory, **options) as cluster,  # type: ignore[no-untyped-call]
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        begun = Path(directory, "begun")
        begun.mkdir()
        results = client.map(label, range(0, BOARDS, TASK), begun=begun, retries=5, pure=False)
        for tasks in (4, 12):
            kill_a_worker(begun, tasks)
        found = digest(np.concatenate(cast("list[Any]", client.gather(results))))
        attempts = len(list(begun.iterdir()))
    expected = digest(taquin.distances(taquin.random_boards(BOARDS, ROWS, COLS, seed=SEED)))
    print(f"{BOARDS} boards, {len(results)} tasks, {attempts} attempts: {found}")
    assert attempts > len(results), "no task was repeated"
    assert found == expected


if __name__ == "__main__":
    main()
