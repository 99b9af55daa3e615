"""Fits of growth models as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ankerl_py.renderers.cells import format_number
from ankerl_py.renderers.sheets import Sheet, Sheeted
from ankerl_py.results.big_o import Fits
from ankerl_py.results.measure import Measure

if TYPE_CHECKING:
    from ankerl_py.results.big_o import BigO

__all__ = ["BigOFits", "big_o_sheet"]

_WIDTHS = (16, 9)


@attrs.frozen(repr=False)
class BigOFits(Sheeted, Fits):
    """The fits of all models, best first, that print as a table. It is a sequence of `BigO`.

    ::

        fits = bench.complexity_big_o()
        print(fits)            # nanobench's table, and the verdict below it
        print(fits.verdict)    # such as "O(n log n) or O(n)"

    Attributes:
        fits: The fits, best first.
        points: What was fitted.
        measure: What was measured: times, or something else.
        shares: For each fit, in how large a share of all resamples it is the best one. Empty if
            unknown.
    """

    @property
    def table(self) -> str:
        """The table in Markdown, as nanobench prints it, behind an empty line."""
        return f"\n{big_o_sheet(self).markdown()}"

    def _sheet(self) -> Sheet:
        return big_o_sheet(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict}, from {len(self.points)} results>"


def big_o_sheet(fits: Fits) -> Sheet:
    """Arrange fits as a table.

    Args:
        fits: The fits.

    Returns:
        The table.
    """
    of = "" if fits.measure is Measure.ELAPSED else f" of {fits.measure}"
    return Sheet(
        ("coefficient", "err%", f"complexity{of}"),
        _WIDTHS,
        tuple(_row(each) for each in fits),
        tuple(
            {
                "complexity": each.name,
                "coefficient": each.constant,
                "error": each.normalized_root_mean_square,
                "share": share,
                "likely": each in fits.likely,
            }
            for each, share in zip(fits, fits.shares or (None,) * len(fits), strict=True)
        ),
        f"{fits.verdict}\n",
        left_mark="",
    )


def _row(each: BigO) -> tuple[str | None, ...]:
    if each.failure is not None:
        return None, None, f"{each.name} ({each.failure})"
    error = format_number(100.0 * each.normalized_root_mean_square, 1)
    return f"{each.constant:.7e}", f"{error}%", each.name
