"""Stores of checkpoints: appended to a stream, or in files."""
