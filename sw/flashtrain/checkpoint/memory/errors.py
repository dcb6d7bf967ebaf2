"""Exceptions of jobs that share memory."""

from flashtrain.spec import FlashtrainError


class JobError(FlashtrainError, ValueError):
    """A job, a node or a backing store is not valid."""


class JobTooLarge(JobError):
    """The memory is too small for a job, whatever else is freed."""


class RegionInUse(FlashtrainError):
    """Views of a job's memory are still alive, so that its region cannot be given back."""
