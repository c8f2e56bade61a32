"""Methods side by side, as a table of pandas, and the tree of a search. Needs pandas."""

import taquin

boards: list[taquin.BoardLike] = ["8 6 7/2 5 4/3 0 1", [[3, 7, 8], [2, 0, 6], [4, 5, 1]], "1 2 3/4 5 6/8 7 0"]
methods: list[taquin.Method] = [
    "astar hamming",
    "astar manhattan",
    {"name": "patterns", "algorithm": "ida_star", "patterns": [[1, 2, 3, 4], [5, 6, 7, 8]]},
]
table = taquin.compare(boards, methods, max_expanded=100_000)
print(table[["index", "name", "length", "expanded", "generated", "seconds", "error"]])
assert table["error"].eq("unsolvable").sum() == len(methods)

solved = table[table["error"].isna()]
print(solved.groupby("name")[["expanded", "generated"]].mean())

tree: taquin.SearchTree = taquin.search_tree(
    "2 8 3/1 6 4/7 0 5", "1 2 3/8 6 4/7 5 0", algorithm="astar", heuristic="hamming"
)
print(tree)
for index in tree.path():
    node = tree.nodes[index]
    print(index, node.move, node.g, node.h, node.f)
