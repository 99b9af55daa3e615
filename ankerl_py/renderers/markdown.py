"""nanobench's table in Markdown: whole, or row by row while the benchmarks run."""

from __future__ import annotations

import os
import threading
import weakref
from itertools import groupby
from typing import TYPE_CHECKING

from ankerl_py.errors import OutputError
from ankerl_py.renderers.cells import (
    code_span,
    display_width,
    missing_cell,
    plain_text,
    separator_cell,
    value_cell,
    visible_text,
)
from ankerl_py.renderers.columns import TableColumn, TableShape, table_rows
from ankerl_py.renderers.remarks import Code, remark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ankerl_py.renderers.columns import TableRow
    from ankerl_py.results.result import Result
    from ankerl_py.typing import TextStream

__all__ = [
    "TableWriter",
    "header",
    "html_table",
    "markdown_table",
    "row",
    "table_writer",
]

_EMOJI = {"boom": "\N{COLLISION SYMBOL}", "wavy_dash": "\N{WAVY DASH}"}

_MAX_STRONG = 16
"""So many streams are kept alive at most, of those that cannot be referred to weakly."""


def header(shape: TableShape) -> str:
    """Write the header of a table.

    Args:
        shape: The shape of the table.

    Returns:
        Two lines, each with its line break.
    """
    title = plain_text(shape.title)
    titles = [value_cell(plain_text(column.title), column.width) for column in shape.columns]
    separators = [separator_cell(column.width) for column in shape.columns]
    dashes = "-" * (display_width(title) + 1)
    return f"{''.join(titles)}| {title}\n{''.join(separators)}|:{dashes}\n"


def row(
    shape: TableShape,
    result: Result,
    baseline: Result | None,
    *,
    suppress_warnings: bool = False,
) -> str:
    """Write one row of a table.

    Args:
        shape: The shape of the table.
        result: What the row is about. A failed result has no figures.
        baseline: What it is relative to; None if there is nothing but itself.
        suppress_warnings: Do not mark results as unstable.

    Returns:
        One line, with its line break.
    """
    cells = [_cell(column, result, baseline) for column in shape.columns]
    return f"{''.join(cells)}| {_benchmark(result, suppress_warnings)}\n"


def markdown_table(results: Iterable[Result], *, suppress_warnings: bool = False) -> str:
    """Write finished results as tables.

    Args:
        results: The results in order, of any titles and settings.
        suppress_warnings: Do not mark results as unstable.

    Returns:
        Markdown: one table, or several with empty lines between them if the shape changes.
        Empty if there are no results.
    """
    return "\n".join(
        header(shape)
        + "".join(
            row(shape, each.result, each.baseline, suppress_warnings=suppress_warnings)
            for each in rows
        )
        for shape, rows in groupby(table_rows(results), key=_shape)
    )


def html_table(results: Iterable[Result], *, suppress_warnings: bool = False) -> str:
    """Write finished results as tables in HTML.

    Args:
        results: The results in order, of any titles and settings.
        suppress_warnings: Do not mark results as unstable.

    Returns:
        One ``<table>``, or several if the shape changes. Empty if there are no results.
    """
    from tabulate import tabulate  # noqa: PLC0415 (only needed here, and not quickly imported)

    return "\n".join(
        str(
            tabulate(
                [_html_cells(each, suppress_warnings) for each in rows],
                headers=[
                    *(_html_text(column.title) for column in shape.columns),
                    _html_text(shape.title),
                ],
                tablefmt="unsafehtml",  # all texts are escaped already
                disable_numparse=True,
                colalign=["right"] * len(shape.columns) + ["left"],
            )
        )
        for shape, rows in groupby(table_rows(results), key=_shape)
    )


def _shape(each: TableRow) -> TableShape:
    return each.shape


def _cell(column: TableColumn, result: Result, baseline: Result | None) -> str:
    text = None if result.overflowed else column.text(result, baseline)
    if text is None:
        return missing_cell(column.width)
    return value_cell(plain_text(text), column.width)


def _benchmark(result: Result, suppress_warnings: bool) -> str:
    """Write the last cell: the name of the benchmark and what is to be said about it."""
    said = remark(result, suppress_warnings=suppress_warnings)
    marker = f":{said.marker}: " if said.marker else ""
    note = "".join(
        code_span(part) if isinstance(part, Code) else plain_text(part) for part in said.note
    )
    return marker + code_span(result.name) + (f" ({note})" if note else "")


def _html_cells(each: TableRow, suppress_warnings: bool) -> list[str]:
    result = each.result
    texts = (
        None if result.overflowed else column.text(result, each.baseline)
        for column in each.shape.columns
    )
    cells = ["-" if text is None else _html_text(text) for text in texts]
    said = remark(result, suppress_warnings=suppress_warnings)
    marker = f"{_EMOJI[said.marker]} " if said.marker else ""
    note = "".join(map(_html_text, said.note))
    return [*cells, marker + _html_text(Code(result.name)) + (f" ({note})" if note else "")]


def _html_text(text: str) -> str:
    from html import escape  # noqa: PLC0415 (only needed here)

    escaped = escape(visible_text(text))
    return f"<code>{escaped}</code>" if isinstance(text, Code) else escaped


class _ShapesInForce:
    """The shape of the last header on each stream.

    Streams are told apart by identity: they may have odd ideas of equality, or no hash. They are
    not kept alive by this, so a stream that has the address of a dead one is not taken for it.
    """

    def __init__(self) -> None:
        self._weak: dict[int, tuple[Callable[[], object], TableShape]] = {}
        self._strong: dict[int, tuple[object, TableShape]] = {}

    def get(self, stream: object) -> TableShape | None:
        weak = self._weak.get(id(stream))
        if weak is not None and weak[0]() is stream:
            return weak[1]
        strong = self._strong.get(id(stream))
        return None if strong is None else strong[1]

    def set(self, stream: object, shape: TableShape) -> None:
        key, entries = id(stream), self._weak

        def forget(dead: object) -> None:
            # Without a lock, for it can be called at any time. The address cannot be in use
            # again before this returns.
            entry = entries.get(key)
            if entry is not None and entry[0] is dead:
                del entries[key]

        try:
            entries[key] = (weakref.ref(stream, forget), shape)
        except TypeError:
            # As long as it is kept alive its address is its own. Not for ever, though: at worst,
            # a header comes once more than needed.
            self._strong[key] = (stream, shape)
            if len(self._strong) > _MAX_STRONG:
                del self._strong[next(iter(self._strong))]

    def discard(self, stream: object) -> None:
        self._weak.pop(id(stream), None)
        self._strong.pop(id(stream), None)


class TableWriter:
    """Writes tables row by row, with a header whenever the shape of a stream's table changes.

    It can be used by several threads: rows stay whole lines, under the header that is theirs.
    """

    def __init__(self) -> None:
        self._shapes = _ShapesInForce()
        self.renew_lock()

    def renew_lock(self) -> None:
        """Make a new lock. A forked process needs one: the old one may be held for ever."""
        # Reentrant, because the stream is anybody's code, and may run a benchmark.
        self._lock = threading.RLock()

    def write_result(
        self,
        stream: TextStream | None,
        result: Result,
        baseline: Result | None,
        *,
        suppress_warnings: bool = False,
    ) -> None:
        r"""Write the row of a result, behind an empty line and a header if one is needed.

        All of it is one call of ``write``, then the stream is flushed. Characters that the
        stream's encoding does not have are written as escapes such as ``\xb5``.

        Args:
            stream: Where to write; None: nowhere.
            result: The result. One without epochs that did not fail has no row.
            baseline: What it is relative to; None if there is nothing but itself.
            suppress_warnings: Do not mark the result as unstable.

        Raises:
            OutputError: The stream failed or is closed. The next row comes with a header.
        """
        if stream is None or (result.empty and not result.overflowed):
            return
        with self._lock:
            in_force = self._shapes.get(stream)
            shape = TableShape.of(result, in_force)
            text = line = row(shape, result, baseline, suppress_warnings=suppress_warnings)
            if shape != in_force:
                text = f"\n{header(shape)}{line}"
            # Whatever happens while writing, the header counts only if all went well.
            self._shapes.discard(stream)
            try:
                _write(stream, text)
            except Exception as error:
                raise _output_error(error, line) from error
            self._shapes.set(stream, shape)

    def write_text(self, stream: TextStream | None, text: str) -> None:
        """Write something that is no row, such as a comparison. The next row has a header.

        Args:
            stream: Where to write; None: nowhere.
            text: Whole lines.

        Raises:
            OutputError: The stream failed or is closed.
        """
        if stream is None or not text:
            return
        with self._lock:
            self._shapes.discard(stream)
            try:
                _write(stream, text)
            except Exception as error:
                raise _output_error(error, text) from error


table_writer = TableWriter()
"""The writer of this process: whoever shares a stream has to share the writer, too."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=table_writer.renew_lock)


def _write(stream: TextStream, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        stream.write(_representable(text, getattr(stream, "encoding", None)))
    flush = getattr(stream, "flush", None)
    if callable(flush):
        flush()


def _representable(text: str, encoding: object) -> str:
    """Replace those characters of a text by escapes that an encoding does not have."""
    if isinstance(encoding, str):
        try:
            replaced = text.encode(encoding, "backslashreplace").decode(encoding)
        except (LookupError, UnicodeError):
            pass
        else:
            if replaced != text:
                return replaced
    # The encoding is unknown, or it is not the one that failed.
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _output_error(error: Exception, line: str) -> OutputError:
    message = (
        f"cannot write to the output: {type(error).__name__}: {error} - the result is kept, this "
        f"{'row' if line.count(chr(10)) < 2 else 'text'} is lost: {line.strip()}"
    )
    errno = getattr(error, "errno", None)
    return OutputError(message) if errno is None else OutputError(errno, message)
