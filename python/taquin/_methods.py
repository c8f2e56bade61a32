"""Search methods: options of `solve`, and the names that ``POST /compare`` writes for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from ._errors import TaquinError
from ._types import Algorithm, DuplicateDetection, TieBreaking

if TYPE_CHECKING:
    from ._types import Method

#: Algorithms without a heuristic.
BLIND = frozenset({"breadth_first", "depth_first", "iterative_deepening", "constructive"})
#: Options that a name leaves out.
_DEFAULTS = {"tie_breaking": "low_h", "duplicate_detection": "closed", "successor_order": "ULDR", "weight": 1}
#: The sign before a weight.
_TIMES = "\N{MULTIPLICATION SIGN}"


class NamedMethod(NamedTuple):
    """A method as requested: "auto" for omitted names."""

    name: str
    algorithm: str
    heuristic: str | None
    #: Keyword arguments of `solve`.
    options: dict[str, Any]


def listed(methods: Method | Iterable[Method]) -> list[Method]:
    """Return the methods as a list. One method may stand for a list of one."""
    if isinstance(methods, (str, Mapping)):
        return [cast("Method", methods)]
    return list(methods)


def named(method: Method) -> NamedMethod:
    """Return a method with its name."""
    options = _options(method) if isinstance(method, str) else dict(method)
    name = options.pop("name", None)
    algorithm = options.get("algorithm") or "auto"
    heuristic = None if algorithm in BLIND else options.get("heuristic") or "auto"
    return NamedMethod(str(name or _name(algorithm, heuristic, options)), algorithm, heuristic, options)


def _name(algorithm: str, heuristic: str | None, options: Mapping[str, Any]) -> str:
    """Return the name that ``POST /compare`` writes, then the options that it does not take."""
    changed = {name: value for name, value in options.items() if value not in (None, _DEFAULTS.get(name))}
    names = ("tie_breaking", "duplicate_detection", "successor_order")
    words = [algorithm, heuristic or "", *(str(changed.get(name, "")) for name in names)]
    if "weight" in changed:
        words.append(f"{_TIMES}{changed['weight']:g}")
    if "depth_limit" in changed:
        words.append(f"to depth {changed['depth_limit']}")
    if "patterns" in changed:
        words.append("/".join(" ".join(map(str, pattern)) for pattern in changed["patterns"]))
    words += [str(changed.get(name, "")) for name in ("metric", "require")]
    return " ".join(word for word in words if word)


def _option(word: str, *, is_first: bool) -> tuple[str, Any]:
    """Return the option of a word, and its value. `solve` rejects an unknown algorithm or heuristic."""
    if is_first or (word in get_args(Algorithm) and word != "auto"):
        return "algorithm", word
    for name, words in (("tie_breaking", TieBreaking), ("duplicate_detection", DuplicateDetection)):
        if word in get_args(words):
            return name, word
    if re.fullmatch("[ULDR]{4}", word):
        return "successor_order", word
    if re.fullmatch(rf"[{_TIMES}x][\d.]+", word):
        return "weight", float(word[1:])
    if word.startswith("to-depth-"):
        return "depth_limit", int(word.removeprefix("to-depth-"))
    return "heuristic", word


def _options(words: str) -> dict[str, Any]:
    """Read a name, without patterns."""
    options: dict[str, Any] = {}
    for at, word in enumerate(re.sub(r"\bto depth (\d+)", r"to-depth-\1", words).split()):
        name, value = _option(word, is_first=at == 0)
        if name in options:
            raise TaquinError(f"The method {words!r} has two values of `{name}`: {options[name]} and {value}.")
        options[name] = value
    if not options:
        raise TaquinError('A method needs a name, such as "astar manhattan".')
    return options
