"""Checkpoints by pinning generations of the state on the dies."""
