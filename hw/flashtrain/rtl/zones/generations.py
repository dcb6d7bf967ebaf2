"""The generations of the streams, and which of them are uncommitted or pinned."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS
from flashtrain.rtl.zones.table import GENERATION_BITS
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import MAX_STREAMS


class StreamCondition(data.StructLayout):
    """What is true of a stream as a whole."""

    def __init__(self):
        super().__init__({
            "uncommitted": 1,  # the destination of updates, and neither committed nor reset since
            "pinned": 1,
            "restored": 1,  # a zone of it, by the recovery
        })  # fmt: skip


class StreamChange(data.StructLayout):
    """What a command does to its stream, at most one of them: a bit each."""

    def __init__(self):
        super().__init__({
            "reset": 1,
            "update": 1,  # it is the destination of an update
            "commit": 1,  # the source is reset, unless it is pinned
            "pin": 1,
            "release": 1,
            "restore": 1,  # it gets the generation `restored`
            "restore_zone": 1,
        })  # fmt: skip


class Generations(wiring.Component):
    """Generation and condition of each stream, from the reset of the controller on.

    The outputs follow one clock after a change, but for `resets`, which tells what it does.

    Members
    -------
    stream, source : In(STREAM_BITS)   of the command
    change : In(StreamChange)
    restored : In(16)
    stream_condition, source_condition : Out(StreamCondition)
    resets : Out(1), reset_stream : Out(STREAM_BITS)   this stream gets a new generation by this change
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
            "reset_stream": Out(STREAM_BITS),
            "generation": Out(GENERATION_BITS).array(MAX_STREAMS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        change = self.change
        conditions = Array(Signal(StreamCondition(), name=f"condition{n}") for n in range(MAX_STREAMS))
        of_stream = conditions[self.stream]
        m.d.comb += [
            self.stream_condition.eq(of_stream),
            self.source_condition.eq(conditions[self.source]),
            self.resets.eq(change.reset | (change.commit & ~self.source_condition.pinned)),
            self.reset_stream.eq(Mux(change.commit, self.source, self.stream)),
        ]
        with m.If(change.update):
            m.d.sync += of_stream.uncommitted.eq(1)
        with m.If(change.commit):
            m.d.sync += of_stream.uncommitted.eq(0)
        with m.If(change.pin | change.release):
            m.d.sync += of_stream.pinned.eq(change.pin)
        with m.If(self.resets):
            generation = Array(self.generation)[self.reset_stream]
            m.d.sync += [generation.eq(generation + 1), conditions[self.reset_stream].uncommitted.eq(0)]
        with m.If(change.restore_zone):
            m.d.sync += of_stream.restored.eq(1)
        with m.If(change.restore):
            m.d.sync += Array(self.generation)[self.stream].eq(self.restored)
        return m
