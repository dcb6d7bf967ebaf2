"""Conformance of two Links: both get the same random raw commands, and every answer is compared."""

from .compare import Mismatch, compare_links
from .random_commands import RandomCommands, RawCommand

__all__ = ["Mismatch", "RandomCommands", "RawCommand", "compare_links"]
