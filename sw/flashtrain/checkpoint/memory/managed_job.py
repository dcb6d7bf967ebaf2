"""A job whose memory may be taken away between two iterations."""

from abc import ABC, abstractmethod

from flashtrain.checkpoint.memory.array_layout import ArrayLayout
from flashtrain.training.arrays import Arrays


class ManagedJob(ABC):
    """A job without state of its own: all that an iteration needs and changes is in its arrays.

    Members
    -------
    name: distinct among the jobs that run together.
    layout: of its arrays.
    iterations: until it has finished.
    """

    name: str
    layout: ArrayLayout
    iterations: int

    @abstractmethod
    def initialise(self, arrays: Arrays) -> None:
        """Fill the arrays, which are zeros."""

    @abstractmethod
    def step(self, arrays: Arrays) -> None:
        """One iteration. No view of an array may outlive the call."""
