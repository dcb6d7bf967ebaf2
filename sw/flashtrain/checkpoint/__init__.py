"""Checkpoints of training runs: how they are stored, when they are taken, and the memory that they free."""
