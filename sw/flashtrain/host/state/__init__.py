"""Optimizer state that lives on the dies."""
