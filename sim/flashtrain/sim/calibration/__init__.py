"""Measures the stages of the performance model on the RTL."""
