"""A storage that the forward pass has saved, and the pass it belongs to."""

import weakref
from typing import NamedTuple

import torch
from numpy.typing import NDArray

from flashtrain.host import Pending
from flashtrain.torch.change_counter import ChangeCounter

from .codec_choice import Encoding
from .report import ModuleTraffic
from .store import FlashCopy


class Reading(NamedTuple):
    """A read in flight into a new storage."""

    storage: torch.UntypedStorage
    pending: Pending[NDArray]


class ForwardPass:
    """One forward pass: its saved storages by number.

    Members
    -------
    saved: the storages by number.
    alive: storages that a graph still needs.
    begun: the backward pass has needed one of them.
    top, frontier: reads were issued ahead from `top`, which was needed, down to `frontier`.
    """

    def __init__(self) -> None:
        self.saved: list[weakref.ref[SavedStorage]] = []
        self.alive = 0
        self.begun = False
        self.top = self.frontier = 0


class Saving:
    """A saving of a storage, which outlives the :class:`SavedStorage`.

    The node that saved it may end in the forward pass, such as that of `topk` if only its indices are used.
    A later saving of the same content has the same number then.

    Members
    -------
    saved: the saved storage; None when no graph needs it any more.
    owner, number, counter: of the saved storage.
    """

    def __init__(self, saved: "SavedStorage") -> None:
        self._saved = weakref.ref(saved)
        self.owner = saved.owner
        self.number = saved.number
        self.counter = saved.counter

    @property
    def saved(self) -> "SavedStorage | None":
        return self._saved()

    def is_beside(self, other: "SavedStorage") -> bool:
        """Whether it is of the same pass, and another one."""
        return self.owner is other.owner and self.number != other.number


class SavedStorage:
    """A saved storage: in memory, on the flash, or both. Graphs keep it alive, and nothing else does.

    Members
    -------
    number, name: in the order of first saving, from 0 in each forward pass; the name is `saved/<number>`.
    nbytes, device: its size, and where it is in memory.
    label: the name, what it is, and its module, for messages.
    counter: of the changes of its data.
    encoding: how it is appended; None for one that stays in memory.
    copy: on the flash.
    memory: the bytes, if this object is to keep them in memory.
    reading: a read in flight.
    unused: tensors saved on it that the backward pass has not needed yet.
    was_needed: the backward pass has needed it.
    """

    def __init__(
        self,
        owner: ForwardPass,
        number: int,
        label: str,
        storage: torch.UntypedStorage,
        counter: ChangeCounter,
        encoding: Encoding | None,
        traffic: ModuleTraffic,
    ) -> None:
        self.owner = owner
        self.number = number
        self.label = label
        self.nbytes = storage.nbytes()
        self.device = storage.device
        self.counter = counter
        self.encoding = encoding
        self.traffic = traffic
        self.copy = FlashCopy(label, traffic)
        self.memory: torch.UntypedStorage | None = None
        self.reading: Reading | None = None
        self.unused = 0
        self.was_needed = False
        self._last = weakref.ref(storage)
        self._is_original = True
        owner.saved[number:] = [weakref.ref(self), *owner.saved[number + 1 :]]
        owner.alive += 1

    @property
    def name(self) -> str:
        return f"saved/{self.number}"

    @property
    def rounds(self) -> bool:
        return self.encoding is not None and self.encoding.rounds

    @property
    def in_memory(self) -> torch.UntypedStorage | None:
        """The bytes, if they are in memory, whoever keeps them there.

        Data that the flash rounds are never taken from before their rounding: results would depend on time.
        """
        storage = self._last()
        if storage is None or storage.nbytes() != self.nbytes or (self._is_original and self.rounds):
            return None
        return storage

    @property
    def never_left(self) -> bool:
        """Whether the bytes in memory are the saved ones, and not read from the flash."""
        return self._is_original and self.in_memory is not None

    def restore(self, storage: torch.UntypedStorage) -> None:
        """Keep bytes that came from the flash."""
        self.memory, self.reading = storage, None
        self._last, self._is_original = weakref.ref(storage), False
