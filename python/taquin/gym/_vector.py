"""An environment of many boards as one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ._env import (
    RENDER_MODES,
    RenderMode,
    checked_max_steps,
    checked_options,
    checked_render_mode,
    observation_space,
    rendered,
)
from ._puzzle import Boards, Length, Puzzle

if TYPE_CHECKING:
    from .._types import BoardLike

Actions: TypeAlias = npt.NDArray[np.integer[Any]]
_Flags: TypeAlias = npt.NDArray[np.bool_]
_Steps: TypeAlias = tuple[Boards, npt.NDArray[np.float64], _Flags, _Flags, dict[str, Any]]


class SlidingPuzzleVectorEnv(VectorEnv[Boards, Actions, npt.NDArray[Any]]):
    """Many sliding-tile puzzles, which move by array operations.

    Each board follows the rules of `SlidingPuzzleEnv`; all results have a first axis of length ``num_envs``. Seeds,
    starts and infos are equal to Gymnasium's ``SyncVectorEnv`` of `SlidingPuzzleEnv`.

    Parameters
    ----------
    num_envs : int
        Number of boards.
    rows, cols, goal, length, reward, distance, observation, max_steps, render_mode
        As for `SlidingPuzzleEnv`.
    max_episode_steps : int, optional
        Other name of ``max_steps``, which ``gymnasium.make_vec`` uses; the smaller one counts.
    autoreset_mode : gymnasium.vector.AutoresetMode or str
        ``NEXT_STEP`` (the default): the step after the end of an episode begins the next one, ignores the action, and
        has reward 0. ``SAME_STEP``: the last step of an episode begins the next one; ``final_obs`` and ``final_info``
        of the info have the end. ``DISABLED``: ``reset(options={"reset_mask": ...})`` begins the next ones.

    Raises
    ------
    TaquinError, ValueError
        If an argument is wrong, or no board has this length.

    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        rows: int | None = None,
        cols: int | None = None,
        *,
        goal: BoardLike | None = None,
        length: Length = None,
        reward: Literal["step", "distance"] = "step",
        distance: bool = True,
        observation: Literal["board", "one_hot"] = "board",
        max_steps: int | None = None,
        max_episode_steps: int | None = None,
        render_mode: RenderMode | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs = num_envs
        self._puzzle = Puzzle(rows, cols, goal, reward=reward, distance=distance, observation=observation)
        limits = [limit for limit in (max_steps, max_episode_steps) if limit is not None]
        self._max_steps = checked_max_steps(min(limits, default=None))
        self.length = length
        self.render_mode = checked_render_mode(render_mode)
        self._autoreset = AutoresetMode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self._autoreset}
        self.single_action_space = Discrete(4)
        self.action_space = batch_space(self.single_action_space, num_envs)
        space = observation_space(self._puzzle)
        self.single_observation_space = space
        self.observation_space = batch_space(space, num_envs)
        self._generators: list[np.random.Generator] = []
        self._boards: Boards = np.zeros((num_envs, self._puzzle.cells), dtype=np.uint8)
        self._blanks: npt.NDArray[np.intp] = np.zeros(num_envs, dtype=np.intp)
        self._steps: npt.NDArray[np.int64] = np.zeros(num_envs, dtype=np.int64)
        self._distances: npt.NDArray[np.int64] = np.zeros(num_envs, dtype=np.int64)
        #: Boards whose episode has ended, or has not begun.
        self._over: _Flags = np.ones(num_envs, dtype=np.bool_)
        self._every = np.arange(num_envs)

    @property
    def length(self) -> Length:
        """The optimal length of the starts of later episodes, also of automatic resets; it can be set."""
        return self._length

    @length.setter
    def length(self, length: Length) -> None:
        self._length = self._puzzle.checked_length(length)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Boards, dict[str, Any]]:
        """Begin the episodes of all boards.

        Parameters
        ----------
        seed : int or list, optional
            Board i has the seed ``seed + i``, or ``seed[i]``.
        options : dict, optional
            ``length``: the optimal length of these starts, instead of the attribute. ``boards``: these starts, an array
            or a list. ``reset_mask``: bool of shape (num_envs,), the boards that begin.

        Returns
        -------
        observations, infos

        """
        self._seed(seed)
        given = checked_options(options, "length", "boards", "reset_mask")
        mask = self._mask(given.get("reset_mask"))
        boards = given.get("boards")
        if boards is not None and len(boards) != self.num_envs:
            raise ValueError(f"`boards` has {len(boards)} boards for {self.num_envs} environments")
        self._begin(np.flatnonzero(mask), given.get("length", self.length), boards)
        return self._puzzle.observations(self._boards), self._infos(mask)

    def step(self, actions: Actions) -> _Steps:
        """Move the blanks.

        Parameters
        ----------
        actions : array of integers, shape (num_envs,)
            0 U, 1 L, 2 D, 3 R.

        Returns
        -------
        observations : uint8, shape (num_envs, rows, cols) or (num_envs, rows, cols, cells)
        rewards : float64, shape (num_envs,)
        terminations, truncations : bool, shape (num_envs,)
        infos : dict
            ``action_mask``, int8 of shape (num_envs, 4), and ``distance``, int64 of shape (num_envs,). As in all
            vector environments, an array such as ``_distance`` says which boards have the entry.

        """
        began = self._over
        if not self._generators or (began.any() and self._autoreset is not AutoresetMode.NEXT_STEP):
            raise ResetNeeded("call reset() before the first step of an episode")
        rewards = self._move(self._checked(actions), ~began)
        terminations: _Flags = (self._boards == self._puzzle.goal).all(axis=1) & ~began
        late = self._steps >= self._max_steps if self._max_steps is not None else np.zeros_like(began)
        truncations: _Flags = late & ~terminations & ~began
        self._over = terminations | truncations
        if self._autoreset is AutoresetMode.NEXT_STEP:
            self._begin(np.flatnonzero(began), self.length, None)
        infos = self._restart() if self._autoreset is AutoresetMode.SAME_STEP and self._over.any() else {}
        infos |= self._infos(np.ones(self.num_envs, dtype=np.bool_))
        return self._puzzle.observations(self._boards), rewards, terminations, truncations, infos

    def action_masks(self) -> _Flags:
        """Return which moves are legal: bool of shape (num_envs, 4)."""
        return self._puzzle.legal[self._blanks]

    def render(self) -> tuple[Any, ...] | None:
        """Return each board as text or picture; None without a render mode."""
        if not self._generators:
            raise ResetNeeded("call reset() before render()")
        boards = self._boards.reshape(-1, self._puzzle.rows, self._puzzle.cols)
        return tuple(rendered(board, self.render_mode) for board in boards)

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + index for index in range(self.num_envs)]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"`seed` has {len(seeds)} seeds for {self.num_envs} environments")
        old = self._generators or [np_random()[0] for _ in seeds]
        self._generators = [
            generator if new is None else np_random(new)[0] for new, generator in zip(seeds, old, strict=True)
        ]

    def _mask(self, given: Any) -> _Flags:
        if given is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        mask: npt.NDArray[Any] = np.asarray(given)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"`reset_mask` must be bool of shape ({self.num_envs},) with at least one True")
        return mask

    def _checked(self, actions: Actions) -> Actions:
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(f"actions must be integers of shape ({self.num_envs},)")
        if actions.min() < 0 or actions.max() > 3:
            raise ValueError("an action is 0 (U), 1 (L), 2 (D) or 3 (R)")
        return actions

    def _begin(self, indices: npt.NDArray[np.intp], length: Length, boards: Any) -> None:
        """Begin the episodes of some boards."""
        if len(indices) == 0:
            return
        if boards is None:
            self._boards[indices] = self._puzzle.draws([self._generators[int(index)] for index in indices], length)
        else:
            self._boards[indices] = [self._puzzle.start(boards[int(index)]) for index in indices]
        self._blanks[indices] = np.argmin(self._boards[indices], axis=1)
        self._steps[indices] = 0
        self._over[indices] = False
        self._measure(indices)

    def _move(self, actions: Actions, playing: _Flags) -> npt.NDArray[np.float64]:
        """Move the blanks of the boards that play. Returns the rewards."""
        before = self._distances.copy()
        targets = np.where(playing, self._puzzle.targets[self._blanks, actions], self._blanks)
        moved = np.flatnonzero(targets != self._blanks)
        self._boards[self._every, self._blanks] = self._boards[self._every, targets]
        self._boards[self._every, targets] = 0
        self._blanks = targets
        self._steps += playing
        self._measure(moved)
        rewards: npt.NDArray[np.float64] = np.where(playing, -1.0, 0.0)
        if self._puzzle.shaped:
            rewards += before - self._distances
        return rewards

    def _measure(self, indices: npt.NDArray[np.intp]) -> None:
        if self._puzzle.has_distances and len(indices):
            self._distances[indices] = self._puzzle.distances(self._boards[indices])

    def _restart(self) -> dict[str, Any]:
        """Begin the next episodes in the last step. Returns what the infos say of the ends."""
        over = self._over.copy()
        final = np.full(self.num_envs, None, dtype=object)
        observations = self._puzzle.observations(self._boards)
        for index in np.flatnonzero(over):
            final[index] = observations[index]
        infos = {"final_obs": final, "_final_obs": over, "final_info": self._infos(over), "_final_info": over.copy()}
        self._begin(np.flatnonzero(over), self.length, None)
        return infos

    def _infos(self, mask: _Flags) -> dict[str, Any]:
        """Return the infos of some boards; the entries of the others are 0."""
        legal = (self._puzzle.legal[self._blanks] & mask[:, None]).astype(np.int8)
        infos: dict[str, Any] = {"action_mask": legal, "_action_mask": mask.copy()}
        if self._puzzle.has_distances:
            infos |= {"distance": np.where(mask, self._distances, 0), "_distance": mask.copy()}
        return infos
