"""The function on PCI Express: BAR, properties, doorbells and vectors (NVM Express Base 2.0, section 3.1).

The BAR has 16 KiB: properties from 0, doorbells, the table of MSI-X vectors, their pending bits.
"""

from enum import IntEnum, IntFlag

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

READY_TIMEOUT = 0xFF
"""CAP.TO, in units of 500 ms: an end is recorded in a simulation."""


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


def capabilities(entries: int, page_exponents: int) -> int:
    """CAP of a controller with queues of up to `entries`, and pages of up to 2**`page_exponents` x 4 KiB."""
    fields = Capabilities
    return (
        fields.entries.put(entries - 1)
        | fields.contiguous.put(1)
        | fields.timeout.put(READY_TIMEOUT)
        | fields.command_sets.put(fields.NVM | fields.CHOSEN)
        | fields.page_exponents.put(page_exponents)
        | fields.ready_with_media.put(1)
    )


def is_possible(configuration: int, page_exponents: int) -> bool:
    """Whether a controller can be enabled with these values of CC (section 3.1.3.5)."""
    fields = Configuration
    return (
        fields.command_set.get(configuration) in (fields.NVM_ALONE, fields.ALL_SETS)
        and fields.page_exponent.get(configuration) <= page_exponents
        and fields.arbitration.get(configuration) == 0
        and fields.submission_exponent.get(configuration) in fields.SUBMISSION_EXPONENTS
        and fields.completion_exponent.get(configuration) in fields.COMPLETION_EXPONENTS
        and not fields.ready_without_media.get(configuration)
    )


def has_admin_queues(sizes: int, submissions: int, completions: int, page_bytes: int) -> bool:
    """Whether AQA, ASQ and ACQ describe admin queues: two entries at least, at the start of a page."""
    entries = AdminSizes.submissions.get(sizes), AdminSizes.completions.get(sizes)
    return all(entries) and not (submissions | completions) & page_bytes - 1
