"""Cells of a Markdown table: numbers, padding and escaping.

A cell is made of its bar, its content aligned to the right and one space: ``|   12.50 ``. Widths
are columns of a terminal and include bar and space. Content that does not fit is not cut.
"""

from __future__ import annotations

import re

__all__ = [
    "code_span",
    "display_width",
    "format_number",
    "group_thousands",
    "missing_cell",
    "pad_left",
    "plain_text",
    "separator_cell",
    "value_cell",
    "visible_text",
]

_MISSING = "-"

_SIGN_AND_DIGITS = re.compile(r"([+-]?)([0-9]+)")

# Control characters, what Unicode counts as line breaks, half a surrogate pair (which no encoding
# can write), and the marks that reverse the order of all the text behind them.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# A bar ends a cell, backticks make code, "<" before a letter makes a tag that is not shown. A
# backslash counts as itself except before punctuation; one at the end may come to stand there.
_MARKDOWN = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\Z)|[|`]|<(?=[A-Za-z/!?])")

_BACKTICKS = re.compile("`+")


def display_width(text: str) -> int:
    """Count the columns that a text takes on a terminal.

    Args:
        text: Text without control characters.

    Returns:
        The width: 2 for each wide character (East Asian, most emoji), 0 for marks that combine
        with the character before them and for invisible ones, 1 for all others.
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # noqa: PLC0415 (rarely needed)

    width = 0
    for char in text:
        # Vowels and finals of decomposed Hangul are no marks, but join the character before.
        if category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
            continue
        width += 2 if east_asian_width(char) in "WF" else 1
    return width


def pad_left(text: str, width: int) -> str:
    """Align a text to the right.

    Args:
        text: Text without control characters.
        width: Columns of the terminal to be filled.

    Returns:
        The text behind as many spaces as are missing, if any.
    """
    return " " * (width - display_width(text)) + text


def group_thousands(text: str, separator: str = ",") -> str:
    """Put a separator between each three digits of a number's whole part.

    Args:
        text: A number as text; other text is left as it is.
        separator: What to put there.

    Returns:
        The text with its leading run of digits, behind a sign if there is one, in groups.
    """
    match = _SIGN_AND_DIGITS.match(text)
    if match is None:
        return text
    sign, digits = match.groups()
    head = len(digits) % 3 or 3
    groups = [digits[:head], *(digits[i : i + 3] for i in range(head, len(digits), 3))]
    return sign + separator.join(groups) + text[match.end() :]


def format_number(value: float, precision: int) -> str:
    """Write a number in fixed notation with thousands separators.

    Args:
        value: Any float: ``inf`` and ``nan`` are written as such.
        precision: How many decimals.

    Returns:
        The text, correctly rounded from the exact binary value.
    """
    return group_thousands(f"{value:.{precision}f}")


def visible_text(text: str) -> str:
    r"""Write line breaks and other control characters as escapes such as ``\n``.

    Args:
        text: Any text.

    Returns:
        Text of one line, which every Unicode encoding can represent.
    """
    return _INVISIBLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def plain_text(text: str) -> str:
    r"""Escape a text for a cell of a Markdown table.

    Args:
        text: Any text.

    Returns:
        Markdown of one line that reads as that text: ``|`` and backticks become ``\|`` and
        ``\```, and nothing in it is taken for a tag. Emphasis is not escaped, because
        names_like_this are frequent and harmless.
    """
    return _MARKDOWN.sub(r"\\\g<0>", visible_text(text))


def code_span(text: str) -> str:
    r"""Write a text as code in a cell of a Markdown table.

    Args:
        text: Any text.

    Returns:
        A code span of one line. Its fence is longer than any run of backticks inside, and ``|``
        is ``\|``, which a table takes apart before it reads the code.
    """
    content = visible_text(text)
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(content)), default=0))
    # Markdown takes one space off if there is one at both ends (and something in between).
    needs_space = content.startswith("`") or content.endswith("`")
    if needs_space or (content[:1] == content[-1:] == " " and content.strip(" ")):
        content = f" {content} "
    return fence + content.replace("|", r"\|") + fence


def value_cell(content: str, width: int) -> str:
    """Make a cell that shows a value or a title.

    Args:
        content: The text, escaped where that is needed.
        width: Columns of the terminal that the cell should take.

    Returns:
        The cell, with its bar in front.
    """
    return f"|{pad_left(content, width - 2)} "


def missing_cell(width: int) -> str:
    """Make a cell for a value that does not exist.

    Args:
        width: Columns of the terminal that the cell should take.

    Returns:
        The cell, with its bar in front.
    """
    return value_cell(_MISSING, width)


def separator_cell(width: int) -> str:
    """Make the cell under a title, which aligns the column to the right.

    Args:
        width: Columns of the terminal that the cell should take.

    Returns:
        The cell, with its bar in front.
    """
    return f"|{'-' * (width - 2)}:"
