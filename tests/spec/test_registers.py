"""Addresses and bits of registers and counters, pinned: drivers and headers in the field rely on them."""

from dataclasses import replace

import pytest

from flashtrain.spec import Access, Persistency, Port, Stream, registers
from flashtrain.spec.registers import (
    AttributeField,
    ChannelCounter,
    Control,
    Counter,
    CycleKind,
    NandCycle,
    NandState,
    PortRegister,
    Register,
    State,
    StreamAttributes,
    StreamRegister,
)
from flashtrain.spec.streams import SINGLE_NODE, Codec, Expired, Retention


def values(kind) -> dict[str, int]:
    return {member.name: int(member) for member in kind}


def test_identity():
    assert registers.ID_VALUE.to_bytes(4, "little") == b"FTRN"
    assert registers.VERSION_VALUE == 0x100
    assert (registers.MAX_STREAMS, registers.PORTS) == (8, 2)
    assert registers.ADDRESS_BITS == 13


def test_registers():
    assert values(Register) == {
        "ID": 0x000,
        "VERSION": 0x004,
        "GEOMETRY": 0x008,
        "BLOCKS": 0x00C,
        "PAGE": 0x010,
        "CONTROL": 0x014,
        "LIMITS": 0x018,
        "STATE": 0x01C,
        "MEMORY_LOW": 0x020,
        "MEMORY_HIGH": 0x024,
        "INTERRUPT": 0x028,
        "INTERRUPT_MASK": 0x02C,
        "CLOCK_MHZ": 0x030,
        "ZONES": 0x034,
        "SEQUENCE": 0x038,
        "TIME": 0x03C,
        "NAND_PAUSE_LOW": 0x300,
        "NAND_PAUSE_HIGH": 0x304,
        "NAND_MODE": 0x308,
        "NAND_CYCLE": 0x30C,
        "NAND_STATE": 0x310,
        "NAND_INTERFACE": 0x314,
        "CHANNEL_SELECT": 0x3F0,
        "ZONE_SELECT": 0x3F4,
        "ZONE_WEAR": 0x3F8,
    }


def test_bits():
    assert values(Control) == {"ENABLE": 1, "FACTORY": 2, "RECOVER": 4, "RAW": 8}
    assert values(State) == {"READY": 1, "FATAL": 2, "IDLE": 4, "BAD_DOORBELL": 8, "RECOVERING": 16}


def test_command_port():
    assert values(CycleKind) == {
        "COMMAND": 0, "ADDRESS": 1, "DATA_IN": 2, "DATA_OUT": 3, "LOOK": 4, "WAS_BUSY": 5,
    }  # fmt: skip
    assert (NandCycle.byte, NandCycle.die, NandCycle.kind) == ((0, 8), (8, 3), (12, 3))
    assert (NandState.byte, NandState.busy, NandState.paused) == ((0, 8), (8, 1), (9, 1))


def test_port_windows():
    assert values(PortRegister) == {
        "SQ_BASE_LOW": 0x00,
        "SQ_BASE_HIGH": 0x04,
        "SQ_SIZE": 0x08,
        "CQ_BASE_LOW": 0x10,
        "CQ_BASE_HIGH": 0x14,
        "CQ_SIZE": 0x18,
    }
    assert registers.port_register(Port.HOST, PortRegister.SQ_BASE_LOW) == 0x100
    assert registers.port_register(Port.CORE, PortRegister.CQ_SIZE) == 0x158


def test_stream_windows():
    assert values(StreamRegister) == {"ZONES": 0x00, "ATTRIBUTES": 0x04, "GENERATION": 0x08}
    assert registers.stream_register(1, StreamRegister.ZONES) == 0x200
    assert registers.stream_register(8, StreamRegister.GENERATION) == 0x2E8


def test_doorbells():
    assert [registers.sq_tail_doorbell(port) for port in Port] == [0x1000, 0x1008]
    assert [registers.cq_head_doorbell(port) for port in Port] == [0x1004, 0x100C]


def test_counters():
    names = [
        "CYCLES", "COMMANDS", "ERRORS", "PAGES_APPENDED", "PAGES_READ", "WRITE_BUSY", "WRITE_STALL_BUFFER",
        "WRITE_STALL_MEMORY", "READ_BUSY", "READ_STALL_MEMORY", "READ_STALL_CHANNEL", "APPENDS",
        "APPEND_LATENCY", "READS", "READ_LATENCY", "ERASES", "ZONE_WAITS",
    ]  # fmt: skip
    assert values(Counter) == {name: index for index, name in enumerate(names)}
    assert registers.counter_register(Counter.CYCLES) == 0x400
    assert registers.counter_register(Counter.ZONE_WAITS) == 0x480


def test_channel_counters():
    names = [
        "BUS_IDLE", "BUS_COMMAND", "BUS_DATA_IN", "BUS_DATA_OUT", "BUS_WAIT", "PROGRAMS", "PAGES_PROGRAMMED",
        "SENSES", "PAGES_SENSED", "BUFFER_HITS", "ERASES", "FAILURES", "DIES_OFFLINE",
        "BITS_CORRECTED", "WORDS_UNCORRECTABLE", "PAGES_CORRECTED_1", "PAGES_CORRECTED_2",
        "PAGES_CORRECTED_4", "PAGES_CORRECTED_8", "PAGES_CORRECTED_16", "BLOCKS_REPLACED", "SETS_REPEATED",
        "PAGES_RETRIED", "PAGES_RESCUED",
    ]  # fmt: skip
    assert values(ChannelCounter) == {name: index for index, name in enumerate(names)}
    assert registers.channel_counter_register(ChannelCounter.BUS_IDLE) == 0x600
    assert registers.channel_counter_register(ChannelCounter.FAILURES) == 0x658
    assert registers.channel_counter_register(ChannelCounter.PAGES_RESCUED) == 0x6B8


def all_words() -> dict[str, int]:
    """Every 32-bit word of the map, by name."""
    words = {register.name: int(register) for register in Register}
    for port in Port:
        for register in PortRegister:
            words[f"{port.name} {register.name}"] = registers.port_register(port, register)
        words[f"{port.name} tail"] = registers.sq_tail_doorbell(port)
        words[f"{port.name} head"] = registers.cq_head_doorbell(port)
    for nsid in range(1, registers.MAX_STREAMS + 1):
        for register in StreamRegister:
            words[f"stream {nsid} {register.name}"] = registers.stream_register(nsid, register)
    for counter in Counter:
        words[f"{counter.name} low"] = registers.counter_register(counter)
        words[f"{counter.name} high"] = registers.counter_register(counter) + 4
    for counter in ChannelCounter:
        words[f"channel {counter.name} low"] = registers.channel_counter_register(counter)
        words[f"channel {counter.name} high"] = registers.channel_counter_register(counter) + 4
    return words


def test_no_two_words_share_an_address():
    words = all_words()
    assert len(set(words.values())) == len(words)
    for name, address in words.items():
        assert address % 4 == 0 and address < 1 << registers.ADDRESS_BITS, name


def test_stream_attributes():
    fields = {
        name: value for name, value in vars(StreamAttributes).items() if isinstance(value, AttributeField)
    }
    assert fields == {
        "valid": (0, 1),
        "non_volatile": (1, 1),
        "host": (4, 2),
        "core": (6, 2),
        "retention": (8, 2),
        "refuses": (10, 1),
        "codec": (12, 4),
    }
    assert {stream.name: registers.stream_attributes(stream) for stream in SINGLE_NODE.streams} == {
        "inputs": 0x263,
        "activations": 0x4C1,
        "trained": 0x2D3,
        "weights": 0x4C1,
        "journal": 0x233,
    }


@pytest.mark.parametrize(
    ("change", "bits"),
    [
        ({"persistency": Persistency.NON_VOLATILE}, 0x0002),
        ({"host": Access.READ}, 0x0010),
        ({"host": Access.APPEND}, 0x0020),
        ({"core": Access.READ | Access.APPEND}, 0x00C0),
        ({"retention": Retention.DAYS}, 0x0100),
        ({"retention": Retention.YEARS}, 0x0200),
        ({"expired": Expired.REFUSE}, 0x0400),
    ],
)
def test_each_attribute_has_its_bits(change, bits):
    plain = Stream(
        1,
        "plain",
        Persistency.VOLATILE,
        Retention.MINUTES,
        host=Access.NONE,
        core=Access.NONE,
        codec=Codec.RAW,
    )
    assert registers.stream_attributes(plain) == 0x0001
    assert registers.stream_attributes(replace(plain, **change)) == 0x0001 | bits
