"""The function on PCI Express: BAR, properties, doorbells and vectors (NVM Express Base 2.0, section 3.1).

The BAR has 16 KiB: properties from 0, doorbells, the table of MSI-X vectors, their pending bits.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from .config import FmsConfig
from .errors import require_power_of_two, require_range
from .nvme import BitField

VERSION = 0x0002_0000
"""VS: version 2.0 of the standard."""

BAR_BYTES = 16 << 10
DOORBELLS, VECTORS, PENDING = 0x1000, 0x2000, 0x3000
DOORBELL_BYTES = 4
"""CAP.DSTRD is 0. Doorbell 2n is the tail of submission queue n, 2n + 1 the head of completion queue n."""

MAX_QUEUES = 64
"""I/O queue pairs; the admin queues come on top. A queue of either kind has a number up to it."""
MAX_ENTRIES = 1024
MAX_ADMIN_ENTRIES = 4096
MAX_PAGE_EXPONENT = 4
"""CAP.MPSMAX: pages of 4 KiB to 64 KiB."""
PAGE_BITS = 12
"""Of the smallest page."""

PRP_BYTES = 8
"""Of an entry of a list of PRPs."""
INVALID_PRP_OFFSET = 0x013
"""The status of a PRP with an offset that it may not have (section 4.1.1)."""


class SglType(IntEnum):
    """Types of descriptors of Scatter Gather Lists that the function has (section 4.1.2)."""

    DATA_BLOCK = 0
    SEGMENT = 2
    LAST_SEGMENT = 3


class SglDescriptor:
    """Fields of a descriptor. `subtype` is 0: an address."""

    BYTES = 16
    address = BitField(0, 64)
    length = BitField(64, 32)
    subtype = BitField(120, 4)
    type = BitField(124, 4)


class SglStatus(IntEnum):
    """Statuses of a Scatter Gather List with a fault (section 3.3.3.2.1)."""

    INVALID_SEGMENT = 0x00D
    """A segment behind the last one, or one whose address or length is wrong."""
    INVALID_COUNT = 0x00E
    """A segment descriptor before the end of its segment, or more descriptors than there may be."""
    INVALID_LENGTH = 0x00F
    """Less than the data, or beyond the last address."""
    INVALID_TYPE = 0x011
    INVALID_GRANULARITY = 0x01E
    """A data block with a part of a dword."""


SGL_ALIGNMENT = 8
"""Of a segment."""
RESERVED_PSDT = 0b11
"""All other values but 0 are an SGL: without metadata, 01b and 10b mean the same."""
SGLS = 0b10 | 1 << 18
"""SGLs of I/O commands, in dwords, and longer than the data if the host likes (Figure 275)."""


def most_blocks(most_bytes: int) -> int:
    """Data blocks of an SGL that are not empty, at most: as many as PRPs of a command of so many bytes."""
    return (most_bytes >> PAGE_BITS) + 1


def most_descriptors(most_bytes: int) -> int:
    """Descriptors in all segments of an SGL, at most: a list without an end has one, too."""
    return 2 * most_blocks(most_bytes)


READY_TIMEOUT = 0xFF
"""CAP.TO, in units of 500 ms: an end is recorded in a simulation."""

REQUEST_BYTES = 128
"""Of a memory request, at most: the smallest that Max_Payload_Size and Max_Read_Request_Size can be."""
WORD_BYTES = 8
"""Of a beat of queues, lists and firmware, and the least width of the port of requests."""
_ROUND_TRIP = 64
"""Cycles of a read that the tags of a port are enough for, where nothing else is chosen."""


@dataclass(frozen=True)
class TlpSizes:
    """The port of requests to a hard block of PCI Express.

    `port_bytes`: width of its data each way, per cycle. `tags`: reads under way; more than 32 need extended
    tags of the block (PCI Express Base 4.0, section 2.2.6.2).
    """

    port_bytes: int = WORD_BYTES
    tags: int = 16

    def __post_init__(self) -> None:
        require_power_of_two("port_bytes", self.port_bytes, WORD_BYTES, REQUEST_BYTES)
        require_range("tags", self.tags, 2, 256)

    @classmethod
    def of(cls, config: FmsConfig) -> "TlpSizes":
        """As wide as the data port of the controller, with tags for 64 cycles of requests."""
        width = min(max(config.data_bytes, WORD_BYTES), REQUEST_BYTES)
        return cls(width, max(cls.tags, _ROUND_TRIP * width // REQUEST_BYTES))


class Property(IntEnum):
    """Properties by their offset (section 3.1.3); absent ones are 0."""

    CAPABILITIES = 0x00
    VERSION = 0x08
    MASK_SET = 0x0C
    MASK_CLEAR = 0x10
    CONFIGURATION = 0x14
    STATUS = 0x1C
    SUBSYSTEM_RESET = 0x20
    ADMIN_SIZES = 0x24
    ADMIN_SUBMISSIONS = 0x28
    ADMIN_COMPLETIONS = 0x30
    READY_TIMEOUTS = 0x68


class Capabilities:
    """Fields of CAP (Figure 36)."""

    entries = BitField(0, 16)
    contiguous = BitField(16, 1)
    weighted = BitField(17, 1)
    """AMS: weighted round robin with an urgent class."""
    timeout = BitField(24, 8)
    command_sets = BitField(37, 8)
    page_exponents = BitField(52, 4)
    ready_with_media = BitField(59, 1)

    NVM, CHOSEN = 1 << 0, 1 << 6
    """Command sets: NVM alone, and those that CC.CSS chooses."""


class Configuration:
    """Fields of CC (Figure 46)."""

    enable = BitField(0, 1)
    command_set = BitField(4, 3)
    page_exponent = BitField(7, 4)
    arbitration = BitField(11, 3)
    shutdown = BitField(14, 2)
    submission_exponent = BitField(16, 4)
    completion_exponent = BitField(20, 4)
    ready_without_media = BitField(24, 1)

    NVM_ALONE, ALL_SETS = 0b000, 0b110
    ROUND_ROBIN, WEIGHTED = 0b000, 0b001
    SUBMISSION_EXPONENTS, COMPLETION_EXPONENTS = (0, 6), (0, 4)
    """Entries may have their sizes, or none yet."""


class Ready(IntFlag):
    """CSTS (Figure 47)."""

    READY = 1
    FATAL = 2
    SHUTDOWN_BUSY = 1 << 2
    SHUTDOWN_DONE = 2 << 2


class AdminSizes:
    """Fields of AQA (Figure 49): entries - 1."""

    submissions = BitField(0, 12)
    completions = BitField(16, 12)
    MASK = submissions.put(0xFFF) | completions.put(0xFFF)


class Vector:
    """Fields of an entry of the MSI-X table (PCI Express Base 5.0, section 7.7.2.4)."""

    BYTES = 16
    address = BitField(0, 64)
    data = BitField(64, 32)
    masked = BitField(96, 1)


class Mailbox(IntEnum):
    """Registers of the firmware that answers admin commands, by their offset.

    A write of TAKE puts the next command to ENTRY, if there is one. A write of ANSWER, CHANGE or BURST begins
    that work with the registers before it. Firmware begins no work while `MailboxState.BUSY`.
    """

    ENTRY = 0x00
    """64 bytes: the command that was taken."""
    TAKE = 0x40
    STATE = 0x44
    CONTROL = 0x48
    ADDRESS = 0x50
    """8 bytes: of a new queue, or of a burst."""
    RESULT = 0x58
    """8 bytes: of an answer."""
    ANSWER = 0x60
    SIZE = 0x64
    """Of a new queue: entries - 1."""
    CHANGE = 0x68
    BURST = 0x6C
    OPEN = 0x70
    """Written: an I/O submission queue. Read: its commands that are not answered."""
    AGGREGATION = 0x74
    """Dword 11 of feature 08h, interrupt coalescing: threshold and time. Interrupts that wait are sent."""
    VECTOR = 0x78
    """Dword 11 of feature 09h: a vector that exists, and whether it waits. As AGGREGATION."""
    ARBITRATION = 0x7C
    """Dword 11 of feature 01h: weights. It is 0 while the controller is disabled."""
    BUFFER = 0x80
    """128 bytes: of a burst."""


class MailboxState(IntFlag):
    """Bits of STATE."""

    ENABLED = 1
    SHUT_DOWN = 2
    WAITING = 4
    """A command may be taken."""
    TAKEN = 8
    """The last write of TAKE has found a command."""
    BUSY = 16
    FAILED = 32
    """The host's memory has refused the last burst, or no command was open."""
    WRONG_QUEUE = 64
    WRONG_VALUE = 128
    """A doorbell had no queue, or no possible value."""
    STOPPED = 256
    """The controller was disabled: all I/O queues are gone, and open commands are to be answered."""


MAILBOX_PAGE_EXPONENT = BitField(12, 3)
"""CC.MPS in STATE."""


class MailboxControl(IntFlag):
    """Bits of CONTROL: each 1 that is written acts once."""

    ENDED = 1
    """The end of which SHUT_DOWN tells is recorded."""
    FAIL = 2
    """CSTS.CFS."""
    FORGET = MailboxState.WRONG_QUEUE | MailboxState.WRONG_VALUE | MailboxState.STOPPED
    """Each of these bits makes the same one of STATE 0 again."""


class MailboxAnswer:
    """Fields of ANSWER."""

    cid = BitField(0, 16)
    status = BitField(16, 11)
    do_not_retry = BitField(31, 1)


class MailboxChangeKind(IntEnum):
    """Changes of queues."""

    CREATE_COMPLETIONS = 0
    CREATE_SUBMISSIONS = 1
    DELETE_COMPLETIONS = 2
    DELETE_SUBMISSIONS = 3


class Priority(IntEnum):
    """QPRIO of a submission queue, for weighted round robin (section 5.5)."""

    URGENT = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3


class MailboxChange:
    """Fields of CHANGE. `kind`: `MailboxChangeKind`. `priority`: of a submission queue."""

    kind = BitField(0, 2)
    interrupts = BitField(2, 1)
    queue = BitField(8, 7)
    partner = BitField(16, 7)
    priority = BitField(24, 2)


class MailboxBurst:
    """Fields of BURST: beats of 8 bytes, less one; whether they go to the host's memory."""

    beats = BitField(0, 4)
    write = BitField(8, 1)
    kept = BitField(9, 2)
    """Of a write of one beat: a bit for each dword that stays as it is in the host's memory, at most one."""


class MailboxAggregation:
    """Fields of AGGREGATION (section 5.27.1.6). `time` is in units of 100 us."""

    threshold = BitField(0, 8)
    """Completions of a vector that wait, less one."""
    time = BitField(8, 8)


class MailboxVector:
    """Fields of VECTOR (section 5.27.1.7). `alone`: its interrupts do not wait."""

    number = BitField(0, 16)
    alone = BitField(16, 1)


class MailboxArbitration:
    """Fields of ARBITRATION (section 5.27.1.1): commands of each class in a round, less one.

    Bursts are of one command, so the field of the burst has no effect.
    """

    low = BitField(8, 8)
    medium = BitField(16, 8)
    high = BitField(24, 8)


AGGREGATION_SECONDS = 100e-6
"""The unit of `MailboxAggregation.time`."""


def aggregation_cycles(clock_hz: float) -> int:
    """The same unit in cycles of the drive's clock."""
    return round(AGGREGATION_SECONDS * clock_hz)


NAMESPACES = 0x100
"""Behind the mailbox: a word for each namespace, by NSID - 1, that firmware writes."""


class NamespaceWord:
    """Fields of a word at `NAMESPACES`: those of `host_commands.HostNamespace`. 0 zones: it is inactive."""

    zones = BitField(0, 16)
    appends = BitField(16, 1)
    volatile = BitField(17, 1)
    fails_on_unwritten = BitField(18, 1)


def capabilities(entries: int, page_exponents: int, weighted: bool = False) -> int:
    """CAP of a controller with queues of up to `entries`, and pages of up to 2**`page_exponents` x 4 KiB.

    weighted: a host may choose weighted round robin.
    """
    fields = Capabilities
    return (
        fields.entries.put(entries - 1)
        | fields.contiguous.put(1)
        | fields.weighted.put(weighted)
        | fields.timeout.put(READY_TIMEOUT)
        | fields.command_sets.put(fields.NVM | fields.CHOSEN)
        | fields.page_exponents.put(page_exponents)
        | fields.ready_with_media.put(1)
    )


def is_possible(configuration: int, page_exponents: int, weighted: bool = False) -> bool:
    """Whether a controller can be enabled with these values of CC (section 3.1.3.5)."""
    fields = Configuration
    return (
        fields.command_set.get(configuration) in (fields.NVM_ALONE, fields.ALL_SETS)
        and fields.page_exponent.get(configuration) <= page_exponents
        and fields.arbitration.get(configuration) in (fields.ROUND_ROBIN, fields.WEIGHTED)[: 1 + weighted]
        and fields.submission_exponent.get(configuration) in fields.SUBMISSION_EXPONENTS
        and fields.completion_exponent.get(configuration) in fields.COMPLETION_EXPONENTS
        and not fields.ready_without_media.get(configuration)
    )


def has_admin_queues(sizes: int, submissions: int, completions: int, page_bytes: int) -> bool:
    """Whether AQA, ASQ and ACQ describe admin queues: two entries at least, at the start of a page."""
    entries = AdminSizes.submissions.get(sizes), AdminSizes.completions.get(sizes)
    return all(entries) and not (submissions | completions) & page_bytes - 1
