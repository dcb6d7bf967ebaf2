"""Streams as a NumPy user sees them."""
