"""Random bits for the stochastic rounding of a tile's state (`flashtrain.spec.state_format`)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.state_format import HALF_BITS, KEY_BITS, PLACE_BITS, ROUND_CONSTANTS, ROUNDS
from flashtrain.spec.update import WORD_BYTES

_ROUNDS_PER_CYCLE = 4
_CYCLES = ROUNDS // _ROUNDS_PER_CYCLE


class RoundingBits(wiring.Component):
    """Computes the random bits of one parameter after the other, each ahead of its results.

    Four rounds of the network run per cycle: first those of the tile's key, then those of each parameter.
    Bits can be taken in the cycle in which they are computed.

    Latency: 7 cycles from `start` until the first `take` may follow. Throughput: a parameter every 3 cycles.
    Cost: 630 LUT4 and 164 registers.

    Members
    -------
    start : In(1)     a tile begins; `key` and `place` are valid in the next cycle
    abort : In(1)     ends at once
    key : In(48)      of the step
    place : In        of the tile (`flashtrain.spec.state_format.tile_place`)
    known : Out(1)    `take` may follow in this cycle
    take : In(1)      `bits` are those of the next parameter from the next cycle on, and until the next `take`
    bits : Out(48)
    """

    def __init__(self, config: FmsConfig):
        self._index = range(config.geometry.page_set_bytes // WORD_BYTES * 2 + 1)
        super().__init__({
            "start": In(1),
            "abort": In(1),
            "key": In(KEY_BITS),
            "place": In(PLACE_BITS),
            "known": Out(1),
            "take": In(1),
            "bits": Out(KEY_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        loads, works, of_tile, last = Signal(), Signal(), Signal(), Signal()
        cycle = Signal(range(_CYCLES))
        index = Signal(self._index, reset_less=True)  # of the parameter after the next one
        tile, value = Signal(KEY_BITS, reset_less=True), Signal(KEY_BITS, reset_less=True)
        result = Signal(KEY_BITS)
        m.d.comb += [
            result.eq(self._rounds(m, value, cycle)),
            last.eq(cycle == _CYCLES - 1),
            self.known.eq(Mux(works, last & ~of_tile, ~loads)),
        ]
        with m.If(works):
            m.d.sync += [value.eq(result), cycle.eq(cycle + 1)]
            with m.If(last):
                m.d.sync += [cycle.eq(0), of_tile.eq(0), works.eq(of_tile)]
                with m.If(of_tile):  # parameter 0 goes on from its value
                    m.d.sync += tile.eq(result)
        with m.If(self.take):
            m.d.sync += [
                self.bits.eq(Mux(works, result, value)),
                value.eq(tile ^ Cat(Const(0, HALF_BITS), index)),
                index.eq(index + 1),
                works.eq(1),
            ]
        m.d.sync += loads.eq(self.start & ~self.abort)
        with m.If(loads):
            m.d.sync += [
                value.eq(self.key ^ self.place),
                index.eq(1),
                cycle.eq(0),
                of_tile.eq(1),
                works.eq(1),
            ]
        with m.If(self.start | self.abort):
            m.d.sync += works.eq(0)
        return m

    def _rounds(self, m: Module, source: Value, cycle: Value) -> Value:
        right, left = source[:HALF_BITS], source[HALF_BITS:]
        for number in range(_ROUNDS_PER_CYCLE):
            one, constant = (Signal(HALF_BITS, name=f"{name}_{number}") for name in ("left", "constant"))
            m.d.comb += one.eq(left)
            with m.Switch(cycle):
                for each in range(_CYCLES):
                    with m.Case(each):
                        m.d.comb += constant.eq(ROUND_CONSTANTS[_ROUNDS_PER_CYCLE * each + number])
            mixed = (one.rotate_left(1) & one.rotate_left(8)) ^ one.rotate_left(2)
            left, right = (right ^ mixed ^ constant)[:HALF_BITS], one
        return Cat(right, left)
