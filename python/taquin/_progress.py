"""Progress bars."""

from __future__ import annotations

from typing import Protocol


class Bar(Protocol):
    """A progress bar."""

    def update(self, n: int, /) -> object:
        """Add the number of boards done since the last call."""

    def close(self) -> object:
        """End the bar."""


class _Nothing:
    """Shows nothing."""

    def update(self, n: int, /) -> None:
        pass

    def close(self) -> None:
        pass


def bar(total: int) -> Bar:
    """Return a bar of tqdm, or one that shows nothing if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415
    except ImportError:
        return _Nothing()
    progress: Bar = tqdm(total=total, unit=" boards")
    return progress
