"""The node's storage at work: chunks of restores and saves, and the DRAM that they take and free."""

from collections.abc import Iterator
from itertools import count

from flashtrain.checkpoint.memory.job_run import JobRun
from flashtrain.checkpoint.memory.memory_part import MemoryPart
from flashtrain.checkpoint.memory.node import Node
from flashtrain.checkpoint.memory.recording import Recording
from flashtrain.checkpoint.memory.transfers import Transfer


class TransferEngine:
    """Moves one chunk each way at a time; of a storage that is not full duplex, one chunk.

    A restore goes before saves where both can move. Chunks without reads or writes take no time.

    Members
    -------
    restoring: the restore in flight.
    """

    def __init__(self, node: Node, recording: Recording) -> None:
        self.restoring: Transfer | None = None
        self._node = node
        self._recording = recording
        self._saves: list[Transfer] = []
        self._used = 0
        self._numbers = count()
        self._moving: dict[int, tuple[Transfer, MemoryPart, int]] = {}

    @property
    def free_bytes(self) -> int:
        return self._node.dram_bytes - self._used

    @property
    def saving_bytes(self) -> int:
        """Bytes that the saves in flight will free."""
        moving = sum(size for transfer, _, size in self._moving.values() if transfer is not self.restoring)
        return moving + sum(transfer.left_bytes for transfer in self._saves)

    def save(self, transfer: Transfer) -> None:
        self._saves.append(transfer)

    def release(self, run: JobRun) -> None:
        """Free the memory of a job that has finished."""
        for part in run.parts:
            self._used -= part.resident
            part.free(part.resident)
        self._recording.note_level(run)

    def pump(self, now: float) -> Iterator[tuple[float, int]]:
        """Begin all chunks that can move; their ends and numbers."""
        while True:
            started = self._start_read() or self._start_write()
            if started is None:
                return
            transfer, part, size, seconds = started
            if seconds:
                number = next(self._numbers)
                self._moving[number] = (transfer, part, size)
                yield now + seconds, number
            else:
                self._end(transfer, part, size)

    def end_chunk(self, number: int) -> None:
        self._end(*self._moving.pop(number))

    def finished(self) -> list[Transfer]:
        """Transfers that have moved everything; each is returned once."""
        moving = [transfer for transfer, _, _ in self._moving.values()]
        ended = [each for each in self._saves if not each.left_bytes and each not in moving]
        self._saves = [each for each in self._saves if each not in ended]
        restore = self.restoring
        if restore is not None and not restore.left_bytes and restore not in moving:
            self.restoring = None
            ended.append(restore)
        return ended

    def _busy(self, reading: bool) -> bool:
        directions = [transfer.is_restore for transfer, _, _ in self._moving.values()]
        return reading in directions if self._node.store.full_duplex else bool(directions)

    def _start_read(self) -> tuple[Transfer, MemoryPart, int, float] | None:
        transfer, store = self.restoring, self._node.store
        if transfer is None or self._busy(reading=True):
            return None
        chunk = transfer.take(min(self._node.chunk_bytes, self.free_bytes))
        if chunk is None:
            return None
        part, size = chunk
        self._used += size
        part.load(size, clean=transfer.run.loaded)
        self._recording.note_level(transfer.run)
        if not transfer.run.reads(part):
            return transfer, part, size, 0.0
        transfer.run.read += size
        rate = store.fault_bytes_per_second if transfer.by_faults else store.read_bytes_per_second
        return transfer, part, size, size / rate

    def _start_write(self) -> tuple[Transfer, MemoryPart, int, float] | None:
        transfer = next((each for each in self._saves if each.left_bytes), None)
        if transfer is None or self._busy(reading=False):
            return None
        chunk = transfer.take(self._node.chunk_bytes)
        assert chunk is not None
        part, size = chunk
        written = part.write_bytes(size)
        return transfer, part, size, written / self._node.store.write_bytes_per_second

    def _end(self, transfer: Transfer, part: MemoryPart, size: int) -> None:
        if transfer.is_restore:
            return
        written = part.free(size)
        self._used -= size
        transfer.written += written
        transfer.run.written += written
        self._recording.note_level(transfer.run)
