"""Labels and boards from the files of a job. `docs/JOB_FILES.md` in the repository describes them byte by byte."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._errors import TaquinError
from .._taquin import random_boards

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

#: Magic number, SHA-256 of spec.json, chunk, first row, rows, columns, zeros.
_HEADER = struct.Struct("<8s32sQQIB3s")
#: Kind, width, zeros, CRC and length of a column.
_COLUMN = struct.Struct("<BBHIQ")
#: Magic number, first row, rows, rows and columns of a board, zeros, CRC of the boards, CRC of the bytes before.
_INPUT_HEADER = struct.Struct("<8sQIBBHII")
_STATUS, _LENGTH, _LOWER_BOUND, _NEXT, _EXPANDED, _MOVES = range(1, 7)
#: By kind of column: the bytes of a value; 0 if they vary.
_WIDTHS = {_STATUS: (1,), _LENGTH: (1, 2), _LOWER_BOUND: (1, 2), _NEXT: (1,), _EXPANDED: (8,), _MOVES: (0,)}
#: Rows of a part of an input; the last one has the rest.
_INPUT_ROWS = 65_536
_LETTERS = np.frombuffer(b"ULDR", dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Labels:
    """Rows of a job, in order. All arrays have the same number n of rows."""

    #: Index of each row in the job, from 0: int64, shape (n,).
    index: npt.NDArray[np.int64]
    #: The boards: uint8, shape (n, rows, cols). Rows that are no boards have 255 in each cell. None without spec.json.
    boards: npt.NDArray[np.uint8] | None
    #: Length of the shortest solution found, in moves of one tile; 0 if the row has no label: uint16, shape (n,).
    lengths: npt.NDArray[np.uint16]
    #: True if no solution is shorter: bool, shape (n,).
    optimal: npt.NDArray[np.bool_]
    #: Proven lower bound on the optimal length: uint16, shape (n,).
    lower_bounds: npt.NDArray[np.uint16]
    #: 0 for a solved board, 1 if its search failed, 2 for a row that is no board: uint8, shape (n,).
    status: npt.NDArray[np.uint8]
    #: Sum of all optimal first moves of the blank, U 1, L 2, D 4, R 8; 255 if unknown: uint8, shape (n,). None unless
    #: the job wants "next".
    next_moves: npt.NDArray[np.uint8] | None
    #: Number of expanded nodes: uint64, shape (n,). None unless the job wants "expanded".
    expanded: npt.NDArray[np.uint64] | None
    #: Moves of the blank, such as b"RULLDR": bytes, shape (n,). None unless the job wants "moves".
    moves: npt.NDArray[np.bytes_] | None
    #: The goal of all boards, as text. None without spec.json.
    goal: str | None


def read_parts(path: str | os.PathLike[str], *, boards: bool = True) -> Labels:
    """Read the labels of a job of the service, or of ``taquin batch -o DIR/``.

    Parameters
    ----------
    path : str or path
        The directory of the job, or one of its files ``parts/*.tqp``. All parts of a directory are read, also of a job
        that has not ended. For more rows than memory holds, read one part after another.
    boards : bool
        False for labels without boards. Random boards are not stored; they are drawn again.

    Returns
    -------
    Labels
        Arrays of shape (n,): ``index``, ``lengths``, ``optimal``, ``lower_bounds``, ``status``, and those that the job
        wants of ``next_moves``, ``expanded`` and ``moves``; ``boards``, of shape (n, rows, cols); ``goal``, a text.
        ``boards`` and ``goal`` are None for a part without the ``spec.json`` of its job, such as a downloaded one.

    Raises
    ------
    TaquinError
        If a file is damaged, or belongs to another job. The message names the file.
    OSError
        If a file cannot be read.

    """
    path = Path(path)
    is_job = path.is_dir()
    spec = (path if is_job else path.parent.parent) / "spec.json"
    files = sorted(path.glob("parts/*.tqp")) if is_job else [path]
    if not files:
        raise TaquinError(f"{path}: the directory has no file parts/*.tqp.")
    parts = [_read_part(file) for file in files]
    labels = parts[0].labels if len(parts) == 1 else _joined([part.labels for part in parts])
    if not is_job and not spec.is_file():
        return labels
    text = spec.read_bytes()
    for file, part in zip(files, parts, strict=True):
        if part.spec != sha256(text).digest():
            raise TaquinError(f"{file}: the part belongs to another job than {spec}.")
    job: dict[str, Any] = json.loads(text)
    labels = replace(labels, goal=job["goal"])
    if boards:
        found = [_boards(spec.parent, job, int(part.labels.index[0]), len(part.labels.index)) for part in parts]
        labels = replace(labels, boards=np.concatenate(found))
    return labels


def _joined(parts: list[Labels]) -> Labels:
    """Join the rows of parts of one job, which have the same columns."""
    columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(Labels)}
    joined: dict[str, Any] = {
        name: None if column[0] is None else np.concatenate(column) for name, column in columns.items()
    }
    return Labels(**joined)


class _Part(NamedTuple):
    #: SHA-256 of the spec.json of the job.
    spec: bytes
    #: Without boards and goal.
    labels: Labels


def _read_part(path: Path) -> _Part:
    """Read a part, and check its checksums."""
    data = path.read_bytes()
    if not data.startswith(b"TAQPART1"):
        raise TaquinError(f"{path}: the file is not a part of a taquin job.")
    try:
        _, spec, _, first, rows, columns, _ = _HEADER.unpack_from(data)
        entries = [_COLUMN.unpack_from(data, _HEADER.size + _COLUMN.size * column) for column in range(columns)]
        begin = _HEADER.size + _COLUMN.size * columns
        (crc,) = struct.unpack_from("<I", data, begin)
        if zlib.crc32(data[:begin]) != crc:
            raise ValueError("the checksum of the header differs")
        begin += 4
        found: dict[int, npt.NDArray[Any]] = {}
        for kind, width, _, crc, size in entries:
            column = memoryview(data)[begin : begin + size]
            if len(column) != size or zlib.crc32(column) != crc:
                raise ValueError(f"column {kind} is damaged")
            found[kind] = _values(column, kind, width, rows)
            begin += size
        if begin != len(data) or _LENGTH not in found:
            raise ValueError("the columns do not fit the header")
        return _Part(spec, _labels(first, rows, found))
    except (struct.error, ValueError) as error:
        raise TaquinError(f"{path}: the part is damaged: {error}.") from error


def _values(column: memoryview, kind: int, width: int, rows: int) -> npt.NDArray[Any]:
    """Return the values of a column. A byte of the column of moves has four moves."""
    if width not in _WIDTHS.get(kind, ()) or (width and len(column) != width * rows):
        raise ValueError(f"column {kind} has an unknown form")
    return np.frombuffer(column, dtype=f"<u{width or 1}")


def _labels(first: int, rows: int, columns: dict[int, npt.NDArray[Any]]) -> Labels:
    """Return the rows of a part. Columns that are not stored follow from others."""
    lengths = columns[_LENGTH].astype(np.uint16)
    lower_bounds = columns.get(_LOWER_BOUND, lengths).astype(np.uint16)
    status = columns.get(_STATUS, np.zeros(rows)).astype(np.uint8)
    next_moves, expanded, moves = (columns.get(kind) for kind in (_NEXT, _EXPANDED, _MOVES))
    return Labels(
        index=np.arange(first, first + rows, dtype=np.int64),
        boards=None,
        lengths=lengths,
        optimal=(lengths == lower_bounds) & (status == 0),
        lower_bounds=lower_bounds,
        status=status,
        next_moves=None if next_moves is None else next_moves.copy(),
        expanded=None if expanded is None else expanded.astype(np.uint64),
        moves=None if moves is None else _unpacked(moves, lengths),
        goal=None,
    )


def _unpacked(moves: npt.NDArray[np.uint8], lengths: npt.NDArray[np.uint16]) -> npt.NDArray[np.bytes_]:
    """Return the letters of moves that are packed four to a byte. Each row begins a new byte."""
    sizes = (lengths.astype(np.int64) + 3) // 4
    if sizes.sum() != len(moves):
        raise ValueError("the moves do not fit the lengths")
    letters = _LETTERS[(moves[:, None] >> np.arange(0, 8, 2, dtype=np.uint8)) & 3]
    # NumPy has no texts of length 0.
    columns = np.arange(4 * max(1, sizes.max(initial=0)))
    texts = np.zeros((len(lengths), len(columns)), dtype=np.uint8)
    texts[columns < 4 * sizes[:, None]] = letters.ravel()
    texts[columns >= lengths[:, None]] = 0
    return texts.view(f"S{len(columns)}").ravel()


def _boards(folder: Path, job: dict[str, Any], first: int, rows: int) -> npt.NDArray[np.uint8]:
    """Return boards of a job: drawn by its recipe, or read from its input."""
    recipe = job.get("random")
    if recipe is not None:
        sides = recipe["rows"], recipe["cols"]
        return random_boards(rows, *sides, goal=job["goal"], seed=recipe["seed"], start=first)
    sides = job["input"]["rows"], job["input"]["cols"]
    parts = range(first // _INPUT_ROWS, (first + rows - 1) // _INPUT_ROWS + 1)
    found = np.concatenate([_read_input(folder / f"input/{part:010}.tqb", sides, part) for part in parts])
    skipped = first - parts.start * _INPUT_ROWS
    return found[skipped : skipped + rows].reshape(rows, *sides)


def _read_input(path: Path, sides: tuple[int, int], part: int) -> npt.NDArray[np.uint8]:
    """Read a part of an input: uint8, shape (rows, cells)."""
    data = path.read_bytes()
    cells = sides[0] * sides[1]
    width = 8 if cells <= 16 else cells
    try:
        magic, first, rows, *header_sides, _, crc, header_crc = _INPUT_HEADER.unpack_from(data)
        boards = memoryview(data)[_INPUT_HEADER.size :]
        if magic != b"TAQINPT1" or zlib.crc32(data[: _INPUT_HEADER.size - 4]) != header_crc:
            raise ValueError("the checksum of the header differs")
        if zlib.crc32(boards) != crc:
            raise ValueError("the checksum of the boards differs")
        if (first, tuple(header_sides), len(boards)) != (part * _INPUT_ROWS, sides, rows * width):
            raise ValueError("the header does not fit the job")
    except (struct.error, ValueError) as error:
        raise TaquinError(f"{path}: the part of the input is damaged: {error}.") from error
    if width == cells:
        return np.frombuffer(boards, dtype=np.uint8).reshape(rows, cells)
    packed = np.frombuffer(boards, dtype="<u8")
    tiles = ((packed[:, None] >> np.arange(0, 4 * cells, 4, dtype=np.uint64)) & np.uint64(15)).astype(np.uint8)
    tiles[packed == np.iinfo(np.uint64).max] = 255
    return tiles
