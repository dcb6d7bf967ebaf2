"""The tensor buffer of a bench: a memory behind both AXI ports that lets the device touch what it may.

The AXI side is cocotbext-axi's, an implementation of the protocol that is not ours.
"""

import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import cocotb
import cocotb.task
import numpy as np
from cocotb.triggers import Timer
from cocotbext.axi import AxiBus, AxiSlave
from numpy.typing import NDArray

from flashtrain.sim.bench.streams import PERIOD_NS

_GRAIN = 8  # bytes; what may be touched is a multiple of it


class Refused(Exception):
    """An access that AXI answers with SLVERR."""


class TensorBuffer:
    """`size` bytes, of which the device may read and write what is granted; anything else fails the test.

    `bytes` is the content, shared with whoever keeps a view of it. An access to `broken` ranges is answered
    with SLVERR.
    """

    def __init__(self, dut, size: int):
        self.size = size
        self.bytes: NDArray[np.uint8] = np.zeros(size, np.uint8)
        self.broken: list[range] = []
        self._memory = self.bytes.data
        self._readable = bytearray(size // _GRAIN)
        self._writable = bytearray(size // _GRAIN)
        self._watched: list[tuple[range, Callable[[int], None]]] = []
        self.channels = []
        self._pauses: list[cocotb.task.Task] = []
        for port in ("data", "queue"):
            slave = AxiSlave(AxiBus.from_prefix(dut, f"{port}_"), dut.clk, dut.rst, target=_Side(self, port))
            for side in (slave.write_if, slave.read_if):
                side.log.setLevel(logging.ERROR)
            write, read = slave.write_if, slave.read_if
            self.channels += [
                write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel,
            ]  # fmt: skip
            setattr(self, port, slave)
        for channel in self.channels:
            channel.log.setLevel(logging.ERROR)

    def grant(self, place: range, *, read: bool = False, write: bool = False) -> None:
        """From now on the device may do exactly this with the bytes in `place`."""
        grains = slice(place.start // _GRAIN, -(-place.stop // _GRAIN))
        count = grains.stop - grains.start
        self._readable[grains] = bytes([read]) * count
        self._writable[grains] = bytes([write]) * count

    def watch(self, place: range, callback: Callable[[int], None]) -> None:
        """Call `callback` with the address of each beat that was written to `place`."""
        self._watched.append((place, callback))

    def slow_down(self, busy: float, longest: int = 40) -> None:
        """Let each channel of both ports work a share `busy` of the time, with pauses of `longest` cycles."""
        for task in self._pauses:
            task.cancel()
        for channel in self.channels:
            channel.pause = False
        self._pauses = [
            cocotb.start_soon(_pause_at_random(channel, busy, longest)) for channel in self.channels
        ]

    def read(self, port: str, address: int, length: int) -> bytes:
        self._check(port, "read", self._readable, address, length)
        return bytes(self._memory[address : address + length])

    def write(self, port: str, address: int, data: bytes) -> None:
        self._check(port, "write", self._writable, address, len(data))
        self._memory[address : address + len(data)] = data
        for place, callback in self._watched:
            if address in place:
                callback(address)

    def _check(self, port: str, what: str, allowed: bytearray, address: int, length: int) -> None:
        if any(address in place for place in self.broken):
            raise Refused
        first, last = address // _GRAIN, (address + length - 1) // _GRAIN
        if last >= len(allowed) or not allowed[first] or not allowed[last]:
            raise AssertionError(
                f"{what} of {length} bytes at {address:#x} by the {port} port is not allowed"
            )


class _Side:
    """One port's way to the memory, as cocotbext-axi calls it.

    It makes an answer with SLVERR of every exception; those that are not meant so fail the test.
    """

    def __init__(self, buffer: TensorBuffer, port: str):
        self._buffer = buffer
        self._port = port

    async def read(self, address: int, length: int) -> bytes:
        with _failing_the_test():
            return self._buffer.read(self._port, address, length)

    async def write(self, address: int, data: bytes) -> None:
        with _failing_the_test():
            self._buffer.write(self._port, address, data)


@contextmanager
def _failing_the_test() -> Iterator[None]:
    async def fail(error: Exception) -> None:
        raise error

    try:
        yield
    except Refused:
        raise
    except Exception as error:
        cocotb.start_soon(fail(error))
        raise


async def _pause_at_random(channel, busy: float, longest: int) -> None:
    """Time, not cycles, is waited for: Python sleeps meanwhile."""
    while True:
        paused = random.random() >= busy
        channel.pause = paused
        await Timer(random.randint(1, longest) * PERIOD_NS, "ns")
