"""Theorems about the design, for `yowasp-sby`."""
