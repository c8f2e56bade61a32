"""Checks that the readers of Parquet that people use read what the lines of the same rows say.

    check_parquet.py FILE.parquet|DIRECTORY FILE.ndjson [BOARDS.ndjson]

Both are outputs of `taquin batch` for the same boards: a Parquet file, or a directory of a data set with its card. If the
boards are the rows of an input, whose lines of output do not repeat them, the input is the third argument. Needs pyarrow,
polars, duckdb, datasets and pandas.
"""

import json
import pathlib
import sys
import tempfile

import datasets
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

# The type of each column in the words of each reader; `datasets` has the words of pyarrow.
TYPES = {
    "index": ("int64", polars.Int64, "BIGINT"),
    "id": ("string", polars.String, "VARCHAR"),
    "board": ("list<element: uint8 not null>", polars.List(polars.UInt8), "UTINYINT[]"),
    "length": ("int32", polars.Int32, "INTEGER"),
    "optimal": ("bool", polars.Boolean, "BOOLEAN"),
    "lower_bound": ("int32", polars.Int32, "INTEGER"),
    "moves": ("string", polars.String, "VARCHAR"),
    "next": ("uint8", polars.UInt8, "UTINYINT"),
    "expanded": ("int64", polars.Int64, "BIGINT"),
    "problem": ("string", polars.String, "VARCHAR"),
}


def expected(line, columns):
    """The row of Parquet that a line describes. A failed row has no label."""
    row = dict.fromkeys(columns) | {name: line[name] for name in columns if name in line}
    if row["board"] is not None:
        row["board"] = [tile for tiles in row["board"] for tile in tiles]
    # A line omits the bound that equals the length.
    if "lower_bound" in columns and "length" in line:
        row["lower_bound"] = line.get("lower_bound", line["length"])
    if "problem" in line and "problem" in columns:
        row["problem"] = line["problem"]
    return row


def with_board(index, line, given):
    """The line of output of a row of an input, with the index and the board that lines of recipes have."""
    board = given["board"] if isinstance(given, dict) else given
    return line | {"index": index, "board": board if "length" in line else None}


def with_problem(row):
    """The row with its problem as an object, since JSON has many texts of one."""
    return row | {"problem": json.loads(row["problem"])} if row.get("problem") else row


def compare(reader, rows, wanted):
    """Ends the check at the first row that differs."""
    rows = [with_problem(row) for row in rows]
    if len(rows) != len(wanted):
        sys.exit(f"{reader}: {len(rows)} rows instead of {len(wanted)}")
    for number, (row, want) in enumerate(zip(rows, wanted, strict=True)):
        if row != want:
            sys.exit(f"{reader}: row {number}:\n  {row}\n  {want}")
    print(f"dataset: {reader}: {len(rows)} rows, {', '.join(rows[0])}: ok")


def compare_types(reader, types, wanted):
    """Ends the check if a column has another type."""
    if types != wanted:
        sys.exit(f"{reader}: types {types} instead of {wanted}")


def pandas_rows(frame):
    """Rows of a frame whose types keep nulls, as lists and plain values."""
    return [
        {name: None if value is pandas.NA or value is None else value for name, value in row.items()}
        | {"board": None if row["board"] is None else [int(tile) for tile in row["board"]]}
        for row in frame.to_dict("records")
    ]


def check_files(files, wanted):
    """Checks the files with each reader."""
    columns = list(wanted[0])

    table = pyarrow.parquet.read_table(files)
    table.validate(full=True)
    types = {field.name: str(field.type) for field in table.schema}
    compare_types("pyarrow", types, {name: TYPES[name][0] for name in columns})
    compare(f"pyarrow {pyarrow.__version__}", table.to_pylist(), wanted)
    for file in files:
        metadata = pyarrow.parquet.read_metadata(file).metadata
        if "id" not in columns:
            json.loads(metadata[b"taquin.spec"])
        if not metadata[b"taquin.version"]:
            sys.exit(f"{file}: it does not say the version of the solver")

    frame = pandas.read_parquet(files, dtype_backend="numpy_nullable")
    compare(f"pandas {pandas.__version__}", pandas_rows(frame), wanted)

    frame = polars.read_parquet(files)
    compare_types("polars", dict(frame.schema), {name: TYPES[name][1] for name in columns})
    compare(f"polars {polars.__version__}", frame.to_dicts(), wanted)

    relation = duckdb.read_parquet(files)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    compare_types("duckdb", types, {name: TYPES[name][2] for name in columns})
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    compare(f"duckdb {duckdb.__version__}", rows, wanted)
    # A reader that skips row groups by their statistics finds what one that reads all does.
    longest = max(row["length"] or 0 for row in wanted)
    found = sorted(relation.filter(f"length = {longest}").project("index").fetchall())
    if found != [(row["index"],) for row in wanted if row["length"] == longest]:
        sys.exit(f"duckdb: rows of length {longest} are {found}")


def check_dataset(source, files, wanted, cache):
    """Checks the files, or the directory with its card, as `datasets` loads them."""
    if source.is_dir():
        dataset = datasets.load_dataset(str(source), split="train", cache_dir=cache)
    else:
        dataset = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache)
    types = {field.name: str(field.type) for field in dataset.features.arrow_schema}
    types["board"] = types["board"].replace("item: uint8", "element: uint8 not null")
    compare_types("datasets", types, {name: TYPES[name][0] for name in wanted[0]})
    compare(f"datasets {datasets.__version__}", dataset.to_list(), wanted)


def main():
    """Exits with 1 and the first difference."""
    source, lines, *boards = map(pathlib.Path, sys.argv[1:])
    files = [str(file) for file in sorted(source.glob("data-*.parquet"))] if source.is_dir() else [str(source)]
    columns = pyarrow.parquet.read_schema(files[0]).names
    lines = list(map(json.loads, lines.read_text(encoding="utf-8").splitlines()))
    for path in boards:
        given = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        lines = [with_board(*row) for row in zip(range(len(lines)), lines, given, strict=True)]
    wanted = [expected(line, columns) for line in lines]
    check_files(files, wanted)
    with tempfile.TemporaryDirectory() as cache:
        check_dataset(source, files, wanted, cache)


main()
