"""The firmware before a model of its front end: starts, resets, ends, deletions, health, refused data."""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from ctypes import CDLL

import pytest

from flashtrain.firmware import Firmware, FirmwareError, firmware_tables
from flashtrain.firmware.binding import OPTIONS, compiled
from flashtrain.firmware.sources import firmware_sources
from flashtrain.nvme.subsystem.features import DULBE, Feature
from flashtrain.nvme.subsystem.health import HealthField
from flashtrain.nvme.subsystem.log_format import LogPage
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import Port, preset
from flashtrain.spec.host_commands import EVERY_NAMESPACE
from flashtrain.spec.pcie import Mailbox, MailboxState, NamespaceWord
from flashtrain.spec.registers import (
    Control,
    Counter,
    PortRegister,
    Register,
    State,
    counter_register,
    port_register,
)
from flashtrain.spec.streams import NODES
from tests.nvme.pcie.root_complex import (
    ADMIN_CQ,
    ADMIN_SQ,
    CC,
    CSTS,
    DATA,
    DOORBELLS,
    ENABLE,
    MEMORY_BYTES,
    Memory,
    RootComplex,
    entry,
)

from .front_end import FirmwareFunction, FrontEnd, Registers

CONFIG, SLOTS, MOST_BYTES = preset("tiny"), 64, 1 << 20
TABLES = firmware_tables(
    CONFIG, NODES["objects"], SLOTS, MOST_BYTES, SubsystemSettings(queues=4, entries=64), "directed"
)
READ_IO = entry(0x02, 40, 1, DATA)
Body = Callable[[RootComplex], Awaitable[None]]


def drive(body: Body, library: CDLL | None = None) -> None:
    async def run() -> None:
        memory = Memory()
        host = RootComplex(FirmwareFunction(memory, TABLES, library), memory, [])
        await host.enable()
        await body(host)

    asyncio.run(run())


def feature(opcode: AdminOpcode, code: Feature, value: int = 0, nsid: int = 0) -> bytes:
    return entry(opcode, 3, nsid, dwords=(code, value))


async def log(host: RootComplex, page: LogPage, length: int = 512) -> bytes:
    words = (page | (length // 4 - 1) << 16,)
    one = entry(AdminOpcode.GET_LOG_PAGE, 4, EVERY_NAMESPACE, DATA, dwords=words)
    assert (await host.execute(0, one)).status == 0
    return bytes(host.memory.bytes[DATA : DATA + length])


# The start.


def test_the_start_configures_the_controller():
    registers, front_end = Registers(), FrontEnd(Memory())
    Firmware(front_end.access, registers, TABLES).start()
    written = dict(registers.written)
    assert written[Register.MEMORY_LOW] == SLOTS * MOST_BYTES and written[Register.MEMORY_HIGH] == 0
    for size in (PortRegister.SQ_SIZE, PortRegister.CQ_SIZE):
        assert written[port_register(Port.HOST, size)] == 2 * SLOTS - 1
    assert written[port_register(Port.HOST, PortRegister.CQ_BASE_LOW)] == SLOTS * MOST_BYTES
    assert port_register(Port.CORE, PortRegister.SQ_SIZE) not in written
    assert registers.written[-1] == (Register.CONTROL, Control.ENABLE | Control.FACTORY)
    zones = [NamespaceWord.zones.get(word) for word in front_end.namespaces]
    assert zones[:3] == [len(NODES["objects"].zones(CONFIG.geometry.zones)[nsid]) for nsid in (1, 2)] + [0]


@pytest.mark.parametrize(
    "tables, changed, message",
    [
        (TABLES[:-1], {}, "tables"),
        (bytes(8), {}, "tables"),
        (b"\1" + TABLES[1:], {}, "tables"),
        (TABLES, {Register.ID: 1}, "ID"),
        (TABLES, {Register.VERSION: 1}, "VERSION"),
        (TABLES, {Register.STATE: State.FATAL}, "fatal"),
        (TABLES, {Register.STATE: State.READY}, "not ready"),
    ],
)
def test_a_start_that_fails_says_why(tables, changed, message):
    registers = Registers()

    def access(offset: int, value: int | None) -> int:
        return changed[offset] if value is None and offset in changed else registers(offset, value)

    firmware = Firmware(FrontEnd(Memory()).access, access, tables)
    with pytest.raises(FirmwareError, match=message):
        firmware.start()


def test_an_exception_of_a_hook_reaches_the_caller():
    def access(offset: int, value: int | None) -> int:
        raise RuntimeError("no such register")

    firmware = Firmware(access, Registers(), TABLES)
    with pytest.raises(RuntimeError, match="no such register"):
        firmware.start()
    with pytest.raises(RuntimeError, match="no such register"):
        firmware.poll()


# Queues and resets with commands under way.


def test_a_deleted_queue_is_gone_when_its_commands_are_answered():
    async def body(host: RootComplex) -> None:
        await host.create(1)
        host.submit(1, READ_IO, READ_IO)
        delete = entry(AdminOpcode.DELETE_SQ, 9, dwords=(1,))
        host.submit(0, delete)
        assert host.poll(0) == [] and host.function.work()
        # Neither may another command have its CID, nor the queue be deleted or made again.
        assert (await host.execute(0, delete)).status == TargetStatus.CID_CONFLICT
        second = entry(AdminOpcode.DELETE_SQ, 10, dwords=(1,))
        assert (await host.execute(0, second)).status == TargetStatus.INVALID_QUEUE_NUMBER
        made = entry(AdminOpcode.CREATE_SQ, 11, prp1=0x8_0000, dwords=(15 << 16 | 1, 1 | 1 << 16))
        assert (await host.execute(0, made)).status == TargetStatus.INVALID_QUEUE_NUMBER
        completions = entry(AdminOpcode.DELETE_CQ, 12, dwords=(1,))
        assert (await host.execute(0, completions)).status == TargetStatus.INVALID_QUEUE_DELETION
        host.function.front_end.answer_io(1)
        host.function.work()
        [answer] = host.poll(0)
        assert (answer.cid, answer.status) == (9, 0)
        assert len(host.poll(1)) == 2 and not host.function.work()
        assert (await host.execute(0, completions)).status == 0

    drive(body)


def test_a_reset_answers_all_that_was_taken():
    async def body(host: RootComplex) -> None:
        await host.create(1)
        host.submit(1, READ_IO)
        events = [entry(AdminOpcode.ASYNC_EVENT_REQUEST, 20 + number) for number in range(3)]
        host.submit(0, *events, entry(AdminOpcode.DELETE_SQ, 30, dwords=(1,)))
        await host.execute(0, feature(AdminOpcode.SET_FEATURES, Feature.ASYNC_EVENTS, 0xFF))
        before = bytes(host.memory.bytes)
        host.write(CC, ENABLE & ~1)
        assert host.read(CSTS) == 1  # a command of the I/O queue is open
        host.function.front_end.answer_io(1)
        assert host.read(CSTS) == 0 and bytes(host.memory.bytes) == before
        await host.enable()
        got = await host.execute(0, feature(AdminOpcode.GET_FEATURES, Feature.ASYNC_EVENTS))
        assert (got.status, got.result) == (0, 0)
        host.submit(0, *events)  # none of the CIDs is in use
        assert host.poll(0) == []
        await host.create(1)

    drive(body)


@pytest.mark.parametrize("again", [False, True], ids=["disabled", "enabled-again"])
def test_a_reset_between_a_look_and_a_take(again):
    """Queues of before are gone, whichever command was taken."""

    async def body(host: RootComplex) -> None:
        front_end = host.function.front_end
        await host.create(1)
        made = entry(AdminOpcode.CREATE_CQ, 5, prp1=0x8_0000, dwords=(15 << 16 | 1, 1))
        access = front_end.access

        def late(offset: int, value: int | None) -> int:
            if offset != Mailbox.TAKE:
                return access(offset, value)
            front_end.access = access
            if not again:
                access(offset, value)
                front_end.write(CC, ENABLE & ~1)
                return 0
            front_end.write(CC, ENABLE & ~1)
            front_end.write(CC, ENABLE)
            host.memory.bytes[ADMIN_SQ : ADMIN_SQ + 64] = made
            front_end.write(DOORBELLS, 1)
            return access(offset, value)

        front_end.access = late
        host.memory.bytes[ADMIN_CQ : ADMIN_CQ + 512] = bytes(512)
        host.submit(0, entry(AdminOpcode.CREATE_CQ, 6, prp1=0x9_0000, dwords=(15 << 16 | 2, 1)))
        if again:
            assert sorted(front_end.completions) == [0, 1] and not front_end.submissions.keys() - {0}
            assert host.memory.bytes[ADMIN_CQ + 12 : ADMIN_CQ + 16] == struct.pack("<HH", 5, 1)
        else:
            assert host.read(CSTS) == 0 and not front_end.completions
            await host.enable()
            await host.create(2)

    drive(body)


def test_an_end_waits_for_open_commands():
    async def body(host: RootComplex) -> None:
        await host.create(1)
        host.submit(1, READ_IO)
        host.write(CC, ENABLE | 1 << 14)
        assert host.read(CSTS) == 0b0101
        host.function.front_end.answer_io(1)
        host.function.work()
        assert host.read(CSTS) == 0b1001
        assert (await host.execute(0, feature(AdminOpcode.GET_FEATURES, Feature.QUEUES))).result == 0x3_0003

    drive(body)


# Answers that depend on the hardware.


def test_reads_of_unwritten_blocks_are_errors_where_the_host_says_so():
    async def body(host: RootComplex) -> None:
        def fails() -> list[int]:
            return [
                NamespaceWord.fails_on_unwritten.get(one) for one in host.function.front_end.namespaces[:2]
            ]

        assert fails() == [0, 0]
        words = host.function.front_end.namespaces[:]
        chosen = feature(AdminOpcode.SET_FEATURES, Feature.ERROR_RECOVERY, DULBE, 2)
        assert (await host.execute(0, chosen)).status == 0 and fails() == [0, 1]
        every = feature(AdminOpcode.SET_FEATURES, Feature.ERROR_RECOVERY, DULBE, EVERY_NAMESPACE)
        assert (await host.execute(0, every)).status == 0 and fails() == [1, 1]
        await host.disable()
        assert host.function.front_end.namespaces == words

    drive(body)


def test_health_is_that_of_the_registers():
    async def body(host: RootComplex) -> None:
        registers = host.function.registers
        registers.wear = {3: 40, 7: 55}
        for counter, value in (
            (Counter.PAGES_READ, 1_000_000_007), (Counter.PAGES_APPENDED, 3), (Counter.READS, 1 << 33),
            (Counter.APPENDS, 2),
        ):  # fmt: skip
            registers.values[counter_register(counter)] = value & 0xFFFF_FFFF
            registers.values[counter_register(counter) + 4] = value >> 32
        assert (await host.execute(0, entry(0x7D, 1))).status == TargetStatus.INVALID_OPCODE
        page = await log(host, LogPage.HEALTH)
        endurance = min(stream.retention.endurance for stream in NODES["objects"].streams)
        assert page[HealthField.SPARE] == 100 and page[HealthField.USED] == 100 * 55 // endurance
        read, written, reads, writes, errors = (
            int.from_bytes(page[place : place + 16], "little")
            for place in (
                HealthField.READ, HealthField.WRITTEN, HealthField.READS, HealthField.WRITES,
                HealthField.ERRORS,
            )
        )  # fmt: skip
        assert read == -(-1_000_000_007 * CONFIG.geometry.page_bytes // 512_000) and written == 1
        assert (reads, writes, errors) == (1 << 33, 2, 1)
        registers.wear[3] = 2 * endurance
        assert (await log(host, LogPage.HEALTH))[HealthField.WARNING] == 4

    drive(body)


def test_data_that_the_memory_refuses():
    async def body(host: RootComplex) -> None:
        one = entry(AdminOpcode.IDENTIFY, 8, prp1=MEMORY_BYTES + 4096, dwords=(1,))
        answer = await host.execute(0, one)
        assert (answer.status, answer.do_not_retry) == (TargetStatus.DATA_TRANSFER_ERROR, False)
        page = await log(host, LogPage.ERRORS, 128)
        number, queue, cid, status, _, lba, nsid = struct.unpack_from("<QHHHHQI", page)
        assert (number, queue, cid, status, lba, nsid) == (
            1,
            0,
            8,
            TargetStatus.DATA_TRANSFER_ERROR << 1,
            1,
            0,
        )
        assert not any(page[64:])

    drive(body)


@pytest.mark.parametrize("register", [Mailbox.STATE, Mailbox.TAKE, Mailbox.BURST])
def test_a_mailbox_that_hangs_is_fatal_until_it_goes_on(register):
    """From the first access of a register on; with fewer polls than otherwise."""
    polls = "-DFT_FIRMWARE_START_POLLS=50u", "-DFT_FIRMWARE_WORK_POLLS=50u"

    async def body(host: RootComplex) -> None:
        front_end = host.function.front_end
        access = front_end.access

        seen = []

        def busy(offset: int, value: int | None) -> int:
            if register in seen and value is not None and offset != Mailbox.CONTROL:
                return 0  # a busy mailbox begins no other work
            seen.append(offset)
            found = access(offset, value)
            hangs = register in seen and value is None and offset == Mailbox.STATE
            return found | MailboxState.BUSY if hangs else found

        front_end.access = busy
        host.submit(0, entry(AdminOpcode.IDENTIFY, 8, prp1=DATA, dwords=(1,)))
        assert host.read(CSTS) == 3 and host.poll(0) == []
        front_end.access = access
        await host.disable()
        await host.enable()
        asked = feature(AdminOpcode.GET_FEATURES, Feature.QUEUES)
        assert (await host.execute(0, asked)).status == 0

    drive(body, compiled(firmware_sources(), [*OPTIONS, *polls]))
