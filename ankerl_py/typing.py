"""Protocols that stand in signatures of the public interface."""

from __future__ import annotations

from typing import Protocol

__all__ = ["TextStream"]


class TextStream(Protocol):
    """Where a table can be printed: anything with ``write(text)``. ``flush`` is called if there."""

    def write(self, text: str, /) -> object:
        """Write a text."""
