"""A function by its registers, queues, interrupts and resets."""

import asyncio
import struct
import time
from collections.abc import Awaitable, Callable

import pytest

from flashtrain.nvme.pcie.queues import SubmissionQueue
from flashtrain.nvme.pcie.turns import Turns
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.spec.pcie import Priority

from .root_complex import (
    ACQ,
    ADMIN_CQ,
    AQA,
    ASQ,
    CC,
    CSTS,
    DATA,
    DOORBELLS,
    ENABLE,
    MASTER_AND_MEMORY,
    MEMORY_BYTES,
    MSIX_CONTROL,
    MSIX_ENABLE,
    TABLE,
    RootComplex,
    entry,
    function_of,
)  # fmt: skip

READ, WRITE = 0x02, 0x01
FUNCTION_RESET_AT, FUNCTION_RESET = 0x69, 0x80
Body = Callable[[RootComplex], Awaitable[None]]


def drive(body: Body, preset: str = "tiny", **settings) -> None:
    async def run() -> None:
        async with function_of(preset, **settings) as host:
            await body(host)

    asyncio.run(run())


def test_the_configuration_space():
    async def body(host: RootComplex) -> None:
        space = host.function.configuration
        assert space.read(0, 4) not in (0, 0xFFFF_FFFF) and space.read(8, 4) >> 8 == 0x010802
        space.write(0x10, 0xFFFF_FFFF, 4)
        assert space.read(0x10, 4) == 0xFFFF_C000  # 16 KiB of 32 bits
        for bar in range(0x14, 0x28, 4):
            space.write(bar, 0xFFFF_FFFF, 4)
            assert space.read(bar, 4) == 0
        found, place = [], space.read(0x34, 1)
        while place:
            found.append(space.read(place, 1))
            place = space.read(place + 1, 1)
        assert found == [0x01, 0x11, 0x10]
        assert space.read(MSIX_CONTROL, 2) == 8 and space.read(0x54, 4) == 0x2000
        assert space.read(0x3D, 1) == 0  # no INTx
        space.write(0, 0, 4)
        space.write(255, 0xFFFF, 2)
        assert space.read(0, 4) not in (0, 0xFFFF_FFFF)

    drive(body)


def test_the_registers():
    async def body(host: RootComplex) -> None:
        capabilities = host.read(0, 8)
        assert capabilities & 0xFFFF == 1023 and capabilities >> 16 & 1 and capabilities >> 32 & 0xF == 0
        assert capabilities >> 37 & 0xFF == 0b0100_0001 and capabilities >> 48 & 0xFF == 0x40
        assert host.read(8) == 0x0002_0000 and host.read(0x68) == 0xFF
        assert host.read(0x0B, 1) == 0 and host.read(0x0A, 2) == 2
        host.write(0x0C, 5)
        host.write(0x10, 1)
        assert host.read(0x0C) == host.read(0x10) == 4
        host.write(AQA, 0xFFFF_FFFF)
        host.write(ASQ, 0x1234_5678_9ABC_DEF0, 8)
        assert host.read(AQA) == 0x0FFF_0FFF and host.read(ASQ, 8) == 0x1234_5678_9ABC_D000
        host.write(ASQ, 1, 2)  # no access of a whole dword: ignored
        host.write(0, 0, 8)
        assert host.read(ASQ, 8) == 0x1234_5678_9ABC_D000 and host.read(0, 8) == capabilities
        await host.enable()
        host.write(AQA, 0)
        assert host.read(AQA) == 31 << 16 | 31  # settled while the controller is enabled

    drive(body)


@pytest.mark.parametrize(
    "sizes, submissions, configuration",
    [
        (31 << 16, 0x1_0000, ENABLE),
        (31, 0x1_0000, ENABLE),
        (31 << 16 | 31, 0x1_1000, ENABLE | 1 << 7),
        (31 << 16 | 31, 0x1_0000, ENABLE | 5 << 7),
        (31 << 16 | 31, 0x1_0000, ENABLE | 1 << 4),
        (31 << 16 | 31, 0x1_0000, ENABLE | 2 << 11),
    ],
    ids=["one-entry", "one-completion", "unaligned", "page", "command-set", "arbitration"],
)
def test_a_controller_that_cannot_be_enabled_is_fatal(sizes, submissions, configuration):
    async def body(host: RootComplex) -> None:
        host.write(AQA, sizes)
        host.write(ASQ, submissions, 8)
        host.write(ACQ, ADMIN_CQ, 8)
        host.write(CC, configuration)
        assert host.read(CSTS) == 0b10
        host.write(DOORBELLS, 1)
        await asyncio.sleep(0)
        assert not any(host.memory.bytes)
        host.write(CC, 0)
        await host.enable()

    drive(body)


@pytest.mark.parametrize("place", ["submissions", "completions", "no-master"])
def test_queues_outside_of_the_memory_are_fatal(place):
    async def body(host: RootComplex) -> None:
        await host.enable()
        await host.create(1)
        before = bytes(host.memory.bytes)
        if place == "no-master":
            host.function.configuration.write(0x04, 0, 2)
        else:
            host.write(CC, 0)
            host.write(AQA, 31 << 16 | 31)
            host.write(ASQ, MEMORY_BYTES if place == "submissions" else 0x1_0000, 8)
            host.write(ACQ, MEMORY_BYTES if place == "completions" else ADMIN_CQ, 8)
            host.write(CC, ENABLE)
            await host.until(lambda: host.read(CSTS), "CSTS")
        host.write(DOORBELLS, 5)
        await asyncio.sleep(0)
        assert host.read(CSTS) & 2 and host.memory.bytes == before
        assert any("the controller has stopped: " in line for line in host.log)
        await host.disable()
        await host.enable()
        assert host.read(CSTS) == 1

    drive(body)


def test_interrupts_wait_while_they_are_masked():
    async def body(host: RootComplex) -> None:
        for vector in range(3):
            host.write(TABLE + 16 * vector, 0xFEE0_0000 + 0x1000 * vector, 8)
            host.write(TABLE + 16 * vector + 8, 0x40 + vector)
        await host.enable()
        await host.create(1, vector=2)
        await asyncio.sleep(0)
        assert not host.memory.messages  # MSI-X is off
        host.function.configuration.write(MSIX_CONTROL, MSIX_ENABLE, 2)
        read = entry(READ, 1, 1, DATA)
        await host.execute(1, read)
        await asyncio.sleep(0)
        assert not host.memory.messages and host.read(0x3000) == 1 << 2
        host.write(TABLE + 16 * 2 + 12, 0)
        assert host.memory.messages == [(0xFEE0_2000, 0x42)] and host.read(0x3000) == 0
        host.function.configuration.write(MSIX_CONTROL, MSIX_ENABLE | 0x4000, 2)
        host.submit(1, read, entry(READ, 2, 1, DATA))
        await host.completions(1, 2)
        await asyncio.sleep(0)
        assert len(host.memory.messages) == 1
        host.function.configuration.write(MSIX_CONTROL, MSIX_ENABLE, 2)
        assert len(host.memory.messages) == 2  # one for both completions
        assert host.read(TABLE + 32) == 0xFEE0_2000

    drive(body)


def test_interrupts_wait_for_more_completions():
    """Up to a threshold, and for a time. Those of the admin queue, and of a vector that is set so, do not."""

    async def body(host: RootComplex) -> None:
        messages = host.memory.messages

        async def begin() -> None:
            host.function.configuration.write(MSIX_CONTROL, MSIX_ENABLE, 2)
            for vector in range(4):
                host.write(TABLE + 16 * vector, 0xFEE0_0000, 8)
                host.write(TABLE + 16 * vector + 8, vector)
                host.write(TABLE + 16 * vector + 12, 0)
            await host.enable()
            for queue in (1, 3):
                await host.create(queue, vector=queue)

        async def change(*dwords: int) -> None:
            made = entry(AdminOpcode.SET_FEATURES, 1, dwords=dwords)
            assert (await host.execute(0, made)).status == 0

        async def fired(queue: int, count: int) -> list[int]:
            """The vectors of messages after so many commands, one after the other."""
            messages.clear()
            for _ in range(count):
                await host.execute(queue, entry(READ, 1, 1, DATA))
                await asyncio.sleep(0)
            return [data for _, data in messages]

        await begin()
        assert await fired(1, 2) == [1, 1]
        await change(0x08, 255 << 8 | 2)
        assert await fired(1, 2) == [] and await fired(3, 2) == []
        assert await fired(1, 1) == [1] and await fired(1, 5) == [1]
        messages.clear()
        await change(0x09, 1 << 16 | 3)
        await asyncio.sleep(0)
        assert [data for _, data in messages] == [1, 3, 0]  # the admin queue's own comes last
        assert await fired(3, 2) == [3, 3] and await fired(1, 1) == []
        await change(0x08, 10 << 8 | 200)
        begun = time.monotonic()
        assert await fired(1, 2) == []
        await host.until(lambda: messages, "the end of the time")
        assert [data for _, data in messages] == [1] and time.monotonic() - begun >= 1e-3
        await change(0x08, 200)  # no time
        assert await fired(1, 2) == [1, 1]
        await change(0x08, 255 << 8 | 200)
        assert await fired(1, 2) == []
        await host.disable()
        await begin()
        assert await fired(1, 2) == [1, 1]

    drive(body)


def test_completions_wait_for_room():
    async def body(host: RootComplex) -> None:
        await host.enable()
        pair = await host.create(1, 4)
        for first in (0, 3, 6):
            host.submit(1, *(entry(READ, first + number, 1, DATA) for number in range(3)))
            for _ in range(9):
                await asyncio.sleep(0)
        posted = host.memory.bytes[pair.completions + 14 : pair.completions + 64 : 16]
        assert list(posted) == [1, 1, 1, 0]  # phases; the last entry stays empty
        # Three are posted, three wait, one more was fetched: the host takes nothing, so no other one is.
        assert host.function.commands._submissions[1].room == 0
        host.submit(0, entry(AdminOpcode.ASYNC_EVENT_REQUEST, 1))
        host.write(DOORBELLS + 8, (pair.tail + 3) % 4)
        assert (await host.completions(0, 1))[0].result == 0x01_01_00
        assert sorted(one.cid for one in await host.completions(1, 9)) == list(range(9))

    drive(body)


def test_queues_of_many_numbers_take_turns():
    async def body(host: RootComplex) -> None:
        await host.enable()
        for number in range(1, 9):
            await host.create(number, 64)
        most = host.function.commands._most_begun
        for number in range(1, 9):
            host.submit(number, *(entry(READ, cid, 1, DATA) for cid in range(63)))
        begun = [len(host.function.commands._submissions[number].commands) for number in range(1, 9)]
        assert sum(begun) <= most
        for number in range(1, 9):
            found = await host.completions(number, 63)
            assert sorted(one.cid for one in found) == list(range(63))
            assert {one.queue for one in found} == {number}

    drive(body)


def test_commands_that_have_not_begun_can_be_aborted():
    async def body(host: RootComplex) -> None:
        await host.enable()
        await host.create(1, 512)
        host.submit(1, *(entry(READ, cid, 1, DATA) for cid in range(500)))
        last, gone = (
            entry(AdminOpcode.ABORT, 1, dwords=(1 | 499 << 16,)),
            entry(AdminOpcode.ABORT, 2, dwords=(9,)),
        )
        host.submit(0, last, gone)
        assert [one.result for one in await host.completions(0, 2)] == [0, 1]
        found = await host.completions(1, 500)
        assert [one.status for one in found if one.cid == 499] == [0x007]
        assert sum(one.status for one in found) == 0x007

    drive(body)


@pytest.mark.parametrize("flags", [0x40, 0x80, 0xC0])
def test_admin_commands_have_no_sgl(flags):
    """PSDT other than 0 is refused before a byte moves; of I/O commands only the reserved value is."""

    async def body(host: RootComplex) -> None:
        await host.enable()
        await host.create(1)
        before = bytes(host.memory.bytes[DATA : DATA + 4096])
        identify = entry(AdminOpcode.IDENTIFY, 1, prp1=DATA, dwords=(1,), flags=flags)
        read = entry(READ, 2, 1, DATA, flags=flags)
        for queue, one in ((0, identify), (1, read))[: 1 + (flags == 0xC0)]:
            found = await host.execute(queue, one)
            assert (found.status, found.cid) == (0x002, queue + 1)
        assert bytes(host.memory.bytes[DATA : DATA + 4096]) == before

    drive(body)


def test_a_deleted_queue_has_no_command_left():
    async def body(host: RootComplex) -> None:
        await host.enable()
        await host.create(1, 512)
        host.submit(1, *(entry(READ, cid, 1, DATA) for cid in range(500)))
        used = entry(AdminOpcode.DELETE_CQ, 1, dwords=(1,))
        assert (await host.execute(0, used)).status == 0x10C
        host.submit(0, entry(AdminOpcode.DELETE_SQ, 2, dwords=(1,)))
        host.write(DOORBELLS + 8, 3)  # of a queue that goes
        assert (await host.completions(0, 1))[0].status == 0
        statuses = [one.status for one in host.poll(1)]
        assert len(statuses) == 500 and set(statuses) == {0, 0x008}
        assert (await host.execute(0, used)).status == 0
        await host.create(1)
        assert (await host.execute(1, entry(READ, 1, 1, DATA))).status == 0

    drive(body)


def test_wrong_doorbells_are_events():
    async def body(host: RootComplex) -> None:
        await host.enable()
        await host.create(1, 16)
        for offset, value, result in ((8 * 5, 1, 0x01_00_00), (8, 16, 0x01_01_00), (12, 3, 0x01_01_00)):
            host.submit(0, entry(AdminOpcode.ASYNC_EVENT_REQUEST, 1))
            host.write(DOORBELLS + offset, value)
            assert (await host.completions(0, 1))[0].result == result
            page = entry(AdminOpcode.GET_LOG_PAGE, 2, 0xFFFF_FFFF, DATA, dwords=(15 << 16 | 1,))
            assert (await host.execute(0, page)).status == 0

    drive(body)


def test_features_of_interrupts():
    async def body(host: RootComplex) -> None:
        await host.enable()

        async def feature(opcode: int, *dwords: int) -> tuple[int, int]:
            answer = await host.execute(0, entry(opcode, 1, dwords=dwords))
            return answer.status, answer.result

        get, change = AdminOpcode.GET_FEATURES, AdminOpcode.SET_FEATURES
        assert await feature(change, 0x08, 0x1234) == (0, 0) and await feature(get, 0x08) == (0, 0x1234)
        assert await feature(change, 0x09, 1 << 16 | 3) == (0, 0)
        assert await feature(get, 0x09, 3) == (0, 1 << 16 | 3) and await feature(get, 0x09, 2) == (0, 2)
        assert await feature(get, 0x09, 9) == (0x002, 0)
        assert await feature(change, 0x07, 3 << 16 | 3) == (0, 7 << 16 | 7)
        assert (await feature(get, 0x0F))[0] == (await feature(get, 0x81))[0] == 0x002
        await host.create(1)
        assert (await feature(change, 0x07, 3 << 16 | 3))[0] == 0x00C

    drive(body)


def test_classes_of_queues_have_their_shares():
    """Urgent commands begin first, then so many of each class in a round as its weight says."""

    async def body(host: RootComplex) -> None:
        await host.enable(configuration=ENABLE | 1 << 11)
        # Three commands of high priority in a round, two of medium and one of low.
        for dwords in ((0x01, 2 << 24 | 1 << 16 | 7),):
            assert (await host.execute(0, entry(AdminOpcode.SET_FEATURES, 1, dwords=dwords))).status == 0
        got = await host.execute(0, entry(AdminOpcode.GET_FEATURES, 1, dwords=(0x01,)))
        assert got.result == 2 << 24 | 1 << 16 | 7
        turns = Turns()
        turns.weighted = True
        queues = [SubmissionQueue(one, 0, 8, None, None, Priority(one)) for one in range(4)]
        for queue in queues:
            turns.add(queue)
        weights = host.function.controller.features.weights
        found = []
        for _ in range(12):
            queue = turns.take(weights)
            found.append(queue.number)
            if queue.number:
                turns.add(queue)
        assert found == [0] + [1, 1, 1, 2, 2, 3] * 1 + [1, 1, 1, 2, 2]
        assert queues[3] in turns and queues[0] not in turns
        for queue in (3, 1):
            await host.create(queue, priority=queue)
            host.submit(queue, *(entry(READ, 10 * queue + one, 1, DATA) for one in range(4)))
        for queue in (1, 3):
            await host.completions(queue, 4)

    drive(body)


def test_identify_is_that_of_a_controller_without_fabrics():
    async def body(host: RootComplex) -> None:
        await host.enable()
        assert (await host.execute(0, entry(AdminOpcode.IDENTIFY, 1, prp1=DATA, dwords=(1,)))).status == 0
        data = host.memory.bytes[DATA : DATA + 4096]
        assert data[111] == 1 and data[512:514] == b"\x66\x44" and not any(data[1792:2048])
        assert not any(data[320:322])  # no keep-alive time
        assert data[536:540] == bytes([2, 0, 4, 0])  # SGLs of dwords, at times longer than the data

    drive(body)


@pytest.mark.parametrize("in_loop", [True, False], ids=["loop", "thread"])
def test_data_survive_resets_of_the_controller_and_of_the_function(in_loop):
    async def body(host: RootComplex) -> None:
        await host.enable()
        await host.create(1)
        content = bytes(range(256)) * 2
        host.memory.bytes[DATA : DATA + 512] = content
        assert (await host.execute(1, entry(WRITE, 1, 1, DATA))).status == 0
        for reset in ("controller", "function", "conventional"):
            if reset == "controller":
                await host.disable()
            elif reset == "function":
                host.function.configuration.write(FUNCTION_RESET_AT, FUNCTION_RESET, 1)
                assert host.function.configuration.read(0x04, 2) == 0 and host.read(TABLE + 12) == 1
            else:
                host.function.reset()
            assert host.read(CSTS) == 0 and host.read(CC) in (0, ENABLE & ~1)
            await host.enable()
            await host.create(1)
            host.memory.bytes[DATA : DATA + 512] = bytes(512)
            assert (await host.execute(1, entry(READ, 2, 1, DATA))).status == 0
            assert host.memory.bytes[DATA : DATA + 512] == content

    drive(body, in_loop=in_loop)


def test_a_shutdown_is_recorded():
    async def body(host: RootComplex) -> None:
        await host.enable()
        host.write(CC, ENABLE | 1 << 14)
        await host.until(lambda: host.read(CSTS) >> 2 & 3 == 2, "CSTS.SHST")
        await host.disable()
        await host.enable()
        assert host.read(CSTS) == 1 and host.function.configuration.read(0x04, 2) == MASTER_AND_MEMORY

    drive(body)


def test_appends_answer_with_64_bits():
    async def body(host: RootComplex) -> None:
        await host.enable()
        await host.create(1)
        lba = 2 * 2048
        append = entry(0x7D, 1, 1, DATA, dwords=(lba, 0, 0))
        assert [(await host.execute(1, append)).result for _ in range(2)] == [lba, lba + 1]
        report = entry(0x7A, 2, 1, DATA, dwords=(0, 0, 64 * 4 // 4 - 1, 0))
        assert (await host.execute(1, report)).status == 0
        assert struct.unpack_from("<Q", host.memory.bytes, DATA)[0] == 30
        assert struct.unpack_from("<Q", host.memory.bytes, DATA + 64 * 3 + 24)[0] == lba + 2

    drive(body, preset="small")


def test_acknowledged_data_survive_a_loss_of_power():
    """Also with commands under way, which have no completion. The controller is ready behind the recovery."""

    async def body(host: RootComplex) -> None:
        await host.enable()
        pair = await host.create(1)
        data = bytes(range(256)) * 2
        host.memory.bytes[DATA : DATA + 512] = data
        write = entry(WRITE, 1, 1, DATA, dwords=(0, 0, 0))
        assert (await host.execute(1, write)).status == 0
        host.submit(1, entry(WRITE, 2, 1, DATA, dwords=(1, 0, 0)), entry(READ, 3, 1, DATA + 4096))
        before = bytes(host.memory.bytes)
        recovered = host.function.lose_power()
        assert host.read(CSTS) == 0 and host.read(AQA) == 0
        host.function.configuration.write(0x04, MASTER_AND_MEMORY, 2)
        host.write(AQA, 0x001F_001F)
        host.write(ASQ, 0x1000, 8)
        host.write(ACQ, ADMIN_CQ, 8)
        host.write(CC, ENABLE)
        while not recovered.done():
            assert host.read(CSTS) == 0
            await asyncio.sleep(0)
        recovered.result()
        await host.until(lambda: host.read(CSTS) == 1, "CSTS.RDY")
        assert bytes(host.memory.bytes) == before and pair.number == 1
        await host.disable()
        await host.enable()
        await host.create(1)
        assert (await host.execute(1, entry(READ, 4, 1, DATA + 4096))).status == 0
        assert host.memory.bytes[DATA + 4096 : DATA + 4608] == data

    drive(body)


def test_a_device_that_does_not_recover_stays_stopped():
    async def body(host: RootComplex) -> None:
        await host.enable()
        thread = host.function.controller.subsystem.thread
        thread.device.recover = lambda: 1 // 0
        with pytest.raises(ZeroDivisionError):
            await host.function.lose_power()
        assert host.read(CSTS) & 2 and "the device has stopped: ZeroDivisionError" in host.log[-1]

    drive(body)
