"""Commands, status bits and bus operations of a NAND die (ONFI 5.1, section 5).

A short course of NAND memory
-----------------------------

*Cells and pages.* A cell stores a bit as charge (an SLC cell; an MLC or TLC cell stores two or three bits). A
program moves bits from 1 to 0, and only an erase moves them back to 1. The *page* is the smallest unit of a
program and of a sense: a power of two of data bytes, and *spare* bytes behind them. The spare bytes have no
special cells. Here they hold the page's identity and the parity of the code.

*Blocks.* Some hundred pages form a *block*, the smallest unit of an erase. The pages of a block are
programmed once each, in the order of their numbers. A block endures a limited number of erases, and some
blocks are bad from the factory or fail later.

*Planes.* The blocks of a die are divided among its *planes*. Each plane has page registers of its own, so all
planes sense, program or erase at the same time. Such a *multi-plane* operation takes one page, or one block,
of each plane, with the same page number.

*Dies.* A *die*, in ONFI's words a *logical unit* (LUN), decodes commands and works alone: it is busy while
the others of its channel go on. The dies of a *channel* share eight data lines (DQ), the strobes of commands
(CLE) and addresses (ALE), and the data strobe (DQS). Chip enable (CE#) selects a die, and ready/busy (R/B#)
comes back from each.

*Addresses.* An address names a byte by *column* and *row*. The column, two cycles, counts bytes of a page,
spare bytes included. The row, three cycles, names a page of the die:

    row = | block | plane | page |          page lowest; see `Geometry.row_address`

*Registers.* A plane has a *cache register*, which the bus reads and writes, and a *data register*, which the
array senses into and programs from. Two registers let the bus transfer one page while the array works on
another.

*A read.* 00h, five address cycles and 30h start a sense. After tR the page is in the registers, and data out
begins at the column. In a multi-plane read all planes but the last end with 32h in place of 30h. Then 06h to
E0h select the plane whose page goes out. In a *cache read* 31h copies the page to the cache register and
senses the next one meanwhile. 3Fh ends the sequence.

*A program.* 80h, five address cycles and the data fill the cache register, and 10h programs them during
tPROG. In a multi-plane program all planes but the last end with 11h, each busy for tDBSY. In a *cache
program* 15h takes the place of 10h. The die is ready for the next page set as soon as the data registers have
taken this one, and the array programs meanwhile. So a die can program all the time.

*An erase.* 60h, three row cycles and D0h erase a block during tBERS; D1h in place of D0h adds a plane.

*Status.* 70h reads the status byte of the die, 78h and a row address that of one plane. RDY: the cache
register is free. ARDY: the array is idle. FAIL: the last operation of the array failed; valid at ARDY. FAILC:
the one before it in a cache sequence failed; valid at RDY. So the result of a cache program comes one page
set later, and the data stay in the controller until then.

*Times.* tR takes microseconds, tPROG a hundred or more, tBERS milliseconds; a page takes some microseconds on
the bus. Hence a channel has several dies, and its controller interleaves them: one die's data are on the bus
while the arrays of the others work. `spec.timing` has the names and values.

*Suspend.* A die may suspend a program or an erase, serve a read and resume it (tSUSP, tRES). Otherwise a read
waits behind a program for thirty times its own duration.

Commands of this project
------------------------

A *bus operation* is a unit of work of the bus controller on one die; `SEQUENCES` gives its command, address
and data cycles. Commands beyond ONFI use bytes that ONFI leaves to the vendor. C0h to CCh belong to the
on-die update, which `spec.update` explains. BCh to BFh belong to the *suspended read*, which runs beside a
program or an erase:

- BCh and a row address name a page, on each plane of a set. BDh senses them; without a name it senses the
  next page of the same planes. The pages go into the data registers; the cache registers keep their content.
- The die suspends a program or erase for the sense, once it has advanced for `tadv` since it began or was
  resumed: `tsusp`, `tr`, `tres`. RDY and ARDY stay as they are; SUSPENDED_READ reports that the set is there.
- BEh and a row address select a page for the data out, which follows after `tccs`.
- BFh ends the suspended read. Until then a program that is due waits, since it needs the data registers.

Chips of other makers have a pair of commands instead, which suspends and resumes (`Chips.program_suspend` and
the keys behind it). Between these a chip takes plain reads. SUSPEND_PROGRAM and the names behind it are the
operations for them.

A die accepts these commands while it is ready, while it programs or erases, and within a multi-plane command;
not during another read or an update.

A *copyback* moves a page within its plane without the bus; spare bytes and wrong bits move with it. 00h to
35h sense the page. 85h, a whole address and 10h program it at its new place. Between them only status
commands may come. A copyback moves one page at a time, unchanged, and needs a geometry with spare blocks.

With `read_levels` a die has the feature READ_LEVEL. ONFI's SET FEATURES sets it: EFh, its address, and after
`tadl` four parameters, each of them twice in a beat; then the die is busy for `tfeat`. The first parameter is
the number of steps by which the read level is lower from then on; the others are 0. The command comes while
the array is idle and no sequence is open. A reset of the die and a loss of power set the level to 0.
"""

from enum import IntEnum, IntFlag
from typing import NamedTuple

from .chips import Chips
from .sca import END_OF_ADDRESS


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
    ZQ_CALIBRATION_LONG = 0xF9
    ZQ_CALIBRATION_SHORT = 0xD9
    RESET = 0xFF
    SUSPENDED_READ = 0xBC
    SUSPENDED_READ_CONFIRM = 0xBD
    SUSPENDED_READ_SELECT = 0xBE
    SUSPENDED_READ_END = 0xBF
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

    TIMING_MODE = 0x01  # data interface and timing mode; the first parameter of SDR is the number of the mode
    DRIVE_STRENGTH = 0x10  # the first parameter is the place in `spec.chips.DRIVE_OHMS`
    READ_LEVEL = 0x89  # steps by which the read level is lower


FEATURE_PARAMETERS = 4


class DieStatus(IntFlag):
    """Bits of the status byte (ONFI 5.1, section 5.13)."""

    FAIL = 1 << 0  # the last operation of the array failed; valid while ARDY is set
    FAILC = 1 << 1  # the one before it in a cache sequence failed; valid while RDY is set
    SUSPENDED_READ = 1 << 4  # the page set of a suspended read is in the data registers (vendor specific)
    ARDY = 1 << 5  # the array is idle
    RDY = 1 << 6  # the cache register is free: the die takes commands
    WP_N = 1 << 7  # not write-protected


class AddressCycles(IntEnum):
    """Address cycles of a command: none, a feature, two of column, three of row, or a column and a row."""

    NONE = 0
    FEATURE = 1
    COLUMN = 2
    ROW = 3
    FULL = 5


class DataPhase(IntEnum):
    """Data that follow the address cycles."""

    NONE = 0
    IN = 1  # a page from the controller, tADL after the address
    OUT = 2  # a page to the controller
    STATUS = 3  # one status byte to the controller, tWHR after the last cycle
    FEATURE = 4  # the parameters of a feature from the controller, tADL after its address


class Sequence(NamedTuple):
    """Cycles of a bus operation, in the order of the fields; a `None` command is left out."""

    first: DieCommand | int | None  # a number of a maker's
    address: AddressCycles
    second: DieCommand | int | None
    data: DataPhase
    third: DieCommand | None

    @property
    def cycles(self) -> int:
        """Command and address cycles ahead of the data."""
        return (self.first is not None) + self.address + (self.second is not None)


class BusOp(IntEnum):
    """Operations of the bus controller, each performed whole before another may use the bus.

    The upper bits of the number say what the arbiter decides on. Values from 24 on move a page; 24 and 25
    move one that was named before, 60 one from the die. 20 to 22 select a page, except that of a suspended
    read. 28 to 31 move no page and 23 selects none, but the arbiter treats them alike. 32 moves the end of a
    page that has room in the read buffer already.
    """

    RESET = 0
    STATUS = 1  # of the die; over all planes of the last operation
    STATUS_PLANE = 23
    READ_MORE = 3  # queue one plane of a multi-plane read
    READ_LAST = 4  # the last plane: sense
    CACHE_READ_LAST = 5  # the last plane: sense while the page sensed before is output
    CACHE_READ_NEXT = 6  # sense the next page of the same planes while this one is output
    CACHE_READ_END = 7  # hand the sensed page to the output without another sense
    SELECT = 20  # choose the plane of a data output; the data may follow after tCCS
    DATA_OUT = 60
    PROGRAM_MORE = 24  # the data of a named page of a multi-plane program
    PROGRAM_LAST = 25  # those of the last plane: program, and take the next page set meanwhile
    ERASE_MORE = 8
    ERASE_LAST = 9
    LOAD_CONSTANTS = 26
    LOAD_GRADIENT = 27  # a page of gradients; its number takes the place of the plane
    UPDATE_SOURCE = 10  # the page that a plane senses
    UPDATE_MORE = 11  # the page that it programs
    UPDATE_LAST = 12  # the same of the last plane: update
    UPDATE_END = 13  # program the tile that was computed last
    SELECT_COPY = 21  # choose a page of the copies for a data output after tCCS
    SELECT_STATISTICS = 22
    SUSPENDED_READ_MORE = 14  # name one page of a set for a suspended read
    SUSPENDED_READ_LAST = 15  # the last one: sense
    SUSPENDED_READ_NEXT = 16  # sense the next page of the same planes
    SUSPENDED_READ_SELECT = 19  # choose the plane of a data output; the data may follow after tCCS
    SUSPENDED_READ_END = 17  # end of the suspended read
    PROGRAM_PAGE = 18  # name the page of a plane to be programmed; its data may follow after tADL
    SUSPENDED_READ_RENEW = 2  # SUSPENDED_READ_END and SUSPENDED_READ_NEXT
    SET_TIMING_MODE = 28  # SDR, after a reset of the chip
    SET_READ_LEVEL = 29  # of the senses from now on
    COPYBACK_READ = 30  # sense one page, to be programmed elsewhere on its plane
    COPYBACK_PROGRAM = 31  # program it there
    IDENTITY_OUT = 32  # the identity of a page, of which DATA_OUT has moved a part


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
    BusOp.IDENTITY_OUT: Sequence(None, _NONE, None, DataPhase.OUT, None),
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
    BusOp.SUSPENDED_READ_MORE: Sequence(_C.SUSPENDED_READ, _ROW, None, DataPhase.NONE, None),
    BusOp.SUSPENDED_READ_LAST: Sequence(
        _C.SUSPENDED_READ, _ROW, _C.SUSPENDED_READ_CONFIRM, DataPhase.NONE, None
    ),
    BusOp.SUSPENDED_READ_NEXT: Sequence(_C.SUSPENDED_READ_CONFIRM, _NONE, None, DataPhase.NONE, None),
    BusOp.SUSPENDED_READ_SELECT: Sequence(_C.SUSPENDED_READ_SELECT, _ROW, None, DataPhase.NONE, None),
    BusOp.SUSPENDED_READ_END: Sequence(_C.SUSPENDED_READ_END, _NONE, None, DataPhase.NONE, None),
    BusOp.SUSPENDED_READ_RENEW: Sequence(
        _C.SUSPENDED_READ_END, _NONE, _C.SUSPENDED_READ_CONFIRM, DataPhase.NONE, None
    ),
    BusOp.SET_TIMING_MODE: Sequence(_C.SET_FEATURES, _FEATURE, None, DataPhase.FEATURE, None),
    BusOp.SET_READ_LEVEL: Sequence(_C.SET_FEATURES, _FEATURE, None, DataPhase.FEATURE, None),
    BusOp.COPYBACK_READ: Sequence(_C.READ, _FULL, _C.COPYBACK_READ_CONFIRM, DataPhase.NONE, None),
    BusOp.COPYBACK_PROGRAM: Sequence(_C.CHANGE_WRITE_COLUMN, _FULL, _C.PROGRAM_CONFIRM, DataPhase.NONE, None),
}

SELECT_SENSED = Sequence(_C.READ, _NONE, None, DataPhase.NONE, None)
"""SELECT of the only page of a sense, behind a status. Its data follow from the column of that address, after
tWHR and not tCCS."""

SELECT_COLUMN = Sequence(
    _C.CHANGE_READ_COLUMN, AddressCycles.COLUMN, _C.CHANGE_READ_COLUMN_CONFIRM, DataPhase.NONE, None
)
"""SELECT of another column of the page that is selected."""


SUSPEND_PROGRAM, RESUME_PROGRAM = BusOp.SUSPENDED_READ_MORE, BusOp.SUSPENDED_READ_LAST
SUSPEND_ERASE, RESUME_ERASE = BusOp.SUSPENDED_READ_NEXT, BusOp.SUSPENDED_READ_END
"""Operations for the commands of a maker. They have the numbers of suspended reads, which such chips lack."""


def sequences(chips: Chips) -> dict[BusOp, Sequence]:
    """`SEQUENCES` with the commands that these chips have instead; see `spec.chips`."""
    plain = {}
    row = _ROW if chips.suspend_row else _NONE
    for op, command in (
        (SUSPEND_PROGRAM, chips.program_suspend), (RESUME_PROGRAM, chips.program_resume),
        (SUSPEND_ERASE, chips.erase_suspend), (RESUME_ERASE, chips.erase_resume),
    ):  # fmt: skip
        if command:
            plain[op] = Sequence(command, row, None, DataPhase.NONE, None)
    if not chips.cache_program:
        plain[BusOp.PROGRAM_LAST] = SEQUENCES[BusOp.PROGRAM_LAST]._replace(third=_C.PROGRAM_CONFIRM)
    if not chips.change_plane:
        plain[BusOp.SELECT] = SELECT_SENSED
    if chips.luns > 1:
        for op, sequence in (SEQUENCES | plain).items():
            alone = Sequence(sequence.first, _NONE, None, DataPhase.NONE, None)
            if sequence == alone and op not in (BusOp.RESET, BusOp.DATA_OUT):
                plain[op] = Sequence(_C.READ_STATUS_ENHANCED, _ROW, sequence.first, DataPhase.NONE, None)
        plain[BusOp.STATUS] = SEQUENCES[BusOp.STATUS_PLANE]
    if chips.sca:
        plain[BusOp.PROGRAM_PAGE] = SEQUENCES[BusOp.PROGRAM_PAGE]._replace(second=END_OF_ADDRESS)
    return SEQUENCES | plain


def chosen_by_status(chips: Chips) -> tuple[BusOp, ...]:
    """Operations that begin with 78h and the row, in front of their sequence; with several LUNs alone.

    06h stops the output of another LUN only if that one is idle, 78h always (ONFI, multiple LUN operations).
    """
    return (BusOp.SELECT,) if chips.luns > 1 and chips.change_plane else ()
