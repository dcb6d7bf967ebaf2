"""`RankGroup`: the processes of a training, and what they tell each other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from flashtrain.training.errors import ParameterError

from .errors import RankError, RankLost

T = TypeVar("T")


class RankGroup:
    """The ranks of a process group whose backend moves tensors of the CPU, such as gloo; or one process.

    All methods are collective. :class:`RankLost` when a rank has ended, or does not answer.

    group: by default all ranks of `torch.distributed`, or this process alone if there are none.

    Members
    -------
    rank, count: the number of this rank, and the number of ranks.
    """

    def __init__(self, group: "dist.ProcessGroup | None" = None) -> None:
        self.rank, self.count = 0, 1
        if not dist.is_available() or not dist.is_initialized():
            return
        self._group = dist.group.WORLD if group is None else group
        self.rank, self.count = dist.get_rank(self._group), dist.get_world_size(self._group)
        backend = str(dist.get_backend_config(self._group))
        if self.count > 1 and "gloo" not in backend:
            raise ParameterError(
                f"the process group has the backends {backend}; expected gloo for the CPU, as of"
                " init_process_group('cpu:gloo,cuda:nccl')"
            )

    def agreed(self, local: Callable[[], T]) -> list[T]:
        """Results of `local` by rank; :class:`RankError` on all ranks if it raises an exception on one."""
        if self.count == 1:
            return [local()]
        value, error = None, None
        try:
            value = local()
        except RankLost:
            raise
        except Exception as raised:
            error = raised
        found = self._gathered((_text(error), value))
        _raise([text for text, _ in found], error)
        return [own for _, own in found]

    def require_equal(self, facts: Mapping[str, object], expected: str = "the same on all ranks") -> None:
        """:class:`RankError`, which says what is `expected`, unless these facts are equal on all ranks."""
        found = self.agreed(lambda: {name: str(value) for name, value in facts.items()})
        for name, first in found[0].items():
            for rank, own in enumerate(found):
                if own.get(name) != first:
                    raise RankError(
                        f"rank {rank} has {name} {own.get(name)}, rank 0 has {first}; expected {expected}"
                    )

    def reduced(self, row: Sequence[float]) -> NDArray[np.float64]:
        """The rows of all ranks, float64[ranks, numbers]."""
        table = torch.zeros(self.count, len(row), dtype=torch.float64)
        table[self.rank] = torch.tensor(row, dtype=torch.float64)
        try:
            dist.all_reduce(table, group=self._group)
        except RuntimeError as error:
            raise self._lost(error) from error
        return table.numpy()

    def explain(self, error: Exception | None) -> None:
        """Raise the :class:`RankError` of all errors; `error` is that of this rank, if it has one."""
        _raise(self._gathered(_text(error)), error)

    def send(self, tensor: Tensor, rank: int) -> None:
        """Send a tensor to a rank, which receives it at the same place of its program."""
        try:
            dist.send(tensor, group=self._group, group_dst=rank)
        except RuntimeError as error:
            raise self._lost(error) from error

    def receive(self, tensor: Tensor, rank: int) -> None:
        """Fill a tensor with what a rank sends."""
        try:
            dist.recv(tensor, group=self._group, group_src=rank)
        except RuntimeError as error:
            raise self._lost(error) from error

    def _gathered(self, own: Any) -> list[Any]:
        found: list[Any] = [None] * self.count
        try:
            dist.all_gather_object(found, own, group=self._group)
        except RuntimeError as error:
            raise self._lost(error) from error
        return found

    def _lost(self, error: Exception) -> RankLost:
        reason = str(error).partition("\n")[0]
        return RankLost(f"rank {self.rank} of {self.count} could not agree with the others: {reason}")


def _text(error: Exception | None) -> str | None:
    return None if error is None else f"{type(error).__name__}: {error}"


def _raise(texts: Sequence[str | None], error: Exception | None) -> None:
    """:class:`RankError` if there is a text; the texts are by rank."""
    if all(text is None for text in texts):
        return
    if len(set(texts)) == 1:
        raise RankError(f"all ranks: {texts[0]}") from error
    told = "; ".join(f"rank {rank}: {text}" for rank, text in enumerate(texts) if text is not None)
    raise RankError(told) from error
