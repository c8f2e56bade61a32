"""Labels of 100,000 boards by tasks of Ray, while workers are killed. One machine has the same digest.

Here, Ray runs on this machine alone. On a cluster, set no variables, and call `ray.init()` without arguments.
"""

# The types of Ray are incomplete.
# pyright: basic
import hashlib
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import taquin

# Read when `ray` is imported: no usage statistics, and only the loopback interface.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

import ray

BOARDS, TASK, ROWS, COLS, SEED = 100_000, 2_500, 3, 4, "engines"


@ray.remote(num_cpus=1, max_retries=5)
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
    """Compare the digests of Ray and of this process."""
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory(prefix="ray") as sessions:
        begun = Path(directory)
        ray.init(
            address="local",
            num_cpus=2,
            object_store_memory=100 << 20,
            include_dashboard=False,
            log_to_driver=False,
            _temp_dir=sessions,
        )
        results = [label.remote(first, begun) for first in range(0, BOARDS, TASK)]
        for tasks in (4, 12):
            kill_a_worker(begun, tasks)
        found = digest(np.concatenate(ray.get(results)))
        ray.shutdown()
        attempts = len(list(begun.iterdir()))
    expected = digest(taquin.distances(taquin.random_boards(BOARDS, ROWS, COLS, seed=SEED)))
    print(f"{BOARDS} boards, {len(results)} tasks, {attempts} attempts: {found}")
    assert attempts > len(results), "no task was repeated"
    assert found == expected


if __name__ == "__main__":
    main()
