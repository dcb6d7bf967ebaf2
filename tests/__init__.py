"""Tests: a folder for each folder of the source, and what they share, imported from `tests`."""
