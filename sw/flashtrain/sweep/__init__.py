"""Sweeps: workloads on every combination of values of a configuration, one job for each (docs/sweeps.md)."""
