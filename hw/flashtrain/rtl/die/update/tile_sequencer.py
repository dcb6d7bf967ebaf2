"""Sends the parameters of a tile to the update unit, and writes the results to the same places."""

from amaranth import Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.update import WORD_BYTES

from .tile_words import GradientWords, TileWords


class State(enum.Enum):
    IDLE = 0
    READING = 1  # words of one parameter
    ARRIVING = 2  # the last of these words
    HANDING_OVER = 3  # until the update unit takes the parameter
    FINISHING = 4  # the last results are on their way


class TileSequencer(wiring.Component):
    """Sends one parameter after the other to the update unit, and writes its results in place.

    Word i of a tile is the weight of parameter i. Words N + i and 2N + i are its first and second moment, if
    the optimizer has them. A parameter is read before its results are written. The copy of its weight
    replaces its gradient or an earlier one. Therefore no word is overwritten that is still needed.

    The update unit has a clock of its own, which rises right after one of `update_divider` bus cycles, and
    stops while the sequencer is idle. The unit's inputs are stable at that edge of the bus clock and the next
    one. Its outputs are sampled at the last edge of the bus clock before its own clock rises again.

    Throughput: a parameter each time the update unit takes one, at most every `arrays` + 4 cycles, while the
    array moves no pages. Latency: the unit's, and some ten cycles.

    Members
    -------
    start : In(1)                begins a tile; its parameters hold until `busy` falls
    parameters : In              N
    arrays : In(2)               words of state of a parameter: 1 to 3
    wide : In(1)                 gradients have 32 bits
    copies : In(1)               write copies
    abort : In(1)                ends at once
    busy : Out(1)
    finished : Out(1)            the tile is done; not after `abort`
    index : Out                  the parameter whose results are being written
    clock : Out(1)               of the update unit
    restart, valid, w, m, v, gradient : Out, ready : In   operands, see `UpdateUnit`
    done, new_w, new_m, new_v, copy, unit_busy : In   results
    tile, gradients              see `TileWords`, `GradientWords`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._count = range(config.geometry.page_set_bytes // WORD_BYTES + 1)
        super().__init__({
            "start": In(1),
            "parameters": In(self._count),
            "arrays": In(2),
            "wide": In(1),
            "copies": In(1),
            "abort": In(1),
            "busy": Out(1),
            "finished": Out(1),
            "index": Out(self._count),
            "clock": Out(1),
            "restart": Out(1),
            "ready": In(1),
            "valid": Out(1),
            **{name: Out(32) for name in ("w", "m", "v", "gradient")},
            "done": In(1),
            **{name: In(32) for name in ("new_w", "new_m", "new_v")},
            "copy": In(16),
            "unit_busy": In(1),
            "tile": Out(TileWords(config)),
            "gradients": Out(GradientWords(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config = self.config
        state = Signal(State)
        read_index = Signal(self._count, reset_less=True)
        # Parameter of the last results; -1 before the first.
        write_index = Signal(self._count, reset_less=True)
        m.d.comb += [self.busy.eq(state != State.IDLE), self.index.eq(write_index)]

        phase = Signal(range(config.update_divider))
        rises = Signal()  # the unit's clock rises at the end of this cycle
        risen = Signal()
        m.d.comb += rises.eq(self.busy & (phase == config.update_divider - 1))
        m.d.sync += risen.eq(rises)
        with m.If(self.busy):
            m.d.sync += phase.eq(Mux(rises, 0, phase + 1))
            with m.If(phase == config.update_divider // 2 - 1):
                m.d.sync += self.clock.eq(0)
            with m.If(rises):
                m.d.sync += self.clock.eq(1)
        with m.If(risen):
            m.d.sync += self.restart.eq(0)

        self._read(m, state, read_index, rises)
        written = self._write(m, write_index, rises)

        received = Signal.like(write_index)
        m.d.comb += received.eq(write_index + 1)
        with m.If((state == State.FINISHING) & written & (received == self.parameters) & ~self.unit_busy):
            m.d.sync += state.eq(State.IDLE)
            m.d.comb += self.finished.eq(1)
        with m.If(self.start):
            m.d.sync += [
                state.eq(Mux(self.parameters == 0, State.FINISHING, State.READING)),
                read_index.eq(0),
                self.restart.eq(1),
            ]
        with m.If(self.abort):
            m.d.sync += [state.eq(State.IDLE), phase.eq(0), self.clock.eq(0)]
        return m

    def _read(self, m, state, index, rises) -> None:
        tile, gradients = self.tile, self.gradients
        array = Signal(2)  # that is read
        arriving = Signal(3)  # a bit for w, m, v: the operand is valid
        base = Signal(self._count, reset_less=True)  # the first word of that array
        taken = Signal()
        m.d.comb += [
            tile.read.eq(state == State.READING),
            tile.read_index.eq(base + index),
            gradients.wide.eq(self.wide),
            gradients.read.eq(tile.read & tile.read_ready & (array == 0)),
            gradients.read_index.eq(index),
            self.valid.eq(state == State.HANDING_OVER),
        ]
        for operand, bit in zip((self.w, self.m, self.v), arriving, strict=True):
            kept = Signal(32, name=f"kept_{operand.name}", reset_less=True)
            m.d.comb += operand.eq(kept)
            with m.If(bit):
                m.d.sync += kept.eq(tile.operand)
        gradient = Signal(32, reset_less=True)
        m.d.comb += self.gradient.eq(gradient)
        with m.If(arriving[0]):
            m.d.sync += gradient.eq(gradients.gradient)

        m.d.sync += arriving.eq(0)
        with m.Switch(state):
            with m.Case(State.READING):
                with m.If(tile.read_ready):
                    m.d.sync += [
                        arriving.eq(1 << array),
                        array.eq(array + 1),
                        base.eq(base + self.parameters),
                    ]
                    with m.If(array + 1 == self.arrays):
                        m.d.sync += [array.eq(0), base.eq(0), state.eq(State.ARRIVING)]
            with m.Case(State.ARRIVING):
                with m.If(~rises):
                    m.d.sync += state.eq(State.HANDING_OVER)
            with m.Case(State.HANDING_OVER):
                m.d.sync += taken.eq(rises & self.ready)
                with m.If(taken):
                    last = index + 1 == self.parameters
                    m.d.sync += [
                        state.eq(Mux(last, State.FINISHING, State.READING)),
                        index.eq(index + 1),
                    ]
        with m.If(self.start | self.abort):
            m.d.sync += [array.eq(0), base.eq(0), arriving.eq(0), taken.eq(0)]

    def _write(self, m, index, rises):
        """Returns whether all results received are written."""
        tile, gradients = self.tile, self.gradients
        results = {name: Signal(32, name=f"result_{name}", reset_less=True) for name in ("w", "m", "v")}
        copy = Signal(16, reset_less=True)
        left = Signal(3)  # a bit for each of the results that are not written yet
        copy_left = Signal()
        m.d.comb += [
            tile.write.eq(left.any()),
            gradients.write.eq(copy_left),
            gradients.write_index.eq(index),
            gradients.copy.eq(copy),
        ]
        base = 0
        for number, result in enumerate(results.values()):
            with m.If(left[number] & (left[:number] == 0)):
                m.d.comb += [tile.write_index.eq(base + index), tile.result.eq(result)]
                with m.If(tile.write_ready):
                    m.d.sync += left[number].eq(0)
            base = base + self.parameters
        with m.If(gradients.write_ready):
            m.d.sync += copy_left.eq(0)

        with m.If(rises & self.done):
            m.d.sync += [
                *(result.eq(getattr(self, f"new_{name}")) for name, result in results.items()),
                copy.eq(self.copy),
                left.eq(Mux(self.arrays == 1, 0b001, Mux(self.arrays == 2, 0b011, 0b111))),
                copy_left.eq(self.copies),
                index.eq(index + 1),
            ]
        with m.If(self.start):
            m.d.sync += index.eq(-1)
        with m.If(self.abort):
            m.d.sync += [left.eq(0), copy_left.eq(0)]
        return ~left.any() & ~copy_left
