"""Optimizer state that the dies store and update."""
