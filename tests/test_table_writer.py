"""Tables written row by row: headers per stream, odd streams, failing ones, threads, fork."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
import warnings
import weakref
from contextlib import redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper

import pytest

from ankerl_py.errors import AnkerlPyError, OutputError
from ankerl_py.renderers.columns import TableShape
from ankerl_py.renderers.markdown import TableWriter, header, row, table_writer
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import RawMeasurement
from ankerl_py.testing import make_result

RESULT = make_result([(1_000_000, 1000)] * 3, name="a")
OTHER = make_result([(1_000_000, 1000)] * 3, name="b", title="other")
COUNTED = make_result([RawMeasurement(1000, 10, {Measure.INSTRUCTIONS: 50})] * 3, name="c")
FAILED = make_result(failure="no", name="f")


def line(result, shape=None):
    return row(shape or TableShape.of(result), result, None)


def head(result):
    return "\n" + header(TableShape.of(result))


class Sink:
    """The least a stream can be: it keeps what it is given, call by call."""

    def __init__(self):
        self.calls = []

    def write(self, text):
        self.calls.append(text)

    @property
    def text(self):
        return "".join(self.calls)


def write(stream, *results, writer=None):
    writer = writer or TableWriter()
    for result in results:
        writer.write_result(stream, result, None)


def test_header_is_written_when_the_shape_changes():
    """A header comes first and with each other shape, behind an empty line, in one write."""
    stream = Sink()
    write(stream, RESULT, RESULT, OTHER, RESULT)
    assert stream.calls == [
        head(RESULT) + line(RESULT),
        line(RESULT),
        head(OTHER) + line(OTHER),
        head(RESULT) + line(RESULT),
    ]


def test_failed_rows_use_the_header_in_force():
    """A failed result between others has their columns; at the top it has its own."""
    stream = Sink()
    write(stream, FAILED, COUNTED, FAILED, COUNTED)
    assert stream.calls == [
        head(FAILED) + line(FAILED),
        head(COUNTED) + line(COUNTED),
        line(FAILED, TableShape.of(COUNTED)),
        line(COUNTED),
    ]


def test_results_without_epochs_and_missing_streams_write_nothing():
    """Where nothing is written no header is in force afterwards either."""
    stream, writer = Sink(), TableWriter()
    writer.write_result(stream, make_result(), None)
    writer.write_result(None, RESULT, None)
    assert stream.calls == []
    write(stream, RESULT, writer=writer)
    assert stream.text == head(RESULT) + line(RESULT)


def test_each_stream_has_its_own_header():
    """Rows on one stream do not change which header another one needs; writers share nothing."""
    first, second, writer = Sink(), Sink(), TableWriter()
    write(first, RESULT, writer=writer)
    write(second, OTHER, writer=writer)
    write(first, RESULT, writer=writer)
    assert first.calls[1] == line(RESULT)
    assert second.text == head(OTHER) + line(OTHER)
    write(first, RESULT)
    assert first.calls[2] == head(RESULT) + line(RESULT)


def test_replaced_stdout_gets_a_header_and_the_old_one_keeps_its_own():
    """Standard output is the stream that it is at the moment."""
    texts, writer = [StringIO(), StringIO(), StringIO()], TableWriter()
    for i in (0, 1, 0, 2, 1):
        with redirect_stdout(texts[i]):
            write(sys.stdout, RESULT, writer=writer)
    once = head(RESULT) + line(RESULT)
    assert [text.getvalue() for text in texts] == [once + line(RESULT)] * 2 + [once]


def test_stream_is_flushed_after_each_row():
    """Whoever waits sees each row when it is there, and all of it."""

    class Flushed(Sink):
        def flush(self):
            self.calls.append("flush")

    stream = Flushed()
    write(stream, RESULT, RESULT)
    assert stream.calls == [head(RESULT) + line(RESULT), "flush", line(RESULT), "flush"]


@pytest.mark.parametrize("flush", [None, "no function"])
def test_flush_may_be_something_else(flush):
    """A stream needs nothing but ``write``."""
    stream = Sink()
    stream.flush = flush
    write(stream, RESULT)
    assert stream.text == head(RESULT) + line(RESULT)


def test_streams_are_not_kept_alive():
    """A stream dies when its owner lets it go, and nothing of it is left."""
    writer, stream = TableWriter(), StringIO()
    write(stream, RESULT, RESULT, writer=writer)
    alive = weakref.ref(stream)
    del stream
    gc.collect()
    assert alive() is None
    assert writer._shapes._weak == {}
    assert writer._shapes._strong == {}


def test_closed_streams_are_not_kept_alive():
    """A stream that failed can go, too: the error's traceback is all that holds it."""
    writer, stream = TableWriter(), StringIO()
    write(stream, RESULT, writer=writer)
    stream.close()
    with pytest.raises(OutputError):
        write(stream, RESULT, writer=writer)
    assert writer._shapes._weak == {}


class Slotted:
    """A stream that cannot be referred to weakly, and tells when it dies."""

    __slots__ = ("calls", "deaths")

    def __init__(self, deaths):
        self.calls = []
        self.deaths = deaths

    def write(self, text):
        self.calls.append(text)

    def __del__(self):
        self.deaths.append(len(self.calls))


@pytest.mark.parametrize("kind", [Sink, lambda: Slotted([])])
def test_new_streams_at_the_address_of_dead_ones_get_a_header(kind):
    """The address of a dead stream says nothing about a new one."""
    writer, addresses, number = TableWriter(), set(), 100
    for _ in range(number):
        stream = kind()
        addresses.add(id(stream))
        write(stream, RESULT, writer=writer)
        assert stream.calls == [head(RESULT) + line(RESULT)]
        del stream
    assert len(addresses) < number  # or nothing was tested


def test_a_late_notice_of_death_changes_nothing():
    """Some Pythons tell late that a stream died: its address may be in use again by then."""
    writer, stream = TableWriter(), Sink()
    write(stream, RESULT, writer=writer)
    entries = writer._shapes._weak
    old_reference, shape = entries[id(stream)]
    write(stream, RESULT, writer=writer)
    old_reference.__callback__(old_reference)
    write(stream, RESULT, writer=writer)
    assert stream.calls == [head(RESULT) + line(RESULT), line(RESULT), line(RESULT)]
    entries[id(stream)] = (lambda: None, shape)
    write(stream, RESULT, writer=writer)
    assert stream.calls[3] == head(RESULT) + line(RESULT)


def test_streams_without_weak_references_are_known_again_and_few():
    """They have headers as all others do. The last sixteen are kept alive, no more."""
    writer, deaths = TableWriter(), []
    first = Slotted([])
    for i in range(20):
        write(first, RESULT, writer=writer)  # the one in use stays known
        write(Slotted(deaths), RESULT, writer=writer)
        assert len(deaths) == max(0, i + 1 - 15)
    assert first.calls == [head(RESULT) + line(RESULT)] + [line(RESULT)] * 19
    for _ in range(16):
        write(Slotted(deaths), RESULT, writer=writer)
    write(first, RESULT, writer=writer)
    assert first.calls[-1] == head(RESULT) + line(RESULT)


class Odd(Sink):
    """A stream without hash, equal to everything or to nothing, and false."""

    __hash__ = None

    def __init__(self, equal):
        super().__init__()
        self.equal = equal

    def __eq__(self, other):
        if self.equal is None:
            raise RuntimeError("never compared")
        return self.equal

    def __bool__(self):
        return False


@pytest.mark.parametrize("equal", [True, False, None])
def test_streams_are_told_apart_by_identity(equal):
    """What a stream thinks of equality, hashes and truth does not matter."""
    writer, first, second = TableWriter(), Odd(equal), Odd(equal)
    for _ in range(2):
        write(first, RESULT, writer=writer)
        write(second, RESULT, writer=writer)
    assert first.calls == second.calls == [head(RESULT) + line(RESULT), line(RESULT)]


MICRO = make_result([(1000, 10)], name="naïve ✓ 👍", unit="µop")


@pytest.mark.parametrize(
    ("encoding", "errors", "shown"),
    [
        ("ascii", "strict", {"µ": r"\xb5", "ï": r"\xef", "✓": r"\u2713", "👍": r"\U0001f44d"}),
        ("cp1252", "strict", {"✓": r"\u2713", "👍": r"\U0001f44d"}),
        ("utf-8", "strict", {}),
        ("utf-16-le", "strict", {}),
        ("latin-1", "replace", {"✓": "?", "👍": "?"}),
    ],
)
def test_characters_that_an_encoding_does_not_have_are_escaped(encoding, errors, shown):
    """No row is lost because of LANG=C: just those characters are escaped, and all else is as is.

    A stream that knows what to do with them does it.
    """
    expected = head(MICRO) + line(MICRO) * 2
    for char, escape in shown.items():
        expected = expected.replace(char, escape)
    buffer = BytesIO()
    stream = TextIOWrapper(buffer, encoding=encoding, errors=errors, newline="\n")
    write(stream, MICRO, MICRO)
    assert buffer.getvalue().decode(encoding) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "no such encoding", None, 5, "missing"])
def test_streams_that_lie_about_their_encoding_get_ascii(encoding):
    """If it is unknown what a stream can write, everything but ASCII is escaped."""

    class Picky(Sink):
        def write(self, text):
            text.encode("ascii")
            super().write(text)

    stream = Picky()
    if encoding != "missing":
        stream.encoding = encoding
    write(stream, MICRO)
    assert stream.text == (head(MICRO) + line(MICRO)).encode("ascii", "backslashreplace").decode()


class Failing(Sink):
    """A stream that fails while it is told to: on writing or on flushing."""

    def __init__(self):
        super().__init__()
        self.error = None
        self.flush_error = None

    def write(self, text):
        if self.error is not None:
            raise self.error
        super().write(text)

    def flush(self):
        if self.flush_error is not None:
            raise self.flush_error


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), errno.ENOSPC),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), errno.EPIPE),
        (OSError("without a number"), None),
        (ValueError("I/O operation on closed file"), None),
        (UnicodeEncodeError("ascii", "é", 0, 1, "not in range"), None),
        (RuntimeError("anything"), None),
    ],
)
@pytest.mark.parametrize("attribute", ["error", "flush_error"])
def test_failing_streams_raise_an_output_error(error, number, attribute):
    """The error tells why, carries the number, and shows which row is lost."""
    stream = Failing()
    setattr(stream, attribute, error)
    with pytest.raises(OutputError) as caught:
        write(stream, RESULT)
    assert caught.value.errno == number
    assert caught.value.__cause__ is error
    assert isinstance(caught.value, (OSError, AnkerlPyError))
    message = str(caught.value)
    assert f"{type(error).__name__}: {error}" in message
    assert message.endswith(f"this row is lost: {line(RESULT).rstrip()}")
    assert (f"[Errno {number}] cannot write" in message) == (number is not None)


@pytest.mark.parametrize("stream", [object(), BytesIO()])
def test_what_is_no_text_stream_raises_an_output_error(stream):
    """There is nothing that can be written to, or it takes bytes."""
    with pytest.raises(OutputError, match=r"cannot write to the output: (Attribute|Type)Error"):
        write(stream, RESULT)


def test_closed_stream_raises_an_output_error():
    """A real stream that was closed."""
    stream = StringIO()
    stream.close()
    with pytest.raises(OutputError, match="closed file"):
        write(stream, RESULT)


@pytest.mark.parametrize("attribute", ["error", "flush_error"])
@pytest.mark.parametrize("before", [[], [RESULT], [OTHER]])
@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_after_a_failure_the_next_row_has_a_header(attribute, before, error):
    """It is not known what arrived, so no header is taken to be there; then all goes on."""
    stream, writer = Failing(), TableWriter()
    write(stream, *before, writer=writer)
    setattr(stream, attribute, error)
    with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else OutputError):
        write(stream, RESULT, writer=writer)
    setattr(stream, attribute, None)
    stream.calls.clear()
    write(stream, RESULT, RESULT, writer=writer)
    assert stream.calls == [head(RESULT) + line(RESULT), line(RESULT)]


class Slow(Sink):
    """A stream that notices if two threads are in it at once."""

    def __init__(self):
        super().__init__()
        self.inside = threading.Event()
        self.second = threading.Event()
        self.overlaps = 0

    def write(self, text):
        if self.inside.is_set():
            self.overlaps += 1
            self.second.set()
        self.inside.set()
        self.second.wait(0.05)
        super().write(text)
        self.inside.clear()


def test_threads_write_one_after_the_other():
    """Rows of two threads with tables of two shapes each come under the header that is theirs."""
    stream, writer = Slow(), TableWriter()
    threads = [
        threading.Thread(target=write, args=(stream, *[result] * 3), kwargs={"writer": writer})
        for result in (RESULT, OTHER)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stream.overlaps == 0
    in_force = None
    for call in stream.calls:
        result = RESULT if call.endswith(line(RESULT)) else OTHER
        assert call == (line(result) if result is in_force else head(result) + line(result))
        in_force = result
    assert len(stream.calls) == 6


def test_a_stream_may_run_benchmarks_itself():
    """A stream that writes a row of its own on each write does not wait for itself."""
    inner, writer = Sink(), TableWriter()

    class Nested(Sink):
        def write(self, text):
            writer.write_result(inner, OTHER, None)
            super().write(text)

    outer = Nested()
    thread = threading.Thread(
        target=write, args=(outer, RESULT, RESULT), kwargs={"writer": writer}, daemon=True
    )
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert outer.calls == [head(RESULT) + line(RESULT), line(RESULT)]
    assert inner.calls == [head(OTHER) + line(OTHER), line(OTHER)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_forked_process_can_write_while_a_thread_of_its_parent_does():
    """The process-wide writer is not blocked for ever in a child forked during a write."""
    writing, go_on = threading.Event(), threading.Event()

    class Blocked(Sink):
        def write(self, text):
            writing.set()
            go_on.wait(30)

    thread = threading.Thread(target=table_writer.write_result, args=(Blocked(), RESULT, None))
    thread.start()
    assert writing.wait(30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it is what is to be tested
        child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(5)
            stream = Sink()
            table_writer.write_result(stream, RESULT, None)
            os._exit(0 if stream.text == head(RESULT) + line(RESULT) else 1)
        finally:
            os._exit(2)
    go_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
