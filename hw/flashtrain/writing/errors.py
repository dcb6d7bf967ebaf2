"""The exception of writing."""

from pathlib import Path

from flashtrain.spec.errors import FlashtrainError


class OutputError(FlashtrainError):
    """A file or a folder cannot be written; the message names it, and why or what was expected."""

    @classmethod
    def of(cls, path: Path, cause: OSError) -> "OutputError":
        """The error of an access that the operating system refused."""
        return cls(f"{path}: cannot be written: {cause.strerror or cause}")
