"""The messages of QEMU's proxy and of qtest, with the other end of the sockets in the test."""

import asyncio
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.pcie.function import Function
from flashtrain.nvme.pcie.memory import MappedMemory, Region, Unreachable, read, scatter
from flashtrain.nvme.pcie.qemu import Messages, Proxy, ProxyMemory, machine_of

from .root_complex import function_of

PAGE = 4096


@contextmanager
def files(*sizes: int) -> Iterator[list[int]]:
    """Descriptors of memory in files."""
    found = [os.memfd_create("guest") for _ in sizes]
    for file, size in zip(found, sizes, strict=True):
        os.ftruncate(file, size)
    yield found


def test_regions_of_a_file_are_one_memory():
    with files(4 * PAGE) as (file,):
        memory = MappedMemory()
        memory.map([Region(0x8000, PAGE, os.dup(file), PAGE), Region(0, 2 * PAGE, os.dup(file), 2 * PAGE)])
        scatter(b"ab", memory.views(2 * PAGE - 2, 2))
        scatter(b"cd", memory.views(0x8000, 2))
        assert os.pread(file, 2, 4 * PAGE - 2) == b"ab" and os.pread(file, 2, PAGE) == b"cd"
        assert read(memory, 0, 2) == bytes(2)
        for address, length in ((2 * PAGE - 1, 2), (0x8000 + PAGE, 1), (0x7FFF, 2), (1 << 63, 8)):
            with pytest.raises(Unreachable):
                memory.views(address, length)
        memory.map([Region(PAGE, PAGE, os.dup(file), 0), Region(2 * PAGE, PAGE, os.dup(file), 3 * PAGE)])
        scatter(b"xy", memory.views(2 * PAGE - 1, 2))  # across two regions
        assert os.pread(file, 1, PAGE - 1) == b"x" and os.pread(file, 1, 3 * PAGE) == b"y"
        open_before = len(os.listdir("/proc/self/fd"))
        memory.map([Region(0, PAGE, os.dup(file), 0)])
        assert len(os.listdir("/proc/self/fd")) == open_before
        os.close(file)


def test_the_same_message_is_under_way_once():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        messages = Messages(ours)
        for data in (1, 1, 2, 1):
            messages.send(0xFEE0_0000, data)
        messages.send(0xFEE0_1000, 1)
        # Another vector of the same processor is another message.
        assert theirs.recv(100) == b"writel 0xfee00000 0x1\nwritel 0xfee00000 0x2\nwritel 0xfee01000 0x1\n"
        theirs.sendall(b"O")
        assert messages.take_answers()
        theirs.sendall(b"K\nOK\n")
        assert messages.take_answers()
        assert theirs.recv(100) == b"writel 0xfee00000 0x1\n"
        theirs.close()
        assert not messages.take_answers()


def message(kind: int, body: bytes) -> bytes:
    return struct.pack("<iIQ", kind, 0, len(body)) + body


def test_accesses_are_answered_in_any_pieces():
    async def run() -> None:
        async with function_of("tiny") as host:
            proxy, theirs = _proxy(host.function)
            with theirs:
                stream = b"".join(
                    (
                        message(3, struct.pack("<IIi", 8, 0, 4)),
                        message(2, struct.pack("<IIi", 4, 6, 2)),
                        message(4, struct.pack("<QQIB3x", 0xFEBF_4024, 0x001F_001F, 4, 1)),
                        message(5, struct.pack("<QQIB3x", 0xFEBF_4024, 0, 4, 1)),
                        message(7, b""),
                        message(5, struct.pack("<QQIB3x", 0xFEBF_4024, 0, 4, 1)),
                        message(99, b""),
                    )
                )
                for place in range(0, len(stream), 7):
                    theirs.sendall(stream[place : place + 7])
                    assert proxy.take()
                answers = theirs.recv(1000)
                values = [struct.unpack_from("<iIQQ", answers, place) for place in range(0, len(answers), 24)]
                assert all(value[:3] == (1, 0, 8) for value in values)
                assert [value[3] for value in values] == [
                    0x0108_0201, 0, 0, 0x001F_001F, 0, 0, 0xFFFF_FFFF_FFFF_FFFF,
                ]  # fmt: skip
                theirs.close()
                assert not proxy.take()

    asyncio.run(run())


def test_memory_comes_with_its_files():
    async def run() -> None:
        async with function_of("tiny") as host:
            proxy, theirs = _proxy(host.function)
            with theirs, files(2 * PAGE, PAGE) as (one, other):
                addresses, lengths, offsets = [0, 0x10_0000], [PAGE, PAGE], [PAGE, 0]
                rest = [0] * 6
                body = struct.pack("<8Q8Q8q", *addresses, *rest, *lengths, *rest, *offsets, *rest)
                socket.send_fds(theirs, [message(0, body)], [one, other])
                line = os.eventfd(0)
                socket.send_fds(theirs, [message(6, b"")], [line])
                assert proxy.take() and proxy.take()
                scatter(b"low", proxy._memory.views(0, 3))
                scatter(b"high", proxy._memory.views(0x10_0000, 4))
                assert os.pread(one, 3, PAGE) == b"low" and os.pread(other, 4, 0) == b"high"
                assert not proxy._files
                os.close(line)

    asyncio.run(run())


def test_another_protocol_is_refused():
    async def run() -> None:
        async with function_of("tiny") as host:
            proxy, theirs = _proxy(host.function)
            with theirs:
                theirs.sendall(struct.pack("<iIQ", 3, 0, 1 << 40))
                with pytest.raises(ServeError, match="another protocol"):
                    proxy.take()

    asyncio.run(run())


def test_a_function_that_is_pulled_out_has_ones():
    async def run() -> None:
        async with function_of("tiny") as host:
            proxy, theirs = _proxy(host.function)
            with theirs:
                host.function.write(0x24, 0x001F_001F, 4)
                proxy.pull_out()
                assert host.function.read(0x24, 4) == 0
                theirs.sendall(
                    message(3, struct.pack("<IIi", 8, 0, 4))
                    + message(2, struct.pack("<IIi", 4, 6, 2))
                    + message(4, struct.pack("<QQIB3x", 0xFEBF_4024, 1, 4, 1))
                    + message(5, struct.pack("<QQIB3x", 0xFEBF_4024, 0, 4, 1))
                    + message(7, b"")
                )
                assert proxy.take()
                answers = theirs.recv(1000)
                assert answers == struct.pack("<iIQQ", 1, 0, 8, 0xFFFF_FFFF) * 5
                assert not host.function.configuration.masters and host.function.read(0x24, 4) == 0

    asyncio.run(run())


def _proxy(function: Function) -> tuple[Proxy, socket.socket]:
    ours, theirs = socket.socketpair()
    qtest, _ = socket.socketpair()
    return Proxy(ours, function, ProxyMemory(Messages(qtest))), theirs


@pytest.mark.parametrize(
    "version, machine", [("7.2.22", "q35"), ("8.2.2", "q35"), ("9.1.0", "microvm"), ("10.0.2", "microvm")]
)
def test_the_machine_is_that_of_the_version(version, machine):
    assert machine_of(version).partition(",")[0] == machine


def test_a_version_that_is_none():
    with pytest.raises(ServeError, match="expected numbers"):
        machine_of("v")
