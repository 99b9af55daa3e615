"""Measuring: how many iterations an epoch gets, and what the figures are worth."""
