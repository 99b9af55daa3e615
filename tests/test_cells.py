"""Cells of the table: numbers, widths, escaping."""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ankerl_py.renderers.cells import (
    code_span,
    display_width,
    format_number,
    group_thousands,
    missing_cell,
    pad_left,
    plain_text,
    separator_cell,
    value_cell,
    visible_text,
)
from strategies import labels
from support import check_case, load_cases, number

# What the departures of number_format.json are instead.
BETTER = {
    "fmt-150-column": {"invalid": "|- "},
    "fmt-151-column": {"invalid": "|- "},
    "fmt-174-column-unicode": {"title": "|               µs/op "},
    "fmt-175-column-unicode-suffix": {"value": "|    1.50µs "},
    "fmt-178-text-column": {"invalid": "|- "},
    "fmt-181-text-column-unicode": {"title": "|       größe ", "value": "|       naïve "},
    "fmt-184-code": {"text": "`` ` ``"},
    "fmt-185-code": {"text": "``` `` ```"},
    "fmt-186-code": {"text": "``a `quoted` name``"},
    "fmt-187-code": {"text": r"`a\|b`"},
    "fmt-188-code": {"text": "`` ünï`cödé` ``"},
    "fmt-190-code": {"text": r"`line\nbreak`"},
    "fmt-191-code": {"text": r"`tab\there`"},
}


def check(case, actual):
    check_case("number_format", case, actual, case["out"])
    assert actual == case["out"] | BETTER.get(case["id"], {})


def cells(title, content, width):
    return {
        "title": value_cell(title, width),
        "separator": separator_cell(width),
        "invalid": missing_cell(width),
        "value": value_cell(content, width),
    }


@pytest.mark.parametrize("case", load_cases("number_format", "number"))
def test_numbers_are_those_of_nanobench(case):
    """Numbers are in fixed notation, grouped, padded on the left."""
    given = case["in"]
    text = pad_left(format_number(number(given["value"]), given["precision"]), given["width"])
    check(case, {"text": text})


@pytest.mark.parametrize("case", load_cases("number_format", "column"))
def test_cells_of_numbers_are_those_of_nanobench(case):
    """The four cells of a column of numbers have nanobench's layout."""
    given = case["in"]
    content = format_number(number(given["value"]), given["precision"]) + given["suffix"]
    check(case, cells(given["title"], content, given["width"]))


@pytest.mark.parametrize("case", load_cases("number_format", "text_column"))
def test_cells_of_texts_are_those_of_nanobench(case):
    """The four cells of a column of texts have nanobench's layout."""
    given = case["in"]
    check(case, cells(given["title"], given["text"], given["width"]))


@pytest.mark.parametrize("case", load_cases("number_format", "code"))
def test_code_is_that_of_nanobench(case):
    """A name is written as code, so that Markdown gives that name back."""
    check(case, {"text": code_span(case["in"]["text"])})


@pytest.mark.parametrize("case", load_cases("number_format", "thousands"))
def test_thousands_are_those_of_nanobench(case):
    """The digits behind a leading sign are grouped, all else is left alone."""
    check(case, {"text": group_thousands(case["in"]["text"], case["in"]["sep"])})


@pytest.mark.parametrize("case", load_cases("number_format", "uint_to_s"))
def test_whole_numbers_are_those_of_nanobench(case):
    """Whole numbers of 64 bits are written without any rounding, as notes do."""
    check(case, {"text": f"{int(case['in']['value'])}"})


@given(st.floats(), st.integers(0, 20))
@example(-0.0, 0)
@example(999.9999, 2)
def test_numbers_without_separators_are_the_value_rounded_once(value, precision):
    """Taking the separators out of a number gives its exact value, rounded half to even."""
    text = format_number(value, precision)
    plain = text.replace(",", "")
    if math.isfinite(value):
        assert re.fullmatch(r"-?[0-9]{1,3}(,[0-9]{3})*(\.[0-9]+)?", text)
        with localcontext() as context:
            context.prec = 400
            rounded = Decimal(value).quantize(Decimal(1).scaleb(-precision), ROUND_HALF_EVEN)
        assert Decimal(plain) == rounded
        assert len(plain.partition(".")[2]) == precision
    else:
        assert text == plain == str(value)


@given(st.integers(), st.text(st.characters(exclude_characters="0123456789"), max_size=5))
def test_only_the_leading_digits_are_grouped(value, rest):
    """Grouping is that of Python for integers, and leaves what follows alone."""
    assert group_thousands(f"{value}{rest}") == f"{value:,}{rest}"


def test_digits_of_other_scripts_are_no_number():
    """Only ASCII digits are grouped: others are text."""
    assert group_thousands("١٢٣٤") == "١٢٣٤"


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("plain", 5),
        ("naïve", 5),
        ("nai\u0308ve", 5),  # the same with a mark of its own
        ("日本語", 6),
        ("Ｆ", 2),  # noqa: RUF001 (it is of full width)
        ("👍", 2),
        ("✓", 1),
        ("\u200b", 0),
        ("\u20dd", 0),  # an enclosing circle
        ("שלום", 4),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),  # the same, decomposed
        ("µ", 1),
    ],
)
def test_widths_are_columns_of_a_terminal(text, width):
    """Wide characters take two columns, marks none, others one."""
    assert display_width(text) == width


@given(st.text(), st.text())
def test_widths_add_up(a, b):
    """The width of a text is the sum of the widths of its parts, none is negative."""
    assert display_width(a + b) == display_width(a) + display_width(b)
    assert 0 <= display_width(a) <= 2 * len(a)


@given(labels(), st.integers(2, 40))
def test_cells_have_their_width_unless_the_content_is_too_long(text, width):
    """A cell is as wide as asked for, or as its content with bar and space; nothing is cut."""
    content = plain_text(text)
    cell = value_cell(content, width)
    assert display_width(cell) == max(width, display_width(content) + 2)
    assert cell.startswith("|")
    assert cell.endswith(content + " ")
    assert cell[1:].removesuffix(content + " ").strip(" ") == ""
    assert display_width(separator_cell(width)) == width
    assert re.fullmatch(r"\|-*:", separator_cell(width))


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("two\nlines", r"two\nlines"),
        ("\r\n\t\v\f", r"\r\n\t\x0b\x0c"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\0\x7f\x85\x9f", r"\x00\x7f\x85\x9f"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("a\u202eb\u202a\u2066\u2069", r"a\u202eb\u202a\u2066\u2069"),
        ("\ud83d", r"\ud83d"),
        ("back\\slash", "back\\slash"),
        ("👩\u200d💻 \xa0é שלום", "👩\u200d💻 \xa0é שלום"),
    ],
)
def test_control_characters_become_visible(text, visible):
    """Line breaks, controls, reversing marks and lone surrogates are shown as escapes."""
    assert visible_text(text) == visible


@given(st.text(st.characters()))
def test_visible_text_is_one_line_that_can_be_encoded(text):
    """No text breaks its line, moves the cursor or cannot be encoded."""
    visible = visible_text(text)
    assert len(visible.splitlines()) <= 1
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in visible)
    assert visible.encode("utf-8").decode("utf-8") == visible


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a|b", r"a\|b"),
        ("`x`", r"\`x\`"),
        ("<script>", r"\<script>"),
        ("</p> <!-- <?x", r"\</p> \<!-- \<?x"),
        ("n < 5, a <= b", "n < 5, a <= b"),
        (r"C:\temp", r"C:\temp"),
        (r"\*", r"\\*"),
        (r"\|", r"\\\|"),
        ("end\\", r"end\\"),
        ("compiler_version", "compiler_version"),
    ],
)
def test_plain_text_is_escaped_only_where_it_has_to_be(text, markdown):
    """Bars, backticks, beginnings of tags, and backslashes that would vanish are escaped."""
    assert plain_text(text) == markdown


def test_code_of_spaces_only_has_no_more_of_them():
    """Markdown takes no space off a code span that has nothing else."""
    assert code_span("  ") == "`  `"


def gfm_unescape_bars(cell):
    """What GitHub's Markdown makes of a table's cell before it reads anything else in it."""
    return cell.replace(r"\|", "|")


@given(labels())
def test_markdown_reads_plain_text_as_what_it_was(text):
    """A bar never ends the cell, nothing is code or a tag, and the text itself comes back."""
    markdown = plain_text(text)
    assert not re.search(r"(?<!\\)\|", markdown)
    inline = gfm_unescape_bars(markdown)
    tokens = re.findall(r"\\[!-/:-@\[-`{-~]|.", inline)
    assert "`" not in tokens
    assert not any(a == "<" and re.match(r"[A-Za-z/!?]", b) for a, b in pairwise(tokens))
    assert "".join(token[-1] for token in tokens) == visible_text(text)


@given(labels())
@example(" a ")
@example("a`")
@example("`` ` ```")
def test_markdown_reads_code_as_what_it_was(text):
    """A bar never ends the cell, and one code span holds the text with every space."""
    markdown = code_span(text)
    assert not re.search(r"(?<!\\)\|", markdown)
    inline = gfm_unescape_bars(markdown)
    fence = re.match("`+", inline)[0]
    content, *rest = re.split(rf"(?<!`){fence}(?!`)", inline.removeprefix(fence))
    assert rest == [""]
    if content[0] == content[-1] == " " and content.strip(" "):
        content = content[1:-1]
    assert content == visible_text(text)
