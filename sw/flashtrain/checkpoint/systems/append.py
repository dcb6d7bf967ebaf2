"""Ours with the state in memory: appended to the flash beside training, as a fast SSD would take it."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.checkfreq import CheckFreq


@dataclass(frozen=True)
class AppendState(CheckFreq):
    """Snapshot and append as CheckFreq has them; only the rates are those of a flash memory system."""

    name: ClassVar[str] = "append"
    survives: ClassVar[str] = "machine, if the device does"
