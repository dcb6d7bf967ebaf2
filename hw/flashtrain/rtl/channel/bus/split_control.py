"""The control of a bus with SCA: a command part and a data part side by side."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.channel.block_table import BlockLookup
from flashtrain.rtl.layouts import BufferPage, BusRequest, FillTarget, PageTarget
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.streams import Queue
from flashtrain.rtl.nand_bus import ScaBus
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp

from .bus_cycles import TAKES_NAMED_PAGE, TAKES_PAGE, BusActivity, ReceivePort, variable_beats
from .command_part import CommandPart
from .data_part import DataPart, end_beats
from .packet_sender import CA_PINS, PacketSender

_DATA_PINS = ("dqs_o", "re", "dq_o")


class SplitControl(wiring.Component):
    """Passes each request to the part whose turn it is::

        requests ──┬──▶ command part ──▶ packet sender ──▶ bus of commands
                   │      │     ▲           ▲
                   │      ▼     │           │
                   └──▶ data part ──────────┴──▶ data bus

    A data in that has its address goes to the data part first, and then to the command part for its last
    command. Any other data in begins in the command part. A page from a die needs the data part alone, and
    all else the command part. A die's request stays where it is until its last part has granted it, and its
    next one comes after `done`.

    Latency, throughput: see the parts.

    Members
    -------
    requests, done, status, lookup, fetch, beats, origin_of, origin, fill, fill_room, offline, activity : of
        `BusController`
    receiver : Out(ReceivePort)
    nand : Out(ScaBus), without the inputs of the data receiver
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        super().__init__({
            "requests": In(stream.Signature(BusRequest(config))).array(dies),
            "done": Out(1).array(dies),
            "status": Out(8),
            "lookup": Out(BlockLookup(config)),
            "fetch": Out(stream.Signature(BufferPage(config))),
            "origin_of": Out(BufferPage(config)),
            "origin": In(PageTarget(config)),
            "fill": Out(stream.Signature(FillTarget(config))),
            "fill_room": In(1),
            "offline": In(dies),
            "beats": In(stream.Signature(16)),
            "receiver": Out(ReceivePort(most_beats=variable_beats(config))),
            **{name: ScaBus(dies).members[name] for name in (*CA_PINS, "ca_valid", "ca_i", *_DATA_PINS)},
            "activity": Out(BusActivity),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, dies = self.config, self.config.geometry.dies
        m.submodules.command = command = CommandPart(config)
        m.submodules.data = data = DataPart(config)
        m.submodules.sender = sender = PacketSender(config.timing, dies)
        connect(m, command.packets, sender.commands)
        connect(m, data.packets, sender.bursts)
        forward(m, sender, self, (*CA_PINS, "ca_valid", "ca_i", "status"))
        forward(m, command, self, ("lookup", "offline"))
        forward(m, data, self, (
            "offline", "fetch", "origin_of", "origin", "fill", "fill_room",
        ))  # fmt: skip
        last = end_beats(config)
        m.submodules.ahead = ahead = Queue(16, last + 2)
        connect(m, wiring.flipped(self.beats), ahead.input)
        m.d.comb += [
            data.beats_valid.eq(ahead.output.valid),
            data.last_beats.eq(ahead.level > last),
            ahead.output.ready.eq(data.beats_ready),
        ]
        connect(m, data.receiver, wiring.flipped(self.receiver))
        m.d.comb += [
            sender.hold.eq(data.hold),
            sender.hold_status.eq(data.hold_status),
            sender.offline.eq(command.status_offline),
            command.ended.eq(sender.ended),
        ]

        takes, named = Signal(dies), Signal(dies)  # operations, a cycle after their request
        handed, confirms = Signal(dies), Signal(dies)
        m.d.comb += [command.confirms.eq(confirms), command.takes.eq(takes), data.named.eq(named)]
        for number, request in enumerate(self.requests):
            op, gives = request.payload.op, request.payload.kind.gives_page
            to_command, to_data = command.requests[number], data.requests[number]
            known, moves = Signal(name=f"known_{number}"), Signal(name=f"moves_{number}")
            m.d.sync += [
                known.eq(request.valid & ~request.ready),
                takes[number].eq(op.matches(TAKES_PAGE, BusOp.SET_READ_LEVEL)),
                named[number].eq(op.matches(TAKES_NAMED_PAGE)),
            ]
            m.d.comb += [
                moves.eq(gives | handed[number] | (named[number] & ~confirms[number])),
                to_command.payload.eq(request.payload),
                to_command.valid.eq(request.valid & known & ~moves),
                to_data.payload.eq(request.payload),
                to_data.valid.eq(request.valid & known & moves),
                request.ready.eq(to_command.ready | to_data.ready),
                self.done[number].eq(command.done[number] | data.done[number]),
            ]
            with m.If(request.ready):
                m.d.sync += [handed[number].eq(0), confirms[number].eq(0)]
            with m.Elif(command.handed[number]):
                m.d.sync += handed[number].eq(1)
            with m.Elif(data.moved[number]):
                m.d.sync += [handed[number].eq(0), confirms[number].eq(1)]

        m.d.sync += [self.dqs_o.eq(data.dqs), self.re.eq(data.re)]
        with m.If(data.dqs):
            m.d.sync += self.dq_o.eq(Mux(data.parameter, data.byte.replicate(2), ahead.output.payload))
        with m.If(data.takes):
            m.d.comb += self.activity.eq(BusActivity.DATA_IN)
        with m.Elif(data.gives):
            m.d.comb += self.activity.eq(BusActivity.DATA_OUT)
        with m.Elif(command.working | data.parameter):
            m.d.comb += self.activity.eq(BusActivity.COMMAND)
        with m.Elif(data.waits):
            m.d.comb += self.activity.eq(BusActivity.WAIT)
        return m
