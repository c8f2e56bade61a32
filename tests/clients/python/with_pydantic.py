"""Models of datamodel-code-generator, requests of httpx."""

import sys
from collections.abc import Iterator

import httpx
from events import events
from pydantic import BaseModel, TypeAdapter
from taquin_models import (
    AlgorithmChoice,
    BatchBoard,
    BatchRow,
    BatchSummary,
    CompareBody,
    CompareReply,
    Direction,
    HintBody,
    HintReply,
    Job,
    JobRequest,
    JobRowSolved,
    JobState,
    MethodFailed,
    MethodInput,
    MethodSolved,
    NotSolvedProblem,
    Overloaded,
    RandomReply,
    ReachedLimit,
    Recipe,
    RequestedLimits,
    RowSolved,
    SolutionEvent,
    SolveBody,
    SolveReply,
    UnavailableProblem,
    Unsolvable,
    VerifyBody,
    VerifyReply,
)

client = httpx.Client(base_url=sys.argv[1])


def post(path: str, body: BaseModel) -> httpx.Response:
    """Sends the fields of a body that are set."""
    return client.post(path, json=body.model_dump(mode="json", exclude_unset=True))


# Solve.
response = post("/solve", SolveBody(board="8 6 7/2 5 4/3 0 1", algorithm=AlgorithmChoice.astar))
solution = SolveReply.model_validate_json(response.content)
assert solution.length == 31

# Hint and verify.
response = post("/hint", HintBody(board=[[1, 2, 3], [4, 5, 6], [0, 7, 8]]))
assert HintReply.model_validate_json(response.content).move is Direction.R
response = post("/verify", VerifyBody(board="123456078", moves="RR"))
assert VerifyReply.model_validate_json(response.content).optimal

# Compare.
methods = [
    MethodInput(algorithm=AlgorithmChoice.breadth_first),
    MethodInput(algorithm=AlgorithmChoice.depth_first, depth_limit=1),
]
response = post("/compare", CompareBody(board="123456078", methods=methods))
first, second = CompareReply.model_validate_json(response.content).results
assert isinstance(first, MethodSolved)
assert first.length == 2
assert isinstance(second, MethodFailed)
assert second.problem.limit is ReachedLimit.depth

# Handle a problem.
response = post("/solve", SolveBody(board=[[1, 2, 3], [4, 5, 6], [8, 7, 0]]))
assert response.status_code == 422
problem = TypeAdapter(NotSolvedProblem).validate_json(response.content)
assert isinstance(problem, Unsolvable)
assert problem.inversions == 1


def watch(body: SolveBody) -> Iterator[SolutionEvent | SolveReply]:
    """Yields each better solution, and the result at the end."""
    fields = body.model_dump(mode="json", exclude_unset=True)
    with client.stream("POST", "/solve", json=fields, headers={"Accept": "text/event-stream"}) as stream:
        for event, data in events(stream.iter_lines()):
            if event == "solution":
                yield SolutionEvent.model_validate(data)
            elif event == "result":
                yield SolveReply.model_validate(data)


# Watch a search.
assert [found.length for found in watch(SolveBody(board="8 6 7/2 5 4/3 0 1"))] == [31, 31]

# Solve many boards.
boards = [BatchBoard(id="a", board="867254301"), BatchBoard(id="b", board="123456870")]
body = "".join(board.model_dump_json(exclude_unset=True) + "\n" for board in boards)
response = client.post("/batch", content=body, headers={"Content-Type": "application/x-ndjson"})
*rows, last = response.text.splitlines()
assert BatchSummary.model_validate_json(last).summary.solved == 1
for row in map(TypeAdapter(BatchRow).validate_json, rows):
    if isinstance(row, RowSolved):
        assert (row.id, row.length) == ("a", 31)
    else:
        assert (row.id, row.problem.type) == ("b", "/problems/unsolvable")

# Solve boards in the background.
recipe = Recipe(rows=3, cols=3, seed="client", count=1000)
job = Job.model_validate_json(post("/jobs", JobRequest(random=recipe)).content)
while job.ended_at is None:
    response = client.get(f"/jobs/{job.id}", headers={"Prefer": "wait=20"}, timeout=30)
    job = Job.model_validate_json(response.content)
assert job.state is JobState.completed
lines = client.get(f"/jobs/{job.id}/results").text.splitlines()
lengths = [JobRowSolved.model_validate_json(line).length for line in lines]
assert len(lengths) == 1000 and max(lengths) <= 31

# A busy service.
response = client.get("/random", params={"rows": 10, "cols": 10, "seed": "taquin"})
drawn = RandomReply.model_validate_json(response.content)
search = watch(SolveBody(board=drawn.board, goal=drawn.goal, limits=RequestedLimits(time_ms=5000)))
assert isinstance(next(search), SolutionEvent)
refusal = post("/solve", SolveBody(board=drawn.goal, goal=drawn.board))
assert isinstance(TypeAdapter(UnavailableProblem).validate_json(refusal.content), Overloaded)
