"""Exceptions of `flashtrain io`."""

from flashtrain.spec import FlashtrainError


class JobError(FlashtrainError, ValueError):
    """An option is unknown, or its value is impossible; the message names its place and what is expected."""

    def __init__(self, place: str, option: str, problem: str) -> None:
        super().__init__(f"{place}{' ' * bool(option)}{option}: {problem}")


class IoFailed(FlashtrainError):
    """The device has refused or failed a command of a job, or a file cannot be written."""
