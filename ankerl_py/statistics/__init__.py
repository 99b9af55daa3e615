"""Pure functions over numbers: robust statistics, and the arithmetic of hardware counters."""
