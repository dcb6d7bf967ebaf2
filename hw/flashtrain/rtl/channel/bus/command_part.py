"""The command part of a bus controller with SCA: commands, addresses and status, beside the data."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.channel.block_table import BlockLookup
from flashtrain.rtl.layouts import BusRequest
from flashtrain.spec import FmsConfig
from flashtrain.spec.sca import Header

from .bus_arbiter import BusArbiter
from .bus_cycles import BeatCounter, CycleSequencer, NextPhase, Step
from .packet_sender import Packet


class CommandPart(wiring.Component):
    """Grants the bus of commands to a request, and sends the packets of its operation.

    Dies take turns. A data in whose address has passed is handed to the data part. It comes back with
    `confirms` for the command behind its data, if it has one.

    Latency: 3 cycles from a request to its first packet, one more of `confirms`; none from the last packet to
    `done` or `handed`.

    Members
    -------
    requests : In(stream(BusRequest)).array(dies)   taken with their last packets
    confirms : In(dies)   the data of the request have passed
    takes : In(dies)      the operation is a data in
    offline : In(dies)
    done : Out(dies)      pulse: the die's operation has ended
    handed : Out(dies)    pulse: the die's data may pass
    status_offline : Out(1)   pulse: the status is that of a die that is offline
    lookup : Out(BlockLookup)
    packets : Out(stream(Packet)), ended : In(1)   see `PacketSender`
    working : Out(1)      an operation is under way
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        super().__init__({
            "requests": In(stream.Signature(BusRequest(config))).array(dies),
            **{name: In(dies) for name in ("confirms", "takes", "offline")},
            "done": Out(dies),
            "handed": Out(dies),
            "status_offline": Out(1),
            "lookup": Out(BlockLookup(config)),
            "packets": Out(stream.Signature(Packet(dies))),
            "ended": In(1),
            "working": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, dies = self.config, self.config.geometry.dies
        m.submodules.arbiter = arbiter = BusArbiter(dies)
        m.submodules.sequencer = sequencer = CycleSequencer(
            config.chips,
            copyback=config.geometry.spare_blocks > 0,
            features=config.read_levels > 0,
            columns=config.part_bytes > 0,
        )
        twhr = config.timing.cycles("twhr")
        m.submodules.counter = counter = BeatCounter(twhr)
        die = Signal.like(arbiter.die)
        request = Signal(BusRequest(config))
        step = Signal(Step)
        own = Cat(die == number for number in range(dies))
        packet = self.packets.payload
        m.d.comb += [
            # A request that is handed on stays, but is not for this part again.
            arbiter.valid.eq(
                Cat(item.valid for item in self.requests) & ~(own & self.working.replicate(dies))
            ),
            arbiter.room.eq(1),
            sequencer.op.eq(request.op),
            sequencer.step.eq(step),
            sequencer.row.eq(Cat(request.page, request.plane, self.lookup.block)),  # Geometry.row_address
            self.lookup.place.zone.eq(request.zone),
            self.lookup.place.die.eq(die),
            self.lookup.place.plane.eq(request.plane),
            packet.die.eq(die),
            packet.header.eq(Mux(sequencer.address, Header.ADDRESS, Header.COMMAND)),
            packet.byte.eq(sequencer.byte),
            counter.port.count.eq(1),
            self.working.eq(1),
        ]
        if config.part_bytes:
            sequencer.name_column(m, request, config)
        with m.FSM(name="command"):
            with m.State("IDLE"):
                m.d.comb += [arbiter.granted.eq(arbiter.grant), self.working.eq(0)]
                m.d.sync += die.eq(arbiter.die)
                with m.If(arbiter.grant):
                    m.next = "GRANTED"
            with m.State("GRANTED"):
                offline, confirms, takes = (
                    Array(flags)[die] for flags in (self.offline, self.confirms, self.takes)
                )
                m.d.sync += step.eq(Mux(confirms, Step.THIRD, Step.FIRST))
                m.next = "PACKET"
                with m.If(confirms):
                    m.next = "PREPARED"
                with m.If(offline):
                    m.d.comb += self.status_offline.eq(1)
                    m.next = "OFFLINE"
                for number, item in enumerate(self.requests):
                    with m.If(own[number]):
                        m.d.sync += request.eq(item.payload)
                        m.d.comb += item.ready.eq(offline | confirms | ~takes)
            with m.State("OFFLINE"):
                m.d.comb += self.done.eq(own)
                m.next = "IDLE"
            # Commands behind the first are valid a cycle after their operation.
            with m.State("PREPARED"):
                m.next = "PACKET"
            with m.State("PACKET"):
                m.d.comb += self.packets.valid.eq(1)
                with m.If(self.packets.ready):
                    m.d.sync += step.eq(sequencer.next_step)
                    with m.Switch(sequencer.next_phase):
                        with m.Case(NextPhase.DATA_IN):
                            m.next = "HAND"
                        with m.Case(NextPhase.STATUS):
                            m.next = "BEFORE_STATUS"
                        with m.Case(NextPhase.END):
                            m.next = "END"
            with m.State("END"), m.If(self.ended):
                m.d.comb += self.done.eq(own)
                m.next = "IDLE"
            with m.State("HAND"), m.If(self.ended):
                m.d.comb += self.handed.eq(own)
                m.next = "IDLE"
            with m.State("BEFORE_STATUS"), m.If(self.ended):
                m.d.comb += [counter.port.load.eq(1), counter.port.length.eq(max(twhr - 2, 0))]
                m.next = "COMMAND_TO_STATUS"
            with m.State("COMMAND_TO_STATUS"), m.If(counter.port.ended):
                m.next = "STATUS"
            with m.State("STATUS"):
                m.d.comb += [self.packets.valid.eq(1), packet.header.eq(Header.STATUS)]
                with m.If(self.packets.ready):
                    m.next = "ANSWER"
            with m.State("ANSWER"), m.If(self.ended):
                m.next = "ANSWERED"
            with m.State("ANSWERED"):
                m.d.comb += self.done.eq(own)
                m.next = "IDLE"
        return m
