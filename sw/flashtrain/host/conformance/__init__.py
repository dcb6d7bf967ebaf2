"""Does a Link behave like another one? The same random raw commands to both, and every answer compared."""

from .compare import Mismatch, compare_links
from .random_commands import RandomCommands, RawCommand

__all__ = ["Mismatch", "RandomCommands", "RawCommand", "compare_links"]
