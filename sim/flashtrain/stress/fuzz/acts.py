"""Acts on a device: enable, batches, power cuts, time. A run is a list of acts that can be replayed."""

from dataclasses import dataclass

from flashtrain.spec.registers import Control

from .command import FuzzCommand
from .subject import Manner


@dataclass(frozen=True)
class Enable:
    """The controller is disabled, and enabled anew. illegal: register writes (address, value) that must be
    refused before the good ones come.
    """

    how: Control
    illegal: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Submit:
    """A batch. fill: which random bytes the tensor buffer holds; settle: cycles after the last answer, in
    which nothing may change; tail: see `Batch`.
    """

    commands: tuple[FuzzCommand, ...]
    fill: int
    shared: bool = False
    tail: int | None = None
    manner: Manner = Manner()
    settle: int = 0


@dataclass(frozen=True)
class Cut:
    """A batch in whose midst, after some cycles, the controller is disabled; an enable follows."""

    commands: tuple[FuzzCommand, ...]
    fill: int
    cycles: int


@dataclass(frozen=True)
class Meddle:
    """Register writes that must be refused while the controller is enabled."""

    illegal: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class PassTime:
    """The time of the device is set forward, or back."""

    seconds: int


@dataclass(frozen=True)
class Recode:
    """Streams with content that was appended with another codec: the controller is disabled and recovered
    between. seed: of the content.
    """

    seed: int


Act = Enable | Submit | Cut | Meddle | PassTime | Recode
