"""Fixtures for all tests: both kinds of loops, and a bench that depends on nothing outside."""

from __future__ import annotations

import pytest

from ankerl_py import Bench
from ankerl_py.backends.compiled import compiled
from ankerl_py.backends.counters import NoCounters
from ankerl_py.core.instruments import Instruments
from ankerl_py.environment import Environment
from support import no_notice


@pytest.fixture(params=["pure"] if compiled() is None else ["native", "pure"])
def instruments(request: pytest.FixtureRequest) -> Instruments:
    """Instruments without surroundings, whose loops are native or pure Python."""
    return Instruments(
        environment=Environment({}),
        compiled=compiled() if request.param == "native" else None,
        counters=NoCounters("tests have none"),
        stability_notice=no_notice,
    )


@pytest.fixture
def bench(instruments: Instruments) -> Bench:
    """A bench that prints nothing, with native or pure loops."""
    return Bench(instruments=instruments).output(None)
