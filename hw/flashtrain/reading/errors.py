"""Exceptions of reading, and the base of all."""

from pathlib import Path


class FlashtrainError(Exception):
    """Base of every exception that flashtrain raises for a user's mistake or a device's answer."""


class InputError(FlashtrainError, ValueError):
    """A file cannot be read, or is not what was expected.

    path, line: where; the line counts from 1 and is None if the whole file is meant. problem: the rest of the
    message.
    """

    def __init__(self, path: str | Path, problem: str, line: int | None = None) -> None:
        super().__init__(path, problem, line)
        self.path = path
        self.problem = problem
        self.line = line

    def __str__(self) -> str:
        return f"{self.path}{'' if self.line is None else f':{self.line}'}: {self.problem}"


class ContentError(ValueError):
    """A text is not what was expected; a reader of files makes an `InputError` of it."""
