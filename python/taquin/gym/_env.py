"""An environment of one board."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete, Space

from ._frame import frame, text
from ._puzzle import Boards, Length, Puzzle

if TYPE_CHECKING:
    from .._types import BoardLike

RenderMode: TypeAlias = Literal["ansi", "rgb_array"]
RENDER_MODES: list[RenderMode] = ["ansi", "rgb_array"]


class SlidingPuzzleEnv(gymnasium.Env[Boards, np.int64]):
    """A sliding-tile puzzle of 2x2 to 10x10 cells.

    Actions: ``Discrete(4)``, the moves of the blank: 0 U, 1 L, 2 D, 3 R. An illegal move leaves the board as it is, and
    counts as a move.

    Observations: uint8. ``observation="board"`` has the shape (rows, cols), with 0 as the blank;
    ``observation="one_hot"`` has the shape (rows, cols, cells), with 1 at [row, col, tile].

    Info: ``action_mask``, int8 of shape (4,), is 1 where a move is legal. ``distance`` is the optimal length of the
    board in moves; it is absent on boards of more than 16 cells and with ``distance=False``.

    Rewards: ``reward="step"`` is -1 for each move, also for the last, so the return is minus the number of moves.
    ``reward="distance"`` adds the decrease of the distance, which is potential-based shaping (Ng, Harada and Russell
    1999): 0 for an optimal move, -2 for any other, -1 for an illegal move. The return of a solution is then minus the
    moves that it wastes.

    An episode is terminated at the goal, and truncated after ``max_steps`` moves elsewhere. A step after its end raises
    ``gymnasium.error.ResetNeeded``.

    Parameters
    ----------
    rows, cols : int
        The shape. 3x3 by default, square if only one is given.
    goal : str, list or array, optional
        A board, or "blank_last" (the default), "blank_first" or "snail".
    length : int or (int, int), optional
        The optimal length of each start, or the ends of a range: at least 1, on boards of up to 16 cells. All boards
        that qualify are equally likely. By default any board but the goal.
    reward : str
        "step" or "distance".
    distance : bool
        False leaves the distance out. It costs microseconds up to 9 cells, and up to seconds for a board of 16 cells
        far from the goal.
    observation : str
        "board" or "one_hot".
    max_steps : int, optional
        Most moves of an episode. By default an episode ends at the goal only.
    render_mode : str, optional
        "ansi", text that taquin reads, or "rgb_array", uint8 of shape (32 rows, 32 cols, 3).

    Raises
    ------
    TaquinError, ValueError
        If an argument is wrong, or no board has this length.

    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        rows: int | None = None,
        cols: int | None = None,
        *,
        goal: BoardLike | None = None,
        length: Length = None,
        reward: Literal["step", "distance"] = "step",
        distance: bool = True,
        observation: Literal["board", "one_hot"] = "board",
        max_steps: int | None = None,
        render_mode: RenderMode | None = None,
    ) -> None:
        self._puzzle = Puzzle(rows, cols, goal, reward=reward, distance=distance, observation=observation)
        self._max_steps = checked_max_steps(max_steps)
        self.length = length
        self.render_mode = checked_render_mode(render_mode)
        self.action_space = Discrete(4)
        self.observation_space: Space[Boards] = observation_space(self._puzzle)
        self._board: Boards | None = None
        self._blank, self._steps, self._distance, self._over = 0, 0, 0, False

    @property
    def length(self) -> Length:
        """The optimal length of the starts of later episodes; it can be set."""
        return self._length

    @length.setter
    def length(self, length: Length) -> None:
        self._length = self._puzzle.checked_length(length)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Boards, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Equal seeds give equal starts, in this and in all later episodes.
        options : dict, optional
            ``length``: the optimal length of this start, instead of the attribute. ``board``: this start.

        Returns
        -------
        observation, info

        """
        super().reset(seed=seed)
        given = checked_options(options, "length", "board")
        if "board" in given:
            board = self._puzzle.start(given["board"])
        else:
            board = self._puzzle.draws([self.np_random], given.get("length", self.length))[0]
        self._board, self._blank, self._steps, self._over = board, int(board.argmin()), 0, False
        self._measure(board)
        return self._observation(board), self._info()

    def step(self, action: SupportsIndex) -> tuple[Boards, float, bool, bool, dict[str, Any]]:
        """Move the blank.

        Parameters
        ----------
        action : int
            0 U, 1 L, 2 D, 3 R.

        Returns
        -------
        observation, reward, terminated, truncated, info

        """
        if self._board is None or self._over:
            raise ResetNeeded("call reset() before the first step of an episode")
        move = operator.index(action)
        if not 0 <= move < 4:
            raise ValueError(f"an action is 0 (U), 1 (L), 2 (D) or 3 (R), not {move}")
        target, before = int(self._puzzle.targets[self._blank, move]), self._distance
        self._board[self._blank] = self._board[target]
        self._board[target] = 0
        moved = target != self._blank
        self._blank, self._steps = target, self._steps + 1
        if moved:
            self._measure(self._board)
        terminated = bool(np.array_equal(self._board, self._puzzle.goal))
        truncated = not terminated and self._max_steps is not None and self._steps >= self._max_steps
        self._over = terminated or truncated
        reward = -1.0 + (before - self._distance if self._puzzle.shaped else 0)
        return self._observation(self._board), reward, terminated, truncated, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which moves are legal: bool of shape (4,), as sb3-contrib's MaskablePPO takes it."""
        masks: npt.NDArray[np.bool_] = self._puzzle.legal[self._blank].copy()
        return masks

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the board as text or picture; None without a render mode."""
        if self._board is None:
            raise ResetNeeded("call reset() before render()")
        return rendered(self._board.reshape(self._puzzle.rows, self._puzzle.cols), self.render_mode)

    def _measure(self, board: Boards) -> None:
        if self._puzzle.has_distances:
            self._distance = int(self._puzzle.distances(board[None])[0])

    def _observation(self, board: Boards) -> Boards:
        observation: Boards = self._puzzle.observations(board[None])[0]
        return observation

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._puzzle.legal[self._blank].astype(np.int8)}
        if self._puzzle.has_distances:
            info["distance"] = self._distance
        return info


def observation_space(puzzle: Puzzle) -> Space[Boards]:
    """Return the space of the observations of one board."""
    high, tiles = (1, (puzzle.cells,)) if puzzle.one_hot else (puzzle.cells - 1, ())
    space: Space[Any] = Box(0, high, (puzzle.rows, puzzle.cols, *tiles), np.uint8)
    return space


def rendered(board: Boards, render_mode: str | None) -> str | npt.NDArray[np.uint8] | None:
    """Return a board of shape (rows, cols) in a render mode."""
    if render_mode is None:
        gymnasium.logger.warn('render() needs a render mode: gymnasium.make(..., render_mode="ansi")')
        return None
    return text(board) if render_mode == "ansi" else frame(board)


def checked_render_mode(render_mode: RenderMode | None) -> RenderMode | None:
    """Return a render mode; raise ValueError if it is unknown."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f'`render_mode` must be "ansi" or "rgb_array", not {render_mode!r}')
    return render_mode


def checked_max_steps(max_steps: int | None) -> int | None:
    """Return the most moves of an episode; raise ValueError if they are no positive number."""
    if max_steps is not None and max_steps < 1:
        raise ValueError(f"`max_steps` must be at least 1, not {max_steps}")
    return max_steps


def checked_options(options: dict[str, Any] | None, *known: str) -> dict[str, Any]:
    """Return the options of a reset; raise ValueError if one is unknown."""
    given = options or {}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"reset() has no option {unknown[0]!r}; its options are {', '.join(known)}")
    return given
