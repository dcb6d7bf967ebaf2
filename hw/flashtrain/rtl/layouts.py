"""Every struct that crosses from one block of the controller to another, in the order of the data's way.

Fields that several structs have:

    ================ ================================================================================
    zone             a *logical* zone from the decoder to the zone manager: a zone of a stream, with a
                     device-wide number. A *physical* zone beyond it: the number of the zone's blocks.
                     Only reads and erases name spare blocks, whose numbers follow those of the zones
    offset           a logical block within its zone
    die, plane       within the channel, within the die
    page             the number of a page within its block, as in `spec.identity`
    buffer_block     an address in the tensor buffer, in logical blocks
    part             the part of a page that is read
    slot             a page set's place in the write buffer
    tag              a command in flight, from its opening to its answer
    stream           its number, NSID - 1
    sequence         the number of an allocation of a physical zone
    generation       the number of resets of a stream
    kind             the treatment of a page set (`PageKind`)
    identity         the record that a page carries, or the part of it that a zone's pages share
    ================ ================================================================================
"""

from amaranth import Value
from amaranth.lib import data, enum

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import LBA_BITS, bits_for
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.nand import BusOp
from flashtrain.spec.nvme import Completion, Opcode
from flashtrain.spec.registers import CycleKind
from flashtrain.spec.sdr import SDR_MODES
from flashtrain.spec.streams import Codec
from flashtrain.spec.update import SourceIdentity

from .identity import RECORD_BITS


class Operation(enum.Enum, shape=4):
    """The operation of a decoded command."""

    INVALID = 0  # its status has the reason
    FLUSH = 1
    WRITE = 2
    READ = 3
    SEND = 4
    RECEIVE = 5
    APPEND = 6
    RESET = 7
    RETIRE = 8
    CONSTANTS = 9
    STATISTICS = 10
    UPDATE = 11
    GENERATION = 12
    INSPECT = 13
    RESTORE = 14


OPERATION_OF = {
    Opcode.FLUSH: Operation.FLUSH,
    Opcode.WRITE: Operation.WRITE,
    Opcode.READ: Operation.READ,
    Opcode.ZONE_MANAGEMENT_SEND: Operation.SEND,
    Opcode.ZONE_MANAGEMENT_RECEIVE: Operation.RECEIVE,
    Opcode.ZONE_APPEND: Operation.APPEND,
    Opcode.STREAM_RESET: Operation.RESET,
    Opcode.ZONE_RETIRE: Operation.RETIRE,
    Opcode.SET_CONSTANTS: Operation.CONSTANTS,
    Opcode.GET_STATISTICS: Operation.STATISTICS,
    Opcode.UPDATE: Operation.UPDATE,
    Opcode.GENERATION: Operation.GENERATION,
    Opcode.INSPECT: Operation.INSPECT,
    Opcode.RESTORE: Operation.RESTORE,
}

STATUS_BITS = 11
STREAM_BITS = 3  # NSID - 1
CODEC_BITS = max(Codec).bit_length()
TIME_BITS = 32  # seconds
CYCLE_KIND_BITS = bits_for(len(CycleKind))


def event_bits(config: FmsConfig) -> int:
    """Width of a number of events of a command.

    Of an update with one page of gradients per tile there are three per block: the arrival of the gradients,
    the tile's program, and the return of the copies.
    """
    return (3 * config.max_blocks).bit_length()


def coded(config: FmsConfig, fields: dict) -> dict:
    """The fields of a struct that only streams with a codec need."""
    return fields if config.codec else {}


class PagePart(data.StructLayout):
    """The part of a page that a read moves, in parts of `part_bytes`; all zeros for a whole page.

    before, behind: parts of the page that are left out. target: the tensor-buffer address of the first one
    that is not, behind `buffer_block`.
    """

    def __init__(self, config: FmsConfig):
        super().__init__(dict.fromkeys(("before", "behind", "target"), bits_for(config.page_parts)))

    @staticmethod
    def is_partial(part) -> Value:
        """Whether the page is not whole."""
        return (part.before | part.behind).any()

    @staticmethod
    def last(part) -> Value:
        """Parts that are moved, less one."""
        return ~(part.before + part.behind)[: len(part.before)]


def parted(config: FmsConfig) -> dict:
    """The field of a struct that only reads of parts need."""
    return {"part": PagePart(config)} if config.part_bytes else {}


class ZoneIdentity(data.StructLayout):
    """The common part of the identities of a zone's pages (`spec.identity`)."""

    def __init__(self):
        p = PageIdentity
        super().__init__({
            "sequence": p.sequence.width,
            "stream": p.stream.width,
            "zone": p.zone.width,
            "generation": p.generation.width,
        })  # fmt: skip


class TileSource(data.StructLayout):
    """The common part of the identities of a tile to be sensed, as `SourceIdentity`."""

    def __init__(self):
        s = SourceIdentity
        super().__init__({
            "sequence": s.sequence.width,
            "stream": s.stream.width,
            "zone": s.zone.width,
            "page": s.page.width,
        })  # fmt: skip


class StreamTable(data.StructLayout):
    """One stream's settings, from the registers to the decoder and the zone manager."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "valid": 1,
            "non_volatile": 1,
            "retention": 2,  # Retention
            "refuses": 1,  # reads of expired data fail
            "host": 2,  # Access bits
            "core": 2,
            "first": config.geometry.zone_bits,  # its first logical zone
            "zones": config.geometry.zone_bits + 1,
            **coded(config, {"codec": CODEC_BITS}),
        })  # fmt: skip


class Entry(data.StructLayout):
    """A submission entry. `error`: the tensor buffer answered with an error; `bytes` are invalid."""

    def __init__(self):
        super().__init__({"port": 1, "error": 1, "bytes": 512})


class Command(data.StructLayout):
    """A decoded command: decoder to zone manager. `status` is that of checks 1 to 7 of `spec.nvme`."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "operation": Operation,
            "status": STATUS_BITS,  # of the first check that failed, or 0
            "port": 1,
            "cid": 16,
            "stream": STREAM_BITS,
            "zone": g.zone_bits,  # logical
            "first_zone": g.zone_bits,  # looked up first: of an update the source's, else `zone`
            "index": g.zone_bits,  # of the zone within its stream
            "offset": g.zone_size_bits,  # of the first block within its zone; restored zone: of the last one
            "blocks": config.count_bits,
            "buffer_block": config.buffer_block_bits,
            "address": config.address_bits,  # of a report, in bytes
            "descriptors": g.zone_bits + 1,  # room of a report, at most the stream's zones
            "report_filter": 3,  # ReportFilter
            "partial": 1,
            "action": 8,
            "select_all": 1,
            # Updates and commits:
            "source": STREAM_BITS,
            "source_page": g.page_bits,  # of the first tile
            "rows": config.count_bits,  # of tiles
            "last_page": g.plane_bits,  # of a tile's gradients
            "copies": g.plane_bits + 1,  # pages of a tile
            "events": event_bits(config),  # of the update
            # Recovery:
            "physical": g.block_bits,  # the zone that is inspected or restored; past the zones: spares
            "restored_state": 4,
            "unsure": 1,  # of a restored zone, as in its entry
            "wear": PageIdentity.wear.width,
            "sequence": PageIdentity.sequence.width,
            "generation": PageIdentity.generation.width,
            "time": TIME_BITS,
            **parted(config),
            **coded(config, {
                "codec": CODEC_BITS,  # of the stream
                "bound": config.count_bits,  # of an append: blocks that it takes at most
                "expanded": config.count_bits,  # of a read: blocks of decoded data
            }),
        })  # fmt: skip


class PageKind(enum.Enum, shape=2):
    """A channel's treatment of the pages of a set."""

    DATA = 0  # programs them
    GRADIENTS = 1  # loads them into the die, and updates a tile with them (`spec.update`)
    CONSTANTS = 2  # loads the only one, of plane 0, into the die


class WriteJob(data.StructLayout):
    """Pages for the channels, or a flush: zone manager to write pipeline, in the order of reservation."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "flush": 1,  # no blocks: close the stream's page sets and wait for their programs
            "tag": config.tag_bits,
            "stream": STREAM_BITS,
            "non_volatile": 1,  # complete on program, not on arrival; close page sets at the end
            "kind": PageKind,
            "zone": g.zone_bits,  # physical
            "offset": g.zone_size_bits,
            "blocks": config.count_bits,
            "buffer_block": config.buffer_block_bits,
            "last_page": g.plane_bits,  # of a page set; the next die's set follows it
            "source": g.zone_bits,  # GRADIENTS: physical
            "copies": g.plane_bits + 1,  # GRADIENTS: pages of each tile that are replaced
            "source_identity": TileSource(),  # GRADIENTS: required of the first tile of the source
            "identity": ZoneIdentity(),
            "wear": PageIdentity.wear.width,  # of the physical zone
            **coded(config, {
                "codec": CODEC_BITS,  # not RAW: `blocks` of data are encoded into at most `bound` pages
                "bound": config.count_bits,
                "slack": g.zone_size_bits + 1,  # of the stream, as far as `offset` has it (`Settled`)
            }),
        })  # fmt: skip


class Settled(data.StructLayout):
    """The end of a job that was encoded: write pipeline to zone manager and tracker.

    The *slack* is the number of blocks that were reserved and not written. The offsets of later jobs that
    were made before their zone's pointer returned by it are too far by as much. So jobs carry the sum of
    their stream's slack that the pointer had seen, modulo 2^n.
    """

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "tag": config.tag_bits,
            "failed": 1,
            "stream": STREAM_BITS,
            "zone": g.zone_bits,  # logical
            "offset": g.zone_size_bits,  # of the first block
            "stored": config.count_bits,  # blocks that were written
            "slack": config.count_bits,
            "non_volatile": 1,  # the programs of the slack are no events any more
        })  # fmt: skip


SEQUENCE_BITS = 32


class ReadJob(data.StructLayout):
    """A checked read: zone manager to read pipeline. `statistics`: `blocks` pages, one of each die.

    `inspect`: the pages are not checked, and their identity replaces their last bytes.
    """

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "tag": config.tag_bits,
            "statistics": 1,
            "zone": g.block_bits,  # physical
            "offset": g.zone_size_bits,
            "blocks": config.count_bits,
            "buffer_block": config.buffer_block_bits,
            "after": SEQUENCE_BITS,  # write jobs that must be issued before
            "inspect": 1,
            "identity": ZoneIdentity(),  # required of the pages
            **parted(config),
            **coded(config, {"codec": CODEC_BITS, "expanded": config.count_bits}),
        })  # fmt: skip


class Opening(data.StructLayout):
    """A command enters the tracker: zone manager to tracker, before its job is sent."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "tag": config.tag_bits,
            "port": 1,
            "cid": 16,
            "stream": STREAM_BITS,
            "source": STREAM_BITS,  # of an update
            "zone": config.geometry.zone_bits,  # logical; invalid for commands of no zone
            "operation": Operation,
            # Events until it is complete, at least 1. Of a page of a non-volatile append there are two: its
            # arrival in SRAM, which the tensor buffer can fail, and its program.
            "count": event_bits(config),
            "result": LBA_BITS,
        })  # fmt: skip


class PageEvent(data.StructLayout):
    """An event of a command: pipelines and channels to tracker."""

    def __init__(self, config: FmsConfig):
        super().__init__({"tag": config.tag_bits, "failed": 1})


class ReadEffort(data.StructLayout):
    """The effort of a page: corrected bits, up to the most that a completion can carry, and further reads.

    Empty without a code.
    """

    def __init__(self, config: FmsConfig):
        code = config.code
        super().__init__({
            "corrected": min(bits_for(code.words * code.strength + 1), Completion.corrected.width),
            **({"retries": config.level_bits} if config.read_levels else {}),
        } if code else {})  # fmt: skip


class ReturnedPage(data.StructLayout):
    """A page of a read is in the tensor buffer: read pipeline to tracker."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            **{name: field.shape for name, field in PageEvent(config)},
            "effort": ReadEffort(config),
            **coded(config, {"refused": 1}),  # by the codec
        })  # fmt: skip


class Retired(data.StructLayout):
    """A command has left the tracker: tracker to zone manager, which counts a stream's commands in flight.

    `program_failed`: one of its programs failed, in `zone` if the command is of a zone.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "stream": STREAM_BITS,
            "source": STREAM_BITS,
            "zone": config.geometry.zone_bits,
            "operation": Operation,
            "program_failed": 1,
        })  # fmt: skip


class Answer(data.StructLayout):
    """The answer to a command: tracker and zone manager to completion."""

    def __init__(self, config: FmsConfig):
        c = Completion
        result_bits = c.stored.low + c.stored.width - c.result.low if config.codec else LBA_BITS
        super().__init__({"port": 1, "cid": 16, "status": STATUS_BITS, "result": result_bits})


def _page_place(config: FmsConfig) -> dict:
    g = config.geometry
    return {"zone": g.block_bits, "page": g.page_bits, "die": g.die_bits, "plane": g.plane_bits}


class WritePage(data.StructLayout):
    """A page allocated in a channel; the data follow in the order of the allocations.

    Pages of GRADIENTS are allocated tile by tile, from page 0 up. Zone, page and die are the place of the new
    tile, and `plane` is the number of the page. The last page of a tile has `close`. Each tile has one event,
    whatever `notify` is. The page of CONSTANTS has `plane` 0 and `close`; its zone and page are invalid.
    """

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            **_page_place(config),
            "kind": PageKind,
            "tag": config.tag_bits,
            "stream": STREAM_BITS,
            "notify": 1,  # report when its program has passed or failed; of constants, when they are loaded
            "close": 1,  # no more pages for its page set: program it
            "source": g.zone_bits,  # GRADIENTS: the zone of the old tile, on the same die
            "copies": g.plane_bits + 1,  # GRADIENTS: copies of a tile, which replace its first pages
            "buffer_block": config.buffer_block_bits,  # GRADIENTS: the address of the page
            "source_identity": TileSource(),  # GRADIENTS: required of the old tile; its page
            "identity": ZoneIdentity(),
            "wear": PageIdentity.wear.width,
            "channel": PageIdentity.channel.width,
        })  # fmt: skip


class ReadPage(data.StructLayout):
    """A page requested of a channel. `statistics`: of the die's updates; zone, page and plane are invalid."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            **_page_place(config),
            "statistics": 1,
            "tag": config.tag_bits,
            "buffer_block": config.buffer_block_bits,
            **parted(config),
        })  # fmt: skip


class ReadHead(data.StructLayout):
    """A page that a channel offers for the tensor buffer; its beats follow.

    `from_array`: the page was read from an array, and `identity` has the bytes of its record. `failed`: it
    has uncorrectable bit errors; then the identity is zeros, which is none, and the effort is invalid.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "tag": config.tag_bits,
            "buffer_block": config.buffer_block_bits,
            "failed": 1,
            "from_array": 1,
            "identity": RECORD_BITS,
            "effort": ReadEffort(config),
            **parted(config),
        })  # fmt: skip


class PageSet(data.StructLayout):
    """A closed page set with complete data: write buffer to the die's agent."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "slot": (config.write_sets - 1).bit_length(),
            "kind": PageKind,
            "zone": g.zone_bits,
            "page": g.page_bits,
            "first": g.plane_bits,  # its planes are `first` to `last`; of GRADIENTS: page 0 to the last page
            "last": g.plane_bits,
            "source": g.zone_bits,  # these as in `WritePage`
            "source_page": g.page_bits,
            "copies": g.plane_bits + 1,
            "tag": config.tag_bits,
        })  # fmt: skip


class SetResult(data.StructLayout):
    """The end of a page set: the die's agent to the write buffer, which frees the slot.

    DATA have their own status, CONSTANTS are loaded, the copies of GRADIENTS are on their way.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"slot": (config.write_sets - 1).bit_length(), "failed": 1})


class DieRead(data.StructLayout):
    """A page to be read from a die: read lookup to the die's agent."""

    def __init__(self, config: FmsConfig):
        place = _page_place(config)
        del place["die"]
        super().__init__({
            **place,
            "statistics": 1,
            "tag": config.tag_bits,
            "buffer_block": config.buffer_block_bits,
            **parted(config),
        })  # fmt: skip


class SpareUse(data.StructLayout):
    """A remap: a place of a physical zone, and the spare block of its plane, from 0, that replaces its block.

    A `zone` behind the zones is the place of a spare block.

    Restore unit to channels; within a channel a die's agent to the block table.
    """

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "zone": g.block_bits,
            "die": g.die_bits,
            "plane": g.plane_bits,
            "spare": bits_for(g.spare_blocks),
        })  # fmt: skip


class BusKind(data.StructLayout):
    """The class of a bus operation, for the arbiter.

    `moves_page` occupies the bus for a page; of these, `gives_page` needs room in the read buffer. No page
    waits for an operation that `selects`. Some short operations have the class of another one (`BusOp`).
    """

    def __init__(self):
        super().__init__({"moves_page": 1, "gives_page": 1, "selects": 1})


class BusRequest(data.StructLayout):
    """A request of a die's agent for a bus operation. The agent's units do not drive `kind`."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "op": BusOp,
            "zone": g.block_bits,  # the block table turns zone and plane into a block
            "page": g.page_bits,
            "plane": g.plane_bits,
            "slot": (config.write_sets - 1).bit_length(),  # data in: where the page is in the write buffer
            "origin": 1,  # DATA_OUT: to the origin of the page of this slot and plane
            "from_array": 1,  # DATA_OUT: of a page from the array
            "tag": config.tag_bits,  # otherwise: the target
            "buffer_block": config.buffer_block_bits,
            **_level(config),  # to be set, or of a page of DATA_OUT
            **_moved_part(config),
            "kind": BusKind(),
        })  # fmt: skip


class PortCycle(data.StructLayout):
    """A cycle of the command port, from the registers to a channel. `die` is the number of a chip enable."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "kind": CYCLE_KIND_BITS,  # CycleKind
            "die": bits_for(config.chip_enables),
            "mode": bits_for(len(SDR_MODES)),
            "byte": 8,
        })  # fmt: skip


class EngineInterface(data.StructLayout):
    """The data interface of the channel engines, which firmware chooses: SDR, or NV-DDR3."""

    def __init__(self):
        super().__init__({"mode": bits_for(len(SDR_MODES)), "sdr": 1})


def has_engine_interface(config: FmsConfig) -> bool:
    """Whether firmware chooses the data interface of the engines, or its mode."""
    return config.chips.sdr and config.command_port


class PageSource(data.StructLayout):
    """The place of a page in its channel's arrays, and its read level.

    A retry needs all of it, with `read_levels`; the key of a randomizer needs the page and the plane.
    """

    def __init__(self, config: FmsConfig):
        place = _page_place(config)
        if not config.read_levels:
            place = {name: place[name] for name in ("page", "plane") if config.randomizer}
        super().__init__({**place, **_level(config)})


class PageRetry(data.StructLayout):
    """A page to be read again, at the level of `source`."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "source": PageSource(config),
            "tag": config.tag_bits,
            "buffer_block": config.buffer_block_bits,
        })  # fmt: skip


def _level(config: FmsConfig) -> dict:
    return {"level": config.level_bits} if config.read_levels else {}


class BufferPage(data.StructLayout):
    """A page in the write buffer: the bus controller requests its beats."""

    def __init__(self, config: FmsConfig):
        super().__init__({"slot": (config.write_sets - 1).bit_length(), "plane": config.geometry.plane_bits})


class PageTarget(data.StructLayout):
    """The command and the tensor-buffer address of a page. `from_array`: an identity follows its data."""

    def __init__(self, config: FmsConfig):
        super().__init__(_target(config))


class FillTarget(data.StructLayout):
    """The target and the source of a page from a die: bus controller to read buffer, before a DATA_OUT."""

    def __init__(self, config: FmsConfig):
        moves_part = {"moves_part": 1} if config.part_bytes else {}
        super().__init__({**_target(config), "source": PageSource(config), **moves_part})


def _target(config: FmsConfig) -> dict:
    return {
        "tag": config.tag_bits, "buffer_block": config.buffer_block_bits, "from_array": 1, **parted(config)
    }  # fmt: skip


def _moved_part(config: FmsConfig) -> dict:
    """With parts, `moves_part`: the bus moves the part alone, else the whole page.

    `of_identity`: a SELECT is `SELECT_COLUMN`, of the identity. `sensed`: it is `SELECT_SENSED`.
    """
    names = "moves_part", "of_identity", "sensed"
    return {**parted(config), **dict.fromkeys(names, 1)} if config.part_bytes else {}
