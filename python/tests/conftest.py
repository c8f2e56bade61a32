"""The tests run against the installed package, not against the sources beside them."""

from pathlib import Path

import taquin

SOURCES = Path(__file__).parents[1] / "taquin"
assert Path(taquin.__file__).parent != SOURCES, "the package is not installed"
