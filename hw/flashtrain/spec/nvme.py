"""Commands, completions and status codes: NVMe's I/O entries with the zoned namespace command set.

A citation names its revision: NVM Express Base 2.0, NVM Command Set 1.0, or ZNS 1.1, which is the Zoned
Namespace Command Set. Opcodes from 80h are the vendor's.
One logical block is one NAND page. Data pointers are a single SGL data block descriptor.

Order of checks. A command is answered with the status of the *first* check that fails, on every Link:

1. opcode known (`INVALID_OPCODE`);
2. FUSE is 0, and PSDT is 01b for a command with data (`INVALID_FIELD`);
3. NSID is 1 to `MAX_STREAMS` (`INVALID_NAMESPACE`), and a stream has it (`INVALID_FIELD`); of an update and a
   commit the same of SOURCE, which is another one (`INVALID_NAMESPACE`);
4. the port may do this to the stream (`ACCESS_DENIED`): one of read and append for reports and statistics;
   read for a read; else append, and of the source read (update) or append (commit); inspect and restore: the
   host, whatever the stream; then that write and update, and the source of an update, are of no stream with a
   codec (`STREAM_IS_CODED`);
5. fields (`INVALID_FIELD`):
   - number of blocks within the transfer limit; on a stream with a codec, also the bound of an append and the
     expanded blocks of a read;
   - ZSLBA of an append or update is the start of a zone;
   - so is SLBA of retire, and of send unless all zones are selected;
   - ZSA, ZRA, generation action, restore action and reporting options known; at least 64 bytes of report;
   - constants and statistics: as many blocks as dies;
   - read, in a configuration with `part_bytes`: without PARTS, FIRST_PART is 0; with PARTS there is one
     block, and the last part is within it;
   - update: PAGES is 1 to the planes of a die; COPIES is at most PAGES; ROWS is at least 1; the number of
     blocks is ROWS x channels x PAGES; SOURCE_PAGE is below the pages of a block;
   - update and commit: the source has as many zones as the namespace;
   - restore, where the field counts: `restored_state` is CLOSED, READ_ONLY, FULL or OFFLINE; `physical` is a
     zone of the device, or a spare block if it is released or put in a place; the place and its spare block
     exist;
6. data pointer:
   - descriptor type (`SGL_TYPE_INVALID`);
   - length equal to that of the blocks, their parts, or of the dwords of a report (`SGL_LENGTH_INVALID`);
   - address a multiple of the logical block, of 8 bytes for a report, of `part_bytes` for a read of parts
     (`SGL_GRANULARITY_INVALID`);
   - address range inside the tensor buffer (`DATA_TRANSFER_ERROR`);
7. the zone of the first block is inside the namespace; of an inspect, the device or its spares; of a restored
   zone, it is that of the block before its write pointer (`LBA_OUT_OF_RANGE`);
8. the stream's condition:
   - inspect and restore: the controller is recovering (`COMMAND_SEQUENCE_ERROR`), all others: it is not
     (`NAMESPACE_NOT_READY`);
   - restored stream: no zone of it has been restored (`COMMAND_SEQUENCE_ERROR`);
   - append, write, update, retire, *offline*, zone and stream resets: not pinned
     (`NAMESPACE_WRITE_PROTECTED`);
   - read, pin; update, of its source: not uncommitted (`NAMESPACE_NOT_READY`);
   - commit, advance: uncommitted; commit: every zone written at least as far as that of the source
     (`INVALID_FIELD`);
9. the zone's condition, for
   - append, write and update: read-only, offline, full (`ZONE_IS_READ_ONLY`, `ZONE_IS_OFFLINE`,
     `ZONE_IS_FULL`); write: SLBA is the write pointer, update: the write pointer is a multiple of
     channels x planes (`ZONE_INVALID_WRITE`); blocks fit below the capacity (`ZONE_BOUNDARY_ERROR`); for an
     append to a stream with a codec its bound counts as its blocks;
   - update, of the source's zone of the same number: offline (`ZONE_IS_OFFLINE`), all its tiles written
     (`UNWRITTEN_BLOCK`), not expired (`DATA_EXPIRED`);
   - append, write and update, resources: an empty zone needs an active one (`TOO_MANY_ACTIVE_ZONES`), every
     zone not yet open an open one (`TOO_MANY_OPEN_ZONES`);
   - read: offline (`ZONE_IS_OFFLINE`), last block in the zone, whose size counts (`ZONE_BOUNDARY_ERROR`),
     last block below the write pointer (`UNWRITTEN_BLOCK`; in an unsure zone `UNRECOVERED_READ_ERROR`);
     not expired (`DATA_EXPIRED`);
   - inspect: last block below the capacity (`ZONE_BOUNDARY_ERROR`);
   - restored zone: empty (`INVALID_ZONE_TRANSITION`), write pointer not past the capacity
     (`ZONE_BOUNDARY_ERROR`), a closed one needs an active resource (`TOO_MANY_ACTIVE_ZONES`);
   - zone management send: transition allowed (`INVALID_ZONE_TRANSITION`), resources as above.

Transitions (ZNS 1.1, section 3.4.3.1): *close* open or closed to closed; *finish* any but read-only and
offline to full, without resources; *open* empty, open or closed to explicitly open; *reset* any but read-only
and offline to empty. With all zones selected, close applies to the open zones, and finish to the open and
closed ones. Open applies to the closed ones, or to none if there are too few open resources for all; reset
applies to all but read-only and offline. *Offline* makes a read-only zone offline and leaves an offline one
as it is; with all zones selected it applies to the read-only ones. Retire makes a zone read-only or offline
from any other state, but nothing leaves offline; its data stays readable while read-only. A stream reset is a
reset with all zones selected: retired zones stay as they are.

Room among the open zones (ZNS 1.1, section 2.1.1.4.1). A command that lacks only an open resource closes an
implicitly open zone of its stream first, the one with the lowest number. TOO_MANY_OPEN_ZONES answers it only
if no zone of the stream is implicitly open, or if it opens all zones.

A report has the zones that match its reporting options, from the zone of SLBA on. The number in its header is
that of all of them, or with `partial` of the descriptors transferred. As many descriptors are transferred as
fit. A full zone whose data are due (see *Age*) recommends its reset, an active one its finish. The vendor's
fields have a meaning in every state.

Unsure zones. Blocks behind a write pointer that recovery found on the flash may have been written and lost. A
zone with data is *unsure* from a restore or a *finish* with `unsure` on, until it is empty.

DNR is set in all refusals but those of `RETRIED`: the same command would be refused again.

The result in a completion is the LBA of a successful append or update. With error correction that of a
successful READ has two numbers: `Completion.corrected`, the most bits corrected in one page, identity and
parity included; and `Completion.retries`, the most retries of one page. Pages that are still in the write
buffer count as 0 in both. An append to a stream with a codec has the LBA in the low half of its result;
`Completion.stored` is the number of blocks that it takes. All other results are 0.

Failed programs. A program fails for good if no spare block is left for it, or if its die does not answer. An
append or write to a non-volatile stream then completes with WRITE_FAULT. For all commands submitted after
that completion its zone is read-only, as if it had been retired. Commands to the zone that were accepted
before are carried out; commands that wait for those in flight find it read-only. Blocks that were not
programmed are lost. Three failures leave the zone as it is:

- of an update, which ends with WRITE_FAULT and can be repeated;
- of data that the tensor buffer refuses, likewise;
- of a program of a volatile stream: append and flush do not wait for its status, so only the reads of its
  blocks report it.

Too many failed erases may leave no physical zone for an empty zone. Its appends then end with INTERNAL_ERROR,
and it stays empty.

Streams with a codec (`spec.codec`), in a configuration with `codec`. An append encodes its blocks, so their
number on flash is known only at its end. At most `FmsConfig.coded_bound` blocks are reserved at the write
pointer; at the end the pointer returns to behind the last block that was written. Appends of a zone follow
each other without a gap. Such an append never makes its zone full: the host finishes a zone without room.
Until the append has completed, a report may show the reserved pointer.

With `exact` a command has the codec WINDOW16 in the place of the stream's. WINDOW16 keeps all bits, also of
data that are no BF16.

A READ of such a stream names all stored blocks of one append. `Submission.expanded` has the blocks of data
that the append had, and the length of the data pointer is theirs. A READ with a lost page completes with
UNRECOVERED_READ_ERROR. Otherwise it completes with CODED_PAGE_ERROR if a page is not that of its place in
such an append. Such a page has another codec or none, belongs to another append, or is damaged. The expanded
blocks are then undefined, and nothing else is written. The data are also undefined, with either status, of
pages that no encoder has written but whose checks and headers are right.

Reads of parts, in a configuration with `part_bytes`. A READ with PARTS moves so many parts of its only block,
from FIRST_PART on, each of `part_bytes`. Its other checks, its status and its counters are those of a READ of
the block. Other configurations do not look at either field.

Age. A zone is as old as its oldest data: the first append since it was empty, by register TIME. The time of a
restored zone comes with its restore command. A zone is *expired* from an age of `Retention.limit` of its
stream on, if the stream refuses such data. From `Retention.due` on its data are *due*, unless it is retired:
its report has a recommendation, which has no other effect. Either lasts for 2^31 seconds: times count modulo
2^32, and data from the future are fresh, so that a clock can be set back.

Optimizer steps on the dies (`spec.update`):

- SET_CONSTANTS gives every die the page of its LOAD_CONSTANTS, and GET_STATISTICS fetches the page of its
  READ_STATISTICS. Page i is that of die i / channels of channel i mod channels. Constants and statistics
  belong to the device; the namespace decides only on permissions. Both commands wait until no update is under
  way, and later updates wait for both.
- UPDATE reads tiles of its *source* and appends the updated ones to its namespace, the *destination*. It
  appends to the zone of ZSLBA, at the write pointer. It reads from the source's zone of the same number. The
  first tile there is that of page SOURCE_PAGE on the die of the write pointer; the others follow it as those
  of the destination do. So a tile stays on its die, whatever its page. ROWS counts the tiles of all channels
  side by side: the write pointer advances by ROWS x channels x planes blocks. The result is the LBA of the
  first.
- The data of an UPDATE are gradients, in the order of blocks with PAGES in the place of planes. Block i is
  page i / channels mod PAGES of the tile in row i / (channels x PAGES) of channel i mod channels. Copies
  replace the first COPIES pages of each tile.
- Constants must have been set since the controller was enabled, with formats that fit PAGES and COPIES;
  otherwise the contents of tiles, copies and statistics are undefined, and nothing else.
- Every page of the source must be programmed, with the identity that a READ would ask for. With error
  correction all its words must be correctable. An UPDATE that meets a tile with another page completes with
  WRITE_FAULT, as one whose program has failed; the tile's copies are undefined. The tile's new place cannot
  be read; the source is as it was.
- So data appended to a volatile stream are to be flushed before, or the UPDATE may find that they are not
  programmed yet. An older content of the source is never taken for them.
- From its first update on a destination is *uncommitted*. COMMIT ends that, and resets the source unless it
  is pinned; a reset of all its zones ends it, too: that is how a step is skipped. Neither moves data.
- ADVANCE ends it as well, and leaves all other streams as they are. So the next update can append behind what
  is not needed any more, and no erase is due. It does not check how far zones are written.
- PIN keeps a stream as it is until RELEASE; both succeed also when it is so already. Zone management other
  than resets, and flushes, are allowed. A pin does not outlast the controller's enable.
- GENERATION commands wait, as resets do, until their stream (COMMIT: and its source) has no command in
  flight; later commands to it wait behind them.

Recovery (`spec.identity`). INSPECT reads as READ does, with three differences. SLBA counts blocks of the
device by physical zone; behind the zones come the spare blocks, those of one number on all planes as a zone.
Nothing about the zone is checked. The page's identity, as it is in the flash, replaces the last 16 bytes of
each block. A page that was not programmed is ones, with a randomizer its key inverted (`spec.randomizer`).

CONTROL.RAW is to be written while no command is in flight. While it is set pages come as the cells hold them,
neither corrected nor without their key. The last 16 bytes are then the first of the spare bytes.

RESTORE has no data; END waits until no command is in flight. Where they mean no namespace, NSID is that of
any that exists. A READ of a page with another identity completes with UNRECOVERED_READ_ERROR, and nothing of
that page is written to the tensor buffer.
"""

from enum import IntEnum
from typing import NamedTuple


class Opcode(IntEnum):
    """I/O commands (NVM Command Set 1.0, Figure 12; ZNS 1.1, Figure 23; from 80h on the vendor's)."""

    FLUSH = 0x00
    WRITE = 0x01
    READ = 0x02
    ZONE_MANAGEMENT_SEND = 0x79
    ZONE_MANAGEMENT_RECEIVE = 0x7A
    ZONE_APPEND = 0x7D
    STREAM_RESET = 0x80  # every zone of the namespace becomes empty: a new generation
    SET_CONSTANTS = 0x81  # of an optimizer step, on all dies; resets their statistics
    GET_STATISTICS = 0x82  # of an optimizer step, from all dies
    UPDATE = 0x83  # gradients in, 16-bit copies out in their place, tiles appended
    ZONE_RETIRE = 0x84  # ZSA field holds the new state of the zone: READ_ONLY or OFFLINE
    INSPECT = 0x86  # recovery: pages of a physical zone, with their identity
    GENERATION = 0x88  # ZSA field holds a GenerationAction
    RESTORE = 0x8C  # recovery: entries of the tables; ZSA field holds a RestoreAction


UPDATE_OPCODES = frozenset({Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS, Opcode.UPDATE})
"""Commands of an optimizer step: not known to a device without `chips.update`."""


class ZoneAction(IntEnum):
    """Zone send action, ZSA (ZNS 1.1, Figure 44)."""

    CLOSE = 0x01
    FINISH = 0x02
    OPEN = 0x03
    RESET = 0x04
    OFFLINE = 0x05


class GenerationAction(IntEnum):
    """Action of a GENERATION command."""

    COMMIT = 1
    PIN = 2
    RELEASE = 3
    ADVANCE = 4


class ZoneReport(IntEnum):
    """Zone receive action, ZRA (ZNS 1.1, Figure 40): the plain report only."""

    REPORT_ZONES = 0x00


class ReportFilter(IntEnum):
    """Reporting options, ZRASF: the zones that a report has (ZNS 1.1, Figure 42)."""

    ALL = 0x0
    EMPTY = 0x1
    IMPLICITLY_OPEN = 0x2
    EXPLICITLY_OPEN = 0x3
    CLOSED = 0x4
    FULL = 0x5
    READ_ONLY = 0x6
    OFFLINE = 0x7


class ZoneState(IntEnum):
    """Zone state, ZS (ZNS 1.1, Figure 37)."""

    EMPTY = 0x1
    IMPLICITLY_OPEN = 0x2
    EXPLICITLY_OPEN = 0x3
    CLOSED = 0x4
    READ_ONLY = 0xD
    FULL = 0xE
    OFFLINE = 0xF


RETIRED = (ZoneState.READ_ONLY, ZoneState.OFFLINE)
"""States of a zone that never takes data again."""


class Status(IntEnum):
    """Status code type in bits 10:8, status code in bits 7:0.

    NVM Express Base 2.0, section 3.3.3.2.1; ZNS 1.1, Figure 24.
    """

    SUCCESS = 0x000
    INVALID_OPCODE = 0x001
    INVALID_FIELD = 0x002
    DATA_TRANSFER_ERROR = 0x004
    INTERNAL_ERROR = 0x006
    INVALID_NAMESPACE = 0x00B
    COMMAND_SEQUENCE_ERROR = 0x00C
    SGL_LENGTH_INVALID = 0x00F
    SGL_TYPE_INVALID = 0x011
    SGL_GRANULARITY_INVALID = 0x01E
    NAMESPACE_WRITE_PROTECTED = 0x020
    LBA_OUT_OF_RANGE = 0x080
    NAMESPACE_NOT_READY = 0x082
    ZONE_BOUNDARY_ERROR = 0x1B8
    ZONE_IS_FULL = 0x1B9
    ZONE_IS_READ_ONLY = 0x1BA
    ZONE_IS_OFFLINE = 0x1BB
    ZONE_INVALID_WRITE = 0x1BC
    TOO_MANY_ACTIVE_ZONES = 0x1BD
    TOO_MANY_OPEN_ZONES = 0x1BE
    INVALID_ZONE_TRANSITION = 0x1BF
    STREAM_IS_CODED = 0x1C0  # vendor specific: of a command that needs a stream without a codec
    WRITE_FAULT = 0x280
    DATA_EXPIRED = 0x2C0  # vendor specific, of the media errors: what is there is too old to be trusted
    CODED_PAGE_ERROR = 0x2C1  # vendor specific, of the media errors: a page that the codec refuses
    UNRECOVERED_READ_ERROR = 0x281
    ACCESS_DENIED = 0x286
    UNWRITTEN_BLOCK = 0x287


RETRIED = (Status.DATA_TRANSFER_ERROR, Status.NAMESPACE_NOT_READY, Status.WRITE_FAULT)
"""Statuses without DNR: the same command may succeed later, without another one that changes its stream."""


def do_not_retry(status: int) -> bool:
    """DNR of a completion with this status (NVM Express Base 2.0, Figure 93)."""
    return status != Status.SUCCESS and status not in RETRIED


class BitField(NamedTuple):
    """`width` bits of an entry, from bit `low` counted from the entry's first byte (little endian)."""

    low: int
    width: int

    def get(self, entry: int) -> int:
        return entry >> self.low & (1 << self.width) - 1

    def within(self, other: "BitField") -> slice:
        """Its place in another one that shares its bits."""
        return slice(self.low - other.low, self.low - other.low + self.width)

    def put(self, value: int) -> int:
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"{value} does not fit a field of {self.width} bits")
        return value << self.low


def _dword(number: int, low: int = 0, width: int = 32) -> BitField:
    return BitField(32 * number + low, width)


class Submission:
    """Fields of the 64-byte submission entry (NVM Express Base 2.0, Figure 87).

    The data pointer is an SGL data block descriptor (NVM Express Base 2.0, section 4.1.2).
    """

    BYTES = 64
    opcode = _dword(0, 0, 8)
    fuse = _dword(0, 8, 2)
    psdt = _dword(0, 14, 2)  # 01b: SGL
    cid = _dword(0, 16, 16)
    nsid = _dword(1)
    address = _dword(6, 0, 64)
    length = _dword(8)
    sgl_type = _dword(9, 24, 8)  # 00h: data block, address
    slba = _dword(10, 0, 64)  # ZSLBA of an append or update
    nlb = _dword(12, 0, 16)  # blocks - 1 (commands that move blocks)
    dwords = _dword(12)  # dwords - 1 (zone management receive)
    action = _dword(13, 0, 8)  # ZSA, ZRA, GenerationAction
    select_all = _dword(13, 8, 1)  # zone management send
    report_options = _dword(13, 8, 8)  # zone management receive: ReportFilter
    partial = _dword(13, 16, 1)  # zone management receive
    pages = _dword(13, 16, 8)  # update: pages of gradients of a tile
    copies = _dword(13, 24, 8)  # update: pages of 16-bit copies of a tile
    rows = _dword(14, 0, 16)  # update: tiles of each channel
    expanded = _dword(14, 0, 16)  # read of a stream with a codec: blocks of decoded data - 1
    exact = _dword(14, 16, 1)  # append to and read of a stream with a codec: with WINDOW16
    first_part = _dword(15, 0, 8)  # read: the first part of its only block
    parts = _dword(15, 8, 8)  # read: how many; 0 for whole blocks
    source = _dword(15, 0, 8)  # update, commit: namespace of the current generation
    source_page = _dword(15, 16, 16)  # update: page of the source's zone that the first tile is on
    physical = _dword(2, 0, 16)  # restore: physical zone
    wear = _dword(3, 0, 21)  # restore: its erases
    restored_state = _dword(13, 8, 4)  # restore: ZoneState
    unsure = _dword(13, 12, 1)  # restore of a zone, finish: blocks behind the write pointer may be lost
    sequence = _dword(14)  # restore: number of the zone's allocation, or of the next one
    generation = _dword(15, 0, 16)  # restore: of a stream, or of the data in a read-only or offline zone
    time = _dword(12)  # restore of a zone: when its oldest data were appended
    channel = _dword(14, 0, 8)  # restore of a block: where it is
    die = _dword(14, 8, 8)
    plane = _dword(14, 16, 8)
    spare = _dword(15, 0, 16)  # and which spare block of the plane it is, from 0

    PSDT_SGL = 1


class Completion:
    """Fields of the 16-byte completion entry (NVM Express Base 2.0, Figures 90 and 93)."""

    BYTES = 16
    result = _dword(0, 0, 64)  # append, update: the assigned LBA
    stored = _dword(1, 0, 16)  # append to a stream with a codec: blocks that it takes
    corrected = _dword(0, 0, 8)  # read: bits of the page with the most; all ones: so many or more
    retries = _dword(0, 8, 8)  # read: of the page with the most
    sq_head = _dword(2, 0, 16)
    sq_id = _dword(2, 16, 16)  # the port
    cid = _dword(3, 0, 16)
    phase = _dword(3, 16, 1)
    status = _dword(3, 17, 11)  # SC in 7:0, SCT in 10:8
    do_not_retry = _dword(3, 31, 1)  # DNR


class ZoneDescriptor:
    """Fields of the 64-byte zone descriptor of a report (ZNS 1.1, Figure 37).

    The header of the report is as long.
    """

    BYTES = 64
    zone_type = BitField(0, 8)  # 2: sequential write required
    state = BitField(12, 4)
    finish_recommended = BitField(17, 1)  # FZR
    reset_recommended = BitField(18, 1)  # RZR
    capacity = BitField(64, 64)  # blocks
    start = BitField(128, 64)  # ZSLBA
    write_pointer = BitField(192, 64)  # all ones where it has no meaning: FULL, READ_ONLY, OFFLINE
    # The vendor's, reserved in the standard:
    time = BitField(256, 32)  # TIME of its oldest data; all ones without data
    sequence = BitField(288, 32)  # of the identities of its pages; all ones without data
    written = BitField(320, 32)  # blocks below its write pointer, which is kept in every state
    unsure = BitField(352, 1)  # blocks behind it may have been written, and lost

    SEQUENTIAL_WRITE_REQUIRED = 2
    NO_POINTER = (1 << write_pointer.width) - 1
    NO_TIME = (1 << time.width) - 1
    NO_SEQUENCE = (1 << sequence.width) - 1


class ReportHeader:
    """The header of a zone report (ZNS 1.1, Figure 36).

    Bytes of the buffer past the last descriptor are left as they were.
    """

    BYTES = 64
    zones = BitField(0, 64)
