"""Commands, status bits and bus operations of a NAND die (ONFI 5.1, section 5).

A *bus operation* is what the controller's bus engine performs in one go on one die; `SEQUENCES` is its
spelling in command, address and data cycles. Commands beyond ONFI have bytes that it leaves to the vendor:
those of the on-die update (C0h to CCh), which `spec.update` explains, and those of a *read beside* a program
or an erase:

- BCh and a row address name a page to be read, on each plane of a set; BDh senses them, or without a name the
  next page of the same planes. They go into the data registers, whatever the cache registers hold or are
  given.
- A program or erase under way is suspended for that, once it has advanced for `tadv` since it began or was
  resumed: `tsusp`, `tr`, `tres`. The die stays as ready or busy as it was; BESIDE tells that the set is
  there.
- BEh and a row address select a page for the data out, which follows after `tccs`.
- BFh ends it. Until then a program that waits for the array waits, because it needs the data registers.

Those are taken while the die is ready, while it is busy with programs or erases, and within a multi-plane
command; not while it reads otherwise or updates.

A *copyback* moves a page within its plane and not over the bus, spare bytes and wrong bits included: 00h..35h
senses it, and unless a command other than those for the status comes between, 85h with a whole address and
10h program it there. One page at a time, with nothing changed on the way; and only if the geometry has spare
blocks.

If the configuration has `read_levels`, a die has the feature READ_LEVEL (ONFI's SET FEATURES: EFh, its
address, `tadl` later four parameters, each of them twice in a beat; busy for `tfeat`). The first parameter
says by how many steps the level is lower at which cells are sensed from then on, the others are 0. It is set
while the array is idle and nothing is being put together; a reset of the die and a loss of power set it to 0.
"""

from enum import IntEnum, IntFlag
from typing import NamedTuple


class DieCommand(IntEnum):
    """Command bytes (ONFI 5.1, table 71; BCh to CCh vendor specific)."""

    READ = 0x00
    READ_CONFIRM = 0x30
    READ_MULTI_PLANE = 0x32
    READ_CACHE = 0x31
    READ_CACHE_END = 0x3F
    COPYBACK_READ_CONFIRM = 0x35
    CHANGE_READ_COLUMN = 0x05
    CHANGE_READ_COLUMN_ENHANCED = 0x06
    CHANGE_READ_COLUMN_CONFIRM = 0xE0
    PROGRAM = 0x80
    PROGRAM_CONFIRM = 0x10
    PROGRAM_MULTI_PLANE = 0x11
    PROGRAM_CACHE = 0x15
    CHANGE_WRITE_COLUMN = 0x85  # after 35h, and with a whole address, it begins a copyback program
    ERASE = 0x60
    ERASE_CONFIRM = 0xD0
    ERASE_MULTI_PLANE = 0xD1
    READ_STATUS = 0x70
    READ_STATUS_ENHANCED = 0x78
    READ_ID = 0x90
    READ_PARAMETER_PAGE = 0xEC
    SET_FEATURES = 0xEF
    GET_FEATURES = 0xEE
    RESET = 0xFF
    READ_BESIDE = 0xBC
    READ_BESIDE_CONFIRM = 0xBD
    SELECT_BESIDE = 0xBE
    READ_BESIDE_END = 0xBF
    LOAD_CONSTANTS = 0xC0
    LOAD_CONSTANTS_CONFIRM = 0xC1
    LOAD_GRADIENT = 0xC2
    LOAD_GRADIENT_CONFIRM = 0xC3
    UPDATE_SOURCE = 0xC4
    UPDATE_TARGET = 0xC5
    UPDATE_MULTI_PLANE = 0xC6
    UPDATE = 0xC7
    UPDATE_END = 0xC8
    READ_COPY = 0xC9
    READ_COPY_CONFIRM = 0xCA
    READ_STATISTICS = 0xCB
    READ_STATISTICS_CONFIRM = 0xCC


class Feature(IntEnum):
    """Addresses of features (ONFI: those from 80h on are the vendor's)."""

    READ_LEVEL = 0x89  # steps by which the read level is lower


FEATURE_PARAMETERS = 4


class DieStatus(IntFlag):
    """Bits of the status byte (ONFI 5.1, section 5.13)."""

    FAIL = 1 << 0  # the last operation of the array failed; valid while ARDY is set
    FAILC = 1 << 1  # the one before it in a cache sequence failed; valid while RDY is set
    BESIDE = 1 << 4  # a page set that was read beside is in the data registers (ONFI: vendor specific)
    ARDY = 1 << 5  # the array is idle
    RDY = 1 << 6  # the cache register is free: the die takes commands
    WP_N = 1 << 7  # not write-protected


class AddressCycles(IntEnum):
    """Address cycles of a command: none, a feature, three of row, or two of column and three of row."""

    NONE = 0
    FEATURE = 1
    ROW = 3
    FULL = 5


class DataPhase(IntEnum):
    """What follows the address cycles on the data lines."""

    NONE = 0
    IN = 1  # a page from the controller, tADL after the address
    OUT = 2  # a page to the controller
    STATUS = 3  # one status byte to the controller, tWHR after the last cycle
    FEATURE = 4  # the parameters of a feature from the controller, tADL after its address


class Sequence(NamedTuple):
    """Cycles of a bus operation, in the order of the fields; a `None` command is left out."""

    first: DieCommand | None
    address: AddressCycles
    second: DieCommand | None
    data: DataPhase
    third: DieCommand | None


class BusOp(IntEnum):
    """Operations of the bus engine, each performed whole before another may use the bus.

    The upper bits say what the arbiter has to know of it: values from 24 on move a page, 24 and 25 one that
    was named before, 60 one from the die; 20 to 22 select one, other than beside. 29 to 31 move no page, and
    23 selects none, but they take their turn as if they did.
    """

    RESET = 0
    STATUS = 1  # of the die; over all planes of the last operation
    STATUS_PLANE = 23
    READ_MORE = 3  # queue one plane of a multi-plane read
    READ_LAST = 4  # the last plane: sense
    CACHE_READ_LAST = 5  # the last plane: sense while the page sensed before is output
    CACHE_READ_NEXT = 6  # sense the next page row of the same planes while this one is output
    CACHE_READ_END = 7  # hand the sensed page to the output without another sense
    SELECT = 20  # choose the plane of a data output; the data may follow after tCCS
    DATA_OUT = 60
    PROGRAM_MORE = 24  # the data of a named page of a multi-plane program
    PROGRAM_LAST = 25  # those of the last plane: program, and take the next page set meanwhile
    ERASE_MORE = 8
    ERASE_LAST = 9
    LOAD_CONSTANTS = 26
    LOAD_GRADIENT = 27  # a page of gradients; its number is in the place of the plane
    UPDATE_SOURCE = 10  # the row that a plane senses
    UPDATE_MORE = 11  # the row that it programs
    UPDATE_LAST = 12  # the same of the last plane: update
    UPDATE_END = 13  # program what was computed last
    SELECT_COPY = 21  # choose a page of the copies for a data output after tCCS
    SELECT_STATISTICS = 22
    BESIDE_MORE = 14  # name one page of a set to be read beside a program or an erase
    BESIDE_LAST = 15  # the last one: sense
    BESIDE_NEXT = 16  # sense the next page row of the same planes
    SELECT_BESIDE = 19  # choose the plane of a data output; the data may follow after tCCS
    BESIDE_END = 17  # all that is wanted has been output
    PROGRAM_PAGE = 18  # name the page of a plane to be programmed; its data may follow after tADL
    BESIDE_RENEW = 2  # BESIDE_END and BESIDE_NEXT
    SET_READ_LEVEL = 29  # of what is sensed from now on
    COPYBACK_READ = 30  # sense one page, to be programmed elsewhere on its plane
    COPYBACK_PROGRAM = 31  # program it there


_C = DieCommand
_NONE, _ROW, _FULL = AddressCycles.NONE, AddressCycles.ROW, AddressCycles.FULL
_FEATURE = AddressCycles.FEATURE

SEQUENCES: dict[BusOp, Sequence] = {
    BusOp.RESET: Sequence(_C.RESET, _NONE, None, DataPhase.NONE, None),
    BusOp.STATUS: Sequence(_C.READ_STATUS, _NONE, None, DataPhase.STATUS, None),
    BusOp.STATUS_PLANE: Sequence(_C.READ_STATUS_ENHANCED, _ROW, None, DataPhase.STATUS, None),
    BusOp.READ_MORE: Sequence(_C.READ, _FULL, _C.READ_MULTI_PLANE, DataPhase.NONE, None),
    BusOp.READ_LAST: Sequence(_C.READ, _FULL, _C.READ_CONFIRM, DataPhase.NONE, None),
    BusOp.CACHE_READ_LAST: Sequence(_C.READ, _FULL, _C.READ_CACHE, DataPhase.NONE, None),
    BusOp.CACHE_READ_NEXT: Sequence(_C.READ_CACHE, _NONE, None, DataPhase.NONE, None),
    BusOp.CACHE_READ_END: Sequence(_C.READ_CACHE_END, _NONE, None, DataPhase.NONE, None),
    BusOp.SELECT: Sequence(
        _C.CHANGE_READ_COLUMN_ENHANCED, _FULL, _C.CHANGE_READ_COLUMN_CONFIRM, DataPhase.NONE, None
    ),
    BusOp.DATA_OUT: Sequence(None, _NONE, None, DataPhase.OUT, None),
    BusOp.PROGRAM_PAGE: Sequence(_C.PROGRAM, _FULL, None, DataPhase.NONE, None),
    BusOp.PROGRAM_MORE: Sequence(None, _NONE, None, DataPhase.IN, _C.PROGRAM_MULTI_PLANE),
    BusOp.PROGRAM_LAST: Sequence(None, _NONE, None, DataPhase.IN, _C.PROGRAM_CACHE),
    BusOp.ERASE_MORE: Sequence(_C.ERASE, _ROW, _C.ERASE_MULTI_PLANE, DataPhase.NONE, None),
    BusOp.ERASE_LAST: Sequence(_C.ERASE, _ROW, _C.ERASE_CONFIRM, DataPhase.NONE, None),
    BusOp.LOAD_CONSTANTS: Sequence(_C.LOAD_CONSTANTS, _NONE, None, DataPhase.IN, _C.LOAD_CONSTANTS_CONFIRM),
    BusOp.LOAD_GRADIENT: Sequence(_C.LOAD_GRADIENT, _ROW, None, DataPhase.IN, _C.LOAD_GRADIENT_CONFIRM),
    BusOp.UPDATE_SOURCE: Sequence(_C.UPDATE_SOURCE, _ROW, None, DataPhase.NONE, None),
    BusOp.UPDATE_MORE: Sequence(_C.UPDATE_TARGET, _ROW, _C.UPDATE_MULTI_PLANE, DataPhase.NONE, None),
    BusOp.UPDATE_LAST: Sequence(_C.UPDATE_TARGET, _ROW, _C.UPDATE, DataPhase.NONE, None),
    BusOp.UPDATE_END: Sequence(_C.UPDATE_END, _NONE, None, DataPhase.NONE, None),
    BusOp.SELECT_COPY: Sequence(_C.READ_COPY, _ROW, _C.READ_COPY_CONFIRM, DataPhase.NONE, None),
    BusOp.SELECT_STATISTICS: Sequence(
        _C.READ_STATISTICS, _NONE, _C.READ_STATISTICS_CONFIRM, DataPhase.NONE, None
    ),
    BusOp.BESIDE_MORE: Sequence(_C.READ_BESIDE, _ROW, None, DataPhase.NONE, None),
    BusOp.BESIDE_LAST: Sequence(_C.READ_BESIDE, _ROW, _C.READ_BESIDE_CONFIRM, DataPhase.NONE, None),
    BusOp.BESIDE_NEXT: Sequence(_C.READ_BESIDE_CONFIRM, _NONE, None, DataPhase.NONE, None),
    BusOp.SELECT_BESIDE: Sequence(_C.SELECT_BESIDE, _ROW, None, DataPhase.NONE, None),
    BusOp.BESIDE_END: Sequence(_C.READ_BESIDE_END, _NONE, None, DataPhase.NONE, None),
    BusOp.BESIDE_RENEW: Sequence(_C.READ_BESIDE_END, _NONE, _C.READ_BESIDE_CONFIRM, DataPhase.NONE, None),
    BusOp.SET_READ_LEVEL: Sequence(_C.SET_FEATURES, _FEATURE, None, DataPhase.FEATURE, None),
    BusOp.COPYBACK_READ: Sequence(_C.READ, _FULL, _C.COPYBACK_READ_CONFIRM, DataPhase.NONE, None),
    BusOp.COPYBACK_PROGRAM: Sequence(_C.CHANGE_WRITE_COLUMN, _FULL, _C.PROGRAM_CONFIRM, DataPhase.NONE, None),
}
