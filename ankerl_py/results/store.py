"""The store that all benchmarks derived from one ``Bench()`` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ankerl_py.results.result import Result

__all__ = ["ResultStore"]


class ResultStore:
    """Results in the order in which they were stored. Nothing is ever removed.

    Any number of threads may append and read at the same time. A copy, by ``copy`` or ``pickle``,
    is a store of its own, with the same results to begin with.
    """

    # There is no lock, because one held by another thread during os.fork() would never be released
    # in the child. Instead, appending to a list is a single step that neither a thread nor Ctrl-C
    # can divide, and the baselines are derived from that list by steps that may be done twice.

    __slots__ = ("__weakref__", "_baselines", "_num_seen", "_results")

    def __init__(self, results: Iterable[Result] = ()) -> None:
        """Make a store.

        Args:
            results: What is in it at first.
        """
        self._results: list[Result] = list(results)
        self._baselines: dict[tuple[str, str], Result] = {}
        self._num_seen = 0  # so many results have been looked at for `_baselines`

    def append(self, result: Result) -> None:
        """Store one more result, in constant time.

        Args:
            result: The result.
        """
        self._results.append(result)

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        """Iterate over the results that are there now; later ones are not seen."""
        return iter(self.all)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} results>"

    def __reduce__(self) -> tuple[type[ResultStore], tuple[tuple[Result, ...]]]:
        return (type(self), (self.all,))

    @property
    def all(self) -> tuple[Result, ...]:
        """All results in order."""
        return tuple(self._results)

    def for_title(self, title: str) -> tuple[Result, ...]:
        """Give the results of one table.

        Args:
            title: The title of the table.

        Returns:
            The results with that title, in order. It takes time in proportion to all results.
        """
        return tuple(result for result in self.all if result.title == title)

    def baseline(self, title: str, unit: str) -> Result | None:
        """Find what the other results of a table are compared with.

        Args:
            title: The title of the table.
            unit: The unit that was measured.

        Returns:
            The first result of that title and unit that did not overflow, or None. Each result is
            looked at only once, so the time is constant on average.
        """
        results = self._results
        while (i := self._num_seen) < len(results):
            result = results[i]
            if not result.overflowed:
                self._baselines.setdefault((result.title, result.unit), result)
            # Not `+= 1`: if another thread was faster, the worst is that steps are done again.
            self._num_seen = i + 1
        return self._baselines.get((title, unit))
