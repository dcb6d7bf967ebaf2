"""Streams for NumPy users."""
