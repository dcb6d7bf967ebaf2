"""The streams of one channel, between the front end's clock and the engine's."""

from amaranth import Module, Value
from amaranth.hdl import Shape
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.fifo import AsyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.channel.interface import ChannelInterface
from flashtrain.rtl.layouts import has_engine_interface
from flashtrain.spec import FmsConfig

from .handshake import Handshake

FRONT, CHANNELS = "front", "channels"
"""Clock domains: the front end's clock, and that of all channel engines."""

COMMON = ("read_valid", "read_ready", "read_chosen", "idle", "counter_value")
"""Members of a channel's interface that cross for all channels together."""


class ChannelCrossing(wiring.Component):
    """Joins the front end to a channel engine in another clock domain.

    Each stream but `reads` is a `Handshake`: what the front end sends later comes later, as with one clock.
    So a page has its place before its data or a read of it come.

    Reads pass a FIFO. The pages of a command are to reach the engine close together, or their die would sense
    each on its own; and whatever ends a zone waits until its reads have returned.

    `ready`, `raw`, `pause`, `paused` and `interface` pass two registers. A pulse of `flushed` waits for its
    own handshake; the front end has one flush under way.

    - Latency: see `Handshake`; of a read 1 edge of `front` and 2 of `channels`.
    - Throughput: see `Handshake`, for a page at the data port takes 32 cycles and more; a read per cycle of
      the slower clock.
    - Cost: a register of the payload for each stream, a memory of 8 reads.

    Members
    -------
    front_end : In(ChannelInterface)   without `COMMON`; in domain `front`
    engine : Out(ChannelInterface)     likewise, in domain `channels`
    waiting : Out(1)                   in `front`: the engine has not accepted all that is sent to it
    """

    READS = 8

    def __init__(self, config: FmsConfig):
        self.has_port = config.command_port
        self.has_interface = has_engine_interface(config)
        members = ChannelInterface(config).members
        self.streams = {
            name: (member.flow, member.signature.members["payload"].shape)
            for name, member in members.items()
            if member.is_signature
        }
        own = wiring.Signature({name: member for name, member in members.items() if name not in COMMON})
        super().__init__({"front_end": In(own), "engine": Out(own), "waiting": Out(1)})

    def elaborate(self, platform):
        m = Module()
        waiting = self._pass_reads(m)
        for name, (flow, layout) in self.streams.items():
            if name == "reads":
                continue
            front, engine = flipped(getattr(self.front_end, name)), flipped(getattr(self.engine, name))
            if flow == Out:
                m.submodules[name] = crossing = Handshake(layout, FRONT, CHANNELS)
                connect(m, front, crossing.input)
                connect(m, crossing.output, engine)
                waiting = waiting | crossing.waiting
            else:
                m.submodules[name] = crossing = Handshake(layout, CHANNELS, FRONT)
                connect(m, engine, crossing.input)
                connect(m, crossing.output, front)
        m.submodules.flushed = flushed = Handshake(1, CHANNELS, FRONT)
        with m.If(self.engine.flushed):
            m.d.channels += flushed.input.valid.eq(1)
        with m.Elif(flushed.input.ready):
            m.d.channels += flushed.input.valid.eq(0)
        m.submodules.ready = FFSynchronizer(self.engine.ready, self.front_end.ready, o_domain=FRONT)
        m.submodules.raw = FFSynchronizer(self.front_end.raw, self.engine.raw, o_domain=CHANNELS)
        if self.has_port:
            m.submodules.pause = FFSynchronizer(self.front_end.pause, self.engine.pause, o_domain=CHANNELS)
            if self.has_interface:
                m.submodules.interface = FFSynchronizer(
                    self.front_end.interface, self.engine.interface, o_domain=CHANNELS
                )
            m.submodules.paused = FFSynchronizer(self.engine.paused, self.front_end.paused, o_domain=FRONT)
        m.d.comb += [
            flushed.output.ready.eq(1),
            self.front_end.flushed.eq(flushed.output.valid),
            self.waiting.eq(waiting),
        ]
        return m

    def _pass_reads(self, m: Module) -> Value:
        """Whether the engine has not accepted all of them."""
        front, engine = self.front_end.reads, self.engine.reads
        _flow, layout = self.streams["reads"]
        m.submodules.reads = fifo = AsyncFIFO(
            width=Shape.cast(layout).width, depth=self.READS, w_domain=FRONT, r_domain=CHANNELS
        )
        m.d.comb += [
            fifo.w_data.eq(Value.cast(front.payload)),
            fifo.w_en.eq(front.valid),
            front.ready.eq(fifo.w_rdy),
            Value.cast(engine.payload).eq(fifo.r_data),
            engine.valid.eq(fifo.r_rdy),
            fifo.r_en.eq(engine.ready),
        ]
        return front.valid | (fifo.w_level != 0)
