"""Environments for Gymnasium: ``pip install taquin[gym]``.

>>> import gymnasium
>>> import taquin.gym
>>> env = gymnasium.make("taquin/SlidingPuzzle-v0", rows=4, cols=4)
>>> envs = gymnasium.make_vec("taquin/SlidingPuzzle-v0", num_envs=64, rows=4, cols=4)

``SlidingPuzzleEnv`` has one board, ``SlidingPuzzleVectorEnv`` has many boards as one array. The rules are equal.
"""

try:
    import gymnasium
except ImportError as error:
    raise ImportError("taquin.gym needs Gymnasium; install it with `pip install taquin[gym]`.") from error

from ._env import SlidingPuzzleEnv
from ._vector import SlidingPuzzleVectorEnv

for _class in (SlidingPuzzleEnv, SlidingPuzzleVectorEnv):
    _class.__module__ = __name__

gymnasium.register(  # pyright: ignore[reportUnknownMemberType]
    id="taquin/SlidingPuzzle-v0",
    entry_point="taquin.gym:SlidingPuzzleEnv",
    vector_entry_point="taquin.gym:SlidingPuzzleVectorEnv",
)

__all__ = ["SlidingPuzzleEnv", "SlidingPuzzleVectorEnv"]
