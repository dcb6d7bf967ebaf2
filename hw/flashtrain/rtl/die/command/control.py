"""Starts the units of a die that a command needs."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.array_port import row_layout
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import DieStatus

from .decoder import CommandDecoder
from .read_id import ReadId


class Transfer(enum.Enum):
    """Contents of the data lines."""

    NOTHING = 0
    PAGE_IN = 1
    PAGE_OUT = 2
    STATUS = 3
    PLANE_STATUS = 4
    ID = 5
    CONSTANTS_IN = 6
    GRADIENT_IN = 7
    COPY_OUT = 8
    STATISTICS = 9
    SUSPENDED_READ_OUT = 10
    FEATURE_IN = 11


class CommandControl(wiring.Component):
    """Receives command and address cycles from the pins, and controls the other units::

        pins ──▶ decoder ──▶ sequencer
                    │
                    ├──▶ contents of the data lines, position in the pages
                    └──▶ read ID ──▶ answer

    No register of it changes while data are on the pins. Latency: none, but 1 cycle for `transfer`.

    Members
    -------
    ce_n, we, cle, ale, dq_o : In   the pins; of `dq_o` only the low byte is used, and only with `we`
    command, byte, address, first, row, copies : Out   see `CommandDecoder`
    ready, array_ready, suspended_read, failed, failed_before, within_update : In   see `Sequencer`
    transfer : Out(Transfer)
    seek, seek_plane, new_plane, column, fetch : Out   see `PinLanes`
    clear : Out(1)             see `PageRegisters`
    load, update, header_begin, statistics_begin, clear_statistics : Out   see `Updater`
    feature : Out(1)           a feature is to be set; if there are read levels
    answer : Out(8)            the requested byte of a status or an ID
    next : In(1)               a byte of an ID was taken
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        planes = config.geometry.planes
        super().__init__({
            "ce_n": In(1),
            "we": In(1),
            "cle": In(1),
            "ale": In(1),
            "dq_o": In(16),
            "command": Out(1),
            "byte": Out(8),
            "address": Out(1),
            "first": Out(8),
            "row": Out(24),
            "copies": Out(1),
            "ready": In(1),
            "array_ready": In(1),
            "suspended_read": In(1),
            "failed": In(planes),
            "failed_before": In(planes),
            "within_update": In(1),
            "transfer": Out(Transfer),
            "seek": Out(1),
            "seek_plane": Out(1),
            "new_plane": Out(max(1, config.geometry.plane_bits)),
            "column": Out(16),
            "fetch": Out(1),
            "clear": Out(1),
            "load": Out(1),
            "update": Out(1),
            "header_begin": Out(1),
            "statistics_begin": Out(1),
            "clear_statistics": Out(1),
            **({"feature": Out(1)} if config.read_levels else {}),
            "answer": Out(8),
            "next": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.decoder = decoder = CommandDecoder(
            copyback=self.config.geometry.spare_blocks > 0, features=self.config.read_levels > 0
        )
        m.submodules.read_id = read_id = ReadId()
        latches = ~self.ce_n & self.we
        row = data.View(row_layout(self.config), decoder.row[: row_layout(self.config).size])
        status_plane = Signal.like(row.plane, reset_less=True)
        m.d.comb += [
            decoder.command_cycle.eq(latches & self.cle),
            decoder.address_cycle.eq(latches & self.ale),
            decoder.byte.eq(self.byte),
            decoder.ready.eq(self.ready),
            decoder.within_update.eq(self.within_update),
            read_id.address.eq(self.byte),
            read_id.next.eq(self.next),
            self.byte.eq(self.dq_o[:8]),
            self.command.eq(decoder.command),
            self.address.eq(decoder.address),
            self.first.eq(decoder.first),
            self.row.eq(decoder.row),
            self.copies.eq(decoder.copies),
            self.new_plane.eq(row.plane),
            self.column.eq(decoder.column),
            self.clear_statistics.eq(decoder.command & (self.byte == C.LOAD_CONSTANTS_CONFIRM)),
            self.update.eq(decoder.command & (self.byte == C.UPDATE)),
        ]
        transfer = self.transfer
        if self.config.read_levels:
            m.d.comb += self.feature.eq(decoder.address & (decoder.first == C.SET_FEATURES))
            with m.If(self.feature):
                m.d.sync += transfer.eq(Transfer.FEATURE_IN)
        with m.If(decoder.command), m.Switch(self.byte):
            with m.Case(C.READ_STATUS):
                m.d.sync += transfer.eq(Transfer.STATUS)
            with m.Case(C.READ_CACHE, C.READ_CACHE_END):
                m.d.comb += [self.seek.eq(1), self.column.eq(0)]
                m.d.sync += transfer.eq(Transfer.PAGE_OUT)
            with m.Case(C.CHANGE_READ_COLUMN_CONFIRM):
                m.d.comb += self.fetch.eq(1)
                m.d.sync += transfer.eq(Transfer.PAGE_OUT)
            with m.Case(C.READ, C.READ_CONFIRM, C.READ_MULTI_PLANE):
                m.d.sync += transfer.eq(Transfer.PAGE_OUT)
            with m.Case(C.LOAD_CONSTANTS):
                m.d.comb += self.header_begin.eq(1)
                m.d.sync += transfer.eq(Transfer.CONSTANTS_IN)
            with m.Case(C.READ_COPY_CONFIRM):
                m.d.comb += self.fetch.eq(1)
                m.d.sync += transfer.eq(Transfer.COPY_OUT)
            with m.Case(C.READ_STATISTICS_CONFIRM):
                m.d.comb += self.statistics_begin.eq(1)
                m.d.sync += transfer.eq(Transfer.STATISTICS)
            with m.Default():
                m.d.sync += transfer.eq(Transfer.NOTHING)
        with m.If(decoder.address), m.Switch(decoder.first):
            with m.Case(C.READ, C.CHANGE_READ_COLUMN_ENHANCED):
                m.d.comb += [self.seek.eq(1), self.seek_plane.eq(1)]
            with m.Case(C.CHANGE_READ_COLUMN):
                m.d.comb += self.seek.eq(1)
            with m.Case(C.READ_COPY):
                m.d.comb += [self.seek.eq(1), self.seek_plane.eq(1), self.column.eq(0)]
            with m.Case(C.SUSPENDED_READ_SELECT):
                m.d.comb += [
                    self.seek.eq(1),
                    self.seek_plane.eq(1),
                    self.column.eq(0),
                    self.fetch.eq(1),
                ]
                m.d.sync += transfer.eq(Transfer.SUSPENDED_READ_OUT)
            with m.Case(C.LOAD_GRADIENT):
                m.d.comb += [self.seek.eq(1), self.seek_plane.eq(1), self.column.eq(0), self.load.eq(1)]
                m.d.sync += transfer.eq(Transfer.GRADIENT_IN)
            with m.Case(C.PROGRAM):
                m.d.comb += [self.seek.eq(1), self.seek_plane.eq(1), self.clear.eq(1)]
                m.d.sync += transfer.eq(Transfer.PAGE_IN)
            with m.Case(C.CHANGE_WRITE_COLUMN):
                m.d.comb += self.seek.eq(1)
                m.d.sync += transfer.eq(Transfer.PAGE_IN)
            with m.Case(C.READ_STATUS_ENHANCED):
                m.d.sync += [transfer.eq(Transfer.PLANE_STATUS), status_plane.eq(row.plane)]
            with m.Case(C.READ_ID):
                m.d.comb += read_id.begin.eq(1)
                m.d.sync += transfer.eq(Transfer.ID)

        of_plane = (field.bit_select(status_plane, 1) for field in (self.failed, self.failed_before))
        with m.Switch(transfer):
            with m.Case(Transfer.STATUS):
                m.d.comb += self.answer.eq(self._status(self.failed.any(), self.failed_before.any()))
            with m.Case(Transfer.PLANE_STATUS):
                m.d.comb += self.answer.eq(self._status(*of_plane))
            with m.Case(Transfer.ID):
                m.d.comb += self.answer.eq(read_id.byte)
        return m

    def _status(self, failed: Value, failed_before: Value) -> Value:
        """The status byte with this FAIL and FAILC."""
        bits: dict[int, Value] = {
            DieStatus.FAIL: failed,
            DieStatus.FAILC: failed_before,
            DieStatus.SUSPENDED_READ: self.suspended_read,
            DieStatus.ARDY: self.array_ready,
            DieStatus.RDY: self.ready,
            DieStatus.WP_N: Const(1, 1),
        }
        return Cat(bits.get(1 << bit, Const(0, 1)) for bit in range(8))
