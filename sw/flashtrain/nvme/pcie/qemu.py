"""QEMU as the host of a function: its device `x-pci-proxy-dev`, and messages over qtest.

The proxy sends each access of the function over a socket, and with it the guest's memory as files. The way
back is the character device `qtest`, which writes to the guest's interrupt controller. The formats are those
of QEMU's `include/hw/remote/mpqemu-link.h` and `docs/devel/testing/qtest.rst`.
"""

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Protocol

from flashtrain.nvme.errors import ServeError
from flashtrain.spec.pcie import BAR_BYTES

from .configuration import ConfigurationSpace
from .memory import MappedMemory, Region

_HEADER = struct.Struct("<iIQ")
_MEMORY = struct.Struct("<8Q8Q8q")
_CONFIGURATION = struct.Struct("<IIi")
_ACCESS = struct.Struct("<QQI?3x")
_VALUE = struct.Struct("<Q")
_MOST_REGIONS = 8
_MOST_MESSAGE_BYTES = 4096
_ALL_ONES = 0xFFFF_FFFF_FFFF_FFFF

DEVICE = "x-pci-proxy-dev"
"""QEMU's device; builds for Linux hosts have it since 5.2."""

NAME = "qtest"
"""The name that QEMU wants the character device to have."""


class _Kind(IntEnum):
    """Messages of the proxy. Memory and interrupt lines take no answer."""

    MEMORY = 0
    ANSWER = 1
    WRITE_CONFIGURATION = 2
    READ_CONFIGURATION = 3
    WRITE_BAR = 4
    READ_BAR = 5
    INTERRUPT_LINE = 6
    RESET = 7


class Messages:
    """Message-signalled interrupts over qtest: the same message is under way once at a time.

    One that comes while it is under way follows it: no interrupt is lost, and QEMU's queue stays short.
    Vectors of one processor have the same address and other data.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._under_way: list[tuple[int, int]] = []
        self._again: set[tuple[int, int]] = set()
        self._rest = b""

    def send(self, address: int, data: int) -> None:
        message = address, data
        if message in self._under_way:
            self._again.add(message)
        else:
            self._under_way.append(message)
            self._socket.sendall(f"writel {address:#x} {data:#x}\n".encode())

    def take_answers(self) -> bool:
        """Read QEMU's answers, each to the oldest message under way; False when QEMU has gone."""
        try:
            received = self._socket.recv(_MOST_MESSAGE_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            if not line.startswith(b"OK") or not self._under_way:
                continue
            message = self._under_way.pop(0)
            if message in self._again:
                self._again.remove(message)
                self.send(*message)
        return bool(received)


class ProxyMemory(MappedMemory):
    """The guest's memory, with messages over qtest."""

    def __init__(self, messages: Messages) -> None:
        super().__init__()
        self._messages = messages

    def message(self, address: int, data: int) -> None:
        self._messages.send(address, data)


class HostedFunction(Protocol):
    """A function as its host reaches it: `flashtrain.nvme.pcie.function.Function`, or the drive in RTL."""

    configuration: ConfigurationSpace

    def read(self, offset: int, length: int) -> int: ...

    def write(self, offset: int, value: int, length: int) -> None: ...

    def reset(self) -> None: ...


class Proxy:
    """Answers the messages of QEMU's proxy device with a function, until that is pulled out."""

    def __init__(self, sock: socket.socket, function: HostedFunction, memory: ProxyMemory) -> None:
        self._socket, self._function, self._memory = sock, function, memory
        self._received = bytearray()
        self._files: list[int] = []
        self._gone = False

    def pull_out(self) -> None:
        """The function is gone at once: reads have ones, and writes go nowhere."""
        self._function.reset()
        self._gone = True

    def take(self) -> bool:
        """Read what has come, and answer it; False when QEMU has gone."""
        try:
            data, files, _, _ = socket.recv_fds(self._socket, _MOST_MESSAGE_BYTES, _MOST_REGIONS)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._files += files
        self._received += data
        while len(self._received) >= _HEADER.size:
            kind, _, size = _HEADER.unpack_from(self._received)
            if size > _MOST_MESSAGE_BYTES:
                raise ServeError(f"QEMU's proxy sends {size} bytes in message {kind}: another protocol")
            end = _HEADER.size + size
            if len(self._received) < end:
                break
            body = bytes(self._received[_HEADER.size : end])
            del self._received[:end]
            self._execute(kind, body)
        return bool(data)

    def _execute(self, kind: int, body: bytes) -> None:
        function = self._function
        if self._gone and kind not in (_Kind.MEMORY, _Kind.INTERRUPT_LINE):
            # No value of a register is as long, and QEMU takes 64 ones for the end of its partner.
            self._answer(0xFFFF_FFFF)
            return
        match kind:
            case _Kind.MEMORY:
                self._map(_MEMORY.unpack(body))
            case _Kind.INTERRUPT_LINE:
                while self._files:
                    os.close(self._files.pop())
            case _Kind.READ_CONFIGURATION:
                offset, _, length = _CONFIGURATION.unpack(body)
                self._answer(function.configuration.read(offset, length))
            case _Kind.WRITE_CONFIGURATION:
                offset, value, length = _CONFIGURATION.unpack(body)
                function.configuration.write(offset, value, length)
                self._answer(0)
            case _Kind.READ_BAR:
                address, _, length, _ = _ACCESS.unpack(body)
                self._answer(function.read(address % BAR_BYTES, length))
            case _Kind.WRITE_BAR:
                # Answered first: the guest's processor goes on while commands are fetched.
                self._answer(0)
                address, value, length, _ = _ACCESS.unpack(body)
                function.write(address % BAR_BYTES, value, length)
            case _Kind.RESET:
                function.reset()
                self._answer(0)
            case _:
                self._answer(_ALL_ONES)

    def _answer(self, value: int) -> None:
        self._socket.sendall(_HEADER.pack(_Kind.ANSWER, 0, _VALUE.size) + _VALUE.pack(value))

    def _map(self, fields: Sequence[int]) -> None:
        """Each region with a length has a file, in this order."""
        n = _MOST_REGIONS
        places = [
            place for place in zip(fields[:n], fields[n : 2 * n], fields[2 * n :], strict=True) if place[1]
        ]
        files, self._files = self._files, []
        regions = [
            Region(address, length, file, offset)
            for (address, length, offset), file in zip(places, files, strict=False)
        ]
        self._memory.map(regions)


def options(machine: str, memory_mib: int, proxies: Sequence[int], qtest: int) -> list[str]:
    """QEMU's options for a machine with functions: one thread of virtual processors, memory in a file.

    With several threads the proxy drops QEMU's lock while it waits, and its guard against re-entrance loses
    doorbells.

    proxies, qtest: descriptors that QEMU inherits, one for each function.
    """
    return [
        *("-accel", "tcg,thread=single", "-cpu", "max", "-nodefaults", "-no-user-config"),
        *("-m", str(memory_mib), "-object", f"memory-backend-memfd,id=ram,size={memory_mib}M,share=on"),
        *("-machine", f"{machine},memory-backend=ram"),
        *("-chardev", f"socket,id={NAME},fd={qtest}", "-qtest", f"chardev:{NAME}", "-qtest-log", "none"),
        *(option for proxy in proxies for option in ("-device", f"{DEVICE},fd={proxy}")),
    ]


def machine_of(version: str) -> str:
    """The machine for a version of QEMU: from 9 on, q35 crashes at start with this proxy and without KVM."""
    major = version.partition(".")[0]
    if not major.isdigit():
        raise ServeError(f"QEMU's version is {version!r}; expected numbers such as 7.2.22")
    return "q35,usb=off" if int(major) < 9 else "microvm,pcie=on,acpi=on,rtc=on"


async def run_machine(
    command: Callable[[Sequence[int], int], Sequence[str]],
    environment: dict[str, str],
    makes: Sequence[Callable[[ProxyMemory], HostedFunction]],
    ended: asyncio.Event,
    started: Callable[[Sequence[Proxy]], object] = lambda proxies: None,
) -> int:
    """Start QEMU, and be its functions until it ends; its exit code.

    - command: of the descriptors of the proxies, and that of qtest.
    - makes: each makes a function of the guest's memory.
    - ended: ends QEMU when it is set.
    - started: gets the proxies of the functions, in their order.
    """
    loop = asyncio.get_running_loop()
    our_qtest, their_qtest = socket.socketpair()
    messages = Messages(our_qtest)
    pairs = [socket.socketpair() for _ in makes]
    memories = [ProxyMemory(messages) for _ in makes]
    proxies = [
        Proxy(ours, make(memory), memory)
        for (ours, _), make, memory in zip(pairs, makes, memories, strict=True)
    ]
    theirs = [sock for _, sock in pairs]
    descriptors, qtest = [sock.fileno() for sock in theirs], their_qtest.fileno()
    try:
        process = await asyncio.create_subprocess_exec(
            *command(descriptors, qtest), env=environment, pass_fds=(*descriptors, qtest)
        )
    except OSError as error:
        raise ServeError(f"QEMU does not start: {error.strerror or error}") from None
    for sock in (*theirs, their_qtest):
        sock.close()
    failures: list[ServeError] = []

    def take(sock: socket.socket, proxy: Proxy) -> None:
        try:
            if not proxy.take():
                loop.remove_reader(sock)
        except ServeError as error:
            failures.append(error)
            loop.remove_reader(sock)
            ended.set()

    def take_answers() -> None:
        if not messages.take_answers():
            loop.remove_reader(our_qtest)

    for (ours, _), proxy in zip(pairs, proxies, strict=True):
        loop.add_reader(ours, take, ours, proxy)
    loop.add_reader(our_qtest, take_answers)
    started(proxies)
    wait = asyncio.ensure_future(process.wait())
    asked = asyncio.ensure_future(ended.wait())
    try:
        await asyncio.wait({wait, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not wait.done():
            process.terminate()
        code = await wait
    finally:
        asked.cancel()
        for sock in (*(ours for ours, _ in pairs), our_qtest):
            loop.remove_reader(sock)
            sock.close()
        for memory in memories:
            memory.close()
    if failures:
        raise failures[0]
    return code
