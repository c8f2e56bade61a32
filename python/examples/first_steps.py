"""One board: its solution, its moves, and why it is hard."""

import taquin

board = [[8, 6, 7], [2, 5, 4], [3, 0, 1]]

solution = taquin.solve(board)
assert solution.optimal
print(solution)  # <Solution: 31 moves, optimal, ...>
print("tiles to slide:", solution.tiles)
print("expanded:", solution.stats["expanded"])

for step, state in enumerate(solution.boards()[:3]):
    print(step, state.tolist())

for move in taquin.moves(board):
    print(move.move, move.tile, move.optimal_length, "optimal" if move.optimal else "")

# Other goals, and a heuristic of one's own choice.
print(taquin.distance("1 2 3/8 4 0/7 6 5", "snail"))
print(taquin.solve(board, algorithm="astar", heuristic="manhattan").stats["expanded"])

for estimate in taquin.explain(board)["heuristics"]:
    print(f"{estimate['name']:22} {estimate['h']}")

try:
    taquin.solve("1 2 3/4 5 6/8 7 0")
except taquin.UnsolvableError as error:
    print(error)
    print("reachable:", list(error.reachable_goals))

# A 24-puzzle: the best solution of a tenth of a second, and a proven lower bound.
large = taquin.solve(taquin.random_board(5, 5, seed="example"), time=0.1)
print(large.length, large.lower_bound)
