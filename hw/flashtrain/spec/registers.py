"""Register map: 32-bit registers over AXI4-Lite, byte addresses.

Counters are 64 bits as two registers; reading the low one latches the high one.
"""

from enum import IntEnum, IntFlag
from typing import NamedTuple

from .streams import Access, Stream

ID_VALUE = 0x4E525446  # "FTRN"
VERSION_VALUE = 0x0000_0100
MAX_STREAMS = 8
PORTS = 2


class Register(IntEnum):
    """Registers that exist once."""

    ID = 0x000
    VERSION = 0x004
    GEOMETRY = 0x008  # channels 7:0, dies per channel 15:8, planes 23:16, spare blocks per plane 31:24
    BLOCKS = 0x00C  # blocks per plane, with the spares, 15:0, pages per block 31:16
    PAGE = 0x010  # page bytes 15:0, spare bytes 31:16
    CONTROL = 0x014  # Control
    LIMITS = 0x018  # commands in flight 15:0, blocks per command 31:16
    STATE = 0x01C  # State
    MEMORY_LOW = 0x020  # bytes of the tensor buffer: addresses from 0
    MEMORY_HIGH = 0x024
    INTERRUPT = 0x028  # bit per port: completions were written; write 1 to clear
    INTERRUPT_MASK = 0x02C  # bit per port: 1 lets the port's bit raise the interrupt
    CLOCK_MHZ = 0x030
    ZONES = 0x034  # zones open at most 15:0 and active at most 31:16, per stream
    SEQUENCE = 0x038  # read only: `sequence` of the next allocation of a physical zone (`spec.identity`)
    TIME = 0x03C  # seconds: what was written last, and those since in which the controller was enabled
    NAND_PAUSE_LOW = 0x300  # bit per channel, 0 to 31: pause its engine ("The command port")
    NAND_PAUSE_HIGH = 0x304  # the same, channels 32 to 63
    NAND_MODE = 0x308  # SDR timing mode of the cycles from now on, 0 to 5
    NAND_CYCLE = 0x30C  # write only: a cycle on the pins of the channel in CHANNEL_SELECT
    NAND_STATE = 0x310  # read only: of that channel
    NAND_INTERFACE = 0x314  # data interface of the engines: SDR timing mode 2:0, SDR instead of NV-DDR3 3
    CHANNEL_SELECT = 0x3F0  # the channel of the channel window and of the command port
    ZONE_SELECT = 0x3F4  # the physical zone that ZONE_WEAR is of
    ZONE_WEAR = 0x3F8  # its erases


class Control(IntFlag):
    """Bits of CONTROL. Clearing ENABLE stops fetching, ends bursts under way and resets the controller."""

    ENABLE = 1 << 0
    FACTORY = 1 << 1  # at enable take all blocks as erased and none as marked by its maker; else erase them
    RECOVER = 1 << 2  # at enable keep what the flash holds (`spec.identity`); FACTORY has no effect then
    RAW = 1 << 3  # while recovering: pages are inspected as the cells hold them (`spec.bad_blocks`)


class State(IntFlag):
    """Bits of STATE."""

    READY = 1 << 0  # enabled and initialised; falls when, after a disable, the tensor buffer is let go
    FATAL = 1 << 1  # a fault that only a reset clears
    IDLE = 1 << 2  # no command in flight, no die busy, nothing to erase or reclaim
    BAD_DOORBELL = (
        1 << 3
    )  # a doorbell was written past its queue or without a completion queue, and ignored; cleared by a reset
    RECOVERING = 1 << 4  # only INSPECT and RESTORE are taken


class PortRegister(IntEnum):
    """Offsets within a port's window. Bases are multiples of 64 bytes; sizes are entries - 1, and not 0."""

    SQ_BASE_LOW = 0x00
    SQ_BASE_HIGH = 0x04
    SQ_SIZE = 0x08
    CQ_BASE_LOW = 0x10
    CQ_BASE_HIGH = 0x14
    CQ_SIZE = 0x18


class StreamRegister(IntEnum):
    """Offsets within a stream's window; written while the controller is disabled. A stream exists when it is
    valid, lies within the device, and has a codec that the device carries."""

    ZONES = 0x00  # first zone 15:0, number of zones 31:16
    ATTRIBUTES = 0x04  # StreamAttributes
    GENERATION = 0x08  # read only: resets of all zones at once, by either command


PORT_BASE, PORT_STRIDE = 0x100, 0x40
STREAM_BASE, STREAM_STRIDE = 0x200, 0x20
COUNTER_BASE = 0x400
CHANNEL_COUNTER_BASE = 0x600
DOORBELL_BASE = 0x1000
ADDRESS_BITS = 13


def port_register(port: int, register: PortRegister) -> int:
    return PORT_BASE + port * PORT_STRIDE + register


def stream_register(nsid: int, register: StreamRegister) -> int:
    return STREAM_BASE + (nsid - 1) * STREAM_STRIDE + register


def sq_tail_doorbell(port: int) -> int:
    return DOORBELL_BASE + 8 * port


def cq_head_doorbell(port: int) -> int:
    return DOORBELL_BASE + 8 * port + 4


class AttributeField(NamedTuple):
    low: int
    width: int


class CycleKind(IntEnum):
    """Kinds of cycles of the command port."""

    COMMAND = 0  # the byte with CLE
    ADDRESS = 1  # the byte with ALE
    DATA_IN = 2  # the byte to the chip
    DATA_OUT = 3  # a byte from the chip, to NAND_STATE
    LOOK = 4  # no cycle: R/B# of each die, a bit each, to NAND_STATE; 1 is ready. It waits for tWB
    WAS_BUSY = 5  # no cycle, with `chips.ready_busy`: dies whose R/B# has been low since the last of these


class NandCycle:
    """Fields of NAND_CYCLE: one asynchronous cycle on the pins of a channel.

    With the key `command_port` of the configuration, firmware may pause the engine of a channel. Then it
    sends commands of its own to the chips: to start them after power-on, and for all that the engine has no
    command for. Without the key the registers NAND_... do not exist.

    1. A bit of NAND_PAUSE pauses an engine. It ends the bus operation under way and begins no other; then the
       state is PAUSED. A pause that was set before CONTROL.ENABLE holds from the first cycle on. Nothing then
       reaches the chips that firmware has not sent, and STATE.READY comes after the end of the pause.
    2. A write of NAND_CYCLE sends one cycle, in the timing mode of NAND_MODE, which is 0 after power-on. BUSY
       is high until its end, which comes within three times `turn` and the cycle itself (`SdrCycles`).
    3. The chip enable of its die is low from then on, until a cycle of another die or the end of the pause.
       All times between cycles are kept; those of the array (tR, tRST, ...) are for firmware to wait, by LOOK
       or by the chip's status.
    4. When the bit of NAND_PAUSE is cleared, chip enables are high, and `turn` later the engine goes on. It
       has no record of what firmware has sent. Dies that get commands are to be idle before the pause
       (STATE.IDLE), and as they were at its end.

    With `chips.sdr` in the configuration, NAND_INTERFACE chooses the data interface of the engines' own
    commands. An engine with SDR resets a chip in mode 0, and then sets the mode by EFh. It sets no mode after
    a pause, so firmware that changes the register then sets it in the chips.

    SLVERR answers all that has no effect:

    - a cycle while the channel is not PAUSED, or while the port is BUSY
    - a cycle of a die or a kind that does not exist, or with another bit set
    - a change of NAND_PAUSE while the port is BUSY, or of a channel that does not exist
    - another mode than 0 to 5, or NV-DDR3 where `chips.ddr` is false
    - a write of NAND_INTERFACE with CONTROL.ENABLE and without all bits of NAND_PAUSE

    A disable ends cycles, and keeps pauses and the mode.
    """

    byte = AttributeField(0, 8)
    die = AttributeField(8, 3)  # within the channel
    kind = AttributeField(12, 3)  # CycleKind


class NandState:
    """Fields of NAND_STATE."""

    byte = AttributeField(0, 8)  # what the last DATA_OUT or LOOK has read
    busy = AttributeField(8, 1)  # a cycle is under way: no other is taken, and no change of NAND_PAUSE
    paused = AttributeField(9, 1)  # the engine has ended what it had begun on the bus: cycles are taken


class NandInterface:
    """Fields of NAND_INTERFACE, with `chips.sdr`; its value is the configuration's after power-on."""

    mode = AttributeField(0, 3)  # SDR timing mode, 0 to 5, that the engines set
    sdr = AttributeField(3, 1)  # they have SDR; 0: NV-DDR3


class StreamAttributes:
    """Fields of a stream's ATTRIBUTES register."""

    valid = AttributeField(0, 1)
    non_volatile = AttributeField(1, 1)
    host = AttributeField(4, 2)  # Access
    core = AttributeField(6, 2)
    retention = AttributeField(8, 2)
    refuses = AttributeField(10, 1)  # data that are past their class
    codec = AttributeField(12, 4)


def stream_attributes(stream: Stream) -> int:
    """The ATTRIBUTES register of `stream`."""
    a = StreamAttributes
    return (
        1 << a.valid.low
        | stream.persistency << a.non_volatile.low
        | (stream.host & (Access.READ | Access.APPEND)) << a.host.low
        | (stream.core & (Access.READ | Access.APPEND)) << a.core.low
        | stream.retention << a.retention.low
        | stream.expired << a.refuses.low
        | stream.codec << a.codec.low
    )


class Counter(IntEnum):
    """Counters of the front end, of cycles unless said. Latencies run from a command's acceptance to its
    answer."""

    CYCLES = 0
    COMMANDS = 1  # commands fetched
    ERRORS = 2  # completions with a status other than success
    PAGES_APPENDED = 3  # pages moved from the tensor buffer to channel buffers
    PAGES_READ = 4  # pages moved to the tensor buffer
    WRITE_BUSY = 5  # a beat moves from the tensor buffer to a channel
    WRITE_STALL_BUFFER = 6  # a page waits for room in its channel
    WRITE_STALL_MEMORY = 7  # nothing moves because the tensor buffer has not answered
    READ_BUSY = 8  # a beat moves to the tensor buffer
    READ_STALL_MEMORY = 9  # a beat waits for the tensor buffer
    READ_STALL_CHANNEL = 10  # a read is in flight, and nothing moves because no channel has a page
    APPENDS = 11  # append and write commands completed
    APPEND_LATENCY = 12  # sum over them
    READS = 13  # read commands completed
    READ_LATENCY = 14  # sum over them
    ERASES = 15  # zones erased
    ZONE_WAITS = 16  # cycles in which a command waits for an erased zone


class ChannelCounter(IntEnum):
    """Counters of a channel engine."""

    BUS_IDLE = 0  # cycles without a bus operation
    BUS_COMMAND = 1  # cycles of command and address bytes
    BUS_DATA_IN = 2
    BUS_DATA_OUT = 3
    BUS_WAIT = 4  # cycles of tADL, tWHR and tRHW within an operation
    PROGRAMS = 5  # page sets programmed, and pages that move to a spare block
    PAGES_PROGRAMMED = 6
    SENSES = 7  # read commands to the array, multi-plane counted once
    PAGES_SENSED = 8  # pages output by dies
    BUFFER_HITS = 9  # pages read from the write buffer
    ERASES = 10  # erases of a die: of a zone's blocks, or where one has failed, of single ones
    FAILURES = 11  # programs and erases whose status was a failure
    DIES_OFFLINE = 12  # dies that did not become ready in time, and are left alone until a reset
    BITS_CORRECTED = 13  # wrong bits that error correction has found; this and what follows is 0 without it
    WORDS_UNCORRECTABLE = 14  # code words with more wrong bits than can be corrected
    PAGES_CORRECTED_1 = 15  # pages in which 1 bit was corrected, and every code word was correctable
    PAGES_CORRECTED_2 = 16  # 2 or 3 bits
    PAGES_CORRECTED_4 = 17  # 4 to 7 bits
    PAGES_CORRECTED_8 = 18  # 8 to 15 bits
    PAGES_CORRECTED_16 = 19  # 16 bits or more
    BLOCKS_REPLACED = 20  # blocks that failed, and whose place a spare has taken; 0 without spares, like 21
    SETS_REPEATED = 21  # page sets whose program had failed, or came after such a one, and was done again
    PAGES_RETRIED = 22  # reads of a page that was read before and could not be corrected: one for each level
    PAGES_RESCUED = 23  # pages that were right at last, at another level


def counter_register(counter: Counter) -> int:
    return COUNTER_BASE + 8 * counter


def channel_counter_register(counter: ChannelCounter) -> int:
    return CHANNEL_COUNTER_BASE + 8 * counter
