"""A mistake that somebody might have made in the RTL."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
RTL = Path("hw", "flashtrain", "rtl")


class PlantError(ValueError):
    """The text to be replaced does not stand in the file, or more than once."""


@dataclass(frozen=True)
class Fault:
    """In `file`, which lies below the RTL, somebody wrote `wrong` where `right` belongs.

    name : in words, with hyphens
    what : what is wrong with it
    tests : those that should notice first, as pytest names them, below `tests/`
    quick : planted in every run, not only in long ones
    """

    name: str
    file: str
    right: str
    wrong: str
    what: str
    tests: str
    quick: bool = False

    @property
    def path(self) -> Path:
        """Of the file, below the root of the tree."""
        return RTL / self.file

    def planted(self) -> str:
        """The text of the file with the fault in it."""
        source = (ROOT / self.path).read_text(encoding="utf-8")
        if (count := source.count(self.right)) != 1:
            raise PlantError(f"{self.name}: {self.right!r} stands {count} times in {self.path}, not once")
        return source.replace(self.right, self.wrong)
