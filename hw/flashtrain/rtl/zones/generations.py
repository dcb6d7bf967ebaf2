"""The streams' generations and conditions."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS
from flashtrain.rtl.zones.table import GENERATION_BITS
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import MAX_STREAMS


class StreamCondition(data.StructLayout):
    """The condition of a stream as a whole."""

    def __init__(self):
        super().__init__({
            "uncommitted": 1,  # updates have written to it, and no commit, advance or reset followed
            "pinned": 1,
            "restored": 1,  # recovery has restored a zone of it
        })  # fmt: skip


class StreamChange(data.StructLayout):
    """The change that a command makes to its stream, one-hot or none."""

    def __init__(self):
        super().__init__({
            "reset": 1,
            "update": 1,  # it is the destination of an update
            "commit": 1,  # the source is reset, unless it is pinned
            "advance": 1,  # it is committed, and no other stream changes
            "pin": 1,
            "release": 1,
            "restore": 1,  # its generation becomes `restored`
            "restore_zone": 1,
        })  # fmt: skip


class Generations(wiring.Component):
    """Generation and condition of each stream, from the reset of the controller on.

    Latency: 2 cycles from a change to `generation`, 3 to the conditions, 1 to `resets`. Conditions follow
    `stream` and `source` by 1 cycle. Hold these and `restored` in 2 cycles of a change, the conditions in the
    first. Throughput: a change in 2 cycles.

    Members
    -------
    stream, source : In(STREAM_BITS)   of the command
    change : In(StreamChange)
    restored : In(16)
    stream_condition, source_condition : Out(StreamCondition)
    resets : Out(1)   this change gives a stream a new generation: the source of a commit, else `stream`
    generation : Out(16).array(8)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "stream": In(STREAM_BITS),
            "source": In(STREAM_BITS),
            "change": In(StreamChange()),
            "restored": In(GENERATION_BITS),
            "stream_condition": Out(StreamCondition()),
            "source_condition": Out(StreamCondition()),
            "resets": Out(1),
            "generation": Out(GENERATION_BITS).array(MAX_STREAMS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        change = Signal.like(self.change)
        chosen, reset_stream = Signal(STREAM_BITS), Signal(STREAM_BITS)
        before = Signal(GENERATION_BITS)  # the reset
        conditions = Array(Signal(StreamCondition(), name=f"condition{n}") for n in range(MAX_STREAMS))
        of_stream = conditions[self.stream]
        m.d.comb += chosen.eq(Mux(self.change.commit, self.source, self.stream))
        m.d.sync += [
            self.stream_condition.eq(of_stream),
            self.source_condition.eq(conditions[self.source]),
            change.eq(self.change),
            self.resets.eq(self.change.reset | (self.change.commit & ~self.source_condition.pinned)),
            reset_stream.eq(chosen),
            before.eq(Array(self.generation)[chosen]),
        ]
        with m.If(change.update):
            m.d.sync += of_stream.uncommitted.eq(1)
        with m.If(change.commit | change.advance):
            m.d.sync += of_stream.uncommitted.eq(0)
        with m.If(change.pin | change.release):
            m.d.sync += of_stream.pinned.eq(change.pin)
        with m.If(self.resets):
            m.d.sync += [
                Array(self.generation)[reset_stream].eq(before + 1),
                conditions[reset_stream].uncommitted.eq(0),
            ]
        with m.If(change.restore_zone):
            m.d.sync += of_stream.restored.eq(1)
        with m.If(change.restore):
            m.d.sync += Array(self.generation)[self.stream].eq(self.restored)
        return m
