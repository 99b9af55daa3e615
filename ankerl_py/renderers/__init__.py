"""Renderers: they turn results into text, and know nothing of how they were measured."""
