"""Takes off the write pointers what encoded appends have reserved and not written."""

from amaranth import Array, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS, Command, Operation, Settled
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Codec


class Settlement(wiring.Component):
    """Holds the slack of an encoded append until the zone manager has taken it off the zone's write pointer.

    The pending slack can stall the write pipeline, so the manager serves it while it waits for the tracker.

    An append to another zone of a stream with a codec stalls while the slack of one is outstanding. So all
    that the offset of a job does not know of its stream's slack (`Settled`) belongs to the job's zone.

    Latency: 1 cycle from `settled` to `pending`, 1 cycle from `reserves` and `stored` to the outputs.

    Members
    -------
    settled : In(stream(Settled))     ready unless a slack is held
    pending : Out(1)                  a pointer is to return: its zone's entry is to be looked up
    read : In(1)                      it is being looked up; only while pending
    stored : In(1)                    later: the pointer has returned
    busy : Out(1)                     a slack is held: from `pending` to `stored`
    zone : Out(zone_bits)             the logical zone, while its slack is held
    slack : Out(count_bits)           blocks, likewise
    command : In(Command)             the next command
    waits : Out(1)                    it stalls
    reserves : In(1)                  pulse: the command reserves its bound
    known : Out(zone_size_bits + 1)   slack of the command's stream that the pointers have returned by
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        super().__init__({
            "settled": In(stream.Signature(Settled(config))),
            "pending": Out(1),
            "read": In(1),
            "stored": In(1),
            "busy": Out(1),
            "zone": Out(g.zone_bits),
            "slack": Out(config.count_bits),
            "command": In(Command(config)),
            "waits": Out(1),
            "reserves": In(1),
            "known": Out(g.zone_size_bits + 1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g, command = self.config, self.config.geometry, self.command
        known = Array(Signal(g.zone_size_bits + 1, name=f"known{n}") for n in range(MAX_STREAMS))
        outstanding = Array(
            Signal(range(config.commands + 1), name=f"outstanding{n}") for n in range(MAX_STREAMS)
        )
        last_zone = Array(Signal(g.zone_bits, name=f"last_zone{n}") for n in range(MAX_STREAMS))
        stream_number = Signal(STREAM_BITS)

        m.d.comb += [
            self.settled.ready.eq(~self.busy),
            self.known.eq(known[command.stream]),
            self.waits.eq(
                (command.operation == Operation.APPEND)
                & (command.codec != Codec.RAW)
                & (outstanding[command.stream] != 0)
                & (last_zone[command.stream] != command.zone)
            ),
        ]
        with m.If(self.read):
            m.d.sync += self.pending.eq(0)
        with m.If(self.stored):
            m.d.sync += [
                self.busy.eq(0),
                known[stream_number].eq(known[stream_number] + self.slack),
            ]
        with m.If(self.settled.valid & self.settled.ready):
            m.d.sync += [
                self.pending.eq(1),
                self.busy.eq(1),
                self.zone.eq(self.settled.payload.zone),
                self.slack.eq(self.settled.payload.slack),
                stream_number.eq(self.settled.payload.stream),
            ]
        for number in range(MAX_STREAMS):
            more = self.reserves & (command.stream == number)
            fewer = self.stored & (stream_number == number)
            m.d.sync += outstanding[number].eq(outstanding[number] + more - fewer)
            with m.If(more):
                m.d.sync += last_zone[number].eq(command.zone)
        return m
