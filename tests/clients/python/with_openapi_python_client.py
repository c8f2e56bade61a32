"""A client of openapi-python-client."""

import sys
from collections.abc import Iterator

from events import events
from taquin_client import Client
from taquin_client.api.puzzles import compare, hint, random, solve, verify
from taquin_client.models import (
    AlgorithmChoice,
    CompareBody,
    CompareReply,
    Direction,
    HintBody,
    HintReply,
    MethodFailed,
    MethodInput,
    MethodSolved,
    Overloaded,
    RandomBody,
    RandomReply,
    ReachedLimit,
    RequestedLimits,
    SolutionEvent,
    SolveBody,
    SolveReply,
    Unsolvable,
    VerifyBody,
    VerifyReply,
)

client = Client(base_url=sys.argv[1])

# Solve.
solution = solve.sync(client=client, body=SolveBody(board="8 6 7/2 5 4/3 0 1", algorithm=AlgorithmChoice.ASTAR))
assert isinstance(solution, SolveReply)
assert solution.length == 31

# Hint and verify.
next_move = hint.sync(client=client, body=HintBody(board=[[1, 2, 3], [4, 5, 6], [0, 7, 8]]))
assert isinstance(next_move, HintReply)
assert next_move.move is Direction.R
verdict = verify.sync(client=client, body=VerifyBody(board="123456078", moves="RR"))
assert isinstance(verdict, VerifyReply)
assert verdict.optimal

# Compare.
methods = [
    MethodInput(algorithm=AlgorithmChoice.BREADTH_FIRST),
    MethodInput(algorithm=AlgorithmChoice.DEPTH_FIRST, depth_limit=1),
]
comparison = compare.sync(client=client, body=CompareBody(board="123456078", methods=methods))
assert isinstance(comparison, CompareReply)
first, second = comparison.results
assert isinstance(first, MethodSolved)
assert first.length == 2
assert isinstance(second, MethodFailed)
assert second.problem.limit is ReachedLimit.DEPTH

# Handle a problem.
problem = solve.sync(client=client, body=SolveBody(board=[[1, 2, 3], [4, 5, 6], [8, 7, 0]]))
assert isinstance(problem, Unsolvable)
assert problem.type_ == "/problems/unsolvable"
assert problem.inversions == 1


def watch(body: SolveBody) -> Iterator[SolutionEvent | SolveReply]:
    """Yields each better solution, and the result at the end."""
    headers = {"Accept": "text/event-stream"}
    with client.get_httpx_client().stream("POST", "/solve", json=body.to_dict(), headers=headers) as response:
        for event, data in events(response.iter_lines()):
            if event == "solution":
                yield SolutionEvent.from_dict(data)
            elif event == "result":
                yield SolveReply.from_dict(data)


# Watch a search.
assert [found.length for found in watch(SolveBody(board="8 6 7/2 5 4/3 0 1"))] == [31, 31]

# A busy service.
drawn = random.sync(client=client, body=RandomBody(rows=10, cols=10, seed="taquin"))
assert isinstance(drawn, RandomReply)
search = watch(SolveBody(board=drawn.board, goal=drawn.goal, limits=RequestedLimits(time_ms=5000)))
assert isinstance(next(search), SolutionEvent)
refusal = solve.sync_detailed(client=client, body=SolveBody(board=drawn.goal, goal=drawn.board))
assert isinstance(refusal.parsed, Overloaded)
assert int(refusal.headers["Retry-After"]) > 0
