"""Every struct that crosses from one block of the controller to another, in the order of the data's way.

Zones are numbered twice: a *logical* zone is a zone of a stream (device-wide number: first zone of the stream
plus index), a *physical* zone is where its blocks are. Blocks beyond the zone manager know physical zones
only.
"""

from amaranth.lib import data, enum

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.nand import BusOp
from flashtrain.spec.nvme import Completion, Opcode

from .identity import RECORD_BITS


class Operation(enum.Enum, shape=4):
    """What a decoded command asks for."""

    INVALID = 0  # its status says why
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
LBA_BITS = 32  # of a namespace, as carried inside
TIME_BITS = 32  # seconds


def event_bits(config: FmsConfig) -> int:
    """Width of a number of events of a command.

    Of an update with one page of gradients per tile there are three per block: the arrival of the gradients,
    the tile's program, and the return of the copies.
    """
    return (3 * config.max_blocks).bit_length()


class ZoneIdentity(data.StructLayout):
    """What the pages of a zone have in common in their identity (`spec.identity`); as `SourceIdentity`."""

    def __init__(self):
        p = PageIdentity
        super().__init__({
            "sequence": p.sequence.width,
            "stream": p.stream.width,
            "zone": p.zone.width,
            "generation": p.generation.width,
        })  # fmt: skip


class StreamTable(data.StructLayout):
    """One stream's settings, from the registers to the decoder and the zone manager."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "valid": 1,
            "non_volatile": 1,
            "retention": 2,  # Retention
            "refuses": 1,  # data that are past it
            "host": 2,  # Access bits
            "core": 2,
            "first": config.geometry.zone_bits,  # its first logical zone
            "zones": config.geometry.zone_bits + 1,
        })  # fmt: skip


class Entry(data.StructLayout):
    """A submission entry. `error`: the tensor buffer answered with an error; `bytes` mean nothing."""

    def __init__(self):
        super().__init__({"port": 1, "error": 1, "bytes": 512})


class Command(data.StructLayout):
    """A decoded command: decoder to zone manager. Checks 1 to 7 of `spec.nvme` are made: `status`."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "operation": Operation,
            "status": STATUS_BITS,  # of the first check that failed, or 0
            "port": 1,
            "cid": 16,
            "stream": STREAM_BITS,
            "zone": g.zone_bits,  # logical, device-wide
            "index": g.zone_bits,  # of the zone within its stream
            "offset": g.zone_size_bits,  # of the first block within its zone; restored zone: of the last one
            "blocks": config.count_bits,
            "page": config.page_address_bits,  # tensor-buffer address in logical blocks
            "address": config.address_bits,  # the same in bytes, for reports
            "descriptors": g.zone_bits + 1,  # room of a report, at most the stream's zones
            "partial": 1,
            "action": 8,
            "select_all": 1,
            # Updates and commits:
            "source": STREAM_BITS,
            "source_zone": g.zone_bits,  # of the same index, device-wide
            "rows": config.count_bits,  # of tiles
            "last_page": g.plane_bits,  # of a tile's gradients
            "copies": g.plane_bits + 1,  # pages of a tile
            "events": event_bits(config),  # that the update has
            # Recovery:
            "physical": g.block_bits,  # the zone that is inspected or restored; past the zones: spares
            "restored_state": 4,
            "wear": PageIdentity.wear.width,
            "sequence": PageIdentity.sequence.width,
            "generation": PageIdentity.generation.width,
            "time": TIME_BITS,
        })  # fmt: skip


class PageKind(enum.Enum, shape=2):
    """What a channel does with the pages of a set."""

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
            "page": config.page_address_bits,
            "last_page": g.plane_bits,  # of a page set: after it the next die's begins
            "source": g.zone_bits,  # GRADIENTS: physical
            "copies": g.plane_bits + 1,  # GRADIENTS: pages of each tile that are replaced
            "source_identity": ZoneIdentity(),  # GRADIENTS: that the pages of the source must have
            "identity": ZoneIdentity(),
            "wear": PageIdentity.wear.width,  # of the physical zone
        })  # fmt: skip


SEQUENCE_BITS = 32


class ReadJob(data.StructLayout):
    """A checked read: zone manager to read pipeline. `statistics`: `blocks` pages, one of each die.

    `inspect`: the pages come as they are, their identity in the place of their last bytes.
    """

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "tag": config.tag_bits,
            "statistics": 1,
            "zone": g.block_bits,  # physical
            "offset": g.zone_size_bits,
            "blocks": config.count_bits,
            "page": config.page_address_bits,
            "after": SEQUENCE_BITS,  # number of write jobs that must have been issued to the channels before
            "inspect": 1,
            "identity": ZoneIdentity(),  # that the pages must have
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
            "zone": config.geometry.zone_bits,  # logical; of commands of no zone anything
            "operation": Operation,
            # Events until it is complete, at least 1. Of a page of a non-volatile append there are two: its
            # arrival in SRAM, which the tensor buffer can fail, and its program.
            "count": event_bits(config),
            "result": LBA_BITS,
        })  # fmt: skip


class PageEvent(data.StructLayout):
    """One page of a command is done: pipelines and channels to tracker."""

    def __init__(self, config: FmsConfig):
        super().__init__({"tag": config.tag_bits, "failed": 1})


class ReadEffort(data.StructLayout):
    """What it took to have a page right: wrong bits, as many as a completion can tell, and further reads.
    Nothing without a code."""

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
        })  # fmt: skip


class Retired(data.StructLayout):
    """A command left the tracker: tracker to zone manager, which counts a stream's commands in flight.

    `program_failed`: of something that it programs; `zone` is where, if the command is of a zone.
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
    """What a completion entry is made from."""

    def __init__(self):
        super().__init__({"port": 1, "cid": 16, "status": STATUS_BITS, "result": LBA_BITS})


def _page_place(config: FmsConfig) -> dict:
    """`zone` is a physical one; only reads name spare blocks, which are numbered behind them."""
    g = config.geometry
    return {"zone": g.block_bits, "row": g.row_bits, "die": g.die_bits, "plane": g.plane_bits}


class WritePage(data.StructLayout):
    """A page announced to a channel; its data follows in the order of the announcements.

    Pages of GRADIENTS are announced tile by tile, from page 0 up: zone, row and die say where the new tile
    goes, `plane` is the number of the page, and the last page of a tile has `close`. Of each tile one event
    is reported, whatever `notify` says. The page of CONSTANTS has `plane` 0 and `close`; zone and row mean
    nothing.
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
            "source": g.zone_bits,  # GRADIENTS: the zone of the old tile, in the same row of the same die
            "copies": g.plane_bits + 1,  # GRADIENTS: pages of copies of a tile, which replace its first pages
            "page": config.page_address_bits,  # GRADIENTS: where in the tensor buffer it comes from
            "source_identity": ZoneIdentity(),  # GRADIENTS: that the old tile must have
            "identity": ZoneIdentity(),
            "wear": PageIdentity.wear.width,
            "channel": PageIdentity.channel.width,
        })  # fmt: skip


class ReadPage(data.StructLayout):
    """A page asked of a channel; `statistics`: those of the die's updates, whatever zone, row and plane."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            **_page_place(config),
            "statistics": 1,
            "tag": config.tag_bits,
            "page": config.page_address_bits,
        })  # fmt: skip


class ReadHead(data.StructLayout):
    """A page that a channel has ready for the tensor buffer; its beats follow.

    `from_array`: it lay in the array as a page, and came with `identity`, the bytes of its record. `failed`:
    it has more wrong bits than error correction can correct; then the identity is zeros, which are none, and
    the effort means nothing.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "tag": config.tag_bits,
            "page": config.page_address_bits,
            "failed": 1,
            "from_array": 1,
            "identity": RECORD_BITS,
            "effort": ReadEffort(config),
        })  # fmt: skip


class PageSet(data.StructLayout):
    """A page set that is complete in the write buffer: write buffer to the die's agent."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "slot": (config.write_sets - 1).bit_length(),
            "kind": PageKind,
            "zone": g.zone_bits,
            "row": g.row_bits,
            "first": g.plane_bits,  # its planes are `first` to `last`; of GRADIENTS: page 0 to the last page
            "last": g.plane_bits,
            "source": g.zone_bits,  # these as in `WritePage`
            "copies": g.plane_bits + 1,
            "tag": config.tag_bits,
        })  # fmt: skip


class SetResult(data.StructLayout):
    """A page set is needed no longer: the die's agent to the write buffer, which frees the slot.

    Of DATA the set's own status is known, CONSTANTS are loaded, of GRADIENTS the copies are on their way.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"slot": (config.write_sets - 1).bit_length(), "failed": 1})


class DieRead(data.StructLayout):
    """A page to be read from a die: read intake to the die's agent."""

    def __init__(self, config: FmsConfig):
        place = _page_place(config)
        del place["die"]
        super().__init__({
            **place,
            "statistics": 1,
            "tag": config.tag_bits,
            "page": config.page_address_bits,
        })  # fmt: skip


class SpareUse(data.StructLayout):
    """A place of a physical zone, and the spare of its plane, counted from 0, that lies there from now on.
    `zone` past the zones: the place of a spare block.

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
    """What the arbiter has to know of a bus operation.

    `moves_page` holds the bus for long; of those, `gives_page` needs room for the page. `selects` is one for
    which a page does not wait. Some that are short take their turn as if they were of another kind (`BusOp`).
    """

    def __init__(self):
        super().__init__({"moves_page": 1, "gives_page": 1, "selects": 1})


class BusRequest(data.StructLayout):
    """An operation that a die's agent asks of the bus controller. The agent's units leave `kind` open."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "op": BusOp,
            "zone": g.block_bits,  # the block table turns zone and plane into a block
            "row": g.row_bits,
            "plane": g.plane_bits,
            "slot": (config.write_sets - 1).bit_length(),  # data in: where the page is in the write buffer
            "home": 1,  # DATA_OUT: it goes to where the page of this slot and plane came from
            "from_array": 1,  # DATA_OUT: of a page that lay in the array
            "tag": config.tag_bits,  # otherwise: whose page it is
            "page": config.page_address_bits,  # and where it goes
            **_level(config),  # that is set, or at which a page of DATA_OUT was read
            "kind": BusKind(),
        })  # fmt: skip


class PageSource(data.StructLayout):
    """Where in its channel's arrays a page was read, and at which level, as far as somebody needs it: a
    retry with `read_levels`, its key with a randomizer."""

    def __init__(self, config: FmsConfig):
        place = _page_place(config)
        if not config.read_levels:
            place = {name: place[name] for name in ("row", "plane") if config.randomizer}
        super().__init__({**place, **_level(config)})


class PageRetry(data.StructLayout):
    """A page that is to be read again, at the level of `source`."""

    def __init__(self, config: FmsConfig):
        super().__init__({
            "source": PageSource(config),
            "tag": config.tag_bits,
            "page": config.page_address_bits,
        })  # fmt: skip


def _level(config: FmsConfig) -> dict:
    return {"level": config.level_bits} if config.read_levels else {}


class BufferPage(data.StructLayout):
    """A page in the write buffer: the bus controller asks for its beats."""

    def __init__(self, config: FmsConfig):
        super().__init__({"slot": (config.write_sets - 1).bit_length(), "plane": config.geometry.plane_bits})


class PageTarget(data.StructLayout):
    """Whose page it is and where it goes.

    `from_array`: it lay in the array, and an identity follows its data.
    """

    def __init__(self, config: FmsConfig):
        super().__init__(_target(config))


class FillTarget(data.StructLayout):
    """The same of a page from a die: the bus controller announces the page of a DATA_OUT."""

    def __init__(self, config: FmsConfig):
        super().__init__({**_target(config), "source": PageSource(config)})


def _target(config: FmsConfig) -> dict:
    return {"tag": config.tag_bits, "page": config.page_address_bits, "from_array": 1}
