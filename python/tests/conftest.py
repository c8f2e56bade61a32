"""The tests run against the installed package, not against the sources beside them."""

from pathlib import Path

import taquin

assert Path(__file__).parents[1] not in Path(taquin.__file__).parents, "the package is not installed"
