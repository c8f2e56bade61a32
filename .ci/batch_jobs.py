#!/usr/bin/env python3
"""Runs the batch jobs of deploy/examples as processes, with few boards.

    .ci/batch_jobs.py target/release/taquin

For indexed-job.yaml, runs a process for each index as Kubernetes would start it: its arguments with
the index in them, its environment, and at most `parallelism` at a time. For slurm.sbatch, runs the
script with the variables that Slurm sets, for each task of its array. The directory of the first has
the parts of a process that was killed. `taquin batch --verify` must find nothing wrong in either.
Needs PyYAML.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import yaml

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "deploy/examples"
BOARDS, CHUNK = 640, 16
# So many take hours, and so does one chunk of them.
ENDLESS = ["--count", "1e8", "--chunk", "1048576"]
# The small tables are built in a tenth of a second.
ENVIRONMENT = {"PATH": os.environ["PATH"], "TAQUIN_TABLES": "small"}


def require(holds, message):
    """Exits with 1 unless a fact holds."""
    if not holds:
        sys.exit(f"batch jobs: FAILED: {message}")


def run(command, environment):
    """Runs a command to its end. Returns its exit code; prints its messages if the code is not 0."""
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, timeout=300, check=False)
    if done.returncode:
        print(done.stderr.decode(), file=sys.stderr)
    return done.returncode


def end_early(command, environment, sign, number):
    """Starts a command, and sends it a signal once a file matches the pattern `sign`. Returns its exit code."""
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not any(sign.parent.glob(sign.name)):
            require(time.monotonic() < deadline and process.poll() is None, "a process does not begin")
            time.sleep(0.02)
        process.send_signal(number)
        return process.wait(60)


def verify(taquin, directory, shares):
    """Checks a directory that all shares have written."""
    parts = len(list(directory.glob("parts/*.tqp")))
    require(parts == BOARDS // CHUNK, f"{parts} parts in {directory.name}")
    require(parts > shares, "a share has no part")
    require(run([taquin, "batch", "--verify", directory], ENVIRONMENT) == 0, f"{directory.name} is not sound")


def indexed_job(taquin, work):
    """Runs the shares of the Job. Returns their number."""
    spec = next(
        item for item in yaml.safe_load_all((EXAMPLES / "indexed-job.yaml").read_text()) if "Job" in item["kind"]
    )
    spec = spec["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    environment = ENVIRONMENT | {item["name"]: item["value"] for item in container["env"]}

    def command(index, boards, directory):
        arguments = [item.replace("$(JOB_COMPLETION_INDEX)", str(index)) for item in container["args"]]
        arguments = [item for item in arguments if not item.startswith(("--count=", "--output="))]
        require(len(arguments) == len(container["args"]) - 2, "the Job has no count or no output")
        return [taquin, *arguments, *boards, "--output", directory]

    directory, boards = work / "indexed-job", ["--count", str(BOARDS), "--chunk", str(CHUNK)]
    whole = [re.sub("^--shard=.*", "--shard=0/1", item) for item in map(str, command(0, boards, directory))]
    code = end_early(whole, environment, directory / "parts" / "*.tqp", signal.SIGKILL)
    require(code == -signal.SIGKILL, f"exit code {code} after SIGKILL")
    require(len(list(directory.glob("parts/*.tqp"))) < BOARDS // CHUNK, "nothing is left to do")
    with ThreadPoolExecutor(spec["parallelism"]) as pool:
        codes = list(
            pool.map(lambda index: run(command(index, boards, directory), environment), range(spec["completions"]))
        )
    require(not any(codes), f"exit codes {codes}")
    verify(taquin, directory, spec["completions"])
    # An invalid argument has the exit code that fails the index.
    failed = [
        code for rule in spec["podFailurePolicy"]["rules"] for code in rule.get("onExitCodes", {}).get("values", [])
    ]
    without = subprocess.run(
        command(spec["completions"], boards, directory), env=environment, stderr=subprocess.DEVNULL, check=False
    )
    require(failed == [without.returncode], f"exit code {without.returncode} of an invalid share")
    return spec["completions"]


def slurm(taquin, work):
    """Runs the tasks of the array. Returns their number."""
    script = EXAMPLES / "slurm.sbatch"
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", script.read_text(), re.MULTILINE))
    first, last = map(int, options["array"].split("-"))
    require(first == 0 and options["signal"].startswith("B:USR1@"), "other options of sbatch")
    commands, queued = work / "bin", work / "queued"
    commands.mkdir()
    (commands / "taquin").symlink_to(taquin)
    (commands / "scontrol").write_text(f'#!/bin/sh\necho "$@" >>"{queued}"\n')
    (commands / "scontrol").chmod(0o755)

    def task(index):
        return ENVIRONMENT | {
            "PATH": f"{commands}:{ENVIRONMENT['PATH']}",
            "SLURM_ARRAY_JOB_ID": "4711",
            "SLURM_ARRAY_TASK_ID": str(index),
            "SLURM_ARRAY_TASK_COUNT": str(last + 1),
            "SLURM_CPUS_PER_TASK": options["cpus-per-task"],
            "SLURM_MEM_PER_NODE": str(1024 * int(options["mem"].removesuffix("G"))),
        }

    def command(boards, directory):
        return ["bash", script, "--random", "4x4", "--seed", "s", *boards, "-o", directory]

    late, cancelled, directory = work / "late", work / "cancelled", work / "slurm"
    code = end_early(command(ENDLESS, cancelled), task(0), cancelled / "spec.json", signal.SIGTERM)
    require(code == 143 and not queued.exists(), f"exit code {code} after a cancellation")
    code = end_early(command(ENDLESS, late), task(1), late / "spec.json", signal.SIGUSR1)
    require(code == 143 and queued.read_text() == "requeue 4711_1\n", f"exit code {code} at the time limit")
    boards = ["--count", str(BOARDS), "--chunk", str(CHUNK)]
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda index: run(command(boards, directory), task(index)), range(last + 1)))
    require(not any(codes), f"exit codes {codes}")
    verify(taquin, directory, last + 1)
    return last + 1


def main():
    """Runs both jobs."""
    if len(sys.argv) != 2:
        sys.exit("usage: .ci/batch_jobs.py TAQUIN")
    taquin = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        pods, tasks = indexed_job(taquin, work), slurm(taquin, work)
    print(f"batch jobs: {pods} shares of indexed-job.yaml and {tasks} of slurm.sbatch make complete directories")


main()
