"""Published sets of boards, and labels from the files of jobs.

>>> import taquin
>>> korf = taquin.data.korf15()
>>> taquin.distances(korf.boards[:3], korf.goal).tolist()
[57, 55, 59]

Sets: ``korf15``, ``korf24``, ``deepcubea``. Files: ``read_parts``.
"""

from ._parts import Labels, read_parts
from ._sets import BoardSet, deepcubea, korf15, korf24

# Messages name the classes as programs do.
for _class in (BoardSet, Labels):
    _class.__module__ = __name__

__all__ = ["BoardSet", "Labels", "deepcubea", "korf15", "korf24", "read_parts"]
