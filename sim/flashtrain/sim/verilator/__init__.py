"""Verilator and the C++ compiler, with a cache by content."""
