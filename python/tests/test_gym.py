"""The environments of Gymnasium."""

import importlib.util
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import taquin
import taquin.gym
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence

ID = "taquin/SlidingPuzzle-v0"
STEPS = {"U": (-1, 0), "L": (0, -1), "D": (1, 0), "R": (0, 1)}
GOAL_2X3 = [[0, 5, 4], [1, 2, 3]]


def slow_step(board, move):
    """Move the blank with lists; return None if the move is illegal."""
    board = [list(row) for row in board]
    row, col = next((r, c) for r, line in enumerate(board) for c, tile in enumerate(line) if tile == 0)
    row_after, col_after = row + STEPS[move][0], col + STEPS[move][1]
    if not (0 <= row_after < len(board) and 0 <= col_after < len(board[0])):
        return None
    board[row][col], board[row_after][col_after] = board[row_after][col_after], 0
    return board


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rows": 2, "cols": 2, "distance": False},
        {"rows": 10, "cols": 10, "goal": "snail"},
        {"rows": 4, "cols": 4, "length": (5, 8), "reward": "distance", "max_steps": 50},
        {"goal": GOAL_2X3, "observation": "one_hot", "render_mode": "ansi"},
    ],
)
def test_the_checker_has_no_warnings(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(ID, **options).unwrapped)


@pytest.mark.parametrize("rows", range(2, 11))
@pytest.mark.parametrize("cols", range(2, 11))
def test_masks_and_moves_of_every_shape_are_those_of_the_library(rows, cols):
    env = gymnasium.make(ID, rows=rows, cols=cols, distance=False)
    rng = np.random.default_rng(rows * cols)
    board, info = env.reset(seed=1)
    assert (board.shape, board.dtype) == ((rows, cols), np.uint8)
    for _ in range(8):
        legal = {move.move: move.board for move in taquin.moves(board)} if rows * cols <= 9 else None
        after = {move: slow_step(board.tolist(), move) for move in "ULDR"}
        assert legal is None or legal == {move: board for move, board in after.items() if board}
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].tolist() == [int(after[move] is not None) for move in "ULDR"]
        assert env.unwrapped.action_masks().tolist() == [after[move] is not None for move in "ULDR"]
        action = env.action_space.sample(mask=info["action_mask"]) if rng.random() < 0.7 else rng.integers(4)
        expected = after["ULDR"[action]] or board.tolist()
        board, _, over, _, info = env.step(action)
        assert board.tolist() == expected
        if over:
            board, info = env.reset()


@pytest.mark.parametrize(
    ("options", "steps"),
    [({"rows": 3}, 300), ({"goal": GOAL_2X3}, 200), ({"rows": 4, "length": 15}, 40), ({"rows": 3, "cols": 4}, 15)],
)
@pytest.mark.parametrize("reward", ["step", "distance"])
def test_the_distance_changes_by_one_and_is_optimal(options, steps, reward):
    env = gymnasium.make(ID, **options, reward=reward)
    goal = options.get("goal")
    board, info = env.reset(seed=3)
    assert info["distance"] == taquin.distance(board, goal) > 0
    for action in np.random.default_rng(4).integers(4, size=steps):
        before, legal = info["distance"], info["action_mask"][action]
        board, value, terminated, truncated, info = env.step(action)
        assert info["distance"] == taquin.distance(board, goal)
        assert abs(info["distance"] - before) == legal
        assert value == -1 + (before - info["distance"] if reward == "distance" else 0)
        assert terminated == (info["distance"] == 0)
        assert not truncated
        if terminated:
            board, info = env.reset()


@pytest.mark.parametrize("reward", ["step", "distance"])
def test_a_solution_ends_at_the_goal_with_the_best_return(reward):
    env = gymnasium.make(ID, rows=4, cols=4, length=18, reward=reward, goal="snail")
    board, _ = env.reset(seed=5)
    solution = taquin.solve(board, "snail")
    results = [env.step("ULDR".index(move)) for move in solution.moves]
    assert [terminated for _, _, terminated, _, _ in results] == [False] * 17 + [True]
    assert sum(value for _, value, _, _, _ in results) == (-18 if reward == "step" else 0)
    assert results[-1][0].tolist() == solution.goal
    with pytest.raises(ResetNeeded):
        env.unwrapped.step(0)


def test_starts_have_their_lengths():
    env = taquin.gym.SlidingPuzzleEnv(3, length=(4, 6))
    env.reset(seed=1)
    assert {env.reset()[1]["distance"] for _ in range(100)} == {4, 5, 6}
    assert env.reset(options={"length": 31})[1]["distance"] == 31
    assert env.reset()[1]["distance"] <= 6
    env.length = 9
    assert env.reset()[1]["distance"] == 9
    gymnasium.wrappers.RecordEpisodeStatistics(env).set_wrapper_attr("length", 8)
    assert env.reset()[1]["distance"] == 8
    env.length = None
    assert max(env.reset()[1]["distance"] for _ in range(20)) > 9
    assert taquin.gym.SlidingPuzzleEnv(4, length=30).reset(seed=1)[1]["distance"] == 30
    # Half of the boards of one move, and never the goal.
    small = taquin.gym.SlidingPuzzleEnv(2, length=(1, 6))
    every = {small.reset(seed=seed)[0].tobytes() for seed in range(200)}
    assert (
        len(every) == len({taquin.gym.SlidingPuzzleEnv(2).reset(seed=seed)[0].tobytes() for seed in range(200)}) == 11
    )


def test_a_start_can_be_given():
    env = taquin.gym.SlidingPuzzleEnv(3)
    for board in ("8 6 7/2 5 4/3 0 1", [[8, 6, 7], [2, 5, 4], [3, 0, 1]]):
        observation, info = env.reset(options={"board": board})
        assert observation.tolist() == [[8, 6, 7], [2, 5, 4], [3, 0, 1]]
        assert info["distance"] == 31
    with pytest.raises(taquin.UnsolvableError):
        env.reset(options={"board": "1 2 3/4 5 6/8 7 0"})
    with pytest.raises(taquin.BoardError):
        env.reset(options={"board": "1 2/3 0"})
    with pytest.raises(ValueError, match="must not be the goal"):
        env.reset(options={"board": "1 2 3/4 5 6/7 8 0"})


def test_equal_seeds_give_equal_episodes():
    def play(env, seed):
        first, _ = env.reset(seed=seed)
        return [first.tolist()] + [env.reset()[0].tolist() for _ in range(5)]

    for options in ({"rows": 3}, {"rows": 3, "length": 12}, {"rows": 4, "length": (1, 20)}, {"rows": 7}):
        one, two = (gymnasium.make(ID, **options) for _ in range(2))
        assert play(one, 7) == play(two, 7) == play(one, 7) != play(one, 8)


def test_truncation():
    env = taquin.gym.SlidingPuzzleEnv(3, length=20, max_steps=3)
    env.reset(seed=1)
    assert [env.step(0)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(options={"length": 1})
    move = taquin.solve(env.reset(options={"length": 3})[0]).moves
    assert [env.step("ULDR".index(letter))[2:4] for letter in move][-1] == (True, False)


def test_observations_as_one_hot():
    env = taquin.gym.SlidingPuzzleEnv(3, 4, observation="one_hot", distance=False)
    observation, info = env.reset(seed=2)
    board, _ = taquin.gym.SlidingPuzzleEnv(3, 4).reset(seed=2)
    assert (observation.shape, observation.dtype) == ((3, 4, 12), np.uint8)
    assert (observation.argmax(axis=2) == board).all()
    assert observation.sum() == 12
    assert "distance" not in info
    assert "distance" not in taquin.gym.SlidingPuzzleEnv(5).reset(seed=1)[1]


def test_pictures():
    env = taquin.gym.SlidingPuzzleEnv(3, 4, render_mode="ansi")
    board, _ = env.reset(seed=1)
    assert taquin.solve(env.render()).start == board.tolist()
    env = taquin.gym.SlidingPuzzleEnv(10, render_mode="rgb_array")
    board, _ = env.reset(seed=1)
    picture = env.render()
    assert (picture.shape, picture.dtype) == ((320, 320, 3), np.uint8)
    cells = picture.reshape(10, 32, 10, 32, 3).swapaxes(1, 2).reshape(100, -1)
    blank = int(board.ravel().argmin())
    assert len(np.unique(cells, axis=0)) == 100
    assert (cells[blank] == 221).all()
    env.step(env.action_masks().argmax())
    assert not (env.render() == picture).all()
    with pytest.warns(UserWarning, match="needs a render mode"):
        env = taquin.gym.SlidingPuzzleEnv(3)
        env.reset()
        env.render()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 11}, "from 2 to 10"),
        ({"rows": 3, "goal": [[1, 2, 3], [4, 5, 0]]}, "contradicts"),
        ({"rows": 3, "goal": "snale"}, "did you mean `snail`"),
        ({"length": 0}, "at least 1"),
        ({"length": (5, 2)}, "at least 1"),
        ({"length": 1.5}, "at least 1"),
        ({"length": 40}, "lengths range from 0 to 31"),
        ({"rows": 5, "length": 4}, "up to 16 cells"),
        ({"rows": 5, "reward": "distance"}, "at most 16 cells"),
        ({"reward": "distance", "distance": False}, "needs distance=True"),
        ({"reward": "sparse"}, "not 'sparse'"),
        ({"observation": "image"}, "not 'image'"),
        ({"max_steps": 0}, "at least 1"),
        ({"render_mode": "human"}, "not 'human'"),
    ],
)
def test_wrong_arguments(options, message):
    for environment in (taquin.gym.SlidingPuzzleEnv, taquin.gym.SlidingPuzzleVectorEnv):
        with pytest.raises(ValueError, match=message):
            environment(**options)


def test_wrong_calls():
    env = taquin.gym.SlidingPuzzleEnv(3)
    with pytest.raises(ResetNeeded):
        env.step(0)
    with pytest.raises(ValueError, match="no option 'lenght'"):
        env.reset(options={"lenght": 3})
    env.reset()
    for action in (-1, 4):
        with pytest.raises(ValueError, match="an action is"):
            env.step(action)
    envs = taquin.gym.SlidingPuzzleVectorEnv(2, 3)
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(2, dtype=int))
    envs.reset()
    for actions in (np.zeros(3, dtype=int), np.zeros(2), np.array([0, 4])):
        with pytest.raises(ValueError, match="action"):
            envs.step(actions)
    for wrong in ({"seed": [1]}, {"options": {"boards": []}}, {"options": {"reset_mask": [False, False]}}):
        with pytest.raises(ValueError, match=r"environments|at least one True"):
            envs.reset(**wrong)


def pair(count, mode, **options):
    """Return the vector environment and its twin of single environments."""
    one = gymnasium.make_vec(ID, count, autoreset_mode=mode, **options)
    twin = gymnasium.make_vec(ID, count, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options)
    assert isinstance(one, taquin.gym.SlidingPuzzleVectorEnv)
    return one, twin


@pytest.mark.parametrize("mode", list(gymnasium.vector.AutoresetMode))
@pytest.mark.parametrize(
    "options",
    [
        {"rows": 2, "cols": 3, "max_steps": 9, "reward": "distance"},
        {"rows": 3, "length": (1, 4), "max_steps": 20, "observation": "one_hot"},
        {"rows": 3, "cols": 4, "length": 2, "goal": "snail", "max_steps": 5},
        {"rows": 6, "max_steps": 7},
    ],
)
def test_a_vector_is_equal_to_single_environments(mode, options):
    count, steps = 12, 60
    one, twin = pair(count, mode, **options)
    for name in ("single_observation_space", "observation_space", "single_action_space", "action_space"):
        assert getattr(one, name) == getattr(twin, name)
    assert one.metadata["autoreset_mode"] is mode
    assert data_equivalence(one.reset(seed=5), twin.reset(seed=5), exact=True)
    rng, ends = np.random.default_rng(6), 0
    for _ in range(steps):
        actions = rng.integers(4, size=count)
        result = one.step(actions)
        assert data_equivalence(result, twin.step(actions), exact=True)
        assert one.observation_space.contains(result[0])
        assert (one.action_masks() == np.array(twin.call("action_masks"))).all()
        over = result[2] | result[3]
        ends += over.sum()
        if mode is gymnasium.vector.AutoresetMode.DISABLED and over.any():
            resets = [envs.reset(options={"reset_mask": over.copy()}) for envs in (one, twin)]
            assert data_equivalence(*resets, exact=True)
    assert ends >= count
    assert data_equivalence(one.reset(seed=list(range(count))), twin.reset(seed=list(range(count))), exact=True)


def test_calls_of_a_vector():
    envs = gymnasium.make_vec(ID, 3, rows=3, max_episode_steps=2, render_mode="ansi")
    boards = taquin.random_boards(3, 3, 3, length=(5, 9), seed=1)
    observations, infos = envs.reset(options={"boards": boards})
    assert (observations == boards).all()
    assert (infos["distance"] == taquin.distances(boards)).all()
    assert [taquin.solve(text).start for text in envs.render()] == boards.tolist()
    assert envs.step(np.zeros(3, dtype=int))[3].tolist() == [False] * 3
    assert envs.step(np.zeros(3, dtype=int))[3].tolist() == [True] * 3
    envs.length = 4
    observations, rewards, *_, infos = envs.step(np.zeros(3, dtype=int))
    assert rewards.tolist() == [0, 0, 0]
    assert infos["distance"].tolist() == [4, 4, 4]
    kept = observations.copy()
    envs.step(infos["action_mask"].argmax(axis=1))
    assert (observations == kept).all()


def test_environments_can_be_copied_to_processes():
    env = taquin.gym.SlidingPuzzleEnv(3, length=8)
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    assert [env.reset()[0].tolist() for _ in range(3)] == [twin.reset()[0].tolist() for _ in range(3)]
    assert type(env).__module__ == "taquin.gym"


def test_an_import_finds_the_environment_by_its_name():
    code = (
        "import gymnasium; print(gymnasium.make('taquin.gym:taquin/SlidingPuzzle-v0', rows=2).reset(seed=1)[0].shape)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "(2, 2)\n"
    code = "import sys; sys.modules['gymnasium'] = None; import taquin; import taquin.gym"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: taquin.gym needs Gymnasium; install it with `pip install taquin[gym]`." in result.stderr


# The learner of the examples.


class Shuffled(taquin.gym.SlidingPuzzleVectorEnv):
    """Other moves for the actions, and masks that agree with them."""

    def _checked(self, actions):
        return np.array([1, 2, 3, 0])[actions]

    def _infos(self, mask):
        infos = super()._infos(mask)
        return {**infos, "action_mask": infos["action_mask"][:, [1, 2, 3, 0]]}


class WrongMask(taquin.gym.SlidingPuzzleVectorEnv):
    """Masks of the opposite moves."""

    def _infos(self, mask):
        infos = super()._infos(mask)
        return {**infos, "action_mask": infos["action_mask"][:, [2, 3, 0, 1]]}


class WrongReward(taquin.gym.SlidingPuzzleVectorEnv):
    """Rewards that praise detours."""

    def _move(self, actions, playing):
        return -super()._move(actions, playing)


class NoReward(taquin.gym.SlidingPuzzleVectorEnv):
    """No rewards."""

    def _move(self, actions, playing):
        return 0 * super()._move(actions, playing)


@pytest.fixture(scope="module")
def learner():
    spec = importlib.util.spec_from_file_location("learner", Path(__file__).parents[1] / "examples" / "learner.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("environment", "passes"),
    [
        (taquin.gym.SlidingPuzzleVectorEnv, True),
        (Shuffled, False),
        (WrongMask, False),
        (WrongReward, False),
        (NoReward, False),
    ],
)
def test_the_learner_passes_its_bound_only_in_a_right_environment(learner, environment, passes):
    envs = environment(256, 3, max_steps=4, distance=False)
    values = learner.learn(envs, range(1, 9), rounds=100)
    solved = [learner.share_solved(values, length, boards=40) for length in (2, 5, 8)]
    assert (min(solved) >= learner.BOUND) == passes, solved
