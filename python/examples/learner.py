"""Q-learning with NumPy alone learns the whole 8-puzzle by a curriculum of lengths.

The first boards are one move away from the goal, later ones up to 31 moves. A board is learned once its value is minus its
length. Without the curriculum, random moves from a random board hardly ever reach the goal.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import taquin
import taquin.gym

#: The least share of test boards that must be solved with as few moves as possible, at each length.
BOUND = 0.95
#: The value of an action that was never tried: worse than any length.
UNTRIED = -100.0
BOARDS = 362_880  # all permutations of nine cells

Values = npt.NDArray[np.float32]


def rank(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return the index of each board of shape (n, 3, 3) among all permutations: int64 of shape (n,)."""
    cells = boards.reshape(-1, 9)
    ranks = np.zeros(len(cells), dtype=np.int64)
    for cell in range(9):
        ranks = ranks * (9 - cell) + (cells[:, cell + 1 :] < cells[:, cell, None]).sum(axis=1)
    return ranks


def learn(envs: taquin.gym.SlidingPuzzleVectorEnv, lengths: Iterable[int], rounds: int = 600) -> Values:
    """Return the value of each board and action: float32 of shape (362880, 4).

    A length takes at most so many rounds, and fewer once almost all of its boards have their value.
    """
    values: Values = np.full((BOARDS, 4), UNTRIED, dtype=np.float32)
    rng = np.random.default_rng(1)
    envs.reset(seed=1)
    for length in lengths:
        envs.length = length
        boards, infos = envs.reset()
        states, ended = rank(boards), np.zeros(envs.num_envs, dtype=np.bool_)
        for _ in range(rounds):
            actions = (rng.random((envs.num_envs, 4)) * infos["action_mask"]).argmax(axis=1)
            boards, rewards, terminated, truncated, infos = envs.step(actions)
            after = rank(boards)
            # Moves are certain, so the learning rate is 1. Boards whose episode had ended were reset, and did not move.
            targets = rewards + np.where(terminated, 0, values[after].max(axis=1))
            values[states[~ended], actions[~ended]] = targets[~ended]
            begun = after[ended]
            if len(begun) and (values[begun].max(axis=1) == -length).mean() > 0.999:
                break
            states, ended = after, terminated | truncated
    return values


def share_solved(values: Values, length: int, boards: int = 100) -> float:
    """Return the share of test boards of a length that the best actions solve in as many moves, by taquin's own rules."""
    solved = 0
    for board in taquin.random_boards(boards, 3, 3, length=length, seed="test"):
        rows: list[list[int]] | None = board.tolist()
        for _ in range(length):
            if rows is not None:
                letter = "ULDR"[int(values[rank(np.array([rows], dtype=np.uint8))[0]].argmax())]
                rows = next((move.board for move in taquin.moves(rows) if move.move == letter), None)
        solved += rows == [[1, 2, 3], [4, 5, 6], [7, 8, 0]]
    return solved / boards


if __name__ == "__main__":
    learned = learn(taquin.gym.SlidingPuzzleVectorEnv(4096, 3, max_steps=2, distance=False), range(1, 32))
    for length in (1, 5, 10, 15, 20, 25, 30):
        share = share_solved(learned, length)
        print(f"{length:2} moves: {share:.0%} of the test boards solved optimally")
        assert share >= BOUND
