"""A table of the course project's kind: the CSV of `/compare`, read by pandas, against searches one by one."""

import sys
from io import StringIO

import httpx
import pandas as pd

METHODS = [
    {"algorithm": "astar", "heuristic": heuristic, "tie_breaking": "heap", "duplicate_detection": "parent"}
    for heuristic in ("hamming", "manhattan")
]
FIGURES = ["length", "expanded", "generated"]

client = httpx.Client(base_url=sys.argv[1])

# One request solves 100 boards by each method.
body = {"boards": {"count": 100, "seed": "course"}, "methods": METHODS}
response = client.post("/compare", json=body, headers={"Accept": "text/csv"}).raise_for_status()
table = pd.read_csv(StringIO(response.text)).set_index("heuristic")
assert list(table.index) == ["hamming", "manhattan"]
assert (table["solved"] == 100).all()
assert (table["optimal_share"] == 1).all()
assert (table["elapsed_us_mean"] > 0).all()

# Equal seeds draw equal boards.
boards = pd.read_json(StringIO(client.get("/random?count=100&seed=course").text), lines=True)["board"]
rows = []
for method in METHODS:
    for board in boards:
        solution = client.post("/solve", json={"board": board, **method}).raise_for_status().json()
        figures = {"length": solution["length"], **solution["search"]}
        rows.append({"heuristic": method["heuristic"], **{name: figures[name] for name in FIGURES}})
singles = pd.DataFrame(rows).groupby("heuristic")[FIGURES]
for statistic in ("mean", "median", "min", "max"):
    for name in FIGURES:
        expected = singles.agg(statistic)[name]
        pd.testing.assert_series_equal(table[f"{name}_{statistic}"], expected, check_names=False, check_dtype=False)
