"""Tables that are finished before they are shown: as Markdown, HTML, CSV, JSON, or by tabulate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from ankerl_py.errors import ConfigError
from ankerl_py.renderers.cells import (
    code_span,
    display_width,
    pad_left,
    plain_text,
    visible_text,
)
from ankerl_py.renderers.remarks import Code
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Cell: TypeAlias = str | tuple[str, ...] | None

__all__ = ["Sheet", "Sheeted", "written"]

_MISSING = "-"
_FRAME = 3
"""Columns of the terminal that a cell takes beside its text: bar and two spaces."""


@attrs.frozen
class Sheet:
    """A table as data. Its last column is aligned to the left, all others to the right."""

    titles: tuple[str, ...]
    """What stands above the columns, not escaped."""

    widths: tuple[int, ...]
    """Least widths of the columns but the last, with bar and spaces, as in nanobench's table."""

    rows: tuple[tuple[Cell, ...], ...]
    """The texts, not escaped; those that are `Code` are shown as such. A cell may have several
    parts. None: there is no such figure."""

    records: tuple[Mapping[str, Any], ...]
    """The same for programs: the raw values of each row, under names that are the same for all."""

    text_below: str = ""
    """What stands below the table: Markdown of some lines, or nothing."""

    left_mark: str = ":"
    """How Markdown says that the last column is aligned to the left, if it does."""

    def markdown(self) -> str:
        """Write the table, without the text below it.

        Returns:
            Lines, each with its line break. A column is as wide as its widest cell.
        """
        titles = tuple(plain_text(title) for title in self.titles)
        rows = [tuple(map(_markdown_cell, row)) for row in self.rows]
        widths = [
            max(least - _FRAME, *(display_width(row[i]) for row in [titles, *rows]))
            for i, least in enumerate(self.widths)
        ]
        rule = "".join(f"|{'-' * (width + 1)}:" for width in widths)
        dashes = "-" * (display_width(titles[-1]) + 2 - len(self.left_mark))
        lines = [_line(titles, widths), f"{rule}|{self.left_mark}{dashes}"]
        return "\n".join([*lines, *(_line(row, widths) for row in rows), ""])

    def html(self) -> str:
        """Write the table and the text below it as HTML."""
        from html import escape  # noqa: PLC0415 (only needed here)

        from tabulate import tabulate  # noqa: PLC0415 (only needed here, and slow to import)

        def html(text: str) -> str:
            escaped = escape(visible_text(text))
            return f"<code>{escaped}</code>" if isinstance(text, Code) else escaped

        table = tabulate(
            [["".join(map(html, _parts(cell))) for cell in row] for row in self.rows],
            headers=list(map(html, self.titles)),
            tablefmt="unsafehtml",  # all texts are escaped already
            disable_numparse=True,
            colalign=["right"] * len(self.widths) + ["left"] if self.rows else None,
        )
        below = f"\n<pre>{escape(self.text_below)}</pre>" if self.text_below else ""
        return f"{table}{below}"


def _parts(cell: Cell) -> tuple[str, ...]:
    if cell is None:
        return (_MISSING,)
    return cell if isinstance(cell, tuple) else (cell,)


def _markdown_cell(cell: Cell) -> str:
    return "".join(
        code_span(part) if isinstance(part, Code) else plain_text(part) for part in _parts(cell)
    )


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = [f"| {pad_left(cell, width)} " for cell, width in zip(cells, widths, strict=False)]
    return f"{''.join(padded)}| {cells[-1]}"


def written(sheet: Sheet, text_format: str) -> str:
    """Write a table in any format.

    Args:
        sheet: The table.
        text_format: ``"markdown"``, ``"html"``, ``"csv"``, ``"json"``, or a format of tabulate,
            such as ``"rst"`` or ``"latex"``. CSV and JSON have raw values, and no texts about them.

    Returns:
        The text.

    Raises:
        ConfigError: There is no such format.
    """
    if text_format == "markdown":
        below = f"\n{sheet.text_below}" if sheet.text_below else ""
        return sheet.markdown() + below
    if text_format == "html":
        return sheet.html()
    if text_format == "csv":
        return _csv(sheet)
    if text_format == "json":
        return _json(sheet)
    return _tabulated(sheet, text_format)


class Sheeted:
    """Values that are shown as one table, in any format and in a notebook."""

    __slots__ = ()

    def _sheet(self) -> Sheet:
        raise NotImplementedError

    def render(self, text_format: str = "markdown") -> str:
        """Write the table in any format.

        Args:
            text_format: ``"markdown"``, ``"html"``, ``"csv"``, ``"json"``, or a format of tabulate.

        Returns:
            The text.

        Raises:
            ConfigError: There is no such format.
        """
        return written(self._sheet(), text_format)

    def __str__(self) -> str:
        return f"\n{self.render()}"

    def _repr_markdown_(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


def _csv(sheet: Sheet) -> str:
    import csv  # noqa: PLC0415 (only needed here)
    import io  # noqa: PLC0415

    text = io.StringIO()
    names = list(sheet.records[0]) if sheet.records else []
    # All texts in quotes: if only those that need it, a lone carriage return would be left bare.
    writer = csv.DictWriter(text, names, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(sheet.records)
    return text.getvalue()


def _json(sheet: Sheet) -> str:
    import json  # noqa: PLC0415 (only needed here)

    # JSON has no infinity.
    records = [
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in record.items()
        }
        for record in sheet.records
    ]
    return json.dumps(records, indent=1, allow_nan=False) + "\n"


def _tabulated(sheet: Sheet, text_format: str) -> str:
    from tabulate import tabulate, tabulate_formats  # noqa: PLC0415 (slow to import)

    if text_format not in tabulate_formats:
        known = ", ".join(["markdown", "html", "csv", "json", *tabulate_formats])
        raise ConfigError(f"format: {shown(text_format)} is not known - there are {known}")
    rows = [[visible_text("".join(_parts(cell))) for cell in row] for row in sheet.rows]
    table = tabulate(
        rows,
        headers=list(map(visible_text, sheet.titles)),
        tablefmt=text_format,
        disable_numparse=True,
        colalign=["right"] * len(sheet.widths) + ["left"] if rows else None,
    )
    return f"{table}\n"
