"""`Overlap`: gradients go to the dies during the backward pass, as in PyTorch's optimizers in backward."""

from collections.abc import Callable, Collection, Iterable, MutableMapping
from threading import RLock
from typing import NamedTuple
from weakref import ref

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle
from torch.utils.weak import WeakIdKeyDictionary

from flashtrain.spec import FlashtrainError
from flashtrain.torch.ranks.shards import shard

from .open_step import OpenStep

_MOST_DROPPED = 2

_WATCHING: "MutableMapping[Tensor, ref[Overlap]]" = WeakIdKeyDictionary()
"""By parameter: a new optimizer takes the place of one that goes on living, such as on a lost device."""


class OverlapCounts(NamedTuple):
    """Steps that an optimizer has begun during a backward pass.

    - taken: the step that was asked for was the same, whether it was committed, clipped or skipped then.
    - dropped: it was another one, so it was taken anew.
    """

    taken: int = 0
    dropped: int = 0


class Overlap:
    """Begins the step of an optimizer while the backward pass computes its gradients.

    A hook of each parameter reports its gradients. A step is prepared by the one before: by the parameters
    that had gradients, and by the number of backward passes that added to each. So the first step is only
    watched. The last addition to a gradient sends it to the dies.

    No error leaves a hook: the step in which it happens is not begun, or dropped, and :meth:`take` returns
    None. After two dropped steps in a row no step is begun any more.

    begin: begins a step of these parameters; None if it cannot.

    Members
    -------
    counts: of the steps that were begun.
    arrivals: places in time of the gradients since the last step.
    reason: why the last step was dropped.
    """

    def __init__(self, begin: Callable[[Collection[Tensor]], OpenStep | None]) -> None:
        self.counts = OverlapCounts()
        self.reason = ""
        self._begin = begin
        self._lock = RLock()  # autograd has a thread for each device
        self._handles: dict[Tensor, RemovableHandle] = {}
        self._expected: dict[Tensor, int] = {}
        self._additions: dict[Tensor, int] = {}
        self.arrivals: dict[Tensor, int] = {}
        self._total = 0  # additions to all gradients
        self._open: OpenStep | None = None
        self._has_begun = self._has_failed = False
        self._dropped_in_a_row = 0

    @property
    def is_over(self) -> bool:
        """Whether too many steps in a row were dropped."""
        return self._dropped_in_a_row >= _MOST_DROPPED

    def watch(self, parameters: Iterable[Tensor]) -> None:
        """Have a hook on each of these parameters that requires a gradient, and on no others.

        Another optimizer that has one there loses it, and takes its steps after the backward pass.
        """
        own: ref[Overlap] = ref(self)

        def added(parameter: Tensor) -> None:
            overlap = own()
            if overlap is not None:
                overlap._added_to(parameter)

        watched = {p for p in parameters if p.requires_grad and shard(p).numel()}
        for parameter in watched - self._handles.keys():
            older = _WATCHING.get(parameter)
            if older is not None and (other := older()) is not None:
                other._leave(parameter)
            _WATCHING[parameter] = own
            self._handles[parameter] = parameter.register_post_accumulate_grad_hook(added)
        for parameter in self._handles.keys() - watched:
            self._leave(parameter)

    def _leave(self, parameter: Tensor) -> None:
        self._handles.pop(parameter).remove()
        del _WATCHING[parameter]

    def take(self) -> OpenStep | None:
        """The step that was begun, if there is one; it is the caller's from now on."""
        with self._lock:
            begun, self._open = self._open, None
            return begun

    def learn(self, stepped: Iterable[Tensor], taken: bool, reason: str) -> None:
        """Note the parameters of the step that ends. taken: it was that which was begun, if one was; reason:
        why it was another one."""
        with self._lock:
            self._expected = {parameter: self._additions.get(parameter, 0) for parameter in stepped}
            if self._has_begun:
                self.counts = OverlapCounts(self.counts.taken + taken, self.counts.dropped + (not taken))
                self._dropped_in_a_row = 0 if taken else self._dropped_in_a_row + 1
                self.reason = reason or self.reason
            self.forget()

    def forget(self) -> None:
        """Drop the step that was begun, and count additions from zero."""
        with self._lock:
            if self._open is not None:
                self._drop("")
            self._additions, self.arrivals, self._total = {}, {}, 0
            self._has_begun = self._has_failed = False

    def _added_to(self, parameter: Tensor) -> None:
        """A backward pass has added to the gradient of a parameter."""
        with self._lock:
            self._additions[parameter] = self._additions.get(parameter, 0) + 1
            self._total += 1
            self.arrivals[parameter] = self._total
            if self._has_failed or self.is_over or not self._expected:
                return
            try:
                self._send(parameter)
            except FlashtrainError as error:
                self._drop(str(error))

    @torch.no_grad()
    def _send(self, parameter: Tensor) -> None:
        if parameter not in self._expected:
            self._drop("other parameters had gradients")
        elif self._open is not None and self._open.has(parameter):
            self._drop("another backward pass added to the gradients")
        elif self._additions[parameter] == self._expected[parameter] and parameter.grad is not None:
            if self._open is None:
                self._open = self._begin(self._expected)
                self._has_begun = self._open is not None
            if self._open is None:
                self._has_failed = True
            else:
                self._open.give(parameter, parameter.grad)

    def _drop(self, reason: str) -> None:
        begun, self._open = self._open, None
        self._has_failed, self.reason = True, reason
        if begun is not None:
            begun.drop()
