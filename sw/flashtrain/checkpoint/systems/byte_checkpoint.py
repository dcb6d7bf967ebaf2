"""ByteCheckpoint (NSDI'25): saves in a pipeline, loads for another number of machines."""

from dataclasses import dataclass
from typing import ClassVar

from flashtrain.checkpoint.systems.async_save import AsyncSave


@dataclass(frozen=True)
class ByteCheckpoint(AsyncSave):
    """Copy and file as PyTorch's asynchronous save has them; only the rates differ.

    The copy goes to a pool of pinned memory at the rate of the link. Serialization and upload are a pipeline
    of several threads, which takes all of the drive. Plans are computed once and kept. A load reads the byte
    ranges that the new partition needs, each once: no job rewrites the checkpoint before.
    """

    name: ClassVar[str] = "ByteCheckpoint"
